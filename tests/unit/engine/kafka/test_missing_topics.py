"""Topics that are gone while a stream rests: what was planned of them is given up only where servers are sure of it."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicCollection

from metl_gui.core.runs.kafka import KafkaAddress, KafkaServers
from metl_gui.engine.checks import topic_checks
from metl_gui.engine.kafka import consumer, offsets
from metl_gui.engine.kafka.consumer import OffsetRange, RangeReader
from metl_gui.engine.kafka.offsets import Lister
from metl_gui.engine.sources.files import FileRange
from metl_gui.engine.sources.source import partition_file
from metl_gui.engine.streaming.checkpoint import Checkpoint, PlanInUse
from metl_gui.engine.streaming.ledger import BatchPlan, KnownPartition, Ledger
from metl_gui.engine.streaming.topic_planner import mend_topics
from metl_gui.errors import RunError
from tests.helpers.run_specs import run_spec

_SERVERS = KafkaServers(bootstrap="127.0.0.1:1")
_GONE, _FORBIDDEN = KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.TOPIC_AUTHORIZATION_FAILED


class Servers:
    """Describes topics as a client for administration does, and lists none.

    Args:
        answers: of each topic, one after the other and the last for ever: its partitions, or the number of an error.
    """

    def __init__(self, answers: dict[str, list[list[int] | int]]) -> None:
        self.answers = answers

    def list_topics(self, **_: object) -> Any:
        return SimpleNamespace(topics={})

    def describe_topics(self, topics: TopicCollection, **_: object) -> dict[str, Future[Any]]:
        return {name: self._answer(self.answers[name]) for name in topics.topic_names}

    @staticmethod
    def _answer(answers: list[list[int] | int]) -> Future[Any]:
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        future: Future[Any] = Future()
        if isinstance(answer, int):
            future.set_exception(KafkaException(KafkaError(answer)))
        else:
            future.set_result(SimpleNamespace(partitions=[SimpleNamespace(id=number) for number in answer]))
        return future


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[list[int] | int]]:
    """Return what servers answer of topics, to be filled."""
    answers: dict[str, list[list[int] | int]] = {}
    monkeypatch.setattr(offsets, "_MISSING_SECONDS", 0.0)
    monkeypatch.setattr(Lister, "admin", Servers(answers))
    return answers


@pytest.mark.parametrize(
    ("answers", "missing"),
    [
        ([[0, 1]], set()),
        ([[0]], {("t", 1)}),
        ([_GONE], {("t", 0), ("t", 1)}),
        ([_GONE, [0, 1]], set()),
        ([KafkaError.LEADER_NOT_AVAILABLE], set()),
    ],
)
def test_a_partition_is_gone_whose_topic_servers_do_not_know_twice(
    asked: dict[str, list[list[int] | int]], answers: list[list[int] | int], missing: set[tuple[str, int]]
) -> None:
    asked["t"] = answers
    assert Lister(_SERVERS, KafkaAddress()).missing([("t", 0), ("t", 1)]) == missing
    assert Lister(_SERVERS, KafkaAddress()).missing([]) == set()


def test_what_was_planned_of_a_topic_stays_planned_unless_it_is_gone(
    asked: dict[str, list[list[int] | int]], tmp_path: Path
) -> None:
    checkpoint = _planned(tmp_path)
    planned = Ledger(checkpoint.ledger).batch(1)
    asked["t"] = [_GONE, [0]]
    mend_topics(checkpoint, _SERVERS, 0)
    asked["t"] = [_FORBIDDEN]
    with pytest.raises(RunError, match="forbid this user a topic"):
        mend_topics(checkpoint, _SERVERS, 0)
    assert (Ledger(checkpoint.ledger).batch(1), checkpoint.problem_texts()) == (planned, [])
    asked["t"] = [_GONE]
    mend_topics(checkpoint, _SERVERS, 0)
    assert Ledger(checkpoint.ledger).batch(1).tasks == []
    assert "t/0 went before 100 offsets of it were read" in checkpoint.problem_texts()[0]


def test_a_stream_goes_on_without_a_topic_that_it_names_and_does_not_begin_without_it(
    asked: dict[str, list[list[int] | int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not asked
    monkeypatch.setattr(offsets, "_AGAIN_SECONDS", 0.0)
    spec = run_spec(source="kafka://127.0.0.1:1/t", sink="noop", follow=True, servers=(_SERVERS,))
    topic_checks.check_topics(spec, is_resumed=True)
    with pytest.raises(RunError, match="There is no topic t"):
        topic_checks.check_topics(spec)


def test_a_topic_that_was_missed_and_came_again_is_not_taken_for_gone_when_it_is_missed_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unknown(*_: object) -> tuple[int, int]:
        raise KafkaException(KafkaError(_GONE))

    monkeypatch.setattr(consumer, "bounds", unknown)
    reader, client = RangeReader(_SERVERS, [OffsetRange("t", 0, 0, 10)]), SimpleNamespace()
    message = SimpleNamespace(topic=lambda: "t", partition=lambda: 0, offset=lambda: 3, error=lambda: None)
    reader._doubt(client)  # type: ignore[arg-type]  # it is not asked
    reader._taken(client, [_Sized(message)])  # type: ignore[arg-type,list-item]  # as a client and a message
    reader._doubt(client)  # type: ignore[arg-type]
    with pytest.raises(RunError, match="Topic t went"):
        reader._doubt(client)  # type: ignore[arg-type]


class _Sized:
    def __init__(self, message: SimpleNamespace) -> None:
        self.__dict__.update(vars(message))

    def __len__(self) -> int:
        return 1


def _planned(folder: Path) -> Checkpoint:
    """Return a stream of which one batch is planned."""
    checkpoint = Checkpoint(folder / "checkpoint")
    checkpoint.ledger.mkdir(parents=True)
    ledger = Ledger(checkpoint.ledger)
    ledger.begin({"t/0": KnownPartition("x", 0, 100)})
    plan = BatchPlan(
        number=1,
        plan=PlanInUse(file="p", state=1, hash="h", publication=0),
        files=[partition_file("t", 0, 100)],
        tasks=[[FileRange(0, 0, 100)]],
        known={},
        partitions={"t/0": KnownPartition("x", 100, 100)},
        bytes_planned=100,
    )
    ledger.add(plan, committed=0)
    return checkpoint
