"""Runs in batches on a real Spark: every record once, whatever grows, shrinks or is published meanwhile."""

from __future__ import annotations

import contextlib
import gzip
import json
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from metl_gui.core.runs.events import BatchCommitted, EngineEvent, RunProgressed, SourceTroubled, StateChanged
from metl_gui.core.runs.report import RunReport
from metl_gui.core.runs.run_spec import PlanState, RunSpec
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.runs.run_folder import new_run_id
from metl_gui.engine.streaming.checkpoint import Checkpoint
from metl_gui.errors import RunError
from tests.helpers.event_files import HASH, STATE, EventMaker, order_plan
from tests.helpers.run_specs import run_spec

_BATCH_BYTES = 600_000
_WAIT_SECONDS = 60


@pytest.fixture
def maker() -> EventMaker:
    return EventMaker(seed=3)


@pytest.fixture
def source(tmp_path: Path, maker: EventMaker) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    for at in range(4):
        maker.write(folder / f"events-{at}.jsonl", 2_500)
    return folder


@pytest.fixture
def stream_of(tmp_path: Path, source: Path) -> Callable[..., RunSpec]:
    """Make specs of runs that go on with each other."""

    def make(**others: Any) -> RunSpec:
        run_id = new_run_id()
        facts: dict[str, Any] = {
            "run_id": run_id,
            "plan": order_plan(),
            "source": str(source),
            "sink": str(tmp_path / "out"),
            "errors": str(tmp_path / "errors"),
            "folder": str(tmp_path / run_id),
            "checkpoint": str(tmp_path / "checkpoint"),
            "mode": "production",
            "state": STATE,
            "hash": HASH,
            "batch_bytes": _BATCH_BYTES,
        }
        return run_spec(**(facts | others))

    return make


def sent(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for part in sorted(folder.rglob("*.jsonl")) for line in part.read_bytes().splitlines()]


def places(messages: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    return Counter((message["source"]["position"], message["entity"]) for message in messages)


class Follower:
    """A following run on a thread of its own, whose events can be waited for."""

    def __init__(self, spark: SparkProcess, spec: RunSpec) -> None:
        self.spark = spark
        self.events: list[EngineEvent] = []
        self.report: RunReport | None = None
        self.error: Exception | None = None
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._run, args=(spec,))
        self._thread.start()

    def until(self, is_so: Callable[[list[EngineEvent]], bool]) -> None:
        with self._news:
            assert self._news.wait_for(lambda: is_so(self.events) or self.error, _WAIT_SECONDS), self.events[-3:]
        assert self.error is None, self.error

    def read(self) -> int:
        return sum(event.read for event in self.events if isinstance(event, BatchCommitted))

    def end(self) -> None:
        self._thread.join(_WAIT_SECONDS)
        assert not self._thread.is_alive()

    def stop(self) -> RunReport:
        self.spark.cancel()
        self.end()
        assert self.report is not None, self.error
        return self.report

    def _take(self, event: EngineEvent) -> None:
        with self._news:
            self.events.append(event)
            self._news.notify_all()

    def _run(self, spec: RunSpec) -> None:
        try:
            self.report = self.spark.run(spec, self._take)
        except RunError as error:
            with self._news:
                self.error = error
                self._news.notify_all()


def test_a_run_in_batches_counts_every_record_once_and_the_next_one_reads_only_what_is_new(
    spark: SparkProcess, stream_of: Callable[..., RunSpec], source: Path, maker: EventMaker, tmp_path: Path
) -> None:
    events: list[EngineEvent] = []
    first = spark.run(stream_of(), events.append)
    assert maker.expected.differences(first) == {}
    assert first.batches > 2
    committed = [event for event in events if isinstance(event, BatchCommitted)]
    assert [event.batch for event in committed] == list(range(1, first.batches + 1))
    assert sum(event.read for event in committed) == first.read
    progressed = [event for event in events if isinstance(event, RunProgressed)]
    assert progressed[-1].tally.read == first.read
    assert progressed[-1].bytes_read == progressed[-1].bytes_total == sum(f.stat().st_size for f in source.iterdir())
    before = places(sent(tmp_path / "out"))
    assert sum(before.values()) == first.messages_out
    assert set(before.values()) == {1}

    later = EventMaker(seed=4)
    later.number = 1_000_000
    with (source / "events-0.jsonl").open("ab") as grown:
        grown.write(b"\n".join(later.lines(200)))  # the last line is not ended, and the run ends
    (source / "packed.jsonl.gz").write_bytes(gzip.compress(b"\n".join(later.lines(300))))
    second = spark.run(stream_of())
    assert later.expected.differences(second) == {}
    after = places(sent(tmp_path / "out"))
    assert set(after.values()) == {1}
    assert sum(after.values()) == first.messages_out + second.messages_out
    assert (
        Counter(row["reason"] for row in sent(tmp_path / "errors"))
        == maker.expected.by_reason + later.expected.by_reason
    )
    nothing = spark.run(stream_of())
    assert (nothing.read, nothing.batches, nothing.problems) == (0, 0, ())


def test_a_following_run_reads_growth_in_whole_lines_and_takes_a_published_state_between_two_batches(
    spark: SparkProcess, stream_of: Callable[..., RunSpec], source: Path, maker: EventMaker, tmp_path: Path
) -> None:
    follower = Follower(spark, stream_of(follow=True))
    try:
        follower.until(lambda _events: follower.read() == 10_000)
        grown = source / "events-3.jsonl"
        lines = list(maker.lines(400))
        whole, begun = lines[:399], lines[399]
        with grown.open("ab", buffering=0) as file:
            file.write(b"\n".join(whole) + b"\n" + begun[:5])
            follower.until(lambda _events: follower.read() == 10_399)
            Checkpoint(tmp_path / "checkpoint").use_plan(PlanState(state=8, hash="def", plan=order_plan(8, "def")))
            file.write(begun[5:] + b"\n")
        follower.until(lambda _events: follower.read() == 10_400)
        maker.write(source / "new.jsonl", 300)
        follower.until(lambda _events: follower.read() == 10_700)
    finally:
        report = follower.stop()
    assert maker.expected.differences(report) == {}
    assert (report.is_stopped, report.states, report.state, report.hash) == (True, (7, 8), 8, "def")
    changes = [event for event in follower.events if isinstance(event, StateChanged)]
    assert [(change.state, change.hash) for change in changes] == [(8, "def")]
    states = {e.batch: e.state for e in follower.events if isinstance(e, BatchCommitted)}
    by_part = [
        (int(part.name.split("-")[4]), {json.loads(line)["state"] for line in part.read_bytes().splitlines()})
        for part in (tmp_path / "out").rglob("part-*.jsonl")
    ]
    assert all(found == {states[batch]} for batch, found in by_part)
    assert set(places(sent(tmp_path / "out")).values()) == {1}


def test_a_file_that_shrinks_fails_the_run_by_name_and_is_left_out_when_it_goes_on(
    spark: SparkProcess, stream_of: Callable[..., RunSpec], source: Path, maker: EventMaker
) -> None:
    follower = Follower(spark, stream_of(follow=True))
    try:
        follower.until(lambda _events: follower.read() == 10_000)
        (source / "events-2.jsonl").write_bytes(b"{}\n")
        follower.end()
    finally:
        spark.cancel()
        follower.end()
    assert "became shorter" in str(follower.error)
    assert "events-2.jsonl" in str(follower.error)
    maker.write(source / "after.jsonl", 100)
    replaced = source / "events-1.jsonl"
    other = source.parent / "other.jsonl"
    other.write_bytes(b'{"x":1}\n' + replaced.read_bytes())
    other.replace(replaced)
    spec = msgspec.structs.replace(stream_of(), run_id=new_run_id())
    events: list[EngineEvent] = []
    report = spark.run(spec, events.append)
    assert report.read == 100
    said = [event.text for event in events if isinstance(event, SourceTroubled)]
    assert [text.split()[0] for text in said] == ["events-2.jsonl", "events-1.jsonl"]
    assert tuple(said) == report.problems


def test_a_disk_that_fills_up_under_the_checkpoint_ends_the_run_in_words_and_with_room_it_goes_on_where_it_was(
    spark: SparkProcess,
    stream_of: Callable[..., RunSpec],
    disk: Path,
    tmp_path: Path,
) -> None:
    source, filler, maker = tmp_path / "few", disk / "filler", EventMaker(seed=5)
    source.mkdir()
    maker.write(source / "first.jsonl", 500)
    facts = {"source": str(source), "checkpoint": str(disk / "checkpoint")}
    follower = Follower(spark, stream_of(follow=True, **facts))
    try:
        follower.until(lambda _events: follower.read() == 500)
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1024))
        maker.write(source / "more.jsonl", 500)
        follower.end()
    finally:
        spark.cancel()
        follower.end()
    assert isinstance(follower.error, RunError)
    assert follower.error.title == "A disk is full."
    assert str(disk) in follower.error.text
    assert "What is in place stays" in follower.error.hint
    filler.unlink()
    assert spark.run(stream_of(**facts)).read == 500
    assert set(places(sent(tmp_path / "out")).values()) == {1}
    assert Counter(row["reason"] for row in sent(tmp_path / "errors")) == maker.expected.by_reason
    assert sum(places(sent(tmp_path / "out")).values()) == maker.expected.messages_out


def test_outputs_and_checkpoints_of_another_run_are_refused_by_name(
    spark: SparkProcess, stream_of: Callable[..., RunSpec], tmp_path: Path
) -> None:
    first = stream_of()
    spark.run(first)
    with pytest.raises(RunError, match=rf"belongs to another run.*{first.run_id}"):
        spark.run(stream_of(checkpoint=str(tmp_path / "other")))
    with pytest.raises(RunError, match=r"checkpoint belongs to another run.*sink"):
        spark.run(stream_of(sink=str(tmp_path / "elsewhere")))
    with (
        Checkpoint(tmp_path / "checkpoint").exclusive("held-run"),
        pytest.raises(RunError, match=r"running already.*held-run"),
    ):
        spark.run(stream_of())
