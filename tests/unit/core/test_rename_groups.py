"""Rename proposals that belong together, and accepting them at once."""

from __future__ import annotations

import pytest

from metl_gui.core.edits.rename_groups import accepting, change_of, rename_groups
from metl_gui.core.edits.review import RenameLost
from metl_gui.core.review.items import review_items
from metl_gui.errors import EditError
from tests.helpers.world import World

FIELDS = ("city", "street", "zip", "country")


def moved(*later: str) -> World:
    """Two versions of an order: billing is invoice in the second one."""
    world = World()
    world.entity("payment", "1", "id", *(f"to_{name}" for name in FIELDS))
    world.schema("orders", "1", "id", *(f"billing.{name}" for name in FIELDS), "note")
    world.map("orders@1:payment@1", id="id", **{f"to_{name}": f"billing.{name}" for name in FIELDS})
    world.schema("orders", "2", "id", *(f"invoice.{name}" for name in FIELDS), "note")
    for label in later:
        world.schema("orders", label, "id", *(f"invoice.{name}" for name in FIELDS), f"note_{label}")
    return world


def test_a_renamed_struct_is_one_group_with_all_its_leaves() -> None:
    world = moved()
    (group,) = rename_groups(world.document, world.block("orders@2:payment@1"))
    assert group.reason == "4 lost attributes: billing is invoice now"
    assert {(p.lost, p.candidate) for _, p in group.proposals} == {
        (f"billing.{name}", f"invoice.{name}") for name in FIELDS
    }


def test_a_group_is_accepted_in_one_step_through_the_whole_chain_and_undone_in_one() -> None:
    world = moved("3", "4")
    before = world.document
    (group,) = rename_groups(before, world.block("orders@2:payment@1"))
    done = world.do(accepting(world.key("orders@2:payment@1"), group))
    assert done.title == "Rename 4 lost attributes: billing is invoice now"
    for label in ("2", "3", "4"):
        pairs = {(f"to_{name}", f"invoice.{name}") for name in FIELDS} | {("id", "id")}
        assert world.pairs(f"orders@{label}:payment@1") == pairs
    assert review_items(world.document) == ()
    world.undo(done)
    assert len(review_items(world.document)) == len(review_items(before)) == 1
    assert rename_groups(world.document, world.block("orders@2:payment@1")) == (group,)


def test_a_group_of_which_one_cannot_be_set_changes_nothing() -> None:
    world = moved()
    (group,) = rename_groups(world.document, world.block("orders@2:payment@1"))
    world.do(RenameLost(world.key("orders@2:payment@1"), "billing.city", "note"))
    state = world.document.state
    with pytest.raises(EditError):
        world.do(accepting(world.key("orders@2:payment@1"), group))
    assert world.document.state == state


@pytest.mark.parametrize(
    ("lost", "candidate", "words"),
    [
        ("event.id", "payload.id", "event is payload now"),
        ("a.netspeed.uri", "a.connection.uri", "netspeed is connection now"),
        ("sslMode", "jdbc.sslMode", "moved under jdbc"),
        ("a.b.c", "a.c", "moved out of b"),
        ("createdAt", "created_at", "names in another spelling"),
        ("customer_city", "client_city", "“customer” is “client” now"),
        ("id", "src_id", "“src” was added"),
        ("city_name", "city", "“name” was left out"),
    ],
)
def test_what_a_rename_changed_is_said_in_words(lost: str, candidate: str, words: str) -> None:
    change = change_of(lost, candidate)
    assert change is not None
    assert change.words == words


@pytest.mark.parametrize(("lost", "candidate"), [("live", "stream"), ("a.live", "b.stream")])
def test_names_without_anything_in_common_make_no_group(lost: str, candidate: str) -> None:
    assert change_of(lost, candidate) is None


def test_one_proposal_alone_is_no_group() -> None:
    world = World()
    world.entity("payment", "1", "a")
    world.schema("orders", "1", "created_at")
    world.map("orders@1:payment@1", a="created_at")
    world.schema("orders", "2", "createdAt")
    assert rename_groups(world.document, world.block("orders@2:payment@1")) == ()
