"""Nodes found by words, the likeliest first."""

from __future__ import annotations

import pytest

from metl_gui.core.search.node_search import find_attributes, find_schemas
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.tree_columns import columns_of
from tests.helpers.world import World


@pytest.fixture
def world() -> World:
    world = World()
    world.schema("shop.orders", "1", "id", "paid", "legacy_code")
    world.schema("shop.orders", "2", "id", "paid", "customer.id", "code")
    world.schema("shop.order_lines", "1", "order_id", "amount")
    world.schema("bank.accounts", "1", "holder_id", "code")
    return world


def found(world: World, *words: str, most: int = 9) -> list[str]:
    document = world.document
    answer = []
    for node in find_attributes(columns_of(document.extraction), words, most).nodes:
        version = document.extraction.version(node.version_id)
        attribute = version.attribute(node.attribute_id)
        assert attribute is not None
        answer.append(f"{document.extraction.schema(node.schema_id).name}@{version.label}.{attribute.path}")
    return answer


@pytest.fixture(params=["edited", "merged", "both"])
def whole(world: World, request: pytest.FixtureRequest) -> World:
    if request.param != "edited":
        world.document = world.document.merged()
    if request.param == "both":
        world.schema("shop.orders", "3", "id", "paid", "customer.id", "code", "day")
        world.remove_schema("shop.orders", "3")
    return world


def test_a_whole_name_comes_before_a_beginning_before_a_part_before_an_inside(whole: World) -> None:
    assert found(whole, "id") == [
        "shop.orders@2.id",
        "shop.order_lines@1.order_id",
        "bank.accounts@1.holder_id",
        "shop.orders@2.customer.id",
        "shop.orders@2.paid",
    ]


def test_an_attribute_that_is_gone_is_found_where_it_was_last(whole: World) -> None:
    assert found(whole, "legacy") == ["shop.orders@1.legacy_code"]


def test_further_words_may_stand_in_the_name_of_the_schema(whole: World) -> None:
    assert found(whole, "accounts", "code") == ["bank.accounts@1.code"]
    assert found(whole, "code", "orders") == ["shop.orders@2.code", "shop.orders@1.legacy_code"]
    assert found(whole, "nowhere", "code") == []


def test_only_the_likeliest_are_returned_and_all_are_counted(whole: World) -> None:
    answer = find_attributes(columns_of(whole.document.extraction), ["id"], 2)
    assert len(answer.nodes) == 2
    assert answer.count == 5


def test_schemas_are_found_by_the_parts_of_their_names(whole: World) -> None:
    columns = columns_of(whole.document.extraction)
    names = [whole.document.extraction.schema(n.schema_id).name for n in find_schemas(columns, ["order"], 9).nodes]
    assert names == ["shop.orders", "shop.order_lines"]
    assert find_schemas(columns, ["order", "bank"], 9).count == 0
    assert find_schemas(columns, [], 9).count == 0


def test_a_removed_schema_is_not_found(whole: World) -> None:
    whole.remove_schema("bank.accounts", "1")
    columns = columns_of(whole.document.tree(Side.EXTRACTION))
    assert find_attributes(columns, ["holder"], 9).count == 0


def test_a_text_of_many_words_finds_no_more_than_one_of_few(whole: World) -> None:
    columns = columns_of(whole.document.extraction)
    for count in (400, 700):  # hundreds of ranks of absent words are more than the ranks can hold
        words = ["nowhere", *["unheard"] * count]
        assert find_schemas(columns, words, 9).count == find_attributes(columns, words, 9).count == 0
