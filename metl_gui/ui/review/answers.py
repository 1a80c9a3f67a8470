"""The edit that each answer of a review means."""

from __future__ import annotations

from metl_gui.core.changes.draft import Edit
from metl_gui.core.edits.review import AcceptLosses, RenameLost, TakeLost, mapped_in_place
from metl_gui.core.matrix.blocks import Block, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.loss_choices import loss_name, rename_name
from metl_gui.errors import BugError
from metl_gui.ui.review.card import AnswerKind, CardAnswer


def edit_of(document: Document, block: Block, answer: CardAnswer, comment: str = "") -> Edit:
    """Turn an answer into an edit; what was not renamed is no edit."""
    name = loss_name(block, answer.loss)
    match answer.kind:
        case AnswerKind.LOST:
            return AcceptLosses(block.key, (name,), comment)
        case AnswerKind.RENAMED:
            again = _again(document, block, answer)
            taken = mapped_in_place(document, block.key, (again,), comment) if again is not None else None
            if isinstance(taken, TakeLost):
                return taken
            return RenameLost(block.key, rename_name(document, block, answer.loss), answer.new_path, comment)
        case AnswerKind.ANOTHER:
            target = document.cdm.version(block.entity_version).of_lineage(answer.loss.q_lineage)
            if answer.attribute is None or target is None:
                raise BugError("another attribute was chosen for a CDM attribute that is gone")
            return mapped_in_place(document, block.key, (Element(target.id, answer.attribute.id),), comment)
        case AnswerKind.NOT_RENAMED:
            raise BugError("a refusal is kept beside the states, it is no edit")


def _again(document: Document, block: Block, answer: CardAnswer) -> Element | None:
    """Return the lost element itself where its versions have both ends of it, as after a merge."""
    source = document.extraction.version(block.version).of_lineage(answer.loss.p_lineage)
    target = document.cdm.version(block.entity_version).of_lineage(answer.loss.q_lineage)
    if source is None or target is None or answer.new_path not in {source.path, target.path}:
        return None
    return Element(target.id, source.id)
