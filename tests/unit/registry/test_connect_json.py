from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.project.reader_result import ReaderResult
from metl_gui.registry.messages import connect_json
from tests.helpers.cases import lines

SOURCE = {"connector": "postgresql", "name": "srv", "db": "shop", "schema": "inv", "table": "t"}


def written(path: Path, records: Iterable[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def reading_of(tmp_path: Path, *records: Any) -> ReaderResult:
    return connect_json.read([written(tmp_path / "records.jsonl", records)])


def change(row: dict[str, Any] | None, op: str = "c", **more: Any) -> dict[str, Any]:
    return {"before": None, "after": row, "source": SOURCE, "op": op, "ts_ms": 1, **more}


def message(value: Any, *, topic: str = "srv.inv.t", **more: Any) -> dict[str, Any]:
    return {"topic": topic, "value": None if value is None else json.dumps(value), **more}


def row_struct(*fields: tuple[str, str], **more: Any) -> dict[str, Any]:
    listed = [{"field": name, "type": kind, "optional": False} for name, kind in fields]
    return {"type": "struct", "fields": listed, "name": "srv.inv.t.Value", "optional": True, **more}


def with_schema(row: dict[str, Any], struct: dict[str, Any]) -> dict[str, Any]:
    fields = [{**struct, "field": "before"}, {**struct, "field": "after"}, {"field": "op", "type": "string"}]
    schema = {"type": "struct", "fields": fields, "name": "srv.inv.t.Envelope", "version": 2}
    return {"schema": schema, "payload": change(row)}


def test_each_row_schema_is_a_version_in_order_of_appearance(tmp_path: Path) -> None:
    one, two = row_struct(("id", "int32")), row_struct(("id", "int32"), ("name", "string"))
    key = {"schema": {"type": "struct", "fields": [{"field": "id", "type": "int32"}]}, "payload": {"id": 1}}
    found = reading_of(
        tmp_path,
        message(with_schema({"id": 1}, one), key=json.dumps(key)),
        message(with_schema({"id": 1, "name": "x"}, two), key=json.dumps(key)),
        message(with_schema({"id": 2}, one), key=json.dumps(key)),
    )
    assert not found.refused
    assert [(v.name, v.label, v.key, v.inferred, lines(v.attributes)) for v in found.declarations] == [
        ("srv.inv.t", None, ("id",), False, ["id int32"]),
        ("srv.inv.t", None, ("id",), False, ["id int32", "name string"]),
    ]


def test_the_version_of_the_row_schema_is_the_label(tmp_path: Path) -> None:
    (version,) = reading_of(tmp_path, with_schema({"id": 1}, row_struct(("id", "int32"), version=3))).declarations
    assert version.label == "3"
    assert (version.name, version.aliases, version.key) == ("srv.inv.t", (), None)


def test_a_new_label_for_the_same_columns_is_handed_over_too(tmp_path: Path) -> None:
    structs = [row_struct(("id", "int32"), version=label) for label in (10, 9, 10)]
    versions = reading_of(tmp_path, *(with_schema({"id": 1}, struct) for struct in structs)).declarations
    assert [v.label for v in versions] == ["10", "9"]
    assert len({v.fingerprint for v in versions}) == 1


def test_rows_without_schema_are_inferred_and_say_so(tmp_path: Path) -> None:
    found = reading_of(
        tmp_path,
        message(change({"id": 1, "note": None}), key='{"id": 1}'),
        message(change({"id": 2, "note": "x"}, op="u"), key='{"id": 2}'),
        message(change({"id": 2, "note": "x", "size": 1.5}, op="u"), key='{"id": 2}'),
    )
    assert [(v.inferred, v.key, lines(v.attributes)) for v in found.declarations] == [
        (True, ("id",), ["id integer", "note string"]),
        (True, ("id",), ["id integer", "note string", "size number"]),
    ]


def test_deletes_truncates_and_tombstones_define_no_version(tmp_path: Path) -> None:
    found = reading_of(
        tmp_path,
        message({**change(None, op="d"), "before": {"id": 1}}, key='{"id": 1}'),
        message(None, key='{"id": 1}'),
        message(change(None, op="t"), key=None),
        message(change({"id": 1, "a": 2}), key='{"id": 1}'),
    )
    assert [lines(v.attributes) for v in found.declarations] == [["id integer", "a integer"]]


def test_what_messages_with_schemas_declare_is_not_inferred_again(tmp_path: Path) -> None:
    struct = row_struct(("id", "int32"), ("amount", "bytes"))
    struct["fields"].append(
        {"field": "place", "type": "struct", "optional": True, "fields": [{"field": "city", "type": "string"}]}
    )
    found = reading_of(
        tmp_path,
        message(change({"id": 1, "amount": 12.5, "place": None})),
        message(change({"id": 1, "amount": 12.5, "place": {"city": "x"}})),
        message(with_schema({"id": 1, "amount": "AQ==", "place": None}, struct)),
        message(change({"id": 1, "amount": 12.5, "place": None, "more": 1})),
    )
    assert [v.inferred for v in found.declarations] == [False, True]
    assert [len(v.attributes) for v in found.declarations] == [3, 4]


def test_a_key_that_is_null_means_no_key_and_a_missing_one_is_not_known(tmp_path: Path) -> None:
    def key_of(**key: Any) -> tuple[str, ...] | None:
        (version,) = reading_of(tmp_path, message(change({"id": 1, "b": {"c": 2}}), **key)).declarations
        return version.key

    assert key_of(key=None) == ()
    assert key_of() is None
    assert key_of(key='"text"') is None
    assert key_of(key='{"id": 1, "b": {"c": 2}}') == ("id", "b.c")
    assert key_of(key='{"other": 1}') is None
    assert key_of(key={"schema": None, "payload": {"id": 1}}) == ("id",)


def test_flattened_rows_lose_what_the_transform_added(tmp_path: Path) -> None:
    row = {"id": 1, "name": "x", "__deleted": "false", "__op": "c"}
    struct = row_struct(("id", "int32"), ("name", "string"), ("__deleted", "string"), ("__op", "string"))
    bare = reading_of(tmp_path, message(row)).declarations
    declared = reading_of(tmp_path, message({"schema": struct, "payload": row})).declarations
    assert [lines(v.attributes) for v in (*bare, *declared)] == [
        ["id integer", "name string"],
        ["id int32", "name string"],
    ]


def test_cloud_events_give_the_row_under_their_data(tmp_path: Path) -> None:
    event = {
        "specversion": "1.0", "type": "io.debezium.connector.postgresql.DataChangeEvent", "iodebeziumop": "c",
        "iodebeziumname": "srv", "iodebeziumschema": "inv", "iodebeziumtable": "t",
    }  # fmt: skip
    struct = row_struct(("id", "int32"))
    data = {"schema": {"type": "struct", "fields": [{**struct, "field": "after"}]}, "payload": {"after": {"id": 1}}}
    bare = reading_of(tmp_path, {**event, "data": {"before": None, "after": {"id": 1}}}).declarations
    declared = reading_of(tmp_path, {**event, "data": data}).declarations
    assert [(v.name, lines(v.attributes)) for v in (*bare, *declared)] == [
        ("srv.inv.t", ["id integer"]),
        ("srv.inv.t", ["id int32"]),
    ]


def test_a_further_name_that_belongs_to_another_table_is_dropped(tmp_path: Path) -> None:
    moved = message(change({"id": 1}), topic="moved")
    (version,) = reading_of(tmp_path, moved).declarations
    assert version.aliases == ("srv.inv.t",)
    both = reading_of(tmp_path, moved, message(change({"id": 1}))).declarations
    assert [(v.name, v.aliases) for v in both] == [("moved", ()), ("srv.inv.t", ())]


def test_records_of_no_row_are_passed_over_and_a_file_of_nothing_else_is_told(tmp_path: Path) -> None:
    heartbeat = message({"ts_ms": 1}, topic="__debezium-heartbeat.srv")
    transaction = message({"status": "BEGIN", "id": "1", "ts_ms": 1}, topic="srv.transaction")
    found = reading_of(tmp_path, heartbeat, transaction, heartbeat)
    assert not found.declarations
    assert found.refused[0].reason == "It holds no change of a row (2 heartbeat, 1 transaction)."


def test_broken_records_are_counted_and_their_neighbours_read(tmp_path: Path) -> None:
    path = tmp_path / "hostile.jsonl"
    good = json.dumps(message(change({"id": 1}))).encode()
    bad = [b'{"topic": "x", "value": "\xff"}', b"[" * 100_000, b"{", b'{"a": 1, "a": 2, "op": "c", "after": {}}', b"7"]
    path.write_bytes(b"\n".join([good, *bad, b'{"value": "{\\"id\\": 1}"}', good]))
    found = connect_json.read([path])
    assert [lines(v.attributes) for v in found.declarations] == [["id integer"]]
    assert [refusal.reason.split(":")[0] for refusal in found.refused] == [
        "5 of 8 records cannot be used",
        "1 of 8 records cannot be used",
    ]
    assert f"The first begins at byte {len(good) + 1}." in found.refused[0].reason
    assert "nothing names their schema" in found.refused[1].reason


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("\0\0\0\0\1x", "binary"),
        (json.dumps({**change(None), "after": "{}"}), "rows are text"),
        (json.dumps(with_schema({"a": 1}, row_struct(("a", "varchar")))), "a has the type varchar"),
    ],
)
def test_rows_of_a_kind_that_is_not_read_are_refused_with_the_reason(tmp_path: Path, value: str, reason: str) -> None:
    found = reading_of(tmp_path, {"topic": "t", "value": value})
    assert not found.declarations
    assert reason in found.refused[0].reason


def packed_with_zstd(raw: bytes) -> bytes:
    return pa.compress(raw, "zstd", asbytes=True)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, packed_with_zstd])
def test_packed_files_are_read_and_a_cut_one_gives_nothing(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    rows = [{"id": number, "text": f"{number * 7919:x}"} for number in range(3000)]
    packed = pack("\n".join(json.dumps(message(change(row))) for row in rows).encode())
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    whole.write_bytes(packed)
    cut.write_bytes(packed[: len(packed) // 2])
    assert [v.name for v in connect_json.read([whole]).declarations] == ["srv.inv.t"]
    found = connect_json.read([cut])
    assert not found.declarations
    assert "cut off or damaged" in found.refused[0].reason


def test_several_files_are_read_as_one(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"a": 1}, {"a": None}]
    files = [written(tmp_path / f"{n}.jsonl", [message(change(row))]) for n, row in enumerate(rows)]
    (version,) = connect_json.read(files).declarations
    assert lines(version.attributes) == ["a integer"]
    assert version.source == str(files[0])


@pytest.mark.parametrize("name", ["srv.inv.t.Envelope", "srv.inv.t.Value", None])
def test_a_schema_of_a_registry_is_one_version(tmp_path: Path, name: str | None) -> None:
    path = tmp_path / "srv.inv.t-value.json"
    schema = row_struct(("id", "int32"), version=4)
    schema = {**schema, "name": name} if name else {key: value for key, value in schema.items() if key != "name"}
    path.write_text(json.dumps(schema))
    (version,) = connect_json.read_schema(path).declarations
    assert (version.name, version.label, lines(version.attributes)) == ("srv.inv.t", "4", ["id int32"])


NAMES = [
    "topic", "value", "key", "op", "before", "after", "source", "schema", "payload", "type", "fields", "field", "name",
    "specversion", "data", "id",
]  # fmt: skip
RECORD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.sampled_from(["c", "d", "struct", "srv"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=20,
)


@given(records=st.lists(RECORD, max_size=4))
def test_any_records_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, records: list[Any]) -> None:
    found = reading_of(tmp_path_factory.mktemp("records"), *records)
    assert all(version.attributes and version.name for version in found.declarations)
    assert all(refusal.reason for refusal in found.refused)
    assert bool(found.declarations) or bool(found.refused)


@given(raw=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    path = tmp_path_factory.mktemp("bytes") / "file"
    path.write_bytes(raw)
    assert connect_json.read([path]).refused
