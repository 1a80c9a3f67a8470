"""``source path -> target path``: where it leads, and how it may go on."""

from __future__ import annotations

import pytest

from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from metl_gui.workbench.mapping.search import Completions, SearchNode, find_ends
from tests.helpers.world import World


@pytest.fixture
def world() -> World:
    made = World()
    made.entity("pay.payment", "1.0", "amount", "payer.id")
    made.schema("db.orders", "1", "id", "total")
    made.schema("db.orders", "1.0", "id", "sum")
    made.schema("db.orders.lines", "1", "id")
    return made


def end(world: World, side: Side, name: str, label: str, path: str) -> SearchNode:
    version = world.version(side, name, label)
    attribute = version.at_path(path)
    assert attribute is not None
    return SearchNode(version.schema_id, version.id, attribute.id)


@pytest.mark.parametrize("arrow", [" -> ", "->", " → "])
def test_both_ends_lead_to_the_newest_version_that_has_them(world: World, arrow: str) -> None:
    source, target = find_ends(world.document, f"db.orders.total{arrow}pay.payment.payer.id")
    assert source == end(world, Side.EXTRACTION, "db.orders", "1", "total")
    assert target == end(world, Side.CDM, "pay.payment", "1.0", "payer.id")


def test_a_label_chooses_the_version_and_the_longest_that_fits_is_meant(world: World) -> None:
    assert find_ends(world.document, "db.orders@1.id")[0] == end(world, Side.EXTRACTION, "db.orders", "1", "id")
    assert find_ends(world.document, "db.orders@1.0.id")[0] == end(world, Side.EXTRACTION, "db.orders", "1.0", "id")


def test_one_name_alone_may_be_of_either_tree(world: World) -> None:
    assert find_ends(world.document, "db.orders.lines") == (
        SearchNode(world.version(Side.EXTRACTION, "db.orders.lines", "1").schema_id),
        None,
    )
    assert find_ends(world.document, "pay.payment.amount")[1] == end(world, Side.CDM, "pay.payment", "1.0", "amount")
    assert find_ends(world.document, "-> pay.payment")[0] is None


def test_a_name_that_is_not_known_is_refused_with_near_names(world: World) -> None:
    with pytest.raises(EditError, match=r"db\.order"):
        find_ends(world.document, "db.order -> pay.payment")


def test_completions_are_names_then_fields_then_the_other_side(world: World) -> None:
    completions = Completions(world.document)
    assert completions.of("ord") == ["db.orders", "db.orders.lines"]
    assert set(completions.of("db.orders.")) == {
        "db.orders.id",
        "db.orders.total",
        "db.orders.sum",
        "db.orders.lines",
    }
    assert completions.of("db.orders.id -> pay") == ["db.orders.id -> pay.payment"]
    assert completions.of("db.orders.id -> pay.payment.p") == ["db.orders.id -> pay.payment.payer.id"]


def test_completions_behind_an_at_are_versions_and_the_fields_of_one(world: World) -> None:
    completions = Completions(world.document)
    assert completions.of("db.orders@") == ["db.orders@1.0", "db.orders@1"]
    assert completions.of("orders@1") == ["db.orders@1.0", "db.orders@1", "db.orders@1.id", "db.orders@1.total"]
    assert completions.of("db.orders@1.0") == ["db.orders@1.0.id", "db.orders@1.0.sum"]
    assert completions.of("db.orders@1.t") == ["db.orders@1.total"]
    assert completions.of("db.orders@2") == []
    assert completions.of("db.orders@1.id -> payment@1.0.p") == ["db.orders@1.id -> pay.payment@1.0.payer.id"]
    assert completions.of("unknown@1") == []


def test_behind_the_arrow_of_a_version_stands_first_what_its_field_is_mapped_to(world: World) -> None:
    world.entity("aside", "1", "a")
    world.map("db.orders@1:pay.payment@1.0", amount="total")
    found = Completions(world.document).of("orders@1.total -> ")
    assert found[0] == "orders@1.total -> pay.payment.amount"
    assert Completions(world.document).of("orders -> ") == ["orders -> pay.payment", "orders -> aside"]


def test_the_end_of_a_name_is_enough_where_one_schema_alone_ends_so(world: World) -> None:
    world.schema("db.old.lines", "1", "id")
    source, target = find_ends(world.document, "orders.total -> payment.payer.id")
    assert source == end(world, Side.EXTRACTION, "db.orders", "1", "total")
    assert target == end(world, Side.CDM, "pay.payment", "1.0", "payer.id")
    assert find_ends(world.document, "orders@1.0.sum")[0] == end(world, Side.EXTRACTION, "db.orders", "1.0", "sum")
    for unknown in ("lines.id", "rders.total", "zzz"):
        with pytest.raises(EditError):
            find_ends(world.document, f"{unknown} -> pay.payment")
    assert set(Completions(world.document).of("orders.su")) == {"db.orders.sum"}


def test_a_node_is_found_as_the_window_writes_it(world: World) -> None:
    source, target = find_ends(world.document, "db.orders 1.0 sum → pay.payment 1.0 payer.id")
    assert source == end(world, Side.EXTRACTION, "db.orders", "1.0", "sum")
    assert target == end(world, Side.CDM, "pay.payment", "1.0", "payer.id")
    version = world.version(Side.EXTRACTION, "db.orders", "1")
    assert find_ends(world.document, "db.orders 1")[0] == SearchNode(version.schema_id, version.id)
