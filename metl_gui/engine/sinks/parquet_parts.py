"""Write tables as Parquet parts, each written at once and whole.

Only columns whose values repeat get a dictionary (``repeating``). A dictionary of values that hardly repeat takes time
and room: without, such files are a quarter smaller and written in half the time.

Memory: parts wait in memory until they have ``HELD_BYTES`` together; then the largest are written. A row group has at
most ``GROUP_BYTES``. One file is open at a time, however many folders there are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from metl_gui.engine.sinks.sink import unwritable
from metl_gui.own_files import make_below, open_file

Key = TypeVar("Key", bound=Hashable)
ENTITY = b"metl.entity"
"""In the metadata of a part: the name of its entity, which the name of a folder may shorten."""

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


HELD_BYTES = 64 << 20
GROUP_BYTES = 16 << 20


class ParquetParts(Generic[Key]):
    """The parts of one task attempt.

    Args:
        folder: holds them all.
        name: begins their names.
        cut: names the folders below for what is written of a key, and cuts it where it goes into several.
        held_bytes: see above.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        cut: Callable[[Key, pa.Table], Iterable[tuple[list[str], pa.Table]]],
        held_bytes: int = HELD_BYTES,
    ) -> None:
        self.folder = folder
        self.name = name
        self.cut = cut
        self.held_bytes = held_bytes
        self._held: dict[Key, list[pa.Table]] = {}
        self._sizes: dict[Key, int] = {}
        self._written: list[str] = []

    def hold(self, key: Key, table: pa.Table) -> None:
        """Take rows; those of one key go into one part, in their order."""
        if not table.num_rows:
            return
        self._held.setdefault(key, []).append(table)
        self._sizes[key] = self._sizes.get(key, 0) + table.nbytes
        while sum(self._sizes.values()) > self.held_bytes:
            self._write(max(self._sizes, key=self._sizes.__getitem__))

    def close(self) -> list[str]:
        """Write what is left and return the paths of all parts."""
        for key in list(self._held):
            self._write(key)
        return self._written

    def _write(self, key: Key) -> None:
        tables = self._held.pop(key)
        del self._sizes[key]
        for names, table in self.cut(key, pa.concat_tables(tables)):
            self._write_part(names, table)

    def _write_part(self, names: list[str], table: pa.Table) -> None:
        folder = self.folder.joinpath(*names)
        path = folder / f"{self.name}-{len(self._written)}.parquet"
        rows = max(GROUP_BYTES * table.num_rows // max(table.nbytes, 1), 1)
        try:
            make_below(self.folder, names)
            self._written.append(str(path))
            with open_file(path, "xb") as file:
                # The stubs know no list here.
                repeated: Any = repeating(table)
                pq.write_table(table, file, row_group_size=rows, compression="zstd", use_dictionary=repeated)
        except OSError as error:
            raise unwritable(path, error) from error
