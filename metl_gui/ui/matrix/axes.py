"""Axes of trees: schemas and entities in their order, lined up and placed on the plane.

Cost: every schema once; versions and attributes by columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from metl_gui.core.trees.nodes import Schema, Side
from metl_gui.core.trees.schema_names import group_of
from metl_gui.core.trees.trees import Tree
from metl_gui.ui.matrix.axis import Axis, Level, outer_of
from metl_gui.ui.matrix.layout import Bools, Plan, laid_out, plan_of
from metl_gui.ui.matrix.nodes import Ints, Nodes


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


def planned(side: Side, nodes: Nodes, schemas: Sequence[Schema], groups: Sequence[str]) -> Plan:
    """Line up the versions of schemas with the names of their groups: of entities those that may hold blocks."""
    numbers = _numbered(groups)
    if side is Side.EXTRACTION:
        return plan_of(nodes, schemas, numbers)
    newest_only = np.array([entity.setting("policy") != "parallel" for entity in schemas], np.bool_)
    return plan_of(nodes, schemas, numbers, newest_only)


def axis_on(side: Side, nodes: Nodes, plan: Plan, order: Ints | None = None, shown: Bools | None = None) -> Axis:
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
