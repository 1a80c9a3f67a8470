"""Messages on their way into topics, where the client has room for some of them only."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.engine.kafka.topic_messages import Header, Outgoing
from metl_gui.engine.kafka.topic_orders import TopicOrder
from metl_gui.engine.sinks import topic_sink
from metl_gui.engine.sinks.topic_sink import Sender, fitting


class _Producer:
    """A client with room for so many bytes, of which one message is acknowledged at a time."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.waiting: list[bytes] = []
        self.sent: list[bytes] = []

    def __len__(self) -> int:
        return len(self.waiting)

    def produce(self, _topic: str, value: bytes, _key: bytes | None, **_others: Any) -> None:
        if sum(map(len, self.waiting)) + len(value) > self.room:
            raise BufferError
        self.waiting.append(value)

    def poll(self, seconds: float) -> None:
        if seconds and self.waiting:
            self.sent.append(self.waiting.pop(0))


def test_a_message_waits_until_several_smaller_ones_have_made_room_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    producer = _Producer(room=10)
    client = SimpleNamespace(producer=producer, failed=[], said=None)
    monkeypatch.setattr(topic_sink._PRODUCERS, "take", lambda _key: client)
    values = [b"aaa", b"bbb", b"ccc", b"larger!!!", b"d"]
    order = TopicOrder(KafkaServers(bootstrap="127.0.0.1:1"), "out")
    Sender(order).send([Outgoing("out", value, b"k", []) for value in values])
    assert [*producer.sent, *producer.waiting] == values


@pytest.mark.parametrize("key", [b"k", b"k" * 5_000])
def test_what_an_error_topic_has_no_room_for_is_taken_out_and_why_it_was_set_aside_never_is(key: bytes) -> None:
    why: list[Header] = [("metl.reason", "malformed"), ("metl.position", "orders/0/7")]
    own: list[Header] = [("metl.reason", "its own"), ("h", b"x" * (len(key) - 1))]
    made = fitting(Outgoing("errors", b"v" * 3_000, key, [*own, *why]), 2_000)
    is_small = len(key) == 1
    assert made.value == b""
    assert made.key == (key if is_small else None)
    assert made.headers == [*(own if is_small else ()), *why, ("metl.cut", "3000")]
