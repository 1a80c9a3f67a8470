"""Messages as they go into topics."""

from __future__ import annotations

import json

import pytest
from confluent_kafka import Message

from metl_gui.engine.kafka.topic_messages import Outgoing, Outgoings, set_aside_message, topic_of
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel

ORDER = BlockPlan("order", "1", (("id", "order_id"), ("amount", "money.amount")))
REMARK = BlockPlan("remark", "1", (("id", "about"), ("note", "text")))
VERSION = VersionPlan("1", "", ("id", "amount", "note"), key=("id",), blocks=(ORDER, REMARK), is_inferred=True)
PLAN = Plan(7, "abc", (SchemaPlan("shop.public.orders", (VERSION,)),))


def change(op: str, number: int, key: bytes = b'{"id":1}') -> bytes:
    row = b'{"id":%d,"amount":1.50,"note":"n"}' % number
    before, after = (row, b"null") if op == "d" else (b"null", row)
    value = b'{"before":%b,"after":%b,"source":{"name":"shop","schema":"public","table":"orders"},"op":"%b"}'
    return b'{"topic":"shop.public.orders","partition":2,"offset":%d,"key":%b,"value":%b}' % (
        number, key, value % (before, after, op.encode()),
    )  # fmt: skip


def outcome_of(*raws: bytes, is_replay: bool = False) -> MappedBatch:
    return Kernel(PLAN, "production", is_replay=is_replay, choice="reference").map(Records.of(raws, "kafka"))


def sent(outcome: MappedBatch, **how: bool) -> list[Outgoing]:
    return Outgoings("metl.{entity}", 7, **how).of(outcome)


def test_every_message_goes_to_the_topic_of_its_entity_under_its_own_key_with_its_facts_in_headers() -> None:
    outcome = outcome_of(change("c", 1))
    first, second = sent(outcome)
    assert (first.topic, second.topic) == ("metl.order", "metl.remark")
    assert first.key == b'{"order_id":1}'
    assert second.key == b'{"about":1}'
    assert [first.value, second.value] == outcome.messages()
    assert dict(first.headers) == {
        "metl.state": "7",
        "metl.schema": "shop.public.orders",
        "metl.version": "1",
        "metl.position": "shop.public.orders/2/1",
    }


def test_the_headers_of_a_replay_say_so() -> None:
    replayed = sent(outcome_of(change("c", 1), is_replay=True))
    assert dict(replayed[0].headers)["metl.replayed"] == "true"


def test_a_tombstone_stands_right_behind_its_delete_and_only_where_asked() -> None:
    outcome = outcome_of(change("c", 1), change("d", 2, b'{"id":2}'))
    assert all(one.value is not None for one in sent(outcome))
    with_tombstones = sent(outcome, has_tombstones=True)
    order = [(one.key, one.value is None) for one in with_tombstones if one.topic == "metl.order"]
    assert order == [(b'{"order_id":1}', False), (b'{"order_id":2}', False), (b'{"order_id":2}', True)]


def test_a_truncate_has_neither_key_nor_tombstone_nor_version() -> None:
    value = b'{"before":null,"after":null,"source":{"name":"shop","schema":"public","table":"orders"},"op":"t"}'
    raw = b'{"topic":"shop.public.orders","partition":0,"offset":5,"value":%b}' % value
    messages = sent(outcome_of(raw), has_tombstones=True)
    assert [one.key for one in messages] == [None, None]
    assert "metl.version" not in dict(messages[0].headers)


@pytest.mark.parametrize(("one", "other"), [("a b", "a_b"), ("Übung", "_bung"), ("x" * 300, "x" * 301)])
def test_different_entities_have_different_topics_that_kafka_takes(one: str, other: str) -> None:
    topics = {topic_of("metl.{entity}.v1", name) for name in (one, other)}
    assert len(topics) == 2
    assert all(len(topic) <= 249 and topic.isascii() and " " not in topic for topic in topics)


def test_a_pattern_without_a_place_for_the_entity_is_one_topic_for_all() -> None:
    assert topic_of("metl.all", "order") == topic_of("metl.all", "remark") == "metl.all"


def test_what_is_set_aside_keeps_its_bytes_and_headers_and_says_why_behind_them() -> None:
    raw = b'{"topic":"nobody.knows","partition":0,"offset":9,"value":{"id":1}}'
    row = outcome_of(raw).set_aside[0]
    message = Message(
        topic="nobody.knows", key=b"\xff", value=b'{"id":1}', headers=[("trace", b"\x00"), ("metl.state", b"3")]
    )
    made = set_aside_message("metl.errors", row, message)
    assert (made.topic, made.key, made.value) == ("metl.errors", b"\xff", b'{"id":1}')
    assert made.headers[:2] == [("trace", b"\x00"), ("metl.state", b"3")]
    told = dict(made.headers)
    assert (told["metl.reason"], told["metl.state"]) == ("unknown_schema", "7")
    assert told["metl.position"] == "nobody.knows/0/9"
    assert told["metl.version"] == ""
    assert json.loads(row.text)["detail"] == told["metl.detail"]
