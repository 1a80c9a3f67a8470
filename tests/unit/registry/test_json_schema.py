from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.trees.declarations import VersionDeclaration
from metl_gui.errors import SchemaError
from metl_gui.registry.schemas import json_schema
from metl_gui.registry.schemas.json_schema_nodes import MAX_STEPS
from tests.helpers.cases import cases, lines


@pytest.mark.parametrize("form", ["json", "yaml"])
@pytest.mark.parametrize("case", cases("json_schema"))
def test_a_json_schema_gives_the_attributes_beside_it(case: dict[str, Any], form: str, tmp_path: Path) -> None:
    path = tmp_path / f"file.{form}"
    text = json.dumps(case["schema"]) if form == "json" else yaml.safe_dump(case["schema"], sort_keys=False)
    path.write_text(text, encoding="utf-8")
    reading = json_schema.read(path)
    if "refused" in case:
        assert not reading.declarations
        assert case["refused"] in reading.refused[0].reason
        return
    assert not reading.refused
    (version,) = reading.declarations
    assert lines(version.attributes) == case["attributes"]
    assert {a.path: a.doc for a in version.attributes if a.doc} == case.get("docs", {})
    equivalents = {a.path: list(a.equivalent_to) for a in version.attributes if a.equivalent_to}
    assert equivalents == case.get("equivalents", {})
    assert list(version.key or ()) == case.get("key", [])
    assert version.name == case.get("name", version.name)
    assert version.label == case.get("label")


def declared(schema: dict[str, Any], relative: str = "file.json") -> VersionDeclaration:
    return json_schema.declare(schema, relative, "test")


def test_a_self_describing_schema_is_named_by_vendor_and_name() -> None:
    own = {"vendor": "com.x", "name": "install", "format": "jsonschema", "version": "1-0-2"}
    version = declared({"self": own, "title": "other", "properties": {"a": {}}})
    assert (version.name, version.label, version.aliases) == ("com.x/install", "1-0-2", ())


def test_a_title_names_the_schema_and_its_id_is_an_alias() -> None:
    version = declared({"title": "Customer", "$id": "/shop/customer/2.0.0", "properties": {"a": {}}}, "x/1.0.0.yaml")
    assert (version.name, version.label, version.aliases) == ("Customer", "2.0.0", ("shop/customer",))


def test_a_schema_that_says_no_name_is_named_by_its_path() -> None:
    version = declared({"properties": {"a": {}}}, "shop/customer/1.4.0.yaml")
    assert (version.name, version.label) == ("shop/customer", "1.4.0")


def test_a_key_that_is_no_attribute_refuses_the_schema() -> None:
    with pytest.raises(SchemaError, match="keyed cannot be used"):
        declared({"title": "keyed", "x-primary-key": ["id"], "properties": {"a": {}}})


def test_references_that_multiply_end_in_a_refusal() -> None:
    levels = {f"l{i}": {"allOf": [{"$ref": f"#/$defs/l{i + 1}"}] * 2} for i in range(40)}
    schema = {
        "title": "bomb",
        "properties": {"a": {"$ref": "#/$defs/l0"}},
        "$defs": {**levels, "l40": {"type": "string"}},
    }
    with pytest.raises(SchemaError, match="lead too far") as refusal:
        declared(schema)
    assert f"{MAX_STEPS:,}" in refusal.value.text


def test_properties_that_multiply_end_in_a_refusal() -> None:
    levels = {
        f"l{i}": {"properties": {name: {"$ref": f"#/$defs/l{i + 1}"} for name in "abcdefghij"}, "type": "object"}
        for i in range(9)
    }
    schema = {"title": "laughs", "$ref": "#/$defs/l0", "$defs": {**levels, "l9": {"type": "string"}}}
    with pytest.raises(SchemaError, match="laughs cannot be used"):
        declared(schema)


def test_a_chain_of_references_beyond_the_limit_is_refused_without_exhausting_the_stack() -> None:
    chain = {f"l{i}": {"$ref": f"#/$defs/l{i + 1}"} for i in range(5000)}
    with pytest.raises(SchemaError, match="lead too far"):
        declared({"title": "chain", "properties": {"a": {"$ref": "#/$defs/l0"}}, "$defs": {**chain, "l5000": {}}})


KEYWORDS = [
    "type",
    "properties",
    "required",
    "allOf",
    "anyOf",
    "oneOf",
    "$ref",
    "$defs",
    "items",
    "enum",
    "const",
    "title",
    "$id",
    "id",
    "$anchor",
    "then",
    "dependencies",
    "additionalProperties",
    "format",
    "nullable",
    "self",
    "x-primary-key",
    "a",
]
VALUES = ["object", "string", "null", "#", "#/$defs/a", "#a", "#/properties/a", "a", "1.0.0", "http://[x", ""]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.floats(allow_nan=False)
    | st.sampled_from(VALUES)
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=5),
    max_leaves=40,
)


def declared_or_refused(value: Any) -> VersionDeclaration | SchemaError:
    try:
        return json_schema.declare(value, "file.json", "test")
    except SchemaError as refusal:
        return refusal


@given(JSON)
def test_any_json_is_declared_or_refused_with_a_sentence(value: Any) -> None:
    version = declared_or_refused(value)
    if isinstance(version, SchemaError):
        assert str(version).strip()
        return
    assert version.attributes
    assert version.name
    assert len({a.path for a in version.attributes}) == len(version.attributes)
    assert version.fingerprint


def test_an_enum_that_grows_is_the_same_version_and_a_text_that_becomes_one_too() -> None:
    def version(kind: dict[str, Any]) -> VersionDeclaration:
        return declared({"title": "t", "properties": {"state": kind, "n": {"type": "integer"}}})

    plain = version({"type": "string"})
    small, grown = (version({"type": "string", "enum": list(values)}) for values in ("ab", "abc"))
    assert plain.fingerprint == small.fingerprint == grown.fingerprint
    assert version({"enum": ["a", 1]}).fingerprint != plain.fingerprint
    assert declared({"title": "t", "required": ["state"], "properties": {"state": {"type": "string"}}}).fingerprint != (
        declared({"title": "t", "properties": {"state": {"type": "string"}}}).fingerprint
    )


def test_a_reference_leads_to_what_a_registry_names_by_its_whole_address() -> None:
    document = {
        "$id": "http://x.org/orders/a.json",
        "title": "A",
        "type": "object",
        "properties": {"buyer": {"$ref": "b.json"}, "place": {"$ref": "b.json#/definitions/place"}},
    }
    referred = {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "definitions": {"place": {"type": "integer"}},
    }
    found = json_schema.declare(document, "a", "a", {"http://x.org/orders/b.json": referred})
    assert [(one.path, one.type) for one in found.attributes] == [("buyer.name", "string"), ("place", "integer")]
