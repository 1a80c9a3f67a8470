"""What ends a load, and what is left: killed processes, files that others hold, full disks, what is no warehouse."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.databases.target import TargetError
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.target_model import Owner
from tests.helpers import documents
from tests.helpers.small_disks import fill, small_disk_in
from tests.unit.warehouse.worlds import (
    dimension_rows,
    endless_batch,
    expected_dimension,
    expected_visits,
    model_of,
    part,
    person_dimension,
    visit_fact,
    visit_rows,
)

OWNER = Owner(project="world", mode="test")


def loading(folder: Path, first: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.unit.warehouse.loading_process", str(folder), str(first)]
    return subprocess.Popen(command, cwd=documents.ROOT, stdout=subprocess.PIPE, text=True)


def killed_after(process: subprocess.Popen[str], lines: int) -> None:
    """Kill a loading process once it has told some lines."""
    assert process.stdout is not None
    with process.stdout as told:
        for _ in range(lines):
            assert told.readline()
        process.send_signal(signal.SIGKILL)
    process.wait()


def test_a_load_whose_process_is_killed_leaves_nothing_and_is_done_again(tmp_path: Path) -> None:
    chance, first = random.Random(5), 0
    _, tables = model_of(person_dimension(), visit_fact())
    for _ in range(4):
        killed_after(loading(tmp_path, first), chance.randrange(150, 420))
        with DuckDb(tmp_path / "w.duckdb") as target:
            loads = (
                target.rows("SELECT load, report IS NOT NULL FROM metl_loads") if target.has_table("metl_loads") else []
            )
            assert all(is_done for _, is_done in loads)
            numbers = sorted(int(load.removeprefix("load ")) for load, _ in loads)
            assert numbers == list(range(len(numbers)))
            # Again from the last one that stood, which changes nothing the second time.
            first = max(len(numbers) - 1, 0)
            if numbers:
                persons, visits = ([m for n in numbers for m in endless_batch(n)[side]] for side in (0, 1))
                facts, needed, before = expected_visits(visit_fact(), person_dimension(), visits, persons)
                assert visit_rows(target) == facts
                assert dimension_rows(target) == expected_dimension(person_dimension(), persons, needed, before)
                assert audit(target, tables, OWNER) == ()
    assert first > 0


def test_a_file_that_another_process_holds_is_named_with_the_process(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    code = f"import duckdb, sys; held = duckdb.connect({str(path)!r}); print('held', flush=True); sys.stdin.read()"
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(TargetError, match=rf"{holder.pid}.*w\.duckdb"):
        DuckDb(path)
    holder.communicate()


def test_a_file_that_is_no_warehouse_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database\n" * 1000)
    with pytest.raises(TargetError, match="notes"):
        DuckDb(path)
    assert path.read_text() == "not a database\n" * 1000
    with pytest.raises(TargetError, match="no folder"):
        DuckDb(tmp_path / "nowhere" / "w.duckdb")


@pytest.mark.parametrize(
    ("owner", "told"),
    [
        (Owner(project="other", mode="test"), "another project"),
        (Owner(project="world", mode="production"), "takes test runs"),
    ],
)
def test_a_target_of_somebody_else_is_refused(tmp_path: Path, owner: Owner, told: str) -> None:
    _, tables = model_of(person_dimension(), visit_fact())
    with DuckDb(tmp_path / "w.duckdb") as target:
        load_parts(target, tables, [part(tmp_path, "person", endless_batch(1)[0])], "load 1", OWNER)
        with pytest.raises(TargetError, match=told):
            load_parts(target, tables, [part(tmp_path, "person", endless_batch(2)[0])], "load 2", owner)
        assert target.rows("SELECT load FROM metl_loads") == [("load 1",)]


def test_what_a_newer_program_made_is_refused(tmp_path: Path) -> None:
    _, tables = model_of(person_dimension(), visit_fact())
    with DuckDb(tmp_path / "w.duckdb") as target:
        load_parts(target, tables, [part(tmp_path, "person", endless_batch(1)[0])], "load 1", OWNER)
        target.run("UPDATE metl_target SET value = '99' WHERE name = 'format'")
        with pytest.raises(TargetError, match="newer program"):
            load_parts(target, tables, [], "load 2", OWNER)


def test_a_full_disk_ends_a_load_that_is_done_again_when_there_is_room(tmp_path: Path) -> None:
    _, tables = model_of(person_dimension(), visit_fact())
    parts = [part(tmp_path, "person", [m for n in range(30) for m in endless_batch(n)[0]])]
    with small_disk_in(tmp_path / "disk", "16m") as disk:
        with DuckDb(disk / "w.duckdb") as target:
            load_parts(target, tables, parts[:1], "load 1", OWNER)
        filler = fill(disk)
        more = [part(tmp_path, "person", [m for n in range(30, 20000) for m in endless_batch(n)[0]])]
        with pytest.raises(TargetError) as caught, DuckDb(disk / "w.duckdb") as target:
            load_parts(target, tables, more, "load 2", OWNER)
        assert "room" in caught.value.hint
        filler.unlink()
        with DuckDb(disk / "w.duckdb") as target:
            assert target.rows("SELECT load FROM metl_loads") == [("load 1",)]
            persons = [m for n in range(30) for m in endless_batch(n)[0]]
            assert dimension_rows(target) == expected_dimension(person_dimension(), persons)


def test_other_tables_of_the_file_stay(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        connection.execute("CREATE TABLE notes AS SELECT 1 AS number")
    _, tables = model_of(person_dimension(), visit_fact())
    with DuckDb(tmp_path / "w.duckdb") as target:
        load_parts(target, tables, [part(tmp_path, "person", endless_batch(1)[0])], "load 1", OWNER)
        assert target.rows("SELECT number FROM notes") == [(1,)]
