"""Warehouse models in the project file: every state has its own, undo and redo move them, compaction keeps them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from metl_gui.core.edits.warehouse import RemoveModel, SetModel
from metl_gui.core.warehouse_model import Dates, Dimension, Model
from metl_gui.errors import ProjectError
from metl_gui.store.edit_log import RetentionPolicy
from metl_gui.store.project_file import ProjectFile
from tests.unit.store.contents import parts
from tests.unit.store.editing import Editing

DATES = Dates(name="date", first="2026-01-01", last="2026-12-31")
SMALL = Model(name="fx", tables=(DATES,))
LARGER = Model(name="fx", tables=(Dimension(name="payment", entity="payment"), DATES))
OTHER = Model(name="audit", entities=())


def declare(project: ProjectFile) -> Editing:
    """Make states with no model, one, another of its name, two, and one less."""
    editing = Editing(project)
    editing.small_world()
    for edit in (SetModel(SMALL), SetModel(LARGER), SetModel(OTHER), RemoveModel("fx")):
        editing.do(edit)
    return editing


def models_by_state(project: ProjectFile) -> list[tuple[Model, ...]]:
    newest = project.state()
    return [project.document(state).models for state in range(newest - 4, newest + 1)]


EVERY_STATE = [(), (SMALL,), (LARGER,), (OTHER, LARGER), (OTHER,)]


def test_every_state_has_the_models_that_it_had(path: Path) -> None:
    with ProjectFile.create(path) as project:
        declare(project)
        assert models_by_state(project) == EVERY_STATE
    with ProjectFile.open(path, for_editing=False) as project:
        assert models_by_state(project) == EVERY_STATE
        assert project.document().models == (OTHER,)


def test_undo_and_redo_move_models_like_all_else(path: Path) -> None:
    with ProjectFile.create(path) as project:
        editing = declare(project)
        assert editing.undo_newest() == "Remove the warehouse model fx"
        assert project.document().models == (OTHER, LARGER)
        assert editing.undo_newest() == "Add the warehouse model audit with 0 tables"
        assert editing.undo_newest() == "Change payment of the warehouse model fx"
        assert project.document().models == (SMALL,)
        assert editing.redo_newest() == "Change payment of the warehouse model fx"
        assert parts(project.document()) == parts(editing.document)


def test_compaction_merges_the_changes_of_models(path: Path) -> None:
    with ProjectFile.create(path) as project:
        editing = declare(project)
        while project.compact(RetentionPolicy(edits=1, days=0)):
            pass
        assert project.document(0).models == ()
        assert project.document().models == (OTHER,)
        assert parts(project.document()) == parts(editing.document)


def test_a_copy_has_the_models_too(path: Path) -> None:
    with ProjectFile.create(path) as project:
        declare(project)
        assert project.save_copy(path.with_name("copy.metl"))
    with ProjectFile.open(path.with_name("copy.metl"), for_editing=False) as copy:
        assert models_by_state(copy) == EVERY_STATE


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE warehouse_models SET name = 'other'",
        "UPDATE warehouse_models SET model = '{}'",
        'UPDATE warehouse_models SET model = \'{"warehouse":"audit","tables":[{"kind":"cube"}]}\'',
        "UPDATE warehouse_models SET model = replace(model, ':[', ':{')",
    ],
)
def test_a_model_that_was_changed_by_another_hand_is_called_damage(path: Path, statement: str) -> None:
    with ProjectFile.create(path) as project:
        declare(project)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)
    with ProjectFile.open(path, for_editing=False) as project, pytest.raises(ProjectError, match="damaged"):
        project.document()


def test_a_model_with_every_value_at_its_default_is_kept_as_its_name_alone(path: Path) -> None:
    with ProjectFile.create(path) as project:
        Editing(project).do(SetModel(Model(name="fx")))
        (row,) = project._connection.execute("SELECT * FROM warehouse_models").fetchall()
    assert row == ("fx", '{"warehouse":"fx"}')
    assert msgspec.json.decode(row[1], type=Model) == Model(name="fx")
