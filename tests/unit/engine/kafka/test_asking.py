"""What is asked again while servers choose who answers, and what is not."""

from __future__ import annotations

import time

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from metl_gui.engine.kafka.clients import AWAY, CHOOSING, NO_LEADER, bounds, passes


class Client:
    """Answers as a consumer does that asks for the ends of a partition, with one error after the other first."""

    def __init__(self, errors: list[int]) -> None:
        self.errors = errors
        self.asked = 0

    def get_watermark_offsets(self, partition: TopicPartition, timeout: float, cached: bool) -> tuple[int, int]:
        assert (partition.topic, partition.partition, timeout, cached) == ("a", 2, 5.0, False)
        self.asked += 1
        if self.errors:
            raise KafkaException(KafkaError(self.errors.pop(0)))
        return 3, 9


def ends(client: Client) -> tuple[int, int]:
    return bounds(client, TopicPartition("a", 2), 5.0)  # type: ignore[arg-type]  # answers as one does


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that went by: those that were slept."""
    slept: list[float] = []
    monkeypatch.setattr(time, "monotonic", lambda: sum(slept))
    monkeypatch.setattr(time, "sleep", slept.append)
    return slept


def test_a_partition_whose_leader_is_being_chosen_is_asked_for_again(clock: list[float]) -> None:
    client = Client(sorted(CHOOSING))
    assert ends(client) == (3, 9)
    assert client.asked == 11
    assert len(clock) == 10


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("code", [KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError._TIMED_OUT])
def test_what_does_not_go_by_is_said_at_once(code: int) -> None:
    client = Client([code])
    with pytest.raises(KafkaException):
        ends(client)
    assert client.asked == 1


def test_servers_that_never_choose_are_asked_no_longer_than_they_may_take(clock: list[float]) -> None:
    with pytest.raises(KafkaException):
        ends(Client([KafkaError.NOT_LEADER_FOR_PARTITION] * 1000))
    assert 5.0 < sum(clock) < 5.2


@pytest.mark.parametrize("code", sorted(AWAY | NO_LEADER))
def test_a_reader_goes_on_when_servers_are_away_or_choose(code: int) -> None:
    assert passes(KafkaError(code))
    assert not passes(KafkaError(code, "and it is the end of the client", fatal=True))


@pytest.mark.parametrize(
    "code", [KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError._AUTO_OFFSET_RESET, KafkaError._FAIL]
)
def test_a_reader_does_not_go_on_from_what_somebody_must_see_to(code: int) -> None:
    assert not passes(KafkaError(code))
