"""How bytes find the schema that wrote them: framings, headers, CloudEvents, keys, and what is unknown."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fastavro
import pytest

from metl_gui.core.trees.nodes import Side
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.wire_format import ids_in_headers
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.mapping.plan_compiler import compile_plan
from metl_gui.errors import EditError
from metl_gui.formats.avro_types import rabin_fingerprint, read_avro
from metl_gui.workbench.importing.remote_sources import parse_ids
from metl_gui.workbench.importing.schema_import import import_sources
from metl_gui.workbench.samples.preview import Previews
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.settings import FRAMING, project_settings, set_project_settings, set_settings
from tests.helpers.plans import map_all
from tests.helpers.sample_projects import fill

TOPIC = "srv.inv.t"


def envelope(*fields: dict[str, Any]) -> dict[str, Any]:
    value = {"type": "record", "name": "Value", "fields": list(fields)}
    own = {"before": ["null", value], "after": ["null", "Value"], "op": "string"}
    listed = [{"name": name, "type": kind} for name, kind in own.items()]
    return {"type": "record", "name": "Envelope", "namespace": TOPIC, "fields": listed}


ID, NAME = {"name": "id", "type": "long"}, {"name": "name", "type": ["null", "string"]}
ENVELOPE = envelope(ID, NAME)
WIDER = envelope({"name": "more", "type": "int"}, ID, NAME)
RENAMED = envelope(ID, {"name": "label", "type": ["null", "string"], "aliases": ["name"]})
KEY = {"type": "record", "name": "Key", "namespace": TOPIC, "fields": [{"name": "id", "type": "long"}]}
GUID = "89791762-2336-4186-9674-299b90a802e2"
IDS = {
    "value": {"subject": f"{TOPIC}-value", "id": 2, "contentId": 20, "globalId": 200, "guid": GUID},
    "wider": {"subject": f"{TOPIC}-value", "id": 3, "contentId": 30, "globalId": 300},
    "key": {"subject": f"{TOPIC}-key", "id": 1, "contentId": 10, "globalId": 100},
    "json": {"subject": "json-value", "id": 9, "schemaType": "JSON"},
}
ANSWERS = [
    {**IDS["value"], "version": 1, "schema": ENVELOPE},
    {**IDS["wider"], "version": 2, "schema": WIDER},
    {**IDS["key"], "version": 1, "schema": KEY},
    {**IDS["json"], "version": 1, "schema": {"type": "object", "properties": {"id": {}}}},
]
MAPPING = {"mapping": {TOPIC: {"thing": {"number": "id", "text": "name"}}, "json": {"plain": {"number": "id"}}}}


@pytest.fixture
def workbench(tmp_path: Path) -> Iterator[Workbench]:
    """A project that imported what a registry holds, and maps it."""
    path = tmp_path / "registry.json"
    path.write_text(json.dumps(ANSWERS), encoding="utf-8")
    with Workbench.create(tmp_path / "p.metl") as opened:
        assert not import_sources(opened, Side.EXTRACTION, [path]).refused
        fill(opened, MAPPING)
        yield opened


def kernel_of(workbench: Workbench, **more: Any) -> Kernel:
    framing = project_settings(workbench).settings[FRAMING]
    plan = compile_plan(workbench.document, wire=workbench.kept.writer_schemas.all(), framing=framing)
    return Kernel(plans.decode(plans.encode(plan)), **more)


def body(schema: Any, value: Any) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), value)
    return stream.getvalue()


def created(number: int, schema: Any = ENVELOPE, **more: Any) -> bytes:
    return body(schema, {"before": None, "after": {"id": number, "name": "x", **more}, "op": "c"})


def framed(id_: int, content: bytes, size: int = 4) -> bytes:
    return b"\0" + id_.to_bytes(size, "big") + content


def record(value: bytes | None, key: bytes | None = None, topic: str = TOPIC, **more: Any) -> bytes:
    parts = {"value_b64": value, "key_b64": key}
    written = {name: None if raw is None else base64.b64encode(raw).decode() for name, raw in parts.items()}
    return json.dumps({"topic": topic, **written, **more}).encode()


def told(outcome: MappedBatch) -> list[tuple[str, Any]]:
    """Say version and number of each message, then the reasons."""
    sent = [json.loads(text) for text in outcome.messages()]
    named = [(one["source"]["version"], one["payload"].get("number")) for one in sent]
    return named + [(aside.reason, None) for aside in outcome.set_aside]


FRAMED = {
    "confluent": framed(2, created(7)),
    "apicurio, content id": framed(20, created(7)),
    "apicurio, global id in four bytes": framed(200, created(7)),
    "apicurio, global id in eight bytes": framed(200, created(7), 8),
    "eight bytes of another id": framed(300, created(7, WIDER, more=1), 8),
}


@pytest.mark.parametrize("name", FRAMED)
def test_the_id_before_a_value_decides_its_version_in_every_framing(name: str, workbench: Workbench) -> None:
    expected = "2" if "another" in name else "1"
    assert told(map_all(kernel_of(workbench), [record(FRAMED[name])])) == [(expected, 7)]


@pytest.mark.parametrize(
    ("setting", "value", "expected"),
    [
        ("confluent", framed(2, created(7)), ("1", 7)),
        ("confluent", framed(2, created(7), 8), ("unknown_version", None)),
        ("apicurio4", framed(20, created(7)), ("1", 7)),
        ("apicurio4", framed(200, created(7)), ("unknown_version", None)),
        ("apicurio8", framed(200, created(7), 8), ("1", 7)),
        ("apicurio8", framed(2, created(7)), ("unknown_version", None)),
        ("none", framed(2, created(7)), ("undecodable", None)),
    ],
)
@pytest.mark.parametrize("is_of_schema", [True, False])
def test_a_framing_that_is_set_is_the_only_one_that_is_tried(
    setting: str, value: bytes, expected: tuple[str, Any], is_of_schema: bool, workbench: Workbench
) -> None:
    if is_of_schema:
        set_settings(workbench, TOPIC, [f"framing={setting}"])
    else:
        set_project_settings(workbench, [f"framing={setting}"])
    assert told(map_all(kernel_of(workbench), [record(value)])) == [expected]


def test_a_framing_that_there_is_not_is_refused(workbench: Workbench) -> None:
    with pytest.raises(EditError, match="framing cannot be"):
        set_settings(workbench, TOPIC, ["framing=5 bytes"])
    with pytest.raises(EditError, match="framing cannot be"):
        set_project_settings(workbench, ["framing=5 bytes"])


GUID_BYTES = bytes.fromhex(GUID.replace("-", ""))
LONG = base64.b64encode((200).to_bytes(8, "big")).decode()


@pytest.mark.parametrize(
    "headers",
    [
        {"__value_schema_id": base64.b64encode(b"\1" + GUID_BYTES).decode()},
        {"__value_schema_id": (b"\1" + GUID_BYTES).decode("latin-1")},
        {"__value_schema_id": GUID},
        [{"key": "__value_schema_id", "value": GUID.upper()}],
        [["apicurio.value.globalId", LONG]],
        {"apicurio.value.globalId": 200, "apicurio.value.encoding": "BINARY"},
        {"apicurio.value.contentId": "20"},
        [{"other": "x"}, {"apicurio.value.contentId": "20"}],
    ],
)
def test_headers_are_read_before_the_bytes(headers: Any, workbench: Workbench) -> None:
    raw = record(created(7), headers=headers)
    assert told(map_all(kernel_of(workbench), [raw])) == [("1", 7)]


def test_headers_of_the_key_name_no_schema_of_the_value() -> None:
    assert ids_in_headers(json.dumps({"__key_schema_id": GUID}).encode(), "value") == ()
    assert ids_in_headers(json.dumps({"__key_schema_id": GUID}).encode(), "key") == (GUID,)


@pytest.mark.parametrize(
    "headers",
    [
        "[1, 2]",
        "{}",
        '"x"',
        "",
        '{"__value_schema_id": {"a": 1}}',
        '{"__value_schema_id": true}',
        '{"apicurio.value.globalId": true}',
        "{",
    ],
)
def test_headers_of_any_other_form_say_nothing(headers: str) -> None:
    assert ids_in_headers(headers.encode(), "value") == ()


def test_text_with_an_unknown_id_in_its_headers_is_read_as_text(workbench: Workbench) -> None:
    value = {"before": None, "after": {"id": 7, "name": "x"}, "op": "c"}
    raw = json.dumps({"topic": TOPIC, "value": json.dumps(value), "headers": {"apicurio.value.globalId": 999}}).encode()
    assert told(map_all(kernel_of(workbench), [raw])) == [("1", 7)]


def test_json_behind_a_frame_of_an_unknown_id_is_of_an_unknown_version(workbench: Workbench) -> None:
    raw = record(framed(77, b'{"id": 1}'), topic="json")
    assert told(map_all(kernel_of(workbench), [raw])) == [("unknown_version", None)]


def test_json_behind_a_frame_is_mapped_by_its_id(workbench: Workbench) -> None:
    raw = record(framed(9, b'{"id": 1.50}'), topic="json")
    (message,) = map_all(kernel_of(workbench), [raw]).messages()
    assert b'"number":1.50' in message


def test_a_value_names_its_schema_where_its_topic_does_not(workbench: Workbench) -> None:
    raw = record(framed(2, created(7)), topic="routed.elsewhere")
    assert told(map_all(kernel_of(workbench), [raw])) == [("1", 7)]


def test_single_object_encoding_finds_a_schema_that_has_another_id(workbench: Workbench) -> None:
    mark = b"\xc3\x01" + rabin_fingerprint(read_avro(ENVELOPE)).to_bytes(8, "little")
    raws = [record(mark + created(7)), mark + created(8)]
    assert told(map_all(kernel_of(workbench), raws)) == [("1", 7), ("1", 8)]


def test_an_unknown_id_is_named_and_undecodable_bytes_are_told_from_it(workbench: Workbench) -> None:
    values = [framed(77, created(7)), framed(2, created(7))[:-1], framed(2, created(7) + b"\0"), b"\0\0\0"]
    outcome = map_all(kernel_of(workbench), [record(value) for value in values])
    assert [aside.reason for aside in outcome.set_aside] == ["unknown_version", *["undecodable"] * 3]
    details = [json.loads(aside.text)["detail"] for aside in outcome.set_aside]
    asked = re.search(r"--id (\S+) brings it alone", details[0])
    assert asked is not None
    assert parse_ids(asked[1])[0] == "77"
    assert json.loads(outcome.set_aside[0].text)["schema"] == TOPIC


def test_what_somebody_wrote_for_an_id_is_named_and_nobody_is_asked_to_type_it(workbench: Workbench) -> None:
    raw = record(created(7), headers={"__value_schema_id": "7; halt"})
    (aside,) = map_all(kernel_of(workbench), [raw]).set_aside
    detail = json.loads(aside.text)["detail"]
    assert detail == "no schema is known by the registry id 7; halt; import what the registry holds"


def test_a_delete_carries_the_key_of_its_framed_message_key(workbench: Workbench) -> None:
    deleted = framed(2, body(ENVELOPE, {"before": None, "after": None, "op": "d"}))
    keys = [framed(1, body(KEY, {"id": 5})), framed(77, b"\x0a"), framed(1, b""), None]
    outcome = map_all(kernel_of(workbench), [record(deleted, key) for key in keys])
    (message,) = [json.loads(text) for text in outcome.messages()]
    assert (message["op"], message["key"]) == ("d", {"number": 5})
    assert [aside.reason for aside in outcome.set_aside] == ["no_key", "undecodable", "no_key"]


def test_a_heartbeat_needs_no_schema_and_a_tombstone_no_bytes(workbench: Workbench) -> None:
    raws = [record(framed(77, b"x"), topic="__debezium-heartbeat.srv"), record(None)]
    assert map_all(kernel_of(workbench), raws).counts()["by_skip"] == {"heartbeat": 1, "tombstone": 1}


@pytest.mark.parametrize(
    ("data", "schema", "expected"),
    [
        (framed(2, created(7)), "http://r/schemas/ids/2", ("1", 7)),
        (created(7), "http://r/schemas/ids/2", ("1", 7)),
        (created(7), "http://r/apis/registry/v3/ids/globalIds/200", ("1", 7)),
        (created(7), "http://r/apis/registry/v3/ids/contentIds/20/", ("1", 7)),
        (framed(77, created(7)), "http://r/schemas/ids/77", ("undecodable", None)),
        (created(7), "http://r/schemas/ids/77", ("undecodable", None)),
        (created(7), "", ("undecodable", None)),
        (b"no avro", "http://r/schemas/ids/2", ("undecodable", None)),
    ],
)
def test_the_data_of_a_cloud_event_is_decoded_when_its_schema_is_known(
    data: bytes, schema: str, expected: tuple[str, Any], workbench: Workbench
) -> None:
    event = {
        "id": "1", "source": "/debezium", "specversion": "1.0", "type": "io.debezium.x", "iodebeziumop": "c",
        "datacontenttype": "application/avro", "dataschema": schema, "data": base64.b64encode(data).decode(),
    }  # fmt: skip
    raw = json.dumps({"topic": TOPIC, "value": json.dumps(event)}).encode()
    assert told(map_all(kernel_of(workbench), [raw])) == [expected]


def test_ids_stay_known_when_the_import_is_undone_and_lead_to_the_version_again_when_it_is_redone(
    workbench: Workbench, tmp_path: Path
) -> None:
    path = tmp_path / "later.json"
    path.write_text(
        json.dumps({"subject": f"{TOPIC}-value", "version": 3, "id": 5, "schema": RENAMED}), encoding="utf-8"
    )
    raw = record(framed(5, body(RENAMED, {"before": None, "after": {"id": 7, "label": "x"}, "op": "c"})))
    import_sources(workbench, Side.EXTRACTION, [path])
    (message,) = map_all(kernel_of(workbench), [raw]).messages()
    assert b'"version":"3"' in message
    assert b'"text":"x"' in message, "the alias carries the mapping over the new name"
    workbench.undo()
    lost = map_all(kernel_of(workbench), [raw])
    assert told(lost) == [("unknown_version", None)]
    assert "registry id 5" in json.loads(lost.set_aside[0].text)["detail"]
    import_sources(workbench, Side.EXTRACTION, [path])
    assert told(map_all(kernel_of(workbench), [raw])) == [("3", 7)]


def test_avro_and_json_of_one_row_become_the_same_messages(workbench: Workbench) -> None:
    text = json.dumps({"before": None, "after": {"id": 7, "name": "x"}, "op": "c"}, separators=(",", ":"))
    raws = [record(framed(2, created(7))), json.dumps({"topic": TOPIC, "value": text}).encode()]
    first, second = ([json.loads(text) for text in map_all(kernel_of(workbench), [raw]).messages()] for raw in raws)
    assert first == second


def test_the_preview_reads_what_a_run_reads(workbench: Workbench) -> None:
    previews = Previews.of_project(workbench)
    previews.take(workbench.document)
    found = previews.of(record(framed(2, created(7))))
    (message,) = found.messages
    assert (found.version, found.row, message.text) == ("1", b'{"id": 7, "name": "x"}', message.text)
    assert message.text is not None
    assert b'"number":7' in message.text
    assert previews.of(record(framed(77, b""))).reason == "unknown_version"
    set_settings(workbench, TOPIC, ["framing=apicurio8"])
    previews.take(workbench.document)
    assert previews.of(record(framed(2, created(7)))).reason == "unknown_version"
