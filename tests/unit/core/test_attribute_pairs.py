"""Chosen attributes paired by name and by position: 1:1, passing over what is taken."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.changes.draft import perform
from metl_gui.core.edits.attribute_pairs import (
    Chosen,
    Pairing,
    PairingPlan,
    by_name,
    by_position,
    normalised,
    plan,
    plan_pairs,
)
from metl_gui.core.edits.ignored import IgnoreAttributes
from metl_gui.core.matrix.blocks import Element, conflicts
from metl_gui.core.trees.nodes import Side
from tests.helpers.world import World


def world(sources: list[str], targets: list[str]) -> World:
    made = World()
    made.schema("s", "1", *sources)
    made.entity("e", "1", *targets)
    return made


def everything(made: World, side: Side) -> Chosen:
    schema = made.document.tree(side).schemas()[0]
    version = made.document.tree(side).versions(schema.id)[-1]
    return Chosen(version.id, tuple(a.id for a in version.attributes))


def planned(made: World, pairing: Pairing) -> PairingPlan:
    return plan(made.document, [everything(made, Side.EXTRACTION)], [everything(made, Side.CDM)], pairing)


def pairs(made: World, done: PairingPlan) -> set[tuple[str, str]]:
    after = made.document
    for edit in done.edits:
        after = perform(after, edit).after
    return {
        (_path(made, Side.EXTRACTION, b.version, e.p), _path(made, Side.CDM, b.entity_version, e.q))
        for b in after.matrix.blocks()
        for e in b.elements
    }


def _path(made: World, side: Side, version: int, attribute: int) -> str:
    found = made.document.tree(side).version(version).attribute(attribute)
    assert found is not None
    return found.path


def test_names_are_equal_whatever_their_case_and_punctuation() -> None:
    made = world(["customerId", "opened-on", "other"], ["customer_id", "OpenedOn", "else"])
    done = planned(made, by_name)
    assert pairs(made, done) == {("customerId", "customer_id"), ("opened-on", "OpenedOn")}
    assert (done.mapped, done.without_partner) == (2, 1)


def test_a_last_name_is_enough_only_when_it_stands_once_on_each_side() -> None:
    made = world(["address.city", "billing.zip", "shipping.zip"], ["city", "zip"])
    assert pairs(made, planned(made, by_name)) == {("address.city", "city")}


def test_position_pairs_the_first_with_the_first_as_far_as_both_go() -> None:
    made = world(["a", "b", "c"], ["x", "y"])
    done = planned(made, by_position)
    assert pairs(made, done) == {("a", "x"), ("b", "y")}
    assert (done.mapped, done.without_partner) == (2, 1)


def test_what_is_mapped_is_counted_apart_from_what_is_taken() -> None:
    made = world(["a", "b", "c"], ["a", "b", "x"])
    source, target = everything(made, Side.EXTRACTION), everything(made, Side.CDM)
    key = source.version, target.version
    first = plan_pairs(made.document, key, [(source.attributes[0], target.attributes[0])])
    made.document = perform(made.document, first.edits[0]).after
    second = plan_pairs(made.document, key, [(source.attributes[2], target.attributes[1])])
    made.document = perform(made.document, second.edits[0]).after
    done = planned(made, by_name)
    assert (done.mapped, done.already, done.taken, done.without_partner) == (0, 2, 1, 0)
    assert done.edit("nothing") is None


def test_pairs_given_by_hand_never_use_an_attribute_twice() -> None:
    made = world(["a", "b"], ["x", "y"])
    source, target = everything(made, Side.EXTRACTION), everything(made, Side.CDM)
    (a, b), (x, y) = source.attributes, target.attributes
    done = plan_pairs(made.document, (source.version, target.version), [(a, x), (a, y), (b, x), (b, y)])
    assert done.edits[0].ones == (Element(x, a), Element(y, b))
    assert (done.mapped, done.taken) == (2, 2)


NAMES = st.lists(st.sampled_from(["a", "A", "b", "b_", "c.a", "c.b", "d"]), min_size=1, max_size=6, unique=True)


@given(NAMES, NAMES, st.sampled_from([by_name, by_position]))
def test_a_plan_keeps_every_block_one_to_one_and_accounts_for_every_source(
    sources: list[str], targets: list[str], pairing: Pairing
) -> None:
    made = world(sources, targets)
    done = planned(made, pairing)
    for edit in done.edits:
        assert not conflicts(edit.ones)
    assert done.mapped + done.already + done.taken + done.without_partner == len(sources)


def test_normalised_names_hold_letters_and_digits_only() -> None:
    assert normalised("Customer_Id-2.x") == "customerid2x"


def test_of_several_attributes_those_never_to_be_mapped_are_passed_over_and_one_chosen_alone_is_meant() -> None:
    made = world(["id", "memo"], ["id", "memo"])
    schema = made.document.extraction.schemas()[0]
    memo = made.version(Side.EXTRACTION, "s", "1").attributes[1]
    made.do(IgnoreAttributes(Side.EXTRACTION, schema.id, (memo.lineage,), "no use"))
    several = planned(made, by_name)
    assert (several.mapped, several.without_partner) == (1, 0)
    alone = plan(
        made.document,
        [Chosen(made.version(Side.EXTRACTION, "s", "1").id, (memo.id,))],
        [everything(made, Side.CDM)],
        by_name,
    )
    assert alone.mapped == 1
