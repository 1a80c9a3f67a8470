"""Avro files and what registries hold, to versions, keys, ids and refusals."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fastavro
import pytest

from metl_gui.core.project.reader_result import ReaderResult
from metl_gui.core.project.source_formats import Format
from metl_gui.registry.files import sources
from metl_gui.registry.schemas import avro
from tests.helpers.cases import lines


def record(name: str, *fields: tuple[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": n, "type": t} for n, t in fields], **more}


def envelope(topic: str, *fields: tuple[str, Any]) -> dict[str, Any]:
    value = record("Value", *fields)
    own = [("before", ["null", value]), ("after", ["null", "Value"]), ("op", "string")]
    return record("Envelope", *own, namespace=topic)


def answer(subject: str, version: int, id_: int, schema: Any, **more: Any) -> dict[str, Any]:
    return {"subject": subject, "version": version, "id": id_, "schema": json.dumps(schema), **more}


def reading_of(folder: Path, files: Mapping[str, Any]) -> ReaderResult:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return sources.read([folder])


def versions_of(reading: ReaderResult) -> list[tuple[str, str | None, list[str]]]:
    return [(one.name, one.label, lines(one.attributes)) for one in reading.declarations]


CUSTOMERS = "srv.inv.customers"
KEY = record("Key", ("id", "long"), namespace=CUSTOMERS)
ONE = envelope(CUSTOMERS, ("id", "long"))
TWO = envelope(CUSTOMERS, ("id", "long"), ("name", ["null", "string"]))


def test_answers_of_a_registry_give_versions_keys_and_ids(tmp_path: Path) -> None:
    answers = [
        answer(f"{CUSTOMERS}-value", 2, 7, TWO, guid="89791762-2336-4186-9674-299b90a802e2".upper()),
        answer(f"{CUSTOMERS}-value", 1, 2, ONE),
        answer(f"{CUSTOMERS}-key", 1, 1, KEY),
    ]
    found = reading_of(tmp_path, {"answers.json": answers})
    assert not found.refused
    assert versions_of(found) == [
        (CUSTOMERS, "1", ["id int64"]),
        (CUSTOMERS, "2", ["id int64", "name string optional"]),
    ]
    assert [one.key for one in found.declarations] == [("id",), ("id",)]
    prints = [one.fingerprint for one in found.declarations]
    assert {one.id: one.fingerprint for one in found.wire} == {
        "1": "",
        "2": prints[0],
        "7": prints[1],
        "89791762-2336-4186-9674-299b90a802e2": prints[1],
    }


def test_apicurio_says_content_ids_and_global_ids(tmp_path: Path) -> None:
    version = {"artifactId": f"{CUSTOMERS}-value", "groupId": "default", "version": "3", "artifactType": "AVRO"}
    content = {"globalId": 11, "contentId": 4, "content": json.dumps(ONE)}
    found = reading_of(tmp_path, {"versions.json": {"versions": [version | content]}})
    assert versions_of(found) == [(CUSTOMERS, "3", ["id int64"])]
    assert [one.id for one in found.wire] == ["content:4", "global:11"]


def test_a_reference_means_the_very_version_that_it_names(tmp_path: Path) -> None:
    cities = [record("City", ("zip", kind), namespace="geo") for kind in ("int", "string")]
    order = record("Order", ("to", "geo.City"), namespace="shop")
    referring = [
        answer("orders-value", at, 10 + at, order, references=[{"name": "geo.City", "subject": "city", "version": at}])
        for at in (1, 2)
    ]
    found = reading_of(
        tmp_path, {"r.json": [answer("city", 1, 1, cities[0]), answer("city", 2, 2, cities[1]), *referring]}
    )
    assert not found.refused
    assert [one for one in versions_of(found) if one[0] == "orders"] == [
        ("orders", "1", ["to.zip int32"]),
        ("orders", "2", ["to.zip string"]),
    ]
    texts = {one.id: one.text for one in found.wire}
    assert '"name":"City"' in texts["11"], "what is kept must be readable without the reference"


def test_types_are_found_in_other_files_of_the_same_import(tmp_path: Path) -> None:
    files = {
        "b/order.avsc": record("Order", ("to", "City"), namespace="shop"),
        "a/city.avsc": record("City", ("zip", "string"), namespace="shop"),
    }
    assert versions_of(reading_of(tmp_path, files)) == [
        ("shop.City", None, ["zip string"]),
        ("shop.Order", None, ["to.zip string"]),
    ]


def test_versions_of_a_file_are_labelled_by_its_path(tmp_path: Path) -> None:
    files = {
        f"com.x/Job/avro/{label}": record("Job", (label[0] + "x", "string")) for label in ("1-0-0", "1-0-10", "1-0-9")
    }
    assert [label for _, label, _ in versions_of(reading_of(tmp_path, files))] == ["1-0-0", "1-0-9", "1-0-10"]


def test_a_list_and_a_protocol_give_each_of_their_records(tmp_path: Path) -> None:
    both = [record("a.City", ("zip", "string")), record("a.Order", ("to", "a.City"))]
    protocol = {"protocol": "Shop", "namespace": "shop", "types": [record("Line", ("n", "int"))], "messages": {}}
    found = reading_of(tmp_path, {"list.avsc": both, "shop.avpr": protocol})
    assert [name for name, *_ in versions_of(found)] == ["a.City", "a.Order", "shop.Line"]


def test_a_data_file_gives_the_schema_that_wrote_it(tmp_path: Path) -> None:
    stream = io.BytesIO()
    fastavro.writer(stream, record("shop.Order", ("id", "long")), [{"id": 1}])
    (tmp_path / "orders.avro").write_bytes(stream.getvalue())
    found = sources.read([tmp_path])
    assert versions_of(found) == [("shop.Order", None, ["id int64"])]
    (wire,) = found.wire
    assert wire.id.startswith("rabin:")


def test_a_former_name_of_a_record_is_what_it_continues(tmp_path: Path) -> None:
    renamed = record("Client", ("id", "long"), namespace="shop", aliases=["Customer"])
    (continued,) = reading_of(tmp_path, {"c.avsc": renamed}).continuations
    assert (continued.name, continued.of) == ("shop.Client", ("shop.Customer",))


def test_schemas_of_other_kinds_in_a_registry_are_taken_where_they_can_be(tmp_path: Path) -> None:
    json_schema = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    connect = {"type": "struct", "name": "s.t.Value", "fields": [{"field": "id", "type": "int32"}]}
    answers = [
        answer("clicks-value", 1, 1, json_schema, schemaType="JSON"),
        answer("s.t-value", 1, 2, connect, schemaType="KCONNECT"),
        {"subject": "p-value", "version": 1, "id": 3, "schemaType": "PROTOBUF", "schema": 'syntax = "proto3";'},
    ]
    found = reading_of(tmp_path, {"r.json": answers})
    assert versions_of(found) == [("clicks", "1", ["id integer"]), ("s.t", "1", ["id int32"])]
    assert [(one.id, one.kind, one.text) for one in found.wire] == [("1", "json", ""), ("2", "json", "")]
    (refused,) = found.refused
    assert "p-value" in refused.source
    assert "PROTOBUF" in refused.reason


def test_one_bad_schema_of_a_registry_stops_no_other(tmp_path: Path) -> None:
    answers = [
        answer("a-value", 1, 1, record("a", ("x", "nobody"))),
        answer("b-value", 1, 2, record("b", ("x", "int"))),
    ]
    found = reading_of(tmp_path, {"r.json": answers})
    assert [name for name, *_ in versions_of(found)] == ["b"]
    assert "refers to nobody" in found.refused[0].reason
    assert "a-value" in found.refused[0].source


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not valid JSON"),
        ('{"type": "record", "name": "r"}', "no list of fields"),
        ('{"type": "enum", "name": "e", "symbols": ["A"]}', "an enum, not a record"),
        (json.dumps(KEY), "keys or events"),
        ('{"subjects": {"a-value": [3]}, "schemas_by_id": {}}', "no schema has it"),
        ("Obj\x01 and no more", "damaged"),
    ],
)
def test_a_file_that_holds_no_row_is_refused_with_a_sentence(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "x.avsc"
    path.write_text(content, encoding="utf-8")
    found = sources.read([path], Format.AVRO)
    assert not found.declarations
    (refused,) = found.refused
    assert said in refused.reason


def test_an_alias_that_two_schemas_claim_is_nobodys(tmp_path: Path) -> None:
    value = record("Value", ("id", "int"))
    answers = [
        answer("a-value", 1, 1, value),
        answer("b-value", 1, 1, value),
        answer("c-value", 1, 2, record("C", ("x", "int"))),
    ]
    path = tmp_path / "r.json"
    path.write_text(json.dumps(answers), encoding="utf-8")
    found = avro.read([(path, "r.json")])
    assert {one.name: one.aliases for one in found.declarations} == {"a": (), "b": (), "c": ("C",)}
    assert [(one.id, one.schema) for one in found.wire] == [("1", "a"), ("1", "b"), ("2", "c")]


def test_a_registry_of_many_schemas_is_one_large_file_and_read_all_the_same(tmp_path: Path) -> None:
    doc = "d" * 2**20
    answers = [answer(f"t{at}-value", 1, at, record("Value", ("id", "int"), doc=doc)) for at in range(1, 19)]
    found = reading_of(tmp_path, {"registry.json": answers})
    assert (tmp_path / "registry.json").stat().st_size > 16 * 2**20
    assert [one.name for one in found.declarations] == [f"t{at}" for at in range(1, 19)]
    assert not found.refused


@pytest.mark.parametrize("id_", ["²", "9" * 5_000, "٣"])
def test_an_id_that_is_no_number_stops_no_other_file(id_: str, tmp_path: Path) -> None:
    saved = answer("a-value", 1, 1, record("a", ("x", "int"))) | {"id": id_}
    reading = reading_of(tmp_path, {"odd.json": saved, "plain.avsc": record("b", ("y", "int"))})
    assert sorted(one.name for one in reading.declarations) == ["a", "b"]
    assert id_ not in {one.id for one in reading.wire}


@pytest.mark.parametrize(
    ("is_envelope", "paths"), [(True, ["id", "__v"]), (False, ["id"])], ids=["envelope", "flattened"]
)
def test_columns_that_begin_with_two_underscores_are_the_tables_own_in_an_envelope(
    is_envelope: bool, paths: list[str], tmp_path: Path
) -> None:
    row = [{"type": "int32", "field": "id"}, {"type": "string", "field": "__v"}]
    value = {"type": "struct", "name": "srv.s.t.Value", "fields": row}
    around = [value | {"field": "after"}, {"type": "string", "field": "op"}]
    schema = value | {"name": "srv.s.t.Envelope", "fields": around} if is_envelope else value
    held = answer("srv.s.t-value", 1, 1, schema, schemaType="KCONNECT")
    reading = reading_of(tmp_path, {"held.json": [held], "alone.json": schema | {"name": "srv.s.u.Value"}})
    assert [(one.name, [a.path for a in one.attributes]) for one in reading.declarations] == [
        ("srv.s.u", paths),
        ("srv.s.t", paths),
    ]
