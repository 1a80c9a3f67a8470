"""Rename proposals where a version lost many attributes at once."""

from __future__ import annotations

from metl_gui.core.proposals import best_proposals, proposals
from tests.helpers.world import World

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
