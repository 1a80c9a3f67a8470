"""The runs of a project: kept as many as wanted, found whatever became of their process, and compared."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from metl_gui.core.runs.report import RunReport, Tally
from metl_gui.engine.runs.run_folder import RunFolder
from metl_gui.errors import EditError, ProjectError, RunError
from metl_gui.store.lease import LeaseHolder
from metl_gui.workbench.runs.history import RunStatus, collect_ended, compare_runs, events_of, find_past, runs
from metl_gui.workbench.runs.production import (
    ORDER,
    PLAN,
    LiveRun,
    ProductionOrder,
    died_runs,
    find_run,
    live_runs,
    resume_production,
    stop_run,
)
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.settings import set_project_settings
from metl_gui.workbench.user_folders import (
    PROCESS,
    ProcessFacts,
    ProcessPhase,
    forget_old_runs,
    read_facts,
    request_stop,
    run_folder,
    write_facts,
)
from tests.helpers.run_specs import changed, run_spec

_COUNTS = {name: getattr(Tally(), name) for name in Tally.__struct_fields__}


@pytest.fixture
def workbench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with Workbench.create(tmp_path / "p.metl") as opened:
        yield opened


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def report_of(run_id: str, **others: Any) -> RunReport:
    facts: dict[str, Any] = {"run_id": run_id, "mode": "test", "spark": "local[2]", "state": 3, "hash": "h"}
    return RunReport(**(facts | {"seconds": 2.0, "records_per_second": 1.0} | _COUNTS | others))


def holder_of(process_id: int) -> LeaseHolder:
    from metl_gui.store.lease import process_start

    return msgspec.structs.replace(
        LeaseHolder.here("me"), process_id=process_id, process_start=process_start(process_id)
    )


def add_process(
    workbench: Workbench, run_id: str, holder: LeaseHolder, phase: ProcessPhase = ProcessPhase.RUNNING, **asked: Any
) -> Path:
    folder = run_folder(workbench.project_id, run_id)
    folder.mkdir(parents=True)
    spec = run_spec(
        run_id=run_id,
        plan=b"",
        source="in",
        sink=str(folder / "out"),
        folder=str(folder),
        checkpoint=str(folder / "checkpoint"),
        mode="production",
    )
    spec = changed(spec, **asked)
    order = ProductionOrder(kept=spec.as_kept, target="local[2]", project=str(workbench.path), follows_published=False)
    (folder / ORDER).write_bytes(msgspec.json.encode(order))
    (folder / PLAN).write_bytes(b"{}")
    write_facts(folder, ProcessFacts(run_id=run_id, holder=holder, phase=phase))
    return folder


def test_a_run_is_running_while_its_process_lives_and_died_when_it_is_gone(
    workbench: Workbench, sleeper: subprocess.Popen[bytes]
) -> None:
    add_process(workbench, "r1", holder_of(sleeper.pid))
    assert [run.run_id for run in live_runs(workbench.project_id)] == ["r1"]
    assert runs(workbench)[0].status is RunStatus.RUNNING
    with pytest.raises(RunError, match="is going on"):
        resume_production(workbench, "r1")
    sleeper.kill()
    sleeper.wait()
    assert live_runs(workbench.project_id) == ()
    assert [run.run_id for run in died_runs(workbench.project_id)] == ["r1"]
    past = find_past(workbench, "r")
    assert (past.status, past.can_go_on) == (RunStatus.DIED, True)
    assert f"metl runs {workbench.path} --resume r1" in past.problems[0]


def test_all_processes_are_asked_at_once_as_the_servers_of_their_counts_may_be_away(
    workbench: Workbench, sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["r1", "r2", "r3"]
    for name in names:
        add_process(workbench, name, holder_of(sleeper.pid))
    together = threading.Barrier(len(names), timeout=30)

    def report(run: LiveRun) -> RunReport:
        together.wait()  # broken when one is asked after the other
        return report_of(run.run_id)

    monkeypatch.setattr(LiveRun, "report", report)
    assert sorted(run.run_id for run in runs(workbench)) == names


@pytest.mark.parametrize(
    ("servers", "refusal"),
    [("kafka://b:9092/orders", "Run r1 is going on in the same consumer group"), ("kafka://c:1/orders", "profile")],
)
def test_a_lane_in_the_consumer_group_of_one_that_lives_is_refused_on_the_same_servers(
    workbench: Workbench, sleeper: subprocess.Popen[bytes], servers: str, refusal: str
) -> None:
    lane = {"lane": "fast", "group": "shop", "sink": "kafka://b:9092/out", "follow": True}
    add_process(workbench, "r1", holder_of(sleeper.pid), ProcessPhase.RUNNING, source="kafka://b:9092/payments", **lane)
    # Whoever is not refused for the group is refused for a profile that nobody has saved.
    lane |= {"errors": "kafka://@nobody/errors"}
    add_process(workbench, "r2", LeaseHolder.here("me"), ProcessPhase.ENDED, source=servers, **lane)
    with pytest.raises(RunError, match=refusal):
        resume_production(workbench, "r2")


def test_another_process_of_the_same_number_is_not_the_run(
    workbench: Workbench, sleeper: subprocess.Popen[bytes]
) -> None:
    holder = msgspec.structs.replace(holder_of(sleeper.pid), process_start="1")
    folder = add_process(workbench, "r1", holder)
    assert [run.run_id for run in died_runs(workbench.project_id)] == ["r1"]
    request_stop(folder)
    assert sleeper.poll() is None


@pytest.mark.parametrize("jump_ms", [-(10**9), 0, 10**9])
def test_a_clock_that_jumps_kills_no_process_of_this_computer(
    workbench: Workbench, sleeper: subprocess.Popen[bytes], jump_ms: int
) -> None:
    folder = add_process(workbench, "r1", holder_of(sleeper.pid))
    facts = read_facts(folder)
    assert facts is not None
    beaten = msgspec.structs.replace(facts.holder, heartbeat_ms=facts.holder.heartbeat_ms + jump_ms)
    (folder / PROCESS).write_bytes(msgspec.json.encode(msgspec.structs.replace(facts, holder=beaten)))
    assert [run.run_id for run in live_runs(workbench.project_id)] == ["r1"]


def test_stopping_leaves_the_wish_in_the_folder_and_says_whether_the_run_has_ended(
    workbench: Workbench, sleeper: subprocess.Popen[bytes]
) -> None:
    folder = add_process(workbench, "r1", holder_of(sleeper.pid))
    assert stop_run(find_run(workbench.project_id, "r1"), 5) is True
    assert (folder / "stop").exists()
    assert sleeper.wait() != 0


def test_the_report_of_a_run_that_ended_comes_into_the_project_once(workbench: Workbench) -> None:
    folder = add_process(workbench, "r1", LeaseHolder.here("me"), ProcessPhase.ENDED)
    RunFolder(folder).write_report(report_of("r1", read=5, skipped=5, by_skip={"other": 5}, checkpoint="c"))
    assert collect_ended(workbench) == ("r1",)
    assert collect_ended(workbench) == ()
    found = runs(workbench)
    assert [(run.run_id, run.status, run.report.read, run.spec["source"]) for run in found] == [
        ("r1", RunStatus.FINISHED, 5, "in")
    ]
    RunFolder(folder).write_report(report_of("r1", seconds=9.0, is_stopped=True, failure="it broke", checkpoint="c"))
    assert collect_ended(workbench) == ("r1",)
    past = runs(workbench)[0]
    assert (past.status, past.problems[0], past.can_go_on) == (RunStatus.FAILED, "it broke", True)
    assert events_of(workbench, "r1") == ()


def test_as_many_runs_stay_as_the_setting_says(workbench: Workbench) -> None:
    set_project_settings(workbench, ["kept_runs=2"])
    for at in range(4):
        workbench.add_run(report_of(f"r{at}").as_json(), [], {"source": "s"})
    assert [run.run_id for run in runs(workbench)] == ["r3", "r2"]
    for text in ("kept_runs=0", "kept_runs=many", "kept_runs=-1"):
        with pytest.raises(EditError, match="number from 1"):
            set_project_settings(workbench, [text])


def test_a_run_is_found_by_the_beginning_of_its_id_where_that_is_enough(workbench: Workbench) -> None:
    for run_id in ("20261122-aa", "20261122-ab"):
        workbench.add_run(report_of(run_id).as_json(), [])
    assert find_past(workbench, "20261122-ab").run_id == "20261122-ab"
    with pytest.raises(ProjectError, match="2 runs begin with 2026"):
        find_past(workbench, "2026")
    with pytest.raises(ProjectError, match=r"has no run x"):
        find_past(workbench, "x")


def test_the_folder_of_a_run_that_lives_is_not_forgotten(
    workbench: Workbench, sleeper: subprocess.Popen[bytes]
) -> None:
    alive = add_process(workbench, "alive", holder_of(sleeper.pid))
    dead = add_process(workbench, "dead", LeaseHolder.here("me"), ProcessPhase.ENDED)
    for folder in (alive, dead):
        os.utime(folder, (0, 0))
    assert forget_old_runs(workbench.project_id) == 1
    assert (alive.exists(), dead.exists()) == (True, False)


def test_two_runs_are_compared_figure_by_figure(workbench: Workbench) -> None:
    a = report_of(
        "a", read=4, mapped=4, messages_out=4, by_entity={"order": 4}, by_attribute={"order@1": {"id": 4, "n": 1}}
    )
    b = report_of(
        "b", read=6, mapped=5, set_aside=1, messages_out=5, by_entity={"order": 5}, by_reason={"malformed": 1}
    )
    b = msgspec.structs.replace(b, by_attribute={"order@1": {"id": 5}, "order@2": {"x": 0}})
    for report in (a, b):
        workbench.add_run(report.as_json(), [])
    found = compare_runs(find_past(workbench, "a"), find_past(workbench, "b"))
    rows = {figure.name: (figure.a, figure.b, figure.change) for figure in found.rows}
    assert list(rows["read"]) == [4, 6, 2]
    assert [(figure.name, figure.a, figure.b) for figure in found.by_reason] == [("malformed", 0, 1)]
    rates = {(rate.entity, rate.path): (rate.rate_a, rate.rate_b) for rate in found.fill_rates}
    assert rates == {("order@1", "id"): (1.0, 1.0), ("order@1", "n"): (0.25, 0.0), ("order@2", "x"): (0.0, 0.0)}
    assert found.fill_rates[0].path == "n"
    assert found.as_json()["fill_rates"][0] == {
        "entity": "order@1",
        "path": "n",
        "filled_a": 1,
        "filled_b": 0,
        "rate_a": 0.25,
        "rate_b": 0.0,
    }


@pytest.mark.parametrize("content", [b"", b"{", b'{"read": "x"}', b"[" * 100_000, b"\xff\x00"])
@pytest.mark.parametrize("name", ["report.json", "events.jsonl", "checkpoint/stream.json", "checkpoint/batches/1.json"])
def test_a_damaged_file_of_one_run_hides_no_run(workbench: Workbench, name: str, content: bytes) -> None:
    gone = msgspec.structs.replace(LeaseHolder.here("me"), process_start="1")
    for run_id, phase in (("r1", ProcessPhase.RUNNING), ("r2", ProcessPhase.ENDED)):
        folder = add_process(workbench, run_id, gone, phase)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    workbench.add_run(report_of("r3").as_json(), [], {}, 1)
    assert {run.run_id for run in runs(workbench)} == {"r1", "r2", "r3"}
    ended = find_past(workbench, "r2")
    assert ended.status is RunStatus.FAILED
    assert "report.json" in ended.problems[0] or "The checkpoint is damaged" in ended.problems[0]
    assert list(events_of(workbench, "r2")) == []


@pytest.mark.parametrize("odd", [{"process_id": -1}, {"process_id": 0}, {"since_ms": 10**17}, {"since_ms": -1}])
def test_a_process_that_cannot_be_is_none(workbench: Workbench, odd: dict[str, int]) -> None:
    folder = add_process(workbench, "r1", msgspec.structs.replace(LeaseHolder.here("me"), **odd))
    assert read_facts(folder) is None
    assert runs(workbench) == ()
