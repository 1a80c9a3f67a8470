"""All rows of a table go through a running lane once while they change, and none goes back to an older value."""

from __future__ import annotations

import json
import random
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from metl_gui.workbench.components.kafka import KafkaBroker
from metl_gui.workbench.components.postgres import PostgresServer
from metl_gui.workbench.lanes import Lane, find_lane
from metl_gui.workbench.loading import LoadRequest, plan_load
from metl_gui.workbench.production import start_production, stop_run
from metl_gui.workbench.running import RunRequest
from metl_gui.workbench.session import Workbench
from tests.helpers.lanes import until
from tests.helpers.table_project import table_project
from tests.live.conftest import WatchTables

pytestmark = [pytest.mark.live, pytest.mark.spark]

ROWS = 2_000
COLUMNS = {"id": "int64", "count": "int64", "name": "string"}
Sent = dict[int, list[dict[str, Any]]]


@pytest.fixture
def table(postgres: PostgresServer, own_name: str) -> str:
    """A table whose rows are older than everything that watches it; an update always counts up."""
    postgres.execute(
        f"CREATE TABLE {own_name} (id bigint PRIMARY KEY, count bigint NOT NULL, name text);"
        f"INSERT INTO {own_name} SELECT n, 0, 'row ' || n FROM generate_series(1, {ROWS}) n; ANALYZE {own_name};"
    )
    return own_name


@contextmanager
def lane_of(workbench: Workbench, kafka: KafkaBroker, topic: str) -> Iterator[Lane]:
    """Keep a production lane that maps a topic."""
    name = f"{topic}.out"
    admin = AdminClient(dict(kafka.servers.client_settings))
    new: Any = NewTopic
    for future in admin.create_topics([new(name, 2, 1), new(f"{topic}.errors", 1, 1)]).values():
        future.result()
    request = RunRequest(
        source=f"kafka://{kafka.bootstrap}/{topic}",
        sink=f"kafka://{kafka.bootstrap}/{name}",
        errors=f"kafka://{kafka.bootstrap}/{topic}.errors",
        mode="production",
        follow=True,
        lane="fast",
        spark="local[2]",
    )
    run = start_production(workbench, request)
    try:
        yield find_lane(workbench, run.run_id)
    finally:
        stop_run(run, 30)


@contextmanager
def changing(postgres: PostgresServer, table: str) -> Iterator[None]:
    """Insert, update and delete rows of a table as fast as it goes."""
    is_over = threading.Event()
    choice = random.Random(7)

    def change() -> None:
        new = ROWS
        while not is_over.is_set():
            some = ",".join(str(choice.randint(1, ROWS)) for _ in range(20))
            new += 1
            postgres.execute(
                f"UPDATE {table} SET count = count + 1 WHERE id IN ({some});"
                f"INSERT INTO {table} VALUES ({new}, 0, 'new');"
                f"DELETE FROM {table} WHERE id = {choice.randint(1, ROWS)};"
            )

    thread = threading.Thread(target=change)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def sent(kafka: KafkaBroker, topic: str) -> Sent:
    """Read all messages of a topic by the key of their row, each row's in their order."""
    settings = {**kafka.servers.client_settings, "group.id": topic, "enable.partition.eof": True}
    consumer = Consumer({**settings, "isolation.level": "read_committed"})
    left = set(consumer.list_topics(topic, 10).topics[topic].partitions)
    consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in left])
    found: Sent = defaultdict(list)
    while left:
        message = consumer.poll(30)
        assert message is not None
        if message.error() is not None:
            left.discard(message.partition() or 0)
        else:
            told = json.loads(message.value() or b"")
            found[told["key"]["id"]].append(told)
    consumer.close()
    return found


def rows_of(postgres: PostgresServer, table: str) -> dict[int, tuple[int, str]]:
    rows = postgres.execute(f"SELECT id, count, name FROM {table}")
    return {int(str(id_)): (int(str(count)), str(name)) for id_, count, name in rows}


def check(found: Sent, rows: dict[int, tuple[int, str]]) -> None:
    """Look that a consumer ends with the rows of the table, and never saw one go back."""
    last = {id_: told[-1] for id_, told in found.items() if told[-1]["op"] != "d"}
    assert {id_: (told["payload"]["count"], told["payload"]["name"]) for id_, told in last.items()} == rows
    for told in found.values():
        counts = [one["payload"]["count"] for one in told if one["op"] != "d"]
        assert counts == sorted(counts)
        is_deleted = [one["op"] == "d" for one in told]
        assert not any(is_deleted[:-1]), "a row came back after it was deleted"


def is_sent(kafka: KafkaBroker, postgres: PostgresServer, table: str, topic: str) -> Callable[[], bool]:
    rows = rows_of(postgres, table)

    def is_so() -> bool:
        found = sent(kafka, topic)
        last = {id_: told[-1]["payload"]["count"] for id_, told in found.items() if told[-1]["op"] != "d"}
        return last == {id_: count for id_, (count, _) in rows.items()}

    return is_so


def test_rows_read_from_the_database_while_they_change_are_all_sent_and_none_goes_back(
    kafka: KafkaBroker,
    postgres: PostgresServer,
    debezium: WatchTables,
    table: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PGPASSWORD", postgres.password)
    connector = debezium([f"public.{table}"], table, {"snapshot.mode": "no_data"})
    topic = connector.topic(f"public.{table}")
    postgres.execute(f"UPDATE {table} SET count = 1 WHERE id = 1")
    with (
        table_project(tmp_path / "p.metl", topic, COLUMNS, "thing") as workbench,
        lane_of(workbench, kafka, topic) as lane,
    ):
        until(lambda: sent(kafka, f"{topic}.out"), "the first message")
        request = LoadRequest((f"public.{table}",), database=postgres.address)
        with changing(postgres, table):
            (done,) = plan_load(workbench, lane, request).do()
        until(is_sent(kafka, postgres, table, f"{topic}.out"), "the last change")
    assert (done.is_done, done.superseded_partly) == (True, 0)
    assert done.superseded > 0
    check(sent(kafka, f"{topic}.out"), rows_of(postgres, table))
