"""What a target says of itself: its loads, its rows, and what is open in it.

Source: docs/reference/json.md, "Documents".
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.loads.missing_members import MissingMember
from metl_gui.core.dimensional.loads.rebuild_cost import RebuildCost
from metl_gui.core.dimensional.models.model_changes import DeclarationChange, model_changes
from metl_gui.core.dimensional.models.wider_types import widened_entities
from metl_gui.core.warehouse_model import Model
from metl_gui.warehouse.compaction import compacted_before
from metl_gui.warehouse.databases.target import WarehouseTarget, has_columns
from metl_gui.warehouse.epochs import known_starts, shown
from metl_gui.warehouse.load_memory import rate_of
from metl_gui.warehouse.plans.dimensions.member_plan import keys_of
from metl_gui.warehouse.plans.facts.missed_plan import missed_table, waiting_query
from metl_gui.warehouse.plans.histories.arrivals import set_aside_table
from metl_gui.warehouse.plans.histories.epoch_plan import EPOCHS
from metl_gui.warehouse.plans.histories.forget_plan import FORGOTTEN, FORGOTTEN_AT
from metl_gui.warehouse.plans.histories.history_tables import history_table
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from metl_gui.warehouse.plans.statements import name


class LoadEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One load of the ledger.

    Args:
        load: its name.
        loaded_at: when it began, UTC.
        report: what it did.
    """

    load: str
    loaded_at: datetime
    report: LoadReport


class EpochEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An answer to what became of a log that went back.

    Args:
        schema: whose log.
        begins_at: the position from which on it holds.
        epoch: its number; that of before where old messages were sent again.
    """

    schema: str
    begins_at: str
    epoch: int


class TargetStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A target.

    Args:
        model: name of the model.
        project: id of the project that feeds it.
        mode: of the runs that it takes.
        loads: newest first.
        tables: rows by table, without those for what is unknown.
        messages: in histories, by entity.
        set_aside: messages that no table could hold, by entity.
        inferred: members that no message has brought, by dimension.
        waiting: facts that wait for their members.
        read_to: the latest commit stored, by entity and schema.
        missing: members that no message has brought, and what refers to them.
        changes: of the model, since the target was made by it; loads are refused until a rebuild.
        rebuild: what a rebuild would do; ``None`` where nothing has changed.
        epochs: answers that are known, in the order of their schemas and positions.
        forgotten: keys that are left out whenever they come, by entity.
        forgotten_at: when the last of them was, by entity, where the target knows.
        compacted_before: the time before which one message a row is left; ``None`` where all are.
    """

    model: str
    project: str
    mode: str
    loads: tuple[LoadEntry, ...]
    tables: dict[str, int]
    messages: dict[str, int]
    set_aside: dict[str, int]
    inferred: dict[str, int]
    waiting: int
    read_to: dict[str, dict[str, datetime]]
    missing: tuple[MissingMember, ...] = ()
    changes: tuple[DeclarationChange, ...] = ()
    rebuild: RebuildCost | None = None
    epochs: tuple[EpochEntry, ...] = ()
    forgotten: dict[str, int] = {}
    compacted_before: datetime | None = None
    forgotten_at: dict[str, datetime] = {}

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl warehouse status``."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


def mode_of(target: WarehouseTarget) -> str | None:
    """Return the mode of the runs that a target takes, ``None`` where nothing was loaded into it."""
    if not target.has_table("metl_target"):
        return None
    found = target.rows("SELECT value FROM metl_target WHERE name = 'mode'")
    return str(found[0][0]) if found else None


def target_status(target: WarehouseTarget, shapes: TableShapes, limit: int = 10) -> TargetStatus:
    """Return what a target says of itself; tables that the model got since its last load are left out.

    Args:
        target: open, and loaded.
        shapes: the tables of the model.
        limit: how many loads are listed.
    """
    known = dict(target.rows("SELECT name, value FROM metl_target"))
    query = f"SELECT load, loaded_at, report FROM metl_loads ORDER BY loaded_at DESC LIMIT {limit}"
    loads = [
        LoadEntry(load=load, loaded_at=when, report=msgspec.json.decode(report, type=LoadReport))
        for load, when, report in target.rows(query)
    ]
    read_to: dict[str, dict[str, datetime]] = {}
    for entity, schema, latest in target.rows("SELECT entity, schema, latest FROM metl_watermarks ORDER BY 1, 2"):
        read_to.setdefault(entity, {})[schema] = latest

    def number_of(table: str, where: str = "") -> int:
        return int(target.rows(f"SELECT COUNT(*) FROM {name(table)}{where}")[0][0])

    there = [one for one in shapes.dimensions if has_columns(target, one.table, one.version_key, "is_inferred")]
    dimensions = {one.table: number_of(one.table, f" WHERE {name(one.version_key)} > 0") for one in there}
    rest = {table: number_of(table) for table in shapes.derived if target.has_table(table)}
    entities = [entity for entity in shapes.histories if target.has_table(history_table(entity))]
    waiting = [one for one in shapes.facts if has_columns(target, missed_table(one.table), *keys_of(one))]
    made_by = msgspec.json.decode(known["model"], type=Model)
    is_followed = widened_entities(made_by, shapes.model) is not None
    changes = () if is_followed else model_changes(made_by, shapes.model)
    return TargetStatus(
        model=shapes.model.name,
        project=known["project"],
        mode=known["mode"],
        loads=tuple(loads),
        tables=dimensions | rest,
        messages={entity: number_of(history_table(entity)) for entity in entities},
        set_aside={entity: number_of(set_aside_table(entity)) for entity in entities},
        inferred={one.table: number_of(one.table, " WHERE is_inferred") for one in there},
        waiting=int(target.rows(waiting_query(waiting))[0][0]),
        read_to=read_to,
        changes=changes,
        rebuild=_rebuild_cost(target, shapes, dimensions, rest) if changes else None,
        epochs=_epochs(target),
        forgotten=_forgotten(target),
        compacted_before=compacted_before(target),
        forgotten_at=_forgotten_at(target),
    )


def _rebuild_cost(
    target: WarehouseTarget, shapes: TableShapes, dimensions: dict[str, int], rest: dict[str, int]
) -> RebuildCost:
    rows, rate = sum(dimensions.values()) + sum(rest.values()), rate_of(target)
    return RebuildCost(
        tables=len(dimensions) + len(rest),
        rows=rows,
        versions=sum(dimensions.values()),
        facts=sum(rest.get(one.table, 0) for one in shapes.facts if one.references),
        minutes=rows / rate / 60 if rate else None,
    )


def _epochs(target: WarehouseTarget) -> tuple[EpochEntry, ...]:
    starts = known_starts(target) if target.has_table(EPOCHS) else ()
    return tuple(
        EpochEntry(schema=one.schema, begins_at=shown(one.position), epoch=one.epoch)
        for one in sorted(starts, key=lambda one: (one.schema, one.position))
    )


def _forgotten(target: WarehouseTarget) -> dict[str, int]:
    query = f"SELECT entity, COUNT(DISTINCT mark) FROM {FORGOTTEN} GROUP BY entity ORDER BY entity"
    return dict(target.rows(query)) if target.has_table(FORGOTTEN) else {}


def _forgotten_at(target: WarehouseTarget) -> dict[str, datetime]:
    if not has_columns(target, FORGOTTEN, FORGOTTEN_AT):
        return {}
    query = f"""SELECT entity, MAX({FORGOTTEN_AT}) FROM {FORGOTTEN} WHERE {FORGOTTEN_AT} IS NOT NULL
        GROUP BY entity ORDER BY entity"""
    return dict(target.rows(query))
