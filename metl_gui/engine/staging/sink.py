"""Write messages as rows of histories: Parquet parts, one folder for each entity, for a warehouse to take up.

    payment/part-000000-0-0.parquet

Entities without a history are left out. A record of which a value does not fit the column of its history is set aside
as the Parquet sink does it; what a part looks like says ``core.dimensional.loads.staged_parts``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.dimensional.loads.mask_key import MaskKey
from metl_gui.core.dimensional.loads.staged_parts import StagedPart
from metl_gui.core.dimensional.rows.replays import Coverage
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import EntityPlan, Plan
from metl_gui.engine.sinks.parquet import by_version
from metl_gui.engine.sinks.parquet_parts import ENTITY, HELD_BYTES, ParquetParts
from metl_gui.engine.sinks.sink import RejectedRecord, folder_name
from metl_gui.engine.staging.history_rows import HistoryRows
from metl_gui.engine.staging.part_marks import PartMark, kept_marks, place_of
from metl_gui.own_files import write_file

COVERED = "covered.json"


def stage_parts(folder: Path, name: str, held_bytes: int = HELD_BYTES) -> ParquetParts[str]:
    """Return what writes rows of histories by entity; the arguments are those of ``ParquetParts``."""
    return ParquetParts(folder, name, lambda entity, table: [([folder_name(entity)], table)], held_bytes)


class StageSink:
    """The parts of one task attempt.

    Args:
        folder: holds a folder for each entity.
        name: begins the names of the parts.
        plan: says what values are.
        histories: of the entities that are staged.
        held_bytes: as of ``ParquetParts``.
        logs: by the name of a file, what positions in histories call it.
        mask_key: of the hashes that histories keep.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        plan: Plan,
        histories: Iterable[EntityHistory],
        held_bytes: int = HELD_BYTES,
        logs: Mapping[str, str] | None = None,
        mask_key: MaskKey | None = None,
    ) -> None:
        self.folder = folder
        self._mask_key = mask_key
        self._logs = logs or {}
        self._parts = stage_parts(folder, name, held_bytes)
        self._histories = {one.entity: one for one in histories}
        self._plans: dict[str, list[EntityPlan]] = {}
        for entity in plan.entities:
            self._plans.setdefault(entity.entity, []).append(entity)
        self._rows: dict[tuple[str, str], HistoryRows] = {}

    def append(self, outcome: MappedBatch) -> dict[int, RejectedRecord]:
        """Take the messages of a batch; see ``Sink``."""
        made: list[tuple[str, pa.Table, NDArray[np.int32]]] = []
        refused: dict[int, RejectedRecord] = {}
        for (entity, version), alike in by_version(outcome).items():
            if entity not in self._histories:
                continue
            table, numbers, wrong = self._of(entity, version).table(outcome, alike)
            records = outcome.records[numbers]
            for row, refusal in wrong.items():
                refused.setdefault(int(records[row]), refusal)
            made.append((entity, _with_logs(table, self._logs), records))
        for entity, table, records in made:
            self._parts.hold(entity, _without(table, records, refused))
        return refused

    def close(self) -> list[str]:
        """Write what is left and return the paths of all parts."""
        return self._parts.close()

    def _of(self, entity: str, version: str) -> HistoryRows:
        """Return the columns of an entity version; a truncate has those of the newest, all empty."""
        place = entity, version
        if place not in self._rows:
            plans = self._plans.get(entity) or [EntityPlan(entity, version)]
            plan = next((one for one in plans if one.version == version), plans[-1])
            self._rows[place] = HistoryRows(plan, self._histories[entity], self._mask_key)
        return self._rows[place]


def _without(table: pa.Table, records: NDArray[np.int32], refused: Collection[int]) -> pa.Table:
    return table.filter(pa.array(~np.isin(records, list(refused)))) if refused else table


def _with_logs(table: pa.Table, logs: Mapping[str, str]) -> pa.Table:
    """Give files other names in the positions of rows."""
    if not logs:
        return table
    at = table.schema.get_field_index("position_log")
    found: Any = table.column(at).combine_chunks().dictionary_encode()
    names = pa.array([logs.get(one, one) for one in found.dictionary.to_pylist()], pa.string())
    return table.set_column(at, table.schema.field(at), names.take(found.indices))


def keep_coverage(folder: Path, coverage: Coverage) -> str:
    """Write what a run read whole beside its parts, and return the path."""
    path = folder / COVERED
    write_file(path, msgspec.json.encode(coverage))
    return str(path)


def staged_coverage(folder: Path | str) -> Coverage:
    """Return what a run read whole; nothing where it did not say so.

    Args:
        folder: where it staged its parts.
    """
    path = Path(folder) / COVERED
    return msgspec.json.decode(path.read_bytes(), type=Coverage) if path.exists() else Coverage()


def staged_parts(folder: Path | str) -> tuple[StagedPart, ...]:
    """Return the parts that a run has staged, in the order of their names.

    Args:
        folder: where it staged them.
    """
    marks = kept_marks(Path(folder))
    paths = map(str, sorted(Path(folder).glob("*/*.parquet")))
    return tuple(part_at(path, marks.get(place_of(path))) for path in paths)


def part_at(path: str, mark: PartMark | None = None) -> StagedPart:
    """Return the part at a path, with what its task said of it; one that cannot be read has the name of its folder."""
    folder = Path(path).parent.name
    try:
        about = pq.read_metadata(path)
    except (OSError, pa.ArrowInvalid):
        if mark is None:
            raise
        return StagedPart(folder, path, mark.rows, mark.checksum)  # its checksum tells
    entity = (about.metadata or {}).get(ENTITY, folder.encode()).decode()
    if mark is None:
        return StagedPart(entity, path, about.num_rows)
    return StagedPart(entity, path, mark.rows, mark.checksum)
