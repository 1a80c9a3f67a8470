"""Rename proposals: which attribute may be the new name of a lost one. Never applied unasked.

Evidence weighed here: the name, the place in the version, the documentation; the type must be the same.
Source: dmm.md §7.4.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from metl_gui.core.blocks import Block, Loss
from metl_gui.core.document import Document
from metl_gui.core.nodes import Attribute, Version
from metl_gui.core.suggest.names import Scores, alike, alike_texts, read_names
from metl_gui.core.suggest.reasons import name_reason

_LEAST_SCORE = 0.45
_MOST = 12
"""So many candidates of one lost attribute are worth reading."""


@dataclass(frozen=True, slots=True)
class Proposal:
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


def proposals(document: Document, block: Block) -> tuple[Proposal, ...]:
    """Propose candidates for every open loss of a block, the best first within each.

    Cost: the names of the lost attributes are compared with those of the new ones all at once.
    """
    found: dict[Loss, list[Proposal]] = {}
    together: dict[tuple[int, int], list[tuple[Loss, _Lost]]] = defaultdict(list)
    for loss in block.open_losses:
        lost = _look_back(document, block, loss)
        if isinstance(lost, _Lost):
            together[lost.end, lost.earlier.id].append((loss, lost))
        else:
            found[loss] = lost
    for group in together.values():
        found |= _of_group(block, group)
    return tuple(proposal for loss in block.open_losses for proposal in found[loss])


def best_proposals(
    document: Document, block: Block, refused: frozenset[tuple[str, str]] = frozenset()
) -> dict[Loss, Proposal]:
    """Return the best proposal of each open loss; a candidate is proposed once."""
    found: dict[Loss, Proposal] = {}
    taken: set[str] = set()
    known = [p for p in proposals(document, block) if (p.lost, p.candidate) not in refused]
    losses: dict[str, list[Loss]] = defaultdict(list)
    for loss in block.open_losses:
        for path in {loss.from_path, loss.to_path}:
            losses[path].append(loss)
    for proposal in sorted(known, key=lambda p: -p.score):
        for loss in losses[proposal.lost]:
            if loss in found or proposal.candidate in taken:
                continue
            found[loss] = proposal
            taken.add(proposal.candidate)
    return found


@dataclass(frozen=True, slots=True)
class _Lost:
    """A lost attribute as it was: in the last version that had it, and the version that has it no more."""

    end: int
    old: Attribute
    earlier: Version
    version: Version


def _look_back(document: Document, block: Block, loss: Loss) -> _Lost | list[Proposal]:
    """Find the lost attribute, or say at once what may be meant: it is there again, or nothing is known of it."""
    rows = document.cdm.version(block.entity_version)
    columns = document.extraction.version(block.version)
    if rows.of_lineage(loss.q_lineage) is not None:
        tree, version, lost_id, lineage, end = document.extraction, columns, loss.p, loss.p_lineage, 1
    else:
        tree, version, lost_id, lineage, end = document.cdm, rows, loss.q, loss.q_lineage, 0
    again = version.of_lineage(lineage)
    if again is not None:
        path = loss.from_path if end else loss.to_path
        return [Proposal(path, again.path, 1.0, f"{again.path} is there again")]
    earlier = tree.previous(version)
    while earlier is not None and earlier.attribute(lost_id) is None:
        earlier = tree.previous(earlier)
    old = earlier.attribute(lost_id) if earlier else None
    return _Lost(end, old, earlier, version) if earlier is not None and old is not None else []


def _of_group(block: Block, group: list[tuple[Loss, _Lost]]) -> dict[Loss, list[Proposal]]:
    """Rank the new attributes for lost ones that the same version had."""
    first = group[0][1]
    known = {a.lineage for a in first.earlier.attributes}
    taken = {element[first.end] for element in block.elements}
    fresh = [a for a in first.version.attributes if a.lineage not in known and a.id not in taken]
    olds = [lost.old for _, lost in group]
    if not fresh:
        return {loss: [] for loss, _ in group}
    paths = [a.path for a in olds], [a.path for a in fresh]
    names, words = alike(*paths), read_names(*paths)
    scores, places = _scores(first, olds, fresh, names)
    found: dict[Loss, list[Proposal]] = {}
    for row, (loss, lost) in enumerate(group):
        old = lost.old
        fits = [at for at, a in enumerate(fresh) if (a.type, a.logical) == (old.type, old.logical)]
        ranked = sorted((-round(float(scores[row, at]), 2), fresh[at].path, at) for at in fits)
        found[loss] = [
            Proposal(
                old.path,
                path,
                -score,
                _reason(
                    fresh[at],
                    bool(places[row, at] == 1),
                    name_reason(float(names[row, at]), words[0][row], words[1][at]),
                ),
            )
            for score, path, at in ranked[:_MOST]
            if -score >= _LEAST_SCORE
        ]
    return found


def _scores(first: _Lost, olds: list[Attribute], fresh: list[Attribute], names: Scores) -> tuple[Scores, Scores]:
    """Weigh names, places and documentation.

    Shape: both float32 of (olds, fresh): the scores, and the part of the places, 1 for the same one.
    """
    stood = {a.id: at for at, a in enumerate(first.earlier.attributes)}
    stands = {a.id: at for at, a in enumerate(first.version.attributes)}
    before, after = np.array([stood[a.id] for a in olds]), np.array([stands[a.id] for a in fresh])
    places = (1 / (1 + np.abs(before[:, None] - after[None, :]))).astype(np.float32)
    has_docs = np.array([bool(a.doc) for a in olds])[:, None] & np.array([bool(a.doc) for a in fresh])[None, :]
    docs = np.where(has_docs, alike_texts([a.doc for a in olds], [a.doc for a in fresh]), names)
    return (0.6 * names + 0.25 * places + 0.15 * docs).astype(np.float32), places


def _reason(new: Attribute, is_same_place: bool, names: str) -> str:
    parts = [f"{new.path} is new", f"same type {new.type_text}"]
    parts += ["same place"] if is_same_place else []
    return ", ".join([*parts, names or "names not alike"])
