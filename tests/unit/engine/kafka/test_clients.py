"""What a client raises, as it is said to people."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.engine.kafka.clients import ClientErrorLog, explained
from metl_gui.errors import RunError

SERVERS = KafkaServers(bootstrap="broker.example.com:9092")


def said_of(code: int, said: ClientErrorLog | None = None) -> RunError:
    return explained(SERVERS, KafkaException(KafkaError(code, "it is so.")), said, "orders")


@pytest.mark.parametrize(
    ("code", "title"),
    [
        (KafkaError._TRANSPORT, "The Kafka servers do not answer."),
        (KafkaError._MSG_TIMED_OUT, "The Kafka servers do not answer."),
        (KafkaError.NOT_LEADER_FOR_PARTITION, "The Kafka servers have not agreed yet on who answers."),
        (KafkaError.NOT_COORDINATOR, "The Kafka servers have not agreed yet on who answers."),
        (KafkaError._AUTHENTICATION, "The Kafka servers refuse the connection."),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, "The Kafka servers forbid this user a topic."),
        (KafkaError._INVALID_ARG, "A setting for Kafka will not do."),
        (KafkaError.POLICY_VIOLATION, "Kafka refuses what the run needs."),
    ],
)
def test_an_error_is_said_with_the_servers_and_a_way_out(code: int, title: str) -> None:
    error = said_of(code)
    assert error.title == title
    assert SERVERS.bootstrap in error.text
    assert error.hint


def test_servers_that_refuse_a_connection_are_not_said_to_be_away() -> None:
    said = ClientErrorLog()
    said(KafkaError(KafkaError.SASL_AUTHENTICATION_FAILED, "wrong password"))
    said(KafkaError(KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down"))
    error = said_of(KafkaError._TRANSPORT, said)
    assert error.title == "The Kafka servers refuse the connection."
    assert "wrong password" in error.text
