"""Suggestions of many blocks: which are looked at, and the one list of all."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import Status
from metl_gui.core.progress import Progress, Watch
from metl_gui.core.suggest.block import suggest_block
from metl_gui.core.suggest.blocks import SuggestionScope, candidates_by_block, likely_blocks, suggest_blocks
from metl_gui.core.suggest.names import alike, alike_each
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import RunCancelled
from tests.helpers.world import World

KINDS = {
    "customer": ("customer_id", "first_name", "last_name", "email", "birth_date"),
    "payment": ("payment_id", "amount", "currency", "value_date", "status"),
    "shipment": ("shipment_no", "weight", "carrier", "street", "postal_code"),
    "product": ("product_code", "description", "price", "height", "width"),
}
NAMES = st.lists(
    st.sampled_from(["custId", "customer_id", "amt", "amount", "ship_to", "fname", "xx", "no"]), max_size=6
)


@pytest.fixture
def world() -> World:
    """Four schemas, of which each is like one of four entities; nothing is mapped."""
    made = World()
    for name, paths in KINDS.items():
        made.schema(f"s.{name}", "1", *paths[1:])
        made.schema(f"s.{name}", "2", *paths)
        made.entity(name, "1", *paths)
    return made


def newest(world: World, side: Side, *names: str) -> tuple[int, ...]:
    tree = world.document.tree(side)
    found = (tree.named(name) for name in names)
    return tuple(each.version_ids[-1] for each in found if each is not None)


def test_of_all_pairs_only_those_that_are_alike_are_looked_at_in_their_newest_versions(world: World) -> None:
    expected = {world.key(f"s.{name}@2:{name}@1") for name in KINDS}
    assert {key for key, _ in likely_blocks(world.document)} == expected


def test_the_list_holds_what_each_block_is_suggested_with_the_best_score_first(world: World) -> None:
    found = suggest_blocks(world.document)
    shares = dict(likely_blocks(world.document))
    by_block = defaultdict(set)
    for each in found:
        by_block[each.key].add((each.element, each.score, each.reason, each.is_best))
    assert by_block == {
        key: {
            (c.element, round(c.score * share, 3), c.reason, c.is_best)
            for c in suggest_block(world.document, key)
            if round(c.score * share, 3) >= 0.01
        }
        for key, share in shares.items()
    }
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


def test_selected_nodes_give_the_suggestions_of_all_of_them_and_of_no_other(world: World) -> None:
    versions = newest(world, Side.EXTRACTION, "s.customer", "s.payment", "s.product")
    entities = newest(world, Side.CDM, "customer", "payment", "shipment")
    keys = {each.key for each in suggest_blocks(world.document, SuggestionScope(versions, entities))}
    assert keys == {world.key("s.customer@2:customer@1"), world.key("s.payment@2:payment@1")}


def test_one_version_and_one_entity_are_looked_at_whatever_they_are_like(world: World) -> None:
    scope = SuggestionScope(newest(world, Side.EXTRACTION, "s.customer"), newest(world, Side.CDM, "product"))
    assert list(likely_blocks(world.document, scope)) == [(world.key("s.customer@2:product@1"), 1.0)]


def test_every_entity_that_a_schema_feeds_is_looked_at(world: World) -> None:
    for at in range(5):
        world.entity(f"other{at}", "1", f"zzz{at}", "customer_id")
        world.map(f"s.customer@1:other{at}@1", **{f"zzz{at}": "email"})
    fed = {world.key(f"s.customer@2:other{at}@1") for at in range(5)}
    assert fed <= {key for key, _ in likely_blocks(world.document)}


def test_nothing_selected_of_an_empty_project_is_an_empty_list() -> None:
    assert suggest_blocks(World().document) == ()
    assert suggest_blocks(World().document, SuggestionScope((), ())) == ()


def test_looking_tells_a_step_for_each_schema_and_stops_when_asked(world: World) -> None:
    told: list[Progress] = []
    suggest_blocks(world.document, watch=Watch(told.append))
    assert [(each.done, each.total) for each in told] == [(at, 4) for at in range(4)]
    seen: list[object] = []
    with pytest.raises(RunCancelled):
        seen.extend(candidates_by_block(world.document, watch=Watch(None, lambda: len(seen) == 2)))
    assert len(seen) == 2


@given(NAMES, st.lists(NAMES, max_size=4))
def test_names_compared_with_several_sides_at_once_score_as_with_each_alone(
    ours: list[str], others: list[list[str]]
) -> None:
    found = alike_each(ours, others)
    assert len(found) == len(others)
    for each, side in zip(found, others, strict=True):
        assert each.shape == (len(ours), len(side))
        assert np.allclose(each, alike(ours, side), atol=1e-6)


META = ("meta.id", "meta.stream", "meta.domain")


@pytest.fixture
def taught() -> World:
    """Three schemas with some names in common, of which one feeds an entity that is named quite otherwise."""
    made = World()
    made.entity("happening", "1", "number", "channel", "place")
    made.entity("customer", "1", *KINDS["customer"])
    made.schema("s.one", "1", *META, "colour")
    made.schema("s.two", "1", *META, "height", "width")
    made.schema("s.customer", "1", "meta.id", *KINDS["customer"])
    made.map("s.one@1:happening@1", number="meta.id", channel="meta.stream", place="meta.domain")
    return made


def test_a_schema_with_the_names_of_one_that_feeds_an_entity_is_likely_to_feed_it_too(taught: World) -> None:
    found = {each.key: each.score for each in suggest_blocks(taught.document) if each.is_best}
    assert found[taught.key("s.two@1:happening@1")] > 0.8
    assert taught.key("s.customer@1:happening@1") not in found  # one common name says nothing


def test_what_nobody_has_confirmed_teaches_nothing(taught: World) -> None:
    key = taught.key("s.one@1:happening@1")
    taught.do(SetElements(key, taught.block("s.one@1:happening@1").elements, status=Status.UNCONFIRMED))
    assert taught.block("s.one@1:happening@1").status is Status.UNCONFIRMED
    assert taught.key("s.two@1:happening@1") not in {key for key, _ in likely_blocks(taught.document)}


def test_a_part_of_the_names_teaches_less_where_another_entity_is_more_alike(taught: World) -> None:
    taught.schema("s.part", "1", *META[:2], "height", "width")
    taught.schema("s.both", "1", *META[:2], *KINDS["customer"])
    shares = dict(likely_blocks(taught.document))
    assert shares[taught.key("s.part@1:happening@1")] > 0.8
    assert shares.get(taught.key("s.both@1:happening@1"), 0.0) < 0.5
    assert shares[taught.key("s.both@1:customer@1")] > 0.8
