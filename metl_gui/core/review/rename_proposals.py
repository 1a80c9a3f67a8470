"""Rename proposals: which attribute may be the new name of a lost one. Never applied unasked.

Candidates are attributes that came when the lost one went, and those that had come beside it before, which take more to
convince. Source: docs/architecture/model.md, "Trees, versions, lineages".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from metl_gui.core.matrix.blocks import Block, BlockKey, Loss
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.refusals import NO_RENAMES_REFUSED, RefusedRenames
from metl_gui.core.suggest.names import Names, read_names
from metl_gui.core.suggest.reasons import name_reason
from metl_gui.core.suggest.renames import Around, Renames, Values, weigh_renames
from metl_gui.core.suggest.words import letters
from metl_gui.core.trees.nodes import Attribute, Side, Version
from metl_gui.core.trees.paths import join
from metl_gui.values import Value

Refused: TypeAlias = RefusedRenames
"""What is not proposed again."""

_LEAST_SCORE, _LEAST_BESIDE = 0.5, 0.72
_BESIDE = 0.9
_MOST_SURE = 0.99
"""Only what is there again under its own lineage is certain."""
_MOST = 12
"""So many candidates of one lost attribute are worth reading."""

_MOST_KEPT, _MOST_PAIRS_KEPT = 64, 1_000_000
_MOST_BACK = 12
"""So many versions are looked back for what came beside a lost attribute."""

_SAME_DOC, _ALIKE_VALUES = 0.9, 0.5


class Proposal(Value):
    """A candidate for a lost attribute.

    Args:
        lost: path of the lost attribute.
        candidate: path of the attribute proposed, in the block's own version of the same side.
        score: 0 to 1.
        reason: the evidence in words.
    """

    lost: str
    candidate: str
    score: float
    reason: str


def proposals(
    document: Document,
    block: Block,
    refused: Refused = NO_RENAMES_REFUSED,
    values: Values | None = None,
) -> tuple[Proposal, ...]:
    """Propose candidates for every open loss of a block, the best first within each.

    Cost: the names of the lost attributes are compared with those of the new ones all at once.

    Args:
        document: the state.
        block: the block that lost something.
        refused: what is not proposed again.
        values: some values of extraction attributes, where samples are at hand; the same object for the same values.
    """
    found = candidates(document, block, refused, values)
    return tuple(proposal for loss in block.open_losses for proposal in found[loss])


def best_proposals(
    document: Document,
    block: Block,
    refused: Refused = NO_RENAMES_REFUSED,
    values: Values | None = None,
) -> dict[Loss, Proposal]:
    """Return the best proposal of each open loss; a candidate is proposed once. Arguments as of ``proposals``."""
    known = [(p, loss) for loss, list_ in candidates(document, block, refused, values).items() for p in list_]
    found: dict[Loss, Proposal] = {}
    taken: set[str] = set()
    for proposal, loss in sorted(known, key=lambda each: -each[0].score):
        if loss not in found and proposal.candidate not in taken:
            found[loss] = proposal
            taken.add(proposal.candidate)
    return found


class _Lost(Value):
    """A lost attribute as it was: in the last version that had it, and the version that has it no more."""

    side: Side
    old: Attribute
    earlier: Version
    version: Version


def candidates(
    document: Document,
    block: Block,
    refused: Refused = NO_RENAMES_REFUSED,
    values: Values | None = None,
) -> Mapping[Loss, Sequence[Proposal]]:
    """Rank the candidates of each open loss, the best first. Arguments as of ``proposals``.

    What was asked of a document last is kept with it: lists, lines and cards ask one after the other.
    """
    if not block.losses:
        return {}
    kept = _KEPT.setdefault(document, {})
    known = kept.get(block.key)
    if known is None or known.block != block or known.refused is not refused or known.values is not values:
        if len(kept) >= _MOST_KEPT:
            kept.clear()
        known = kept[block.key] = _Kept(block, refused, values, _candidates(document, block, refused, values))
    return known.found


class _Kept(NamedTuple):
    """What was found for a block, and what was asked."""

    block: Block
    refused: Refused
    values: Values | None
    found: Mapping[Loss, Sequence[Proposal]]


_KEPT: WeakKeyDictionary[Document, dict[BlockKey, _Kept]] = WeakKeyDictionary()


def _candidates(
    document: Document, block: Block, refused: Refused, values: Values | None
) -> dict[Loss, Sequence[Proposal]]:
    found: dict[Loss, Sequence[Proposal]] = {}
    together: dict[tuple[Side, int], list[tuple[Loss, _Lost]]] = defaultdict(list)
    for loss in block.open_losses:
        lost = _look_back(document, block, loss)
        if isinstance(lost, _Lost):
            together[lost.side, lost.earlier.id].append((loss, lost))
        else:
            found[loss] = lost
    for group in together.values():
        found |= _of_group(document, block, group, refused, values)
    return found


def _look_back(document: Document, block: Block, loss: Loss) -> _Lost | list[Proposal]:
    """Find the lost attribute, or say at once what may be meant: it is there again, or nothing is known of it."""
    rows = document.cdm.version(block.entity_version)
    columns = document.extraction.version(block.version)
    if rows.of_lineage(loss.q_lineage) is not None:
        side, version, lost_id, lineage = Side.EXTRACTION, columns, loss.p, loss.p_lineage
    else:
        side, version, lost_id, lineage = Side.CDM, rows, loss.q, loss.q_lineage
    tree = document.tree(side)
    again = version.of_lineage(lineage)
    if again is not None:
        path = loss.from_path if side is Side.EXTRACTION else loss.to_path
        return [Proposal(path, again.path, 1.0, f"{again.path} is there again")]
    earlier = tree.previous(version)
    while earlier is not None and earlier.attribute(lost_id) is None:
        earlier = tree.previous(earlier)
    old = earlier.attribute(lost_id) if earlier else None
    return _Lost(side, old, earlier, version) if earlier is not None and old is not None else []


def _of_group(
    document: Document,
    block: Block,
    group: list[tuple[Loss, _Lost]],
    refused: Refused,
    values: Values | None,
) -> dict[Loss, Sequence[Proposal]]:
    """Rank the new attributes for lost ones that the same version had."""
    first = group[0][1]
    side, version = first.side, first.version
    step = _step(first.earlier, version)
    known = step.known
    taken = {element.p if side is Side.EXTRACTION else element.q for element in block.elements}
    ignored = document.tree(side).schema(version.schema_id).ignored_lineages
    free = [a for a in version.attributes if a.id not in taken and a.lineage not in ignored]
    fresh = [a for a in free if a.lineage not in known]
    olds = [lost.old for _, lost in group]
    later = _came_beside(document, first, olds, [a for a in free if a.lineage in known])
    new = fresh + [a for a in free if a.lineage in later]
    if not new:
        return {loss: [] for loss, _ in group}
    words = step.weigh(olds, new, values if side is Side.EXTRACTION else None)
    weighed = words.weighed
    beside = np.array([a.lineage in known for a in new], np.bool_)
    scores = np.round(np.where(beside[None, :], weighed.scores * _BESIDE, weighed.scores).astype(np.float64), 2)
    is_likely = scores >= np.where(beside, _LEAST_BESIDE, _LEAST_SCORE)[None, :]
    found: dict[Loss, Sequence[Proposal]] = {}
    for row, (loss, lost) in enumerate(group):
        ranked: list[tuple[float, str, int]] = []
        for column in np.flatnonzero(is_likely[row]).tolist():
            attribute = new[column]
            if beside[column] and lost.old.lineage not in later[attribute.lineage]:
                continue
            if not refused.covers(side, version.schema_id, lost.old, attribute):
                ranked.append((-min(float(scores[row, column]), _MOST_SURE), attribute.path, column))
        found[loss] = [
            Proposal(lost.old.path, path, -score, words.reason(row, column, is_new=not beside[column]))
            for score, path, column in sorted(ranked)[:_MOST]
        ]
    return found


class _Step(Value, eq=False, dict=True):
    """What all blocks of a version share when they are compared with an earlier one."""

    earlier: Version
    version: Version
    known: frozenset[int]
    around: tuple[Around, Around]

    def weigh(self, olds: Sequence[Attribute], new: Sequence[Attribute], values: Values | None) -> _Words:
        """Weigh lost attributes against new ones; schemas that are alike in all that counts are weighed once."""
        if values is not None:
            return _Words(olds, new, weigh_renames(olds, new, *self.around, values))
        before, after = self._places
        key = self._content, tuple(before[a.id] for a in olds), tuple(after[a.id] for a in new)
        return _WEIGHED.get(key) or _WEIGHED.keep(key, _Words(olds, new, weigh_renames(olds, new, *self.around)))

    @cached_property
    def _places(self) -> tuple[dict[int, int], dict[int, int]]:
        one, other = ({a.id: at for at, a in enumerate(side.attributes)} for side in self.around)
        return one, other

    @cached_property
    def _content(self) -> Hashable:
        """What the two versions say, with places for the lineages that both have."""
        places = {a.lineage: at for at, a in enumerate(self.earlier.attributes)}
        return tuple(
            tuple((a.path, a.type, a.logical, a.scale, a.doc, places.get(a.lineage, -1)) for a in side.attributes)
            for side in self.around
        )


_STEPS: dict[tuple[int, int], _Step] = {}


def _step(earlier: Version, version: Version) -> _Step:
    """Return what two versions share, worked out once; ids are given again in other projects, versions are not."""
    found = _STEPS.get((earlier.id, version.id))
    if found is None or found.earlier is not earlier or found.version is not version:
        known = frozenset(a.lineage for a in earlier.attributes)
        kept = known & {a.lineage for a in version.attributes}
        around = Around(earlier.attributes, kept), Around(version.attributes, kept)
        found = _Step(earlier, version, known, around)
        if len(_STEPS) >= _MOST_KEPT:
            _STEPS.clear()
        _STEPS[earlier.id, version.id] = found
    return found


def _came_beside(
    document: Document, first: _Lost, olds: Sequence[Attribute], there: Sequence[Attribute]
) -> Mapping[int, set[int]]:
    """For each attribute that stood beside lost ones: the lineages of those that were there before it came."""
    found: dict[int, set[int]] = defaultdict(set)
    below = document.tree(first.side).previous(first.earlier) if there else None
    for _ in range(_MOST_BACK):
        if below is None:
            break
        known = {a.lineage for a in below.attributes}
        before = {a.lineage for a in olds} & known
        for attribute in there:
            if attribute.lineage not in known:
                found[attribute.lineage] |= before
        below = document.tree(first.side).previous(below)
    return found


class _Words:
    """Says what speaks for a pair, the strongest first."""

    def __init__(self, olds: Sequence[Attribute], new: Sequence[Attribute], weighed: Renames) -> None:
        self._olds, self._new, self.weighed = olds, new, weighed
        self._said: dict[tuple[int, int], str] = {}

    @cached_property
    def _names(self) -> tuple[Names, Names]:
        return read_names([a.path for a in self._olds], [a.path for a in self._new])

    def reason(self, row: int, column: int, *, is_new: bool) -> str:
        """Give the reason of one pair."""
        if (row, column) not in self._said:
            self._said[row, column] = self._reason(row, column, is_new=is_new)
        return self._said[row, column]

    def _reason(self, row: int, column: int, *, is_new: bool) -> str:
        weighed, old, new = self.weighed, self._olds[row], self._new[column]
        parts = [f"{new.path} is new" if is_new else f"{new.path} came before it went"]
        parts += ["the description says so"] if weighed.said[row, column] else []
        parts += [self._name(row, column)]
        parts += ["alike values"] if weighed.values[row, column] >= _ALIKE_VALUES else []
        parts += ["same description"] if weighed.docs[row, column] >= _SAME_DOC else []
        parts += ["same place"] if weighed.places[row, column] == 1 else []
        is_widened = bool(weighed.widened[row, column])
        parts += [f"type {new.type_text}, was {old.type_text}" if is_widened else f"same type {new.type_text}"]
        return ", ".join(parts)

    def _name(self, row: int, column: int) -> str:
        old, new = self._olds[row].path, self._new[column].path
        if letters(old) == letters(new):
            return "same name in another spelling"
        move = self.weighed.moves.get((row, column))
        if move is not None:
            (before, after), together = move
            where = f"under {join(after)}" if after else "at the top"
            was = f" instead of {join(before)}" if before and after else ""
            others = f", like {together - 1} other{'s' if together > 2 else ''}" if together > 1 else ""
            return f"same name {where}{was}{others}"
        score = float(self.weighed.names[row, column])
        return name_reason(score, self._names[0][row], self._names[1][column]) or "names not alike"


class _Weighed:
    """What was weighed last, by what the versions say; so many pairs of attributes of it."""

    def __init__(self) -> None:
        self._found: dict[Hashable, _Words] = {}
        self._pairs = 0

    def get(self, key: Hashable) -> _Words | None:
        return self._found.get(key)

    def keep(self, key: Hashable, words: _Words) -> _Words:
        if self._pairs > _MOST_PAIRS_KEPT:
            self._found.clear()
            self._pairs = 0
        self._found[key] = words
        self._pairs += words.weighed.scores.size
        return words


_WEIGHED = _Weighed()
