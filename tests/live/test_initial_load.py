"""All rows of a table go through a running lane once while they change, and none goes back to an older value."""

from __future__ import annotations

import functools
import json
import random
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan
from metl_gui.stack.jars import fetch
from metl_gui.stack.kafka import KAFKA_JARS, KafkaBroker
from metl_gui.stack.postgres import PostgresServer, SqlSession
from metl_gui.workbench.lanes.control import Lane, find_lane
from metl_gui.workbench.lanes.initial_load import DEBEZIUM, LoadRequest, plan_load
from metl_gui.workbench.runs.production import start_production, stop_run
from metl_gui.workbench.session import Workbench
from tests.helpers.killing import end_everything
from tests.helpers.lanes import LaneThreads, LaneWorld, until
from tests.helpers.run_requests import run_request
from tests.helpers.table_project import table_project
from tests.live.conftest import WatchTables

pytestmark = [pytest.mark.live, pytest.mark.spark]

ROWS = 2_000
_PAUSE_SECONDS = 0.04
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


@pytest.fixture(autouse=True)
def own_world(postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep runs and caches in the test's own folder; the servers, of the session, have theirs by then."""
    monkeypatch.setenv("PGPASSWORD", postgres.password)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def driver() -> str:
    """The jar of PostgreSQL's JDBC driver, which the connector has too."""
    return str(next(fetch(KAFKA_JARS).glob("postgresql-*.jar")))


@contextmanager
def lane_of(workbench: Workbench, kafka: KafkaBroker, topic: str) -> Iterator[Lane]:
    """Keep a production lane that maps a topic."""
    name = f"{topic}.out"
    admin = AdminClient(dict(kafka.servers.client_settings))
    new: Any = NewTopic
    for future in admin.create_topics([new(name, 2, 1), new(f"{topic}.errors", 1, 1)]).values():
        future.result()
    request = run_request(
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
        end_everything(run)


@contextmanager
def changing(postgres: PostgresServer, table: str) -> Iterator[None]:
    """Insert, update and delete rows of a table all the time.

    A commit is seen as soon as it is in the log. Where it waits for the disk between the two, Debezium's incremental
    snapshot reads the row as it was now and then, and sends it behind the change (docs/guide/production.md).
    """
    is_over = threading.Event()
    choice = random.Random(7)
    session = SqlSession(postgres)
    session.execute("SET synchronous_commit = off;")

    def change() -> None:
        new = ROWS
        while not is_over.wait(_PAUSE_SECONDS):
            some = ",".join(str(choice.randint(1, ROWS)) for _ in range(20))
            new += 1
            session.execute(
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
        session.close()


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


class LastChanges:
    """Whether the newest message of every row of a table is of what stands there now; says which are not."""

    def __init__(self, kafka: KafkaBroker, postgres: PostgresServer, table: str, topic: str) -> None:
        self.rows = {id_: count for id_, (count, _) in rows_of(postgres, table).items()}
        self.found = functools.partial(sent, kafka, topic)
        self.messages: Sent = {}

    def __call__(self) -> bool:
        self.messages = self.found()
        return not self._wrong()

    def _wrong(self) -> list[int]:
        newest = {id_: told[-1] for id_, told in self.messages.items() if id_ > 0}
        last = {id_: told["payload"]["count"] for id_, told in newest.items() if told["op"] != "d"}
        return sorted(id_ for id_ in {*last, *self.rows} if last.get(id_) != self.rows.get(id_))

    def __str__(self) -> str:
        wrong = self._wrong()
        some = {id_: (self.rows.get(id_), self.messages.get(id_)) for id_ in wrong[:3]}
        return f"of {len(wrong)} rows the last change, such as {some},"


def test_rows_read_from_the_database_while_they_change_are_all_sent_and_none_goes_back(
    kafka: KafkaBroker,
    postgres: PostgresServer,
    debezium: WatchTables,
    table: str,
    driver: str,
    tmp_path: Path,
) -> None:
    connector = debezium([f"public.{table}"], table, {"snapshot.mode": "no_data"})
    topic = connector.topic(f"public.{table}")
    postgres.execute(f"UPDATE {table} SET count = 1 WHERE id = 1")
    with (
        table_project(tmp_path / "p.metl", topic, COLUMNS, "thing") as workbench,
        lane_of(workbench, kafka, topic) as lane,
    ):
        until(lambda: sent(kafka, f"{topic}.out"), "the first message")
        request = LoadRequest((f"public.{table}",), database=postgres.address, driver=driver)
        with changing(postgres, table):
            (done,) = plan_load(workbench, lane, request).do()
        until(changes := LastChanges(kafka, postgres, table, f"{topic}.out"), changes)
    assert (done.is_done, done.superseded_partly) == (True, 0)
    assert done.superseded > 0
    found = sent(kafka, f"{topic}.out")
    check(found, rows_of(postgres, table))
    report = lane.run.report()
    assert report.messages_out == sum(map(len, found.values()))
    assert report.by_skip["superseded"] == done.superseded


def plan_of(*topics: str) -> bytes:
    """Compile the table as it is, for each of its topics."""
    paths = tuple(COLUMNS)
    block = BlockPlan("thing", "1", tuple((path, path) for path in paths))
    version = VersionPlan("1", "", paths, required=paths, key=("id",), blocks=(block,), is_inferred=True)
    return plans.encode(Plan(7, "hash7", tuple(SchemaPlan(topic, (version,)) for topic in topics)))


def test_rows_that_the_connector_is_asked_for_come_once_while_they_change_and_none_goes_back(
    kafka: KafkaBroker, postgres: PostgresServer, debezium: WatchTables, table: str, tmp_path: Path
) -> None:
    still, signal, signals = f"{table}_still", f"{table}_signal", f"{table}.signals"
    postgres.execute(
        f"CREATE TABLE {signal} (id text PRIMARY KEY, type text NOT NULL, data text);"
        f"CREATE TABLE {still} AS SELECT -n::bigint id, 0::bigint count, 'row' name FROM generate_series(1, 50) n;"
        f"ALTER TABLE {still} ADD PRIMARY KEY (id)"
    )
    world = LaneWorld(kafka.servers, table, table=table)
    world.make(f"{table}.public.{still}")
    world.make(signals, 1)
    settings = {
        "snapshot.mode": "no_data",
        "incremental.snapshot.chunk.size": "100",
        "signal.data.collection": f"public.{signal}",
        "signal.enabled.channels": "source,kafka",
        "signal.kafka.topic": signals,
        "signal.kafka.bootstrap.servers": kafka.bootstrap,
        "signal.poll.interval.ms": "100",
    }
    debezium([f"public.{name}" for name in (table, still, signal)], table, settings)
    plan = plan_of(world.source, f"{table}.public.{still}")
    order = world.order(plan, topics=(world.source, f"{table}.public.{still}"))
    lane = world.lane(order, tmp_path / "run")
    by_table = LoadRequest((f"public.{table}",), DEBEZIUM, postgres.address, signal=f"public.{signal}")
    by_topic = LoadRequest((f"public.{still}",), DEBEZIUM, signal=f"kafka:{signals}")
    with table_project(tmp_path / "p.metl", world.source, COLUMNS, "thing") as workbench, LaneThreads(order, plan):
        with changing(postgres, table):
            assert plan_load(workbench, lane, by_table).do() == ()
            until(lambda: set(rows_of(postgres, table)) <= set(sent(kafka, world.sink)), "the rows")
        plan_load(workbench, lane, by_topic).do()
        until(lambda: len([id_ for id_ in sent(kafka, world.sink) if id_ < 0]) == 50, "the rows of the other table")
        until(changes := LastChanges(kafka, postgres, table, world.sink), changes)
    found = sent(kafka, world.sink)
    assert all([one["op"] for one in found[id_]] == ["r"] for id_ in range(-50, 0))
    changed = {id_: told for id_, told in found.items() if id_ > 0}
    check(changed, rows_of(postgres, table))
    read = [sum(one["op"] == "r" for one in told) for told in changed.values()]
    assert max(read) == 1
    assert sum(read) > ROWS / 2
