"""Lays schemas, versions and attributes out along an axis: what is shown one unit wide, what is hidden as a notch.

Cost: linear in versions, and in attributes only where some are hidden or stand in another order than their source's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from metl_gui.core.nodes import Schema
from metl_gui.ui.matrix.nodes import NOWHERE, Ints, Nodes
from metl_gui.ui.matrix.spans import Floats

GAP_AFTER_VERSION = 0.4
GAP_AFTER_SCHEMA = 0.8
GAP_AFTER_GROUP = 1.6
NOTCH = 0.5
"""Width in units of a mark of something hidden."""

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Plan:
    """What stands along an axis, in order, before anything is hidden.

    Shape: ``version_ids``, ``rows``, ``widths`` and ``schema`` (place in ``schemas``) have one entry a version.
    """

    schemas: tuple[Schema, ...]
    version_ids: Ints
    rows: Ints
    widths: Ints
    schema: Ints

    @property
    def starts(self) -> Ints:
        """Where the attributes of every version begin when all are counted; one entry more than versions."""
        return np.concatenate([[0], np.cumsum(self.widths, dtype=np.int64)])


def plan_of(nodes: Nodes, schemas: Sequence[Schema], newest_only: Bools | None = None) -> Plan:
    """Line up the versions of schemas, oldest first; of those marked only the newest. Empty versions are left out."""
    own = [s.version_ids for s in schemas]
    if newest_only is not None:
        own = [ids[-1:] if only else ids for ids, only in zip(own, newest_only.tolist(), strict=True)]
    counts = np.fromiter((len(ids) for ids in own), np.int64, len(own))
    ids = np.fromiter(chain.from_iterable(own), np.int32, int(counts.sum()))
    rows = nodes.rows(ids)
    ids, schema, rows = (part[rows != NOWHERE] for part in (ids, np.repeat(np.arange(len(own)), counts), rows))
    widths = nodes.widths(rows)
    has_any = widths > 0
    return _packed(tuple(schemas), ids[has_any], rows[has_any], widths[has_any], schema[has_any])


def _packed(schemas: tuple[Schema, ...], ids: Ints, rows: Ints, widths: Ints, schema: Ints) -> Plan:
    """Leave out schemas without a version."""
    kept, numbers = np.unique(schema, return_inverse=True)
    used = schemas if len(kept) == len(schemas) else tuple(schemas[at] for at in kept.tolist())
    return Plan(used, ids.astype(np.int32), rows.astype(np.int32), widths.astype(np.int32), numbers.astype(np.int32))


@dataclass(frozen=True, eq=False)
class Placed:
    """Where versions lie when all their attributes are shown.

    Shape: one entry a version, ``bounds`` one more.
    """

    starts: Floats
    stops: Floats
    bounds: Ints


def placed(plan: Plan, groups: Ints) -> Placed:
    """Place versions with the gaps between them.

    Args:
        plan: the versions.
        groups: number of the group of every schema, ascending.
    """
    bounds = plan.starts
    starts = bounds[:-1].astype(np.float64) + np.cumsum(gaps_before(plan.schema, groups[plan.schema]))
    return Placed(starts, starts + plan.widths.astype(np.float64), bounds.astype(np.int32))


def gaps_before(schema: Ints, group: Ints) -> Floats:
    """Return the gap that stands before every version, none before the first."""
    if not len(schema):
        return np.zeros(0)
    other_schema, other_group = schema[1:] != schema[:-1], group[1:] != group[:-1]
    between = np.where(other_group, GAP_AFTER_GROUP, np.where(other_schema, GAP_AFTER_SCHEMA, GAP_AFTER_VERSION))
    return np.concatenate([[0.0], between])
