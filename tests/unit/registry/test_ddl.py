"""Renames in DDL statements of the databases that Debezium reads."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.registry.messages.schema_changes import DIALECTS, MAX_LENGTH, ColumnRenamed, Renamed, renames
from tests.helpers.cases import cases

WORDS = (
    "ALTER",
    "TABLE",
    "RENAME",
    "COLUMN",
    "CHANGE",
    "TO",
    "t",
    "a",
    '"b"',
    "`c`",
    "[d]",
    ".",
    ",",
    "(",
    ")",
    ";",
    "'x'",
)


def line(renamed: Renamed) -> str:
    if isinstance(renamed, ColumnRenamed):
        return f"{'.'.join((*renamed.table, renamed.old))} -> {renamed.new}"
    return f"{'.'.join(renamed.old)} -> {'.'.join(renamed.new)}"


@pytest.mark.parametrize("case", cases("ddl"))
def test_a_statement_says_which_names_changed(case: dict[str, Any]) -> None:
    assert [line(found) for found in renames(case["ddl"], case["connector"])] == case["renames"]


@given(st.one_of(st.text(max_size=80), st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)))
def test_no_text_is_refused_and_no_name_is_empty(text: str) -> None:
    for connector in (*DIALECTS, ""):
        for found in renames(f"RENAME {text}", connector):
            parts = (
                (*found.table, found.old, found.new) if isinstance(found, ColumnRenamed) else (*found.old, *found.new)
            )
            assert all(parts)


def test_a_statement_that_fills_a_table_is_not_looked_into() -> None:
    assert renames("ALTER TABLE t RENAME COLUMN a TO b " + " " * MAX_LENGTH) == ()


def test_who_reads_schemas_without_renames_does_not_wait_for_the_grammar() -> None:
    told = (
        "import sys\nfrom metl_gui.registry.files import sources\n"
        "from metl_gui.registry.messages import schema_changes\n"
        "schema_changes.renames('ALTER TABLE t ADD x int', 'mysql')\nprint('sqlglot' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
