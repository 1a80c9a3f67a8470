"""Publishing: a person makes a state the one that production runs and exports use.

What is live is what was published last, so publishing an older state again takes production back to it. ``judge`` says
before anybody decides what publishing would mean: the checks, and what production would do with the state. Source:
docs/guide/change.md, "Publishing"; docs/guide/exports.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from metl_gui.core.differences.document_difference import Difference, compare
from metl_gui.core.matrix.blocks import Block, BlockKey
from metl_gui.core.matrix.canonical import is_held, is_in_production
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.project.named_states import NamedState
from metl_gui.core.search.checks import place_of
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.errors import ProjectError, UserError
from metl_gui.values import Value
from metl_gui.workbench.history.difference_text import difference_json
from metl_gui.workbench.json_results import JsonResult
from metl_gui.workbench.publishing.checks import check_document, model_problems
from metl_gui.workbench.review.assignments import checked_name
from metl_gui.workbench.session import Workbench


class PublishImpact(Value):
    """What is known of a state before it is published.

    Args:
        state: its number.
        problems: what the checks find, errors first.
        blocks: how many blocks production would use, held ones included.
        elements: how many elements they hold.
        held: how many of them wait for review, so that their messages are set aside.
        unconfirmed: how many production would leave out because nobody has confirmed them.
    """

    state: int
    problems: tuple[Problem, ...]
    blocks: int
    elements: int
    held: int
    unconfirmed: int

    @property
    def errors(self) -> int:
        """How many problems keep it from being published."""
        return sum(problem.severity is Severity.ERROR for problem in self.problems)


def judge(workbench: Workbench, state: int, watch: Watch = UNWATCHED) -> PublishImpact:
    """Check a state as publishing does; linear in the document.

    Raises:
        ProjectError: there is no such state.
    """
    watch.step("Checking the state")
    return judged(workbench.at_state(state), live_beside(workbench, state), watch)


def live_beside(workbench: Workbench, state: int) -> Document | None:
    """Return the live document that a state is to be held against; going back to a published one needs no such look."""
    live = workbench.kept.states.live()
    is_known = any(found.state == state and found.is_published for found in workbench.kept.states.named())
    return None if live is None or is_known else workbench.at_state(live)


def judged(document: Document, live: Document | None = None, watch: Watch = UNWATCHED) -> PublishImpact:
    """Check a document, and count what production would use of it; linear in the document.

    Args:
        document: the state to judge.
        live: what production uses today; ``None`` where it is not to be held against it.
        watch: progress and cancel.
    """
    left_out = _left_out(document, live) if live is not None else ()
    found = (*left_out, *check_document(document).problems, *model_problems(document))
    problems = tuple(sorted(found, key=lambda problem: list(Severity).index(problem.severity)))
    watch.step("Checking the state")
    blocks = elements = held = unconfirmed = 0
    for block in document.matrix.blocks():  # one at a time: there may be ten million
        if is_in_production(document, block):
            blocks += 1
            elements += len(block.elements)
            held += is_held(document, block)
        elif is_in_production(document, block, include_unconfirmed=True):
            unconfirmed += 1
    return PublishImpact(document.state, problems, blocks, elements, held, unconfirmed)


def _left_out(document: Document, live: Document) -> Iterator[Problem]:
    """Name the unconfirmed blocks whose messages production maps or holds today and would pass over then."""
    for block in document.matrix.blocks():
        if is_in_production(document, block) or not is_in_production(document, block, True):
            continue
        today = _live_origin(document, live, block)
        if today is not None and is_in_production(live, today):
            what = "its messages are mapped today" if today.key == block.key else "the version before is mapped today"
            message = f"Nobody has confirmed it, so production would leave it out; {what}."
            hint = "Have it confirmed first (metl review --confirm-all unconfirmed), or clear it."
            yield Problem(Severity.ERROR, "publish.live-unconfirmed", place_of(document, block), message, hint)


def _live_origin(document: Document, live: Document, block: Block) -> Block | None:
    """Find what production has of a block, or of the one that it came from."""
    at: Block | None = block
    seen: set[BlockKey] = set()
    while at is not None and at.key not in seen:
        seen.add(at.key)
        found = live.matrix.block(*at.key)
        if found is not None:
            return found
        at = document.matrix.block(*at.came_from) if at.came_from is not None else None
    return None


_SHOWN = 3


class PublishResult(JsonResult):
    """What publishing did.

    Args:
        state: the state that is live now.
        name: the name it has, empty when none.
        who: the person who published it.
        was_live: the state that was live before, ``None`` when none was.
        is_new: false when it was live already.
        blocks: blocks that production uses, held ones included.
        held: blocks whose messages wait until they are reviewed.
        unconfirmed: blocks that production leaves out because nobody has confirmed them.
        problems: what the checks found, none of it an error.
        difference: what it changes in production, ``None`` where nothing was live before.
    """

    state: int
    name: str
    who: str
    was_live: int | None
    is_new: bool
    blocks: int
    held: int
    unconfirmed: int
    problems: tuple[Problem, ...]
    difference: Difference | None

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl publish``."""
        fields = {name: getattr(self, name) for name in self.__struct_fields__}
        problems = [msgspec.structs.asdict(problem) for problem in self.problems]
        difference = None if self.difference is None else difference_json(self.difference)
        return fields | {"problems": problems, "difference": difference}


def difference_to_live(workbench: Workbench, state: int | None = None) -> Difference | None:
    """Compare what is live with a state, the current one by default: what publishing it would change.

    Returns:
        What differs, ``None`` while nothing is live.

    Raises:
        ProjectError: there is no such state.
    """
    live = workbench.kept.states.live()
    return None if live is None else compare(workbench.at_state(live), workbench.at_state(state))


def publish(workbench: Workbench, state: int | None = None, name: str = "") -> PublishResult:
    """Make a state the one that production runs and exports use, the current one by default.

    Args:
        workbench: the project, open for editing.
        state: its number.
        name: the name that the state gets; empty leaves the one it has.

    Raises:
        UserError: the checks find an error in it, or the name is none.
        ProjectError: there is no such state, or the project is open read only.
    """
    document, name = workbench.at_state(state), checked_name(name)
    found = judged(document, live_beside(workbench, document.state))
    _refuse(document, [problem for problem in found.problems if problem.severity is Severity.ERROR])
    before, difference = workbench.kept.states.live(), difference_to_live(workbench, state)
    stamp = workbench.stamp()
    if before != document.state:
        workbench.kept.states.publish(document.state, name, stamp)
    elif name:
        workbench.name_state(document.state, name)
    live = live_state(workbench)
    return PublishResult(
        document.state,
        live.name if live else "",
        (live.published_who if live else None) or stamp.who,
        before,
        before != document.state,
        found.blocks,
        found.held,
        found.unconfirmed,
        found.problems,
        difference,
    )


def live_state(workbench: Workbench) -> NamedState | None:
    """Return the state that production uses, ``None`` while nothing is published."""
    live = workbench.kept.states.live()
    return next((found for found in workbench.kept.states.named() if found.state == live), None)


def published_states(workbench: Workbench) -> list[NamedState]:
    """Return the published states, newest first."""
    return [found for found in workbench.kept.states.named() if found.is_published]


def production_document(workbench: Workbench, state: int | None = None) -> Document:
    """Return the published state that production uses, or another published one.

    Args:
        workbench: the project.
        state: number of a published state; by default the one that was published last.

    Raises:
        UserError: nothing is published, or this state is not; the hint says what to do.
    """
    published = published_states(workbench)
    live = workbench.kept.states.live()
    wanted = live if state is None else state
    name = workbench.path.name
    if wanted is None:
        raise UserError(
            f"Nothing of {name} is published yet.",
            "Exports and production runs use published states only.",
            f"Publish it first: metl publish {name} (in the window Run > Publish).",
        )
    if wanted in {found.state for found in published}:
        return workbench.at_state(wanted)
    if not 0 <= wanted <= workbench.document.state:
        raise ProjectError(
            f"There is no state {wanted} in {name}.", hint=f"Its states go from 0 to {workbench.document.state}."
        )
    known = f"Live is state {live}." if live is not None else ""
    raise UserError(
        f"State {wanted} of {name} is not published.",
        f"Exports and production runs use published states only. {known}".rstrip(),
        f"Publish it first: metl publish {name} --state {wanted}",
    )


def _refuse(document: Document, errors: list[Problem]) -> None:
    if not errors:
        return
    found = "; ".join(f"{error.place}: {error.message}" for error in errors[:_SHOWN])
    more = f"; and {len(errors) - _SHOWN} more" if len(errors) > _SHOWN else ""
    raise UserError(
        f"State {document.state} is not published: the checks find {len(errors)} error{'s' * (len(errors) != 1)}.",
        f"{found}{more}",
        "See all of them with metl check, mend them and publish again.",
    )
