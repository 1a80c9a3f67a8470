"""Avro schemas as graphs and as rows."""

from __future__ import annotations

import json
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.trees.declarations import fingerprint
from metl_gui.errors import SchemaError
from metl_gui.formats import connect_schema
from metl_gui.formats.avro_schema import as_connect, is_key, is_rowless, key_of, row_of
from metl_gui.formats.avro_types import canonical_form, definitions, rabin_fingerprint, read_avro, text_of
from tests.helpers.cases import cases, lines


@pytest.mark.parametrize("case", cases("avro"))
def test_a_record_has_the_attributes_that_the_reference_says(case: dict[str, Any]) -> None:
    avro = read_avro(case["schema"])
    assert lines(row_of(avro).attributes) == case["attributes"]
    if "connect" in case:
        assert fingerprint(row_of(avro).attributes) == fingerprint(connect_schema.declare(case["connect"]))


@pytest.mark.parametrize("case", cases("avro"))
def test_a_schema_written_back_stands_for_itself_and_means_the_same(case: dict[str, Any]) -> None:
    avro = read_avro(case["schema"])
    again = read_avro(json.loads(text_of(avro)))
    assert text_of(again) == text_of(avro)
    assert lines(row_of(again).attributes) == case["attributes"]
    canonical = fastavro.schema.to_parsing_canonical_form(case["schema"])
    assert canonical_form(again) == canonical
    rabin = fastavro.schema.fingerprint(canonical, "CRC-64-AVRO")
    assert rabin_fingerprint(again).to_bytes(8, "little").hex() == rabin


def test_a_type_is_found_by_its_name_in_its_own_namespace_and_elsewhere() -> None:
    city = {"type": "record", "name": "City", "namespace": "geo", "fields": [{"name": "zip", "type": "string"}]}
    order = {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [
            {"name": "to", "type": "geo.City"},
            {"name": "line", "type": {"type": "record", "name": "Line", "fields": [{"name": "n", "type": "int"}]}},
            {"name": "other", "type": "Line"},
            {"name": "full", "type": "shop.Line"},
        ],
    }
    avro = read_avro(order, dict(definitions(city)))
    assert lines(row_of(avro).attributes) == ["to.zip string", "line.n int32", "other.n int32", "full.n int32"]
    assert text_of(read_avro(json.loads(text_of(avro)))) == text_of(avro)


def test_aliases_of_nested_fields_name_every_path_they_were_reached_by() -> None:
    address = {"type": "record", "name": "A", "fields": [{"name": "town", "aliases": ["city"], "type": "string"}]}
    field = {"name": "home", "aliases": ["address"], "type": address}
    row = row_of(read_avro({"type": "record", "name": "r", "aliases": ["old.Row"], "fields": [field]}))
    (town,) = row.attributes
    assert town.path == "home.town"
    assert set(town.equivalent_to) >= {"home.city", "address.city", "address.town"}
    assert row.former_names == ("old.Row",)


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({}, "not named"),
        (7, "neither a name nor an object"),
        ("nobody.Knows", "refers to nobody.Knows"),
        ({"type": "record", "fields": []}, "has no name"),
        ({"type": "record", "name": "r"}, "no list of fields"),
        ({"type": "record", "name": "r", "fields": [{"type": "int"}]}, "has no name"),
        ({"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}] * 2}, "two fields"),
        ({"type": "record", "name": "r", "fields": []}, "has no fields"),
        ({"type": "enum", "name": "e"}, "no symbols"),
        ({"type": "fixed", "name": "f", "size": -1}, "size"),
        ({"type": "fixed", "name": "f", "size": 2**40}, "size"),
        (["int", "int"], "union"),
        ([["int"], "string"], "union"),
        ({"type": "array", "items": "int"}, "an array, not a record"),
        ("string", "a string, not a record"),
    ],
)
def test_what_is_no_avro_schema_of_a_row_is_refused_with_a_sentence(schema: Any, said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        row_of(read_avro(schema))


def test_types_that_multiply_are_refused_before_they_fill_the_memory() -> None:
    schema: Any = {"type": "record", "name": "r0", "fields": [{"name": "x", "type": "int"}]}
    for at in range(1, 40):
        fields = [{"name": "a", "type": schema}, {"name": "b", "type": f"r{at - 1}"}]
        schema = {"type": "record", "name": f"r{at}", "fields": fields}
    with pytest.raises(SchemaError, match="too large"):
        row_of(read_avro(schema))


def test_a_schema_nested_beyond_all_use_is_refused() -> None:
    schema: Any = "int"
    for _ in range(300):
        schema = {"type": "array", "items": schema}
    with pytest.raises(SchemaError, match="too large"):
        read_avro(schema)


def test_keys_and_events_are_told_from_rows() -> None:
    key = read_avro({"type": "record", "name": "Key", "namespace": "a.b.t", "fields": [{"name": "id", "type": "int"}]})
    beat = {
        "type": "record",
        "name": "Heartbeat",
        "namespace": "io.debezium",
        "fields": [{"name": "ts_ms", "type": "long"}],
    }
    assert is_key(key)
    assert key_of(key) == ("id",)
    assert not is_rowless(key)
    assert is_rowless(read_avro(beat))
    assert is_rowless(read_avro("string"))


def _written(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def record(type_: Any, name: str) -> Any:
        return {"type": "record", "name": name, "fields": [{"name": "f", "type": type_}]}

    names = st.sampled_from(["a", "b", "", "n.c"])
    lists = st.lists(inner, max_size=3)
    return st.one_of(lists, st.builds(lambda a: {"type": "array", "items": a}, inner), st.builds(record, inner, names))


SCRAPS = st.sampled_from(["int", "string", "null", {}, 7, None, "x.y", {"type": "record"}])


@given(st.recursive(SCRAPS, _written, max_leaves=8))
def test_any_json_value_is_a_schema_or_refused(document: Any) -> None:
    try:
        avro = read_avro(document)
    except SchemaError as error:
        refused = str(error)
    else:
        refused = ""
        assert read_avro(json.loads(text_of(avro))).kind == avro.kind
        as_connect(avro)
    assert refused == "" or refused.endswith(".")
