"""What only a server does: it is shared, dies, keeps rights, and takes no text with a character of number 0."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.loads.staged_parts import INFINITE_TIMES
from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Column, Dimension, Model
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases import postgres_target
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.databases.target import CommitUnknownError, ConnectionLostError, TargetError
from metl_gui.warehouse.loader import Loader, load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.statements import name
from metl_gui.warehouse.status import mode_of, target_status
from tests.unit.warehouse.conftest import SERVER, new_schema
from tests.unit.warehouse.test_loads import OWNER, PERSONS, VISITS, row_key
from tests.unit.warehouse.worlds import (
    PERSON,
    VISIT,
    at,
    endless_batch,
    model_of,
    parse,
    part,
    person_dimension,
    visit_fact,
    visit_rows,
)

pytestmark = list(SERVER)
TITLE = "the warehouse"
Login = dict[str, Any]


class Visits:
    """One schema, its tables, and the parts of a first load."""

    def __init__(self, login: Login, folder: Path) -> None:
        self.login, self.schema = login, new_schema()
        _, self.shapes = model_of(person_dimension(), visit_fact())
        self.parts = [part(folder, "person", PERSONS), part(folder, "visit", VISITS)]

    def open(self, **words: Any) -> PostgreSql:
        return PostgreSql({**self.login, **words}, self.schema, TITLE)

    def load(self, target: PostgreSql, load: str = "load", on_step: Callable[..., None] | None = None) -> LoadReport:
        more = () if on_step is None else (on_step,)
        return load_parts(target, self.shapes, self.parts, load, OWNER, *more)

    def kill(self, target: PostgreSql) -> None:
        """End the process of the server that serves a target."""
        with psycopg.connect(**self.login, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [target._connection.info.backend_pid])


@pytest.fixture
def visits(login: Login, tmp_path: Path) -> Visits:
    return Visits(login, tmp_path)


def test_a_connection_that_dies_in_the_middle_of_a_load_leaves_nothing(visits: Visits) -> None:
    target, done = visits.open(), []

    def die(_step: object, _rows: int) -> None:
        done.append(1)
        if len(done) == 60:
            visits.kill(target)

    with pytest.raises(ConnectionLostError, match="nothing of this load was kept"):
        visits.load(target, on_step=die)
    target.close()
    with visits.open() as again:
        assert not again.has_table("metl_loads")
        assert not again.rows("SELECT 1 FROM pg_namespace WHERE nspname = ?", [visits.schema])
        assert visits.load(again).appended == 4


def test_messages_of_a_row_lie_together_as_far_as_one_load_brought_them(login: Login, tmp_path: Path) -> None:
    world = Visits(login, tmp_path)
    brought = [message for number in range(140) for message in endless_batch(number)[0]]
    with world.open() as target:
        for number, some in enumerate((brought[:70], brought[70:])):
            load_parts(target, world.shapes, [part(tmp_path, "person", some)], f"load {number}", OWNER)
        lie = target.rows("SELECT batch, row_key FROM metl_history_person ORDER BY ctid")
    assert len(lie) == 140
    assert len([row for row, before in zip(lie[1:], lie, strict=False) if row != before]) == 2 * 7 - 1


def test_a_version_that_is_closed_stays_on_its_page(visits: Visits, tmp_path: Path) -> None:
    def states(members: range, city: str, hour: int) -> list[Message]:
        return [
            Message("a", row_key(str(one)), f"{hour}{one:03}", "u", {"id": one, "city": city}, seen_at=at(hour))
            for one in members
        ]

    pages = "SELECT person_key, SPLIT_PART(CAST(ctid AS VARCHAR), ',', 1) FROM person"
    with visits.open() as target:
        brought = (states(range(300), "Kiel", 1), states(range(0, 300, 10), "Bonn", 2))
        stood: list[dict[int, str]] = []
        for number, some in enumerate(brought):
            load_parts(target, visits.shapes, [part(tmp_path, "person", some)], f"load {number}", OWNER)
            stood.append(dict(target.rows(pages)))
        closed = [key for (key,) in target.rows("SELECT person_key FROM person WHERE valid_to IS NOT NULL")]
    assert len(closed) == 30
    assert len(set(stood[0].values())) > 3
    assert [stood[1][key] for key in closed] == [stood[0][key] for key in closed]


def test_of_two_loaders_of_one_load_the_second_waits_and_sees_it_done(visits: Visits) -> None:
    found: list[LoadReport] = []
    began = threading.Event()

    def second() -> None:
        with visits.open() as target:
            began.set()
            found.append(visits.load(target))

    other = threading.Thread(target=second)

    def start(_step: object, _rows: int) -> None:
        if not began.is_set():
            other.start()
            assert began.wait(20)

    with visits.open() as target:
        first = visits.load(target, on_step=start)
    other.join(60)
    assert found == [msgspec.structs.replace(first, is_repeated=True)]


def test_a_commit_without_an_answer_is_looked_up(visits: Visits, monkeypatch: pytest.MonkeyPatch) -> None:
    with visits.open() as target:
        commit = target._commit

        def lose_the_answer() -> None:
            commit()
            raise CommitUnknownError("lost", "", "")

        monkeypatch.setattr(target, "_commit", lose_the_answer)
        report = visits.load(target)
        assert (report.appended, report.is_repeated) == (4, False)
        assert len(visit_rows(target)) == 2


def test_a_commit_that_never_arrived_is_not_taken_for_done(visits: Visits, monkeypatch: pytest.MonkeyPatch) -> None:
    with visits.open() as target:
        commit = target._commit

        def die_before() -> None:
            visits.kill(target)
            commit()

        with monkeypatch.context() as patched:
            patched.setattr(target, "_commit", die_before)
            with pytest.raises(CommitUnknownError, match="kept nothing"):
                visits.load(target)
        assert visits.load(target).appended == 4


def test_rights_that_are_missing_are_named_one_by_one(visits: Visits, login: Login) -> None:
    role = name(f"reader {visits.schema}")
    reader = {"user": f"reader {visits.schema}", "password": "reads"}
    with psycopg.connect(**login, autocommit=True) as owner:
        owner.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'reads'")
        owner.execute('REVOKE TEMPORARY ON DATABASE "shop" FROM PUBLIC')
        try:
            with pytest.raises(TargetError) as refused:
                visits.open(**reader)
            assert "TEMPORARY on the database shop; CREATE on the database shop" in refused.value.text
            with visits.open() as target:
                visits.load(target)
            owner.execute(f'GRANT TEMPORARY ON DATABASE "shop" TO {role}')
            owner.execute(f"GRANT USAGE ON SCHEMA {name(visits.schema)} TO {role}")
            with pytest.raises(TargetError) as refused:
                visits.open(**reader)
            assert f'CREATE on the schema "{visits.schema}"' in refused.value.text
            assert "to be owner of the table metl_loads" in refused.value.text
            assert "USAGE" not in refused.value.text
        finally:
            owner.execute('GRANT TEMPORARY ON DATABASE "shop" TO PUBLIC')


def test_no_error_shows_the_password(visits: Visits) -> None:
    wrong = {"password": "hidden words"}
    with pytest.raises(TargetError) as refused:
        visits.open(**wrong)
    assert "hidden" not in str(refused.value)
    assert "hidden" not in repr(refused.value.__cause__)


def test_an_audit_finds_what_was_changed_by_hand(visits: Visits) -> None:
    with visits.open() as target:
        visits.load(target)
        assert audit(target, visits.shapes, OWNER) == ()
        target.run('UPDATE visit SET fee = 99 WHERE "no" = 7')
        (found,) = audit(target, visits.shapes, OWNER)
        assert (found.table, found.rows) == ("visit", 1)
        Loader(target, visits.shapes, OWNER).rebuild()
        assert audit(target, visits.shapes, OWNER) == ()


def test_a_rebuild_that_would_break_what_others_made_says_what_it_is(visits: Visits) -> None:
    with visits.open() as target:
        visits.load(target)
        target.run("CREATE TABLE dear (one visit)")
        with pytest.raises(TargetError, match="column one of table dear depends on type visit"):
            Loader(target, visits.shapes, OWNER).rebuild()
        assert len(visit_rows(target)) == 2


def test_a_rebuild_does_not_wait_for_ever_for_a_reader(visits: Visits, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_target, "LOCK_WAIT", "100ms")
    with visits.open() as target, visits.open() as reader:
        visits.load(target)
        reader.run("BEGIN")
        assert len(visit_rows(reader)) == 2
        with pytest.raises(TargetError, match="has a table open"):
            Loader(target, visits.shapes, OWNER).rebuild()
        assert visits.load(target, "next").repeated == 4
        reader.run("COMMIT")
        Loader(target, visits.shapes, OWNER).rebuild()
        assert len(visit_rows(target)) == 2


def test_a_server_with_too_few_locks_is_told_from_a_full_disk(visits: Visits) -> None:
    with visits.open() as target, pytest.raises(TargetError, match="too few locks") as refused:
        target.run("SELECT COUNT(pg_advisory_xact_lock(i)) FROM generate_series(1, 200000) AS t(i)")
    assert "max_locks_per_transaction" in refused.value.hint


def test_what_is_refused_on_a_connection_that_stands_is_no_lost_one(visits: Visits) -> None:
    cancelled = "SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(9)"
    with visits.open() as target:
        for query, values, said in (
            ("SELECT 1 FROM pg_class WHERE relname = ?", ["a\0"], "cannot contain NUL"),
            (cancelled, [], "canceling statement"),
        ):
            with pytest.raises(TargetError, match="refused a statement") as refused:
                target.rows(query, values)
            assert said in refused.value.text
            assert not isinstance(refused.value, ConnectionLostError)
        assert target.rows("SELECT 1") == [(1,)]


def test_keys_and_texts_of_any_length_are_loaded(visits: Visits, tmp_path: Path) -> None:
    long = Message(
        "a", "k" * 30_000, "1" * 5_000, "c", {"id": 1, "city": "ü" * 30_000}, committed_at=at(1), seen_at=at(1)
    )
    with visits.open() as target:
        visits.load(target)  # which makes the indexes
        visits.parts = [part(tmp_path, "person", [long])]
        assert visits.load(target, "long").appended == 1
        assert visits.load(target, "again").repeated == 1


def test_names_that_the_database_would_cut_stay_apart(visits: Visits) -> None:
    tables = ["d" * 61 + end for end in "ab"]
    columns = tuple(Column(name="c" * 62 + end, path=path, history=2) for end, path in (("a", "city"), ("b", "mood")))
    dimensions = tuple(Dimension(name=one, entity="person", columns=columns) for one in tables)
    visits.shapes = shapes(Model(name="long", tables=dimensions), [PERSON, VISIT], parse)
    with visits.open() as target:
        visits.load(target)
        for one in tables:
            assert target.rows(f'SELECT "{columns[0].name}" FROM {one} WHERE is_current AND {one}_key > 0') == [
                ("Bonn",)
            ]
        assert audit(target, visits.shapes, OWNER) == ()
        Loader(target, visits.shapes, OWNER).rebuild()
        assert audit(target, visits.shapes, OWNER) == ()


def test_a_target_says_what_is_in_it(visits: Visits) -> None:
    with visits.open() as target:
        assert mode_of(target) is None
        visits.load(target)
        found = target_status(target, visits.shapes)
    assert (found.messages, found.tables["visit"], found.inferred) == ({"person": 2, "visit": 2}, 2, {"person": 1})


def test_a_database_that_has_not_all_letters_is_refused(visits: Visits, login: Login) -> None:
    with psycopg.connect(**login, autocommit=True) as owner:
        owner.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    with pytest.raises(TargetError, match="LATIN1"):
        visits.open(dbname="latin")


def test_a_load_of_few_messages_finds_rows_by_indexes(visits: Visits) -> None:
    with visits.open() as target:
        visits.load(target)
        target.run("SET enable_seqscan = off")
        plan = target.rows("EXPLAIN SELECT 1 FROM metl_history_person WHERE COALESCE(row_key, '') = 'x'")
        assert "metl_history_person_row_key_filled_index" in str(plan)
        plan = target.rows("EXPLAIN SELECT 1 FROM metl_members_person WHERE _k0 = 1")
        assert "metl_members_person__k0_index" in str(plan)


VALUES = ["", "a,b", 'q"q', "line\nline", "\\N", "\\", "ü€😀", None, "NULL", " x "]


def test_values_arrive_as_they_were_staged(visits: Visits, tmp_path: Path) -> None:
    columns = {
        "words": (pa.array(VALUES), "VARCHAR"),
        "lists": (pa.array([["a", 'b"c', "d\\", "e,f", ""], [], None, *[["x"]] * 7]), "VARCHAR[]"),
        "many": (pa.array([Decimal("9" * 38), None, *[Decimal(-1)] * 8], pa.decimal128(38, 0)), "DECIMAL(38, 0)"),
        "parts": (pa.array([0.1, 1e300, -0.0, None, *[1.5] * 6]), "DOUBLE"),
        "flags": (pa.array([True, False, None, *[True] * 7]), "BOOLEAN"),
        "days": (pa.array([date(1, 1, 1), date(9999, 12, 31), None, *[date(2026, 1, 1)] * 7]), "DATE"),
        "times": (
            pa.array([datetime(1, 1, 1, tzinfo=UTC), None, *[datetime(2026, 1, 1, 1, 2, 3, 4, UTC)] * 8]),
            "TIMESTAMPTZ",
        ),
    }
    path = tmp_path / "values.parquet"
    pq.write_table(pa.table({column: array for column, (array, _) in columns.items()}), path)
    with visits.open() as target, target.transaction():
        given = [*((column, type_) for column, (_, type_) in columns.items()), ("none", "VARCHAR")]
        target.read_parts("_values", [str(path)], given)
        rows = target.rows("SELECT * FROM _values")
    expected = zip(*(array.to_pylist() for array, _ in columns.values()), [None] * len(VALUES), strict=True)
    assert sorted(map(repr, rows)) == sorted(map(repr, (tuple(map(_utc, row)) for row in expected)))


def _utc(value: Any) -> Any:
    return value.astimezone(UTC) if isinstance(value, datetime) else value


def test_times_that_stand_for_infinite_ones_become_so(visits: Visits, tmp_path: Path) -> None:
    instants = pa.array([*INFINITE_TIMES, 0], pa.int64()).cast(pa.timestamp("us", tz="UTC"))
    path = tmp_path / "times.parquet"
    pq.write_table(pa.table({"at": instants}), path)
    with visits.open() as target, target.transaction():
        target.read_parts("_times", [str(path)], [("at", "TIMESTAMPTZ")])
        rows = target.rows('SELECT "at" FROM _times ORDER BY "at"')
    assert rows == [("-infinity",), (datetime(1970, 1, 1, tzinfo=UTC),), ("infinity",)]


def test_a_text_that_the_database_cannot_hold_is_set_aside(visits: Visits, tmp_path: Path) -> None:
    bad = msgspec.structs.replace(PERSONS[1], values={"id": 1, "city": "Bo\0nn"})
    visits.parts = [part(tmp_path, "person", [PERSONS[0], bad])]
    with visits.open() as target:
        report = visits.load(target)
        assert (report.messages, report.appended, report.set_aside) == (2, 1, 1)
        assert target.rows('SELECT order_key, "_column" FROM metl_set_aside_person') == [("00000002", "city")]
        assert audit(target, visits.shapes, OWNER) == ()
        Loader(target, visits.shapes, OWNER).rebuild()
        assert target.rows("SELECT COUNT(*) FROM metl_set_aside_person") == [(1,)]


TEXTS = (
    "1.5",
    " 12 ",
    "1e3",
    "1_000",
    "+5",
    ".5",
    "5.",
    "-2.5",
    "x",
    "",
    "true",
    "t",
    "no",
    "on",
    "nan",
    "-inf",
)
TIMES = (
    *("2026-01-31", "2026/01/31", "2026-1-3", "2026-02-30", "today", "now", "2026-01-31 10:00", "20260131", "10:11:12"),
    *("2026-01-31T10:00:00Z", "2026-01-31T10:00:00.123456789+02:00", "10:11", "2026-01-31 25:00", "31.01.2026"),
)
NUMBERS = (
    "CAST(12345678901 AS BIGINT)",
    "7",
    "CAST(70000 AS DECIMAL(38, 0))",
    "2.5",
    "-3.5",
    "CAST(2.5 AS DOUBLE)",
    "CAST(100 AS DOUBLE)",
    "CAST(1e15 AS DOUBLE)",
    "CAST(1e16 AS DOUBLE)",
    "TRUE",
)


def _both(visits: Visits, expressions: Sequence[str], types: Sequence[str]) -> tuple[list[Any], list[Any]]:
    query = " UNION ALL ".join(
        f"SELECT {place} AS p, " + ", ".join(f"CAST(TRY_CAST({one} AS {type_}) AS VARCHAR)" for type_ in types)
        for place, one in enumerate(expressions)
    )
    with visits.open() as target, target.transaction(), DuckDb(Path(":memory:")) as other:
        return target.rows(f"SELECT * FROM ({query}) AS q ORDER BY p"), other.rows(
            f"SELECT * FROM ({query}) AS q ORDER BY p"
        )


def test_casts_give_what_they_give_in_duckdb(visits: Visits) -> None:
    types = ("BIGINT", "INTEGER", "DECIMAL(12, 2)", "DOUBLE", "BOOLEAN", "VARCHAR")
    ours, others = _both(visits, [*(f"'{one}'" for one in TEXTS), *NUMBERS], types)
    assert ours == others
    ours, others = _both(visits, [f"'{one}'" for one in TIMES], ("DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIME"))
    assert ours == others


EXPRESSIONS = (
    *("upper('straße ü')", "lower('ÜẞA')", "abs(-3)", "ceil(1.2)", "coalesce(NULL, 'a')", "concat('a', NULL, 'b')"),
    *("floor(-1.5)", "greatest(1, 2)", "least(1, NULL)", "left('übung', 2)", "length('übung')", "lpad('7', 3, '0')"),
    *("ltrim('  a')", "nullif('a', 'a')", "replace('aba', 'a', 'c')", "right('übung', 2)", "round(2.567, 2)"),
    *("rpad('7', 3, '0')", "rtrim('a  ')", "split_part('a-b', '-', 2)", "starts_with('abc', 'ab')"),
    *("substr('abc', 2, 1)", "substring('abc', 2)", "trim(' a ')", "7 / 2", "7 % 2", "'a' || 'b'", "'b' < 'B'"),
    *("'a' LIKE 'A%'", "CASE WHEN 1 = 1 THEN 'x' END", "1 IN (1, 2)", "2 BETWEEN 1 AND 3", "round(2.5)"),
    *(
        f"extract({part} FROM TIMESTAMP '2026-05-01 10:11:12.5')"
        for part in ("year", "week", "isodow", "second", "epoch")
    ),
    *(f"date_trunc('{unit}', DATE '2026-05-17')" for unit in ("week", "month", "quarter", "year", "day")),
    *(f"date_trunc('{unit}', TIMESTAMP '2026-05-17 10:11:12')" for unit in ("hour", "minute", "week")),
    "date_trunc('day', CAST('2026-05-17 10:11:12+02:00' AS TIMESTAMPTZ))",
)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_row_expressions_mean_what_they_mean_in_duckdb(visits: Visits, expression: str) -> None:
    with visits.open() as target, target.transaction(), DuckDb(Path(":memory:")) as other:
        query = f"SELECT TRY_CAST({expression} AS VARCHAR)"
        assert target.rows(query) == other.rows(query)
