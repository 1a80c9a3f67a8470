"""One axis of the plane: attributes one unit wide, with gaps after versions, schemas and groups.

An axis is laid out from a tree: its schemas or entities in their order, lined up and placed on the plane. It keeps
columns of versions; names and ids of attributes are looked up when they are on the screen. Room for ghost lines is made
afterwards: what stands behind one moves on, attribute positions stay what they are.

Cost: every question about a place or a position is a binary search. Laying out a tree visits every schema once, and
versions and attributes by columns; room for ghosts takes some additions over the versions and runs of the axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import cached_property
from itertools import groupby

import msgspec
import numpy as np
from msgspec.structs import replace

from metl_gui.core.trees.nodes import Schema, Side, Version
from metl_gui.core.trees.schema_names import group_of, outer_of
from metl_gui.core.trees.trees import Tree
from metl_gui.ui.matrix.layout.ghost_lines import GhostLine, GhostLines
from metl_gui.ui.matrix.layout.placement import GHOST, AxisPlan, Bools, HiddenRun, Laid, laid_out, plan_of
from metl_gui.ui.matrix.layout.spans import Floats, ItemSpans, Runs, Spans
from metl_gui.ui.matrix.layout.tree_columns import NOWHERE, Ints, Nodes, search
from metl_gui.values import Value

_MANY = 100_000
_PLACELESS = frozenset({"levels", "_items", "_schema_items"})


class Level(IntEnum):
    """What one item of an axis is, finest first."""

    ATTRIBUTE = 0
    VERSION = 1
    SCHEMA = 2
    GROUP = 3
    OUTER_GROUP = 4


class Axis(Value, eq=False, dict=True, weakref=True):
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
    ghosts: GhostLines = msgspec.field(default_factory=GhostLines)

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

    @cached_property
    def median_lengths(self) -> tuple[tuple[Level, float], ...]:
        """The levels that say something, finest first, with the length of their items in the middle, in units."""
        return tuple((level, self.spans(level).median_length) for level in self.levels)

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
        row = self.nodes.row(version_id)
        if row == NOWHERE:
            return None
        old, edited = self._items
        item = int(old[row] if row >= 0 else edited[~row])
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


def columns_of(tree: Tree) -> Axis:
    """Lay out the extraction tree: schemas by group and name, every version, oldest first."""
    return _axis_of(Side.EXTRACTION, tree)


def rows_of(tree: Tree) -> Axis:
    """Lay out the CDM tree: of each entity the versions that may hold blocks (its policy decides)."""
    return _axis_of(Side.CDM, tree)


def _axis_of(side: Side, tree: Tree) -> Axis:
    """Lay out a tree: schemas by group and name, entities by group and age."""
    nodes, schemas = Nodes.of(tree), tree.schemas()
    # Sorted as tuples: a key function for each of 100,000 schemas takes longer than the rest of the layout.
    by_age = side is Side.CDM
    keys = [(group_of(schema.name), "" if by_age else schema.name, at) for at, schema in enumerate(schemas)]
    keys.sort()
    ordered = [schemas[at] for _, _, at in keys]
    return axis_on(side, nodes, planned(side, nodes, ordered, [group for group, _, _ in keys]))


def planned(side: Side, nodes: Nodes, schemas: Sequence[Schema], groups: Sequence[str]) -> AxisPlan:
    """Line up the versions of schemas with the names of their groups: of entities those that may hold blocks."""
    numbers = _numbered(groups)
    if side is Side.EXTRACTION:
        return plan_of(nodes, schemas, numbers)
    newest_only = np.array([entity.setting("policy") != "parallel" for entity in schemas], np.bool_)
    return plan_of(nodes, schemas, numbers, newest_only)


def axis_on(side: Side, nodes: Nodes, plan: AxisPlan, order: Ints | None = None, shown: Bools | None = None) -> Axis:
    """Place what is planned.

    Args:
        side: which tree.
        nodes: its columns.
        plan: the versions in order.
        order: numbers of the attributes in the order in which they are to stand, each within its version.
        shown: which of them are shown, as they stand.
    """
    if order is not None and shown is None:
        shown = np.ones(len(order), np.bool_)
    laid = laid_out(plan, shown)
    first_schemas = _firsts(laid.plan.groups)
    names = [group_of(laid.plan.schemas[at].name) for at in first_schemas[:-1].tolist()]
    firsts = {
        Level.SCHEMA: _firsts(laid.plan.schema),
        Level.GROUP: first_schemas,
        Level.OUTER_GROUP: _firsts(_numbered([outer_of(name) for name in names])),
    }
    rank = None
    if order is not None:
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
    return Axis(side, nodes, laid, firsts, order, rank)


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


_ROUNDING = 1e-6


def with_ghosts(axis: Axis, lines: tuple[GhostLine, ...]) -> Axis:
    """Return an axis with room for ghosts.

    Args:
        axis: without ghosts.
        lines: in their order along it.
    """
    if not lines:
        return axis
    ghosts = GhostLines(lines)
    items, befores = ghosts.items, ghosts.befores
    begins = _old_places(axis.laid, items, befores) + GHOST * np.arange(len(lines))
    return axis.laid_again(_moved(axis.laid, items, befores), replace(ghosts, begins=begins))


def _old_places(laid: Laid, items: Ints, befores: Ints) -> Floats:
    """Return where ghosts stand before room is made: behind the attribute before them, or at the version's start."""
    is_first = befores == laid.versions.bounds[items]
    behind = laid.runs.places(np.maximum(befores - 1, 0)) + 1.0
    places: Floats = np.where(is_first, laid.versions.starts[items], behind)
    return places


def _moved(laid: Laid, items: Ints, befores: Ints) -> Laid:
    whole = laid.versions
    versions = ItemSpans(_behind(whole.starts, items + 1), _behind(whole.stops, items), whole.bounds)
    runs, run_origins = _cut(laid, np.unique(befores))
    runs = Runs(_behind(runs.starts, search(runs.bounds[:-1], befores, "left")), runs.bounds)
    notches = laid.notches
    if len(notches):
        notches = replace(notches, begins=notches.begins + GHOST * _ghosts_before_notches(laid, items, befores))
    length = laid.length + GHOST * len(items)
    return replace(laid, versions=versions, runs=runs, notches=notches, length=length, run_origins=run_origins)


def _behind(places: Floats, firsts: Ints) -> Floats:
    """Move places on by one ghost from each of some places on, given by their numbers in order."""
    counts = np.diff(np.concatenate([[0], firsts, [len(places)]]))
    moved: Floats = places + np.repeat(GHOST * np.arange(len(firsts) + 1), counts)
    return moved


def _cut(laid: Laid, befores: Ints) -> tuple[Runs, Ints | None]:
    """Cut the runs that a ghost stands in."""
    runs = laid.runs
    inner = befores[(befores > 0) & (befores < runs.bounds[-1])]
    run = runs.runs_of(inner)
    is_inside = inner > runs.bounds[run]
    inner, run = inner[is_inside], run[is_inside]
    into = inner - runs.bounds[run]
    starts = np.insert(runs.starts, run + 1, runs.starts[run] + into)
    bounds = np.insert(runs.bounds, run + 1, inner.astype(runs.bounds.dtype))
    origins = laid.run_origins
    if origins is not None:
        origins = np.insert(origins, run + 1, (origins[run] + into).astype(origins.dtype))
    return Runs(starts, bounds), origins


def _ghosts_before_notches(laid: Laid, items: Ints, befores: Ints) -> Ints:
    """Count for every mark of something hidden the ghosts that stand before it."""
    begins, versions = laid.notches.begins, laid.versions
    run = np.searchsorted(laid.runs.starts, begins, side="right") - 1
    position = np.where(run >= 0, laid.runs.bounds[run + 1], 0)
    item = np.searchsorted(versions.starts, begins + _ROUNDING, side="right") - 1
    is_inside = (item >= 0) & (begins + _ROUNDING < versions.stops[np.maximum(item, 0)])
    # Between two versions a mark stands behind all ghosts of the first.
    least = int(versions.bounds[-1]) + 1
    keys = items * (least + 1) + befores
    wanted = item * (least + 1) + np.where(is_inside, position, least)
    found: Ints = search(keys, wanted, "right")
    return found
