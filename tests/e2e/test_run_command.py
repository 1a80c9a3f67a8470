from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from metl_gui import packaged
from metl_gui.workbench.demo.sample import SampleFolder, build_project

METL = [sys.executable, "-m", "metl_gui.cli.main"]
HOSTILE = packaged.sample_projects() / "fx" / "cdc" / "hostile.jsonl"


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


def metl_run(project: Path, *arguments: object) -> tuple[int, Any, str]:
    command = [*METL, "run", str(project), *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, json.loads(done.stdout), done.stderr


def test_a_strict_run_over_hostile_lines_ends_with_3_and_its_counts_are_those_on_disk(
    project: Path, tmp_path: Path
) -> None:
    code, report, said = metl_run(
        project, "--source", HOSTILE, "--sink", tmp_path / "out", "--errors", tmp_path / "errors", "--strict"
    )
    assert code == 3, said
    assert report["set_aside"] > 0
    assert report["read"] == report["mapped"] + report["filtered"] + report["set_aside"] + report["skipped"]
    written = [line for path in (tmp_path / "out").rglob("*.jsonl") for line in path.read_text().splitlines()]
    assert len(written) == report["messages_out"] == sum(report["by_entity"].values())
    stored = list((tmp_path / "errors").rglob("*.jsonl"))
    kept = [line for path in stored for line in path.read_text().splitlines()]
    assert len(kept) == report["set_aside"]
    assert "Waiting for Spark" in said


def test_without_strict_the_same_run_ends_with_0(project: Path) -> None:
    code, report, said = metl_run(project, "--source", HOSTILE, "--sink", "noop")
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
def test_a_run_that_cannot_start_ends_with_1_and_a_hint(project: Path, tmp_path: Path, wrong: list[str]) -> None:
    code, document, said = metl_run(project, *(text.format(tmp=tmp_path) for text in wrong))
    assert code == 1
    assert document["error"]["hint"]
    assert "Traceback" not in said


def metl(*arguments: object) -> Any:
    done = subprocess.run(
        [*METL, *map(str, arguments), "--json"], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_records_of_an_unknown_version_are_mapped_by_review_and_replay_and_only_once(
    project: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.metl"
    own.write_bytes(project.read_bytes())
    errors = tmp_path / "errors"
    source = HOSTILE.parent / "payments.jsonl"
    first = metl("run", own, "--source", source, "--sink", tmp_path / "out", "--errors", errors)
    waiting = first["by_reason"]["unknown_version"]
    assert [task["records"] for task in first["version_tasks"]] == [waiting]
    listed = metl("review", own, "--list")["version_tasks"]
    (task,) = [task for task in listed if task["schema"] == "fx.payments.orders"]
    assert (task["records"], task["errors"]) == (waiting, [str(errors)])
    assert metl("review", own, "--add-version", task["id"])["needs_review"] == 2
    again = metl("replay", own, "--errors", errors, "--sink", tmp_path / "again")
    assert (again["read"], again["mapped"], again["set_aside"]) == (waiting, waiting, 0)
    assert first["read"] == first["mapped"] + first["filtered"] + again["mapped"] + first["skipped"]
    lines = [line for part in (tmp_path / "again").rglob("*.jsonl") for line in part.read_text().splitlines()]
    assert len(lines) == again["messages_out"]
    assert all(json.loads(line)["replayed"] is True for line in lines)
    assert metl("replay", own, "--errors", errors, "--sink", tmp_path / "more")["read"] == 0
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
