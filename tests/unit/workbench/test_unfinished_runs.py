"""Runs that did not reach their end come into the history of their project, once, whatever hinders it at first."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from metl_gui.core.runs.events import RunProgressed, encode_event
from metl_gui.core.runs.report import Tally
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.runs.run_folder import RunFolder
from metl_gui.errors import BugError, ProjectError, RunCancelled, RunError, RunKilledError
from metl_gui.workbench.review.progress import records_by_version
from metl_gui.workbench.runs import mapping_run
from metl_gui.workbench.runs.history import PastRun, RunStatus, runs
from metl_gui.workbench.runs.unfinished_runs import RunRecord, report_until
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import run_folder
from tests.helpers.run_specs import run_spec

_PROGRESS = RunProgressed("r1", 2.0, 100, 10, Tally(read=7, mapped=5, filtered=2, messages_out=5, by_entity={"a": 5}))


@pytest.fixture
def workbench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with Workbench.create(tmp_path / "p.metl") as opened:
        yield opened


def spec_of(workbench: Workbench, run_id: str = "r1", sink: str = "noop") -> RunSpec:
    folder = run_folder(workbench.project_id, run_id)
    return run_spec(run_id=run_id, plan=b"", source="in", sink=sink, folder=str(folder), state=3, hash="h")


def leave_killed(workbench: Workbench, spec: RunSpec) -> Path:
    """Leave what the program leaves that is killed while it does a run: its lock is let go of, and no more."""
    record = RunRecord(workbench, spec, "local[2]").__enter__()
    folder = RunFolder(Path(spec.policy.folder))
    folder.append_event(encode_event(_PROGRESS))
    assert runs(workbench) == ()  # it lives until then
    assert record._owner is not None
    record._owner.release()
    return folder.path


def end_by(workbench: Workbench, error: BaseException, told: RunProgressed = _PROGRESS) -> None:
    """Do a run that tells something, and is then ended by an error."""
    with RunRecord(workbench, spec_of(workbench), "local[2]") as record:
        record.take(told)
        raise error


def only(workbench: Workbench) -> PastRun:
    (run,) = runs(workbench)
    return run


@pytest.mark.parametrize(
    ("ended", "status"),
    [
        (RunCancelled("stop"), RunStatus.CANCELLED),
        (KeyboardInterrupt(), RunStatus.CANCELLED),
        (RunKilledError("Spark is gone."), RunStatus.KILLED),
    ],
)
def test_a_run_that_is_ended_stays_with_the_counts_it_told_last(
    workbench: Workbench, ended: BaseException, status: RunStatus
) -> None:
    spec = spec_of(workbench)
    with pytest.raises(type(ended)):
        end_by(workbench, ended)
    run = only(workbench)
    assert (run.status, run.outcome, run.report.read, run.report.by_entity) == (status, status, 7, {"a": 5})
    assert (run.report.records_per_second, run.report.outputs, run.spec["source"]) == (3.5, "", "in")
    assert not Path(spec.policy.folder).exists()


@pytest.mark.parametrize("failed", [RunError("No such source."), BugError("ours")])
def test_a_run_that_fails_leaves_no_sign_that_it_was_killed(workbench: Workbench, failed: Exception) -> None:
    spec = spec_of(workbench)
    with pytest.raises(type(failed)), RunRecord(workbench, spec, "local[2]"):
        raise failed
    assert (runs(workbench), Path(spec.policy.folder).exists()) == ((), False)


@pytest.mark.logs("is not in the project yet: The disk is full")
def test_a_cancelled_run_that_the_project_cannot_take_then_comes_into_it_later_and_is_cancelled(
    workbench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> str:
        raise ProjectError("The disk is full.")

    with monkeypatch.context() as full:
        full.setattr(Workbench, "add_run", refuse)
        with pytest.raises(RunCancelled):
            end_by(workbench, RunCancelled("stop"))
        assert runs(workbench) == ()
    run = only(workbench)
    assert (run.status, run.report.read) == (RunStatus.CANCELLED, 7)


@pytest.mark.parametrize("ended", [KeyboardInterrupt(), RunCancelled("stop")])
def test_a_run_that_is_broken_off_after_its_messages_are_in_place_has_finished(
    workbench: Workbench, ended: BaseException, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spec = spec_of(workbench, sink=str(tmp_path / "out"))
    unfinished = report_until(spec, "local[2]", [_PROGRESS], "cancelled")
    done = msgspec.structs.replace(unfinished, outcome="", is_stopped=False, outputs=spec.sink.address, problems=())

    def break_off(*_: object) -> None:
        raise ended

    monkeypatch.setattr(mapping_run, "_run", lambda *_: done)
    monkeypatch.setattr(mapping_run, "looked_into", break_off)
    with pytest.raises(type(ended)):
        mapping_run.run_prepared(workbench, spec, "local[2]", SparkProcess("local[2]"))
    run = only(workbench)
    assert (run.status, run.report.outputs, run.report.problems) == (RunStatus.FINISHED, spec.sink.address, ())


def test_a_run_that_is_in_its_project_is_done_though_its_sign_cannot_be_removed(
    workbench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **_named: object) -> None:
        raise PermissionError("The folder cannot be written.")

    spec = spec_of(workbench)
    report = msgspec.structs.replace(report_until(spec, "", [_PROGRESS], "cancelled"), outcome="", is_stopped=False)
    with monkeypatch.context() as closed, RunRecord(workbench, spec, "local[2]") as record:
        RunFolder(Path(spec.policy.folder)).write_report(report)  # as the run itself does
        closed.setattr(Path, "unlink", refuse)
        assert record.keep(report) == report
    assert only(workbench).status is RunStatus.FINISHED


def test_a_run_that_was_killed_after_its_report_was_written_has_finished(workbench: Workbench) -> None:
    spec = spec_of(workbench)
    report = msgspec.structs.replace(
        report_until(spec, "local[2]", [_PROGRESS], "killed"), outcome="", is_stopped=False
    )
    RunFolder(leave_killed(workbench, spec)).write_report(report)
    assert only(workbench).status is RunStatus.FINISHED


def test_a_run_that_was_killed_when_its_messages_were_in_place_says_where_they_are(
    workbench: Workbench, tmp_path: Path
) -> None:
    sink = tmp_path / "out"
    leave_killed(workbench, spec_of(workbench, sink=str(sink)))
    (sink / "a").mkdir(parents=True)
    report = only(workbench).report
    assert (report.outputs, report.outcome) == (str(sink), "killed")
    assert "Its messages are in place" in report.problems[-1]


def test_a_killed_run_is_looked_for_where_it_began_wherever_that_is_done(
    workbench: Workbench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    (elsewhere / "out" / "a").mkdir(parents=True)
    monkeypatch.chdir(here)

    def die(*_: object) -> None:
        monkeypatch.chdir(elsewhere)
        raise RunKilledError("Spark is gone.")

    monkeypatch.setattr(mapping_run, "_run", die)
    with pytest.raises(RunKilledError):
        mapping_run.run_prepared(workbench, spec_of(workbench, sink="out"), "local[2]", SparkProcess("local[2]"))
    run = only(workbench)
    assert (run.report.outputs, run.spec["sink"]) == ("", str(here / "out"))
    assert "none of its messages was kept" in run.report.problems[-1]


@pytest.mark.parametrize("place", ["s3://bucket/out", "hdfs://nn/out", "kafka://b:9092/{entity}", "~nobody-at-all/out"])
def test_a_place_that_is_none_of_this_computer_is_checked_as_it_was_typed(place: str) -> None:
    spec = run_spec(source=place, sink=place, errors=place, checkpoint=place)
    assert mapping_run.with_whole_paths(spec) == spec


def test_what_was_sent_to_topics_until_a_run_was_killed_is_not_said_to_be_gone(workbench: Workbench) -> None:
    leave_killed(workbench, spec_of(workbench, sink="kafka://b:9092/{entity}"))
    report = only(workbench).report
    assert report.outputs == "kafka://b:9092/{entity}"
    assert "stays in its topics" in report.problems[-1]


def test_a_killed_run_comes_into_the_project_it_was_of_and_into_no_copy_while_that_is_there(
    workbench: Workbench, tmp_path: Path
) -> None:
    copy = Path(shutil.copy(workbench.path, tmp_path / "copy.metl"))
    leave_killed(workbench, spec_of(workbench))
    with Workbench.open(copy, for_editing=False) as other:
        assert runs(other) == ()
    assert only(workbench).status is RunStatus.KILLED


def test_a_killed_run_of_a_project_that_was_moved_comes_into_it_where_it_is_now(
    workbench: Workbench, tmp_path: Path
) -> None:
    leave_killed(workbench, spec_of(workbench))
    workbench.close()
    with Workbench.open(Path(shutil.move(workbench.path, tmp_path / "elsewhere.metl"))) as moved:
        assert only(moved).status is RunStatus.KILLED


@pytest.mark.parametrize("content", [b"", b"{", b'{"project": 1}', b"[" * 100_000, b"\xff\x00"])
@pytest.mark.logs("is not in the project yet")
def test_a_damaged_note_of_one_run_hides_no_other(workbench: Workbench, content: bytes) -> None:
    leave_killed(workbench, spec_of(workbench))
    broken = run_folder(workbench.project_id, "r0")
    shutil.copytree(run_folder(workbench.project_id, "r1"), broken)
    (broken / "begun.json").write_bytes(content)
    assert only(workbench).run_id == "r1"


def test_the_share_of_records_in_a_review_is_that_of_a_run_that_reached_its_end(workbench: Workbench) -> None:
    whole = msgspec.structs.replace(report_until(spec_of(workbench, "r0"), "", [], "cancelled"), outcome="")
    workbench.add_run(msgspec.structs.replace(whole, by_version={"s@1": 9}).as_json(), [], {}, 1)
    part = Tally(read=1, skipped=1, by_skip={"other": 1}, by_version={"s@1": 1})
    with pytest.raises(RunCancelled):
        end_by(workbench, RunCancelled("stop"), msgspec.structs.replace(_PROGRESS, tally=part))
    assert records_by_version(workbench) == {"s@1": 9}
