"""Write messages in typed columns: Parquet parts, each written at once and whole.

    payment/version=2/part-000000-0-0.parquet
    payment/version=2/date=2026-11-22/part-000000-0-0.parquet      by date
    payment/version=__HIVE_DEFAULT_PARTITION__/part-...            truncates, which have no version

A folder for each entity version, because versions have columns of different types; Spark, Hive and pyarrow read
``version`` off its name. A row has the members of a message: ``entity``, ``state``, ``op``, ``key`` (JSON), ``ts_ms``,
``source`` (``schema``, ``version``, ``position``, ``origin`` as JSON, ``committed_at_ms``, ``snapshot``, ``old_key`` as
JSON, ``publication``), ``payload``, ``unchanged``, ``replayed``, ``absent`` and ``digits``.
``payload`` is a struct nested as the CDM paths are, so that a query says ``payload.money.amount`` as a message does.
``absent`` lists the paths that a message does not carry: their columns are null, and say nothing. ``digits`` is nested
like ``payload`` and has fractions and decimals as they were written, where their columns do not say it: all of binary
floating point, and decimals with other digits than their scale.

``parquet_parts`` says how they are written.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metl_gui.engine.kernel.message_fields import AlikeMessages, alike_messages
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import EntityPlan, Plan
from metl_gui.engine.sinks.parquet_parts import ENTITY, HELD_BYTES, ParquetParts
from metl_gui.engine.sinks.sink import DAY_MS, UNKNOWN, RejectedRecord, date_folder, folder_name
from metl_gui.engine.sinks.typed_rows import TypedRows

ENTITY_VERSION = b"metl.entity_version"
"""In the metadata of a part, beside ``ENTITY``: the version of its entity, empty for none."""

NO_VERSION = "__HIVE_DEFAULT_PARTITION__"
"""How Hive and Spark name the folder of what has no value."""

Place: TypeAlias = tuple[str, str]
"""An entity and its version."""


class ParquetSink:
    """The parts of one task attempt.

    Args:
        folder: holds a folder for each entity.
        name: begins the names of the parts.
        plan: says which columns there are.
        by_date: cut each part by day.
        held_bytes: as of ``ParquetParts``.
    """

    def __init__(
        self, folder: Path, name: str, plan: Plan, *, by_date: bool = False, held_bytes: int = HELD_BYTES
    ) -> None:
        self.folder = folder
        self.by_date = by_date
        self._parts = ParquetParts(folder, name, self._cut, held_bytes)
        self._plans: dict[str, list[EntityPlan]] = {}
        for entity in plan.entities:
            self._plans.setdefault(entity.entity, []).append(entity)
        self._rows: dict[Place, TypedRows] = {}

    def append(self, outcome: MappedBatch) -> dict[int, RejectedRecord]:
        """Take the messages of a batch; see ``Sink``."""
        made: list[tuple[Place, pa.Table, NDArray[np.int32]]] = []
        refused: dict[int, RejectedRecord] = {}
        for place, alike in by_version(outcome).items():
            table, numbers, wrong = self._of(place).table(outcome, alike)
            records = outcome.records[numbers]
            for row, refusal in wrong.items():
                refused.setdefault(int(records[row]), refusal)
            entity, version = place
            metadata = {ENTITY: entity.encode(), ENTITY_VERSION: version.encode()}
            made.append((place, table.replace_schema_metadata(metadata), records))
        for place, table, records in made:
            if refused:
                is_kept = ~np.isin(records, list(refused))
                self._parts.hold(place, table.filter(pa.array(is_kept)))
            else:
                self._parts.hold(place, table)
        return refused

    def close(self) -> list[str]:
        """Write what is left and return the paths of all parts."""
        return self._parts.close()

    def _of(self, place: Place) -> TypedRows:
        """Return the columns of an entity version; a truncate has those of the newest, all empty."""
        if place not in self._rows:
            entity, version = place
            plans = self._plans.get(entity) or [EntityPlan(entity, version)]
            plan = next((one for one in plans if one.version == version), plans[-1])
            self._rows[place] = TypedRows(plan)
        return self._rows[place]

    def _cut(self, place: Place, table: pa.Table) -> Iterable[tuple[list[str], pa.Table]]:
        """Name the folders of a part, and cut it by day where that is wanted."""
        entity, version = place
        names = [folder_name(entity), f"version={folder_name(version) if version else NO_VERSION}"]
        if not self.by_date:
            return [(names, table)]
        return (([*names, day], of_day) for day, of_day in _by_date(table))


def by_version(outcome: MappedBatch) -> dict[Place, list[AlikeMessages]]:
    """Return the messages of each entity version, the one that comes first first; no version is an empty text."""
    found: dict[Place, list[AlikeMessages]] = {}
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
