"""Staged Parquet parts as the CSV that PostgreSQL copies into a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from metl_gui.core.dimensional.loads.staged_parts import INFINITE_DATES, INFINITE_TIMES
from metl_gui.warehouse.plans.dialects import UNHELD

BATCH_ROWS = 20_000

pc: Any = pyarrow.compute
"""Arrow's functions, which take texts and numbers for constants; their declared types know arrays alone."""

Column: TypeAlias = Any
"""An array of Arrow, of any type."""


def csv_of_part(path: str, columns: Sequence[str], heads: Mapping[str, str]) -> tuple[list[str], Iterator[bytes]]:
    """Return the columns of a part that a table has too, and its rows as CSV, in batches.

    Args:
        path: of the part.
        columns: of the table.
        heads: by column, what comes before each of its texts.

    Nulls: a field that is empty and not in quotes.
    """
    file = pq.ParquetFile(path)
    carried = [column for column in columns if column in file.schema_arrow.names]
    return carried, _batches(file, carried, heads)


def _batches(file: pq.ParquetFile, columns: Sequence[str], heads: Mapping[str, str]) -> Iterator[bytes]:
    options = pa_csv.WriteOptions(include_header=False)
    for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=list(columns)):
        arrays = [_as_csv_takes_it(_headed(batch.column(column), heads.get(column, ""))) for column in columns]
        sink = pa.BufferOutputStream()
        pa_csv.write_csv(pa.RecordBatch.from_arrays(arrays, list(columns)), sink, options)
        yield sink.getvalue().to_pybytes()


def _headed(column: Column, head: str) -> Column:
    return pc.binary_join_element_wise(head, column, "") if head else column


def _as_csv_takes_it(column: Column) -> Column:
    """Return a column of values that CSV knows, and PostgreSQL takes."""
    kind = column.type
    if pa.types.is_list(kind):
        return _list_text(column)
    if pa.types.is_timestamp(kind):
        if kind.tz:
            # Arrow writes times with a zone twenty times as slowly; the connection's own zone is UTC.
            column = pc.cast(column, pa.timestamp(kind.unit))
        return _finite(column, pc.cast(column, pa.int64()), *INFINITE_TIMES)
    if pa.types.is_date32(kind):
        return _finite_days(column)
    if pa.types.is_string(kind) and pc.any(pc.match_substring(column, "\0")).as_py():
        return pc.replace_substring(column, "\0", UNHELD)
    return column


def _list_text(column: Column) -> Column:
    """Return lists of texts as PostgreSQL writes them."""
    values = column.flatten()
    escaped = pc.replace_substring(pc.replace_substring(values, "\\", "\\\\"), '"', '\\"')
    quoted = pc.binary_join_element_wise('"', escaped, '"', "")
    lengths = pc.fill_null(pc.list_value_length(column), 0)
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cast(pc.cumulative_sum(lengths), pa.int32())])
    joined = pc.binary_join(pa.ListArray.from_arrays(offsets, quoted), ",")
    text = pc.binary_join_element_wise("{", joined, "}", "")
    return pc.if_else(pc.is_valid(column), text, None)


def _finite(column: Column, numbers: Column, least: int, most: int) -> Column:
    """Return times, those that stand for infinite ones in PostgreSQL's words; as they are where there are none."""
    return _worded(column, pc.less_equal(numbers, least), pc.greater_equal(numbers, most))


def _finite_days(column: Column) -> Column:
    numbers, (before, after) = pc.cast(column, pa.int32()), INFINITE_DATES
    return _worded(column, pc.equal(numbers, before), pc.equal(numbers, after))


def _worded(column: Column, is_before: Column, is_after: Column) -> Column:
    is_infinite = pc.or_(is_before, is_after)
    if not pc.any(is_infinite).as_py():
        return column
    text = pc.cast(pc.if_else(is_infinite, pa.scalar(None, column.type), column), pa.string())
    return pc.if_else(is_before, "-infinity", pc.if_else(is_after, "infinity", text))
