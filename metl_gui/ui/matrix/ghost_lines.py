"""Ghost columns and rows: where attributes stood that the elements of waiting blocks had lost with them.

They are room on an axis and nothing else: no position, no cell, in no count. Source: ux.md §2.
Cost: the open losses of the blocks that wait, and a walk over the attributes of their versions.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from metl_gui.core.blocks import BlockKey, Loss
from metl_gui.core.nodes import Attribute, Side, Version
from metl_gui.ui.matrix.nodes import Ints
from metl_gui.ui.matrix.notches import GHOST
from metl_gui.ui.matrix.spans import Floats

if TYPE_CHECKING:
    from metl_gui.ui.matrix.axis import Axis

LostHere: TypeAlias = tuple[BlockKey, Loss]
"""An open loss and the block that waits for it."""


@dataclass(frozen=True)
class GhostLine:
    """One removed attribute of one version.

    Args:
        item: the version, an item of the axis.
        before: the attribute position that it stands before; that behind the version's last one at its end.
        version: the version's id.
        lineage: the attribute's lineage, which the version has no attribute of.
        path: the name that it last had.
        losses: the elements that were lost with it.
    """

    item: int
    before: int
    version: int
    lineage: int
    path: str
    losses: tuple[LostHere, ...]

    def loss_in(self, key: BlockKey, other: GhostLine | None = None) -> LostHere | None:
        """Return what a block lost with this attribute, where both are ghosts only what was between the two."""
        own = (lost for lost in self.losses if lost[0] == key)
        return next((lost for lost in own if other is None or lost in other.losses), None)


@dataclass(frozen=True, eq=False)
class GhostLines:
    """The ghosts of one axis.

    Order: along the axis. Shape: ``begins`` (units) has one entry a line, each as wide as ``GHOST``.
    """

    lines: tuple[GhostLine, ...] = ()
    begins: Floats = field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def items(self) -> Ints:
        """The version of every line."""
        return np.array([line.item for line in self.lines], np.int64)

    @property
    def befores(self) -> Ints:
        """The position that every line stands before."""
        return np.array([line.before for line in self.lines], np.int64)

    def within(self, low: float, high: float) -> list[tuple[GhostLine, float]]:
        """Return the lines that touch a stretch of the axis, and where each begins."""
        if not self.lines:
            return []
        first = int(np.searchsorted(self.begins, low - GHOST, side="right"))
        last = int(np.searchsorted(self.begins, high, side="left"))
        return list(zip(self.lines[first:last], self.begins[first:last].tolist(), strict=True))

    def at(self, place: float) -> GhostLine | None:
        """Return the line at a place of the axis."""
        found = [line for line, begin in self.within(place, place + 1e-9) if begin <= place < begin + GHOST]
        return found[0] if found else None

    def between(self, first: int, second: int) -> list[GhostLine]:
        """Return the lines that lie between two attribute positions, in the order in which they are passed."""
        low, high = sorted((first, second))
        found = [line for line in self.lines if low < line.before <= high]
        return found if first < second else found[::-1]

    def stretch_of(self, version: int, lineage: int) -> tuple[float, float] | None:
        """Return where the ghost of an attribute lies, ``None`` where it has none."""
        at = self._places.get((version, lineage))
        return None if at is None else (float(self.begins[at]), float(self.begins[at]) + GHOST)

    @cached_property
    def _places(self) -> dict[tuple[int, int], int]:
        return {(line.version, line.lineage): at for at, line in enumerate(self.lines)}


def lines_of(
    axis: Axis, losses: Mapping[BlockKey, tuple[Loss, ...]], versions: frozenset[int], *, is_by_name: bool
) -> list[GhostLine]:
    """Find the removed attributes of versions and their old places, each after the neighbour that it stood after.

    Args:
        axis: without ghosts.
        losses: the open losses of every block that waits.
        versions: ids of the versions that are asked for.
        is_by_name: attributes are sorted by their paths.

    Returns:
        The lines in their order along the axis.
    """
    at_end = 0 if axis.side is Side.EXTRACTION else 1
    of_version: dict[int, dict[int, list[LostHere]]] = {}
    for key, own in losses.items():
        if key[at_end] in versions:
            lost = of_version.setdefault(key[at_end], {})
            for loss in own:
                lost.setdefault(loss.q_lineage if at_end else loss.p_lineage, []).append((key, loss))
    found: list[tuple[int, int, int, str, GhostLine]] = []
    for version_id, lost in of_version.items():
        item = axis.version_item(version_id)
        if item is not None:
            found += _lines_of_version(axis, item, lost, is_by_name=is_by_name)
    return [line for *_, line in sorted(found, key=lambda each: each[:4])]


def _lines_of_version(
    axis: Axis, item: int, lost: dict[int, list[LostHere]], *, is_by_name: bool
) -> Iterable[tuple[int, int, int, str, GhostLine]]:
    """Yield (version, position, place in the old version, path) to sort by, and the line."""
    version = axis.version(item)
    here = {attribute.lineage: attribute for attribute in version.attributes}
    for lineage, losses in lost.items():
        if lineage in here:
            continue
        loss = losses[0][1]
        path = loss.from_path if axis.side is Side.EXTRACTION else loss.to_path
        old = _last_with(axis, version, lineage, loss)
        place = next((at for at, a in enumerate(old.attributes) if a.lineage == lineage), 0) if old is not None else 0
        if is_by_name:
            before = _by_name(axis, item, path)
        else:
            before = _after_neighbour(axis, item, here, old.attributes[:place] if old is not None else None)
        yield item, before, place, path, GhostLine(item, before, version.id, lineage, path, tuple(losses))


def _last_with(axis: Axis, version: Version, lineage: int, loss: Loss) -> Version | None:
    """Return the newest version before a loss that has the attribute."""
    ids = axis.nodes.tree.schema(version.schema_id).version_ids
    begin = loss.since if axis.side is Side.EXTRACTION and loss.since in ids else version.id
    earlier = (axis.nodes.tree.version(id_) for id_ in reversed(ids[: ids.index(begin)]))
    return next((each for each in earlier if each.of_lineage(lineage) is not None), None)


def _after_neighbour(axis: Axis, item: int, here: dict[int, Attribute], earlier: tuple[Attribute, ...] | None) -> int:
    """Return the position behind the nearest attribute before the old place; nobody knows it: the version's end."""
    bounds = axis.version_spans.bounds
    if earlier is None:
        return int(bounds[item + 1])
    for old in reversed(earlier):
        kept = here.get(old.lineage)
        position = axis.position_of(axis.version_id(item), kept.id) if kept is not None else None
        if position is not None:
            return position + 1
    return int(bounds[item])


def _by_name(axis: Axis, item: int, path: str) -> int:
    bounds, row = axis.version_spans.bounds, int(axis.rows[item])
    positions = range(int(bounds[item]), int(bounds[item + 1]))
    paths = [axis.nodes.path(row, axis.place_of(position)) for position in positions]
    return positions.start + bisect_left(paths, path)
