"""Accepting suggestions of any number of blocks as one undo step: what of them fits, in which versions, and doing it.

Source: docs/guide/mapping.md, "Be helped"; docs/architecture/model.md, "Edits of several versions".
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from metl_gui.core.counted import number_of
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.version_scope import LeftElement, LeftReason, VersionScope, carried
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Status
from metl_gui.core.matrix.document import Document
from metl_gui.values import Value
from metl_gui.workbench.mapping.suggestions import Suggestion, Suggestions
from metl_gui.workbench.session import EditOrigin, Workbench


class Acceptance(Value):
    """What accepting suggestions would do.

    Args:
        edit: all of it as one edit.
        accepted: the suggestions that it sets, the best first.
        left: those that it does not set: an end is taken, or gone with its version, the block is retired, or a lost
            element waits for a person's answer.
        blocks: how many blocks the suggestions are of.
        carried: how many elements it sets in other versions of their schemas.
        left_there: elements that it does not set there, though both ends are there.
    """

    edit: CompositeEdit
    accepted: tuple[Suggestion, ...]
    left: tuple[Suggestion, ...]
    blocks: int
    carried: int = 0
    left_there: tuple[LeftElement, ...] = ()


def plan_acceptance(
    document: Document,
    chosen: Iterable[Suggestion],
    which: str,
    status: Status = Status.CONFIRMED,
    scope: VersionScope = VersionScope.ALL,
    *,
    entity_versions_too: bool = False,
    types_too: bool = False,
) -> Acceptance:
    """Work out the one edit that sets suggestions; the best are set first, and what does not fit beside them is left.

    A block that nobody has confirmed stays so, as it holds more than what is accepted here.

    Args:
        document: the state.
        chosen: the suggestions, of any blocks.
        which: says which they are, for the title.
        status: what other blocks become; where a second person confirms, they are unconfirmed all the same.
        scope: in which other versions of a schema the element of the same lineages is set, too.
        entity_versions_too: set it in the other versions of entities that keep parallel versions, too.
        types_too: set it where types differ, too.

    Cost: the blocks of the suggestions, and the versions in scope of each.
    """
    accepted, left = _fitting(document, chosen)
    by_block: dict[BlockKey, list[Element]] = {}
    for each in accepted:
        by_block.setdefault(each.key, []).append(each.element)
    edits = tuple(
        SetElements(key, tuple(sorted(elements)), status=_status(document, key, status))
        for key, elements in sorted(by_block.items())
    )
    plan = carried(document, edits, scope, types_too=types_too, entity_versions_too=entity_versions_too)
    others, answers = _without_answers(document, plan.edits)
    set_there = sum(len(edit.ones) for edit in others)
    title = f"Accept {number_of(len(accepted), 'suggestion')} {which}"
    title += f" in {len(edits):,} blocks" if len(edits) > 1 else ""
    title += f", with {set_there:,} in other versions" if set_there else ""
    edit = CompositeEdit(title, (*edits, *others))
    return Acceptance(edit, tuple(accepted), tuple(left), len(edits), set_there, (*plan.left, *answers))


def accept_best(
    workbench: Workbench,
    found: Suggestions,
    least: float,
    door: EditOrigin = EditOrigin.COMMAND,
    scope: VersionScope = VersionScope.THIS,
) -> Suggestions:
    """Set the best suggestions scored ``least`` or more, as one undo step; their blocks are unconfirmed.

    What would answer a lost element that waits for review is left to a person.
    """
    before = workbench.document
    chosen = [each for each in found.suggestions if each.is_best and each.score >= least]
    plan = plan_acceptance(before, chosen, f"scored {least:.2f} or more", Status.UNCONFIRMED, scope)
    if not plan.accepted:
        return found
    done = workbench.do(plan.edit, door)
    keys = {edit.key for edit in plan.edit.edits if isinstance(edit, SetElements)}
    blocks = (before.matrix.block(*key) for key in keys)
    unconfirmed = sum(block is not None and block.status is Status.CONFIRMED for block in blocks)
    set_ = len(plan.accepted) + plan.carried
    return Suggestions(done.after.state, found.suggestions, set_, unconfirmed)


def answers_loss(document: Document, key: BlockKey, element: Element) -> bool:
    """Return whether setting an element would settle a loss that somebody must decide on."""
    block = document.matrix.block(*key)
    if block is None or not block.open_losses:
        return False
    target = document.cdm.version(key[1]).attribute(element.q)
    return target is not None and any(loss.q_lineage == target.lineage for loss in block.open_losses)


def _fitting(document: Document, chosen: Iterable[Suggestion]) -> tuple[list[Suggestion], list[Suggestion]]:
    """Part suggestions into those that can be set together, the best score first, and those that cannot."""
    blocks: dict[BlockKey, _FreeEnds] = {}
    accepted: list[Suggestion] = []
    left: list[Suggestion] = []
    for each in sorted(chosen, key=lambda each: -each.score):
        if each.key not in blocks:
            blocks[each.key] = _FreeEnds(document, each.key)
        fits = not answers_loss(document, each.key, each.element) and blocks[each.key].take(each.element)
        (accepted if fits else left).append(each)
    return accepted, left


class _FreeEnds:
    """The ends of a block that are free; none where the block can be mapped no more."""

    def __init__(self, document: Document, key: BlockKey) -> None:
        block = document.matrix.block(*key) or Block(*key)
        is_open = block.status is not Status.RETIRED and _is_current(document, key)
        self._sources = set(document.extraction.attribute_ids(key[0])) if is_open else set()
        self._targets = set(document.cdm.attribute_ids(key[1])) if is_open else set()
        self._sources -= {e.p for e in block.elements}
        self._targets -= {e.q for e in block.elements}

    def take(self, element: Element) -> bool:
        """Take both ends of an element if they are free."""
        if element.p not in self._sources or element.q not in self._targets:
            return False
        self._sources.remove(element.p)
        self._targets.remove(element.q)
        return True


def _is_current(document: Document, key: BlockKey) -> bool:
    """Whether both versions are there, the entity's is the newest one where only that may be mapped."""
    if not document.extraction.has_version(key[0]) or not document.cdm.has_version(key[1]):
        return False
    entity = document.cdm.schema(document.cdm.schema_of(key[1]))
    return entity.setting("policy") == "parallel" or entity.version_ids[-1] == key[1]


def _status(document: Document, key: BlockKey, status: Status) -> Status:
    block = document.matrix.block(*key)
    return Status.UNCONFIRMED if block is not None and block.is_unconfirmed else status


def _without_answers(
    document: Document, edits: Iterable[SetElements]
) -> tuple[tuple[SetElements, ...], list[LeftElement]]:
    """Leave out of edits what would answer a loss, and return it beside them; edits that hold nothing else go."""
    kept: list[SetElements] = []
    answers: list[LeftElement] = []
    for edit in edits:
        left = dict.fromkeys(each for each in edit.ones if answers_loss(document, edit.key, each))
        answers += [LeftElement(edit.key, each, LeftReason.LOSS) for each in left]
        ones = tuple(each for each in edit.ones if each not in left)
        kept += [replace(edit, ones=ones)] if ones else []
    return tuple(kept), answers
