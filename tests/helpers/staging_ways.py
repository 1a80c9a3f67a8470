"""The two ways in which messages that exist are staged: reading each, and by their layouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.runs.report import check_sums
from metl_gui.engine.kernel.message_records import RecordBatch
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.staging.messages import MessageStager, StagedBatch
from metl_gui.engine.staging.written_messages import tree_code


def in_both_ways(plan: Plan, histories: Sequence[EntityHistory], records: RecordBatch, **asked: Any) -> StagedBatch:
    """Stage messages by reading each and by their layouts, compare what becomes of them, and return the latter."""
    stagers = [MessageStager(plan, histories, **asked) for _ in range(2)]
    for stager, worth in zip(stagers, (None, -1), strict=True):
        stager.tree_code = tree_code(worth)
    read, written = (stager.stage(records) for stager in stagers)
    check_sums(written.tally)
    assert written.tally == read.tally
    assert written.set_aside == read.set_aside
    assert rows_by_place(written) == rows_by_place(read)
    return written


def rows_by_place(staged: StagedBatch) -> dict[str, list[str]]:
    """Return the rows of each entity, in an order that does not depend on the tables that they come in."""
    found: dict[str, list[str]] = {}
    for entity, table in staged.tables:
        columns = [_as_numbers(column).to_pylist() for column in table.columns]
        found.setdefault(entity, []).extend(map(repr, zip(*columns, strict=True)))
    return {entity: sorted(rows) for entity, rows in found.items() if rows}


def _as_numbers(column: Any) -> Any:
    """Return dates and times as numbers: Python has none beyond its calendar."""
    if pa.types.is_date(column.type):
        return column.cast(pa.int32())
    return column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
