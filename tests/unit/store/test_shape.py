"""A project file has the tables, indexes and views that this program makes, and nothing else is ever read."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from metl_gui.errors import ProjectError
from metl_gui.store import schema_validation, tables
from metl_gui.store.project_file import ProjectFile
from tests.unit.store.contents import parts
from tests.unit.store.editing import Editing
from tests.unit.store.older_files import write_older

TODAY = tables.VERSION
WAYS = [(version, made_in) for version in range(1, TODAY + 1) for made_in in range(1, version + 1)]
ENDLESS = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x"


def spoil(path: Path, *statements: str) -> None:
    """Change a file behind the program's back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        for statement in statements:
            connection.execute(statement)


def contents(path: Path) -> list[object]:
    """Read the history of a file and what it held at every state."""
    with ProjectFile.open(path, for_editing=False) as project:
        return [(edit, parts(project.document(edit.state))) for edit in project.history()]


@pytest.fixture
def saved(path: Path) -> Path:
    with ProjectFile.create(path) as project:
        Editing(project).small_world()
    return path


@pytest.mark.parametrize(("version", "made_in"), WAYS)
def test_a_file_of_every_version_opens_and_holds_what_all_hold_whichever_version_it_was_made_in(
    tmp_path: Path, version: int, made_in: int
) -> None:
    today, older = tmp_path / "today.metl", tmp_path / "older.metl"
    write_older(today, TODAY)
    write_older(older, version, made_in)
    for _ in range(2):  # the second time it is a file of today that was migrated
        found = contents(older)
        assert len(found) == 5
        assert found == contents(today)
    with ProjectFile.open(older, for_editing=True) as project:
        assert Editing(project).redo_newest() == "Add fx.payments version 2"


@pytest.mark.parametrize("version", range(1, TODAY + 1))
def test_the_statements_of_a_version_are_those_that_its_program_made_files_with(path: Path, version: int) -> None:
    write_older(path, version)
    with closing(sqlite3.connect(path)) as connection:
        made = connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql NOT NULL").fetchall()
    told = {name: schema_validation.normal_form(sql) for name, sql in schema_validation.statements_of(version).items()}
    assert told == {name: schema_validation.normal_form(sql) for name, sql in made if name != "sqlite_sequence"}


@pytest.mark.parametrize("for_editing", [True, False])
@pytest.mark.parametrize(
    ("statements", "named"),
    [
        (("ALTER TABLE versions RENAME TO old", f"CREATE VIEW versions AS {ENDLESS} FROM n"), "the view versions"),
        (("CREATE TRIGGER evil AFTER INSERT ON edits BEGIN DELETE FROM edits; END",), "the trigger evil"),
        (("CREATE TABLE more (x)",), "the table more"),
        (("CREATE INDEX more ON versions (abs(id))",), "the index more"),
        (("CREATE VIRTUAL TABLE more USING fts5 (x)",), "the table more"),
        (("ALTER TABLE comments ADD COLUMN more INTEGER AS (abs(id))",), "the table comments"),
        (("ALTER TABLE comments ADD COLUMN more TEXT",), "the table comments"),
        (("DROP VIEW undo_steps", f"CREATE VIEW undo_steps AS {ENDLESS} FROM n"), "the view undo_steps"),
        (("UPDATE sqlite_schema SET sql = replace(sql, 'only = 1', 'only = 2') WHERE name = 'lease'",), "table lease"),
        (("UPDATE sqlite_schema SET sql = replace(sql, '{}', '[]') WHERE name = 'runs'",), "the table runs"),
        (("ANALYZE",), "the table sqlite_stat1"),
        (('CREATE TABLE "/* unclosed \' ""quotes\n" (x)',), "the table /* unclosed ' \"quotes"),
        ((f"CREATE TABLE {'long' * 100} (x)",), f"the table {'long' * 15}..."),
    ],
)
def test_what_this_program_does_not_make_is_refused_by_name(
    saved: Path, statements: tuple[str, ...], named: str, for_editing: bool
) -> None:
    spoil(saved, *statements)
    before = saved.read_bytes()
    with pytest.raises(ProjectError) as caught:
        ProjectFile.open(saved, for_editing)
    assert caught.value.title == "fx.metl holds what METL Workbench does not make."
    assert named in caught.value.text
    assert "backup" in caught.value.hint
    assert saved.read_bytes() == before


@pytest.mark.parametrize("version", range(1, TODAY))
def test_an_older_file_with_something_strange_is_refused_before_it_is_migrated(path: Path, version: int) -> None:
    write_older(path, version)
    spoil(path, "CREATE TRIGGER evil AFTER DELETE ON lease BEGIN DELETE FROM edits; END")
    before = path.read_bytes()
    with pytest.raises(ProjectError, match="the trigger evil"):
        ProjectFile.open(path, for_editing=True)
    assert path.read_bytes() == before
    assert [found.name for found in path.parent.iterdir()] == ["fx.metl"]


def test_a_file_of_one_version_that_says_it_is_of_another_is_refused(path: Path) -> None:
    write_older(path, 3)
    spoil(path, "PRAGMA user_version=6")
    with pytest.raises(ProjectError, match=r"Strange in it: the table attributes, the table blocks, .* and 3 more"):
        ProjectFile.open(path, for_editing=False)


def test_more_strange_things_than_anybody_reads_are_counted(saved: Path) -> None:
    spoil(saved, *(f"CREATE TABLE t{number} (x)" for number in range(9)))
    with pytest.raises(ProjectError, match=r"the table t0, .* the table t4 and 4 more"):
        ProjectFile.open(saved, for_editing=False)


def test_a_table_that_is_missing_is_named(saved: Path) -> None:
    spoil(saved, "DROP TABLE comments", "DROP TABLE types")
    with pytest.raises(ProjectError, match=r"is damaged\. It has no types, types_by_name, comments"):
        ProjectFile.open(saved, for_editing=False)


def test_a_command_refuses_a_view_with_an_endless_query_instead_of_waiting_for_it(saved: Path) -> None:
    spoil(saved, "ALTER TABLE schemas RENAME TO old", f"CREATE VIEW schemas AS {ENDLESS} AS id FROM n")
    command = [sys.executable, "-m", "metl_gui.cli.main", "show", str(saved)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "the view schemas" in done.stderr
