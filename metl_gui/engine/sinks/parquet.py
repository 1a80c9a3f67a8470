"""Write messages in typed columns: Parquet parts, each written at once and whole.

    payment/version=2/part-000000-0-0.parquet
    payment/version=2/date=2026-11-22/part-000000-0-0.parquet      by date
    payment/version=__HIVE_DEFAULT_PARTITION__/part-...            truncates, which have no version

A folder for each entity version, because versions have columns of different types; Spark, Hive and pyarrow read
``version`` off its name. A row has the members of a message: ``entity``, ``state``, ``op``, ``key`` (JSON), ``ts_ms``,
``source`` (``schema``, ``version``, ``position``, ``origin`` as JSON, ``committed_at_ms``, ``snapshot``, ``old_key`` as
JSON, ``publication``), ``payload``, ``unchanged`` and ``replayed``.
``payload`` is a struct nested as the CDM paths are, so that a query says ``payload.money.amount`` as a message does.

Only columns whose values repeat get a dictionary (``repeating``). A dictionary of values that hardly repeat takes time
and room: without, such files are a quarter smaller and written in half the time.

Memory: parts wait in memory until they have ``HELD_BYTES`` together; then the largest are written. A row group has at
most ``GROUP_BYTES``. One file is open at a time, however many folders there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from metl_gui.engine.kernel.message_fields import AlikeMessages, alike_messages
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import EntityPlan, Plan
from metl_gui.engine.sinks.sink import DAY_MS, UNKNOWN, RejectedRecord, date_folder, folder_name, unwritable
from metl_gui.engine.sinks.typed_rows import TypedRows
from metl_gui.own_files import make_below, open_file

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
NO_VERSION = "__HIVE_DEFAULT_PARTITION__"
"""How Hive and Spark name the folder of what has no value."""

_Place: TypeAlias = tuple[str, str]


class ParquetSink:
    """The parts of one task attempt.

    Args:
        folder: holds a folder for each entity.
        name: begins the names of the parts.
        plan: says which columns there are.
        by_date: cut each part by day.
        held_bytes: see above.
    """

    def __init__(
        self, folder: Path, name: str, plan: Plan, *, by_date: bool = False, held_bytes: int = HELD_BYTES
    ) -> None:
        self.folder = folder
        self.name = name
        self.by_date = by_date
        self.held_bytes = held_bytes
        self._plans: dict[str, list[EntityPlan]] = {}
        for entity in plan.entities:
            self._plans.setdefault(entity.entity, []).append(entity)
        self._rows: dict[_Place, TypedRows] = {}
        self._held: dict[_Place, list[pa.Table]] = {}
        self._sizes: dict[_Place, int] = {}
        self._written: list[str] = []

    def append(self, outcome: MappedBatch) -> dict[int, RejectedRecord]:
        """Take the messages of a batch; see ``Sink``."""
        made: list[tuple[_Place, pa.Table, NDArray[np.int32]]] = []
        refused: dict[int, RejectedRecord] = {}
        for place, alike in _by_version(outcome).items():
            table, numbers, wrong = self._of(place).table(outcome, alike)
            records = outcome.records[numbers]
            for row, refusal in wrong.items():
                refused.setdefault(int(records[row]), refusal)
            made.append((place, table, records))
        for place, table, records in made:
            if refused:
                is_kept = ~np.isin(records, list(refused))
                self._hold(place, table.filter(pa.array(is_kept)))
            else:
                self._hold(place, table)
        return refused

    def close(self) -> list[str]:
        """Write what is left and return the paths of all parts."""
        for place in list(self._held):
            self._write(place)
        return self._written

    def _of(self, place: _Place) -> TypedRows:
        """Return the columns of an entity version; a truncate has those of the newest, all empty."""
        if place not in self._rows:
            entity, version = place
            plans = self._plans.get(entity) or [EntityPlan(entity, version)]
            plan = next((one for one in plans if one.version == version), plans[-1])
            self._rows[place] = TypedRows(plan)
        return self._rows[place]

    def _hold(self, place: _Place, table: pa.Table) -> None:
        if not table.num_rows:
            return
        self._held.setdefault(place, []).append(table)
        self._sizes[place] = self._sizes.get(place, 0) + table.nbytes
        while sum(self._sizes.values()) > self.held_bytes:
            self._write(max(self._sizes, key=self._sizes.__getitem__))

    def _write(self, place: _Place) -> None:
        tables = self._held.pop(place)
        del self._sizes[place]
        entity, version = place
        names = [folder_name(entity), f"version={folder_name(version) if version else NO_VERSION}"]
        whole = pa.concat_tables(tables)
        if not self.by_date:
            self._write_part(names, whole)
            return
        for day, table in _by_date(whole):
            self._write_part([*names, day], table)

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


def _by_version(outcome: MappedBatch) -> dict[_Place, list[AlikeMessages]]:
    """Return the messages of each entity version, the one that comes first first; no version is an empty text."""
    found: dict[_Place, list[AlikeMessages]] = {}
    for alike in alike_messages(outcome):
        kind = alike.layout.kind
        found.setdefault((kind.entity, kind.entity_version or ""), []).append(alike)
    return dict(sorted(found.items(), key=lambda one: min(int(alike.rows[0]) for alike in one[1])))


def _by_date(table: pa.Table) -> Iterable[tuple[str, pa.Table]]:
    """Cut a table by the day of its messages; the order within a day stays."""
    stamps = table["ts_ms"].combine_chunks()
    days, at_day = np.unique(stamps.fill_null(0).to_numpy() // DAY_MS, return_inverse=True)
    # More than one day may have no name of its own.
    of_day = [date_folder(day * DAY_MS) for day in days.tolist()]
    names = sorted({*of_day, UNKNOWN})
    which = np.array([names.index(name) for name in of_day], np.int64)[at_day]
    which[stamps.is_null().to_numpy(zero_copy_only=False)] = names.index(UNKNOWN)
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which, minlength=len(names))).tolist()
    for day, start, end in zip(names, [0, *ends], ends, strict=False):
        if start < end:
            yield day, table.take(order[start:end])
