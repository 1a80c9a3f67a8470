"""What messages say of their source: commit time, snapshot, old key, publication, and what orders the log.

Source: docs/reference/message.md, "The source"; docs/reference/cdc.md, "Source positions".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from confluent_kafka import Message

from metl_gui.engine.kafka.records import records_of
from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.kernel.headers import old_key_in
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Choice, Kernel
from tests.fuzz.samples import world_of_samples
from tests.helpers.plans import map_all, plan_of
from tests.helpers.shared import shared

NAMES = ["schema", "version", "position", "origin", "committed_at_ms", "snapshot", "old_key", "publication"]
TWO_KEYS = plan_of(
    {
        "schemas": [
            {
                "name": "s",
                "versions": [
                    {
                        "label": "1",
                        "paths": ["id", "no", "a", "__source_snapshot", "__snapshot", "__source_ts_ms"],
                        "key": ["id", "no"],
                        "blocks": [
                            {"entity": "e", "entity_version": "1", "targets": [["id", "x.id"], ["a", "a"]]},
                            {
                                "entity": "f",
                                "entity_version": "1",
                                "targets": [["no", "no"], ["__source_snapshot", "told"], ["__source_ts_ms", "time"]],
                            },
                        ],
                    }
                ],
            }
        ]
    }
)
KEY, OLD_KEY = "__debezium.oldkey", '{"no":2,"id":1}'


@pytest.fixture(params=["reference", "compiled"])
def choice(request: pytest.FixtureRequest) -> Choice:
    found: Choice = request.param
    return found


def sources(choice: Choice, raws: list[str], plan: Plan = TWO_KEYS, **more: Any) -> list[dict[str, Any]]:
    """Map records three times, so that machine code maps them too, and return the sources of their messages."""
    kernel = Kernel(plan, choice=choice, patience=0, **more)
    outcomes = [map_all(kernel, [raw.encode() for raw in raws]).messages() for _ in range(3)]
    assert outcomes[0] == outcomes[1] == outcomes[2]
    found = [json.loads(message)["source"] for message in outcomes[0]]
    assert all(list(source) == NAMES for source in found)
    return found


def envelope(source: str, op: str = "c", row: str = '{"id":1,"no":2,"a":"x"}', before: str = "null") -> str:
    rows = f'"before":{row},"after":null' if op == "d" else f'"before":{before},"after":{row}'
    return f'{{"topic":"s","value":{{{rows},"source":{source},"op":"{op}","ts_ms":9}}}}'


def flattened(*more: str) -> str:
    members = ",".join(('"id":1,"no":2,"a":"x","__op":"c"', *more))
    return f'{{"topic":"s","value":{{{members}}}}}'


TIMES = {
    "1634052484031": 1634052484031, "0": 0, "-5": -5, "1562202942666382": 1562202942666382,
    "1558965508000000000": 1558965508000000000, "9223372036854775807": (1 << 63) - 1,
    "-9223372036854775808": -(1 << 63), "9223372036854775808": None, "1" * 400: None, "null": None, "1.5": None,
    "1e3": None, '"1634052484031"': None, '""': None, '"x"': None, "true": None, "[1]": None, '{"ts":1}': None,
}  # fmt: skip


@pytest.mark.parametrize("written", TIMES)
def test_the_commit_time_is_a_whole_number_as_it_came_or_null(choice: Choice, written: str) -> None:
    records = [envelope(f'{{"ts_ms":{written}}}'), flattened(f'"__source_ts_ms":{written}')]
    for source in sources(choice, records):
        assert source["committed_at_ms"] == TIMES[written]


def test_the_outer_time_is_no_commit_time(choice: Choice) -> None:
    records = [envelope("{}"), envelope("null"), flattened('"__ts_ms":5')]
    assert {source["committed_at_ms"] for source in sources(choice, records)} == {None}


SNAPSHOTS: Mapping[str, bool | None] = {
    '"true"': True, '"first"': True, '"first_in_data_collection"': True, '"last_in_data_collection"': True,
    '"last"': True, '"incremental"': True, "true": True, '"false"': False, "false": False, '"tru\\u0065"': True,
    '"incrementaX"': None, '"xncremental"': None, '"last_in_data_collectioX"': None, '"first_in_data_collXction"': None,
    '"LAST"': None, '""': None, "1": None, '["last"]': None, '{"last":true}': None,
}  # fmt: skip


@pytest.mark.parametrize("written", SNAPSHOTS)
def test_a_word_or_boolean_tells_whether_a_snapshot_read_the_row(choice: Choice, written: str) -> None:
    names = '"__source_snapshot"', '"__snapshot"'
    records = [envelope(f'{{"snapshot":{written}}}'), *(flattened(f"{name}:{written}") for name in names)]
    for source in sources(choice, records):
        assert source["snapshot"] is SNAPSHOTS[written]


def test_null_of_a_source_block_is_its_default_and_what_is_missing_is_not_known(choice: Choice) -> None:
    records = [envelope('{"snapshot":null}'), envelope("{}"), envelope("null"), flattened('"__source_snapshot":null')]
    found = [source["snapshot"] for source in sources(choice, records)]
    assert found[::2] == [False, None, None, None]


def test_each_word_stays_what_it_was_where_the_row_itself_is_mapped(choice: Choice) -> None:
    words = ['"last"', '"true"', '"first"', "true", '"incremental"', '"false"', "null", '"?"', "[1]"]
    records = [flattened(f'"__source_snapshot":{word}', '"__snapshot":"false"') for word in words]
    kernel = Kernel(TWO_KEYS, choice=choice, patience=0)
    for _ in range(3):
        messages = map_all(kernel, [record.encode() for record in records]).messages()
        assert [json.loads(text)["payload"]["told"] for text in messages[1::2]] == [json.loads(word) for word in words]


def test_an_update_that_changes_the_key_names_the_old_one_on_its_create(choice: Choice) -> None:
    before = '{"id":1,"no":2,"a":"x"}'
    records = [envelope("{}", "u", '{"id":7,"no":2,"a":"y"}', before), envelope("{}", "u", before, before)]
    deleted, create, update = (sources(choice, records)[at : at + 2] for at in (0, 2, 4))
    assert [source["old_key"] for source in deleted] == [None, None]
    assert [source["old_key"] for source in create] == [{"x": {"id": 1}, "@no": 2}, {"@id": 1, "no": 2}]
    assert [source["old_key"] for source in update] == [None, None]


def carried(headers: str, value: str = '{"after":{"id":7,"no":2,"a":"y"},"op":"c"}') -> str:
    return f'{{"topic":"s","headers":{headers},"value":{value}}}'


def test_a_header_names_the_old_key_in_every_way_in_which_headers_are_written(choice: Choice) -> None:
    text = json.dumps(OLD_KEY)
    schemad = json.dumps(f'{{"schema":{{"type":"struct"}},"payload":{OLD_KEY}}}')
    records = [
        carried(headers)
        for headers in (
            f'{{"{KEY}":{text}}}', f'[["a","b"],["{KEY}",{text}]]', f'[{{"key":"{KEY}","value":{text}}}]',
            f'[{{"name":"{KEY}","value":{text}}}]', f'[{{"{KEY}":{OLD_KEY}}}]', f'{{"{KEY}":{schemad}}}',
        )
    ]  # fmt: skip
    found = sources(choice, records)
    assert [source["old_key"] for source in found] == [{"x": {"id": 1}, "@no": 2}, {"@id": 1, "no": 2}] * len(records)


def test_values_of_the_old_key_keep_their_digits(choice: Choice) -> None:
    text = json.dumps('{"id":1.50,"no":12345678901234567890123}')
    raw = carried(f'{{"{KEY}":{text}}}').encode()
    for _ in range(2):
        message = map_all(Kernel(TWO_KEYS, choice=choice, patience=0), [raw]).message(0)
        assert b'"old_key":{"x":{"id":1.50},"@no":12345678901234567890123}' in message


HOSTILE = (
    "not JSON", "[1]", "1", "null", '""', "", '{"id":1}', '{"id":1,"id":1,"no":2}', "{", '{"id":1,"no":2}}', "\0\0",
    '{"schema":{"type":"struct"},"payload":1}', '{"id":' + "[" * 70 + "]" * 70 + ',"no":2}', "Struct{id=1}", "{}",
)  # fmt: skip


@pytest.mark.parametrize("old", HOSTILE)
def test_a_header_that_names_no_whole_key_says_nothing(choice: Choice, old: str) -> None:
    records = [carried(f'{{"{KEY}":{json.dumps(old)}}}')]
    assert [source["old_key"] for source in sources(choice, records)] == [None, None]


@pytest.mark.parametrize("headers", ["null", "[]", "1", f'"{KEY}"', f'["{KEY}"]', f'[["{KEY}",1],2]', f'{{"{KEY}":7}}'])
def test_headers_that_are_no_pairs_of_name_and_text_say_nothing(choice: Choice, headers: str) -> None:
    assert [source["old_key"] for source in sources(choice, [carried(headers)])] == [None, None]


def test_deletes_and_tables_without_a_key_name_no_old_one(choice: Choice) -> None:
    headers = f'{{"{KEY}":{json.dumps(OLD_KEY)}}}'
    records = [carried(headers, '{"before":{"id":7,"no":2,"a":"y"},"after":null,"op":"d"}')]
    assert [source["old_key"] for source in sources(choice, records)] == [None, None]
    version: dict[str, Any] = {"label": "1", "paths": ["id", "no", "a"], "key": []}
    version["blocks"] = [{"entity": "e", "entity_version": "1", "targets": [["a", "a"]]}]
    keyless = plan_of({"schemas": [{"name": "s", "versions": [version]}]})
    assert [source["old_key"] for source in sources(choice, [carried(headers)], keyless)] == [None]


def test_the_old_key_is_found_among_the_headers_of_a_message_of_kafka(choice: Choice) -> None:
    headers: list[tuple[str, str | bytes | None]] = [("trace", b"1"), (KEY, OLD_KEY.encode())]
    value = b'{"after":{"id":7,"no":2,"a":"y"},"op":"c"}'
    records = records_of([Message(topic="s", partition=0, offset=1, value=value, headers=headers)])
    kernel = Kernel(TWO_KEYS, choice=choice, patience=0)
    for _ in range(3):
        found = [json.loads(text)["source"]["old_key"] for text in kernel.map(records).messages()]
        assert found == [{"x": {"id": 1}, "@no": 2}, {"@id": 1, "no": 2}]


def test_an_escaped_name_of_a_header_is_none_that_debezium_writes() -> None:
    assert old_key_in(b'{"__debezium.oldke\\u0079":"{}"}') is None
    assert old_key_in(b'{"__debezium.oldkey":"\\ud800"}') is None
    assert old_key_in(b"") is None


def test_the_publication_is_a_number_in_production_and_null_without_one(choice: Choice) -> None:
    records = [envelope("{}"), '{"topic":"s","value":{"source":{"snapshot":"false","ts_ms":5},"op":"t"}}']
    numbers = [source["publication"] for source in sources(choice, records, mode="production", publication=7)]
    assert numbers == [7] * 4
    assert [source["publication"] for source in sources(choice, records)] == [None] * 4


def test_a_truncate_says_when_it_was_committed_and_names_no_old_key(choice: Choice) -> None:
    raw = '{"topic":"s","value":{"source":{"snapshot":"false","ts_ms":5,"lsn":3},"op":"t"}}'
    for source in sources(choice, [raw]):
        assert [source[name] for name in NAMES[3:]] == [{"lsn": 3}, 5, False, None, None]


ORIGINS: dict[str, tuple[str, dict[str, Any]]] = {
    "mysql": (
        '{"server_id":223344,"gtid":null,"file":"mysql-bin.000003","pos":484,"row":0,"thread":7}',
        {"server_id": 223344, "gtid": None, "file": "mysql-bin.000003", "pos": 484, "row": 0},
    ),
    "mongodb": ('{"ts_ms":1558965508000,"rs":"rs0","ord":31}', {"ord": 31, "ts_ms": 1558965508000}),
    "postgresql": (
        '{"sequence":"[\\"24023119\\",\\"24023128\\"]","lsn":24023128,"txId":555,"ts_ms":1}',
        {"sequence": '["24023119","24023128"]', "lsn": 24023128},
    ),
    "sqlserver": (
        '{"change_lsn":"00000027:00000758:0003","commit_lsn":"00000027:00000758:0005","event_serial_no":"2"}',
        {"commit_lsn": "00000027:00000758:0005", "change_lsn": "00000027:00000758:0003", "event_serial_no": "2"},
    ),
    "oracle": ('{"scn":"2122185","commit_scn":"2122186","ssn":1}', {"commit_scn": "2122186", "scn": "2122185"}),
}


@pytest.mark.parametrize("connector", ORIGINS)
def test_the_origin_holds_what_the_order_of_each_connector_needs(choice: Choice, connector: str) -> None:
    written, origin = ORIGINS[connector]
    members = ",".join(f'"__source_{name}":{json.dumps(value)}' for name, value in json.loads(written).items())
    for source in sources(choice, [envelope(written), flattened(members)]):
        assert list(source["origin"].items()) == list(origin.items())


DOCUMENTED = {
    7: (1562202942666382, False, ["file", "pos"]),  # Cassandra
    11: (1705312200000, False, ["sequence"]),  # CockroachDB
    21: (1559729468470, False, ["commit_lsn", "change_lsn"]),  # Db2
    30: (1559729468470, False, ["commit_lsn", "change_lsn"]),  # Informix
    38: (1558965508000, True, ["ord", "ts_ms"]),  # MongoDB
    45: (1520085154000, False, ["commit_scn", "scn"]),  # Oracle
    48: (1638974535000, False, ["sequence", "commit_scn", "scn"]),  # Oracle, a truncate
    52: (1559033904863, True, ["sequence", "lsn"]),  # PostgreSQL
    53: (1559033904863, False, ["lsn"]),
    57: (1670955531785, False, ["sequence"]),  # Spanner
    61: (1559033904000, False, ["sequence"]),  # Vitess
    70: (None, True, None),  # an incremental snapshot
    74: (1465581029100, False, ["server_id", "gtid", "file", "pos", "row"]),  # MySQL, a truncate
    76: (None, True, ["server_id", "gtid", "file", "pos", "row"]),  # MySQL
}


@pytest.mark.parametrize("line", DOCUMENTED)
def test_examples_of_the_documentation_of_each_connector_say_it_of_themselves(choice: Choice, line: int) -> None:
    sample = json.loads(shared("debezium-samples", "docs-samples.jsonl").read_bytes().splitlines()[line])
    value = _envelope_in(sample["message"])
    # Documents of MongoDB are text, which is not read as a row.
    value |= {name: json.loads(value[name]) for name in ("before", "after") if isinstance(value.get(name), str)}
    row = value.get("after") or value.get("before") or {"id": 1}
    version: dict[str, Any] = {"label": "1", "paths": list(row), "key": [next(iter(row))]}
    version["blocks"] = [{"entity": "e", "entity_version": "1", "targets": [[next(iter(row)), "id"]]}]
    plan = plan_of({"schemas": [{"name": "s", "versions": [version]}]})
    record = json.dumps({"topic": "s", "key": {next(iter(row)): 1}, "value": value})
    committed, snapshot, origin = DOCUMENTED[line]
    (source,) = sources(choice, [record], plan)
    assert (source["committed_at_ms"], source["snapshot"]) == (committed, snapshot)
    assert source["origin"] == (None if origin is None else {name: value["source"].get(name) for name in origin})


def _envelope_in(message: dict[str, Any]) -> dict[str, Any]:
    return message if "op" in message else _envelope_in(message["payload"])


@pytest.mark.parametrize(
    ("name", "count"), [("stream-noschema", 20), ("with-schema", 8), ("unwrapped", 8), ("cloudevents", 8)]
)
def test_messages_of_a_real_engine_have_the_commit_time_and_the_snapshot_of_their_source(
    choice: Choice, name: str, count: int
) -> None:
    raws = shared("debezium-samples", f"engine-postgres-{name}.jsonl").read_bytes().splitlines()
    kernel = Kernel(world_of_samples().plan, choice=choice, patience=0)
    for _ in range(3):
        outcome = kernel.map(Records.of(raws, "f"))
        seen = [json.loads(text)["source"] for text in outcome.messages()]
        found = [(source["committed_at_ms"], source["snapshot"]) for source in seen]
        assert found == [_told_by(raws[record]) for record in outcome.records]
        assert sum(time is not None for time, _ in found) >= count


def _told_by(raw: bytes) -> tuple[int, bool | None]:
    """Read off a record when it was committed and whether a snapshot read it."""
    value = json.loads(json.loads(raw)["value"])
    value = value.get("payload", value)
    if "specversion" in value:
        return int(value["iodebeziumtsms"]), value["iodebeziumsnapshot"] != "false"
    if "source" not in value:
        return value["__source_ts_ms"], None
    return value["source"]["ts_ms"], value["source"]["snapshot"] != "false"


@pytest.mark.skipif(not build.is_possible(), reason="numba is not installed")
def test_machine_code_maps_what_connectors_write_and_leaves_what_they_do_not() -> None:
    usual = [
        envelope(f'{{"snapshot":{word},"ts_ms":{time}}}')
        for word in SNAPSHOTS
        for time in ("1634052484031", "null")
        if SNAPSHOTS[word] is not None and "\\" not in word
    ]
    odd = [envelope('{"snapshot":"?"}'), envelope('{"ts_ms":"5"}'), envelope('{"ts_ms":1.5}'), carried(f'["{KEY}",1]')]
    for records, hits in ((usual, len(usual)), (odd, 0)):
        kernel = Kernel(TWO_KEYS, choice="compiled", patience=0)
        assert [map_all(kernel, [raw.encode() for raw in records]).hits for _ in range(3)][2] == hits
