from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.trees.paths import escape, split
from metl_gui.registry.messages import schema_inference
from metl_gui.registry.messages.schema_inference import MAX_NAME_SETS, PLACEHOLDER, RowInference
from tests.helpers.cases import lines


def versions(*rows: dict[str, Any]) -> list[list[str]]:
    inference = RowInference()
    for row in rows:
        inference.add(row)
    return [lines(version.attributes) for version in inference.versions()]


def test_types_are_read_off_all_rows_of_a_version() -> None:
    found = versions(
        {"a": 1, "b": None, "c": "x", "d": True, "e": [1], "f": 1.5, "g": 1, "h": None, "i": 1},
        {"a": 2, "b": 3, "c": "y", "d": False, "e": [], "f": 1, "g": "x", "h": None, "i": 10**40},
    )
    assert found == [
        ["a integer", "b integer", "c string", "d boolean", "e array", "f number", "g union", "h unknown", "i integer"]
    ]


def test_a_new_version_begins_when_the_paths_change_and_an_old_one_goes_on() -> None:
    found = versions({"a": 1}, {"a": 2, "b": 1}, {"a": 3}, {"c": 1, "a": 2}, {"b": None, "a": None})
    assert found == [["a integer"], ["a integer", "b integer"], ["c integer", "a integer"]]


def test_a_null_parent_goes_with_the_version_that_has_leaves_below_it() -> None:
    found = versions({"a": None, "k": 1}, {"a": {"b": 1, "c": {"d": "x"}}, "k": 1}, {"a": {"b": 2, "c": None}, "k": 1})
    assert found == [["a.b integer optional", "a.c.d string optional", "k integer"]]


def test_a_value_that_becomes_an_object_is_another_path() -> None:
    assert versions({"a": "x"}, {"a": {"b": 1}}) == [["a string"], ["a.b integer"]]


def test_an_object_whose_names_keep_changing_is_an_open_map() -> None:
    few = [{"tags": {f"n{i}": 1}} for i in range(MAX_NAME_SETS)]
    assert len(versions(*few)) == MAX_NAME_SETS
    assert versions(*few, {"tags": {"one": 1, "more": 2}}, {"tags": None}) == [["tags map"]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"scale": 1, "value": "Dw=="}, "a struct io.debezium.data.VariableScaleDecimal"),
        ({"x": 1.0, "y": 2.0, "wkb": "AQ==", "srid": None}, "a struct io.debezium.data.geometry.Point"),
        ({"wkb": "AQ==", "srid": 4326}, "a struct io.debezium.data.geometry.Geometry"),
        ({}, "a unknown"),
        (PLACEHOLDER, "a unknown"),
        ({PLACEHOLDER: PLACEHOLDER}, "a unknown"),
    ],
)
def test_values_that_consist_of_a_struct_are_one_leaf(value: object, expected: str) -> None:
    assert versions({"a": value}) == [[expected]]


def test_a_placeholder_says_nothing_about_its_column() -> None:
    assert versions({"a": PLACEHOLDER}, {"a": {"b": 1}}, {"a": {PLACEHOLDER: PLACEHOLDER}}) == [
        ["a.b integer optional"]
    ]


def test_too_many_shapes_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_inference, "MAX_SHAPES", 3)
    inference = RowInference()
    for number in range(5):
        inference.add({f"c{number}": 1})
    assert inference.is_overflown


ROW = st.dictionaries(
    st.sampled_from(["a", "b", "c.d", "e\\"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2),
        lambda inner: st.dictionaries(st.sampled_from(["x", "y", "scale", "value"]), inner, max_size=3),
        max_leaves=4,
    ),
    min_size=1,
)


@given(st.lists(ROW, max_size=8))
def test_every_row_belongs_to_a_version_and_no_two_versions_have_the_same_paths(rows: list[dict[str, Any]]) -> None:
    inference = RowInference()
    for row in rows:
        inference.add(row)
    found = inference.versions()
    assert bool(found) == bool(rows)
    paths = [frozenset(a.path for a in version.attributes) for version in found]
    assert len(set(paths)) == len(paths)
    tops = {frozenset(escape(name) for name in row) for row in rows}
    assert tops == {frozenset(_top(path) for path in version) for version in paths}


@given(st.lists(ROW, min_size=1, max_size=5), st.integers(1, 3))
def test_seeing_rows_again_changes_nothing(rows: list[dict[str, Any]], times: int) -> None:
    assert versions(*rows) == versions(*(rows * times))


def _top(path: str) -> str:
    return escape(split(path)[0])


def test_rows_are_compared_only_with_versions_that_have_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    are_one = schema_inference._are_one

    def counted(version: Any, shape: Any) -> bool:
        asked.append(shape)
        return are_one(version, shape)

    monkeypatch.setattr(schema_inference, "_are_one", counted)
    assert len(versions(*({f"c{number}": 1, "n": {"x": 1}} for number in range(300)))) == 300
    assert len(asked) < 300
