"""Marks of what differs between two states: elements that came, and elements that went.

Cost: of placing them, a search for each; of a picture, some passes over all marks and what is in sight.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from metl_gui.core.differences.block_difference import BlockDifference
from metl_gui.core.differences.document_difference import Difference
from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.axis import Axis
from metl_gui.ui.matrix.content import Content, axis_of
from metl_gui.ui.matrix.look import Sign
from metl_gui.ui.matrix.nodes import NOWHERE, Ints

ADDED: Literal["added"] = "added"
REMOVED: Literal["removed"] = "removed"


class ElementMark(NamedTuple):
    """One element that differs.

    Args:
        key: the block that it is in, or was.
        element: the element.
        kind: whether it came or went.
    """

    key: BlockKey
    element: Element
    kind: Literal["added", "removed"]


@dataclass(frozen=True, eq=False)
class PlacedMarks:
    """Marks by attribute positions.

    Shape: ``column``, ``row`` and ``is_added`` have one entry a mark that is on the plane.

    Args:
        gone: how many elements went together with their version or attribute, so that they have no place any more.
        hidden: how many marks the plane leaves out just now.
    """

    column: Ints
    row: Ints
    is_added: npt.NDArray[np.bool_]
    gone: int = 0
    hidden: int = 0

    def __len__(self) -> int:
        return len(self.column)

    @property
    def added(self) -> int:
        """How many elements on the plane came."""
        return int(self.is_added.sum())

    @property
    def removed(self) -> int:
        """How many went, and have their place still."""
        return len(self) - self.added


def placed_marks(content: Content, marks: tuple[ElementMark, ...]) -> PlacedMarks:
    """Find the places of marks in what is laid out."""
    ids = np.array([(*mark.key, *mark.element) for mark in marks], np.int64).reshape(-1, 4)
    is_added = np.array([mark.kind == ADDED for mark in marks], np.bool_)
    column, knows_p = _positions(content, Side.EXTRACTION, ids[:, 0], ids[:, 3])
    row, knows_q = _positions(content, Side.CDM, ids[:, 1], ids[:, 2])
    there = (column != NOWHERE) & (row != NOWHERE)
    gone = ~there & ~(knows_p & knows_q)
    hidden = int((~there & ~gone).sum())
    return PlacedMarks(column[there], row[there], is_added[there], int(gone.sum()), hidden)


def difference_words(marks: PlacedMarks) -> dict[Sign, str]:
    """Say in the legend how many elements came and went, those without a place on the plane too."""
    beside = [f"{marks.gone:,} with their version"] if marks.gone else []
    beside += [f"{marks.hidden:,} changes hidden"] if marks.hidden else []
    went = ", ".join([f"{marks.removed:,} removed", *beside])
    words = {Sign.CAME: f"{marks.added:,} added"} if marks.added else {}
    return words | ({Sign.WENT: went} if marks.removed or beside else {})


def _positions(content: Content, side: Side, versions: Ints, attributes: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return the positions of attributes, ``NOWHERE`` for those not on the axis, and which of them their tree knows."""
    axis: Axis = axis_of(content, side)
    items = axis.version_items(versions)
    is_on = items != NOWHERE
    found = np.full(len(versions), NOWHERE, np.int64)
    found[is_on] = axis.positions(items[is_on], attributes[is_on])
    known = found != NOWHERE
    if not known.all():
        rest = np.flatnonzero(~known)
        rows = axis.nodes.rows(versions[rest])
        is_there = rows != NOWHERE
        held = np.zeros(len(rest), np.bool_)
        held[is_there] = axis.nodes.places(rows[is_there], attributes[rest][is_there]) != NOWHERE
        known[rest] = held & _may_hold_blocks(axis, versions[rest])
    return found, known


def _may_hold_blocks(axis: Axis, versions: Ints) -> npt.NDArray[np.bool_]:
    """Say which versions the plane could show: of an entity with one version in use only the newest (dmm.md §3)."""
    if axis.side is Side.EXTRACTION:
        return np.ones(len(versions), np.bool_)
    tree, found = axis.nodes.tree, []
    for id_ in versions.tolist():
        version = tree.find_version(id_)
        entity = tree.schema(version.schema_id) if version is not None else None
        found.append(entity is not None and (entity.setting("policy") == "parallel" or entity.version_ids[-1] == id_))
    return np.array(found, np.bool_)


def marks_of(difference: Difference, before: Document, after: Document) -> tuple[ElementMark, ...]:
    """Return the marks of a difference of two states of one project, to be shown on the later one."""
    return tuple(mark for block in difference.blocks for mark in _marks_of_block(block, before, after))


def _marks_of_block(block: BlockDifference, before: Document, after: Document) -> Iterator[ElementMark]:
    if block.after is not None:
        for element in block.added_elements:
            yield ElementMark(block.after, element, ADDED)
    if block.before is not None:
        for element in block.removed_elements:
            yield _removed(block.before, block.after, element, before, after)


def _removed(key: BlockKey, now: BlockKey | None, element: Element, before: Document, after: Document) -> ElementMark:
    """Mark an element where it was; in a block that moved to another entity version, where it would be now."""
    old = before.cdm.find_version(key[1])
    new = after.cdm.find_version(now[1]) if now is not None and now != key else None
    was = old.attribute(element.q) if old is not None else None
    follows = new.of_lineage(was.lineage) if new is not None and was is not None else None
    if now is None or follows is None:
        return ElementMark(key, element, REMOVED)
    return ElementMark(now, Element(follows.id, element.p), REMOVED)
