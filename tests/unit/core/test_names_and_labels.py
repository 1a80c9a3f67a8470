"""Names, aliases and labels under edits and undo (docs/architecture/model.md, "Trees, versions, lineages")."""

from __future__ import annotations

import pytest

from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.settings import AddAlias
from metl_gui.core.edits.versions import AddVersion, AttachLabel, RemoveVersion
from metl_gui.core.trees.declarations import VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from tests.helpers.world import World, declare


def names(world: World) -> list[str]:
    """Names of the schemas."""
    return [schema.name for schema in world.document.extraction.schemas()]


def test_a_removed_schema_does_not_come_back_under_a_name_that_another_one_has_now() -> None:
    world = World()
    world.schema("s", "1", "a")
    removed = world.remove_schema("s", "1")
    world.schema("s", "1", "b")
    with pytest.raises(EditError, match="the name s"):
        world.undo(removed)
    assert names(world) == ["s"]


def test_a_removed_schema_does_not_come_back_with_an_alias_that_another_one_has_now() -> None:
    world = World()
    world.do(AddVersion(Side.EXTRACTION, VersionDeclaration("s", declare("s", ["a"]).attributes, "1", ("topic",))))
    removed = world.remove_schema("s", "1")
    world.schema("t", "1", "a")
    other = world.document.extraction.named("t")
    assert other is not None
    world.do(AddAlias(Side.EXTRACTION, other.id, "topic"))
    with pytest.raises(EditError, match="the name topic"):
        world.undo(removed)


def test_undoing_a_group_that_put_another_schema_under_the_name_brings_the_first_one_back() -> None:
    world = World()
    world.schema("s", "1", "a")
    first = world.document.extraction.named("s")
    assert first is not None
    new = AddVersion(Side.EXTRACTION, declare("s", ["b"], "1"))
    group = world.do(CompositeEdit("Replace s", (RemoveVersion(Side.EXTRACTION, first.version_ids[0]), new)))
    world.undo(group)
    assert world.document.extraction.named("s") == first
    assert names(world) == ["s"]


def test_a_version_without_a_label_takes_no_number_that_is_a_further_label_of_another() -> None:
    world = World()
    world.schema("s", "1", "a")
    world.do(AttachLabel(Side.EXTRACTION, world.version(Side.EXTRACTION, "s", "1").id, "2"))
    world.do(AddVersion(Side.EXTRACTION, declare("s", ["b"])))
    assert world.version(Side.EXTRACTION, "s", "3").at_path("b") is not None


def test_labels_that_order_alike_stand_in_order_of_appearance() -> None:
    world = World()
    world.schema("s", "1", "a")
    world.schema("s", "v1", "b")
    assert [version.label for version in world.document.extraction.all_versions()] == ["1", "v1"]


def test_a_release_candidate_stands_before_its_release() -> None:
    world = World()
    for label in ("1.0.0", "2.0.0", "2.0.0-rc1", "1.5.0"):
        world.schema("s", label, f"a{label[0]}{len(label)}{label[2]}")
    labels = [version.label for version in world.document.extraction.all_versions()]
    assert labels == ["1.0.0", "1.5.0", "2.0.0-rc1", "2.0.0"]
