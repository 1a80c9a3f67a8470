from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.trees.declarations import AttributeDeclaration
from metl_gui.errors import SchemaError
from metl_gui.formats import connect_schema
from tests.helpers.cases import cases, lines
from tests.helpers.shared import shared


@pytest.mark.parametrize("case", cases("connect"))
def test_a_connect_schema_gives_the_attributes_beside_it(case: dict[str, Any]) -> None:
    if "refused" in case:
        with pytest.raises(SchemaError) as refusal:
            connect_schema.declare(connect_schema.row_of(case["schema"]))
        assert case["refused"] in str(refusal.value)
        return
    attributes = connect_schema.declare(connect_schema.row_of(case["schema"]))
    assert lines(attributes) == case["attributes"]
    assert {a.path: a.doc for a in attributes if a.doc} == case.get("docs", {})
    assert connect_schema.row_label(case["schema"]) == case.get("label")
    assert {a.path: list(a.equivalent_to) for a in attributes if a.equivalent_to} == case.get("equivalents", {})


def test_the_version_of_an_envelope_is_no_label() -> None:
    row = {"type": "struct", "field": "after", "fields": [{"field": "id", "type": "int32"}]}
    envelope = {"type": "struct", "version": 2, "fields": [row, {"field": "op", "type": "string"}]}
    assert connect_schema.is_envelope(envelope)
    assert connect_schema.row_label(envelope) is None


def test_structs_nested_beyond_the_limit_end_in_a_leaf() -> None:
    schema: dict[str, Any] = {"field": "end", "type": "string"}
    for _ in range(200):
        schema = {"field": "s", "type": "struct", "fields": [schema]}
    (only,) = connect_schema.declare(schema)
    assert only.type == "struct"
    assert only.path.count(".") == connect_schema.MAX_DEPTH - 1


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (None, ()),
        ({"type": "string"}, None),
        (
            {"type": "struct", "fields": [{"field": "a.b", "type": "int32"}, {"field": "c", "type": "int32"}]},
            ("a\\.b", "c"),
        ),
    ],
)
def test_a_key_schema_names_the_key_paths(key: dict[str, Any] | None, expected: tuple[str, ...] | None) -> None:
    assert connect_schema.key_paths(key) == expected


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from(["struct", "string", "map", "a", "op", "after", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "fields", "field", "name", "parameters", "scale", "version"]), inner)
    ),
    max_leaves=25,
)


def declared_or_refused(schema: dict[str, Any]) -> tuple[AttributeDeclaration, ...] | SchemaError:
    try:
        return connect_schema.declare(connect_schema.row_of(schema))
    except SchemaError as refusal:
        return refusal


@given(JSON)
def test_any_json_is_declared_or_refused(value: Any) -> None:
    schema = value if isinstance(value, dict) else {"type": "struct", "fields": value}
    outcome = declared_or_refused(schema)
    if isinstance(outcome, SchemaError):
        assert str(outcome)
    else:
        assert len({a.path for a in outcome}) == len(outcome)


def test_the_captured_table_has_a_second_version_after_its_column_was_added() -> None:
    lines_of_file = (
        shared("debezium-samples", "engine-postgres-with-schema.jsonl").read_text(encoding="utf-8").splitlines()
    )
    records = [json.loads(line) for line in lines_of_file]
    schemas = [json.loads(r["value"])["schema"] for r in records if r["topic"] == "srv.inv.customers" and r["value"]]
    versions = list(dict.fromkeys(connect_schema.declare(connect_schema.row_of(schema)) for schema in schemas))
    assert [len(version) for version in versions] == [29, 30]
    assert {a.path for a in versions[1]} - {a.path for a in versions[0]} == {"phone"}


def test_the_data_of_a_cloud_event_is_an_envelope_without_op() -> None:
    row = {"type": "struct", "fields": [{"field": "id", "type": "int32"}]}
    event = {"type": "struct", "fields": [{**row, "field": "before"}, {**row, "field": "after"}]}
    table = {"type": "struct", "fields": [{**row, "field": "after"}, {"field": "id", "type": "int32"}]}
    assert lines(connect_schema.declare(connect_schema.row_of(event))) == ["id int32"]
    assert lines(connect_schema.declare(connect_schema.row_of(table))) == ["after.id int32", "id int32"]


def test_what_flattening_adds_is_left_out_of_the_columns() -> None:
    fields = [{"field": name, "type": "string"} for name in ("a", "__op", "_b", "__deleted")]
    attributes = connect_schema.declare({"type": "struct", "fields": fields})
    assert [a.path for a in connect_schema.without_added(attributes)] == ["a", "_b"]
