"""Keys are placed as Kafka's own clients place them, and rows are written after an example or refused."""

from __future__ import annotations

import json

import pytest

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.core.runs.target import Target
from metl_gui.engine.loading.row_template import RowTemplate, has_placeholder
from metl_gui.engine.loading.staged_rows import RowForm, StagingOrder, is_by_key, murmur2, partition_of, stage
from metl_gui.errors import RunError
from metl_gui.formats.table_columns import TableColumn

COLUMNS = (TableColumn("id", "int8", "int64", optional=False), TableColumn("name", "text", "string"))
KEY = b'{"id":1}'
ENVELOPE = json.dumps(
    {
        "before": {"id": 1, "name": "old"},
        "after": {"id": 1, "name": "new"},
        "source": {"db": "shop", "table": "t", "lsn": 1, "txId": 7, "snapshot": "false", "sequence": "[]"},
        "op": "u",
        "ts_ms": 1,
        "transaction": {"id": "7"},
    }
).encode()


@pytest.mark.parametrize(
    ("key", "told"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_a_key_has_the_hash_that_kafkas_own_tests_give(key: bytes, told: int) -> None:
    assert murmur2(key) == told % (1 << 32)


def test_one_key_in_another_partition_shows_that_they_are_placed_otherwise() -> None:
    placed = [(key, partition_of(key, 5)) for key in (b"a", b"b", b"c")]
    assert is_by_key(placed, 5)
    assert not is_by_key([*placed, (b"d", (partition_of(b"d", 5) + 1) % 5)], 5)


def test_a_row_says_that_it_was_read_and_nothing_of_the_change_it_is_written_after() -> None:
    key, value = RowTemplate(ENVELOPE, KEY, COLUMNS, frozenset({"name"}), "0/1F").record(["5", None])
    change = json.loads(value)
    assert key == b'{"id":5}'
    assert (change["op"], change["before"], change["after"]) == ("r", None, {"id": 5, "name": None})
    assert change["transaction"] is None
    assert change["source"] == {
        "db": "shop", "table": "t", "lsn": 31, "txId": None, "snapshot": "true", "sequence": None,
    }  # fmt: skip


def test_a_flattened_row_keeps_what_names_the_table_and_says_it_was_read() -> None:
    flat = b'{"id":1,"name":"x","__op":"d","__table":"t","__lsn":5,"__deleted":"true"}'
    _, value = RowTemplate(flat, KEY, COLUMNS, frozenset()).record(["5", "y"])
    assert json.loads(value) == {
        "id": 5, "name": "y", "__op": "r", "__table": "t", "__lsn": None, "__deleted": "false",
    }  # fmt: skip


def test_a_key_is_escaped_as_java_escapes_it() -> None:
    columns = (TableColumn('a"b', "text", "string", optional=False),)
    example = json.dumps({'a"b': ""}).encode()
    key, _ = RowTemplate(example, example, columns, frozenset()).record(["\x1f/é\u2028\n"])
    assert key == '{"a\\"b":"\\u001F/é\u2028\\n"}'.encode()


def test_a_table_with_another_column_than_the_newest_record_is_refused_by_its_name() -> None:
    more = (*COLUMNS, TableColumn("added", "text", "string"))
    with pytest.raises(RunError, match="added is only in the table"):
        RowTemplate(ENVELOPE, KEY, more, frozenset())
    with pytest.raises(RunError, match="name is only in the record"):
        RowTemplate(ENVELOPE, KEY, COLUMNS[:1], frozenset())


def test_a_column_of_unknown_form_is_refused_only_where_something_is_mapped_from_it() -> None:
    columns = (COLUMNS[0], TableColumn("name", "tsvector", "int64"))
    assert json.loads(RowTemplate(ENVELOPE, KEY, columns, frozenset()).record(["1", "x"])[1])["after"]["name"] is None
    with pytest.raises(RunError, match="The column name cannot be loaded"):
        RowTemplate(ENVELOPE, KEY, columns, frozenset({"name"}))


def test_a_key_with_a_fraction_is_refused_as_it_is_not_written_the_same_by_everybody() -> None:
    columns = (TableColumn("id", "float8", "double", optional=False), COLUMNS[1])
    with pytest.raises(ValueError, match="fraction"):
        RowTemplate(ENVELOPE, KEY, columns, frozenset()).record(["1.5", None])


def test_records_that_leave_out_a_large_value_are_seen_in_each_way_of_saying_so() -> None:
    ways = ("__debezium_unavailable_value", "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==", None)
    codes = json.dumps([ord(letter) for letter in "__debezium_unavailable_value"], separators=(",", ":"))
    assert all(has_placeholder(f'{{"a":{json.dumps(way) if way else codes}}}'.encode()) for way in ways)
    assert not has_placeholder(ENVELOPE)


def test_a_process_of_the_rows_that_died_before_it_read_its_order_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    order = StagingOrder(
        target=Target(master="local[1]"),
        driver="driver.jar",
        url="x" * 1_000_000,  # more than a pipe takes, so that sending it meets the end of the process
        properties=(),
        joining="",
        tables=(),
        form=RowForm(value=ENVELOPE, key=KEY, columns=COLUMNS, mapped=frozenset(), end=""),
        servers=KafkaServers(bootstrap="127.0.0.1:1"),
        topic="rows",
    )
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(RunError, match=r"The process that reads the rows ended\. .*\(1\)"):
        list(stage(order))
