"""Staged parts that benchmarks of the warehouse load, and the load of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.loads.staged_parts import StagedPart
from metl_gui.core.warehouse_model import Column, Model
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse.worlds import PERSON, VISIT, parse, person_dimension

BULK = Owner(project="benchmark", mode="test")
COLUMNS = (Column(name="city", path="city", history=2), Column(name="mood", path="mood"))
_OFFSET = 2**62 - 1


def integers(values: Sequence[int]) -> Any:
    return pa.array(values).cast(pa.decimal128(38, 0))


def write_part(
    path: Path,
    entity: str,
    keys: Sequence[str],
    numbers: Sequence[int],
    at: Sequence[datetime],
    payload: dict[str, Any],
) -> StagedPart:
    """Write messages as a staged part.

    Args:
        path: of the part.
        entity: ``person`` or ``visit``.
        keys: of the rows.
        numbers: places in the log, which may be long.
        at: commits.
        payload: columns of attributes, by name.
    """
    count, times = len(keys), pa.array(at, pa.timestamp("us", tz="UTC"))
    texts = {"schema": "s", "op": "u", "schema_version": "1", "entity_version": "1", "position_log": "log"}
    absent = [
        column.name for column in {"person": PERSON, "visit": VISIT}[entity].columns if column.name not in payload
    ]
    columns: dict[str, Any] = {
        "row_key": pa.array(keys),
        "order_key": pa.array([f"p{number:032x}" for number in numbers]),
        "publication": pa.array(np.zeros(count, np.int64)),
        "committed_at": times,
        "seen_at": times,
        "position_partition": pa.array(np.zeros(count, np.int64)),
        "position_offset": pa.array([number & _OFFSET for number in numbers]),
        "snapshot": pa.array(np.zeros(count, bool)),
        "old_key": pa.nulls(count, pa.string()),
        "absent": pa.array([absent] * count, pa.list_(pa.string())),
        **payload,
        **{column: pa.array([value] * count) for column, value in texts.items()},
    }
    pq.write_table(pa.table(columns), path)
    return StagedPart(entity, str(path), count)


def shapes_of_person() -> TableShapes:
    """Return the tables of the benchmark's model."""
    return shapes(Model(name="benchmark", tables=(person_dimension(columns=COLUMNS),)), [PERSON], parse)


def ours(target: WarehouseTarget, parts: Sequence[StagedPart], name: str) -> LoadReport:
    """Load parts."""
    return load_parts(target, shapes_of_person(), parts, name, BULK)
