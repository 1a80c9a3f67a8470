"""Equal matrices have equal hashes, whatever way led to them.

Source: docs/guide/exports.md, "The documents `json` and `dusb`".
"""

from __future__ import annotations

from metl_gui.core.edits.review import ConfirmBlock
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.trees.nodes import Side
from tests.helpers.world import World


def built(*steps: str) -> World:
    """Add the named nodes in the given order, then the same elements."""
    world = World()
    for step in steps:
        kind, name, label, *paths = step.split()
        (world.schema if kind == "schema" else world.entity)(name, label, *paths)
    world.map("s@1:be@1", x="a")
    world.map("t@1:be@1", y="c")
    return world


ONE = ("schema s 1 a b", "schema s 2 b", "schema t 1 c", "entity be 1 x y")
OTHER = ("schema t 1 c", "entity be 1 y x", "schema s 2 b", "schema s 1 b a")


def test_the_order_in_which_trees_were_built_does_not_count() -> None:
    assert state_hash(built(*ONE).document) == state_hash(built(*OTHER).document)


def test_another_element_makes_another_hash() -> None:
    other = built(*ONE)
    other.map("s@2:be@1", x="b")
    assert state_hash(other.document) != state_hash(built(*ONE).document)


def test_a_null_block_that_was_accepted_counts_as_none() -> None:
    world = World()
    for step in ("schema s 1 a", "entity be 1 x"):
        kind, name, label, *paths = step.split()
        (world.schema if kind == "schema" else world.entity)(name, label, *paths)
    world.map("s@1:be@1", x="a")
    world.schema("s", "2", "b")
    waiting = state_hash(world.document)
    world.do(ConfirmBlock(world.key("s@2:be@1")))
    other = World()
    other.schema("s", "1", "a")
    other.schema("s", "2", "b")
    other.entity("be", "1", "x")
    other.map("s@1:be@1", x="a")
    assert state_hash(other.document) == state_hash(world.document) != waiting


def test_a_setting_put_to_its_default_is_no_setting() -> None:
    world = built(*ONE)
    before = state_hash(world.document)
    schema = world.document.extraction.named("s")
    assert schema is not None
    for values in (
        (("meanwhile", "hold"), ("ask", "losses")),
        (("replica_identity", "default"), ("version_field", "")),
    ):
        world.do(SetSettings(Side.EXTRACTION, schema.id, values))
    assert state_hash(world.document) == before
