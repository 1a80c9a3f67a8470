"""The elements of a rectangle of the plane, read from the columns of the matrix with what is drawn of each.

Cost: the blocks that touch the rectangle, with a search in sorted ids for each of their elements.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import IntFlag
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.matrix import STATUSES
from metl_gui.core.trees.type_verdicts import TypeVerdict
from metl_gui.ui.matrix.layout.axis import Axis
from metl_gui.ui.matrix.layout.block_index import UNCONFIRMED, WAITS, BlockIndex
from metl_gui.ui.matrix.layout.tree_columns import NOWHERE, Ints, TypeVerdicts, spread
from metl_gui.values import Value

if TYPE_CHECKING:
    from metl_gui.ui.matrix.layout.content import PlaneContent

_CHUNK = 25_000
_ROW_BITS = 32


class ElementFlag(IntFlag):
    """What is drawn of one element besides that it is mapped."""

    PLAIN = 0
    UNCONFIRMED = 1
    WAITS = 2
    MAY_REFUSE = 4
    REINTERPRETED = 8


_MARKS = np.zeros(len(STATUSES), np.int64)
_MARKS[UNCONFIRMED] = int(ElementFlag.UNCONFIRMED)
_MARKS[WAITS] = int(ElementFlag.WAITS)
_MARKS_OF_VERDICTS = np.zeros(len(TypeVerdict), np.int64)
_MARKS_OF_VERDICTS[TypeVerdict.MAY_REFUSE] = int(ElementFlag.MAY_REFUSE)
_MARKS_OF_VERDICTS[TypeVerdict.REINTERPRETED] = int(ElementFlag.REINTERPRETED)


class PlaneElements(Value, eq=False):
    """Elements that are 1.

    Shape: one entry an element. Order: by (column, row).

    Args:
        column, row: attribute positions.
        mark: ``ElementFlag`` of every element.
    """

    column: Ints
    row: Ints
    mark: Ints

    def __len__(self) -> int:
        return len(self.column)

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        return zip(self.column.tolist(), self.row.tolist(), self.mark.tolist(), strict=True)


class ElementEnds(NamedTuple):
    """Elements by their ends: versions of the axes, attribute ids, and the mark of their blocks."""

    x: Ints
    y: Ints
    p: Ints
    q: Ints
    mark: Ints

    def part(self, chosen: npt.NDArray[np.bool_]) -> ElementEnds:
        """Return some of the elements."""
        return ElementEnds(*(column[chosen] for column in self))


def elements_within(content: PlaneContent, columns: range, rows: range) -> PlaneElements:
    """Return the elements of a rectangle of attribute positions."""
    ends, column, row = cells_within(content, columns, rows)
    mark = ends.mark + _MARKS_OF_VERDICTS[_verdicts(content.types, content.columns, content.rows, ends)]
    order = np.lexsort((row, column))
    return PlaneElements(column[order], row[order], mark[order])


NO_CELLS: Ints = np.zeros(0, np.int64)


def places_of(content: PlaneContent, cells: Collection[tuple[BlockKey, Element]]) -> Ints:
    """Return where some cells stand on the plane, as sorted numbers that ``refused_marks`` takes; none for others.

    Cost: the cells.
    """
    if not cells:
        return NO_CELLS
    ids = np.array([(*key, element.p, element.q) for key, element in cells], np.int64)
    items = content.columns.version_items(ids[:, 0]), content.rows.version_items(ids[:, 1])
    ids, (x, y) = _where((items[0] != NOWHERE) & (items[1] != NOWHERE), ids, items)
    column, row = content.columns.positions(x, ids[:, 2]), content.rows.positions(y, ids[:, 3])
    is_there = (column != NOWHERE) & (row != NOWHERE)
    places: Ints = np.sort(_places(column[is_there], row[is_there]))
    return places


def refused_marks(found: PlaneElements, refused: Ints) -> Ints:
    """Return the marks of elements, with a cross on those that stand at refused places."""
    if not len(refused) or not len(found):
        return found.mark
    at = _places(found.column, found.row)
    is_refused = refused[np.minimum(np.searchsorted(refused, at), len(refused) - 1)] == at
    crossed = (found.mark | int(ElementFlag.MAY_REFUSE)) & ~int(ElementFlag.REINTERPRETED)
    marks: Ints = np.where(is_refused, crossed, found.mark)
    return marks


def _places(column: Ints, row: Ints) -> Ints:
    places: Ints = (column.astype(np.int64) << _ROW_BITS) | row
    return places


def _where(chosen: npt.NDArray[np.bool_], ids: Ints, items: tuple[Ints, Ints]) -> tuple[Ints, tuple[Ints, Ints]]:
    return ids[chosen], (items[0][chosen], items[1][chosen])


def cells_within(content: PlaneContent, columns: range, rows: range) -> tuple[ElementEnds, Ints, Ints]:
    """Return the elements of a rectangle of attribute positions with their positions, in no order."""
    xs, ys = _versions(content.columns, columns), _versions(content.rows, rows)
    places = content.index.within(xs, ys)
    if len(content.edited):
        places = places[~content.edited.holds(content.index.key[places])]
        parts = [ends_of_index(content.index, places)]
        parts += [_ends_of_block(content, key) for key in content.edited_keys(xs, ys)]
        ends = ElementEnds(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    else:
        ends = ends_of_index(content.index, places)
    column, row = content.columns.positions(ends.x, ends.p), content.rows.positions(ends.y, ends.q)
    inside = (column >= columns.start) & (column < columns.stop) & (row >= rows.start) & (row < rows.stop)
    return (ends, column, row) if inside.all() else (ends.part(inside), column[inside], row[inside])


def ends_of_index(index: BlockIndex, places: Ints) -> ElementEnds:
    """Return the elements of blocks of the index."""
    base, key, row = index.base, index.key[places], index.row[places].astype(np.int64)
    low, high = base.start[row], base.start[row + 1]
    at, counts = spread(low, high), high - low
    of_blocks = key // index.height, key % index.height, _MARKS[base.status[row]]
    x, y, mark = (np.repeat(each, counts) for each in of_blocks)
    return ElementEnds(x, y, base.p[at], base.q[at], mark)


def _ends_of_block(content: PlaneContent, key: BlockKey) -> ElementEnds:
    block = content.document.matrix.block(*key)
    elements = np.array(block.elements if block is not None else (), np.int64).reshape(-1, 2)
    mark = int(_MARKS[STATUSES.index(block.status)]) if block is not None else 0
    places = content.columns.version_item(key[0]) or 0, content.rows.version_item(key[1]) or 0, mark
    x, y, marks = (np.full(len(elements), each, np.int64) for each in places)
    return ElementEnds(x, y, elements[:, 1], elements[:, 0], marks)


def all_ends(content: PlaneContent) -> Iterator[ElementEnds]:
    """Yield all elements on the plane, some hundred thousand at a time."""
    index = content.index
    for low in range(0, len(index.key), _CHUNK):
        places = np.arange(low, min(low + _CHUNK, len(index.key)))
        yield ends_of_index(index, places[~content.edited.holds(index.key[places])])
    whole = range(len(content.columns.version_spans)), range(len(content.rows.version_spans))
    for key in content.edited_keys(*whole):
        yield _ends_of_block(content, key)


def may_refuse(types: TypeVerdicts, columns: Axis, rows: Axis, ends: ElementEnds) -> npt.NDArray[np.bool_]:
    """Say of every element whether a typed sink may refuse values of its source."""
    flagged: npt.NDArray[np.bool_] = _verdicts(types, columns, rows, ends) == TypeVerdict.MAY_REFUSE
    return flagged


def _verdicts(types: TypeVerdicts, columns: Axis, rows: Axis, ends: ElementEnds) -> npt.NDArray[np.int8]:
    wide, tall = columns.nodes, rows.nodes
    return types.of(wide.kinds(columns.rows[ends.x], ends.p), tall.kinds(rows.rows[ends.y], ends.q))


def shown(columns: Axis, rows: Axis, ends: ElementEnds) -> npt.NDArray[np.bool_]:
    """Say of every element whether both its ends are on the axes."""
    column, row = columns.positions(ends.x, ends.p), rows.positions(ends.y, ends.q)
    both: npt.NDArray[np.bool_] = (column != NOWHERE) & (row != NOWHERE)
    return both


def flagged_of(index: BlockIndex, types: TypeVerdicts) -> Ints | None:
    """Count the elements of every block of an index whose types may refuse values, ``None`` when there are none.

    Cost: linear in elements, and nothing where the two trees have only types that can be read as each other.
    """
    if not types.can_refuse:
        return None
    found = np.zeros(len(index.key), np.int32)
    for low in range(0, len(index.key), _CHUNK):
        places = np.arange(low, min(low + _CHUNK, len(index.key)))
        ends = ends_of_index(index, places)
        flagged = may_refuse(types, index.columns, index.rows, ends)
        if index.shown is not None:
            flagged &= shown(index.columns, index.rows, ends)
        found[places] = counts_of(index, places, flagged)
    return found if found.any() else None


def shown_of(index: BlockIndex) -> Ints:
    """Count the elements of every block of an index whose ends are both on the axes."""
    found = np.zeros(len(index.key), np.int32)
    for low in range(0, len(index.key), _CHUNK):
        places = np.arange(low, min(low + _CHUNK, len(index.key)))
        found[places] = counts_of(index, places, shown(index.columns, index.rows, ends_of_index(index, places)))
    return found


def counts_of(index: BlockIndex, places: Ints, chosen: npt.NDArray[np.bool_]) -> Ints:
    """Count by block which of the elements of some blocks were chosen."""
    row = index.row[places].astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(index.base.start[row + 1] - index.base.start[row])])
    sums = np.concatenate([[0], np.cumsum(chosen, dtype=np.int64)])
    counts: Ints = np.diff(sums[ends])
    return counts


def _versions(axis: Axis, positions: range) -> range:
    """Return the versions that hold a range of attribute positions."""
    low, high = max(positions.start, 0), min(positions.stop, len(axis.runs))
    return range(axis.version_at(low), axis.version_at(high - 1) + 1) if low < high else range(0)
