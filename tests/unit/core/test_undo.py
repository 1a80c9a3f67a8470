"""What undo and redo refuse because of later edits.

Source: docs/architecture/model.md, "Rules that always hold"; docs/guide/change.md, "History".
"""

from __future__ import annotations

import pytest

from metl_gui.core.changes.draft import Edit
from metl_gui.core.edits.review import ConfirmBlock, Postpone, RetireBlock
from metl_gui.core.edits.settings import AddAlias, SetSettings
from metl_gui.core.edits.versions import AttachLabel, NoteKey, RemoveVersion
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from tests.helpers.world import World


def mapped() -> World:
    """One schema that feeds the first version of an entity."""
    world = World()
    world.schema("s", "1", "a")
    world.entity("be", "1", "a")
    world.map("s@1:be@1", a="a")
    return world


def test_an_entity_version_does_not_come_back_above_a_mapping_made_meanwhile() -> None:
    world = World()
    world.schema("s", "1", "a")
    world.entity("be", "1", "a")
    undone = world.undo(world.entity("be", "2", "a", "b"))
    world.map("s@1:be@1", a="a")
    with pytest.raises(EditError, match="the mapping of version 1 of be"):
        world.undo(undone)


def test_a_policy_does_not_come_back_under_a_mapping_that_it_forbids() -> None:
    world = mapped()
    world.entity("be", "2", "a", "b")
    entity = world.document.cdm.named("be")
    assert entity is not None
    parallel = world.do(SetSettings(Side.CDM, entity.id, (("policy", "parallel"),)))
    world.map("s@1:be@1", a="a")
    with pytest.raises(EditError, match="the mapping of version 1 of be"):
        world.undo(parallel)


@pytest.mark.parametrize(
    "edit",
    [
        RemoveVersion(Side.EXTRACTION, 9),
        RemoveVersion(Side.CDM, 9),
        AttachLabel(Side.EXTRACTION, 9, "x"),
        NoteKey(Side.EXTRACTION, 9, ()),
        AddAlias(Side.CDM, 9, "x"),
        SetSettings(Side.EXTRACTION, 9, (("key", "a"),)),
        ConfirmBlock((9, 9)),
        RetireBlock((9, 9)),
        Postpone((9, 9)),
    ],
)
def test_an_edit_of_what_somebody_else_removed_meanwhile_is_refused_in_words(edit: Edit) -> None:
    with pytest.raises(EditError, match=r"not in the trees any more|no such block"):
        mapped().do(edit)


def test_an_edit_of_elements_leaves_both_trees_the_same_objects() -> None:
    world = mapped()
    before = world.document
    world.undo(world.log[-1])
    assert world.document.extraction is before.extraction
    assert world.document.cdm is before.cdm
    world.schema("s", "2", "a", "b")
    assert world.document.extraction is not before.extraction
    assert world.document.cdm is before.cdm
