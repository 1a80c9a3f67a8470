"""A required CDM attribute has lost its last source when no newest version of any schema feeds it."""

from __future__ import annotations

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.review.feeders import LastSources
from metl_gui.core.review.items import review_items
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from tests.helpers.world import World


def fed_world(*schemas: str) -> World:
    """An entity with one required and one optional attribute, fed by some schemas."""
    world = World()
    attributes = (
        AttributeDeclaration("rate", "string", optional=False),
        AttributeDeclaration("note", "string", optional=True),
    )
    world.do(AddVersion(Side.CDM, VersionDeclaration("rate", attributes, "1")))
    for name in schemas:
        world.schema(name, "1", "r", "n")
        world.map(f"{name}@1:rate@1", rate="r", note="n")
    return world


def lost(world: World) -> dict[str, tuple[str, ...]]:
    sources = LastSources(world.document)
    tree = world.document.extraction
    return {tree.schema(tree.schema_of(i.key[0])).name: sources.lost_by(i) for i in review_items(world.document)}


def test_the_only_feeder_of_a_required_attribute_takes_its_last_source_and_an_optional_one_is_not_named() -> None:
    world = fed_world("daily")
    world.schema("daily", "2", "other")
    assert lost(world) == {"daily": ("rate",)}


def test_another_schema_that_feeds_it_in_its_newest_version_is_a_source() -> None:
    world = fed_world("daily", "hourly")
    world.schema("daily", "2", "other")
    assert lost(world) == {"daily": ()}


def test_an_older_version_of_another_schema_is_no_source() -> None:
    world = fed_world("daily", "hourly")
    world.schema("hourly", "2", "other")
    world.schema("daily", "2", "other")
    assert lost(world) == {"daily": ("rate",), "hourly": ("rate",)}


def test_a_later_version_of_the_same_schema_that_is_mapped_again_is_a_source() -> None:
    world = fed_world("daily")
    world.schema("daily", "2", "other")
    world.schema("daily", "3", "rr")
    world.map("daily@3:rate@1", rate="rr")
    assert all(not paths for paths in lost(world).values())
