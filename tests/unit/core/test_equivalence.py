"""Where lineages come from at import: what the source states, then the same path, in this order."""

from __future__ import annotations

from metl_gui.core.trees.nodes import Side
from tests.helpers.world import World


def lineages(world: World, label: str) -> dict[str, int]:
    return {a.path: a.lineage for a in world.version(Side.EXTRACTION, "s", label).attributes}


def history(*versions: tuple[str, ...]) -> World:
    """Add versions 1, 2, ...; ``new=old`` states that ``new`` is what ``old`` was."""
    world = World()
    for at, paths in enumerate(versions, 1):
        world.schema("s", str(at), *paths)
    return world


def test_a_stated_name_goes_before_the_same_path() -> None:
    world = history(("name",), ("title=name", "name"))
    one, two = lineages(world, "1"), lineages(world, "2")
    assert two["title"] == one["name"]
    assert two["name"] not in one.values()


def test_names_that_changed_places_keep_their_lineages_crosswise() -> None:
    world = history(("a", "b"), ("a=b", "b=a", "c"))
    one, two = lineages(world, "1"), lineages(world, "2")
    assert (two["a"], two["b"]) == (one["b"], one["a"])


def test_a_statement_repeated_in_later_versions_says_nothing_new() -> None:
    world = history(("a",), ("b=a",), ("b=a", "a"), ("b=a", "a", "c"), ("b=a", "c"))
    first = lineages(world, "1")["a"]
    assert [lineages(world, label)["b"] for label in "2345"] == [first] * 4
    assert lineages(world, "3")["a"] == lineages(world, "4")["a"] != first


def test_a_stated_name_that_was_absent_for_a_version_is_found_further_back() -> None:
    world = history(("id", "a"), ("id",), ("id", "b=a"))
    assert lineages(world, "3")["b"] == lineages(world, "1")["a"]


def test_two_attributes_that_state_the_same_name_do_not_share_it() -> None:
    world = history(("a",), ("b=a", "c=a"))
    two = lineages(world, "2")
    assert two["b"] == lineages(world, "1")["a"] != two["c"]


def test_a_stated_name_that_nobody_had_leaves_the_same_path() -> None:
    world = history(("a",), ("a=never", "b"))
    assert lineages(world, "1")["a"] == lineages(world, "2")["a"]


def test_a_path_that_was_absent_continues_its_old_lineage() -> None:
    world = history(("id", "a"), ("id",), ("id", "a", "b"))
    assert lineages(world, "3")["a"] == lineages(world, "1")["a"]


def test_a_name_taken_over_from_an_attribute_that_goes_takes_its_lineage_too() -> None:
    world = history(("value", "id"), ("value=id",))
    assert lineages(world, "2")["value"] == lineages(world, "1")["id"]


def test_two_names_that_both_go_on_stay_apart_whatever_is_stated() -> None:
    world = history(("b=a", "a"), ("b=a", "a", "c"))
    assert {path: lineages(world, "2")[path] for path in "ab"} == lineages(world, "1")
