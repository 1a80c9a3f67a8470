"""The command ``runs`` without Spark: listed, shown and compared, with exit codes and one JSON document."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from metl_gui.cli.main import main
from metl_gui.core.runs.report import RunReport, Tally
from metl_gui.workbench.session import Workbench


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two runs."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    counts = {name: getattr(Tally(), name) for name in Tally.__struct_fields__}
    path = tmp_path / "p.metl"
    with Workbench.create(path) as workbench:
        for run_id, set_aside in (("20261122-a", 0), ("20261122-b", 3)):
            facts = counts | {"read": 10, "filtered": 10 - set_aside, "set_aside": set_aside}
            report = RunReport(
                run_id=run_id,
                mode="production",
                spark="local[2]",
                state=4,
                hash="h",
                seconds=1.0,
                records_per_second=10.0,
                by_reason={"malformed": set_aside} if set_aside else {},
                checkpoint="/somewhere",
                is_stopped=bool(set_aside),
                **{name: value for name, value in facts.items() if name != "by_reason"},
            )
            workbench.add_run(report.as_json(), [], {"source": "in"})
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_newest_run_is_listed_first_with_what_became_of_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "runs", project)
    assert code == 0
    first, second = out.splitlines()
    assert first.startswith("20261122-b")
    assert "stopped" in first
    assert "finished" in second
    code, out, _ = run(capsys, "runs", project, "--json", "--limit", 1)
    assert [each["run_id"] for each in json.loads(out)["runs"]] == ["20261122-b"]


def test_a_stopped_run_is_shown_with_the_way_to_go_on(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "runs", project, "--show", "20261122-b")
    assert code == 0
    assert f"Go on with: metl runs {project} --resume 20261122-b" in out
    _, out, _ = run(capsys, "runs", project, "--show", "20261122-a")
    assert "It reached its end." in out
    assert "--resume" not in out


def test_two_runs_are_compared_and_what_differs_is_marked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "runs", project, "--compare", "20261122-a", "20261122-b")
    assert code == 0
    marked = [line.split()[0] for line in out.splitlines() if line.endswith("*")]
    assert marked == ["filtered", "set", "malformed"]
    _, out, _ = run(capsys, "runs", project, "--json", "--compare", "20261122-a", "20261122-b")
    assert {row["name"]: row["change"] for row in json.loads(out)["rows"]}["set aside"] == 3


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--show", "20261122"], 1, "2 runs begin with 20261122"),
        (["--show", "nothing"], 1, "has no run nothing"),
        (["--show", ""], 1, "No run is named"),
        (["--stop", ""], 1, "No run is named"),
        (["--compare", "", "20261122-a"], 1, "No run is named"),
        (["--attach", "20261122-a"], 1, "Run 20261122-a is no process of its own here"),
        (["--stop", "20261122-a"], 1, "Run 20261122-a is no process of its own here"),
        (["--resume", "20261122-b"], 1, "Run 20261122-b is no process of its own here"),
    ],
)
def test_what_is_not_there_ends_with_1_and_a_hint(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words: str
) -> None:
    found, _, said = run(capsys, "runs", project, *arguments)
    assert found == code
    assert words in said
    assert "hint:" in said


def test_options_that_cannot_go_together_end_with_2(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        ["runs", project, "--show", "a", "--stop", "a"],
        ["runs", project, "--detach"],
        ["run", project, "--source", "s", "--sink", "noop", "--detach"],
    ):
        with pytest.raises(SystemExit) as ended:
            run(capsys, *arguments)
        assert ended.value.code == 2
    code, _, said = run(capsys, "run", project, "--source", project.parent, "--sink", "noop", "--follow", "--limit", 3)
    assert (code, "A run in batches has no limit" in said) == (1, True)
