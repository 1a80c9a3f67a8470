"""Rename proposals: which attribute may be the new name of a lost one. Never applied unasked.

Evidence weighed here: the name, the place in the version, the documentation; the type must be the same.
Source: dmm.md §7.4.
"""

from __future__ import annotations

from dataclasses import dataclass

from metl_gui.core.blocks import Block, Loss
from metl_gui.core.document import Document
from metl_gui.core.nodes import Attribute, Version
from metl_gui.core.suggest.names import alike_pair, alike_texts, read_names
from metl_gui.core.suggest.reasons import name_reason

_LEAST_SCORE = 0.45


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
    """Propose candidates for every open loss of a block, the best first within each."""
    found: list[Proposal] = []
    for loss in block.open_losses:
        ranked = [p for p in _candidates(document, block, loss) if p.score >= _LEAST_SCORE]
        found += sorted(ranked, key=lambda p: (-p.score, p.candidate))
    return tuple(found)


def _candidates(document: Document, block: Block, loss: Loss) -> list[Proposal]:
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
    if earlier is None or old is None:
        return []
    known = {a.lineage for a in earlier.attributes}
    taken = {element[end] for element in block.elements}
    fresh = [a for a in version.attributes if a.lineage not in known and a.id not in taken]
    return [_score(old, earlier, a, version) for a in fresh if (a.type, a.logical) == (old.type, old.logical)]


def _score(old: Attribute, old_version: Version, new: Attribute, new_version: Version) -> Proposal:
    name = alike_pair(old.path, new.path)
    places = old_version.attributes.index(old), new_version.attributes.index(new)
    place = 1.0 / (1 + abs(places[0] - places[1]))
    doc = float(alike_texts([old.doc], [new.doc])[0, 0]) if old.doc and new.doc else name
    score = round(0.6 * name + 0.25 * place + 0.15 * doc, 2)
    reasons = [f"{new.path} is new", f"same type {new.type_text}"]
    if place == 1.0:
        reasons.append("same place")
    ours, theirs = read_names([old.path], [new.path])
    reasons.append(name_reason(name, ours[0], theirs[0]) or "names not alike")
    return Proposal(old.path, new.path, score, ", ".join(reasons))
