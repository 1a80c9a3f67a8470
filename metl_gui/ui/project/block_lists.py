"""A block as two lists of attributes: what is mapped to what, what was lost, in which order; and its neighbours.

Cost of the lists: the attributes of both versions; which ones are new costs the earlier versions of both.

``neighbour`` goes from block to block: through all of a schema, or along the versions against one entity version.
Order: versions oldest first; within a version by entity version id. Cost: the column sets of the versions between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from itertools import islice
from typing import TypeAlias

import msgspec

from metl_gui.core.matrix.blocks import Block, BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Attribute, Side, Version
from metl_gui.core.trees.type_verdicts import TypeVerdict, type_verdict
from metl_gui.values import Value


class ListOrder(StrEnum):
    """In which order the attributes of a version are listed."""

    SOURCE = "in order"
    UNMAPPED_FIRST = "unmapped first"
    UNMAPPED_LAST = "unmapped last"


class Note(Value):
    """What people said of an attribute beside its mapping.

    Args:
        comment: free text.
        is_masked: its values are not to be shown.
        ignored: why it is never to be mapped, who said so and when; empty where nobody did.
    """

    comment: str = ""
    is_masked: bool = False
    ignored: str = ""


NoteOf: TypeAlias = Callable[[Side, Version, Attribute], Note]
RefusedWords: TypeAlias = Callable[[BlockKey, Element], str]
"""Say what typed columns refuse of the sampled values of a cell; nothing where they take all of them."""


class ListRow(msgspec.Struct, frozen=True, gc=False):
    """One attribute of a list, of which nothing that it holds knows: so no garbage is looked for among many of them.

    Args:
        attribute: itself.
        partner: what it is mapped with in this block.
        is_key: it belongs to the key of its version.
        is_new: no earlier version had it; none of a first version is new.
        verdict: what typed sinks make of the values of the source as the target's type.
        refused: what typed columns refuse of its sampled values, in words; empty for nothing.
        lost: why it lost its element in this block, empty when it did not.
        note: what people said of it.
    """

    attribute: Attribute
    partner: Attribute | None = None
    is_key: bool = False
    is_new: bool = False
    verdict: TypeVerdict = TypeVerdict.LOSSLESS
    lost: str = ""
    note: Note = Note()
    refused: str = ""

    @property
    def id(self) -> int:
        """The attribute's id."""
        return self.attribute.id

    def has_words(self, words: Iterable[str]) -> bool:
        """Whether every word stands in what is said of it, or of what it is mapped with: a line keeps both its ends."""
        ends = [end for end in (self.attribute, self.partner) if end is not None]
        text = " ".join([*(f"{end.path} {end.type_text} {end.doc}" for end in ends), self.note.comment]).lower()
        return all(word in text for word in words)


class BlockLists(Value):
    """Both lists of a block.

    Order: as the versions have them.
    """

    key: BlockKey
    left: tuple[ListRow, ...] = ()
    right: tuple[ListRow, ...] = ()

    def on(self, side: Side) -> tuple[ListRow, ...]:
        """Return the list of one side."""
        return self.left if side is Side.EXTRACTION else self.right

    def row(self, side: Side, attribute_id: int) -> ListRow | None:
        """Find an attribute."""
        return next((row for row in self.on(side) if row.id == attribute_id), None)

    @property
    def elements(self) -> tuple[Element, ...]:
        """The ones of the block, in the order of the left list."""
        return tuple(Element(row.partner.id, row.id) for row in self.left if row.partner is not None)


_Partner: TypeAlias = tuple[Attribute, TypeVerdict, str]
"""What an attribute is mapped with, and ``verdict`` and ``refused`` of both."""


def _no_note(_side: Side, _version: Version, _attribute: Attribute) -> Note:
    return Note()


def takes_all(_key: BlockKey, _element: Element) -> str:
    """Return no words: nothing is known of refused values."""
    return ""


def lists_of(
    document: Document, key: BlockKey, note_of: NoteOf = _no_note, refused: RefusedWords = takes_all
) -> BlockLists:
    """List the attributes of both versions of a block; a block of zeros is two lists without partners."""
    version, entity_version = document.extraction.find_version(key[0]), document.cdm.find_version(key[1])
    if version is None or entity_version is None:
        return BlockLists(key)
    block = document.matrix.block(*key) or Block(*key)
    columns, rows = {a.id: a for a in version.attributes}, {a.id: a for a in entity_version.attributes}
    verdicts: dict[tuple[object, ...], TypeVerdict] = {}
    to_right: dict[int, _Partner] = {}
    to_left: dict[int, _Partner] = {}
    for element in block.elements:
        source, target = columns.get(element.p), rows.get(element.q)
        if source is None or target is None:
            continue
        kinds = source.type, source.logical, source.scale, target.type, target.logical, target.scale
        verdict = verdicts.get(kinds)
        if verdict is None:
            verdict = verdicts[kinds] = type_verdict(source, target)
        words = refused(key, element)
        to_right[element.p], to_left[element.q] = (target, verdict, words), (source, verdict, words)
    left = _Side(document, Side.EXTRACTION, version, to_right)
    right = _Side(document, Side.CDM, entity_version, to_left)
    lost_left = {loss.p_lineage: loss.reason for loss in block.open_losses}
    lost_right = {loss.q_lineage: loss.reason for loss in block.open_losses}
    return BlockLists(key, left.rows(lost_left, note_of), right.rows(lost_right, note_of))


def arranged(lists: BlockLists, side: Side, order: ListOrder, text: str = "") -> tuple[ListRow, ...]:
    """Return the rows of one side that a text finds, in an order that keeps the version's own within each part."""
    words = text.lower().split()
    rows = [row for row in lists.on(side) if row.has_words(words)] if words else list(lists.on(side))
    if order is not ListOrder.SOURCE:
        unmapped_last = order is ListOrder.UNMAPPED_LAST
        rows.sort(key=lambda row: (row.partner is None) is unmapped_last)
    return tuple(rows)


class _Side(Value):
    document: Document
    side: Side
    version: Version
    partners: dict[int, _Partner]

    def rows(self, lost: dict[int, str], note_of: NoteOf) -> tuple[ListRow, ...]:
        new = {a.id for a in self.document.tree(self.side).new_attributes(self.version)}
        keys = frozenset(self.version.key or ())
        alone = None, TypeVerdict.LOSSLESS, ""
        found: list[ListRow] = []
        for each in self.version.attributes:
            partner, verdict, refused = self.partners.get(each.id, alone)
            why = lost.get(each.lineage, "") if partner is None else ""
            note = note_of(self.side, self.version, each)
            found.append(ListRow(each, partner, each.path in keys, each.id in new, verdict, why, note, refused))
        return tuple(found)


def neighbour(document: Document, key: BlockKey, step: int, *, along_versions: bool = False) -> BlockKey | None:
    """Return the block some steps before (negative) or after another one, ``None`` beyond either end.

    Args:
        document: where the blocks are.
        key: the block to start from; it may be a block of zeros.
        step: how many blocks further.
        along_versions: stay with the entity version and go through all versions of the schema, blocks of zeros
            included; else go through all blocks of which something is known, version by version.
    """
    version = document.extraction.find_version(key[0])
    if version is None:
        return None
    ids = document.extraction.schema(version.schema_id).version_ids
    at = ids.index(key[0])
    ahead = ids[at:] if step > 0 else ids[at::-1]
    behind = _behind(document, key, ahead, along_versions=along_versions, is_up=step < 0)
    return key if step == 0 else next(islice(behind, abs(step) - 1, None), None)


def _behind(
    document: Document, key: BlockKey, versions: Iterable[int], *, along_versions: bool, is_up: bool
) -> Iterator[BlockKey]:
    """Yield the blocks that come behind one, version by version from its own on, upwards or downwards."""
    for id_ in versions:
        if along_versions:
            if id_ != key[0]:
                yield id_, key[1]
            continue
        column = sorted(document.matrix.column_keys(id_), reverse=is_up)
        if id_ == key[0]:
            column = [other for other in column if (other < key if is_up else other > key)]
        yield from column
