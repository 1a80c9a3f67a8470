"""One trial: a lane on a broker, a load, and what became of it."""

from __future__ import annotations

import gc
import tempfile
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise

from confluent_kafka import Message

from metl_gui.core.runs.events import EngineEvent, LaneProgressed, LaneTroubled, RunProgressed, RunStarted
from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.core.runs.report import RunReport
from metl_gui.core.runs.run_spec import Lane, RunSpec
from metl_gui.core.runs.target import Target
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.runs.run_folder import new_run_id
from metl_gui.errors import RunError
from tests.benchmarks.live_load import plan_of_versions
from tests.helpers.run_specs import run_spec
from tests.lane_trial.load import Form, Load, start
from tests.lane_trial.reading import Arrival, Consuming, Quantiles, check, quantiles, read_all, times_of, written
from tests.lane_trial.topics import TrialTopics, trial_topics

_START_SECONDS = 120.0
_FAULT_SECONDS = 8.0
_TRIES = 3
_WINDOW_SECONDS = 10


@dataclass(frozen=True)
class Wanted:
    """What is tried.

    Args:
        records, rate, versions, form: of the load; rate 0 writes everything before the lane starts.
        lane: which of the two.
        partitions: of each topic.
        tasks: of the lane.
        leave_out_seconds: records of the first seconds are not measured.
    """

    records: int
    rate: float
    versions: int = 1
    form: Form = "json+schema"
    lane: Lane = "fast"
    partitions: int = 2
    tasks: int = 2
    leave_out_seconds: float = 2.0


@dataclass(frozen=True)
class Result:
    """What came of it.

    Args:
        report: the lane's.
        written: from record to message, by the broker's times of both.
        seen: from record to a consumer that reads what is committed.
        missing, repeated: records without a message, messages that came again.
        rate: records a second from the first message to the last.
        slowest: records a second in the slowest ten seconds between them; 0 where there were not as many.
        gap_ms: the longest time in which a consumer saw nothing.
        states: that the lane mapped with.
        troubles: what the lane told.
        messages: everything in the sink, where that was asked for.
    """

    report: RunReport
    written: Quantiles
    seen: Quantiles
    missing: int
    repeated: int
    rate: float
    slowest: float
    gap_ms: float
    states: tuple[int, ...]
    troubles: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()

    @property
    def is_right(self) -> bool:
        """Whether every record became one message, and the lane counted so."""
        return not self.missing and not self.repeated and self.report.read == self.report.messages_out


Fault = Callable[["Trial"], None]


@dataclass
class Trial:
    """A trial that goes on, as a fault meets it."""

    wanted: Wanted
    topics: TrialTopics
    spark: SparkProcess
    progress: LaneProgressed | None = None
    troubles: list[str] = field(default_factory=list)
    is_started: threading.Event = field(default_factory=threading.Event)
    has_failed: bool = False

    def run(self, spec: RunSpec) -> RunReport:
        """Run the lane, and go on with it when it dies, as whoever watches over it does."""
        for _ in range(_TRIES):
            try:
                return self.spark.run(spec, self.take)
            except RunError as error:
                self.troubles.append(str(error))
        self.has_failed = True
        self.is_started.set()
        raise RuntimeError(f"the lane does not go on: {self.troubles[-1]}")

    def load(self) -> None:
        """Write everything into the source."""
        wanted = self.wanted
        bootstrap, topic = self.topics.servers.bootstrap, self.topics.source
        load = Load(bootstrap, topic, wanted.records, wanted.rate, wanted.versions, wanted.form)
        if start(load).wait() != 0:
            raise RuntimeError("the load could not be written")

    def flow(self, fault: Fault | None) -> None:
        """Let records flow once the tasks are there, and disturb them."""
        self.is_started.wait(_START_SECONDS)
        if self.has_failed:
            return
        disturbing = threading.Thread(target=self._disturb, args=(fault,), name="trial-fault")
        disturbing.start()
        if self.wanted.rate:
            self.load()
        disturbing.join()

    def _disturb(self, fault: Fault | None) -> None:
        if fault is not None:
            time.sleep(_FAULT_SECONDS)
            fault(self)

    def take(self, event: EngineEvent) -> None:
        """Note an event; stop the lane once everything is mapped."""
        if isinstance(event, LaneTroubled):
            self.troubles.append(event.text)
        elif isinstance(event, LaneProgressed):
            self.progress = event
            if event.partitions and all(one.task is not None for one in event.partitions):
                self.is_started.set()
            self._stop_after(event.tally.read)
        elif isinstance(event, RunStarted) and self.wanted.lane == "batch":
            self.is_started.set()
        elif isinstance(event, RunProgressed):
            self._stop_after(event.tally.read)

    def _stop_after(self, read: int) -> None:
        if read >= self.wanted.records:
            self.spark.cancel()


def spec_of(topics: TrialTopics, wanted: Wanted, folder: str, **others: object) -> RunSpec:
    """Ask for the lane of a trial."""
    is_fast = wanted.lane == "fast"
    facts: dict[str, object] = {
        "run_id": new_run_id(),
        "plan": plans.encode(plan_of_versions(wanted.versions, wanted.form == "avro")),
        "source": topics.address(topics.source),
        "sink": topics.address(topics.sink),
        "errors": topics.address(topics.errors),
        "folder": folder,
        "mode": "production",
        "state": 17,
        "hash": "0" * 64,
        "lane": wanted.lane,
        "follow": True,
        "start": "" if is_fast else "earliest",
        "checkpoint": "" if is_fast else f"{folder}/checkpoint",
        "group": topics.group if is_fast else "",
        "matrix": topics.group,
        "servers": (topics.servers,) * 3,
    }
    return run_spec(**(facts | others))


def measure(
    servers: KafkaServers,
    wanted: Wanted,
    fault: Fault | None = None,
    *,
    target: Target | None = None,
    keeps_messages: bool = False,
) -> Result:
    """Run a lane under a load, and look at what came of it.

    Args:
        servers: the broker.
        wanted: the load.
        fault: done once, on a thread of its own, while records flow.
        target: where Spark runs; by default as many tasks as wanted on this computer.
        keeps_messages: the result has all messages of the sink.
    """
    with (
        trial_topics(servers, wanted.partitions) as topics,
        _without_collection(),
        tempfile.TemporaryDirectory(prefix="metl-trial-") as folder,
        SparkProcess(target or f"local[{wanted.tasks},4]") as spark,
    ):
        spark.wait_until_ready()
        trial = Trial(wanted, topics, spark)
        # Where only the rate is measured nobody reads beside, as nobody does beside what it is compared with.
        consuming = Consuming(topics, [topics.sink, topics.errors]) if wanted.rate else None
        beside = threading.Thread(target=trial.flow, args=(fault,), name="trial-load")
        if not wanted.rate:
            trial.load()
        beside.start()
        try:
            report = trial.run(spec_of(topics, wanted, folder))
        finally:
            beside.join()
        arrivals = consuming.end() if consuming else written(topics, [topics.sink, topics.errors])
        came = times_of(topics, topics.source)
        messages = tuple(read_all(topics, topics.sink)) if keeps_messages else ()
    result = _result(wanted, report, arrivals, came, tuple(trial.troubles))
    return replace(result, messages=messages)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Look for no garbage among millions of arrivals: whoever measures would see what it does as a gap."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _result(
    wanted: Wanted, report: RunReport, arrivals: list[Arrival], came: dict[str, int], troubles: tuple[str, ...]
) -> Result:
    missing, repeated = check(came, arrivals)
    first = min(came.values()) + wanted.leave_out_seconds * 1000
    measured = [one for one in arrivals if one.position in came and came[one.position] >= first]
    seen = sorted(one.seen_ms for one in arrivals)
    seconds = (seen[-1] - seen[0]) / 1000 if seen else 0.0
    windows = range(int(seconds // _WINDOW_SECONDS) + 1)
    marks = [bisect_left(seen, seen[0] + 1000 * _WINDOW_SECONDS * number) for number in windows] if seen else []
    return Result(
        report=report,
        written=quantiles(one.written_ms - came[one.position] for one in measured),
        seen=quantiles(one.seen_ms - came[one.position] for one in measured),
        missing=missing,
        repeated=repeated,
        rate=len(arrivals) / seconds if seconds else 0.0,
        slowest=min((last - first for first, last in pairwise(marks)), default=0) / _WINDOW_SECONDS,
        gap_ms=max((b.seen_ms - a.seen_ms for a, b in pairwise(measured)), default=0.0),
        states=report.states or (report.state,),
        troubles=troubles,
    )
