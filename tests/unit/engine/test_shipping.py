"""What travels to executors, and how it is unpacked there."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.spark.archive import shipped_archive
from metl_gui.engine.spark.archive_entrance import KERNELS, unpacked
from metl_gui.errors import SetupError

_LOOK = (
    "import sys; sys.path.insert(0, {archive!r}); import metl_gui.engine.tasks.task as task, metl_gui;"
    "print(metl_gui.__path__[0]); print(task.__file__); print(sorted(sys.modules))"
)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shipped_archive(tmp_path_factory.mktemp("shipped"))


def _imported(archive: Path, temporary: Path) -> list[str]:
    """Import the package from the archive in a process that cannot find it elsewhere."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    code = _LOOK.format(archive=str(archive))
    # Without the site module nothing leads to the installed package; what it needs besides is named.
    others = f"import sys; sys.path.extend({[p for p in sys.path if 'site-packages' in p]!r}); "
    return subprocess.run(
        [sys.executable, "-S", "-c", others + code],
        env=known | {"TMPDIR": str(temporary)},
        cwd=temporary,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()


def test_the_same_program_makes_the_same_archive_and_makes_it_once(archive: Path, tmp_path: Path) -> None:
    other = shipped_archive(tmp_path)
    assert other.name == archive.name
    assert other.read_bytes() == archive.read_bytes()
    before = other.stat().st_ino
    assert shipped_archive(tmp_path).stat().st_ino == before


def test_only_what_tasks_need_travels(archive: Path) -> None:
    with zipfile.ZipFile(archive) as packed:
        names = packed.namelist()
    assert "metl_gui/engine/tasks/task.py" in names
    rooms = {name.split("/")[1] for name in names if name.startswith("metl_gui/")}
    assert rooms == {
        "__init__.py",
        "errors.py",
        "file_locks.py",
        "own_files.py",
        "values.py",
        "core",
        "formats",
        "engine",
    }
    assert {name.split("/")[0] for name in names} <= {"metl_gui", KERNELS}


def test_modules_are_imported_from_a_folder_that_only_its_owner_can_write(archive: Path, tmp_path: Path) -> None:
    package, module, _ = _imported(archive, tmp_path)
    folder = Path(package).parent
    assert folder.parent == tmp_path
    assert Path(module).is_relative_to(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]
    kept = Path(module).stat().st_ino
    assert _imported(archive, tmp_path)[:2] == [package, module]
    assert Path(module).stat().st_ino == kept


def test_nothing_of_the_window_or_the_store_is_loaded_with_a_task(archive: Path, tmp_path: Path) -> None:
    loaded = _imported(archive, tmp_path)[2]
    assert "metl_gui.engine.tasks.task" in loaded
    for other in ("PySide6", "sqlite3", "metl_gui.workbench", "metl_gui.ui"):
        assert f"'{other}'" not in loaded


def test_a_folder_that_others_may_write_is_not_trusted_and_the_archive_does(archive: Path, tmp_path: Path) -> None:
    content = archive.stem.removeprefix("metl-")
    planted = tmp_path / f"metl-shipped-{os.getuid()}-{content}"
    planted.mkdir(mode=0o777)
    planted.chmod(0o777)
    (planted / "metl_gui").mkdir()
    (planted / "metl_gui" / "errors.py").write_text("raise SystemExit('planted')")
    package, module, _ = _imported(archive, tmp_path)
    assert package.startswith(str(archive))
    assert module.startswith(str(archive))


def test_nothing_is_unpacked_for_good_where_others_can_swap_folders_and_the_archive_does(
    archive: Path, tmp_path: Path
) -> None:
    temporary = tmp_path / "open"
    temporary.mkdir()
    temporary.chmod(0o777)
    package, module, _ = _imported(archive, temporary)
    assert package.startswith(str(archive))
    assert module.startswith(str(archive))


def test_an_archive_that_others_can_swap_never_travels(tmp_path: Path) -> None:
    theirs = tmp_path / "open"
    theirs.mkdir()
    theirs.chmod(0o777)
    with pytest.raises(SetupError, match="Others can write"):
        shipped_archive(theirs)
    assert shipped_archive(theirs, otherwise=tmp_path / "ours").parent == tmp_path / "ours"


def test_where_nothing_can_be_unpacked_the_archive_itself_does(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    assert unpacked(str(tmp_path / "file"), "0" * 16) is None


def test_machine_code_travels_to_computers_of_the_same_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tmp_path / "abc"
    made.mkdir()
    for name in ("ready", "matching.index.nbi", "building"):
        (made / name).write_bytes(name.encode())
    monkeypatch.setattr(build, "is_possible", lambda: True)
    monkeypatch.setattr(build, "folder", lambda: made)
    with zipfile.ZipFile(shipped_archive(tmp_path / "kept")) as packed:
        sent = {name.removeprefix(f"{KERNELS}/abc/") for name in packed.namelist() if name.startswith(KERNELS)}
    assert sent == {"ready", "matching.index.nbi"}
