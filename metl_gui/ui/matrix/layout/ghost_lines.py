"""Ghost columns and rows: where attributes stood that the elements of waiting blocks had lost with them.

They are room on an axis and nothing else: no position, no cell, in no count. Source: docs/guide/change.md, "Reviewing".
Cost: the open losses of the blocks that wait, and a walk over the attributes of their versions.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec
import numpy as np

from metl_gui.core.matrix.blocks import BlockKey, Loss
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.ui.matrix.layout.placement import GHOST
from metl_gui.ui.matrix.layout.spans import Floats
from metl_gui.ui.matrix.layout.tree_columns import NOWHERE, Ints
from metl_gui.values import Value

if TYPE_CHECKING:
    from metl_gui.ui.matrix.layout.axis import Axis

LostHere: TypeAlias = tuple[BlockKey, Loss]
"""An open loss and the block that waits for it."""


class GhostLine(Value):
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


class GhostLines(Value, eq=False, dict=True):
    """The ghosts of one axis.

    Order: along the axis. Shape: ``begins`` (units) has one entry a line, each as wide as ``GHOST``.
    """

    lines: tuple[GhostLine, ...] = ()
    begins: Floats = msgspec.field(default_factory=lambda: np.zeros(0))

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
        The lines in their order along the axis, the losses of each by block: a click on a ghost goes to the first.
    """
    at_end = 0 if axis.side is Side.EXTRACTION else 1
    of_version: dict[int, dict[int, list[LostHere]]] = {}
    for key in sorted(key for key in losses if key[at_end] in versions):
        lost = of_version.setdefault(key[at_end], {})
        for loss in losses[key]:
            lost.setdefault(loss.q_lineage if at_end else loss.p_lineage, []).append((key, loss))
    items = axis.version_items(np.array(list(of_version), np.int64)) if of_version else np.zeros(0, np.int64)
    gone = [
        each
        for item, lost in zip(items.tolist(), of_version.values(), strict=True)
        if item != NOWHERE
        for each in _gone_from(axis, item, lost)
    ]
    befores = [_by_name(axis, each) for each in gone] if is_by_name else _behind_neighbours(axis, gone)
    lines = zip(befores, gone, strict=True)
    ordered = sorted(lines, key=lambda line: (line[1].item, line[0], line[1].place, line[1].path))
    return [GhostLine(each.item, at, each.version, each.lineage, each.path, each.losses) for at, each in ordered]


class _Gone(NamedTuple):
    """An attribute that a version has no more.

    Args:
        item, version: the version, by item and id.
        place: where it stood in the version that had it last.
        neighbours: ids in this version of the attributes that stood before it, nearest first; ``None`` when nobody
            knows any more.
    """

    item: int
    version: int
    lineage: int
    path: str
    losses: tuple[LostHere, ...]
    place: int
    neighbours: tuple[int, ...] | None


def _gone_from(axis: Axis, item: int, lost: dict[int, list[LostHere]]) -> Iterator[_Gone]:
    """Yield which of the ends of lost elements a version has no more."""
    version = axis.version(item)
    here = {attribute.lineage: attribute.id for attribute in version.attributes}
    for lineage, losses in lost.items():
        if lineage in here:
            continue
        loss = losses[0][1]
        path = loss.from_path if axis.side is Side.EXTRACTION else loss.to_path
        old = _last_with(axis, version, lineage, loss)
        place, neighbours = 0, None
        if old is not None:
            place = next(at for at, attribute in enumerate(old.attributes) if attribute.lineage == lineage)
            earlier = (attribute.lineage for attribute in reversed(old.attributes[:place]))
            neighbours = tuple(here[each] for each in earlier if each in here)
        yield _Gone(item, version.id, lineage, path, tuple(losses), place, neighbours)


def _last_with(axis: Axis, version: Version, lineage: int, loss: Loss) -> Version | None:
    """Return the newest version before a loss that has the attribute."""
    ids = axis.nodes.tree.schema(version.schema_id).version_ids
    begin = loss.since if axis.side is Side.EXTRACTION and loss.since in ids else version.id
    earlier = (axis.nodes.tree.version(id_) for id_ in reversed(ids[: ids.index(begin)]))
    return next((each for each in earlier if each.of_lineage(lineage) is not None), None)


def _behind_neighbours(axis: Axis, gone: list[_Gone]) -> list[int]:
    """Return the positions behind the nearest neighbours; where nobody knows them, behind the version's last one."""
    bounds = axis.version_spans.bounds
    with_one = [at for at, each in enumerate(gone) if each.neighbours]
    nearest = np.array([(gone[at].item, (gone[at].neighbours or (0,))[0]) for at in with_one], np.int64).reshape(-1, 2)
    known = dict(zip(with_one, axis.positions(nearest[:, 0], nearest[:, 1]).tolist(), strict=True)) if with_one else {}
    found = []
    for at, each in enumerate(gone):
        if each.neighbours is None:
            found.append(int(bounds[each.item + 1]))
        elif known.get(at, NOWHERE) != NOWHERE:
            found.append(known[at] + 1)
        else:  # the nearest one is hidden
            shown = (axis.position_of(each.version, id_) for id_ in each.neighbours[1:])
            found.append(next((position + 1 for position in shown if position is not None), int(bounds[each.item])))
    return found


def _by_name(axis: Axis, gone: _Gone) -> int:
    bounds, row = axis.version_spans.bounds, int(axis.rows[gone.item])
    positions = range(int(bounds[gone.item]), int(bounds[gone.item + 1]))
    paths = [axis.nodes.path(row, axis.place_of(position)) for position in positions]
    return positions.start + bisect_left(paths, gone.path)
