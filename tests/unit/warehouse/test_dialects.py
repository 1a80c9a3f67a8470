"""Statements in the dialect of PostgreSQL."""

from __future__ import annotations

import pytest

from metl_gui.warehouse.plans.dialects import NAME_BYTES, fitted, row_place
from metl_gui.warehouse.plans.statements import Step, first_of, in_dialect


def postgres(statement: str) -> str:
    return in_dialect(statement, "postgres")


def test_names_that_are_too_long_stay_apart() -> None:
    one, other = (fitted("ä" * 40 + end) for end in "xy")
    assert one != other
    assert max(len(one.encode()), len(other.encode())) <= NAME_BYTES
    assert fitted("a" * NAME_BYTES) == "a" * NAME_BYTES
    assert f'"{one}"' in postgres(f'SELECT 1 FROM "{"ä" * 40}x"')


def test_columns_of_text_compare_by_their_bytes() -> None:
    made = postgres("CREATE TABLE t (a VARCHAR, b VARCHAR[], c BIGINT)")
    assert made == 'CREATE TABLE t (a TEXT COLLATE "C", b TEXT[] COLLATE "C", c BIGINT)'
    assert postgres("ALTER TABLE t ADD COLUMN a VARCHAR") == 'ALTER TABLE t ADD COLUMN a TEXT COLLATE "C"'


def test_values_are_numbered_in_the_order_of_the_text() -> None:
    assert postgres("UPDATE t SET a = ? WHERE b = ? AND c IN (?, ?)").endswith("a = $1 WHERE b = $2 AND c IN ($3, $4)")


def test_what_is_not_in_a_list_is_asked_for_by_a_join() -> None:
    found = postgres("SELECT 1 FROM t WHERE (a, b) NOT IN (SELECT c, d FROM u)")
    assert "NOT EXISTS" in found
    assert "listed.c0 = a AND listed.c1 = b" in found
    assert "NOT a IS NULL AND NOT b IS NULL" in found
    assert postgres("SELECT 1 WHERE a NOT IN (1, 2)") == "SELECT 1 WHERE NOT a IN (1, 2)"


def test_the_first_of_an_order_is_that_of_a_list_in_postgresql() -> None:
    first = first_of("x.v", ("x.t DESC", "x.s"), "x.is_there")
    assert (
        first
        == "ARG_MIN_NULL(x.v, CREATE_SORT_KEY(x.t, 'DESC NULLS LAST', x.s, 'ASC NULLS LAST')) FILTER (WHERE x.is_there)"
    )
    assert postgres(f"SELECT {first} AS f FROM x") == (
        "SELECT (ARRAY_AGG(x.v ORDER BY x.t DESC NULLS LAST, x.s ASC) FILTER(WHERE x.is_there))[1] AS f FROM x"
    )
    assert postgres(f"SELECT {first_of('v', ('t',))} FROM x") == "SELECT (ARRAY_AGG(v ORDER BY t ASC))[1] FROM x"


@pytest.mark.parametrize(
    ("cast", "called"),
    [
        ("TRY_CAST(a AS BIGINT)", "CAST(METL_TRY_INTEGER(a, 64) AS BIGINT)"),
        ("TRY_CAST(a AS DECIMAL(12, 2))", "CAST(METL_TRY_DECIMAL(a, 12, 2) AS DECIMAL(12, 2))"),
        ("TRY_CAST(TRY_CAST(a AS DATE) AS VARCHAR)", "METL_TEXT(METL_TRY_DATE(a))"),
        ("CAST(a AS VARCHAR)", "METL_TEXT(a)"),
        ("CAST('a' AS VARCHAR)", "CAST('a' AS TEXT)"),
    ],
)
def test_casts_that_may_fail_are_calls(cast: str, called: str) -> None:
    assert postgres(f"SELECT {cast}") == f"SELECT {called}"


def test_lists_and_documents_are_those_of_postgresql() -> None:
    contains = postgres("SELECT LIST_CONTAINS(COALESCE(absent, []), 'x')")
    assert contains == "SELECT ('x' = ANY(COALESCE(absent, CAST(ARRAY[] AS TEXT[]))))"
    assert (
        postgres("SELECT report ->> '$.messages'")
        == "SELECT JSONB_EXTRACT_PATH_TEXT(CAST(report AS JSONB), 'messages')"
    )


def test_people_read_what_runs() -> None:
    made = Step("", 'CREATE OR REPLACE TEMPORARY TABLE "t" AS SELECT 1').readable("postgres")
    assert " ".join(made.split()) == 'CREATE TEMPORARY TABLE "t" ON COMMIT DROP AS SELECT 1'
    assert "METL_UPPER" in Step("", "SELECT UPPER(a) FROM t").readable("postgres").upper()


def test_rows_that_are_to_lie_near_each_other_are_put_in_order_where_that_decides_where_they_lie() -> None:
    step = Step("Append", "INSERT INTO t (a) SELECT a FROM u", near=("a",))
    assert step.sql("duckdb") == step.statement
    order = 'ORDER BY HASHTEXT("a") & 65535, HASHTEXT("a")'
    assert step.sql("postgres") == f"{step.statement} {order}"
    assert " ".join(step.readable("postgres").split()).endswith(f"FROM u {order}")


def test_what_is_grouped_by_one_number_of_several_values_is_grouped_by_these() -> None:
    assert postgres("SELECT 1 FROM t GROUP BY HASH(a, b)") == "SELECT 1 FROM t GROUP BY (a, b)"


def test_rows_that_change_later_are_given_room_where_a_changed_row_is_written_anew() -> None:
    step = Step("Make", 'CREATE TABLE "t" ("a" INT)', is_changed=True)
    assert step.sql("duckdb") == step.statement
    assert step.sql("postgres") == f"{step.statement} WITH (fillfactor=85)"


def test_rows_are_counted_where_their_places_are_not_known() -> None:
    assert (
        postgres(f"SELECT 5 + {row_place('t', 'v')} FROM t AS v") == "SELECT 5 + (ROW_NUMBER() OVER () - 1) FROM t AS v"
    )
    assert postgres('SELECT v."rowid" - 1 FROM t AS v') == 'SELECT v."rowid" - 1 FROM t AS v'
