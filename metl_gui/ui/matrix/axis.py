"""One axis of the plane: attributes one unit wide, with gaps after versions, schemas and groups.

What is kept are columns of versions; names and ids of attributes are looked up when they are on the screen.
Source: ux.md §2 (one plane). Cost: every question about a place or a position is a binary search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import groupby

import numpy as np

from metl_gui.core.names import group_of
from metl_gui.core.nodes import Schema, Side, Version
from metl_gui.core.trees import Tree
from metl_gui.ui.matrix.layout import Plan, placed, plan_of
from metl_gui.ui.matrix.nodes import NOWHERE, Ints, Nodes, search
from metl_gui.ui.matrix.spans import ItemSpans, Runs, Spans


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

    Shape: ``version_ids``, ``rows`` (see ``Nodes``), ``widths`` (number of attributes) and ``version_spans`` have one
    entry a version; ``firsts`` holds for each level from schemas up the first item of the level below of every item,
    and one entry more.

    Args:
        side: which tree.
        nodes: its columns.
        schemas: in order; those without an attribute are left out.
        length: in units.
        runs: where attributes lie.
    """

    side: Side
    nodes: Nodes
    schemas: tuple[Schema, ...]
    version_ids: Ints
    rows: Ints
    widths: Ints
    firsts: dict[Level, Ints]
    version_spans: ItemSpans
    runs: Runs

    @property
    def length(self) -> float:
        """How long the axis is, in units."""
        return float(self.version_spans.stops[-1]) if len(self.version_spans) else 0.0

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
            items = search(self.firsts[Level(step)], items, "right") - 1
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
        """Return where in its version an attribute stands."""
        return position - self.version_spans.first(self.version_at(position))

    def places_of(self, positions: Ints) -> Ints:
        """Return where in their versions attributes stand."""
        return positions - self.version_spans.bounds[self.version_spans.items_of(positions)]

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
        rows = self.nodes.rows(version_ids)
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
        return np.where(places == NOWHERE, NOWHERE, self.version_spans.bounds[version_items] + places)

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


def columns_of(tree: Tree) -> Axis:
    """Lay out the extraction tree: schemas by group and name, every version, oldest first."""
    ordered = sorted(tree.schemas(), key=lambda schema: (group_of(schema.name), schema.name))
    nodes = Nodes.of(tree)
    return axis_on(Side.EXTRACTION, nodes, plan_of(nodes, ordered))


def rows_of(tree: Tree) -> Axis:
    """Lay out the CDM tree: of each entity the versions that may hold blocks (its policy decides)."""
    ordered = sorted(tree.schemas(), key=lambda entity: (group_of(entity.name), entity.id))
    newest_only = np.array([entity.setting("policy") != "parallel" for entity in ordered], np.bool_)
    nodes = Nodes.of(tree)
    return axis_on(Side.CDM, nodes, plan_of(nodes, ordered, newest_only))


def axis_on(side: Side, nodes: Nodes, plan: Plan) -> Axis:
    """Place what is planned, with nothing hidden."""
    names = [group_of(schema.name) for schema in plan.schemas]
    groups, outer = _numbered(names), _numbered([outer_of(name) for name in names])
    where = placed(plan, groups)
    first_schemas = _firsts(groups)
    firsts = {
        Level.SCHEMA: _firsts(plan.schema),
        Level.GROUP: first_schemas,
        Level.OUTER_GROUP: _firsts(outer[first_schemas[:-1]]),
    }
    spans = ItemSpans(where.starts, where.stops, where.bounds)
    return Axis(
        side,
        nodes,
        plan.schemas,
        plan.version_ids,
        plan.rows,
        plan.widths,
        firsts,
        spans,
        Runs(where.starts, where.bounds),
    )


def _numbered(names: Sequence[str]) -> Ints:
    """Number runs of equal names."""
    counts = [len(list(run)) for _, run in groupby(names)]
    return np.repeat(np.arange(len(counts), dtype=np.int32), counts)


def _firsts(numbers: Ints) -> Ints:
    """Return where every run of an ascending array begins, and its length."""
    if not len(numbers):
        return np.zeros(1, np.int32)
    changes = np.flatnonzero(numbers[1:] != numbers[:-1]) + 1
    return np.concatenate([[0], changes, [len(numbers)]]).astype(np.int32)
