from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from metl_gui import packaged
from metl_gui.cli.main import main
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.workbench.demo.sample import SampleFolder, build_project
from tests.helpers.spark_fixtures import commands_on

METL = [sys.executable, "-m", "metl_gui.cli.main"]
HOSTILE = packaged.sample_projects() / "fx" / "cdc" / "hostile.jsonl"
Said = tuple[int, Any, str]
Metl = Callable[..., Said]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The mapped sample, built once; a run changes none of its states."""
    folder = tmp_path_factory.mktemp("sample") / "fx"
    folder.mkdir()
    for part in ("cdm", "schemas", "mapping.csv"):
        (folder / part).symlink_to(packaged.sample_projects() / "fx" / part)
    sample = SampleFolder(folder)
    build_project(sample).close()
    return sample.project


@pytest.fixture
def metl(capsys: pytest.CaptureFixture[str]) -> Metl:
    """A command in this process, on the Spark that is there."""

    def run(*arguments: object) -> Said:
        code = main([*map(str, arguments), "--json"])
        said = capsys.readouterr()
        return code, json.loads(said.out), said.err

    return run


@pytest.fixture
def on_one_spark(spark: SparkProcess) -> Iterator[None]:
    with commands_on(spark):
        yield


def test_a_strict_run_over_hostile_lines_ends_with_3_and_its_counts_are_those_on_disk(
    project: Path, tmp_path: Path
) -> None:
    """The whole of it in a process of its own, with a Spark of its own."""
    places = ("--sink", tmp_path / "out", "--errors", tmp_path / "errors")
    command: list[str | Path] = [*METL, "run", project, "--source", HOSTILE, *places, "--strict", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    report, said = json.loads(done.stdout), done.stderr
    assert done.returncode == 3, said
    assert report["set_aside"] > 0
    assert report["read"] == report["mapped"] + report["filtered"] + report["set_aside"] + report["skipped"]
    written = [line for path in (tmp_path / "out").rglob("*.jsonl") for line in path.read_text().splitlines()]
    assert len(written) == report["messages_out"] == sum(report["by_entity"].values())
    stored = list((tmp_path / "errors").rglob("*.jsonl"))
    kept = [line for path in stored for line in path.read_text().splitlines()]
    assert len(kept) == report["set_aside"]
    assert "Waiting for Spark" in said


@pytest.mark.usefixtures("on_one_spark")
def test_without_strict_the_same_run_ends_with_0(metl: Metl, project: Path) -> None:
    code, report, said = metl("run", project, "--source", HOSTILE, "--sink", "noop")
    assert code == 0, said
    assert report["set_aside"] > 0


@pytest.mark.parametrize(
    "wrong",
    [
        ["--source", "{tmp}/absent", "--sink", "noop"],
        ["--source", "{tmp}", "--sink", "noop", "--mode", "production", "--state", "0"],
    ],
    ids=["no such source", "production of a state that nobody published"],
)
def test_a_run_that_cannot_start_ends_with_1_and_a_hint(
    metl: Metl, project: Path, tmp_path: Path, wrong: list[str]
) -> None:
    code, document, said = metl("run", project, *(text.format(tmp=tmp_path) for text in wrong))
    assert code == 1
    assert document["error"]["hint"]
    assert "Traceback" not in said


@pytest.mark.usefixtures("on_one_spark")
def test_records_of_an_unknown_version_are_mapped_by_review_and_replay_and_only_once(
    metl: Metl, project: Path, tmp_path: Path
) -> None:
    def done(*arguments: object) -> Any:
        code, document, said = metl(*arguments)
        assert code == 0, said
        return document

    own = tmp_path / "own.metl"
    own.write_bytes(project.read_bytes())
    errors = tmp_path / "errors"
    source = HOSTILE.parent / "payments.jsonl"
    first = done("run", own, "--source", source, "--sink", tmp_path / "out", "--errors", errors)
    waiting = first["by_reason"]["unknown_version"]
    assert [task["records"] for task in first["version_tasks"]] == [waiting]
    listed = done("review", own, "--list")["version_tasks"]
    (task,) = [task for task in listed if task["schema"] == "fx.payments.orders"]
    assert (task["records"], task["errors"]) == (waiting, [str(errors)])
    assert done("review", own, "--add-version", task["id"])["needs_review"] == 2
    again = done("replay", own, "--errors", errors, "--sink", tmp_path / "again")
    assert (again["read"], again["mapped"], again["set_aside"]) == (waiting, waiting, 0)
    assert first["read"] == first["mapped"] + first["filtered"] + again["mapped"] + first["skipped"]
    lines = [line for part in (tmp_path / "again").rglob("*.jsonl") for line in part.read_text().splitlines()]
    assert len(lines) == again["messages_out"]
    assert all(json.loads(line)["replayed"] is True for line in lines)
    assert done("replay", own, "--errors", errors, "--sink", tmp_path / "more")["read"] == 0
    assert not (tmp_path / "more").exists()


def test_an_interrupted_run_ends_with_130_and_leaves_no_outputs(project: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    command = [*METL, "run", str(project), "--source", str(HOSTILE.parent), "--sink", str(target)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if "Waiting for Spark" in line:
                break
        os.kill(running.pid, signal.SIGINT)
        running.stderr.read()
    assert running.returncode == 130
    assert not target.exists() or not any(target.rglob("*.jsonl"))
