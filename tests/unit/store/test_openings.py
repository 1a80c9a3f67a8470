"""Files that are not, or not any more, what they are taken for: each is refused with a sentence and a hint."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from metl_gui.errors import ProjectError
from metl_gui.store import tables
from metl_gui.store.project_file import ProjectFile
from tests.unit.store.editing import Editing

NOBODY = 65534


def refusal(path: Path, for_editing: bool = True) -> str:
    """Open a file that must be refused; what people are told."""
    with pytest.raises(ProjectError) as caught, ProjectFile.open(path, for_editing) as project:
        project.document()
    assert caught.value.title.endswith(".")
    assert caught.value.hint
    return str(caught.value)


def refusal_or_none(path: Path) -> str | None:
    """Read all of a file that may be damaged; what people are told if it is."""
    try:
        with ProjectFile.open(path, for_editing=False) as project:
            project.document()
            project.history()
    except ProjectError as error:
        return str(error) if error.hint else ""
    return None


@contextmanager
def powerless() -> Iterator[None]:
    """Go on as a user who owns nothing, where we are root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users reach."""
    with tempfile.TemporaryDirectory(prefix="metl-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


def saved(folder: Path) -> Path:
    path = folder / "fx.metl"
    with ProjectFile.create(path, "ada") as project:
        Editing(project).small_world()
    return path


@pytest.mark.parametrize("for_editing", [True, False])
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is not a METL project file. It is empty"),
        (b"schema,schema_version\n" * 20, "is not a METL project file. It does not begin like one"),
        (b"SQLite", "is damaged. It ends after 6 bytes"),
        (b"SQLite format 3\0" + b"\xff" * 2000, "database of another program"),
    ],
)
def test_a_file_of_another_kind_is_refused(path: Path, content: bytes, told: str, for_editing: bool) -> None:
    path.write_bytes(content)
    assert told in refusal(path, for_editing)
    assert path.read_bytes() == content


def test_a_database_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE project (id)")
    connection.close()
    before = path.read_bytes()
    assert "another program" in refusal(path)
    assert path.read_bytes() == before


def test_a_missing_file_a_folder_and_a_path_under_a_file_are_named(tmp_path: Path) -> None:
    assert "There is no project file none.metl" in refusal(tmp_path / "none.metl")
    assert "It is a folder" in refusal(tmp_path)
    (tmp_path / "file").write_text("x")
    assert "There is no project file" in refusal(tmp_path / "file" / "fx.metl")


def test_a_newer_file_is_refused_with_both_versions(path: Path) -> None:
    ProjectFile.create(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=99")
    connection.close()
    before = path.read_bytes()
    for for_editing in (True, False):
        told = refusal(path, for_editing)
        assert "newer version" in told
        assert f"The file has version 99; this program knows versions up to {tables.VERSION}" in told
    assert path.read_bytes() == before


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_truncated_file_is_called_damaged(path: Path, share: float) -> None:
    saved(path.parent)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    assert "fx.metl is damaged" in refusal(path)


def test_a_file_overwritten_at_random_is_refused_or_read_but_never_a_crash(path: Path) -> None:
    content = saved(path.parent).read_bytes()
    random = Random(5)
    refused = 0
    for _ in range(60):
        spoiled = bytearray(content)
        start = random.randrange(100, len(spoiled))
        for at in range(start, min(start + random.choice((1, 40, 4000)), len(spoiled))):
            spoiled[at] = random.randrange(256)
        path.write_bytes(bytes(spoiled))
        refused += refusal_or_none(path) is not None
    assert 0 < refused < 60


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE schemas SET aliases = '{'",
        "UPDATE schemas SET settings = '[[1]]'",
        """UPDATE schemas SET ignored = '[5]'""",
        """UPDATE schemas SET ignored = '[{"lineage": 99999999999}]'""",
        """UPDATE schemas SET ignored = '[{"lineage": 0}]'""",
        """UPDATE schemas SET ignored = '[{"lineage": 1}, {"lineage": 1}]'""",
        """UPDATE schemas SET ignored = '[{"lineage": 1, "when_ms": 999999999999999999}]'""",
        "UPDATE versions SET key = '7'",
        "UPDATE blocks SET records = x'00'",
        "UPDATE block_details SET losses = '[{}]' WHERE losses IS NOT NULL",
        "UPDATE dusb SET elements = x'010203'",
        "UPDATE dusb SET elements = x'0909090909090909'",
        "UPDATE dusb SET schema_id = 77",
        "UPDATE versions SET attributes = x'0102030405'",
        "UPDATE blocks SET records = x'01000000000000000000000000000000000000000000000009000000'",
        "UPDATE versions SET attributes = zeroblob(20)",
        "UPDATE versions SET attributes = x''",
        "UPDATE versions SET schema_id = 5000000000",
        "UPDATE people SET id = id + 7",
        "UPDATE people SET id = id + 1099511627776",
        "UPDATE types SET id = id + 1099511627776",
        "UPDATE texts SET id = id + 1099511627776",
        "UPDATE texts SET id = -9223372036854775808 WHERE id = 1",
        "UPDATE next_ids SET version = -9223372036854775808",
        "UPDATE next_ids SET lineage = 4294967296",
        "UPDATE versions SET attributes = CAST(replace(hex(attributes), '01000000', 'FFFFFF7F') AS BLOB)",
        "DELETE FROM texts",
        "DELETE FROM types",
        "DELETE FROM people",
        "DELETE FROM versions",
        "DELETE FROM blocks",
        "DELETE FROM project",
        "DELETE FROM next_ids",
        "DROP TABLE edits",
        "DROP TABLE dusb",
    ],
)
def test_parts_that_do_not_fit_together_are_called_damage(path: Path, sql: str) -> None:
    connection = sqlite3.connect(saved(path.parent))
    with connection:
        connection.execute(sql)
    connection.close()
    assert "is damaged" in (refusal_or_none(path) or "read as if it were whole")


def test_a_name_that_is_taken_or_ends_otherwise_is_not_made(path: Path) -> None:
    saved(path.parent)
    before = path.read_bytes()
    with pytest.raises(ProjectError, match="is there already"):
        ProjectFile.create(path)
    assert path.read_bytes() == before
    with pytest.raises(ProjectError, match=r"Call it fx\.metl"):
        ProjectFile.create(path.with_name("fx.db"))
    assert [found.name for found in path.parent.iterdir()] == ["fx.metl"]


def test_a_new_project_in_a_folder_without_access_leaves_nothing(open_folder: Path) -> None:
    open_folder.chmod(0o555)
    with powerless(), pytest.raises(ProjectError, match=r"fx\.metl cannot be opened") as caught:
        ProjectFile.create(open_folder / "fx.metl")
    assert caught.value.hint
    assert list(open_folder.iterdir()) == []


def test_a_new_project_in_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"fx\.metl cannot be opened"):
        ProjectFile.create(tmp_path / "none" / "fx.metl")


def test_a_project_in_a_read_only_folder_is_read_but_not_edited(open_folder: Path) -> None:
    path = saved(open_folder)
    path.chmod(0o444)
    open_folder.chmod(0o555)
    with powerless():
        with ProjectFile.open(path, for_editing=False) as project:
            assert project.document().matrix.ones == 5
            with pytest.raises(ProjectError, match="cannot be written"):
                project.kept.runs.add({"run_id": "r"})
        assert "cannot be written" in refusal(path)
    assert [found.name for found in open_folder.iterdir()] == ["fx.metl"]


def test_a_project_that_may_not_be_read_is_refused(open_folder: Path) -> None:
    path = saved(open_folder)
    path.chmod(0o000)
    with powerless():
        assert "Permission denied" in refusal(path, for_editing=False)


def test_a_project_left_open_by_a_kill_is_read_in_a_read_only_folder_when_its_log_is_empty(open_folder: Path) -> None:
    path = saved(open_folder)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.close()
    path.chmod(0o444)
    open_folder.chmod(0o555)
    with powerless(), ProjectFile.open(path, for_editing=False) as project:
        assert project.document().matrix.ones == 5


def test_a_file_that_another_program_keeps_locked_is_said_to_be_locked(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metl_gui.store.sqlite.connection.WAIT_SECONDS", 0.05)
    saved(path.parent)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    assert "locked by another program" in refusal(path)
    connection.execute("ROLLBACK")
    connection.close()
    with ProjectFile.open(path, for_editing=True) as project:
        assert project.is_for_editing


@pytest.mark.parametrize("name", ["with space & ü.metl", "per%20cent?.metl", "#hash;.metl"])
def test_any_file_name_can_be_used(tmp_path: Path, name: str) -> None:
    with ProjectFile.create(tmp_path / name) as project:
        Editing(project).small_world()
    with ProjectFile.open(tmp_path / name, for_editing=False) as project:
        assert project.state() == 4
    assert [found.name for found in tmp_path.iterdir()] == [name]


def test_a_name_that_no_file_has_leads_to_the_one_that_is_meant_or_to_a_name_that_can_be_made(tmp_path: Path) -> None:
    ProjectFile.create(tmp_path / "fx.metl").close()
    for said in ("fx", "FX.metl", "fx.mtl"):
        assert f"Did you mean {tmp_path / 'fx.metl'}?" in refusal(tmp_path / said)
    assert f"Name {tmp_path / 'fx.metl'}, and the state with --state 12" in refusal(tmp_path / "fx.metl@12")
    wanted = tmp_path / "other.metl"
    assert f"metl new {wanted}" in refusal(tmp_path / "other")
    ProjectFile.create(wanted).close()
