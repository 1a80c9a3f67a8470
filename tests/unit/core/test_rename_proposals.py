"""Rename proposals: what is proposed for what was lost, what is not, and what people refused."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.edits.review import RenameLost
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Block
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.refusals import RefusedRename, RefusedRenames
from metl_gui.core.review import rename_proposals as proposing
from metl_gui.core.review.rename_proposals import best_proposals, proposals
from metl_gui.core.suggest import names
from metl_gui.core.suggest.words import parted
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from tests.helpers.world import World

PATHS = ("id", "a_id", "created_at", "createdAt", "billing.city", "address.city", "city", "zip", "x.id", "amount")

WORDS = ("amount", "currency", "branch", "country", "email", "channel", "status", "rate", "product", "owner")


def renamed(order: tuple[str, ...] = WORDS) -> World:
    world = World()
    world.entity("payment", "1", *(f"target_{word}" for word in WORDS))
    world.schema("orders", "1", *(f"customer_{word}" for word in WORDS))
    world.map("orders@1:payment@1", **{f"target_{word}": f"customer_{word}" for word in WORDS})
    world.schema("orders", "2", *(f"client_{word}" for word in order))
    return world


def test_each_of_many_lost_attributes_finds_its_own_new_name() -> None:
    world = renamed()
    block = world.document.matrix.block(*world.key("orders@2:payment@1"))
    assert block is not None
    best = best_proposals(world.document, block)
    assert {loss.from_path: proposal.candidate for loss, proposal in best.items()} == {
        f"customer_{word}": f"client_{word}" for word in WORDS
    }


def test_names_outweigh_places_when_a_version_was_sorted_anew() -> None:
    world = renamed(tuple(sorted(WORDS)))
    block = world.document.matrix.block(*world.key("orders@2:payment@1"))
    assert block is not None
    best = best_proposals(world.document, block)
    assert all(
        loss.from_path.removeprefix("customer_") == p.candidate.removeprefix("client_") for loss, p in best.items()
    )
    assert len(best) == len(WORDS)


def test_proposals_of_one_attribute_come_best_first_and_its_own_type_only() -> None:
    world = World()
    world.entity("payment", "1", "code")
    world.schema("orders", "1", "id", "legacy_code")
    world.map("orders@1:payment@1", code="legacy_code")
    world.schema("orders", "2", "id", "other", "legacy_id", "legacy_code_text", "legacy_codes:int64")
    block = world.document.matrix.block(*world.key("orders@2:payment@1"))
    assert block is not None
    found = proposals(world.document, block)
    assert found[0].candidate == "legacy_code_text"
    assert "legacy_codes" not in [proposal.candidate for proposal in found]
    assert [proposal.score for proposal in found] == sorted((p.score for p in found), reverse=True)


def lost_in(*before: str, after: tuple[str, ...], mapped: tuple[str, ...] = ()) -> tuple[World, Block]:
    """Map attributes of a first version, all of them by default, and add a second one."""
    world = World()
    chosen = mapped or tuple(path.partition(":")[0] for path in before)
    targets = [f"t{at}" for at in range(len(chosen))]
    world.entity("be", "1", *targets)
    world.schema("s", "1", *before)
    world.map("s@1:be@1", **dict(zip(targets, chosen, strict=True)))
    world.schema("s", "2", *after)
    return world, world.block("s@2:be@1")


def said(world: World, block: Block, **more: Any) -> dict[str, str]:
    return {p.lost: p.candidate for p in best_proposals(world.document, block, **more).values()}


def test_a_leaf_under_another_parent_is_a_move_even_where_nothing_else_is_alike() -> None:
    world, block = lost_in("id", "billing.city", after=("id", "address.city", "address.floor"))
    (proposal,) = proposals(world.document, block)
    assert (proposal.candidate, "same name under address" in proposal.reason) == ("address.city", True)


def test_a_name_that_stands_under_every_parent_moves_to_another_place_only_in_company() -> None:
    others = tuple(f"{parent}.{name}" for parent in ("a", "b", "c", "d") for name in ("id", "type"))
    alone, block = lost_in("meta.id", *others, after=(*others, "user.id"))
    assert said(alone, block) == {}
    both, block = lost_in("meta.id", "meta.type", *others, after=(*others, "user.id", "user.type"))
    assert said(both, block) == {"meta.id": "user.id", "meta.type": "user.type"}


def test_siblings_are_not_alike_for_the_parent_they_share() -> None:
    world, block = lost_in("http.request.client_ip", "x", after=("http.request.protocol", "x"))
    assert said(world, block) == {}


def test_a_wider_type_is_proposed_after_the_same_one() -> None:
    world, block = lost_in("amount:int32", after=("amount_eur:int64", "amount_usd:int32"))
    found = proposals(world.document, block)
    assert [p.candidate for p in found] == ["amount_usd", "amount_eur"]
    assert "type int64, was int32" in found[1].reason


def test_a_number_is_not_proposed_for_a_text() -> None:
    world, block = lost_in("amount:string", after=("amount_eur:int64",))
    assert said(world, block) == {}


def test_an_attribute_that_came_before_the_other_one_went_is_proposed_and_succeeds_it() -> None:
    world, _ = lost_in("id", "client_dt", after=("id", "client_dt", "dt_client"))
    world.schema("s", "3", "id", "dt_client")
    (proposal,) = proposals(world.document, world.block("s@3:be@1"))
    assert (proposal.candidate, "came before it went" in proposal.reason) == ("dt_client", True)
    world.do(RenameLost(world.key("s@3:be@1"), "client_dt", "dt_client"))
    assert world.pairs("s@3:be@1") == {("t0", "id"), ("t1", "dt_client")}
    schema = world.document.extraction.named("s")
    assert schema is not None
    assert len(schema.succeeds) == 1
    world.schema("s", "4", "id", "dt_client", "more")
    assert world.pairs("s@4:be@1") == {("t0", "id"), ("t1", "dt_client")}


def test_what_always_stood_beside_the_lost_attribute_is_no_new_name_for_it() -> None:
    world, block = lost_in("start_date", "date_start", after=("date_start",), mapped=("start_date",))
    assert said(world, block) == {}


def test_a_row_written_anew_in_its_old_order_needs_little_of_its_names() -> None:
    before = ("f_country", "f_amount:int64", "f_day", "f_ok:boolean", "f_street")
    after = ("x_cntr", "x_amt:int64", "x_dy", "x_okay:boolean", "x_strt")
    world, block = lost_in(*before, after=after)
    places = [path.partition(":")[0] for path in before], [path.partition(":")[0] for path in after]
    assert said(world, block) == dict(zip(*places, strict=True))


def described(*attributes: tuple[str, str]) -> tuple[AttributeDeclaration, ...]:
    return tuple(AttributeDeclaration(path, "string", doc=doc) for path, doc in attributes)


def with_docs(before: tuple[AttributeDeclaration, ...], after: tuple[AttributeDeclaration, ...]) -> tuple[World, Block]:
    world = World()
    world.entity("be", "1", "t")
    world.do(AddVersion(Side.EXTRACTION, VersionDeclaration("s", before, "1")))
    world.map("s@1:be@1", t=before[0].path)
    world.do(AddVersion(Side.EXTRACTION, VersionDeclaration("s", after, "2")))
    return world, world.block("s@2:be@1")


def test_the_same_description_finds_a_name_without_a_letter_in_common() -> None:
    text = "Error message, either human-readable or stacktrace"
    before, after = described(("error", text)), described(("origin", "Where it ran"), ("failure", text))
    world, block = with_docs(before, after)
    assert said(world, block) == {"error": "failure"}
    assert "same description" in proposals(world.document, block)[0].reason


@pytest.mark.parametrize(
    "doc", ["Deprecated, use happened instead.", "Obsolete. Replaced by happened", "see happened, superseded"]
)
def test_a_description_that_names_the_successor_is_believed(doc: str) -> None:
    world, block = with_docs(described(("dt", doc)), described(("happened", ""), ("seen", "")))
    assert said(world, block) == {"dt": "happened"}
    assert "the description says so" in proposals(world.document, block)[0].reason


def test_alike_values_find_a_name_that_nothing_else_finds() -> None:
    world, block = lost_in("colour", "kind", after=("zz", "yy", "kind"), mapped=("colour",))
    old = world.version(Side.EXTRACTION, "s", "1").attributes[0]
    zz, yy, _ = world.version(Side.EXTRACTION, "s", "2").attributes
    reds, numbers = frozenset({"red", "blue", "green", "pink"}), frozenset({"1", "2", "3"})
    assert said(world, block) == {}
    assert said(world, block, values={old.id: reds, zz.id: numbers, yy.id: reds}) == {"colour": "yy"}


def test_values_that_differ_speak_against_a_name() -> None:
    world, block = lost_in("product_name", after=("product_label",))
    old, new = (world.version(Side.EXTRACTION, "s", label).attributes[0] for label in ("1", "2"))
    values = {old.id: frozenset({"a", "b", "c"}), new.id: frozenset({"1", "2", "3"})}
    plain = proposals(world.document, block)
    assert plain
    told = proposals(world.document, block, values=values)
    assert not told or told[0].score < plain[0].score


def test_a_lost_cdm_attribute_is_proposed_its_new_name_for_every_schema() -> None:
    world = World()
    world.entity("be", "1", "customerId", "x")
    for name in ("s", "r"):
        world.schema(name, "1", "a", "b")
        world.map(f"{name}@1:be@1", customerId="a", x="b")
    world.entity("be", "2", "customer_id", "x")
    for name in ("s", "r"):
        assert said(world, world.block(f"{name}@1:be@2")) == {"customerId": "customer_id"}
    world.do(RenameLost(world.key("s@1:be@2"), "customerId", "customer_id"))
    assert world.pairs("r@1:be@2") == {("customer_id", "a"), ("x", "b")}


def test_a_path_that_went_on_one_side_and_is_a_target_on_the_other_is_told_apart() -> None:
    world = World()
    world.entity("be", "1", "total", "sum_of")
    world.schema("s", "1", "amount", "total")
    world.map("s@1:be@1", total="amount", sum_of="total")
    world.schema("s", "2", "total_eur")
    block = world.block("s@2:be@1")
    best = best_proposals(world.document, block)
    assert {loss.from_path: p.candidate for loss, p in best.items()} == {"total": "total_eur"}


@given(
    st.lists(st.sampled_from(PATHS), min_size=1, max_size=6, unique=True),
    st.lists(st.sampled_from(PATHS), min_size=1, max_size=6, unique=True),
)
def test_proposals_are_free_new_and_one_to_one(before: list[str], after: list[str]) -> None:
    world, _ = lost_in(*before, after=(*after, "always"))
    block = world.document.matrix.block(*world.key("s@2:be@1"))
    assert block is not None
    best = best_proposals(world.document, block)
    assert len({p.candidate for p in best.values()}) == len(best)
    for loss, proposal in best.items():
        assert proposal.lost == loss.from_path
        assert proposal.lost not in after
        assert proposal.candidate in after
        assert proposal.candidate not in before
        assert 0.5 <= proposal.score < 1
        world.do(RenameLost(block.key, proposal.lost, proposal.candidate))
    assert {source for _, source in world.pairs("s@2:be@1")} >= {p.candidate for p in best.values()}


def test_a_refused_pair_stays_away_in_later_versions_and_after_a_repeated_import() -> None:
    world, block = lost_in("id", "customer_id", after=("id", "customer_ref"))
    old = world.version(Side.EXTRACTION, "s", "1").attributes[1]
    new = world.version(Side.EXTRACTION, "s", "2").attributes[1]
    schema_id = world.version(Side.EXTRACTION, "s", "2").schema_id
    refused = RefusedRenames([RefusedRename(Side.EXTRACTION, schema_id, old.path, new.path, old.lineage, new.lineage)])
    assert said(world, block) == {"customer_id": "customer_ref"}
    assert said(world, block, refused=refused) == {}
    second = world.log[-1]
    world.schema("s", "3", "id", "customer_ref_no=customer_ref")
    assert said(world, world.block("s@3:be@1")) == {"customer_id": "customer_ref_no"}
    assert said(world, world.block("s@3:be@1"), refused=refused) == {}
    world.remove_schema("s", "3")
    world.undo(second)
    world.schema("s", "2", "id", "customer_ref")
    assert world.version(Side.EXTRACTION, "s", "2").attributes[1].lineage != new.lineage
    assert said(world, world.block("s@2:be@1"), refused=refused) == {}


def test_another_refusal_or_another_state_is_answered_anew() -> None:
    world, block = lost_in("id", "customer_id", after=("id", "customer_ref"))
    schema_id = world.version(Side.EXTRACTION, "s", "2").schema_id
    refused = RefusedRenames([RefusedRename(Side.EXTRACTION, schema_id, "customer_id", "customer_ref")])
    for _ in range(2):
        assert said(world, block) == {"customer_id": "customer_ref"}
        assert said(world, block, refused=refused) == {}
    world.map("s@2:be@1", t1="customer_ref")
    assert said(world, world.block("s@2:be@1")) == {}


def test_what_was_proposed_is_forgotten_with_its_document() -> None:
    world, block = lost_in("id", "customer_id", after=("id", "customer_ref"))
    assert said(world, block)
    document = weakref.ref(world.document)
    world.document, world.log = Document(), []
    gc.collect()
    assert document() is None


PARTS = ("amount", "currencycode", "code", "currency", "street", "no")
LISTS = st.lists(st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map("_".join), min_size=3, unique=True)


@given(LISTS, LISTS, st.lists(st.sampled_from(range(6)), min_size=1, max_size=4), st.booleans())
def test_blocks_of_alike_schemas_get_the_proposals_that_each_gets_alone(
    before: list[str], after: list[str], starts: list[int], has_docs: bool
) -> None:
    world = World()
    for at in range(len(starts)):
        world.entity(f"e{at}", "1", "t0", "t1", "t2")
    names_of = [f"s{at}" for at in range(2)]
    for name in names_of:
        world.do(_added(name, "1", before, has_docs))
        for at, start in enumerate(starts):
            chosen = {f"t{row}": before[(start + row) % len(before)] for row in range(3)}
            world.map(f"{name}@1:e{at}@1", **chosen)
        world.do(_added(name, "2", [*after, "at"], has_docs))
    keys = [world.key(f"{name}@2:e{at}@1") for name in names_of for at in range(len(starts))]
    blocks = [block for key in keys if (block := world.document.matrix.block(*key)) is not None]
    together = [proposals(world.document, block) for block in blocks]
    alone = []
    for block in blocks:
        for name in ("_STEPS", "_KEPT", "_WEIGHED"):
            setattr(proposing, name, type(getattr(proposing, name))())
        for kept in (names._spelled, names._kept_reading):
            kept.cache_clear()
        alone.append(proposals(world.document, block))
    assert together == alone


def _added(name: str, label: str, paths: list[str], has_docs: bool) -> AddVersion:
    made = (AttributeDeclaration(p, "string", doc=f"What the field {p} says" if has_docs else "") for p in paths)
    return AddVersion(Side.EXTRACTION, VersionDeclaration(name, tuple(made), label))


@given(LISTS, LISTS)
def test_each_side_is_parted_by_all_words_of_the_other(one: list[str], other: list[str]) -> None:
    ours, theirs = one[:3], other[:3]  # of so few nothing counts as a beginning of all
    for side, against, found in zip((ours, theirs), (theirs, ours), names.read_names(ours, theirs), strict=True):
        vocabulary = frozenset(word for path in against for word in path.split("_"))
        wanted = [[w for part in path.split("_") for w in parted(part, vocabulary)] for path in side]
        assert [list(dict.fromkeys(word.written for word in name)) for name in found] == [
            list(dict.fromkeys(words)) for words in wanted
        ]


def test_samples_of_identifiers_that_do_not_meet_speak_against_no_rename() -> None:
    """A few dozen of thousands of customers seldom are the same ones."""
    world = World()
    world.schema("s", "1", "customer_id", "kind")
    world.entity("e", "1", "payer", "sort")
    world.map("s@1:e@1", payer="customer_id", sort="kind")
    world.schema("s", "2", "customer_ref", "kind")
    block = world.block("s@2:e@1")
    (old,) = [a for a in world.version(Side.EXTRACTION, "s", "1").attributes if a.path == "customer_id"]
    (new,) = [a for a in world.version(Side.EXTRACTION, "s", "2").attributes if a.path == "customer_ref"]
    numbers = [frozenset(f"C-{at}" for at in range(start, start + 9)) for start in (1000, 2000)]
    words = frozenset(["see contract 5", "call back", "paid twice"])
    score = proposals(world.document, block)[0].score
    assert proposals(world.document, block, values={old.id: numbers[0], new.id: numbers[1]})[0].score == score
    assert proposals(world.document, block, values={old.id: numbers[0], new.id: numbers[0]})[0].score > score
    against = proposals(world.document, block, values={old.id: numbers[0], new.id: words})
    assert not against or against[0].score < score
