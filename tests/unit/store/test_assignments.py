"""Who is to decide lies beside the states: it outlives the opening, and an empty name takes it away."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.changes.draft import EditContext
from metl_gui.core.project.assignments import Assignment
from metl_gui.errors import ProjectLockedError
from metl_gui.store.project_file import ProjectFile


def test_an_assignment_outlives_the_opening_with_who_said_it_and_when(path: Path) -> None:
    with ProjectFile.create(path) as project:
        project.kept.assignments.assign([(1, 2, 3)], "Bob", EditContext("ada", 5))
    with ProjectFile.open(path, for_editing=False) as project:
        assert project.kept.assignments.all() == (Assignment((1, 2, 3), "Bob", "ada", 5),)


def test_assigning_again_replaces_and_an_empty_name_takes_away(path: Path) -> None:
    with ProjectFile.create(path) as project:
        project.kept.assignments.assign([(1, 2, 3), (1, 2, 4)], "Bob", EditContext("ada", 5))
        project.kept.assignments.assign([(1, 2, 3)], "Größe", EditContext("ada", 6))
        assert [each.assignee for each in project.kept.assignments.all()] == ["Größe", "Bob"]
        project.kept.assignments.assign([(1, 2, 3), (9, 9, 9)], "", EditContext("ada", 7))
        assert [each.key for each in project.kept.assignments.all()] == [(1, 2, 4)]


def test_a_read_only_opening_assigns_nothing(path: Path) -> None:
    ProjectFile.create(path).close()
    with ProjectFile.open(path, for_editing=False) as project:
        with pytest.raises(ProjectLockedError):
            project.kept.assignments.assign([(1, 2, 3)], "Bob", EditContext("ada", 5))
        assert project.kept.assignments.all() == ()
