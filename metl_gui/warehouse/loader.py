"""Load staged messages into a target: one transaction, after which every table is the function of the histories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

import msgspec

from metl_gui.core.dimensional.staging import StagedPart
from metl_gui.warehouse.arrivals import arrival_plan, contents_queries, partial_columns, staged_table
from metl_gui.warehouse.duckdb_target import DuckDb
from metl_gui.warehouse.history_tables import OWN_COLUMNS, sql_type
from metl_gui.warehouse.load_plan import create_plan, states_of, tables_plan, wider
from metl_gui.warehouse.member_plan import MemberTables
from metl_gui.warehouse.state_plan import Contents, StateTables
from metl_gui.warehouse.statements import Step, name
from metl_gui.warehouse.table_shapes import DimensionShape, Shapes

EPOCH_DIGITS = 4


class TableCounts(msgspec.Struct, kw_only=True):
    """What a load did to a table, in rows.

    Args:
        inserted: new rows.
        updated: rows of which a value differs.
        removed: rows that are no longer.
        closed: of the updated ones, versions that got an end.
    """

    inserted: int = 0
    updated: int = 0
    closed: int = 0
    removed: int = 0


class KeyCounts(msgspec.Struct, kw_only=True):
    """Business keys and grains whose rows were made anew.

    Args:
        changed: some row differed.
        same: none did.
    """

    changed: int = 0
    same: int = 0


class LoadReport(msgspec.Struct, kw_only=True):
    """What a load did.

    Args:
        load: its name.
        messages: staged.
        appended: to the histories.
        repeated: known before, or twice in the batch.
        void: replaced by those of a later publication.
        set_aside: could not be stored.
        keys: made anew.
        tables: by name.
        waiting: facts that wait for their members.
        is_repeated: the load was done before; these are the counts of then.
    """

    load: str
    messages: int = 0
    appended: int = 0
    repeated: int = 0
    void: int = 0
    set_aside: int = 0
    keys: KeyCounts = msgspec.field(default_factory=KeyCounts)
    tables: dict[str, TableCounts] = {}
    waiting: int = 0
    is_repeated: bool = False


OnStep = Callable[[Step, int], None]
"""Told of each step that was done and the rows it changed; raises to cancel."""


def _unheard(_step: Step, _rows: int) -> None:
    """Take no notice."""


def load_parts(
    target: DuckDb, shapes: Shapes, parts: Iterable[StagedPart], load: str, on_step: OnStep = _unheard
) -> LoadReport:
    """Load staged parts, or say what the load did when it was done before.

    Args:
        target: open for writing.
        shapes: the tables of the model.
        parts: staged.
        load: names the load; done again under its name it changes nothing.
        on_step: called between steps.

    Raises:
        TargetError: the target refused something; nothing of the load is kept.
    """
    return _Load(target, shapes, load, on_step).run(tuple(parts))


class _Load:
    def __init__(self, target: DuckDb, shapes: Shapes, load: str, on_step: OnStep) -> None:
        self.target, self.shapes, self.on_step = target, shapes, on_step
        self.report = LoadReport(load=load)

    def run(self, parts: Sequence[StagedPart]) -> LoadReport:
        with self.target.transaction():
            if not self.target.has_table("metl_loads"):
                self.steps(create_plan(self.shapes))
            done = self.target.rows("SELECT report FROM metl_loads WHERE load = ?", [self.report.load])
            if done:
                known = msgspec.json.decode(done[0][0], type=LoadReport)
                return msgspec.structs.replace(known, is_repeated=True)
            self.target.run("INSERT INTO metl_loads VALUES (?, ?, NULL)", [self.report.load, datetime.now(UTC)])
            for entity in self.shapes.histories:
                self.append(entity, [one for one in parts if one.entity == entity])
            for entity in self.shapes.entities:
                self.states(entity)
            self.tables()
            text = msgspec.json.encode(self.report).decode()
            self.target.run("UPDATE metl_loads SET report = ? WHERE load = ?", [text, self.report.load])
        return self.report

    def steps(self, steps: Iterable[Step]) -> None:
        for step in steps:
            rows = self.target.step(step)
            if step.table:
                self.count(step, rows)
            self.on_step(step, rows)

    def count(self, step: Step, rows: int) -> None:
        if step.table.startswith("metl_history_"):
            self.report.appended += rows
            return
        counts = self.report.tables.setdefault(step.table, TableCounts())
        match step.does:
            case "insert":
                counts.inserted += rows
            case "update":
                counts.updated += rows
            case "remove":
                counts.removed += rows
            case _:
                pass

    def append(self, entity: str, parts: Sequence[StagedPart]) -> None:
        history = self.shapes.histories[entity]
        columns = [(c, t) for c, t in OWN_COLUMNS if c != "batch"] + [
            (c.name, sql_type(c.type)) for c in history.columns
        ]
        staged = staged_table(entity)
        self.target.read_parts(staged, [one.path for one in parts], columns)
        self.target.run(f"UPDATE {name(staged)} SET order_key = '{'0' * EPOCH_DIGITS}' || order_key")
        before = self.report.appended
        self.steps(arrival_plan(history, self.report.load))
        messages = self.target.rows(f"SELECT COUNT(*) FROM {name(staged)}")[0][0]
        self.report.messages += messages
        self.report.repeated += messages - (self.report.appended - before)

    def states(self, entity: str) -> None:
        touched, count = name(StateTables(entity).touched), -1
        while (now := self.target.rows(f"SELECT COUNT(*) FROM {touched}")[0][0]) != count:
            # Rows that share a key with touched ones are taken in once, and bring no further keys.
            count = now
            self.steps(states_of(self.shapes, entity, self.contents(entity)))
            self.steps(wider(self.shapes, entity))

    def contents(self, entity: str) -> Contents:
        queries = contents_queries(entity)
        carried = self.target.rows(queries.pop("carried"))
        columns = [one.name for one in self.shapes.histories[entity].columns]
        flags = {flag: bool(self.target.rows(query)[0][0]) for flag, query in queries.items()}
        return Contents(partial=partial_columns(columns, [(s, a) for s, a in carried]), **flags)

    def tables(self) -> None:
        self.steps(tables_plan(self.shapes))
        for shape in (*self.shapes.dimensions, *self.shapes.facts):
            affected = self.target.rows(f"SELECT COUNT(*) FROM {name(MemberTables(shape.table).affected)}")[0][0]
            self.report.keys.changed += affected
            if isinstance(shape, DimensionShape):
                closed = f"SELECT COUNT(*) FROM {name(f'_changed_{shape.table}')} WHERE valid_to IS NOT NULL"
                self.report.tables.setdefault(shape.table, TableCounts()).closed += self.target.rows(closed)[0][0]
