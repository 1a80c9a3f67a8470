"""The programs of the stack keep what they promise to the tests and to the live demo."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from metl_gui.errors import SetupError
from metl_gui.stack import guard
from metl_gui.stack.apicurio import ApicurioRegistry
from metl_gui.stack.component import HOST, ask, listens
from metl_gui.stack.guard import is_stopped
from metl_gui.stack.kafka import KafkaBroker
from metl_gui.stack.postgres import PostgresServer, SqlSession
from tests.helpers.ways_in import WaysIn
from tests.live.conftest import WatchTables

pytestmark = pytest.mark.live

_SECONDS = 60.0


def until(is_so: Callable[[], bool], seconds: float = _SECONDS) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "what was waited for did not come"
        time.sleep(0.02)


Found = list[tuple[bytes | None, bytes | None]]


def read(broker: KafkaBroker, topic: str, count: int) -> Found:
    """Read a topic from its beginning until so many records were read."""
    return read_until(broker, topic, lambda found: len(found) >= count)


def read_until(broker: KafkaBroker, topic: str, is_enough: Callable[[Found], bool]) -> Found:
    settings = {"bootstrap.servers": broker.bootstrap, "group.id": f"read-{topic}", "auto.offset.reset": "earliest"}
    consumer = Consumer({**settings, "enable.auto.commit": "false", "topic.metadata.refresh.interval.ms": "100"})
    consumer.subscribe([topic])
    found: Found = []
    try:
        end = time.monotonic() + _SECONDS
        while not is_enough(found):
            assert time.monotonic() < end, f"only {found[-3:]} at the end of {len(found)} records"
            message = consumer.poll(0.1)
            if message is not None and message.error() is None:
                found.append((message.key(), message.value()))
    finally:
        consumer.close()
    return found


def write(broker: KafkaBroker, topic: str, *values: bytes) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": "0"})
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(_SECONDS) == 0


def test_a_broker_that_was_killed_has_its_records_when_it_is_back(kafka: KafkaBroker, own_name: str) -> None:
    write(kafka, own_name, b"before")
    bootstrap = kafka.bootstrap
    kafka.kill()
    assert not kafka.is_alive
    kafka.restart()
    assert kafka.bootstrap == bootstrap
    write(kafka, own_name, b"after")
    assert {value for _, value in read(kafka, own_name, 2)} == {b"before", b"after"}


def test_a_broker_is_not_up_where_somebody_holds_one_of_its_ways_in(tmp_path: Path) -> None:
    ways_in = WaysIn.find(tmp_path)
    broker = ways_in.broker()
    with socket.create_server((HOST, ways_in.both)), pytest.raises(SetupError, match="listens at port") as refused:
        broker.start()
    assert str(ways_in.both) in refused.value.text
    assert not broker.is_alive
    with broker:
        assert all(map(listens, (ways_in.clear, ways_in.login, ways_in.safe, ways_in.company, ways_in.both)))


def test_a_paused_broker_answers_nobody_and_a_record_sent_meanwhile_arrives_once_it_goes_on(
    kafka: KafkaBroker, own_name: str
) -> None:
    write(kafka, own_name, b"first")
    kafka.pause()
    try:
        assert all(map(is_stopped, kafka.process_ids))
        producer = Producer({"bootstrap.servers": kafka.bootstrap, "linger.ms": "0"})
        producer.produce(own_name, b"second")
        assert producer.flush(1) == 1
        assert kafka.is_alive
    finally:
        kafka.go_on()
    assert producer.flush(_SECONDS) == 0
    assert {value for _, value in read(kafka, own_name, 2)} == {b"first", b"second"}


def test_rows_and_changes_of_a_watched_table_arrive_keyed_and_a_restarted_worker_goes_on(
    kafka: KafkaBroker, postgres: PostgresServer, debezium: WatchTables, own_name: str
) -> None:
    postgres.execute(f"CREATE TABLE {own_name} (id int PRIMARY KEY, name text); INSERT INTO {own_name} VALUES (1, 'a')")
    connector = debezium([f"public.{own_name}"], own_name)
    topic = connector.topic(f"public.{own_name}")
    postgres.execute(f"UPDATE {own_name} SET name = 'b'; DELETE FROM {own_name}")
    changes = [(key, json.loads(value) if value else None) for key, value in read(kafka, topic, 4)]
    assert [change["op"] if change else None for _, change in changes] == ["r", "u", "d", None]
    assert {key for key, _ in changes} == {b'{"id":1}'}

    connector.worker.restart()
    postgres.execute(f"INSERT INTO {own_name} VALUES (2, 'c')")
    # What the worker had sent and not noted may come again before it.
    new = read_until(
        kafka, topic, lambda found: any(b'"after":{"id":2,"name":"c"}' in (value or b"") for _, value in found)
    )
    assert new[-1][0] == b'{"id":2}'


def test_debezium_reads_with_a_role_that_may_do_nothing_else_and_whose_password_nobody_is_told(
    kafka: KafkaBroker, postgres: PostgresServer, debezium: WatchTables, own_name: str
) -> None:
    postgres.execute(f"CREATE TABLE {own_name} (id int PRIMARY KEY); CREATE TABLE {own_name}_other (id int)")
    connector = debezium([f"public.{own_name}"], own_name)
    worker = connector.worker
    told = worker.ask("GET", f"/connectors/{own_name}/config")
    role = told["database.user"]
    may = "rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolreplication"
    assert postgres.execute(f"SELECT {may} FROM pg_roles WHERE rolname = :'role'", {"role": role}) == [
        ("f", "f", "f", "f", "t")
    ]
    used = "SELECT DISTINCT usename FROM pg_stat_activity WHERE application_name LIKE 'Debezium%'"
    assert postgres.execute(used) == [(role,)]
    rights = "SELECT table_name, privilege_type FROM information_schema.table_privileges WHERE grantee = :'role'"
    granted = postgres.execute(f"{rights} AND table_name LIKE '{own_name}%'", {"role": role})
    assert granted == [(own_name, "SELECT")]
    everything = json.dumps([told, worker.ask("GET", f"/connectors/{own_name}/tasks"), dict(connector.settings)])
    everything += worker.log.read_text() + worker._properties.read_text()
    for password in (postgres.password, postgres.capture_password):
        assert password not in everything
    (kept,) = [path for path in worker.folder.rglob(f"*{own_name}*") if path.is_file()]
    assert postgres.capture_password in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600
    postgres.execute(f"INSERT INTO {own_name} VALUES (1)")
    assert read(kafka, connector.topic(f"public.{own_name}"), 1)[0][0] == b'{"id":1}'


@pytest.mark.parametrize("value", ["it's", "a\\b", "two\nlines", "\\'; SELECT 1", ":x", "`id`", "ü", ""])
def test_a_value_reaches_the_database_as_it_is(postgres: PostgresServer, value: str) -> None:
    assert postgres.execute("SELECT :'value', 1", {"value": value}) == [(value, "1")]


@pytest.mark.parametrize(
    ("settings", "id_bytes", "by_id"),
    [
        ({}, 4, "/apis/ccompat/v7/schemas/ids/{}"),
        (ApicurioRegistry.GLOBAL_IDS, 8, "/apis/registry/v3/ids/globalIds/{}"),
    ],
    ids=["Confluent", "Apicurio"],
)
def test_a_message_in_avro_names_its_schema_in_the_registry_and_a_new_column_makes_a_new_version_of_it(
    kafka: KafkaBroker,
    postgres: PostgresServer,
    debezium: WatchTables,
    apicurio: ApicurioRegistry,
    own_name: str,
    settings: Mapping[str, str],
    id_bytes: int,
    by_id: str,
) -> None:
    postgres.execute(f"CREATE TABLE {own_name} (id int PRIMARY KEY); INSERT INTO {own_name} VALUES (1)")
    topic = debezium([f"public.{own_name}"], own_name, apicurio.avro_settings(settings)).topic(f"public.{own_name}")
    read(kafka, topic, 1)
    postgres.execute(f"ALTER TABLE {own_name} ADD COLUMN note text; INSERT INTO {own_name} VALUES (2, 'new')")
    values = [value for _, value in read(kafka, topic, 2) if value is not None]
    assert [value[0] for value in values] == [0, 0]
    named = [int.from_bytes(value[1 : 1 + id_bytes]) for value in values]
    schemas = [json.dumps(ask("GET", apicurio.url + by_id.format(number))) for number in named]
    # The two rows may lie in different partitions, which are read in any order.
    assert sorted(("note" in schema, b"new" in value) for schema, value in zip(schemas, values, strict=True)) == [
        (False, False),
        (True, True),
    ]
    assert ask("GET", f"{apicurio.confluent}/subjects/{topic}-value/versions") == [1, 2]


def test_a_registry_that_was_killed_has_its_schemas_when_it_is_back(apicurio: ApicurioRegistry, own_name: str) -> None:
    versions = f"{apicurio.confluent}/subjects/{own_name}/versions"
    ask("POST", versions, {"schema": json.dumps({"type": "record", "name": "Row", "fields": []})})
    apicurio.kill()
    with pytest.raises(SetupError, match="cannot be asked"):
        ask("GET", versions)
    apicurio.restart()
    assert ask("GET", versions) == [1]
    assert [ask("GET", f"{address}/system/info")["version"] for address in (apicurio.v2, apicurio.v3)] == ["3.3.3"] * 2


def test_a_statement_that_postgresql_refuses_is_told_with_its_words(postgres: PostgresServer) -> None:
    with pytest.raises(SetupError, match="no_such_table"):
        postgres.execute("SELECT * FROM no_such_table")
    assert postgres.execute("SELECT 1, NULL, E'two\\nlines'") == [("1", None, "two\nlines")]


def test_each_statement_of_a_session_is_for_good_and_after_one_that_is_refused_it_goes_on_anew(
    postgres: PostgresServer, own_name: str
) -> None:
    session = SqlSession(postgres)
    session.execute(f"CREATE TABLE {own_name} (id int);\nINSERT INTO {own_name} VALUES (1);")
    assert postgres.number(f"SELECT count(*) FROM {own_name}") == 1
    with pytest.raises(SetupError, match="no_such_table"):
        session.execute(f"INSERT INTO {own_name} VALUES (2); INSERT INTO no_such_table VALUES (3);")
    session.execute(f"INSERT INTO {own_name} VALUES (4);")
    session.close()
    assert postgres.execute(f"SELECT id FROM {own_name} ORDER BY id") == [("1",), ("2",), ("4",)]


def test_all_ends_with_a_program_that_is_killed(tmp_path: Path) -> None:
    script = (
        "import sys, time\n"
        "from metl_gui.stack.postgres import PostgresServer\n"
        "server = PostgresServer().start()\n"
        "server.pause()\n"
        "print(server.process.pid, server.folder, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=tmp_path) as program:
        assert program.stdout is not None
        number, folder = program.stdout.readline().split()
        below = [int(number), *guard.children_of(int(number))]
        assert len(below) > 3
        os.kill(program.pid, signal.SIGKILL)
    until(lambda: not any(guard.stat_of(process_id) for process_id in below))
    until(lambda: not Path(folder).exists())
