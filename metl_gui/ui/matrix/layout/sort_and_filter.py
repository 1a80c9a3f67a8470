"""Layouts of a document as they are asked for: sorted, filtered, or with only what is mapped.

Schemas are sorted along an axis, and attributes within their versions. By first mapping, what is mapped to each other
lies near the diagonal: the columns are sorted by the middle of the rows that they feed, then the rows by the middle of
the columns that feed them, and the attributes of a column by the first row that they go to. Groups stay together,
sorted by the middle of what they hold; what is not mapped comes last.

Cost: without order, filter and relevance that of laying everything out; a filter adds what passes it; order and
relevance add some passes over all elements, an order also a sort of all schemas, and of all attributes where those are
sorted.
Source: barycentre heuristic of layered graph drawing (Sugiyama, Tagawa, Toda 1981), one sweep over either side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.search.filters import FilterResult
from metl_gui.core.trees.nodes import Schema, Side
from metl_gui.core.trees.schema_names import group_of
from metl_gui.ui.matrix.layout.axis import Axis, Level, axis_on, columns_of, planned, rows_of
from metl_gui.ui.matrix.layout.content import (
    PLAIN,
    Arrangement,
    PlaneContent,
    SortOrder,
    axis_of,
    content_of,
    content_on,
)
from metl_gui.ui.matrix.layout.elements import all_ends
from metl_gui.ui.matrix.layout.placement import AxisPlan, Bools
from metl_gui.ui.matrix.layout.spans import Floats
from metl_gui.ui.matrix.layout.tree_columns import NOWHERE, Ints, Nodes, spread
from metl_gui.ui.project.selection import NodeRef


def by_name(axis: Axis) -> Axis:
    """Sort schemas by group and name, and attributes by path within their versions."""
    schemas = sorted(axis.schemas, key=lambda schema: (group_of(schema.name), schema.name))
    plan = _planned(axis, schemas).laid.plan
    return axis_on(axis.side, axis.nodes, plan, _sorted_within(plan, _path_ranks(axis.nodes, plan)))


def by_first_mapping(plain: PlaneContent) -> tuple[Axis, Axis]:
    """Sort both axes of a content that shows everything in tree order."""
    columns, rows = _by_middles(plain)
    column_axis, row_axis = _planned(plain.columns, columns), _planned(plain.rows, rows)
    first = _first_rows(plain, column_axis, row_axis)
    order = _sorted_within(column_axis.laid.plan, first)
    return axis_on(Side.EXTRACTION, column_axis.nodes, column_axis.laid.plan, order), row_axis


def _planned(axis: Axis, schemas: Sequence[Schema]) -> Axis:
    groups = [group_of(schema.name) for schema in schemas]
    return axis_on(axis.side, axis.nodes, planned(axis.side, axis.nodes, schemas, groups))


def _path_ranks(nodes: Nodes, plan: AxisPlan) -> Ints:
    """Return for every attribute of a plan where its path stands among all of them."""
    paths = nodes.paths(plan.rows)
    kinds, inverse = np.unique(paths, return_inverse=True)
    words = [nodes.text(text) for text in kinds.tolist()]
    ranks = np.empty(len(words), np.int64)
    ranks[np.array(sorted(range(len(words)), key=words.__getitem__), np.int64)] = np.arange(len(words))
    return ranks[inverse]


def _sorted_within(plan: AxisPlan, keys: Ints) -> Ints:
    """Return the numbers of the attributes of a plan, sorted by a key within each version."""
    version = np.repeat(np.arange(len(plan.widths), dtype=np.int64), plan.widths)
    most = int(keys.max()) + 1 if len(keys) else 1
    order: Ints = np.argsort(version * most + keys, kind="stable").astype(np.int32)
    return order


def _by_middles(plain: PlaneContent) -> tuple[list[Schema], list[Schema]]:
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


def _first_rows(plain: PlaneContent, columns: Axis, rows: Axis) -> Ints:
    """Return for every attribute of the columns the first row that it goes to, behind all rows where there is none."""
    found = np.full(int(columns.laid.plan.starts[-1]), len(rows.runs), np.int64)
    to_x, to_y = columns.version_items(plain.columns.version_ids), rows.version_items(plain.rows.version_ids)
    for ends in all_ends(plain):
        column, row = columns.positions(to_x[ends.x], ends.p), rows.positions(to_y[ends.y], ends.q)
        np.minimum.at(found, column, row)
    return found


def arranged(document: Document, arrangement: Arrangement, watch: Watch = UNWATCHED) -> PlaneContent:
    """Lay a document out in an order, without what filters and relevance hide."""
    if arrangement.is_plain:
        return content_of(document, watch)
    axes = columns_of(document.extraction), rows_of(document.cdm)
    plain = content_on(document, axes, PLAIN) if arrangement.follows_elements else None
    watch.step("Sorting the matrix")
    axes = _ordered(axes, arrangement.order, plain)
    if arrangement.hides:
        watch.step("Looking for what is shown")
        axes = _hidden(axes, arrangement, plain)
    watch.step("Laying out the matrix")
    return content_on(document, axes, arrangement)


def needs_arranging(content: PlaneContent, document: Document, keys: Iterable[BlockKey]) -> bool:
    """Say whether an edit set elements on attributes that are hidden because they had none."""
    if not content.arrangement.is_relevant_only:
        return False
    for key in keys:
        block = document.matrix.block(*key)
        for element in block.elements if block is not None else ():
            if content.columns.position_of(key[0], element.p) is None:
                return True
            if content.rows.position_of(key[1], element.q) is None:
                return True
    return False


def _ordered(axes: tuple[Axis, Axis], order: SortOrder, plain: PlaneContent | None) -> tuple[Axis, Axis]:
    if order is SortOrder.NAME:
        return by_name(axes[0]), by_name(axes[1])
    return by_first_mapping(plain) if order is SortOrder.FIRST_MAPPING and plain is not None else axes


def _hidden(axes: tuple[Axis, Axis], arrangement: Arrangement, plain: PlaneContent | None) -> tuple[Axis, Axis]:
    """Hide what does not pass the filters, then what is not mapped, but for what is pinned; then what is folded."""
    columns, rows = axes
    shown = _passing(columns, arrangement.columns), _passing(rows, arrangement.rows)
    if arrangement.is_relevant_only and plain is not None:
        shown = _relevant(plain, axes, shown)
    for axis, mask in zip(axes, shown, strict=True):
        for nodes, is_shown in ((arrangement.pinned, True), (arrangement.folded, False)):
            for numbers in (_numbers_of(axis, node) for side, node in nodes if side is axis.side):
                mask[numbers] = is_shown
    return _without(columns, shown[0]), _without(rows, shown[1])


def _without(axis: Axis, shown: Bools) -> Axis:
    """Return an axis with only some attributes, given in source order."""
    if shown.all():
        return axis
    as_they_stand = shown if axis.order is None else shown[axis.order]
    return axis_on(axis.side, axis.nodes, axis.laid.plan, axis.order, as_they_stand)


def _numbers_of(axis: Axis, node: NodeRef) -> slice:
    """Return the numbers of the attributes of a node in source order, none where it is not on the axis."""
    starts = axis.laid.plan.starts
    if node.version is not None:
        version = axis.version_item(node.version)
        return slice(0) if version is None else slice(int(starts[version]), int(starts[version + 1]))
    schema = axis.schema_item(node.schema)
    if schema is None:
        return slice(0)
    first = axis.firsts[Level.SCHEMA]
    return slice(int(starts[first[schema]]), int(starts[first[schema + 1]]))


def _passing(axis: Axis, passed: FilterResult | None) -> Bools:
    """Say which attributes pass a filter, in source order."""
    starts = axis.laid.plan.starts
    if passed is None:
        return np.ones(int(starts[-1]), np.bool_)
    shown = np.zeros(int(starts[-1]), np.bool_)
    rows, places = axis.nodes.homes(passed.attributes)
    items = axis.items_of_rows(rows)
    there = items != NOWHERE
    shown[starts[items[there]] + places[there]] = True
    return shown


def _relevant(plain: PlaneContent, axes: tuple[Axis, Axis], shown: tuple[Bools, Bools]) -> tuple[Bools, Bools]:
    """Say which attributes that pass have an element with another one that passes, or belong to what waits."""
    columns, rows = axes
    found = np.zeros(len(shown[0]), np.bool_), np.zeros(len(shown[1]), np.bool_)
    to_x, to_y = columns.version_items(plain.columns.version_ids), rows.version_items(plain.rows.version_ids)
    for ends in all_ends(plain):
        x, y = _numbers(columns, to_x[ends.x], ends.p), _numbers(rows, to_y[ends.y], ends.q)
        both = shown[0][x] & shown[1][y]
        found[0][x[both]], found[1][y[both]] = True, True
    waiting = plain.waiting_within(range(len(plain.columns.version_spans)), range(len(plain.rows.version_spans)))
    for axis, mark, items in ((columns, found[0], to_x[waiting[0]]), (rows, found[1], to_y[waiting[1]])):
        whole, starts = np.unique(items), axis.laid.plan.starts
        mark[spread(starts[whole], starts[whole + 1])] = True
    return found[0] & shown[0], found[1] & shown[1]


def _numbers(axis: Axis, items: Ints, attribute_ids: Ints) -> Ints:
    """Return the numbers of attributes of a plan in source order."""
    return axis.laid.plan.starts[items] + axis.nodes.places(axis.rows[items], attribute_ids)
