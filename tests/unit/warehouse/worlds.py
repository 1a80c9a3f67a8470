"""Small worlds of two entities, and the rows that follow from their messages by the oracle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import sqlglot
from sqlglot import exp

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.dimensional.loads.staged_parts import StagedPart
from metl_gui.core.dimensional.rows.members import (
    FactState,
    Key,
    MemberVersion,
    Ownership,
    fact_states,
    members,
    versions,
)
from metl_gui.core.dimensional.rows.messages import Message, held
from metl_gui.core.dimensional.rows.row_states import FOREVER, State, declared_time, row_states
from metl_gui.core.warehouse_model import Column, Dimension, Fact, Model, OnMiss, Periodic, Reference
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from metl_gui.warehouse.plans.statements import names

PERSON = EntityHistory(
    "person",
    ("id",),
    tuple(
        HistoryColumn(name, name, type_)
        for name, type_ in (
            ("id", "integer"),
            ("city", "text"),
            ("mood", "text"),
            ("nick", "text"),
            ("since", "instant"),
        )
    ),
)
VISIT = EntityHistory(
    "visit",
    ("no",),
    tuple(
        HistoryColumn(name, name, type_)
        for name, type_ in (("no", "integer"), ("who", "integer"), ("at", "instant"), ("fee", "integer"))
    ),
)
ORDER = EntityHistory(
    "order",
    ("no",),
    tuple(
        HistoryColumn(name, name, type_)
        for name, type_ in (
            *(("no", "integer"), ("who", "integer"), ("at", "instant"), ("sent", "instant"), ("paid", "instant")),
            *(("fee", "integer"), ("rate", "integer"), ("status", "text"), ("rush", "text")),
        )
    ),
)
HISTORIES = {"person": PERSON, "visit": VISIT, "order": ORDER}
BERLIN = ZoneInfo("Europe/Berlin")
BEGINNING = datetime(1, 1, 1, tzinfo=UTC)


def at(hours: float) -> datetime:
    """Return a time some hours after the start of the world."""
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hours)


def person_dimension(**changes: Any) -> Dimension:
    """Return the dimension with a column of each kind."""
    columns = (
        Column(name="city", path="city", history=2),
        Column(name="mood", path="mood", history=1),
        Column(name="nick", path="nick", history=3),
        Column(name="first_city", path="city", history=0),
        Column(name="spirit", path="mood", history=6),
    )
    return Dimension(**{"name": "person", "entity": "person", "columns": columns, **changes})


def guest(on_miss: OnMiss = "infer") -> Reference:
    """Return the reference of visits to persons."""
    return Reference(dimension="person", role="guest", on=(("who", "id"),), on_miss=on_miss)


def visit_fact(**changes: Any) -> Fact:
    """Return the fact that refers to persons."""
    given: dict[str, Any] = {
        "name": "visit",
        "entity": "visit",
        "event_time": "at",
        "references": (guest(),),
        "measures": (Column(name="fee", path="fee", type="decimal(12,0)"),),
    }
    return Fact(**{**given, **changes})


def parse(text: str) -> exp.Expr:
    """Read a row expression."""
    return sqlglot.parse_one(text, read="duckdb")


def model_of(dimension: Dimension, fact: Fact | None = None) -> tuple[Model, TableShapes]:
    """Return a model and its tables."""
    days = Periodic(name="person_day", of="person", every="day", time_zone="Europe/Berlin", columns=("city",))
    tables = (dimension, days) if fact is None else (dimension, fact, days)
    model = Model(name="world", tables=tables)
    return model, shapes(model, [PERSON, VISIT], parse)


_TYPES: dict[str, Any] = {
    "integer": pa.decimal128(38, 0),
    "decimal(38,2)": pa.decimal128(38, 2),
    "decimal(38,4)": pa.decimal128(38, 4),
    "float": pa.float64(),
    "boolean": pa.bool_(),
    "text": pa.string(),
    "date": pa.date32(),
    "json": pa.string(),
    "timestamp": pa.timestamp("us"),
    "instant": pa.timestamp("us", tz="UTC"),
}
_INSTANT = pa.timestamp("us", tz="UTC")
_OWN: list[pa.Field[Any]] = [
    *(pa.field(n, pa.string()) for n in ("schema", "row_key", "order_key", "op")),
    pa.field("publication", pa.int64()),
    *(pa.field(n, pa.string()) for n in ("schema_version", "entity_version")),
    *(pa.field(n, _INSTANT) for n in ("committed_at", "seen_at")),
    pa.field("position_log", pa.string()),
    *(pa.field(n, pa.int64()) for n in ("position_partition", "position_offset")),
    pa.field("snapshot", pa.bool_()),
    pa.field("old_key", pa.string()),
    pa.field("absent", pa.list_(pa.string())),
]


def part(folder: Path, entity: str, messages: Sequence[Message], history: EntityHistory | None = None) -> StagedPart:
    """Write messages as a staged part."""
    history = history or HISTORIES[entity]
    rows = [
        {
            **{
                n: getattr(m, n)
                for n in ("schema", "row_key", "order_key", "op", "publication", "committed_at", "seen_at")
            },
            "schema_version": "1",
            "entity_version": "1",
            "snapshot": False,
            "old_key": m.old_key,
            **dict(zip(("position_log", "position_partition", "position_offset"), m.position, strict=True)),
            "absent": sorted(c.name for c in history.columns if c.name not in m.values),
            **{c.name: m.values.get(c.name) for c in history.columns},
        }
        for m in messages
    ]
    schema = pa.schema([*_OWN, *(pa.field(c.name, _TYPES[c.type]) for c in history.columns)])
    path = folder / f"{entity}-{len(list(folder.glob('*')))}.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema), path)
    return StagedPart(entity, str(path), len(rows))


def states_of(messages: Iterable[Message], valid_at: str = "", infinity: str = "open") -> tuple[State, ...]:
    """Return the states of rows by the oracle."""
    return row_states(held(messages), lambda values: declared_time(values, valid_at, infinity))


def ownership(one: Dimension | Fact) -> Ownership:
    """Return who owns states of a table."""
    paths = one.business_key if isinstance(one, Dimension) else one.grain
    key: tuple[str, ...] = () if paths == "row" else tuple(paths) or HISTORIES[one.entity].key
    return Ownership(key, one.key_includes_schema, one.prefer, one.leading)


def expected_members(one: Dimension, messages: Iterable[Message]) -> dict[Key, tuple[bool, tuple[MemberVersion, ...]]]:
    """Return the versions of each member, and whether it lives."""
    assert one.columns != "all"
    by_version = list(dict.fromkeys(column.path for column in one.columns if column.history in (2, 6)))
    found = members(states_of(messages, one.valid_at, one.infinity), ownership(one))
    return {
        key: (m.is_alive, versions(m, by_version))
        for key, m in found.items()
        if m.is_alive or one.on_delete != "remove"
    }


def expected_dimension(
    one: Dimension, messages: Iterable[Message], needed: Iterable[Key] = (), before: Iterable[Key] = ()
) -> list[tuple[Any, ...]]:
    """Return the rows of a dimension without their keys, those inferred for needed business keys too."""
    assert one.columns != "all"
    rows: list[tuple[Any, ...]] = []
    found = expected_members(one, messages)
    for key, (is_alive, of_member) in found.items():
        for number, version in enumerate(of_member, 1):
            values: list[Any] = []
            for column in one.columns:
                by_history = {
                    0: version.first,
                    1: version.latest,
                    2: version.by_version,
                    3: version.current,
                    6: version.by_version,
                }
                values.append(by_history[column.history].get(column.path))
                if column.history == 3:
                    values.append(version.previous.get(column.path))
                if column.history == 6:
                    values.append(version.latest.get(column.path))
            newest = number == len(of_member)
            since = BEGINNING if number == 1 and one.covers_past else version.valid_from
            until = None if version.valid_to == FOREVER or (newest and one.on_delete == "flag") else version.valid_to
            fixed = (since, until, newest and is_alive, newest and not is_alive, False, number, version.valid_from)
            rows.append((*key, *values, *fixed))
    width = sum({3: 2, 6: 2}.get(column.history, 1) for column in one.columns)
    inferred = (*[None] * width, BEGINNING, None, True, False, True, 1, None)
    rows.extend((*key, *inferred) for key in needed if key not in found)
    for key in before:
        first = found[key][1][0].valid_from
        rows.append((*key, *[None] * width, BEGINNING, first, False, False, True, 0, None))
    return sorted(rows, key=repr)


def expected_facts(one: Fact, messages: Iterable[Message]) -> dict[Key, FactState]:
    """Return the facts that are there, or flagged."""
    found = fact_states(states_of(messages), ownership(one))
    return {key: state for key, state in found.items() if state.is_alive or one.on_delete == "flag"}


def expected_visits(
    one: Fact, dimension: Dimension, visits: Iterable[Message], persons: Iterable[Message]
) -> tuple[list[tuple[Any, ...]], set[Key], set[Key]]:
    """Return the rows of the fact, each with the version it refers to, and the keys needed, and needed early."""
    found = expected_members(dimension, persons)
    needed: set[Key] = set()
    before: set[Key] = set()
    rows: list[tuple[Any, ...]] = []
    for key, state in expected_facts(one, visits).items():
        who = state.values.get("who")
        on_miss = one.references[0].on_miss
        is_missed = who is not None and (who,) not in found and on_miss != "infer"
        if is_missed and on_miss == "wait":
            continue
        event = (state.values.get("at") or state.committed_at) if one.event_time else state.began_at
        number: int | None = None
        if who is not None and not is_missed:
            needed.add((who,))
            of_member = found.get((who,), (True, ()))[1]
            first = BEGINNING if dimension.covers_past or not of_member else of_member[0].valid_from
            starts = [first, *(version.valid_from for version in of_member[1:])]
            number = sum(1 for start in starts if start <= event)
            if not number:
                before.add((who,))
        flag = (not state.is_alive,) if one.on_delete == "flag" else ()
        rows.append((*key, None if is_missed else who, number, event, state.values.get("fee"), *flag))
    return sorted(rows, key=repr), needed, before


def expected_days(one: Dimension, messages: Sequence[Message], over: datetime | None) -> list[tuple[Any, ...]]:
    """Return the rows of the periodic fact: day, business key, number of the version, city."""
    rows: list[tuple[Any, ...]] = []
    found = expected_members(one, messages)
    starts = [version.valid_from for _, of_member in found.values() for version in of_member]
    if over is None or not starts:
        return rows
    earliest = min(message.commit for message in messages)
    day = max(min(starts), earliest).astimezone(BERLIN).date()
    while (end := datetime.combine(day + timedelta(days=1), time(), BERLIN)) <= over:
        for key, (is_alive, of_member) in found.items():
            for number, version in enumerate(of_member, 1):
                is_flagged = number == len(of_member) and not is_alive and one.on_delete == "flag"
                if version.valid_from < end and (is_flagged or version.valid_to >= end):
                    rows.append((int(f"{day:%Y%m%d}"), *key, number, version.by_version["city"]))
        day += timedelta(days=1)
    return sorted(rows, key=repr)


def day_rows(target: WarehouseTarget) -> tuple[list[tuple[Any, ...]], datetime | None]:
    """Return the rows of the periodic fact, and up to when all sources are."""
    query = """SELECT d.date_key, p.id, p.version_number, d.city FROM person_day AS d
        JOIN person AS p ON p.person_key = d.person_key"""
    return plain(target.rows(query)), target.rows("SELECT MIN(latest) FROM metl_watermarks WHERE entity = 'person'")[0][
        0
    ]


def plain(rows: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Return rows as the oracle writes them: numbers as integers, times in UTC."""
    return sorted((tuple(_plain(value) for value in row) for row in rows), key=repr)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, bool | str | type(None) | date):
        return value
    return int(value)


def dimension_rows(target: WarehouseTarget) -> list[tuple[Any, ...]]:
    """Return the rows of the dimension without their keys."""
    columns = [one for one in target.columns("person") if one not in ("person_key", "person_durable_key")]
    return plain(target.rows(f"SELECT {names(columns)} FROM person WHERE person_key > 0"))


def visit_rows(target: WarehouseTarget, flag: bool = False) -> list[tuple[Any, ...]]:
    """Return the rows of the fact with the business key and the number of the version that each refers to."""
    query = f"""SELECT f."no", p.id, CASE WHEN f.guest_key > 0 THEN p.version_number END, f.event_time, f.fee
        {", f.is_deleted" if flag else ""}
        FROM visit AS f
        LEFT JOIN person AS p ON p.person_key = f.guest_key AND p.person_durable_key = f.guest_durable_key"""
    return plain(target.rows(query))


def endless_batch(number: int) -> tuple[list[Message], list[Message]]:
    """Return the messages of a batch: each changes a person, and has him visit."""
    time, who = at(number), number % 7
    values = {"id": who, "city": ("Kiel", "Bonn", "Ulm")[number % 3], "mood": "x", "nick": "m", "since": None}
    order = f"{number:06}"
    person = Message("a", f'{{"id":{who}}}', order, "u", values, committed_at=time, seen_at=time)
    visit = {"no": number, "who": who, "at": time, "fee": 1}
    return [person], [Message("a", f'{{"id":{number}}}', order, "c", visit, committed_at=time, seen_at=time)]
