"""Rows that Spark reads from PostgreSQL stand in the topic of a load as the connector would have sent them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from confluent_kafka import Consumer, Message

from metl_gui.core.runs.target import Target
from metl_gui.engine.loading.staged_rows import RowForm, StagingOrder, is_by_key, stage
from metl_gui.formats.connect_schema import declare, row_of
from metl_gui.formats.table_columns import TableColumn
from metl_gui.registry.addresses import parse_database
from metl_gui.registry.remote.snapshot import open_snapshot, parts_of, select_of
from metl_gui.stack.connect import with_schemas
from metl_gui.stack.jars import fetch
from metl_gui.stack.kafka import KAFKA_JARS, KafkaBroker
from metl_gui.stack.postgres import OWNER, PostgresServer
from tests.live.conftest import WatchTables
from tests.live.test_row_values import make_table

pytestmark = pytest.mark.live


def messages(broker: KafkaBroker, topic: str, count: int) -> Iterator[Message]:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    try:
        while count:
            message = consumer.poll(30)
            assert message is not None, f"{count} records of {topic} do not come"
            if message.error() is None:  # else the topic is not there yet
                count -= 1
                yield message
    finally:
        consumer.close()


def test_staged_rows_have_the_keys_partitions_and_values_of_the_connectors_own(
    kafka: KafkaBroker, postgres: PostgresServer, debezium: WatchTables, own_name: str
) -> None:
    make_table(postgres, own_name)
    connector = debezium([f"public.{own_name}"], own_name, with_schemas())
    sent = list(messages(kafka, connector.topic(f"public.{own_name}"), 3))
    assert is_by_key(((one.key() or b"", one.partition() or 0) for one in sent), 2)
    newest = sent[-1]
    schema = json.loads(newest.value() or b"")["schema"]
    with open_snapshot(parse_database(postgres.url)) as snapshot:
        natives = snapshot.natives("public", own_name)
        columns = tuple(
            TableColumn(one.path, natives[one.path], one.type, one.logical, one.scale, one.optional)
            for one in declare(row_of(schema))
        )
        (table,) = snapshot.tables("public", own_name)
        order = StagingOrder(
            target=Target(master="local[2]"),
            driver=str(next(fetch(KAFKA_JARS).glob("postgresql-*.jar"))),
            url=f"jdbc:postgresql://127.0.0.1:{postgres.port}/{postgres.database}",
            properties=(("user", OWNER), ("password", postgres.password)),
            joining=snapshot.joining,
            tables=((select_of(table, columns), tuple(parts_of(table))),),
            form=RowForm(
                value=newest.value() or b"",
                key=newest.key() or b"",
                columns=columns,
                mapped=frozenset(natives),
                end=snapshot.end,
            ),
            servers=kafka.servers,
            topic=f"load.{own_name}",
        )
        postgres.execute(f"INSERT INTO {own_name} (id) VALUES (4); DELETE FROM {own_name} WHERE id = 1")
        assert msgspec.json.decode(msgspec.json.encode(order), type=StagingOrder) == order
        told = list(stage(order))
    assert (told[-1].rows, told[-1].parts) == (3, 1)
    loaded = {one.key(): one for one in messages(kafka, order.topic, 3)}
    assert set(loaded) == {one.key() for one in sent}
    for one in sent:
        ours = loaded[one.key()]
        assert ours.partition() == one.partition()
        assert without_position(ours.value()) == without_position(one.value())


def without_position(value: bytes | None) -> dict[str, Any]:
    change: dict[str, Any] = json.loads(value or b"")
    payload, source = change["payload"], change["payload"]["source"]
    for moment in ("ts_ms", "ts_us", "ts_ns"):
        del payload[moment]
    for place in ("lsn", "sequence", "txId", "snapshot"):
        del source[place]
    return change
