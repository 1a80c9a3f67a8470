"""The elements of a document as rows of a list: one number an element, everything else looked up where it is shown.

The twin of the matrix for people who prefer lists. Rows are numbers of elements: those of the columnar base first, then
those of edited blocks. Order and filter are arrays of such numbers, so ten million rows cost forty megabytes and no
object each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.matrix import STATUSES, DpmBase, base_of
from metl_gui.core.project.comments import Comments
from metl_gui.core.search.attribute_facts import AttributeUses, notes_of
from metl_gui.core.search.filters import Filtering
from metl_gui.core.search.query import Query, Term, TermKind
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.text_columns import Haystack
from metl_gui.core.trees.tree_columns import columns_of
from metl_gui.values import Value

Rows = NDArray[np.int32]
Bools = NDArray[np.bool_]


class MappingColumn(StrEnum):
    """What a row says; the value is the heading."""

    SCHEMA = "Schema"
    VERSION = "Version"
    ATTRIBUTE = "Attribute"
    TYPE = "Type"
    ENTITY = "Entity"
    ENTITY_VERSION = "Entity version"
    CDM_ATTRIBUTE = "CDM attribute"
    CDM_TYPE = "CDM type"
    STATUS = "Status"
    WHO = "Who"
    WHEN = "When"
    COMMENT = "Comment"


_SOURCE_ONLY = {
    (TermKind.IS, "new"),
    (TermKind.IS, "key"),
    *((TermKind.CHANGED, value) for value in ("new", "removed", "type")),
}
_OF_BLOCKS_ALONE = ("mapped", "unmapped", "open", "ignored", "review")
_NO_COMMENTS = Comments()


class RowElement(Value):
    """The element of a row and its block."""

    block: Block
    element: Element


class MappingRows:
    """All elements of a document.

    Args:
        document: whose elements.
        comments: what people said of attributes, for ``is:commented``.
    """

    def __init__(self, document: Document, comments: Comments = _NO_COMMENTS) -> None:
        self.document = document
        self.comments = comments
        self._columns = {side: columns_of(document.tree(side)) for side in Side}
        self._base = document.matrix.base
        edited = dict(document.matrix.edited())
        self._edited = base_of(block for block in edited.values() if block is not None)
        self._gone = np.array(sorted(row for key in edited if (row := self._base.find(key)) >= 0), np.intp)
        self._split = len(self._base.q)
        self._ranks: dict[MappingColumn, NDArray[np.int64]] = {}

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def rows(self) -> Rows:
        """Every row, in the order of the matrix: edited blocks stand where they stood in the base."""
        whole = np.arange(self._split, dtype=np.int32)
        if len(self._edited.q):
            places = np.repeat(
                [self._place(row) for row in range(len(self._edited.version))], np.diff(self._edited.start)
            )
            whole = np.insert(whole, places, np.arange(len(self._edited.q), dtype=np.int32) + self._split)
        if not len(self._gone):
            return whole
        is_gone = np.zeros(self._split + len(self._edited.q), np.bool_)
        for row in self._gone.tolist():
            is_gone[int(self._base.start[row]) : int(self._base.start[row + 1])] = True
        return whole[~is_gone[whole]]

    def _place(self, row: int) -> int:
        """Return before which element of the base an edited block stands."""
        column = self._base.column(int(self._edited.version[row]))
        own = self._base.entity_version[column.start : column.stop]
        at = column.start + int(np.searchsorted(own, self._edited.entity_version[row]))
        return int(self._base.start[at])

    def where(self, row: int) -> RowElement:
        """Find the element and block of a row."""
        base, at = (self._base, row) if row < self._split else (self._edited, row - self._split)
        block = base.block(int(np.searchsorted(base.start, at, side="right")) - 1)
        return RowElement(block, Element(int(base.q[at]), int(base.p[at])))

    def row_of(self, key: BlockKey, element: Element) -> int:
        """Find the row of an element, -1 when it is none."""
        block = self.document.matrix.block(*key)
        if block is None or element not in block.elements:
            return -1
        at = self._edited.find(key)
        base, first = (self._edited, self._split) if at >= 0 else (self._base, 0)
        at = at if at >= 0 else base.find(key)
        return first + int(base.start[at]) + block.elements.index(element)

    def ends(self, rows: Rows) -> NDArray[np.int64]:
        """Return a number for each row that names its element: q and p in one."""
        q: NDArray[np.int64] = self._take(lambda base: base.q, rows).astype(np.int64)
        p: NDArray[np.int64] = self._take(lambda base: base.p, rows).astype(np.int64)
        return q << 32 | p

    def keys(self, rows: Rows) -> list[BlockKey]:
        """Return the key of the block of each row."""
        versions = self._take(lambda base: np.repeat(base.version, np.diff(base.start)), rows)
        targets = self._take(lambda base: np.repeat(base.entity_version, np.diff(base.start)), rows)
        return list(zip(versions.tolist(), targets.tolist(), strict=True))

    def elements(self, rows: Rows) -> dict[BlockKey, list[Element]]:
        """Return the elements of some rows by block."""
        found: dict[BlockKey, list[Element]] = {}
        ends = self._take(lambda base: base.q, rows).tolist(), self._take(lambda base: base.p, rows).tolist()
        for key, q, p in zip(self.keys(rows), *ends, strict=True):
            found.setdefault(key, []).append(Element(q, p))
        return found

    # order

    def ordered(self, rows: Rows, column: MappingColumn, is_descending: bool = False) -> Rows:
        """Sort rows by one column; rows that are equal there keep their order."""
        keys = self._take(lambda base: self._key(base, column), rows)
        found: Rows = rows[np.argsort(-keys if is_descending else keys, kind="stable")]
        return found

    def _key(self, base: DpmBase, column: MappingColumn) -> NDArray[np.int64]:
        """Return what each element of a base is sorted by."""
        match column:
            case MappingColumn.ATTRIBUTE | MappingColumn.TYPE:
                return self._attribute_ranks(Side.EXTRACTION, column)[base.p]
            case MappingColumn.CDM_ATTRIBUTE | MappingColumn.CDM_TYPE:
                return self._attribute_ranks(Side.CDM, column)[base.q]
            case MappingColumn.SCHEMA | MappingColumn.VERSION:
                ranks = self._version_ranks(Side.EXTRACTION, column)[base.version]
            case MappingColumn.ENTITY | MappingColumn.ENTITY_VERSION:
                ranks = self._version_ranks(Side.CDM, column)[base.entity_version]
            case MappingColumn.STATUS:
                ranks = base.status.astype(np.int64)
            case MappingColumn.WHO:
                ranks = self._block_ranks(base, lambda each: each.people)[base.who]
            case MappingColumn.WHEN:
                ranks = base.when_ms
            case _:
                ranks = self._block_ranks(base, self._comments)
        return np.repeat(ranks, np.diff(base.start))

    def _block_ranks(self, base: DpmBase, texts: Callable[[DpmBase], Iterable[str]]) -> NDArray[np.int64]:
        """Return the places of texts of one base among those of both."""
        places = _places([list(texts(each)) for each in (self._base, self._edited)])
        return places[0 if base is self._base else 1]

    def _attribute_ranks(self, side: Side, column: MappingColumn) -> NDArray[np.int64]:
        """Return by attribute id where its path or type stands among all, sorted."""
        if column not in self._ranks:
            of_types = column in (MappingColumn.TYPE, MappingColumn.CDM_TYPE)
            parts = [part.columns for part in self._columns[side].parts]
            texts = [list(c.types) if of_types else [c.base.texts[at] for at in range(len(c.paths))] for c in parts]
            places = _places(texts)
            ranks = [place[c.base.type if of_types else c.base.path] for place, c in zip(places, parts, strict=True)]
            ids = [c.base.id for c in parts]
            self._ranks[column] = _by_id(ids, ranks, self.document.ids(side).attribute)
        return self._ranks[column]

    def _version_ranks(self, side: Side, column: MappingColumn) -> NDArray[np.int64]:
        """Return by version id its place: by name of its schema and then age, or by age alone."""
        if column not in self._ranks:
            by_name = column in (MappingColumn.SCHEMA, MappingColumn.ENTITY)
            parts = [part.columns for part in self._columns[side].parts]
            names = [[schema.name for schema in c.base.schemas.values()] if by_name else [] for c in parts]
            most = 1 + max(int(c.place.max(initial=0)) for c in parts)
            ranks = [
                place[c.schema_row] * most + c.place if by_name else c.place.astype(np.int64)
                for place, c in zip(_places(names), parts, strict=True)
            ]
            ids = [c.base.version_id for c in parts]
            self._ranks[column] = _by_id(ids, ranks, self.document.ids(side).version)
        return self._ranks[column]

    # filter

    def passing(self, query: Query, go_on: Callable[[], object] = lambda: None) -> Rows:
        """Return the rows that pass a query, in the order of the matrix.

        Args:
            query: words and ``type:`` must hold on either side; ``is:new``, ``is:key`` and ``changed:`` on the source.
            go_on: called between steps; may raise to end the work.
        """
        rows = self.rows
        for term in query.terms:
            go_on()
            mask = self._term(term)
            found = self._take(mask, rows)
            rows = rows[~found if term.is_negated else found]
        return rows

    def _term(self, term: Term) -> Callable[[DpmBase], Bools]:
        if term.kind is TermKind.IS and term.value in _OF_BLOCKS_ALONE:
            return lambda base: np.repeat(self._of_blocks(base, term.value), np.diff(base.start))
        sides = [Side.EXTRACTION] if (term.kind, term.value) in _SOURCE_ONLY else list(Side)
        sides = [Side.CDM] if (term.kind, term.value) == (TermKind.IS, "required") else sides
        tables = {side: self._attributes_passing(side, Term(term.kind, term.value)) for side in sides}

        def mask(base: DpmBase) -> Bools:
            found = np.zeros(len(base.q), np.bool_)
            for side, table in tables.items():
                found |= table[base.p if side is Side.EXTRACTION else base.q]
            if term.kind is TermKind.WORD:
                found |= np.repeat(self._said_of_blocks(base, term.value), np.diff(base.start))
            elif term.kind is TermKind.IS and term.value == "commented":
                commented = np.array([bool(comment) for comment in self._comments(base)], np.bool_)
                found |= np.repeat(commented, np.diff(base.start))
            return found

        return mask

    def _attributes_passing(self, side: Side, term: Term) -> Bools:
        query = Query((term,))
        notes = notes_of(self.document, side, self.comments, query)
        filtering = Filtering(self._columns[side], query, AttributeUses(side, self.document), notes)
        for _ in filtering.run():
            pass
        table = np.zeros(self.document.ids(side).attribute + 1, np.bool_)
        for part in filtering.parts:
            table[part.part.columns.base.id[part.passes]] = True
        return table

    def _of_blocks(self, base: DpmBase, state: str) -> Bools:
        found: Bools = np.full(len(base.version), state == "mapped")
        if state == "review":
            found = base.status == STATUSES.index(Status.NEEDS_REVIEW)
        return found

    def _said_of_blocks(self, base: DpmBase, word: str) -> Bools:
        """Find a word in who confirmed a block and in its comment."""
        people: Bools = Haystack.of(base.people).having(word)[base.who]
        for key, record in base.records.items():
            if word in record.comment.lower():
                people[base.find(key)] = True
        return people

    def _comments(self, base: DpmBase) -> list[str]:
        found = [""] * len(base.version)
        for key, record in base.records.items():
            found[base.find(key)] = record.comment
        return found

    def _take(self, column: Callable[[DpmBase], NDArray[Any]], rows: Rows) -> NDArray[Any]:
        """Read a column of elements for some rows, from both parts."""
        is_edited = rows >= self._split
        if not is_edited.any():
            return column(self._base)[rows]
        edited = column(self._edited)
        found = np.empty(len(rows), edited.dtype)
        found[is_edited] = edited[rows[is_edited] - self._split]
        found[~is_edited] = column(self._base)[rows[~is_edited]]
        return found


def _places(lists: list[list[str]]) -> list[NDArray[np.int64]]:
    """Return of every text in some lists its place among all distinct ones, whatever its case."""
    place = {text: at for at, text in enumerate(sorted({text.lower() for texts in lists for text in texts}))}
    return [np.array([place[text.lower()] for text in texts], np.int64) for texts in lists]


def _by_id(ids: list[Rows], values: list[NDArray[np.int64]], size: int) -> NDArray[np.int64]:
    """Put the values of both parts of a tree into one table by id; the edited part wins."""
    table = np.zeros(size + 1, np.int64)
    for own, value in zip(ids, values, strict=True):
        table[own] = value
    return table
