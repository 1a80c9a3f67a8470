"""A fast lane on a real broker of this computer: from event to event, its highest rate, and a change of state.

Event to event is from the time that the broker gave a record to the moment at which a consumer that reads what is
committed has its message: the wait for the end of the transaction is in it. Broker, writer, lane and consumer share the
computer. Rates are compared with those of a loop over Kafka Connect's own classes (``ConnectPipeline.java``) that does
the same renames for the same topic, in turn with ours and nobody reading beside either; payloads are compared first.
Stock Connect has no connector from Kafka to Kafka with converters.

A trial that loses or repeats a record fails the benchmark.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec

from metl_gui.core.runs.kafka import KafkaAddress, KafkaServers
from metl_gui.engine.kafka.offsets import LATEST_OFFSET, Lister
from metl_gui.engine.spark.java import find_java
from metl_gui.stack.jars import fetch
from metl_gui.stack.kafka import KAFKA_JARS, KafkaBroker
from tests.benchmarks.harness import OPEN, QUICK_ROUNDS, ROUNDS, Case, compared, figure
from tests.benchmarks.live_load import RENAMES
from tests.lane_trial.faults import FAULTS
from tests.lane_trial.load import Form, Load, start
from tests.lane_trial.reading import read_all
from tests.lane_trial.topics import trial_topics
from tests.lane_trial.trial import Result, Wanted, measure

_LATENCIES = ((1_000, 60.0), (10_000, 100.0))
"""Records a second, and the milliseconds in which 99 of 100 have to be there."""

_FORMS: tuple[Form, ...] = ("json+schema", "avro")
_SECONDS, _QUICK_SECONDS = 45, 12
_WARM_SECONDS = 5.0
"""So long the machine code of all that takes part is made; what comes in it is not measured."""

_BATCH_RATE = 1_000
_RATES = ((1, 1.0), (50, 2.0))
"""Versions of the schema in the topic, and the least ratio to Connect's rate."""

_RECORDS, _QUICK_RECORDS = 400_000, 60_000
_GUARDED_RECORDS = 1_500_000
"""A difference of 3 in 100 is not seen in the few seconds that fewer take."""

_HELD_SECONDS, _QUICK_HELD_SECONDS = 80, 5
_GUESSED = 300_000
_GAP_MS = 200.0
_COMPARED = 2_000
_TRANSACTION_MS = 100
_ROUNDS = 3
_GUARDED_TARGET = 0.97


def cases(rounds: int, quick: bool) -> Iterator[Case]:
    """Measure latencies, rates against Connect, what is held for a minute, and a change of state."""
    del rounds
    seconds = _QUICK_SECONDS if quick else _SECONDS
    with KafkaBroker() as broker:
        for form in _FORMS:
            for rate, target in _LATENCIES:
                yield _latency(broker, Wanted(rate * seconds, rate, form=form), target)
        yield _latency(broker, Wanted(_BATCH_RATE * seconds, _BATCH_RATE, lane="batch"), None)
        yield _change_of_state(broker, seconds)
        _compare(broker)
        for versions, target in _RATES:
            yield _rate(broker, versions, target, _QUICK_RECORDS if quick else _RECORDS, 1 if quick else _ROUNDS)
        yield _guarded(broker, _QUICK_RECORDS if quick else _GUARDED_RECORDS, QUICK_ROUNDS if quick else ROUNDS)
        for form in _FORMS:
            yield _held(broker, Wanted(_GUESSED, 0, form=form), _QUICK_HELD_SECONDS if quick else _HELD_SECONDS)
        yield _held(broker, Wanted(_GUESSED, 0, lane="batch"), _QUICK_HELD_SECONDS if quick else _HELD_SECONDS)


def _latency(broker: KafkaBroker, wanted: Wanted, target: float | None) -> Case:
    found = _right(measure(broker.servers, replace(wanted, leave_out_seconds=_WARM_SECONDS))).seen
    case = f"event to event, {_shown(wanted)}, {wanted.rate:,}/s: p99"
    return figure(case, found.p99, unit="ms", target=target, note=str(found))


def _shown(wanted: Wanted) -> str:
    lane = "fast lane" if wanted.lane == "fast" else "in batches"
    return f"{lane}, {'Avro' if wanted.form == 'avro' else 'JSON'}"


def _change_of_state(broker: KafkaBroker, seconds: int) -> Case:
    wanted = Wanted(10_000 * seconds, 10_000, leave_out_seconds=_WARM_SECONDS)
    found = _right(measure(broker.servers, wanted, lambda trial: FAULTS["state-changed"](trial, broker)))
    if len(found.states) != 2:
        raise AssertionError(f"the lane mapped with {found.states}")
    return figure("change of state at 10,000/s: longest gap", found.gap_ms, unit="ms", target=_GAP_MS)


def _held(broker: KafkaBroker, wanted: Wanted, seconds: float) -> Case:
    """Measure a topic that is full already and takes so long."""
    guessed = _right(measure(broker.servers, wanted)).rate
    found = _right(measure(broker.servers, replace(wanted, records=int(guessed * seconds))))
    note = f"{found.report.read / found.rate:.0f} s, in the slowest ten {found.slowest:,.0f}/s"
    return figure(f"rate held, {_shown(wanted)}", found.rate, unit="records/s", note=note)


def _rate(broker: KafkaBroker, versions: int, target: float, count: int, rounds: int) -> Case:
    """Compare the rates at which a topic that is full already is mapped."""
    pairs = [
        (
            _right(measure(broker.servers, Wanted(count, 0, versions))).rate,
            _connect_rate(broker.servers, versions, count),
        )
        for _ in range(rounds)
    ]
    return compared(
        f"highest rate, JSON, {versions} version{'s' if versions > 1 else ''} in the topic",
        pairs,
        unit="records/s",
        target=target,
        note=f"{count:,} records, beside a loop over Kafka Connect's classes",
        is_rate=True,
    )


def _guarded(broker: KafkaBroker, count: int, rounds: int) -> Case:
    """Compare the rate of a lane whose session asks for a secret with that of one in an open session."""
    wanted = Wanted(count, 0)
    unguarded = msgspec.structs.replace(OPEN, master=f"local[{wanted.tasks},4]")

    def rates(is_ours_first: bool) -> tuple[float, float]:
        targets = (None, unguarded) if is_ours_first else (unguarded, None)
        found = [_right(measure(broker.servers, wanted, target=target)).rate for target in targets]
        return (found[0], found[1]) if is_ours_first else (found[1], found[0])

    # A broker is a little faster each time, so that neither is always the second.
    pairs = [rates(number % 2 == 0) for number in range(rounds)]
    return compared(
        "highest rate, without authentication and encryption as baseline",
        pairs,
        unit="records/s",
        target=_GUARDED_TARGET,
        note=f"fast lane, JSON, {count:,} records",
        is_rate=True,
    )


def _connect_rate(servers: KafkaServers, versions: int, count: int) -> float:
    """Return how many records a second Connect's classes map, by the broker's times of their messages."""
    with trial_topics(servers, 2) as topics:
        _fill(servers, topics.source, versions, count)
        _connect(servers, topics.source, topics.sink, topics.group, count)
        times = [message.timestamp()[1] for message in read_all(topics, topics.sink)]
    if len(times) != count:
        raise AssertionError(f"Connect's classes made {len(times)} messages of {count} records")
    return count / ((max(times) - min(times)) / 1000)


def _compare(broker: KafkaBroker) -> None:
    """Hold the payloads of both against each other."""
    with trial_topics(broker.servers, 2) as topics:
        _fill(broker.servers, topics.source, 3, _COMPARED)
        _connect(broker.servers, topics.source, topics.sink, topics.group, _COMPARED)
        theirs = {_text(message.key()): json.loads(message.value() or b"") for message in read_all(topics, topics.sink)}
    found = measure(broker.servers, Wanted(_COMPARED, 0, 3), keeps_messages=True)
    ours = {}
    for message in _right(found).messages:
        document = json.loads(message.value() or b"")
        ours[json.dumps(document["key"])] = document["payload"]
    if ours != {json.dumps(json.loads(key)): value for key, value in theirs.items()}:
        raise AssertionError("the payloads of Connect's classes are others than ours")


def _text(key: bytes | None) -> str:
    return (key or b"").decode()


def _fill(servers: KafkaServers, topic: str, versions: int, count: int) -> None:
    if start(Load(servers.bootstrap, topic, count, 0.0, versions)).wait() != 0:
        raise RuntimeError("the load could not be written")
    lister = Lister(servers, KafkaAddress(topics=(topic,)))
    if sum(lister.offsets(lister.places(), LATEST_OFFSET).values()) != count:
        raise AssertionError("the load was not written whole")


def _connect(servers: KafkaServers, source: str, sink: str, group: str, count: int) -> None:
    renames = ",".join(f"{old}:{new}" for old, new in RENAMES.items())
    program = Path(__file__).with_name("ConnectPipeline.java")
    command = [str(find_java().path / "bin" / "java"), "-Xmx1g", "-cp", f"{fetch(KAFKA_JARS)}/*", str(program)]
    asked = [servers.bootstrap, source, sink, group, str(count), renames, f"id:{RENAMES['id']}", str(_TRANSACTION_MS)]
    with tempfile.TemporaryFile() as said:
        done = subprocess.run([*command, *asked], stdout=said, stderr=said, check=False)
        if done.returncode != 0:
            said.seek(0)
            raise RuntimeError(said.read()[-2000:].decode(errors="replace"))


def _right(result: Result) -> Result:
    if not result.is_right:
        raise AssertionError(f"{result.missing} records are missing, {result.repeated} came again")
    return result
