"""Suggestions of a block: what is proposed, why, and what never is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Status, conflicts
from metl_gui.core.project.refusals import RefusedSuggestion, RefusedSuggestions
from metl_gui.core.suggest.block import Candidate, suggest_block
from metl_gui.core.suggest.entities import EntityIndex
from metl_gui.core.suggest.names import alike
from metl_gui.core.suggest.values import ValueEvidence
from metl_gui.core.suggest.words import abbreviates, parted, segments, usual
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from tests.helpers.cases import cases
from tests.helpers.world import World

WORDS = st.sampled_from(["id", "cust", "customer", "date", "dt", "amt", "amount", "no", "ship", "to", "größe", "x1"])
PATHS = st.lists(
    st.lists(st.lists(WORDS, min_size=1, max_size=3).map("_".join), min_size=1, max_size=2).map(".".join),
    min_size=1,
    max_size=8,
    unique=True,
)


def suggested(world: World, block: str, *refusals: RefusedSuggestion) -> tuple[Candidate, ...]:
    return suggest_block(world.document, world.key(block), RefusedSuggestions(refusals))


def best(world: World, block: str, *refusals: RefusedSuggestion) -> dict[str, str]:
    key = world.key(block)
    return dict(world.named(key, [c.element for c in suggested(world, block, *refusals) if c.is_best]))


def refusal(world: World, block: str, source: str, target: str) -> RefusedSuggestion:
    v, w = world.key(block)
    version, entity_version = world.document.extraction.version(v), world.document.cdm.version(w)
    a, c = version.at_path(source), entity_version.at_path(target)
    assert a is not None
    assert c is not None
    return RefusedSuggestion(version.schema_id, a.lineage, entity_version.schema_id, c.lineage, source, target)


@pytest.mark.parametrize("case", cases("suggest"))
def test_the_best_set_of_a_block_is(case: dict[str, Any]) -> None:
    world = World()
    world.schema("s", "1", *case["schema"])
    world.entity("e", "1", *case["entity"])
    assert best(world, "s@1:e@1") == case["best"]
    key = world.key("s@1:e@1")
    reasons = {
        target: c.reason
        for c in suggested(world, "s@1:e@1")
        if c.is_best
        for target, _ in world.named(key, [c.element])
    }
    for target, reason in case.get("reasons", {}).items():
        assert reasons[target] == reason


@given(PATHS, PATHS, st.data())
def test_the_best_set_is_one_to_one_and_takes_no_taken_end(
    sources: list[str], targets: list[str], data: st.DataObject
) -> None:
    world = World()
    world.schema("s", "1", *sources)
    world.entity("e", "1", *targets)
    key = world.key("s@1:e@1")
    source, target = data.draw(st.sampled_from(sources)), data.draw(st.sampled_from(targets))
    taken = world.element(key, source, target)
    world.do(SetElements(key, (taken,)))
    found = suggested(world, "s@1:e@1")
    assert conflicts(tuple(c.element for c in found if c.is_best)) == []
    assert all(c.element.p != taken.p and c.element.q != taken.q for c in found)
    assert all(0 < c.score <= 1 and c.reason for c in found)
    assert [c.score for c in found] == sorted((c.score for c in found), reverse=True)
    assert found == suggested(world, "s@1:e@1")


@given(PATHS, PATHS, st.data())
def test_what_was_refused_is_not_suggested_again_in_a_later_version(
    sources: list[str], targets: list[str], data: st.DataObject
) -> None:
    world = World()
    world.schema("s", "1", *sources)
    world.entity("e", "1", *targets)
    refused = refusal(world, "s@1:e@1", data.draw(st.sampled_from(sources)), data.draw(st.sampled_from(targets)))
    world.schema("s", "2", *sources, "one_more")
    for block in ("s@1:e@1", "s@2:e@1"):
        pairs = world.named(world.key(block), [c.element for c in suggested(world, block, refused)])
        assert (refused.to_path, refused.from_path) not in pairs


@given(PATHS, PATHS)
def test_names_are_as_much_alike_in_one_direction_as_in_the_other(ours: list[str], theirs: list[str]) -> None:
    assert np.allclose(alike(ours, theirs), alike(theirs, ours).T, atol=0.02)


@given(PATHS)
def test_every_name_is_wholly_like_itself(names: list[str]) -> None:
    assert (np.diag(alike(names, names)) == 1).all()


def test_a_refusal_leaves_the_next_best_candidate() -> None:
    world = World()
    world.schema("s", "1", "customer_id", "client_ref")
    world.entity("e", "1", "customer_identifier")
    refused = refusal(world, "s@1:e@1", "customer_id", "customer_identifier")
    assert best(world, "s@1:e@1") == {"customer_identifier": "customer_id"}
    assert best(world, "s@1:e@1", refused) == {"customer_identifier": "client_ref"}


def test_a_refusal_holds_by_its_path_where_the_lineage_was_corrected() -> None:
    world = World()
    world.schema("s", "1", "code")
    world.entity("e", "1", "code")
    known = refusal(world, "s@1:e@1", "code", "code")
    moved = RefusedSuggestion(known.schema_id, 900, known.entity_id, 901, "code", "code")
    assert best(world, "s@1:e@1", moved) == {}


def test_what_was_confirmed_for_another_version_comes_first_whatever_its_name() -> None:
    world = World()
    world.schema("s", "1", "kdnr", "customer_id")
    world.entity("e", "1", "customer_id")
    world.map("s@1:e@1", customer_id="kdnr")
    world.schema("s", "2", "kdnr", "customer_id", "more")
    world.do(SetElements(world.key("s@2:e@1"), zeros=(world.element(world.key("s@2:e@1"), "kdnr", "customer_id"),)))
    found = suggested(world, "s@2:e@1")
    assert world.named(world.key("s@2:e@1"), [found[0].element]) == {("customer_id", "kdnr")}
    assert found[0].reason.startswith("confirmed for 1 other version")


def test_an_unconfirmed_mapping_of_another_version_is_no_evidence() -> None:
    world = World()
    world.schema("s", "1", "kdnr")
    world.entity("e", "1", "customer_id")
    key = world.key("s@1:e@1")
    world.do(SetElements(key, (world.element(key, "kdnr", "customer_id"),), status=Status.UNCONFIRMED))
    world.schema("s", "2", "kdnr", "more")
    key = world.key("s@2:e@1")
    world.do(SetElements(key, zeros=(world.element(key, "kdnr", "customer_id"),)))
    assert suggested(world, "s@2:e@1") == ()


def test_what_other_schemas_call_a_target_is_evidence() -> None:
    world = World()
    world.entity("e", "1", "customer_id", "code")
    for name in ("a", "b"):
        world.schema(name, "1", "kdnr")
        world.map(f"{name}@1:e@1", customer_id="kdnr")
    world.schema("s", "1", "KD_NR", "code")
    assert best(world, "s@1:e@1") == {"customer_id": "KD_NR", "code": "code"}
    assert any("confirmed for 2 other schemas" in c.reason for c in suggested(world, "s@1:e@1"))


def test_values_that_are_alike_speak_for_a_pair_without_a_common_name() -> None:
    world = World()
    world.schema("s", "1", "status_text", "extra")
    world.entity("e", "1", "status_code")
    key = world.key("s@1:e@1")
    element = world.element(key, "status_text", "status_code")
    without = suggest_block(world.document, key)[0]
    assert "alike values" not in without.reason
    found = suggest_block(world.document, key, values={element: ValueEvidence(0.9, "EUR, USD")})[0]
    assert found.score > without.score
    assert "alike values (EUR, USD)" in found.reason


def test_descriptions_decide_between_names_that_say_the_same() -> None:
    world = World()
    docs = {"ref_a": "the warehouse that ships the goods", "ref_b": "the person who pays the invoice"}
    sources = tuple(AttributeDeclaration(path, "string", doc=doc) for path, doc in docs.items())
    target = AttributeDeclaration("ref", "string", doc="person who pays an invoice")
    world.do(AddVersion(Side.EXTRACTION, VersionDeclaration("s", sources, "1")))
    world.do(AddVersion(Side.CDM, VersionDeclaration("e", (target,), "1")))
    assert best(world, "s@1:e@1") == {"ref": "ref_b"}


def test_a_pair_of_types_that_do_not_fit_says_so_and_scores_less() -> None:
    world = World()
    world.schema("s", "1", "open:boolean")
    world.schema("t", "1", "open:int32")
    world.entity("e", "1", "open:int32")
    wrong, right = suggested(world, "s@1:e@1")[0], suggested(world, "t@1:e@1")[0]
    assert wrong.reason == "same name, type differs"
    assert wrong.score < right.score


def test_two_sources_of_equal_claim_are_both_doubtful() -> None:
    world = World()
    world.schema("s", "1", "order_id", "orderId")
    world.entity("e", "1", "ORDER_ID")
    assert all(c.score <= 0.6 for c in suggested(world, "s@1:e@1"))


def test_the_last_pair_is_suggested_by_elimination_with_a_low_score() -> None:
    world = World()
    world.schema("s", "1", "id", "city", "happened")
    world.entity("e", "1", "id", "city", "occurred")
    found = {next(iter(world.named(world.key("s@1:e@1"), [c.element]))): c for c in suggested(world, "s@1:e@1")}
    last = found["occurred", "happened"]
    assert last.reason.startswith("left over on both sides")
    assert 0.3 <= last.score <= 0.5
    assert last.is_best


def test_nothing_is_left_over_while_little_is_matched() -> None:
    world = World()
    world.schema("s", "1", "id", "happened")
    world.entity("e", "1", "id", "occurred")
    assert best(world, "s@1:e@1") == {"id": "id"}


def test_a_refused_pair_is_not_suggested_by_elimination() -> None:
    world = World()
    world.schema("s", "1", "id", "city", "happened")
    world.entity("e", "1", "id", "city", "occurred")
    refused = refusal(world, "s@1:e@1", "happened", "occurred")
    assert best(world, "s@1:e@1", refused) == {"id": "id", "city": "city"}


@pytest.mark.parametrize(
    ("short", "word", "stands"),
    [("cust", "customer", True), ("cstmr", "customer", True), ("qnty", "quantity", True), ("tomer", "customer", False),
     ("x", "xylophone", False), ("customer", "cust", False)],
)  # fmt: skip
def test_an_abbreviation_begins_with_the_first_letter_and_keeps_the_order(short: str, word: str, stands: bool) -> None:
    assert (abbreviates(short, word) >= 0.6) is stands


def test_paths_are_read_into_words() -> None:
    assert segments("shipTo.HTTPCode_2") == (("ship", "to"), ("http", "code", "2"))
    assert usual("nbr") == ("number",)
    assert usual("addresses") != ("addres",)
    assert parted("customeraddressid", frozenset({"customer", "address"})) == ("customer", "address", "id")
    assert parted("unknown", frozenset({"customer"})) == ("unknown",)


@pytest.mark.parametrize("path", ["", "a\\", "...", "\u200b", "日本語", "🙂", "a" * 5000])
def test_no_name_is_too_odd_to_be_compared(path: str) -> None:
    found = alike([path, "customer_id"], [path, "customer_id"])
    assert (found >= 0).all()
    assert (found <= 1).all()


@pytest.fixture
def model() -> World:
    world = World()
    world.entity("payment", "1", "payment_id", "amount", "payer_id", "due_date")
    world.entity("customer", "1", "customer_id", "first_name", "last_name", "birth_date")
    world.entity("address", "1", "street", "city", "postal_code", "country")
    return world


def test_entities_are_ranked_by_what_their_attributes_are_called(model: World) -> None:
    model.schema("crm.persons", "1", "id", "fname", "lname", "dob")
    index = EntityIndex(model.document)
    ranks = index.rank(model.document, model.version(Side.EXTRACTION, "crm.persons", "1"))
    assert ranks[0].entity_version == model.version(Side.CDM, "customer", "1").id
    assert [rank.score for rank in ranks] == sorted((rank.score for rank in ranks), reverse=True)


def test_an_entity_that_another_version_feeds_comes_first(model: World) -> None:
    model.schema("crm.persons", "1", "street")
    model.map("crm.persons@1:payment@1", payer_id="street")
    model.schema("crm.persons", "2", "first_name", "last_name", "birth_date")
    index = EntityIndex(model.document)
    (first, second, *_) = index.rank(model.document, model.version(Side.EXTRACTION, "crm.persons", "2"))
    assert (first.entity_version, first.is_fed, first.score) == (model.version(Side.CDM, "payment", "1").id, True, 1.0)
    assert second.entity_version == model.version(Side.CDM, "customer", "1").id


def test_a_schema_that_is_like_no_entity_gets_none(model: World) -> None:
    model.schema("zzz", "1", "qqq", "www")
    assert EntityIndex(model.document).rank(model.document, model.version(Side.EXTRACTION, "zzz", "1")) == ()


def test_a_model_without_entities_ranks_nothing() -> None:
    world = World()
    world.schema("s", "1", "id")
    assert EntityIndex(world.document).rank(world.document, world.version(Side.EXTRACTION, "s", "1")) == ()
