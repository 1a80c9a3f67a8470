"""Lays a document out as it is asked for: sorted, filtered, or with only what is mapped.

Cost: without order, filter and relevance that of laying everything out; a filter adds what passes it; order and
relevance add some passes over all elements.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.filters import FilterResult
from metl_gui.ui.matrix.arrangement import PLAIN, Arrangement, Order
from metl_gui.ui.matrix.axes import axis_on, columns_of, rows_of
from metl_gui.ui.matrix.axis import Axis
from metl_gui.ui.matrix.content import Content, content_of, content_on
from metl_gui.ui.matrix.elements import all_ends
from metl_gui.ui.matrix.layout import Bools
from metl_gui.ui.matrix.nodes import NOWHERE, Ints, spread
from metl_gui.ui.matrix.ordering import by_first_mapping, by_name
from metl_gui.workbench.progress import UNWATCHED, Watch


def arranged(document: Document, arrangement: Arrangement, watch: Watch = UNWATCHED) -> Content:
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


def needs_arranging(content: Content, document: Document, keys: Iterable[BlockKey]) -> bool:
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


def _ordered(axes: tuple[Axis, Axis], order: Order, plain: Content | None) -> tuple[Axis, Axis]:
    if order is Order.NAME:
        return by_name(axes[0]), by_name(axes[1])
    return by_first_mapping(plain) if order is Order.FIRST_MAPPING and plain is not None else axes


def _hidden(axes: tuple[Axis, Axis], arrangement: Arrangement, plain: Content | None) -> tuple[Axis, Axis]:
    """Hide what does not pass the filters, then what is not mapped."""
    columns, rows = axes
    shown = _passing(columns, arrangement.columns), _passing(rows, arrangement.rows)
    if arrangement.is_relevant_only and plain is not None:
        shown = _relevant(plain, axes, shown)
    return _without(columns, shown[0]), _without(rows, shown[1])


def _without(axis: Axis, shown: Bools) -> Axis:
    """Return an axis with only some attributes, given in source order."""
    if shown.all():
        return axis
    as_they_stand = shown if axis.order is None else shown[axis.order]
    return axis_on(axis.side, axis.nodes, axis.laid.plan, axis.order, as_they_stand)


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


def _relevant(plain: Content, axes: tuple[Axis, Axis], shown: tuple[Bools, Bools]) -> tuple[Bools, Bools]:
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
