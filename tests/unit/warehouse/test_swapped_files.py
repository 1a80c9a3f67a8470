"""A DuckDB file that others read is written beside and exchanged, or waited for."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from metl_gui.errors import RunError
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases import duckdb_swap
from metl_gui.warehouse.databases.duckdb_swap import SwappedDuckDb
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.databases.target import TargetError
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.target_model import Owner
from metl_gui.workbench.loads.targets import find_target, swapped
from tests.helpers import documents
from tests.unit.warehouse.worlds import endless_batch, model_of, part, person_dimension, visit_fact

OWNER = Owner(project="world", mode="test")
_READS = """import duckdb, sys
held = duckdb.connect({path!r}, read_only=True)
for _ in sys.stdin:
    print(held.execute("SELECT COUNT(*) FROM visit").fetchone()[0], flush=True)
"""


@contextmanager
def reader(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Read a file in a process that answers each line with the number of facts."""
    command = [sys.executable, "-c", _READS.format(path=str(path))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def facts_seen(process: subprocess.Popen[str]) -> int:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return int(process.stdout.readline())


def load(folder: Path, target: DuckDb, number: int) -> None:
    _, tables = model_of(person_dimension(), visit_fact())
    persons, visits = endless_batch(number)
    parts = [part(folder, "person", persons), part(folder, "visit", visits)]
    load_parts(target, tables, parts, f"load {number}", OWNER)


def test_a_reader_keeps_what_it_opened_while_a_load_exchanges_the_file(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    with SwappedDuckDb(path) as target:
        load(tmp_path, target, 0)
    with reader(path) as process:
        assert facts_seen(process) == 1
        with SwappedDuckDb(path) as target:
            load(tmp_path, target, 1)
            assert target.title == "w.duckdb"
        assert facts_seen(process) == 1
    with DuckDb(path) as target:
        assert target.rows("SELECT COUNT(*) FROM visit") == [(2,)]
        assert audit(target, model_of(person_dimension(), visit_fact())[1], OWNER) == ()
    assert sorted(one.name for one in tmp_path.glob("w.*")) == ["w.duckdb"]


def test_an_exchange_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    with SwappedDuckDb(path) as target:
        load(tmp_path, target, 0)
    before = path.read_bytes()
    with SwappedDuckDb(path) as target, pytest.raises(TargetError), target.transaction():
        target.run("DROP TABLE visit; DROP TABLE no_table")
    assert path.read_bytes() == before
    assert sorted(one.name for one in tmp_path.glob("w.*")) == ["w.duckdb"]


def test_what_a_killed_exchange_left_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    (tmp_path / "w.duckdb.next").write_bytes(b"half a file")
    with SwappedDuckDb(path) as target:
        load(tmp_path, target, 0)
    assert duckdb.connect(str(path), read_only=True).execute("SELECT COUNT(*) FROM visit").fetchall() == [(1,)]


def test_two_exchanges_do_not_lose_each_others_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duckdb_swap, "LOCK_WAIT", 0.2)
    path = tmp_path / "w.duckdb"
    with SwappedDuckDb(path) as target:
        load(tmp_path, target, 0)
        with pytest.raises(TargetError, match="being exchanged"):
            SwappedDuckDb(path)
    with SwappedDuckDb(path), pytest.raises(TargetError):
        DuckDb(path)


def test_changes_that_a_writer_left_beside_the_file_refuse_an_exchange(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    code = f"""import duckdb, os
held = duckdb.connect({str(path)!r})
held.execute("CREATE TABLE t AS SELECT 1 AS x")
held.execute("CHECKPOINT")
held.execute("INSERT INTO t VALUES (2)")
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", code], check=False)
    with pytest.raises(TargetError, match=r"w\.duckdb\.wal"):
        SwappedDuckDb(path)
    with DuckDb(path) as target:
        assert target.rows("SELECT COUNT(*) FROM t") == [(2,)]


def test_a_load_waits_for_a_reader_who_goes(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    with DuckDb(path) as target:
        load(tmp_path, target, 0)
    with reader(path) as process:
        assert facts_seen(process) == 1
        with pytest.raises(TargetError, match=rf"{process.pid}"):
            DuckDb(path)
        assert process.stdin is not None
        threading.Timer(0.5, process.stdin.close).start()
        with DuckDb(path, wait=60.0) as target:
            load(tmp_path, target, 1)


def test_an_address_says_that_the_file_is_exchanged(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    found = find_target(f"duckdb:{path}?swap", "m")
    assert (found.path, found.is_swapped) == (path, True)
    with found.open() as target:
        assert isinstance(target, SwappedDuckDb)
    assert not find_target(f"duckdb:{path}", "m").is_swapped
    assert swapped(f"duckdb:{path}") == swapped(f"duckdb:{path}?swap") == f"duckdb:{path}?swap"
    with pytest.raises(RunError, match="Only a DuckDB file"):
        swapped("@team?schema=fx")


def test_the_new_file_has_the_rights_of_the_old_one_and_stands_where_a_link_leads(tmp_path: Path) -> None:
    path, link = tmp_path / "w.duckdb", tmp_path / "link.duckdb"
    with SwappedDuckDb(path) as target:
        load(tmp_path, target, 0)
    path.chmod(0o640)
    link.symlink_to(path)
    with SwappedDuckDb(link) as target:
        load(tmp_path, target, 1)
        assert (tmp_path / "w.duckdb.next").stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    with DuckDb(path) as target:
        assert target.rows("SELECT COUNT(*) FROM visit") == [(2,)]


def test_an_exchange_for_which_the_disk_is_too_full_is_refused_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    with DuckDb(path) as target:
        target.run("CREATE TABLE t (i BIGINT, s VARCHAR)")
    code = f"""import resource
from pathlib import Path
from metl_gui.warehouse.databases.duckdb_swap import SwappedDuckDb
from metl_gui.warehouse.databases.target import TargetError
target = SwappedDuckDb(Path({str(path)!r}))
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
try:
    with target, target.transaction():
        target.run("INSERT INTO t SELECT i, md5(i::VARCHAR) || md5((i + 1)::VARCHAR) FROM range(4000) AS r(i)")
except TargetError:
    print("refused")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=documents.ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "refused\n"
    with DuckDb(path) as target:
        assert target.rows("SELECT COUNT(*) FROM t") == [(0,)]
    assert sorted(one.name for one in tmp_path.glob("w.*")) == ["w.duckdb"]
