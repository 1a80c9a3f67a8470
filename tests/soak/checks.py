"""What must be so at the end of a soak, each with what was wanted and what was found."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

import psycopg
from confluent_kafka import Consumer, TopicPartition

from metl_gui.core.runs.kafka import KafkaServers
from tests.soak.consuming import Consuming
from tests.soak.received import KEPT_EACH, Received
from tests.soak.soak import Soak
from tests.soak.tables import Table

_ASK_SECONDS = 30.0
_AT_ONCE = 50_000


class Check(NamedTuple):
    """One thing that must be so.

    Args:
        what: in words.
        wanted, found: must be the same.
        is_told_only: it is a figure beside the checks; nothing must be so.
    """

    what: str
    wanted: object
    found: object
    is_told_only: bool = False

    @property
    def is_right(self) -> bool:
        """Whether it is so."""
        return self.is_told_only or self.wanted == self.found


def checks(soak: Soak, consuming: Consuming, report: Mapping[str, Any]) -> Iterator[Check]:
    """Look at everything; the load has ended, and nothing is read any more."""
    yield Check("problems on the way", 0, len(soak.figures.problems))
    yield Check("messages that could not be read", 0, consuming.unread)
    yield from _counts(soak, consuming)
    for table in soak.tables:
        yield from _once(table.name, consuming.received[table.topic])
    yield from _reported(soak, consuming, report)
    yield from _rows(soak, consuming)


def _counts(soak: Soak, consuming: Consuming) -> Iterator[Check]:
    """Compare what the database committed with what consumers read, by entity and operation."""
    ledger, by_entity = soak.ledger(), Counter[str]()
    plain, distinct, origins = Counter[str](), Counter[str](), Counter[str]()
    for table in soak.tables:
        one = consuming.received[table.topic]
        by_entity[table.entity] += sum(ledger[table.name])
        plain[table.entity] += sum(one.plain.values())
        distinct[table.entity] += sum(one.distinct.values())
        origins[table.entity] += one.origins
        for op, count in zip("cud", ledger[table.name], strict=True):
            yield Check(f"{table.name}, {_WORDS[op]}: committed, and read", count, one.distinct[op])
    for entity, count in sorted(by_entity.items()):
        yield Check(f"{entity}: changes committed, and different ones read", count, distinct[entity])
        yield Check(f"{entity}: the same by key, op and origin", count, origins[entity])
        yield Check(f"{entity}: all messages", count, plain[entity], is_told_only=True)


def _once(name: str, one: Received) -> Iterator[Check]:
    yield Check(f"{name}: records mapped twice", 0, one.mapped_twice)
    yield Check(f"{name}: records replayed twice, or mapped and replayed", 0, one.replayed_twice)
    yield Check(f"{name}: messages behind newer ones of their row", 0, one.went_back)


def _reported(soak: Soak, consuming: Consuming, report: Mapping[str, Any]) -> Iterator[Check]:
    parts = sum(report[name] for name in ("mapped", "filtered", "set_aside", "skipped"))
    there = sum(_records(soak.servers.kafka.servers, table.topic) for table in soak.tables)
    live = sum(one.live for one in consuming.received.values())
    replayed = sum(one.replayed for one in consuming.received.values())
    positions = sum(one.positions for one in consuming.received.values())
    aside, again = sum(consuming.by_reason.values()), soak.figures.again
    yield Check("report: read, and the sum of what became of it", report["read"], parts)
    yield Check("records in the topics, and read by the report", there, report["read"])
    yield Check("report: mapped, and messages that are no replays", report["mapped"], live)
    yield Check(
        "set aside by the lane and again by replays, and in the error topic", report["set_aside"] + again, aside
    )
    yield Check("report: set aside, and mapped by replays", report["set_aside"], soak.figures.replayed)
    yield Check("mapped by replays, and replayed messages", soak.figures.replayed, replayed)
    yield Check("records that are no tombstones, and different ones mapped", there - report["skipped"], positions)
    yield Check("the lane's lag", 0, soak.lane.lag)


def _rows(soak: Soak, consuming: Consuming) -> Iterator[Check]:
    """Compare the rows that a consumer ends with and those of the tables."""
    with psycopg.connect(soak.servers.postgres.url) as connection:
        for table in soak.tables:
            one = consuming.received[table.topic]
            with connection.cursor(name="soak") as rows:
                rows.itersize = _AT_ONCE
                rows.execute(f"SELECT id, change FROM {table.name}".encode())
                total, differing = one.differing(rows)
            yield Check(f"{table.name}: rows of {total:,} that differ at the end", 0, differing)
            looked, wrong = _contents(connection, table, one)
            yield Check(f"{table.name}: rows of {looked:,} with another content", 0, wrong)


def _contents(connection: psycopg.Connection[Any], table: Table, one: Received) -> tuple[int, int]:
    """Compare whole rows with what is kept of their last messages."""
    payloads, names = one.payloads(), list(table.attributes)
    wrong = looked = 0
    with connection.cursor() as rows:
        chosen = f"(id - {table.first}) % {KEPT_EACH} = 0"
        rows.execute(f"SELECT {', '.join(names)} FROM {table.name} WHERE {chosen}".encode())
        for row in rows:
            looked += 1
            told = json.loads(payloads.pop(row[0], b"null"), parse_float=Decimal) or {}
            pairs = zip(row, table.attributes.values(), strict=True)
            wrong += not all(_is_same(value, told.get(attribute)) for value, attribute in pairs)
    return looked, wrong + len(payloads)


def _is_same(value: object, told: object) -> bool:
    if isinstance(value, datetime):
        return isinstance(told, str) and datetime.fromisoformat(told) == value
    return value == told


def _records(servers: KafkaServers, topic: str) -> int:
    """Return how many records a topic has."""
    consumer = Consumer({**servers.client_settings, "group.id": "soak-looks", "enable.auto.commit": False})
    try:
        known = consumer.list_topics(topic, timeout=_ASK_SECONDS).topics[topic].partitions
        marks = [consumer.get_watermark_offsets(TopicPartition(topic, one), _ASK_SECONDS) for one in known]
        return sum(end - begin for begin, end in marks)
    finally:
        consumer.close()


_WORDS = {"c": "inserts", "u": "updates", "d": "deletes"}
