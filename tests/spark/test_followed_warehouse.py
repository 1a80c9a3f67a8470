"""A folder that grows, followed into a warehouse: stopped, begun again, and equal to one load of all of it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from metl_gui.core.dimensional.loads.load_policy import LoadPolicy
from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.loads.staged_parts import StagedPart
from metl_gui.core.progress import Watch
from metl_gui.core.runs.events import LoadCommitted
from metl_gui.core.runs.run_spec import SourceSpec
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.staging.part_marks import PartMark
from metl_gui.engine.staging.sink import part_at
from metl_gui.errors import RunError
from metl_gui.workbench.demo.sample import SampleFolder, fresh_copy
from metl_gui.workbench.loads import followed_loads
from metl_gui.workbench.loads.followed_loads import Following, follow_warehouse
from metl_gui.workbench.loads.staged_loads import AGAIN
from metl_gui.workbench.loads.warehouse_loads import LoadedRun, audit_warehouse, load_warehouse
from metl_gui.workbench.runs.history import events_of, find_past
from metl_gui.workbench.runs.mapping_run import RunRequest, run_mapping
from metl_gui.workbench.session import Workbench
from tests.helpers.run_requests import run_request
from tests.spark.test_warehouse import contents

_WAIT_SECONDS = 90


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def sample(home: Path) -> SampleFolder:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(home / "data"))
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        return fresh_copy()


@pytest.fixture
def workbench(sample: SampleFolder, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    with Workbench.open(sample.project) as opened:
        yield opened


class Follower:
    """A source that is followed on a thread of its own, whose loads can be waited for."""

    def __init__(self, project: Path, spark: SparkProcess, source: SourceSpec, target: str) -> None:
        self.loads: list[LoadReport] = []
        self.done: LoadedRun | None = None
        self.error: Exception | None = None
        self._is_stopped = threading.Event()
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._follow, args=(project, spark, source, target))
        self._thread.start()

    def until(self, is_so: Callable[[list[LoadReport]], bool]) -> None:
        with self._news:
            assert self._news.wait_for(lambda: is_so(self.loads) or self.error, _WAIT_SECONDS), self.loads[-3:]
        assert self.error is None, self.error

    def stop(self) -> LoadedRun:
        self._is_stopped.set()
        self._thread.join(_WAIT_SECONDS)
        assert not self._thread.is_alive()
        assert self.done is not None, self.error
        return self.done

    def _follow(self, project: Path, spark: SparkProcess, source: SourceSpec, target: str) -> None:
        following = Following(LoadPolicy(1.0), self._take)
        watch = Watch(None, self._is_stopped.is_set)
        try:
            with Workbench.open(project, for_editing=False) as workbench:
                self.done = follow_warehouse(
                    workbench, RunRequest(source), target, "", following, spark=spark, watch=watch
                )
        except Exception as error:  # noqa: BLE001 - shown by whoever waits
            self.error = error
        with self._news:
            self._news.notify_all()

    def _take(self, load: LoadReport) -> None:
        with self._news:
            self.loads.append(load)
            self._news.notify_all()


def messages_of(loads: list[LoadReport]) -> int:
    return sum(load.messages for load in loads)


def test_a_folder_that_grows_becomes_what_one_load_of_all_of_it_is(
    workbench: Workbench, sample: SampleFolder, spark: SparkProcess, tmp_path: Path
) -> None:
    whole = load_warehouse(
        workbench,
        RunRequest(SourceSpec(address=str(sample.messages))),
        f"duckdb:{tmp_path / 'whole.duckdb'}",
        spark=spark,
    )
    folder, target = tmp_path / "source", f"duckdb:{tmp_path / 'fx.duckdb'}"
    folder.mkdir()
    files = sorted(path for path in sample.messages.iterdir() if path.is_file())
    payments = (sample.messages / "payments.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "payments.jsonl").write_bytes(b"".join(payments[: len(payments) // 2]))
    source = SourceSpec(address=str(folder), follow=True)

    first = Follower(sample.project, spark, source, target)
    first.until(lambda loads: messages_of(loads) > 0)
    began = messages_of(first.loads)
    with (folder / "payments.jsonl").open("ab") as file:
        file.writelines(payments[len(payments) // 2 :])
    first.until(lambda loads: messages_of(loads) > began)
    done = first.stop()
    assert done.run.report.is_stopped
    assert [load.load for load in first.loads] == sorted({load.load for load in first.loads})
    assert done.load.messages == done.load.appended == messages_of(first.loads)
    kept = find_past(workbench, done.run.report.run_id)
    assert not kept.can_go_on
    committed = [event for event in events_of(workbench, kept.run_id) if isinstance(event, LoadCommitted)]
    assert [event.load for event in committed] == [load.load for load in first.loads]

    # The next run has nothing of the first but the target.
    shutil.rmtree(kept.folder, ignore_errors=True)
    for path in files:
        if path.name != "payments.jsonl":
            shutil.copy(path, folder)
    second = Follower(sample.project, spark, source, target)
    second.until(lambda loads: done.load.messages + messages_of(loads) == whole.load.messages)
    last = second.stop()
    assert last.load.repeated == 0
    assert contents(tmp_path / "fx.duckdb") == contents(tmp_path / "whole.duckdb")
    assert audit_warehouse(workbench, target).problems == ()


def test_canonical_messages_are_followed_too_and_the_next_run_reads_only_what_is_new(
    workbench: Workbench,
    sample: SampleFolder,
    spark: SparkProcess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    damaged: list[Path] = []

    def damage(path: str, mark: PartMark) -> StagedPart:
        """Cut off the end of the first part that is staged, right before it is loaded."""
        if not damaged:
            damaged.append(Path(path))
            damaged[0].write_bytes(damaged[0].read_bytes()[:-9])
        return part_at(path, mark)

    monkeypatch.setattr(followed_loads, "part_at", damage)
    run = run_mapping(workbench, run_request(str(sample.messages), str(tmp_path / "messages")), spark)
    source = SourceSpec(address=run.report.outputs, holds="messages", follow=True)
    target = f"duckdb:{tmp_path / 'fx.duckdb'}"
    entities = ("customer", "account", "payment")
    wanted = sum(run.report.by_entity[entity] for entity in entities)
    follower = Follower(sample.project, spark, source, target)
    follower.until(lambda loads: sum(load.appended for load in loads) >= wanted)
    done = follower.stop()
    assert done.load.appended == wanted
    # What was damaged was staged again.
    assert damaged
    assert AGAIN in done.run.report.problems
    some = next(Path(run.report.outputs).glob("customer/*.jsonl"))
    (some.parent / "sent again.jsonl").write_bytes(some.read_bytes().splitlines(keepends=True)[0])
    again = Follower(sample.project, spark, source, target)
    again.until(lambda loads: len(loads) > 0)
    load = again.stop().load
    assert (load.messages, load.repeated) == (1, 1)
    assert audit_warehouse(workbench, target).problems == ()


def test_a_checkpoint_is_refused_as_the_target_is_one(workbench: Workbench, tmp_path: Path) -> None:
    request = run_request(str(tmp_path), follow=True, checkpoint=str(tmp_path / "c"))
    with pytest.raises(RunError, match="knows how far"):
        follow_warehouse(workbench, request, f"duckdb:{tmp_path / 'fx.duckdb'}")
