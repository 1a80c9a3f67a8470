"""Offsets of a topic that was just made are asked for again while servers choose who answers, and no longer."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any, NamedTuple

import pytest
from confluent_kafka import KafkaError, KafkaException

from metl_gui.core.runs.kafka import KafkaAddress, KafkaServers
from metl_gui.engine.kafka import offsets
from metl_gui.engine.kafka.offsets import LATEST_OFFSET, Lister
from metl_gui.errors import RunError


class Topic(NamedTuple):
    partitions: tuple[int, ...]
    error: None = None


class Topics(NamedTuple):
    topics: dict[str, Topic]


class Answer(NamedTuple):
    offset: int


class Servers:
    """Answers as a client for administration does, with one error after the other first.

    Args:
        there: how many partitions each topic has.
        errors: what each partition is answered with at first, by topic.
    """

    def __init__(self, there: dict[str, int], errors: dict[str, list[int]]) -> None:
        self.there, self.errors = there, errors
        self.asked: list[set[str]] = []

    def list_topics(self, **_: object) -> Topics:
        return Topics({name: Topic(tuple(range(partitions))) for name, partitions in self.there.items()})

    def list_offsets(self, asked: Iterable[Any], **_: object) -> dict[Any, Future[Answer]]:
        self.asked.append({one.topic for one in asked})
        return {one: self._answer(one.topic) for one in asked}

    def _answer(self, topic: str) -> Future[Answer]:
        future: Future[Answer] = Future()
        if left := self.errors.get(topic):
            future.set_exception(KafkaException(KafkaError(left.pop(0))))
        else:
            future.set_result(Answer(7))
        return future


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offsets, "_AGAIN_SECONDS", 0.0)


def lister_of(servers: Servers) -> Lister:
    lister = Lister(KafkaServers(bootstrap="h:1"), KafkaAddress(topics=("a", "b")), is_strict=False)
    lister._admin = servers  # type: ignore[assignment]  # answers as one does
    return lister


@pytest.mark.usefixtures("patience")
def test_a_partition_that_nobody_answers_for_yet_is_asked_for_again_and_the_others_are_not() -> None:
    new = [KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.LEADER_NOT_AVAILABLE]
    servers = Servers({"a": 1, "b": 1}, {"a": new})
    assert lister_of(servers).offsets([("a", 0), ("b", 0)], LATEST_OFFSET) == {("a", 0): 7, ("b", 0): 7}
    assert servers.asked == [{"a", "b"}, {"a"}, {"a"}, {"a"}]


@pytest.mark.usefixtures("patience")
def test_a_topic_or_partition_that_went_is_left_out_at_once() -> None:
    servers = Servers({"b": 1}, {"a": [KafkaError.UNKNOWN_TOPIC_OR_PART], "b": [KafkaError.UNKNOWN_TOPIC_OR_PART]})
    assert lister_of(servers).offsets([("a", 0), ("b", 3)], LATEST_OFFSET) == {}
    assert len(servers.asked) == 1


def test_whoever_answers_for_no_partition_for_long_is_at_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offsets, "_PATIENCE_SECONDS", 0.0)
    servers = Servers({"a": 1}, {"a": [KafkaError.NOT_LEADER_FOR_PARTITION] * 100})
    with pytest.raises(RunError):
        lister_of(servers).offsets([("a", 0)], LATEST_OFFSET)


@pytest.mark.usefixtures("patience")
def test_an_error_that_does_not_go_by_is_told_at_once() -> None:
    servers = Servers({"a": 1}, {"a": [KafkaError.TOPIC_AUTHORIZATION_FAILED] * 2})
    with pytest.raises(RunError):
        lister_of(servers).offsets([("a", 0)], LATEST_OFFSET)
    assert len(servers.asked) == 1
