"""Copying a block: through lineages within a schema, by equal names elsewhere; what cannot be placed is named."""

from __future__ import annotations

from metl_gui.core.changes.draft import perform
from metl_gui.core.edits.block_copy import CopyPlan, plan_copy
from tests.helpers.world import World


def after(made: World, done: CopyPlan) -> None:
    for edit in done.edits:
        made.document = perform(made.document, edit).after


def made_world() -> World:
    made = World()
    made.entity("e", "1", "x", "y", "z")
    made.entity("f", "1", "X", "y")
    made.schema("s", "1", "a", "b", "c")
    made.schema("s", "2", "a2=a", "b")
    made.schema("t", "1", "A", "other")
    made.map("s@1:e@1", x="a", y="b", z="c")
    return made


def test_another_version_gets_the_elements_whose_attributes_go_on_in_it() -> None:
    made = made_world()
    done = plan_copy(made.document, made.key("s@1:e@1"), (made.key("s@2:e@1"),))
    after(made, done)
    assert made.pairs("s@2:e@1") == {("x", "a2"), ("y", "b")}
    assert [(each.from_path, each.to_path, each.reason) for each in done.unplaced] == [("c", "z", "s 2 has no c")]


def test_another_schema_and_entity_get_the_elements_whose_names_are_equal() -> None:
    made = made_world()
    done = plan_copy(made.document, made.key("s@1:e@1"), (made.key("t@1:f@1"),))
    after(made, done)
    assert made.pairs("t@1:f@1") == {("X", "A")}
    assert (done.copied, len(done.unplaced)) == (1, 2)


def test_what_stands_in_the_other_block_stays_and_is_named_as_taken() -> None:
    made = made_world()
    made.map("s@2:e@1", x="b")
    done = plan_copy(made.document, made.key("s@1:e@1"), (made.key("s@2:e@1"),))
    after(made, done)
    assert made.pairs("s@2:e@1") == {("x", "b")}
    assert {each.reason for each in done.unplaced} == {"x is taken there", "b is taken there", "s 2 has no c"}


def test_copying_a_block_onto_itself_does_nothing() -> None:
    made = made_world()
    own = made.key("s@1:e@1")
    assert plan_copy(made.document, own, (own,)) == CopyPlan((), 0, 0, ())
