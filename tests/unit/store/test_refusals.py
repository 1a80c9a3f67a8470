"""Refused suggestions lie beside the states: no edit touches them, and no undo takes them back."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.changes.draft import EditContext
from metl_gui.core.project.refusals import RefusedRename, RefusedSuggestion
from metl_gui.core.trees.nodes import Attribute, Side
from metl_gui.errors import ProjectLockedError
from metl_gui.store.project_file import ProjectFile
from tests.unit.store.editing import Editing

FIRST = RefusedSuggestion(1, 2, 3, 4, "customer_ref", "payer_id")
SECOND = RefusedSuggestion(1, 5, 3, 4, "größe", "payer_id")


def test_refusals_outlive_the_opening_newest_first(path: Path) -> None:
    with ProjectFile.create(path) as project:
        project.kept.refused_suggestions.add([FIRST], EditContext("ada", 5))
        project.kept.refused_suggestions.add([SECOND], EditContext("ada", 6))
    with ProjectFile.open(path, for_editing=False) as project:
        found = project.kept.refused_suggestions.all()
    assert found == (SECOND, FIRST)
    assert [refusal.from_path for refusal in found] == ["größe", "customer_ref"]


def test_a_refusal_made_twice_is_one(path: Path) -> None:
    with ProjectFile.create(path) as project:
        project.kept.refused_suggestions.add([FIRST], EditContext("ada", 5))
        project.kept.refused_suggestions.add([FIRST, FIRST], EditContext("bob", 6))
        assert project.kept.refused_suggestions.all() == (FIRST,)


def test_restoring_forgets_that_one_only(path: Path) -> None:
    with ProjectFile.create(path) as project:
        project.kept.refused_suggestions.add([FIRST, SECOND], EditContext("ada", 5))
        project.kept.refused_suggestions.remove([FIRST])
        assert project.kept.refused_suggestions.all() == (SECOND,)


def test_a_refusal_makes_no_state_and_undo_leaves_it(path: Path) -> None:
    with ProjectFile.create(path) as project:
        editing = Editing(project)
        editing.small_world()
        state = project.state()
        project.kept.refused_suggestions.add([FIRST], EditContext("ada", 5))
        assert project.state() == state
        editing.undo_newest()
        assert project.kept.refused_suggestions.all() == (FIRST,)


def test_who_may_only_read_cannot_refuse(path: Path) -> None:
    ProjectFile.create(path).close()
    with ProjectFile.open(path, for_editing=False) as project, pytest.raises(ProjectLockedError):
        project.kept.refused_suggestions.add([FIRST], EditContext("ada", 5))


def test_a_refused_rename_outlives_the_opening_with_its_lineages(path: Path) -> None:
    refused = RefusedRename(Side.CDM, 7, "total", "sum", 11, 12)
    with ProjectFile.create(path) as project:
        project.kept.refused_renames.add([refused], EditContext("ada", 5))
    with ProjectFile.open(path, for_editing=False) as project:
        found = project.kept.refused_renames.all()
    other_names = Attribute(1, "total_amount", "string", 11), Attribute(2, "sum_amount", "string", 12)
    other_lineages = Attribute(3, "total", "string", 21), Attribute(4, "sum", "string", 22)
    assert found.covers(Side.CDM, 7, *other_names)
    assert found.covers(Side.CDM, 7, *other_lineages)
    assert not found.covers(Side.EXTRACTION, 7, *other_names)
    assert not found.covers(Side.CDM, 8, *other_names)
    assert not found.covers(Side.CDM, 7, other_names[1], other_names[0])


def test_a_refused_rename_can_be_restored(path: Path) -> None:
    one, other = (RefusedRename(Side.EXTRACTION, 7, "total", name) for name in ("sum", "amount"))
    with ProjectFile.create(path) as project:
        project.kept.refused_renames.add([one, other], EditContext("ada", 5))
        project.kept.refused_renames.remove([one])
        assert project.kept.refused_renames.all().all == (other,)
