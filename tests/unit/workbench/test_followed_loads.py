"""Loads of a source that is followed: by policy, from where the target is, and with what goes wrong on the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from metl_gui.core.dimensional.loads.load_policy import LoadPolicy
from metl_gui.core.dimensional.loads.load_report import KeyCounts, LoadReport, TableCounts
from metl_gui.core.dimensional.rows.messages import Message, Position
from metl_gui.core.progress import Watch
from metl_gui.core.runs.events import BatchCommitted, EngineEvent, LoadCommitted, SourceTroubled
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.staging.part_marks import marks_of
from metl_gui.engine.streaming.checkpoint import Checkpoint
from metl_gui.engine.streaming.staged_batches import StagedBatchFile, keep_staged, staged_batches
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.databases.target import CommitUnknownError, ConnectionLostError, TargetError
from metl_gui.warehouse.read_progress import OvertakenError, stored_progress
from metl_gui.warehouse.target_model import Owner
from metl_gui.workbench.loads.followed_loads import BatchLoads, Following, added
from metl_gui.workbench.loads.load_requests import ask_for_load
from metl_gui.workbench.loads.targets import TargetAddress
from tests.helpers.run_specs import run_spec
from tests.unit.warehouse.worlds import at, model_of, part, person_dimension

KNOWN = '{{"path":"/no/such/{name}","read_to":{to},"size":{to},"mtime_ns":0,"inode":0}}'


class Clock:
    """Time as a test has it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class FollowedRun:
    """A run whose Spark is this test: it stages persons, one batch after the other."""

    def __init__(self, folder: Path, name: str, policy: LoadPolicy, *, is_messages: bool = False) -> None:
        self.folder, self.clock, self.number = folder / name, Clock(), 0
        self.target = TargetAddress(folder / "w.duckdb")
        holds = {"holds": "messages"} if is_messages else {}
        self.spec: RunSpec = run_spec(
            run_id=name,
            source=str(folder / "source"),
            sink=str(self.folder / "out"),
            folder=str(self.folder),
            checkpoint=str(self.folder / "checkpoint"),
            follow=True,
            format="stage",
            **holds,
        )
        self.is_stopped = False
        self.told: list[LoadReport] = []
        self.loads = BatchLoads(
            self.target,
            model_of(person_dimension())[1],
            Owner(project="world", mode="test"),
            self.spec,
            Following(policy, self.told.append),
            Watch(None, lambda: self.is_stopped),
            self.clock,
        )
        self.checkpoint = Checkpoint(self.folder / "checkpoint")
        self.checkpoint.path.mkdir(parents=True)
        self.loads.begin()

    def stage(self, *ids: int, set_aside: int = 0) -> None:
        self.number += 1
        folder = self.folder / "out" / "person"
        folder.mkdir(parents=True, exist_ok=True)
        staged = part(folder, "person", [person(number) for number in ids])
        batch = StagedBatchFile(
            number=self.number,
            parts=marks_of([staged.path]),
            messages=len(ids),
            set_aside=set_aside,
            places={"a.jsonl": KNOWN.format(name="a.jsonl", to=100 * max(ids))},
        )
        keep_staged(self.checkpoint, batch)

    def after(self, seconds: float) -> list[EngineEvent]:
        """Hand the loads an event that comes so much later."""
        self.clock.seconds += seconds
        return list(self.loads.react(BatchCommitted(self.spec.run_id, self.number, 1, 0.1, 1, 1, 0, 0, 0, 1, 1, 0)))


def person(number: int) -> Message:
    return Message(
        schema="a",
        row_key=f'{{"id":{number}}}',
        order_key=f"{number:04}",
        op="c",
        values={"id": number, "city": "Kiel", "mood": "x", "nick": "m", "since": None},
        position=Position("a.jsonl", 0, number),
        committed_at=at(number),
        seen_at=at(number),
    )


def loaded(folder: Path) -> list[int]:
    with duckdb.connect(str(folder / "w.duckdb"), read_only=True) as connection:
        return [
            int(row[0])
            for row in connection.execute("SELECT id FROM person WHERE person_key > 0 ORDER BY 1").fetchall()
        ]


def test_what_is_there_is_loaded_at_once_and_what_comes_by_the_policy(tmp_path: Path) -> None:
    run = FollowedRun(tmp_path, "r1", LoadPolicy(60.0))
    assert run.after(1) == []
    run.stage(1, 2)
    (event,) = run.after(1)
    assert isinstance(event, LoadCommitted)
    assert (event.load, event.batch, event.messages, event.appended) == ("r1-000000001", 1, 2, 2)
    run.stage(3)
    run.stage(4)
    assert run.after(58) == []
    assert loaded(tmp_path) == [1, 2]
    (event,) = run.after(2)
    assert isinstance(event, LoadCommitted)
    assert (event.load, event.messages) == ("r1-000000003", 2)
    assert loaded(tmp_path) == [1, 2, 3, 4]
    assert (run.loads.sum.messages, run.loads.sum.tables["person"].inserted) == (4, 4)
    assert [report.messages for report in run.told] == [2, 2]
    assert (staged_batches(run.checkpoint), list((run.folder / "out").rglob("*.parquet"))) == ([], [])
    assert run.after(600) == []


def test_so_many_waiting_messages_are_loaded_and_set_aside_ones_are_counted(tmp_path: Path) -> None:
    run = FollowedRun(tmp_path, "r1", LoadPolicy(0.0, 3), is_messages=True)
    run.stage(1, 2, set_aside=5)
    assert run.after(10_000) == []
    run.stage(3)
    assert len(run.after(1)) == 1
    assert (run.told[0].messages, run.told[0].appended, run.told[0].set_aside) == (8, 3, 5)


def test_somebody_asks_for_a_load_and_the_first_one_needs_nobody_as_there_is_no_target_to_name(tmp_path: Path) -> None:
    run = FollowedRun(tmp_path, "r1", LoadPolicy(0.0, 0, when_asked=True))
    with pytest.raises(TargetError, match="There is no file"):
        ask_for_load(run.target)
    run.stage(1)
    assert len(run.after(1)) == 1
    run.stage(2)
    assert run.after(10_000) == []
    ask_for_load(run.target)
    assert len(run.after(1)) == 1
    again = FollowedRun(tmp_path, "r2", LoadPolicy(0.0, 0, when_asked=True))
    again.stage(3)
    assert again.after(10_000) == []
    assert [path.name for path in tmp_path.glob("w.duckdb*")] == ["w.duckdb"]


def test_the_next_run_goes_on_where_the_target_is_and_what_was_only_staged_is_read_again(tmp_path: Path) -> None:
    first = FollowedRun(tmp_path, "r1", LoadPolicy(60.0))
    first.stage(1)
    first.after(1)
    first.stage(2)  # and the run is killed
    second = FollowedRun(tmp_path, "r2", LoadPolicy(60.0))
    assert (second.checkpoint.ledger / "gathered.json").read_bytes().count(b'"read_to":100') == 1
    second.stage(2)
    second.after(1)
    assert loaded(tmp_path) == [1, 2]
    with DuckDb(tmp_path / "w.duckdb", is_read_only=True) as target:
        stored = stored_progress(target, str(tmp_path / "source"))
    assert (stored.after, '"read_to":200' in stored.places["a.jsonl"]) == ("r2-000000001", True)


def test_the_second_of_two_loaders_is_told_so_and_doubles_nothing(tmp_path: Path) -> None:
    first, second = (FollowedRun(tmp_path, name, LoadPolicy(60.0)) for name in ("r1", "r2"))
    for run in (first, second):
        run.stage(1)
    assert len(first.after(1)) == 1
    assert second.after(1) == []
    assert isinstance(second.loads.fault, OvertakenError)
    assert second.loads.watch.is_cancelled
    assert second.after(60) == []
    assert loaded(tmp_path) == [1]
    first.stage(2)
    assert len(first.after(60)) == 1


def test_a_load_that_is_stopped_leaves_nothing_and_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = FollowedRun(tmp_path, "r1", LoadPolicy(60.0))
    run.stage(1)
    run.after(1)
    run.stage(2)
    steps: list[str] = []

    def stop_after_some(_watch: object) -> object:
        def hear(step: object, _rows: int) -> None:
            steps.append(str(step))
            run.is_stopped = len(steps) > 5
            run.loads.watch.step("a step")

        return hear

    monkeypatch.setattr("metl_gui.workbench.loads.followed_loads.told_steps", stop_after_some)
    assert run.after(60) == []
    assert (len(steps), run.loads.fault) == (6, None)
    assert loaded(tmp_path) == [1]


def test_a_target_that_is_open_elsewhere_is_waited_for_and_that_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = FollowedRun(tmp_path, "r1", LoadPolicy(60.0))
    run.stage(1)
    with monkeypatch.context() as patch:
        patch.setattr("metl_gui.workbench.loads.targets.DuckDb", lambda *_, **__: DuckDb(tmp_path / "no" / "w.duckdb"))
        (event,) = run.after(1)
        assert isinstance(event, SourceTroubled)
        assert "What is staged waits." in event.text
        assert run.after(1) == []
    assert len(run.after(1)) == 1
    assert loaded(tmp_path) == [1]


@pytest.mark.parametrize("lost", [ConnectionLostError, CommitUnknownError])
def test_a_connection_that_is_lost_within_a_load_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: type[TargetError]
) -> None:
    run = FollowedRun(tmp_path, "r1", LoadPolicy(60.0))
    run.stage(1)

    def lose(*_: object, **__: object) -> None:
        raise lost("The connection was lost", "The server restarts.", "Load again.")

    with monkeypatch.context() as patch:
        patch.setattr("metl_gui.workbench.loads.followed_loads.Loader.load", lose)
        (event,) = run.after(1)
        assert isinstance(event, SourceTroubled)
        assert "What is staged waits." in event.text
        assert run.after(1) == []
    assert run.loads.fault is None
    (event,) = run.after(20)
    assert isinstance(event, LoadCommitted)
    assert loaded(tmp_path) == [1]


def test_a_load_that_stands_though_nobody_answered_is_not_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = FollowedRun(tmp_path, "r1", LoadPolicy(60.0))
    run.stage(1)
    committed = DuckDb.transaction

    @contextmanager
    def unanswered(target: DuckDb) -> Iterator[None]:
        with committed(target):
            yield
        raise CommitUnknownError("The connection was lost at the end of a load", "", "")

    def away(_target: DuckDb) -> None:
        raise TargetError("The database does not answer", "The server restarts.", "")

    with monkeypatch.context() as patch:
        patch.setattr(DuckDb, "transaction", unanswered)
        patch.setattr(DuckDb, "reopen", away)
        (event,) = run.after(1)
        assert isinstance(event, SourceTroubled)
    run.stage(2)
    (again,) = run.after(20)
    assert isinstance(again, LoadCommitted)
    assert (again.load, again.appended) == ("r1-000000001", 1)
    (event,) = run.after(61)
    assert isinstance(event, LoadCommitted)
    assert (run.loads.fault, event.load, loaded(tmp_path)) == (None, "r1-000000002", [1, 2])
    assert run.loads.sum.appended == 2


def test_who_loses_the_connection_within_each_load_is_told_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = FollowedRun(tmp_path, "r1", LoadPolicy(60.0))
    run.stage(1)

    def lose(*_: object, **__: object) -> None:
        raise ConnectionLostError("The connection was lost", "The server has no memory.", "Load again.")

    monkeypatch.setattr("metl_gui.workbench.loads.followed_loads.Loader.load", lose)
    for _ in range(20):
        run.after(20)
    with pytest.raises(ConnectionLostError):
        run.loads.check()


def test_counts_of_two_loads_are_added() -> None:
    one = LoadReport(load="r", messages=2, appended=1, repeated=1, tables={"a": TableCounts(inserted=1)})
    other = LoadReport(
        load="r-1",
        messages=3,
        void=1,
        set_aside=2,
        keys=KeyCounts(changed=1, same=2),
        tables={"a": TableCounts(inserted=1, updated=2, closed=1), "b": TableCounts(removed=3)},
        waiting=4,
    )
    assert added(one, other) == LoadReport(
        load="r",
        messages=5,
        appended=1,
        repeated=1,
        void=1,
        set_aside=2,
        keys=KeyCounts(changed=1, same=2),
        tables={"a": TableCounts(inserted=2, updated=2, closed=1), "b": TableCounts(removed=3)},
        waiting=4,
    )
