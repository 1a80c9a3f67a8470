"""One axis of the plane: attributes one unit wide, with gaps after versions, schemas and groups.

What is kept are columns of versions; names and ids of attributes are looked up when they are on the screen.
Source: ux.md §2 (one plane). Cost: every question about a place or a position is a binary search.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property

import numpy as np

from metl_gui.core.trees.nodes import Schema, Side, Version
from metl_gui.core.trees.schema_names import group_of
from metl_gui.core.trees.trees import Tree
from metl_gui.ui.matrix.ghost_lines import GhostLines
from metl_gui.ui.matrix.layout import Laid
from metl_gui.ui.matrix.nodes import NOWHERE, Ints, Nodes, search
from metl_gui.ui.matrix.notches import HiddenRun
from metl_gui.ui.matrix.spans import ItemSpans, Runs, Spans

_MANY = 100_000
_PLACELESS = frozenset({"levels", "_items", "_schema_items"})


class Level(IntEnum):
    """What one item of an axis is, finest first."""

    ATTRIBUTE = 0
    VERSION = 1
    SCHEMA = 2
    GROUP = 3
    OUTER_GROUP = 4


@dataclass(frozen=True, eq=False)
class Axis:
    """Columns or rows of the plane.

    Shape: ``firsts`` holds for each level from schemas up the first item of the level below of every item, and one
    entry more. ``order``, where not ``None``, has for every attribute of the plan, as it stands, its number in source
    order; ``rank`` leads back.

    Args:
        side: which tree.
        nodes: its columns.
        laid: the versions with their places.
        ghosts: the removed attributes that have room between them.
    """

    side: Side
    nodes: Nodes
    laid: Laid
    firsts: dict[Level, Ints]
    order: Ints | None = None
    rank: Ints | None = None
    ghosts: GhostLines = field(default_factory=GhostLines)

    @property
    def length(self) -> float:
        """How long the axis is, in units."""
        return self.laid.length

    @property
    def schemas(self) -> tuple[Schema, ...]:
        """The schemas in order; those without an attribute to show are left out."""
        return self.laid.plan.schemas

    @property
    def version_ids(self) -> Ints:
        """Ids of the versions in order."""
        return self.laid.plan.version_ids

    @property
    def rows(self) -> Ints:
        """Rows of the versions (see ``Nodes``)."""
        return self.laid.plan.rows

    @property
    def widths(self) -> Ints:
        """How many attributes every version has, hidden ones included."""
        return self.laid.plan.widths

    @property
    def version_spans(self) -> ItemSpans:
        """Where versions lie."""
        return self.laid.versions

    @property
    def runs(self) -> Runs:
        """Where attributes lie."""
        return self.laid.runs

    def on(self, tree: Tree) -> Axis:
        """Return the same axis over other columns of the same tree."""
        nodes = Nodes.of(tree)
        plan = replace(self.laid.plan, rows=nodes.rows(self.version_ids))
        return replace(self, nodes=nodes, laid=replace(self.laid, plan=plan))

    def laid_again(self, laid: Laid, ghosts: GhostLines) -> Axis:
        """Return the same axis with other places for the same versions and attributes."""
        other = replace(self, laid=laid, ghosts=ghosts)
        # What was worked out without places holds for both, and costs a pass over all versions.
        kept = {name: known for name, known in vars(self).items() if name in _PLACELESS}
        vars(other).update(kept)
        return other

    # what is hidden

    @property
    def is_partial(self) -> bool:
        """Whether anything is hidden."""
        return len(self.laid.notches) > 0

    def hidden_within(self, low: float, high: float) -> list[HiddenRun]:
        """Return the marks of what is hidden that touch a stretch of the axis."""
        return self.laid.notches.within(low, high, self.side)

    # levels

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The levels that say something, finest first: one group alone says nothing, nor do groups of single groups."""
        found = [Level.ATTRIBUTE, Level.VERSION, Level.SCHEMA]
        for level in (Level.GROUP, Level.OUTER_GROUP):
            if 1 < len(self.spans(level)) < len(self.spans(found[-1])):
                found.append(level)
        return tuple(found)

    def spans(self, level: Level) -> Spans:
        """Return the items of a level."""
        return self.runs if level is Level.ATTRIBUTE else self._spans[level]

    @cached_property
    def _spans(self) -> dict[Level, ItemSpans]:
        found = {Level.VERSION: self.version_spans}
        for level in (Level.SCHEMA, Level.GROUP, Level.OUTER_GROUP):
            finer, first = found[Level(level - 1)], self.firsts[level]
            found[level] = ItemSpans(finer.starts[first[:-1]], finer.stops[first[1:] - 1], finer.bounds[first])
        return found

    def parent(self, level: Level, item: int, coarser: Level) -> int:
        """Return the item of a coarser level that holds an item."""
        return int(self.parents(level, np.array([item], np.int64), coarser)[0])

    def parents(self, level: Level, items: Ints, coarser: Level) -> Ints:
        """Return the items of a coarser level that hold items."""
        if level is Level.ATTRIBUTE and coarser is not Level.ATTRIBUTE:
            level, items = Level.VERSION, self.version_spans.items_of(items)
        for step in range(level + 1, coarser + 1):
            first = self.firsts[Level(step)]
            if len(items) > _MANY:  # for so many a table is faster than searching for each
                items = np.repeat(np.arange(len(first) - 1, dtype=np.int32), np.diff(first))[items]
            else:
                items = search(first, items, "right") - 1
        return items

    # names and ids

    def name(self, level: Level, item: int) -> str:
        """Return what people read: the path of an attribute, the label of a version, the name of a schema or group."""
        if level is Level.ATTRIBUTE:
            version = self.version_at(item)
            return self.nodes.path(int(self.rows[version]), self.place_of(item))
        if level is Level.VERSION:
            return self.nodes.label(int(self.rows[item]))
        if level is Level.SCHEMA:
            return self.schemas[item].name
        first = self.firsts[Level.GROUP]
        group = int(self.firsts[Level.OUTER_GROUP][item]) if level is Level.OUTER_GROUP else item
        name = group_of(self.schemas[int(first[group])].name)
        return outer_of(name) if level is Level.OUTER_GROUP else name

    def id(self, level: Level, item: int) -> int:
        """Return the id of an attribute, version or schema; the number of a group."""
        if level is Level.ATTRIBUTE:
            return self.attribute_id(item)
        if level is Level.VERSION:
            return self.version_id(item)
        return self.schema_id(item) if level is Level.SCHEMA else item

    def version_id(self, item: int) -> int:
        """Return the id of a version."""
        return int(self.version_ids[item])

    def schema_id(self, item: int) -> int:
        """Return the id of a schema."""
        return self.schemas[item].id

    def attribute_id(self, position: int) -> int:
        """Return the id of an attribute."""
        return self.nodes.attribute_id(int(self.rows[self.version_at(position)]), self.place_of(position))

    def version(self, item: int) -> Version:
        """Make the object of a version, for what is on the screen."""
        return self.nodes.version(self.version_id(item))

    def version_at(self, position: int) -> int:
        """Return the version that holds an attribute position."""
        return self.version_spans.item_of(position)

    def schema_at(self, version_item: int) -> int:
        """Return the schema that holds a version."""
        return self.parent(Level.VERSION, version_item, Level.SCHEMA)

    def schema_of(self, version_item: int) -> int:
        """Return the id of the schema that holds a version."""
        return self.schema_id(self.schema_at(version_item))

    def place_of(self, position: int) -> int:
        """Return where in its version an attribute stands in source order."""
        return int(self.places_of(np.array([position], np.int64))[0])

    def places_of(self, positions: Ints) -> Ints:
        """Return where in their versions attributes stand in source order."""
        version = self.version_spans.items_of(positions)
        if self.laid.origins is None or self.laid.run_origins is None:
            return positions - self.version_spans.bounds[version]
        run = self.runs.runs_of(positions)
        number = self.laid.run_origins[run] + (positions - self.runs.bounds[run])
        source = number if self.order is None else self.order[number]
        return source - self.laid.origins[version]

    # from ids to places

    @cached_property
    def _items(self) -> tuple[Ints, Ints]:
        """Rows of the base and of the edited base -> version, ``NOWHERE`` for those that are not on the axis."""
        items = np.arange(len(self.rows), dtype=np.int32)
        old = np.full(len(self.nodes.base.version_id), NOWHERE, np.int32)
        edited = np.full(len(self.nodes.edited.version_id), NOWHERE, np.int32)
        is_old = self.rows >= 0
        old[self.rows[is_old]] = items[is_old]
        edited[~self.rows[~is_old]] = items[~is_old]
        return old, edited

    @cached_property
    def _schema_items(self) -> dict[int, int]:
        return {schema.id: item for item, schema in enumerate(self.schemas)}

    def version_items(self, version_ids: Ints) -> Ints:
        """Return the version of every id, ``NOWHERE`` for those that are not on the axis."""
        return self.items_of_rows(self.nodes.rows(version_ids))

    def items_of_rows(self, rows: Ints) -> Ints:
        """Return the version of every row (see ``Nodes``), ``NOWHERE`` for those that are not on the axis."""
        old, edited = self._items
        found = np.full(len(rows), NOWHERE, np.int32)
        is_old, is_edited = rows >= 0, (rows < 0) & (rows != NOWHERE)
        found[is_old] = old[rows[is_old]]
        found[is_edited] = edited[~rows[is_edited]]
        return found

    def version_item(self, version_id: int) -> int | None:
        """Return the version of an id, ``None`` when it is not on the axis."""
        item = int(self.version_items(np.array([version_id], np.int64))[0])
        return None if item == NOWHERE else item

    def schema_item(self, schema_id: int) -> int | None:
        """Return the schema of an id, ``None`` when it is not on the axis."""
        return self._schema_items.get(schema_id)

    def positions(self, version_items: Ints, attribute_ids: Ints) -> Ints:
        """Return the positions of attributes, ``NOWHERE`` for those that are not on the axis.

        Shape: the version and the id of one attribute for every entry.
        """
        places = self.nodes.places(self.rows[version_items], attribute_ids)
        is_there = places != NOWHERE
        if self.laid.origins is None or self.laid.run_origins is None:
            return np.where(is_there, self.version_spans.bounds[version_items] + places, NOWHERE)
        number = np.where(is_there, self.laid.origins[version_items] + places, 0)
        if self.rank is not None:
            number = self.rank[number]
        run = search(self.laid.run_origins, number, "right") - 1
        position = self.runs.bounds[run] + (number - self.laid.run_origins[run])
        found: Ints = np.where(is_there & (run >= 0) & (position < self.runs.bounds[run + 1]), position, NOWHERE)
        return found

    def position_of(self, version_id: int, attribute_id: int) -> int | None:
        """Return the position of an attribute of a version, ``None`` when it is not on the axis."""
        item = self.version_item(version_id)
        if item is None:
            return None
        found = int(self.positions(np.array([item]), np.array([attribute_id], np.int64))[0])
        return None if found == NOWHERE else found

    def position_of_attribute(self, attribute_id: int) -> int | None:
        """Return the position of an attribute of whatever version, ``None`` when it is not on the axis."""
        found = self.nodes.find_attribute(attribute_id)
        if found is None:
            return None
        old, edited = self._items
        item = int(old[found[0]] if found[0] >= 0 else edited[~found[0]])
        return None if item == NOWHERE else self.position_of(self.version_id(item), attribute_id)

    def begin(self, position: int) -> float:
        """Where an attribute begins, in units."""
        return self.runs.begin(position)

    def span_of_attribute(self, attribute_id: int) -> tuple[float, float] | None:
        """Return the stretch of an attribute, ``None`` when it is not on the axis."""
        found = self.position_of_attribute(attribute_id)
        return None if found is None else self.runs.stretch(found)

    def span_of_version(self, version_id: int) -> tuple[float, float] | None:
        """Return the stretch of a version, ``None`` when it is not on the axis."""
        item = self.version_item(version_id)
        return None if item is None else self.version_spans.stretch(item)

    def span_of_schema(self, schema_id: int) -> tuple[float, float] | None:
        """Return the stretch of a schema or entity, ``None`` when it is not on the axis."""
        item = self.schema_item(schema_id)
        return None if item is None else self.spans(Level.SCHEMA).stretch(item)


def outer_of(group: str) -> str:
    """Return the first part of the name of a group."""
    return group.partition(".")[0].partition("/")[0]
