from __future__ import annotations

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.sinks import column_code
from metl_gui.engine.spark import class_archive
from metl_gui.engine.spark.java import JavaHome
from metl_gui.engine.staging import place_code
from metl_gui.workbench import doctor
from metl_gui.workbench.doctor import QT_LIBRARIES
from tests.helpers.elf import needed_libraries

C_LIBRARY = {
    "libc.so.6",
    "libm.so.6",
    "libgcc_s.so.1",
    "libresolv.so.2",
    "libpthread.so.0",
    "libdl.so.2",
    "librt.so.1",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
}
OUR_PARTS = ("Core", "Gui", "Widgets", "DBus", "Network", "OpenGL", "OpenGLWidgets", "Svg", "Test", "XcbQpa")
OUR_PLUGINS = (
    "platforms/libqxcb.so",
    "platforms/libqoffscreen.so",
    "xcbglintegrations/*.so",
    "imageformats/libqsvg.so",
)


def parts_of_qt() -> list[Path]:
    qt = Path(str(metadata.distribution("PySide6-Essentials").locate_file("PySide6/Qt")))
    libraries = [qt / f"lib/libQt6{part}.so.6" for part in OUR_PARTS]
    return libraries + [path for pattern in OUR_PLUGINS for path in (qt / "plugins").glob(pattern)]


def test_the_list_of_libraries_is_what_the_installed_qt_asks_for() -> None:
    parts = parts_of_qt()
    assert all(part.is_file() for part in parts)
    asked = {name for part in parts for name in needed_libraries(part)}
    foreign = {name for name in asked if not name.startswith(("libQt6", "libicu"))} - C_LIBRARY
    assert foreign == set(QT_LIBRARIES)


def test_a_library_that_the_loader_does_not_find_is_named_with_its_package() -> None:
    check = doctor.check_libraries({"libc.so.6": "libc6", "libmetl-has-no-such.so.9": "libnone9"})
    assert not check.ok
    assert check.found == "missing libmetl-has-no-such.so.9"
    assert check.packages == ("libnone9",)


def test_an_old_python_is_refused_and_a_new_one_taken() -> None:
    assert not doctor.check_python((3, 10, 12)).ok
    assert doctor.check_python((3, 11, 0)).ok


@pytest.mark.parametrize(("first", "below", "ok"), [("0", "99", True), ("99", "100", False), ("0", "0.1", False)])
def test_a_package_is_good_only_within_its_versions(first: str, below: str, ok: bool) -> None:
    check = doctor.check_package("Spark", "pyspark", first, below, "It maps.")
    assert check.ok is ok
    assert bool(check.command) is not ok


def test_a_package_that_is_not_installed_comes_with_the_line_that_installs_it() -> None:
    check = doctor.check_package("Nothing", "metl-has-no-such", "1", "2", "It is not.")
    assert (check.ok, check.found) == (False, "not installed")
    assert check.command.endswith("-m pip install 'metl-has-no-such>=1,<2'")


def test_spark_is_found_without_loading_it() -> None:
    script = "import sys; from metl_gui.workbench.doctor import examine; examine(); print('pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_missing_java_names_the_packages_that_bring_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("METL_JVM_FOLDER", str(tmp_path))
    check = doctor.check_java()
    assert not check.ok
    assert "JAVA_HOME" in check.hint
    assert check.packages == ("openjdk-17-jre-headless|openjdk-21-jre-headless|default-jre-headless",)


def test_no_font_is_a_finding_and_one_font_is_enough(tmp_path: Path) -> None:
    assert doctor.check_fonts([tmp_path, tmp_path / "absent"]).packages == ("fonts-dejavu-core",)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "letters.ttf").touch()
    assert doctor.check_fonts([tmp_path]).ok


def test_the_json_document_has_the_promised_keys_and_survives_a_round_trip() -> None:
    document = json.loads(json.dumps(doctor.examine().as_json()))
    assert all(set(check) == {"name", "ok", "found", "hint", "command", "needed"} for check in document["checks"])
    assert {check["name"] for check in document["checks"]} >= {"Python", "Java", "Spark", "System libraries for Qt"}


def test_nothing_is_run_when_nothing_that_packages_mend_is_missing() -> None:
    whole = doctor.Examination((doctor.Check("Python", True, "3.11"), doctor.Check("Other", False, "none")))
    said: list[str] = []
    assert doctor.mend(whole, said.append) is whole
    assert said == []


@pytest.fixture
def fake_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Programs named as apt's that note their arguments, first on the PATH of a root."""
    for name in ("apt-get", "apt-cache"):
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/calls\ncase "$*" in *17*) exit 1;; esac\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    return tmp_path / "calls"


def test_as_root_the_lists_are_updated_and_the_offered_packages_installed_at_once(fake_root: Path) -> None:
    broken = doctor.Examination(
        (
            doctor.Check("Java", False, "none", packages=("openjdk-17-jre-headless|openjdk-21-jre-headless",)),
            doctor.Check("Libraries", False, "missing", packages=("libegl1", "libgl1")),
        )
    )
    said: list[str] = []
    assert doctor.mend(broken, said.append).checks != broken.checks
    calls = fake_root.read_text().splitlines()
    assert calls[0] == "apt-get update"
    assert calls[-1] == "apt-get install -y --no-install-recommends openjdk-21-jre-headless libegl1 libgl1"
    assert said[0] == "apt-get update"


def test_nobody_but_root_gets_more_than_the_line_to_run(fake_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr(doctor, "check_java", lambda: doctor.Check("Java", False, "none", packages=("openjdk-17|b",)))
    examination = doctor.examine()
    assert doctor.mend(examination, print) is examination
    assert not fake_root.exists()
    java = next(check for check in examination.checks if check.name == "Java")
    assert java.command == "sudo apt-get update && sudo apt-get install -y openjdk-17"


def test_machine_code_is_made_once_and_its_absence_is_no_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(build.folder.cache_clear)
    monkeypatch.setenv("METL_KERNEL_CACHE", str(tmp_path / "cache"))
    build.folder.cache_clear()
    said: list[str] = []
    before = doctor.check_machine_code()
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: _made())

    assert doctor.make_machine_code(said.append)
    assert not doctor.make_machine_code(said.append)
    assert (before.ok, doctor.check_machine_code().found, len(said)) == (True, "made", 1)
    assert before.found != "made"
    _left()[-1].unlink()
    in_part = doctor.check_machine_code()
    assert (in_part.ok, in_part.found) == (True, "made, but not yet for tables: the first large one has it made")
    assert doctor.make_machine_code(said.append)
    assert doctor.check_machine_code().found == "made"


def test_machine_code_that_is_being_made_already_is_waited_for_and_not_made_twice(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(build.folder.cache_clear)
    monkeypatch.setenv("METL_KERNEL_CACHE", str(tmp_path / "cache"))
    build.folder.cache_clear()
    late = "import pathlib, sys, time; time.sleep(0.2); [pathlib.Path(path).touch() for path in sys.argv[1:]]"
    said: list[str] = []

    assert doctor.make_machine_code(said.append, subprocess.Popen([sys.executable, "-c", late, *map(str, _left())]))
    assert (doctor.check_machine_code().found, said) == ("made", [])


def _left() -> list[Path]:
    """Return what the compiler leaves when it is through with the kernel, and with each code for rows."""
    folder = build.folder()
    marks = [source.mark for source in (column_code.SOURCE, place_code.SOURCE)]
    assert folder is not None
    return [folder / "ready", *(mark for mark in marks if mark is not None)]


def _made() -> subprocess.CompletedProcess[bytes]:
    for path in _left():
        path.touch()
    return subprocess.CompletedProcess([], 0)


def test_spark_classes_are_archived_once_and_their_absence_is_no_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("METL_JAVA_CLASSES", str(tmp_path / "cache"))
    home = JavaHome(tmp_path, 17)
    monkeypatch.setattr(doctor, "find_java", lambda: home)
    said: list[str] = []
    before = doctor.check_class_archive()
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: _archived(home))

    assert doctor.make_class_archive(said.append)
    assert not doctor.make_class_archive(said.append)
    assert (before.ok, doctor.check_class_archive().found, len(said)) == (True, "made", 1)
    assert before.found != "made"


def _archived(java: JavaHome) -> subprocess.CompletedProcess[bytes]:
    """Leave what Java leaves when it is through."""
    folder = class_archive.archive_folder()
    folder.mkdir(parents=True, mode=0o700)
    (folder / class_archive.archive_name(class_archive.archive_key(java), 0)).touch()
    return subprocess.CompletedProcess([], 0)
