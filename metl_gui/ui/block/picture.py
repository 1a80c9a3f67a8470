"""A block as two lists with lines: what stands in them, worked out apart from painting."""

from __future__ import annotations

from dataclasses import dataclass

from metl_gui.core.matrix.blocks import Block, BlockKey, Loss
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.refusals import NO_RENAMES_REFUSED
from metl_gui.core.review.rename_proposals import Refused, best_proposals
from metl_gui.core.suggest.renames import Values
from metl_gui.core.trees.nodes import Attribute
from metl_gui.core.trees.types import is_readable


@dataclass(frozen=True)
class Entry:
    """A line of one of the lists.

    Args:
        id: the attribute, 0 for what is gone.
        words: what is read.
        is_lost: it lost its element, or is gone itself.
        is_new: no earlier version had it.
        tip: more words.
    """

    id: int
    words: str
    is_lost: bool = False
    is_new: bool = False
    tip: str = ""


@dataclass(frozen=True)
class Link:
    """A line between entries of both lists, by position.

    Args:
        left, right: positions.
        words: of a proposed line, empty for one that is.
        type_differs: values of the one cannot be read as the other.
    """

    left: int
    right: int
    words: str = ""
    type_differs: bool = False


@dataclass(frozen=True)
class BlockPicture:
    """Both lists and the lines between them."""

    left: tuple[Entry, ...]
    right: tuple[Entry, ...]
    links: tuple[Link, ...]


def picture_of(
    document: Document, key: BlockKey, refused: Refused = NO_RENAMES_REFUSED, values: Values | None = None
) -> BlockPicture:
    """Draw a block of a document; a block of zeros has lists without lines.

    Arguments as of ``review.rename_proposals.proposals``.
    """
    version, entity_version = document.extraction.find_version(key[0]), document.cdm.find_version(key[1])
    if version is None or entity_version is None:
        return BlockPicture((), (), ())
    block = document.matrix.block(*key) or Block(*key)
    losses = {end.id: loss for loss in block.open_losses if (end := entity_version.of_lineage(loss.q_lineage))}
    left = [_entry(a, None) for a in version.attributes]
    right = [_entry(a, losses.get(a.id)) for a in entity_version.attributes]
    left_at = {entry.id: at for at, entry in enumerate(left)}
    right_at = {entry.id: at for at, entry in enumerate(right)}
    links = [
        Link(left_at[p.id], right_at[q.id], type_differs=not is_readable(p, q))
        for element in block.elements
        if (p := version.attribute(element.p)) is not None and (q := entity_version.attribute(element.q)) is not None
    ]
    for loss, proposal in best_proposals(document, block, refused, values).items():
        source = version.at_path(proposal.candidate)
        target = entity_version.of_lineage(loss.q_lineage)
        if source is not None and target is not None:
            links.append(Link(left_at[source.id], right_at[target.id], f"rename? {proposal.score:.2f}"))
    return BlockPicture(tuple(left), tuple(right), tuple(links))


def _entry(attribute: Attribute, loss: Loss | None) -> Entry:
    tip = f"{attribute.path}\n{attribute.type_text}"
    if loss is None:
        return Entry(attribute.id, attribute.path, tip=tip)
    return Entry(attribute.id, attribute.path, is_lost=True, tip=f"{tip}\n{loss.reason}")
