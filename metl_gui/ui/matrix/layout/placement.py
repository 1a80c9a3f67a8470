"""Where versions and attributes lie along an axis: what is shown is one unit wide, what is hidden is a notch.

A notch marks where the axis leaves something out, and counts what it hides, so that hidden never looks deleted.

Cost: linear in versions, and in attributes only where some are hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from metl_gui.core.trees.nodes import Schema, Side
from metl_gui.ui.matrix.layout.spans import Floats, ItemSpans, Runs
from metl_gui.ui.matrix.layout.tree_columns import NOWHERE, Ints, Nodes, search
from metl_gui.values import Value

NOTCH = 0.5
"""Width in units of a mark of something hidden."""
GHOST = 0.5
"""Width in units of a ghost column, height of a ghost row."""


class HiddenRun(NamedTuple):
    """Neighbours that are hidden.

    Args:
        begin, end: where their mark stands, in units.
        attributes, versions, schemas: how many are hidden; versions and schemas only where they are hidden whole.
        words: the same for people.
    """

    begin: float
    end: float
    attributes: int
    versions: int
    schemas: int
    words: str


class Notches(Value, eq=False):
    """All marks of an axis.

    Shape: one entry a mark. Order: along the axis.
    """

    begins: Floats
    attributes: Ints
    versions: Ints
    schemas: Ints

    def __len__(self) -> int:
        return len(self.begins)

    def within(self, low: float, high: float, side: Side) -> list[HiddenRun]:
        """Return the marks that touch a stretch of the axis."""
        first = int(np.searchsorted(self.begins, low - NOTCH, side="right"))
        last = int(np.searchsorted(self.begins, high, side="left"))
        columns = (self.begins, self.attributes, self.versions, self.schemas)
        parts = (column[first:last].tolist() for column in columns)
        return [
            HiddenRun(begin, begin + NOTCH, attributes, versions, schemas, _words(side, attributes, versions, schemas))
            for begin, attributes, versions, schemas in zip(*parts, strict=True)
        ]


def no_notches() -> Notches:
    """Return nothing hidden."""
    return Notches(np.zeros(0), *(np.zeros(0, np.int64) for _ in range(3)))


def _words(side: Side, attributes: int, versions: int, schemas: int) -> str:
    if schemas:
        one, many = ("schema", "schemas") if side is Side.EXTRACTION else ("entity", "entities")
        return f"{schemas:,} {one if schemas == 1 else many} hidden"
    if versions:
        return f"{versions:,} {'version' if versions == 1 else 'versions'} hidden"
    return f"{attributes:,} {'attribute' if attributes == 1 else 'attributes'} hidden"


GAP_AFTER_VERSION = 0.4
GAP_AFTER_SCHEMA = 0.8
GAP_AFTER_GROUP = 1.6

Bools = npt.NDArray[np.bool_]


class AxisPlan(Value, eq=False, dict=True):
    """What stands along an axis, in order, before anything is hidden.

    Shape: ``version_ids``, ``rows`` (see ``Nodes``), ``widths`` and ``schema`` (place in ``schemas``) have one entry a
    version; ``groups`` (their numbers, ascending) one a schema.
    """

    schemas: tuple[Schema, ...]
    groups: Ints
    version_ids: Ints
    rows: Ints
    widths: Ints
    schema: Ints

    @cached_property
    def starts(self) -> Ints:
        """Where the attributes of every version begin when all are counted; one entry more than versions."""
        return np.concatenate([[0], np.cumsum(self.widths, dtype=np.int64)])

    def part(self, versions: Ints) -> AxisPlan:
        """Return some of the versions, and the schemas that have one of them."""
        schema = self.schema[versions]
        is_first = np.concatenate([[True], schema[1:] != schema[:-1]]) if len(schema) else np.zeros(0, np.bool_)
        kept, numbers = schema[is_first], (np.cumsum(is_first) - 1).astype(np.int32)
        whole = len(kept) == len(self.schemas)
        schemas = self.schemas if whole else tuple(self.schemas[at] for at in kept.tolist())
        ids, rows, widths = self.version_ids[versions], self.rows[versions], self.widths[versions]
        return AxisPlan(schemas, self.groups[kept], ids, rows, widths, numbers)


def plan_of(nodes: Nodes, schemas: Sequence[Schema], groups: Ints, newest_only: Bools | None = None) -> AxisPlan:
    """Line up the versions of schemas, oldest first; of those marked only the newest. Empty versions are left out."""
    own = [s.version_ids for s in schemas]
    if newest_only is not None:
        own = [ids[-1:] if only else ids for ids, only in zip(own, newest_only.tolist(), strict=True)]
    counts = np.fromiter(map(len, own), np.int64, len(own))
    ids = np.fromiter(chain.from_iterable(own), np.int32, int(counts.sum()))
    schema = np.repeat(np.arange(len(own), dtype=np.int32), counts)
    rows = nodes.rows(ids)
    there = rows != NOWHERE
    if there.all():
        widths = nodes.widths(rows).astype(np.int32)
    else:
        widths = np.zeros(len(ids), np.int32)
        widths[there] = nodes.widths(rows[there])
    plan = AxisPlan(tuple(schemas), groups, ids, rows, widths, schema)
    return plan if widths.all() and counts.all() else plan.part(np.flatnonzero(widths))


class Laid(Value, eq=False):
    """A plan with its places.

    Shape: ``origins``, where not ``None``, has for every version the number of its first attribute when all are
    counted, hidden ones included; ``run_origins`` the same for every run.
    """

    plan: AxisPlan
    versions: ItemSpans
    runs: Runs
    notches: Notches
    length: float
    origins: Ints | None = None
    run_origins: Ints | None = None


def laid_out(plan: AxisPlan, shown: Bools | None = None) -> Laid:
    """Place versions and attributes, with the gaps between them.

    Args:
        plan: the versions.
        shown: which attributes are shown, ``None`` for all.

    Shape: ``shown`` has one entry for every attribute of every version, in order.
    """
    if shown is not None and not shown.all():
        return _with_notches(plan, shown)
    bounds = plan.starts
    gaps = _gaps(plan.schema, plan.groups[plan.schema])
    starts = bounds[:-1].astype(np.float64) + np.cumsum(gaps)
    stops = starts + plan.widths.astype(np.float64)
    positions = bounds.astype(np.int32)
    length = float(stops[-1]) if len(stops) else 0.0
    laid = Laid(plan, ItemSpans(starts, stops, positions), Runs(starts, positions), no_notches(), length)
    return laid if shown is None else replace(laid, origins=bounds[:-1], run_origins=bounds[:-1])


def _gaps(schema: Ints, group: Ints) -> Floats:
    """Return the gap that stands before every version, none before the first."""
    if not len(schema):
        return np.zeros(0)
    other_schema, other_group = schema[1:] != schema[:-1], group[1:] != group[:-1]
    between = np.where(other_group, GAP_AFTER_GROUP, np.where(other_schema, GAP_AFTER_SCHEMA, GAP_AFTER_VERSION))
    return np.concatenate([[0.0], between])


def _with_notches(plan: AxisPlan, shown: Bools) -> Laid:
    """Cut the axis into pieces that are shown and pieces that are hidden, and place them one after the other."""
    counts = np.add.reduceat(shown, plan.starts[:-1], dtype=np.int64)
    is_kept = counts > 0
    first = _pieces(plan, shown, is_kept)
    version = search(plan.starts, first, "right") - 1
    sizes = np.diff(np.append(first, len(shown)))
    is_shown, in_kept = shown[first], is_kept[version]
    kept = np.flatnonzero(is_kept)
    part = plan.part(kept)
    widths = np.where(is_shown, sizes.astype(np.float64), NOTCH)
    ends = np.cumsum(_gaps_before(version, in_kept, _gaps(part.schema, part.groups[part.schema])) + widths)
    begins = ends - widths
    held = np.flatnonzero(in_kept)
    heads = held[np.concatenate([[True], version[held][1:] != version[held][:-1]])] if len(held) else held
    tails = np.append(held[np.searchsorted(held, heads[1:]) - 1], held[-1:]) if len(held) else held
    positions = np.concatenate([[0], np.cumsum(counts[kept])]).astype(np.int32)
    runs = np.flatnonzero(is_shown)
    bounds = np.concatenate([[0], np.cumsum(sizes[runs])]).astype(np.int32)
    return Laid(
        part,
        ItemSpans(begins[heads], ends[tails], positions),
        Runs(begins[runs], bounds),
        _notches(plan, is_kept, first[~is_shown], sizes[~is_shown], begins[~is_shown]),
        float(ends[-1]) if len(ends) else 0.0,
        plan.starts[kept],
        first[runs],
    )


def _pieces(plan: AxisPlan, shown: Bools, is_kept: Bools) -> Ints:
    """Return the number of the first attribute of every piece: versions without anything shown stand together."""
    begins = np.zeros(len(shown), np.bool_)
    begins[1:] = shown[1:] != shown[:-1]
    follows_hidden = np.concatenate([[False], ~is_kept[:-1] & ~is_kept[1:]])
    begins[plan.starts[:-1]] = ~follows_hidden
    return np.flatnonzero(begins)


def _gaps_before(version: Ints, in_kept: Bools, gaps: Floats) -> Floats:
    """Return the gap before every piece: none inside a version, a small one before what is hidden between versions."""
    found = np.zeros(len(version))
    is_head = in_kept & np.concatenate([[True], version[1:] != version[:-1]])
    found[is_head] = gaps
    found[~in_kept] = GAP_AFTER_VERSION
    found[:1] = 0.0
    if len(found) > 1 and not in_kept[0]:
        found[1] = GAP_AFTER_VERSION
    return found


def _notches(plan: AxisPlan, is_kept: Bools, first: Ints, sizes: Ints, begins: Floats) -> Notches:
    """Count what every notch hides."""
    low = search(plan.starts, first, "left")
    high = search(plan.starts, first + sizes, "right") - 1
    gone = np.concatenate([[0], np.cumsum(~is_kept)])
    versions = np.where(high > low, gone[high] - gone[np.minimum(low, high)], 0)
    heads = np.concatenate([[True], plan.schema[1:] != plan.schema[:-1]])
    kept_schemas = np.zeros(len(plan.schemas), np.bool_)
    kept_schemas[plan.schema[is_kept]] = True
    whole = np.concatenate([[0], np.cumsum(heads & ~kept_schemas[plan.schema])])
    schemas = np.where(versions > 0, whole[high] - whole[np.minimum(low, high)], 0)
    return Notches(begins, sizes, versions, schemas)
