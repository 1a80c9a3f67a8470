"""What publishing a state would mean, told before anybody decides: the checks, and what production would do with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from metl_gui.core.matrix.blocks import Block, BlockKey
from metl_gui.core.matrix.canonical import is_held, is_in_production
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.checks import place_of
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.workbench.checking import check_document
from metl_gui.workbench.progress import UNWATCHED, Watch
from metl_gui.workbench.session import Workbench


@dataclass(frozen=True, slots=True)
class Judgement:
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


def judge(workbench: Workbench, state: int, watch: Watch = UNWATCHED) -> Judgement:
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


def judged(document: Document, live: Document | None = None, watch: Watch = UNWATCHED) -> Judgement:
    """Check a document, and count what production would use of it; linear in the document.

    Args:
        document: the state to judge.
        live: what production uses today; ``None`` where it is not to be held against it.
        watch: progress and cancel.
    """
    problems = (*(_left_out(document, live) if live is not None else ()), *check_document(document).problems)
    watch.step("Checking the state")
    blocks = elements = held = unconfirmed = 0
    for block in document.matrix.blocks():  # one at a time: there may be ten million
        if is_in_production(document, block):
            blocks += 1
            elements += len(block.elements)
            held += is_held(document, block)
        elif is_in_production(document, block, include_unconfirmed=True):
            unconfirmed += 1
    return Judgement(document.state, problems, blocks, elements, held, unconfirmed)


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
