"""In which order schemas stand along an axis, and attributes within their versions.

By first mapping, what is mapped to each other lies near the diagonal: the columns are sorted by the middle of the rows
that they feed, then the rows by the middle of the columns that feed them, and the attributes of a column by the first
row that they go to. Groups stay together, sorted by the middle of what they hold; what is not mapped comes last.
Source: barycentre heuristic of layered graph drawing (Sugiyama, Tagawa, Toda 1981), one sweep over either side.
Cost: a sort of all schemas, and of all attributes where those are sorted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metl_gui.core.trees.nodes import Schema, Side
from metl_gui.core.trees.schema_names import group_of
from metl_gui.ui.matrix.axes import axis_on, planned
from metl_gui.ui.matrix.axis import Axis, Level
from metl_gui.ui.matrix.content import Content, axis_of
from metl_gui.ui.matrix.elements import all_ends
from metl_gui.ui.matrix.layout import Plan
from metl_gui.ui.matrix.nodes import Ints, Nodes
from metl_gui.ui.matrix.spans import Floats


def by_name(axis: Axis) -> Axis:
    """Sort schemas by group and name, and attributes by path within their versions."""
    schemas = sorted(axis.schemas, key=lambda schema: (group_of(schema.name), schema.name))
    plan = _planned(axis, schemas).laid.plan
    return axis_on(axis.side, axis.nodes, plan, _sorted_within(plan, _path_ranks(axis.nodes, plan)))


def by_first_mapping(plain: Content) -> tuple[Axis, Axis]:
    """Sort both axes of a content that shows everything in tree order."""
    columns, rows = _by_middles(plain)
    column_axis, row_axis = _planned(plain.columns, columns), _planned(plain.rows, rows)
    first = _first_rows(plain, column_axis, row_axis)
    order = _sorted_within(column_axis.laid.plan, first)
    return axis_on(Side.EXTRACTION, column_axis.nodes, column_axis.laid.plan, order), row_axis


def _planned(axis: Axis, schemas: Sequence[Schema]) -> Axis:
    groups = [group_of(schema.name) for schema in schemas]
    return axis_on(axis.side, axis.nodes, planned(axis.side, axis.nodes, schemas, groups))


def _path_ranks(nodes: Nodes, plan: Plan) -> Ints:
    """Return for every attribute of a plan where its path stands among all of them."""
    paths = nodes.paths(plan.rows)
    kinds, inverse = np.unique(paths, return_inverse=True)
    words = [nodes.text(text) for text in kinds.tolist()]
    ranks = np.empty(len(words), np.int64)
    ranks[np.array(sorted(range(len(words)), key=words.__getitem__), np.int64)] = np.arange(len(words))
    return ranks[inverse]


def _sorted_within(plan: Plan, keys: Ints) -> Ints:
    """Return the numbers of the attributes of a plan, sorted by a key within each version."""
    version = np.repeat(np.arange(len(plan.widths), dtype=np.int64), plan.widths)
    most = int(keys.max()) + 1 if len(keys) else 1
    order: Ints = np.argsort(version * most + keys, kind="stable").astype(np.int32)
    return order


def _by_middles(plain: Content) -> tuple[list[Schema], list[Schema]]:
    """Sort schemas and entities by the middle of what they are mapped to."""
    xs, ys = (range(len(axis_of(plain, side).spans(Level.SCHEMA))) for side in (Side.EXTRACTION, Side.CDM))
    tiles = plain.counts(Level.SCHEMA, Level.SCHEMA).within(xs, ys)
    weights = tiles.elements.astype(np.float64)
    columns = _by_middle(plain.columns, _middles(tiles.x, tiles.y.astype(np.float64), weights, len(xs)))
    place = np.empty(len(xs))
    place[columns] = np.arange(len(xs))
    rows = _by_middle(plain.rows, _middles(tiles.y, place[tiles.x], weights, len(ys)))
    return [plain.columns.schemas[at] for at in columns.tolist()], [plain.rows.schemas[at] for at in rows.tolist()]


def _middles(items: Ints, places: Floats, weights: Floats, count: int) -> Floats:
    """Return the weighted middle of the places of every item, infinite where there are none."""
    sums = np.bincount(items, weights, minlength=count)
    middles = np.bincount(items, weights * places, minlength=count) / np.maximum(sums, 1.0)
    return np.where(sums > 0, middles, np.inf)


def _by_middle(axis: Axis, middles: Floats) -> Ints:
    """Sort the schemas of an axis: groups by the mean of their middles, then schemas by theirs, else as they stood."""
    items = np.arange(len(middles))
    group = axis.parents(Level.SCHEMA, items, Level.GROUP)
    known = np.isfinite(middles)
    count = int(group.max()) + 1 if len(group) else 0
    of_groups = _middles(group[known], middles[known], np.ones(int(known.sum())), count)
    return np.lexsort((items, middles, group, of_groups[group]))


def _first_rows(plain: Content, columns: Axis, rows: Axis) -> Ints:
    """Return for every attribute of the columns the first row that it goes to, behind all rows where there is none."""
    found = np.full(int(columns.laid.plan.starts[-1]), len(rows.runs), np.int64)
    to_x, to_y = columns.version_items(plain.columns.version_ids), rows.version_items(plain.rows.version_ids)
    for ends in all_ends(plain):
        column, row = columns.positions(to_x[ends.x], ends.p), rows.positions(to_y[ends.y], ends.q)
        np.minimum.at(found, column, row)
    return found
