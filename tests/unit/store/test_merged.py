"""A merge in the file: what was merged is what is read again, and undo takes all of it back."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings

from metl_gui.core.changes.draft import perform
from metl_gui.core.differences.document_difference import compare
from metl_gui.core.edits.revert import Revert
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.merge.merged_document import MergeTheirs
from metl_gui.store.project_file import ProjectFile
from tests.helpers.histories import Steps, step, steps, world_of
from tests.helpers.world import World


@settings(max_examples=25)
@given(steps, steps, steps)
def test_a_merge_is_read_again_as_it_was_made_and_undo_takes_all_of_it_back(
    shared: Steps, ours: Steps, theirs: Steps
) -> None:
    world = world_of(shared)
    base, other = world.document, World()
    other.document, other.log = base, list(world.log)
    for kind, seed in ours:
        step(world, kind, seed)
    for kind, seed in theirs:
        step(other, kind, seed)
    before = world.document
    merge = world.do(MergeTheirs(base, other.document, "theirs"))
    with tempfile.TemporaryDirectory() as folder:
        with ProjectFile.create(Path(folder) / "merged.metl") as project:
            for transition in world.log:
                project.commit(transition)
        with ProjectFile.open(Path(folder) / "merged.metl", for_editing=False) as project:
            found = project.document()
    assert state_hash(found) == state_hash(world.document)
    assert compare(world.document, found).is_empty
    if not merge.change.is_empty:
        taken_back = perform(world.document, Revert(merge.change, merge.title)).after
        assert compare(before, taken_back).is_empty
