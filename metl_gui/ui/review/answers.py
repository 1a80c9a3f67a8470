"""The edit that each answer of a review means."""

from __future__ import annotations

from metl_gui.core.blocks import Block, Element, Loss
from metl_gui.core.document import Document
from metl_gui.core.draft import Edit
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.review import AcceptLosses, RenameLost
from metl_gui.errors import BugError
from metl_gui.ui.review.card import AnswerKind, CardAnswer


def edit_of(document: Document, block: Block, answer: CardAnswer, comment: str = "") -> Edit:
    """Turn an answer into an edit."""
    match answer.kind:
        case AnswerKind.LOST:
            return AcceptLosses(block.key, (name_of(block, answer.loss),), comment)
        case AnswerKind.RENAMED:
            if answer.proposal is None:
                raise BugError("a rename was accepted without a proposal")
            return RenameLost(block.key, answer.proposal.lost, answer.proposal.candidate, comment)
        case AnswerKind.ANOTHER:
            target = document.cdm.version(block.entity_version).of_lineage(answer.loss.q_lineage)
            if answer.attribute is None or target is None:
                raise BugError("another attribute was chosen for a CDM attribute that is gone")
            return SetElements(block.key, (Element(target.id, answer.attribute.id),))


def name_of(block: Block, loss: Loss) -> str:
    """Return the path that names a loss and no other one of its block."""
    ends = [path for other in block.open_losses if other != loss for path in (other.from_path, other.to_path)]
    return next((path for path in (loss.to_path, loss.from_path) if path not in ends), loss.to_path)
