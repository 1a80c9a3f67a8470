from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.trees import schema_names


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ("srv.inv.customers.Envelope", "srv.inv.customers"),
        ("srv.inv.customers.Value", "srv.inv.customers"),
        ("srv.inv.customers.Key", "srv.inv.customers"),
        ("plain", "plain"),
        (".Value", ".Value"),
    ],
)
def test_a_record_name_loses_its_role(record: str, expected: str) -> None:
    assert schema_names.of_record(record) == expected


def test_a_subject_loses_its_role() -> None:
    assert schema_names.of_subject("srv.inv.customers-value") == "srv.inv.customers"
    assert schema_names.of_subject("srv.inv.customers-key") == "srv.inv.customers"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"name": "srv", "db": "shop", "schema": "inv", "table": "customers"}, "srv.inv.customers"),
        ({"name": "srv", "db": "shop", "table": "customers"}, "srv.shop.customers"),
        ({"name": "srv", "db": "shop", "collection": "customers"}, "srv.shop.customers"),
        ({"name": "srv", "db": "shop", "schema": "", "table": ""}, None),
        ({"name": 7, "db": "shop", "table": "t"}, None),
        ({}, None),
    ],
)
def test_a_source_block_names_server_place_and_table(source: dict[str, object], expected: str | None) -> None:
    assert schema_names.of_source(source) == expected


def test_the_topic_names_a_change_first_and_the_rest_are_further_names() -> None:
    source = {"name": "srv", "schema": "inv", "table": "customers"}
    assert schema_names.of_change("moved", source, "srv.inv.customers.Envelope") == ("moved", "srv.inv.customers")
    assert schema_names.of_change(None, None, "") == ()


@pytest.mark.parametrize(
    ("path", "name", "label"),
    [
        ("stream/created/1.0.0.yaml", "stream/created", "1.0.0"),
        ("com.x/install/jsonschema/1-0-0", "com.x/install/jsonschema", "1-0-0"),
        ("customer-v2.json", "customer", "v2"),
        ("customer-1.2.0.schema.json", "customer", "1.2.0"),
        ("address2.json", "address2", None),
        ("deep/customers.YAML", "deep/customers", None),
        ("3.json", "3", None),
        ("payment/2.json", "payment", "2"),
    ],
)
def test_a_path_holds_name_and_label(path: str, name: str, label: str | None) -> None:
    assert schema_names.of_path(path) == schema_names.Named(name, label)


def test_an_id_holds_name_and_label() -> None:
    assert schema_names.of_id("/stream/created/1.0.0#") == schema_names.Named("stream/created", "1.0.0")
    assert schema_names.of_id("https://x.test/customer.json") == schema_names.Named("https://x.test/customer")


def test_labels_are_ordered_as_people_count() -> None:
    mixed = ["latest", "1-0-10", "2.0.0", "1-0-9", "v3", "2.0.0-rc1", "10"]
    assert sorted(mixed, key=schema_names.label_order) == [
        "1-0-9",
        "1-0-10",
        "2.0.0-rc1",
        "2.0.0",
        "v3",
        "10",
        "latest",
    ]


@given(st.lists(st.text(max_size=12) | st.from_regex(r"[v]?\d{1,25}([.\-]\d{1,3}){0,3}", fullmatch=True), max_size=8))
def test_any_labels_can_be_sorted_and_none_is_lost(labels: list[str]) -> None:
    once = sorted(labels, key=schema_names.label_order)
    assert sorted(once) == sorted(labels)
    assert sorted(once, key=schema_names.label_order) == once


@given(st.lists(st.integers(0, 10**6), min_size=3, max_size=3), st.lists(st.integers(0, 10**6), min_size=3, max_size=3))
def test_semantic_versions_are_ordered_by_their_numbers(one: list[int], other: list[int]) -> None:
    dotted = [".".join(map(str, numbers)) for numbers in (one, other)]
    dashed = [text.replace(".", "-") for text in dotted]
    for first, second in (dotted, dashed):
        assert (schema_names.label_order(first) < schema_names.label_order(second)) == (one < other)


@given(st.text(min_size=1))
def test_any_path_has_a_name(path: str) -> None:
    assert isinstance(schema_names.of_path(path).name, str)
    assert isinstance(schema_names.of_id(path).name, str)


@pytest.mark.parametrize(
    ("name", "group", "own"),
    [
        ("fx.payments.orders", "fx.payments", "orders"),
        ("com.adjust/install", "com.adjust", "install"),
        ("analytics/legacy/centralnoticebannerhistory", "analytics/legacy", "centralnoticebannerhistory"),
        ("orders", "", "orders"),
        ("/orders", "", "orders"),
    ],
)
def test_the_group_of_a_name_is_its_prefix_before_the_last_dot_or_slash(name: str, group: str, own: str) -> None:
    assert (schema_names.group_of(name), schema_names.name_in_group(name)) == (group, own)
