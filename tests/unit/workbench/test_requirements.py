"""What the live demo needs: told in a sentence each, and missing things kept apart from what can wait."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import metl_gui
from metl_gui.cli.main import main
from metl_gui.core.progress import Progress, Watch
from metl_gui.errors import RunCancelled, SetupError
from metl_gui.stack import jars, postgres
from metl_gui.stack.apicurio import APICURIO_JARS
from metl_gui.stack.connect import CONVERTER_JARS
from metl_gui.stack.guard import stat_of
from metl_gui.stack.jars import Artifact, JarSet, fetch
from metl_gui.stack.kafka import KAFKA_JARS
from metl_gui.workbench import live
from metl_gui.workbench.doctor import Examination
from metl_gui.workbench.live import JDBC_JARS

_SET = JarSet("little", "a little program", (Artifact("org.example", "little", "1"),), megabytes=3)

_LITTLE = b"little"
_MAVEN = """#!/bin/sh
printf 'Progress (2): 0.5/1.6 MB | 600/700 kB\\r'
{body}
"""


def _link_away(jar: Path) -> None:
    jar.rename(jar.parents[2] / "elsewhere.jar")
    jar.symlink_to(jar.parents[2] / "elsewhere.jar")


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
    later = live.check_jars(KAFKA_JARS, is_needed=True)
    assert (later.ok, later.is_needed) == (False, False)
    assert Examination((later,)).ok
    assert Examination((later,)).missing == (later,)
    assert not Examination((live.check_maven(),)).ok
    _install_maven(bare_computer, "exit 1")
    assert live.check_maven().ok


def test_full_disks_and_little_memory_are_told_in_megabytes(tmp_path: Path) -> None:
    assert not live.check_space(1 << 40).ok
    facts = tmp_path / "meminfo"
    facts.write_text("MemTotal: 4000000 kB\nMemAvailable: 1024000 kB\n")
    check = live.check_memory(facts)
    assert (check.ok, check.found) == (False, "only 1,000 MB")
    facts.write_text("nothing of the kind\n")
    assert live.check_memory(facts).ok


def test_another_system_is_named() -> None:
    assert not live.check_system("darwin").ok


def test_fetching_without_maven_names_it_and_the_way_out(bare_computer: Path) -> None:
    with pytest.raises(SetupError, match=r"Maven is missing.*metl doctor --live --fix"):
        fetch(_SET)
    _install_maven(bare_computer, "echo '[ERROR] Could not transfer artifact org.example:little:pom:1'; exit 1")
    with pytest.raises(SetupError, match=r"cannot be fetched.*Could not transfer artifact.*settings\.xml"):
        fetch(_SET)
    assert not _SET.is_fetched


@pytest.fixture
def little(bare_computer: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The little program with its digest known; returns where it is kept."""
    (bare_computer / "jars.sha256").write_text(f"{hashlib.sha256(_LITTLE).hexdigest()}  little/little-1.jar\n")
    monkeypatch.setattr(jars, "resources", lambda: bare_computer)
    return _SET.folder


def _serve(programs: Path, *names: str, content: bytes = _LITTLE, said: str = "") -> None:
    """Have Maven bring files; what it was asked is in ``asked`` beside it."""
    write = "; ".join(f"printf {content.decode()} > ${{word#*=}}/{name}" for name in names)
    keep = f'for word in "$@"; do case $word in -DoutputDirectory=*) {write};; esac; done'
    _install_maven(programs, f"echo; echo '{said}'; echo $@ >> {programs}/asked; {keep}")


@pytest.mark.parametrize(
    ("names", "content", "named"),
    [
        (["little-1.jar"], b"other", "little-1.jar has the SHA-256"),
        (["little-1.jar", "more.jar"], _LITTLE, "more.jar"),
        (["more.jar"], _LITTLE, "more.jar"),
    ],
    ids=["changed", "added", "another"],
)
def test_jars_that_are_not_those_that_were_tried_are_refused_by_name_and_not_kept(
    bare_computer: Path, little: Path, names: list[str], content: bytes, named: str
) -> None:
    _serve(bare_computer, *names, content=content)
    with pytest.raises(SetupError) as caught:
        fetch(_SET)
    assert named in caught.value.text
    assert not little.exists()


def test_maven_is_told_to_compare_checksums(bare_computer: Path, little: Path) -> None:
    _serve(bare_computer, "little-1.jar")
    assert fetch(_SET) == little
    asked = (bare_computer / "asked").read_text().splitlines()
    assert asked
    assert all("--strict-checksums" in line for line in asked)


def test_a_jar_that_was_changed_in_the_cache_is_refused_by_name(bare_computer: Path, little: Path) -> None:
    _serve(bare_computer, "little-1.jar")
    jar = fetch(_SET) / "little-1.jar"
    before = jar.stat()
    assert fetch(_SET) == little
    jar.write_bytes(bytes(reversed(_LITTLE)))
    os.utime(jar, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(SetupError, match=r"little-1\.jar"):
        fetch(_SET)


@pytest.mark.parametrize("do", [lambda jar: jar.unlink(), lambda jar: (jar.parent / "more.jar").touch(), _link_away])
def test_a_set_in_the_cache_with_more_or_less_in_it_than_was_tried_is_refused(
    bare_computer: Path, little: Path, do: Callable[[Path], object]
) -> None:
    _serve(bare_computer, "little-1.jar")
    fetch(_SET)
    do(little / "little-1.jar")
    with pytest.raises(SetupError, match="not the one that was tried"):
        fetch(_SET)


def test_jars_are_not_loaded_from_where_others_can_put_some(bare_computer: Path, little: Path) -> None:
    _serve(bare_computer, "little-1.jar")
    fetch(_SET)
    little.parent.chmod(0o777)
    with pytest.raises(SetupError, match="Others can write"):
        fetch(_SET)


_SETS = [KAFKA_JARS, APICURIO_JARS, CONVERTER_JARS, JDBC_JARS]


def test_every_set_that_is_made_is_among_those_whose_digests_are_looked_at() -> None:
    text = "".join(path.read_text() for path in Path(metl_gui.__file__).parent.rglob("*.py"))
    assert len(re.findall(r"= JarSet\(", text)) == len(_SETS)


@pytest.mark.parametrize("known", _SETS, ids=lambda known: known.name)
def test_every_artifact_that_is_asked_for_has_a_digest_of_its_version(known: JarSet) -> None:
    files = jars.pinned(known)
    for artifact in known.artifacts:
        classifier = f"-{artifact.classifier}" if artifact.classifier else ""
        assert f"{artifact.name}-{artifact.version}{classifier}.{artifact.kind}" in files
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in files.values())


@pytest.mark.usefixtures("little")
def test_fetching_tells_how_far_it_is_and_keeps_only_what_came_whole(bare_computer: Path) -> None:
    told: list[Progress] = []
    arrived = "Downloaded from central: https://example.com/org/little-1.jar (1.6 MB at 2 MB/s)"
    _serve(bare_computer, "little-1.jar", said=arrived)
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
        "import sys; from metl_gui.workbench.live import examine_live; examine_live();"
        "print({'pyspark', 'confluent_kafka'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.strip() == "set()"
