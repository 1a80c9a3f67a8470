"""Which kind of record a value is, by cases and on every sample at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from metl_gui.errors import RecordError
from metl_gui.formats.json_text import is_null, members
from metl_gui.formats.record_kind import RecordKind, classify, is_with_schema
from metl_gui.formats.record_wrapper import unwrap
from tests.helpers.cases import cases
from tests.helpers.shared import shared


def kind_of(raw: bytes) -> RecordKind:
    """Tell the kind of a whole record; the topic ``known`` names a schema."""
    wrapped = unwrap(raw)
    if wrapped.is_key or wrapped.value is None:
        return RecordKind.KEY if wrapped.is_key else RecordKind.TOMBSTONE
    found, name = members(wrapped.value), ""
    if is_with_schema(found):
        name = (json.loads(bytes(found["schema"])) or {}).get("name") or ""
        if is_null(found["payload"]):
            return RecordKind.TOMBSTONE
        found = members(found["payload"])
    return classify(found, wrapped.topic, name, is_known=wrapped.topic == "known")


@pytest.mark.parametrize("case", cases("records"))
def test_a_record_is_told(case: dict[str, Any]) -> None:
    assert kind_of(case["record"].encode()) == case["kind"]


STATED = {
    "BEGIN": RecordKind.TRANSACTION,
    "END": RecordKind.TRANSACTION,
    "m": RecordKind.MESSAGE,
    "avro-schema": RecordKind.FLATTENED,
    "cloudevent": RecordKind.CLOUD_EVENT,
    "flattened": RecordKind.FLATTENED,
    "heartbeat": RecordKind.HEARTBEAT,
    "notification": RecordKind.NOTIFICATION,
    "payload-null": RecordKind.TOMBSTONE,
    "schema-change": RecordKind.SCHEMA_CHANGE,
    "signal": RecordKind.SIGNAL,
    "tombstone": RecordKind.TOMBSTONE,
    "transaction-BEGIN": RecordKind.TRANSACTION,
    "transaction-END": RecordKind.TRANSACTION,
}


def stated(file: str, sample: dict[str, Any]) -> RecordKind | None:
    """Return the kind that the file itself states of a sample."""
    if sample.get("part") == "key":
        return RecordKind.KEY
    said = sample["kind"].removesuffix("+schema") if "kind" in sample else None
    if said is None:
        return None
    word = said.split()[0].removesuffix("+schema")
    if said.endswith("op=m"):
        return RecordKind.MESSAGE
    if word == "envelope":
        return RecordKind.CHANGE
    shapes = {"cloudevents": RecordKind.CLOUD_EVENT, "unwrapped": RecordKind.FLATTENED}
    row = next((kind for name, kind in shapes.items() if name in file), RecordKind.CHANGE)
    return STATED.get(word, row if word in ("c", "r", "u", "d", "t") else None)


@pytest.mark.parametrize(
    "name",
    [
        "docs-samples.jsonl",
        "debezium-tests-samples.jsonl",
        "engine-postgres-stream-noschema.jsonl",
        "engine-postgres-with-schema.jsonl",
        "engine-postgres-unwrapped.jsonl",
        "engine-postgres-cloudevents.jsonl",
        "engine-postgres-avro-wire.jsonl",
    ],
)
def test_every_sample_is_of_the_kind_that_its_file_states(name: str) -> None:
    path: Path = shared("debezium-samples", name)
    for line in path.read_bytes().splitlines():
        sample = json.loads(line)
        if sample.get("value_b64"):
            with pytest.raises(RecordError, match="malformed"):
                kind_of(line)
            continue
        expected = stated(name, sample)
        assert expected is None or kind_of(line) == expected, sample["id"]


def test_a_wrapper_gives_its_parts_as_they_came() -> None:
    wrapped = unwrap(
        b'{"topic":"a.b","partition":3,"offset":17,"key":"{\\"id\\":1}","value":" {\\"id\\": 1.50}","timestamp":5}'
    )
    assert (wrapped.topic, wrapped.position, wrapped.key) == ("a.b", "a.b/3/17", b'{"id":1}')
    assert (wrapped.value, wrapped.timestamp) == (b' {"id": 1.50}', b"5")


def test_a_wrapper_without_all_three_coordinates_has_no_position() -> None:
    assert unwrap(b'{"topic":"a","offset":17,"value":null}').position == ""


def test_a_value_that_is_not_base64_is_malformed() -> None:
    with pytest.raises(RecordError, match="value_b64 is not base64"):
        unwrap(b'{"topic":"a","value_b64":"***"}')


@pytest.mark.parametrize("raw", [b"42", b"[1]", b'"text"', b"true"])
def test_a_record_that_is_no_object_is_malformed(raw: bytes) -> None:
    with pytest.raises(RecordError, match="not an object"):
        kind_of(raw)
