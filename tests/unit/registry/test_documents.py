from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.errors import SchemaError
from metl_gui.registry import documents


@pytest.mark.parametrize("parse", [documents.parse_json, documents.parse_yaml])
@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 300 + "]" * 300])
def test_deep_nesting_is_refused_with_a_sentence(parse: Any, text: str) -> None:
    with pytest.raises(SchemaError, match="nested too deeply"):
        parse(text)


def test_brackets_inside_texts_do_not_count_as_nesting() -> None:
    assert documents.parse_json(json.dumps(["[{" * 500 + '"\\'])) == ["[{" * 500 + '"\\']


@pytest.mark.parametrize(
    ("parse", "text"),
    [(documents.parse_json, '{"a": {"b": 1, "b": 2}}'), (documents.parse_yaml, "a:\n  b: 1\n  b: 2\n")],
)
def test_a_name_that_stands_twice_in_one_object_is_refused(parse: Any, text: str) -> None:
    with pytest.raises(SchemaError, match="'b' stands twice"):
        parse(text)


def test_a_broken_document_is_refused_with_the_place() -> None:
    with pytest.raises(SchemaError, match="line 2"):
        documents.parse_json('{"a": 1,\n "b" 2}')
    with pytest.raises(SchemaError, match="line 2"):
        documents.parse_yaml("a: 1\nb: [1, 2}")


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '"\\ud800"', "1" * 10_000, "{", "1 2"])
def test_what_is_not_json_by_its_standard_is_refused(text: str) -> None:
    with pytest.raises(SchemaError):
        documents.parse_json(text)


def test_yaml_words_and_dates_stay_text() -> None:
    text = "no: yes\nday: 2024-01-01\nat: 2024-01-01T00:00:00Z\ntime: 12:30:45\n1: {2.0: on}\nquoted: 'true'\n"
    assert documents.parse_yaml(text) == {
        "no": "yes", "day": "2024-01-01", "at": "2024-01-01T00:00:00Z", "time": "12:30:45", "1": {"2.0": "on"},
        "quoted": "true",
    }  # fmt: skip


def test_yaml_scalars_of_the_core_schema_have_their_types() -> None:
    text = "[~, null, '', true, False, 12, -3, 1.5, 1e3, .5, !!str 12, !!int '7', 0x1f]"
    assert documents.parse_yaml(text) == [None, None, "", True, False, 12, -3, 1.5, 1000.0, 0.5, "12", 7, "0x1f"]


def test_yaml_aliases_and_merges_are_resolved() -> None:
    text = "base: &b {x: 1, y: 2}\nown: {<<: *b, y: 3}\nboth: {<<: [*b, {z: 4}]}\nsame: *b\n"
    assert documents.parse_yaml(text) == {
        "base": {"x": 1, "y": 2},
        "own": {"x": 1, "y": 3},
        "both": {"x": 1, "y": 2, "z": 4},
        "same": {"x": 1, "y": 2},
    }


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]",
        "a: *gone",
        "a: !!python/object/apply:os.system [ls]",
        "a: !program x",
        "a: 1\n---\nb: 2",
        "? [a, b]\n: 1",
        "a: {<<: 1, <<: 2}",
        "a: {<<: [1]}",
        "\tx: 1",
        "",
    ],
)
def test_yaml_beyond_what_a_schema_needs_is_refused(text: str) -> None:
    with pytest.raises(SchemaError):
        documents.parse_yaml(text)


def test_yaml_aliases_that_multiply_cost_nothing() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 30)]
    assert len(documents.parse_yaml("\n".join(lines))) == 30


def test_yaml_merges_that_multiply_are_refused() -> None:
    names = ", ".join(f"n{i}: 1" for i in range(1000))
    lines = [f"a0: &a0 {{{names}}}"] + [f"a{i}: {{<<: [{', '.join(['*a0'] * 50)}]}}" for i in range(1, 10)]
    with pytest.raises(SchemaError, match="multiply"):
        documents.parse_yaml("\n".join(lines))


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.text(st.characters(codec="ascii", categories=["L", "N"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.from_regex("[a-z]{1,5}", fullmatch=True), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(PLAIN)
def test_json_and_yaml_of_one_value_are_read_alike(value: Any) -> None:
    text = json.dumps(value)
    assert documents.parse_json(text) == value
    assert documents.parse_yaml(text) == value


def refusal_of(parse: Any, text: str) -> SchemaError | None:
    try:
        parse(text)
    except SchemaError as refusal:
        return refusal
    return None


@given(st.text(max_size=60) | st.text(st.sampled_from("{}[]:,-&*!|>'\" \n#%?a1<"), max_size=40))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    for parse in (documents.parse_json, documents.parse_yaml):
        assert refusal_of(parse, text) is None or str(refusal_of(parse, text)).strip()


def test_every_document_of_the_yaml_library_is_read_as_it_reads_it() -> None:
    text = "a: {b: [1, 2, {c: d}]}\ne: |\n  two\n  lines\nf: >-\n  folded\n  text\n"
    assert documents.parse_yaml(text) == yaml.safe_load(text)


def test_files_that_cannot_be_schemas_are_refused(tmp_path: Path) -> None:
    large = tmp_path / "large.json"
    large.write_bytes(b" " * 2000)
    with pytest.raises(SchemaError, match="too large"):
        documents.read_bytes(large, limit_bytes=1000)
    with pytest.raises(SchemaError, match="not a file"):
        documents.read_bytes(tmp_path)
    with pytest.raises(SchemaError, match="not UTF-8"):
        documents.decode(b'{"a": "\xff"}')
    with pytest.raises(SchemaError, match="NUL"):
        documents.decode(b'{"a": 1}\0')
    assert documents.decode(b"\xef\xbb\xbf{}") == "{}"
