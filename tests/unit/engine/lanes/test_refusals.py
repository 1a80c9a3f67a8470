"""What Kafka refuses a lane for good is said with the topic that it is about, however the client tells it."""

from __future__ import annotations

import secrets
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.engine.kafka.topic_messages import Outgoing
from metl_gui.engine.kafka.topic_orders import TopicOrder
from metl_gui.engine.lanes.order import LaneOrder
from metl_gui.engine.lanes.transactional_client import TransactionalClient, explain_refusal
from tests.helpers.run_specs import run_spec

SERVERS = KafkaServers(bootstrap="broker.example.com:9092")
ORDER = LaneOrder(
    run=run_spec(run_id="run", group="group"),
    token=secrets.token_hex(8),
    topics=("in",),
    sink=TopicOrder(SERVERS, "out"),
    errors=TopicOrder(SERVERS, "errors"),
    plan="",
)


class Refusing:
    """Takes no message, as a producer that has heard already what it may not do."""

    def __init__(self, code: int) -> None:
        self.code = code

    def produce(self, *_: object, **__: object) -> None:
        raise KafkaException(KafkaError(self.code, "it is so"))


def refused(code: int, topic: str) -> KafkaException:
    exchange: Any = TransactionalClient.__new__(TransactionalClient)
    exchange.producer = Refusing(code)
    with pytest.raises(KafkaException) as caught:
        exchange.send([Outgoing(topic, b"{}", b"key", [])])
    return caught.value


@pytest.mark.parametrize(("topic", "name"), [("out", "its topic out"), ("errors", "its error topic errors")])
def test_a_topic_that_takes_no_message_from_this_user_is_named(topic: str, name: str) -> None:
    said = explain_refusal(ORDER, refused(KafkaError.TOPIC_AUTHORIZATION_FAILED, topic), None)
    assert said is not None
    assert name in said.title
    assert f"allowed to write to {topic}" in said.hint


def test_what_was_told_of_an_earlier_message_comes_first() -> None:
    before = KafkaError(KafkaError.MSG_SIZE_TOO_LARGE, "too large"), "errors"
    said = explain_refusal(ORDER, refused(KafkaError._STATE, "out"), before)
    assert said is not None
    assert "its error topic errors" in said.title


def test_a_message_that_cannot_be_taken_now_is_tried_again() -> None:
    assert explain_refusal(ORDER, refused(KafkaError._STATE, "out"), None) is None
