"""What a selection stands for on the plane: the elements of a rectangle, and the nodes that it implies.

Also the words on ghosts and lost elements: in tooltips, and for screen readers when the cursor passes one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TypeAlias

from metl_gui.core.edits.attribute_pairs import Chosen
from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.input.hit_test import position_of, position_range
from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.content import PlaneContent, axis_of
from metl_gui.ui.matrix.layout.ghost_lines import LostHere
from metl_gui.ui.project.selection import CellRange, NodeRef, Selected

PositionBox: TypeAlias = tuple[int, int, int, int]
"""First column, first row, last column, last row: attribute positions, ends included."""

Elements: TypeAlias = dict[BlockKey, tuple[Element, ...]]

_MOST_KNOWN = 10_000


def box_of(content: PlaneContent, cells: CellRange) -> PositionBox | None:
    """Return a rectangle as attribute positions; ``None`` while one of its corners is not on the plane."""
    found: list[tuple[int, int]] = []
    for side in (Side.EXTRACTION, Side.CDM):
        first, last = (position_range(axis_of(content, side), end) for end in cells.ends(side))
        if not first or not last:
            return None
        found.append((min(first.start, last.start), max(first.start, last.start)))
    return found[0][0], found[1][0], found[0][1], found[1][1]


def box_shown(shown: PlaneContent, whole: PlaneContent | None, cells: CellRange) -> PositionBox | None:
    """Return the part of a rectangle that is shown, as attribute positions; ``None`` where nothing of it is.

    Args:
        shown: what is shown, in the order of the whole.
        whole: the plane with nothing hidden, which knows where hidden corners lie.
        cells: the rectangle.
    """
    corners = [position_of(axis_of(shown, side), end) for side in Side for end in cells.ends(side)]
    if None not in corners or whole is None or whole is shown:
        return box_of(shown, cells)
    parts = []
    for side in (Side.EXTRACTION, Side.CDM):
        extent = extent_of(axis_of(whole, side), cells, side)
        part = _part_shown(axis_of(shown, side), axis_of(whole, side), extent) if extent is not None else range(0)
        if not part:
            return None
        parts.append(part)
    return parts[0].start, parts[1].start, parts[0].stop - 1, parts[1].stop - 1


def extent_of(axis: Axis, cells: CellRange, side: Side) -> range | None:
    """Return the attribute positions between the ends of a rectangle on one side; ``None`` where an end is hidden."""
    ends = [position_range(axis, end) for end in cells.ends(side)]
    if not all(ends):
        return None
    return range(min(end.start for end in ends if end), max(end.stop for end in ends if end))


@dataclass(frozen=True, eq=False)
class CellExtent:
    """Where a rectangle lies on the plane; each node is looked up once, however often its row is painted.

    Args:
        columns: of the plane.
        rows: of the plane.
        cells: the rectangle.
    """

    columns: Axis
    rows: Axis
    cells: CellRange
    _known: dict[tuple[Side, NodeRef], bool] = field(default_factory=dict, init=False)

    @cached_property
    def _extents(self) -> dict[Side, range | None]:
        return {side: extent_of(self._axis(side), self.cells, side) for side in Side}

    def is_of(self, content: PlaneContent, cells: CellRange) -> bool:
        """Whether it holds for a plane and a rectangle still: what an edit sets moves nothing."""
        return self.columns is content.columns and self.rows is content.rows and self.cells == cells

    def holds(self, side: Side, place: NodeRef) -> bool:
        """Tell whether a node, or a part of it, has attribute positions of the rectangle."""
        found = self._known.get((side, place))
        if found is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = self._known[side, place] = self._looked_up(side, place)
        return found

    def _looked_up(self, side: Side, place: NodeRef) -> bool:
        extent, own = self._extents[side], position_range(self._axis(side), place)
        return bool(own and extent and own.start < extent.stop and own.stop > extent.start)

    def _axis(self, side: Side) -> Axis:
        return self.columns if side is Side.EXTRACTION else self.rows


def elements_in(content: PlaneContent, box: PositionBox) -> Elements:
    """Return the elements of a rectangle by block.

    Cost: the blocks that it touches.
    """
    columns, rows = range(box[0], box[2] + 1), range(box[1], box[3] + 1)
    xs, ys = _versions(content.columns, columns), _versions(content.rows, rows)
    sources: dict[int, frozenset[int] | None] = {}
    targets: dict[int, frozenset[int] | None] = {}
    found: Elements = {}
    blocks = content.blocks_within(xs, ys)
    for x, y in zip(blocks.x.tolist(), blocks.y.tolist(), strict=True):
        block = content.block_at(x, y)
        if block is None or not block.elements:
            continue
        if x not in sources:
            sources[x] = _shown(content.columns, x, columns)
        if y not in targets:
            targets[y] = _shown(content.rows, y, rows)
        ps, qs = sources[x], targets[y]
        inside = tuple(e for e in block.elements if (ps is None or e.p in ps) and (qs is None or e.q in qs))
        if inside:
            found[block.key] = inside
    return found


def nodes_in(content: PlaneContent, side: Side, box: PositionBox) -> tuple[Chosen, ...]:
    """Return the attributes that a rectangle implies on one side, by version."""
    axis = axis_of(content, side)
    positions = range(box[0], box[2] + 1) if side is Side.EXTRACTION else range(box[1], box[3] + 1)
    found = []
    for version in _versions(axis, positions):
        own = _overlap(axis, version, positions)
        found.append(Chosen(axis.version_id(version), tuple(axis.attribute_id(at) for at in own)))
    return tuple(found)


def shown_of(content: PlaneContent, elements: Mapping[BlockKey, tuple[Element, ...]]) -> Elements:
    """Return those of some elements whose cells are on the plane.

    Cost: the attributes of the versions that the blocks lie between.
    """
    sources: dict[int, frozenset[int]] = {}
    targets: dict[int, frozenset[int]] = {}
    found: Elements = {}
    for key, own in elements.items():
        for axis, known, version in ((content.columns, sources, key[0]), (content.rows, targets, key[1])):
            if version not in known:
                known[version] = _ids_on(axis, version)
        kept = tuple(e for e in own if e.p in sources[key[0]] and e.q in targets[key[1]])
        if kept:
            found[key] = kept
    return found


def _part_shown(shown: Axis, whole: Axis, extent: range) -> range:
    """Return the positions of an axis that lie between two positions of the whole one; both have the same order."""

    def place(position: int) -> int:
        version = shown.version_id(shown.version_at(position))
        return whole.position_of(version, shown.attribute_id(position)) or 0

    positions = range(len(shown.runs))
    return range(*(bisect_left(positions, end, key=place) for end in (extent.start, extent.stop)))


def _ids_on(axis: Axis, version_id: int) -> frozenset[int]:
    """Return the attributes of a version that are on an axis."""
    item = axis.version_item(version_id)
    if item is None:
        return frozenset()
    spans = axis.spans(Level.VERSION)
    return frozenset(axis.attribute_id(at) for at in range(spans.first(item), spans.last(item)))


def _shown(axis: Axis, version: int, positions: range) -> frozenset[int] | None:
    """Return the attributes of a version that lie in a range, ``None`` for every attribute that it has."""
    own = _overlap(axis, version, positions)
    if len(own) == len(axis.version(version).attributes):
        return None
    return frozenset(axis.attribute_id(at) for at in own)


def _overlap(axis: Axis, version: int, positions: range) -> range:
    spans = axis.spans(Level.VERSION)
    return range(max(spans.first(version), positions.start), min(spans.last(version), positions.stop))


def _versions(axis: Axis, positions: range) -> range:
    return range(axis.version_at(positions.start), axis.version_at(positions.stop - 1) + 1)


def loss_tip(lost: LostHere | None) -> str:
    """Return the tooltip of a ghost, nothing where there is none."""
    if lost is None:
        return ""
    loss = lost[1]
    ends = f"<s>{escape(loss.from_path)}</s> → {escape(loss.to_path)} waits for a decision"
    return f"<p style='white-space:pre-wrap'>{ends}<br>{escape(loss.reason)}<br>Click to decide</p>"


def passed_words(content: PlaneContent, before: Selected, after: Selected) -> str:
    """Say which removed attributes the cursor passed on its way from one cell to another."""
    reasons: dict[str, None] = {}
    for side in Side:
        axis = axis_of(content, side)
        here, there = position_of(axis, before.on(side)), position_of(axis, after.on(side))
        if here is not None and there is not None:
            for line in axis.ghosts.between(here, there):
                reasons.update(dict.fromkeys(loss.reason for _, loss in line.losses))
    return f"passed: {', '.join(reasons)}, waits for a decision" if reasons else ""


def lost_words(content: PlaneContent, selected: Selected) -> str:
    """Say what the block of a tile lost and waits for."""
    if selected.block is None or selected.element is not None:
        return ""
    losses = content.lost.get(selected.block, ())
    return f"lost: {', '.join(f'{loss.from_path} to {loss.to_path}' for loss in losses)}" if losses else ""
