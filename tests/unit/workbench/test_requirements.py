"""What the live demo needs: told in a sentence each, and missing things kept apart from what can wait."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from metl_gui.cli.main import main
from metl_gui.errors import RunCancelled, SetupError
from metl_gui.workbench.components import postgres, requirements
from metl_gui.workbench.components.guard import stat_of
from metl_gui.workbench.components.jars import Artifact, JarSet, fetch
from metl_gui.workbench.components.kafka import KAFKA_JARS
from metl_gui.workbench.doctor import Examination
from metl_gui.workbench.progress import Progress, Watch

_SET = JarSet("little", "a little program", (Artifact("org.example", "little", "1"),), megabytes=3)

_MAVEN = """#!/bin/sh
printf 'Progress (2): 0.5/1.6 MB | 600/700 kB\\r'
{body}
"""


@pytest.fixture
def bare_computer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A computer with an empty cache, no Maven and no PostgreSQL; returns the only folder on its PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(postgres, "_DEBIAN", tmp_path / "nowhere")
    return programs


def _install_maven(programs: Path, body: str) -> None:
    program = programs / "mvn"
    program.write_text(_MAVEN.format(body=body))
    program.chmod(0o755)


@pytest.mark.usefixtures("bare_computer")
def test_a_computer_without_maven_and_postgresql_is_told_what_to_install_and_what_can_wait(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["doctor", "--live"]) == 1
    said = capsys.readouterr().out
    assert "MISSING  PostgreSQL: no server programs" in said
    assert "MISSING  Maven: not on PATH" in said
    assert "not yet  Jars of Kafka, Connect and Debezium: not fetched yet" in said
    assert "not yet  Jars of the Apicurio registry" in said
    assert "Maven: It fetches the jars of Kafka and Debezium, once. Install it, with mvn on PATH." in said


@pytest.mark.usefixtures("bare_computer")
def test_the_live_demo_says_before_it_starts_anything_what_is_missing_and_the_way_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["demo", "--live", "--no-window"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "The live demo needs what is not here: PostgreSQL, Maven." in said.err
    assert "Install its server, with initdb and postgres on PATH." in said.err
    assert "hint: Run metl doctor --live --fix" in said.err


def test_what_can_wait_does_not_fail_an_examination(bare_computer: Path) -> None:
    later = requirements.check_jars(KAFKA_JARS, is_needed=True)
    assert (later.ok, later.is_needed) == (False, False)
    assert Examination((later,)).ok
    assert Examination((later,)).missing == (later,)
    assert not Examination((requirements.check_maven(),)).ok
    _install_maven(bare_computer, "exit 1")
    assert requirements.check_maven().ok


def test_full_disks_and_little_memory_are_told_in_megabytes(tmp_path: Path) -> None:
    assert not requirements.check_space(1 << 40).ok
    facts = tmp_path / "meminfo"
    facts.write_text("MemTotal: 4000000 kB\nMemAvailable: 1024000 kB\n")
    check = requirements.check_memory(facts)
    assert (check.ok, check.found) == (False, "only 1,000 MB")
    facts.write_text("nothing of the kind\n")
    assert requirements.check_memory(facts).ok


def test_another_system_is_named() -> None:
    assert not requirements.check_system("darwin").ok


def test_fetching_without_maven_names_it_and_the_way_out(bare_computer: Path) -> None:
    with pytest.raises(SetupError, match=r"Maven is missing.*metl doctor --live --fix"):
        fetch(_SET)
    _install_maven(bare_computer, "echo '[ERROR] Could not transfer artifact org.example:little:pom:1'; exit 1")
    with pytest.raises(SetupError, match=r"cannot be fetched.*Could not transfer artifact.*settings\.xml"):
        fetch(_SET)
    assert not _SET.is_fetched


def test_fetching_tells_how_far_it_is_and_keeps_only_what_came_whole(bare_computer: Path) -> None:
    told: list[Progress] = []
    arrived = "Downloaded from central: https://example.com/org/little-1.jar (1.6 MB at 2 MB/s)"
    keep = 'for word in "$@"; do case $word in -DoutputDirectory=*) : > "${word#*=}/little-1.jar";; esac; done'
    _install_maven(bare_computer, f"echo; echo '{arrived}'; {keep}")
    assert [path.name for path in fetch(_SET, Watch(told.append)).iterdir()] == ["little-1.jar"]
    assert {progress.text for progress in told} == {"Fetching a little program, once: megabytes"}
    assert {(1, 3), (2, 3)} <= {(progress.done, progress.total) for progress in told}


def test_a_fetch_that_is_cancelled_ends_maven_with_all_it_started_and_leaves_nothing(
    bare_computer: Path, tmp_path: Path
) -> None:
    number = tmp_path / "child"
    _install_maven(bare_computer, f"/bin/sleep 600 & echo $! > {number}; wait")
    with pytest.raises(RunCancelled):
        fetch(_SET, Watch(is_cancelled=lambda: number.is_file() and number.read_text().endswith("\n")))
    child, end = int(number.read_text()), time.monotonic() + 20
    while stat_of(child):
        assert time.monotonic() < end
        time.sleep(0.02)
    assert [path.suffix for path in _SET.folder.parent.iterdir()] == [".lock"]


def test_looking_loads_neither_kafka_nor_spark() -> None:
    script = (
        "import sys; from metl_gui.workbench.components.requirements import examine_live; examine_live();"
        "print({'pyspark', 'confluent_kafka'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.strip() == "set()"
