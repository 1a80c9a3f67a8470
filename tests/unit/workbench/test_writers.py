"""Several who write to one project: what moved on meanwhile, the lease, an editor that is overtaken."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.changes.draft import Edit, EditContext, perform
from metl_gui.core.edits.settings import AddAlias
from metl_gui.core.edits.versions import AddVersion, RemoveVersion
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError, ProjectLockedError
from metl_gui.store import edit_log, project_file
from metl_gui.store.edit_log import RetentionPolicy
from metl_gui.workbench.exports.files import export_published
from metl_gui.workbench.exports.formats import EXPORTS
from metl_gui.workbench.history.states import history
from metl_gui.workbench.publishing.publication import live_state, publish
from metl_gui.workbench.session import Workbench

from .conftest import declare


def commit_elsewhere(workbench: Workbench, edit: Edit) -> None:
    """Commit an edit that the opened project does not know of, in the name of somebody else."""
    workbench._project.commit(perform(workbench._project.document(), edit, EditContext("uma", 5)), "command")


def first_version(workbench: Workbench, name: str) -> int:
    schema = workbench.document.extraction.named(name)
    assert schema is not None
    return schema.version_ids[0]


def test_an_edit_is_applied_again_to_what_somebody_else_has_made_meanwhile(workbench: Workbench) -> None:
    commit_elsewhere(workbench, AddVersion(Side.CDM, declare("rate", "1", "base")))
    assert workbench.has_moved_on()
    done = workbench.do(AddVersion(Side.CDM, declare("fee", "1", "amount")))
    assert (done.before.state, done.after.state) == (5, 6)
    assert {entity.name for entity in workbench.document.cdm.schemas()} == {"payment", "refund", "rate", "fee"}
    assert state_hash(workbench.read_again()) == state_hash(workbench.document)


def test_an_edit_that_makes_no_sense_any_more_is_refused_and_the_newest_state_is_there(workbench: Workbench) -> None:
    version = first_version(workbench, "fx.pay")
    schema_id = workbench.document.extraction.version(version).schema_id
    commit_elsewhere(workbench, RemoveVersion(Side.EXTRACTION, version))
    with pytest.raises(EditError, match="not in the trees any more"):
        workbench.do(AddAlias(Side.EXTRACTION, schema_id, "other"))
    assert workbench.document.state == 5
    assert workbench.document.extraction.named("fx.pay") is None


def test_undo_takes_back_what_the_file_has_and_not_what_the_opened_project_remembers(workbench: Workbench) -> None:
    commit_elsewhere(workbench, AddVersion(Side.CDM, declare("rate", "1", "base")))
    assert workbench.undo().title == "Undo: Add rate version 1"
    assert workbench.document.state == 6


def test_publishing_needs_the_lease_and_names_who_has_it_while_exports_and_the_history_do_not(
    mapped: Workbench, tmp_path: Path
) -> None:
    publish(mapped)
    with pytest.raises(ProjectLockedError, match="tess"):
        Workbench.open(mapped.path, who="uma")
    with Workbench.open(mapped.path, for_editing=False, who="uma") as reader:
        with pytest.raises(ProjectLockedError, match="read only"):
            publish(reader, state=4)
        assert export_published(reader, EXPORTS["csv"], tmp_path / "out.csv").state == 5
        assert reader.kept.runs.add({"state": 5}, [])
    entry = history(mapped).states[0]
    assert (entry.state, entry.published, entry.exported, len(entry.runs)) == (5, True, True, 1)


def test_an_editor_that_was_overtaken_neither_publishes_nor_compacts(
    mapped: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_file, "KEEPING", RetentionPolicy(edits=1, days=0))
    monkeypatch.setattr(edit_log, "WORTH", 2)
    with Workbench.open(mapped.path, take_over=True, who="ann") as second:
        with pytest.raises(ProjectLockedError):
            publish(mapped)
        assert not mapped.is_for_editing
        mapped.close()
        assert live_state(second) is None
        assert [entry.state for entry in history(second).states] == [5, 4, 3, 2, 1]
        second.do(AddVersion(Side.CDM, declare("rate", "1", "base")))
    with Workbench.open(mapped.path, for_editing=False) as reader:
        assert [entry.state for entry in history(reader).states] == [6, 5]


def test_states_are_looked_at_in_memory_as_the_file_has_them(mapped: Workbench) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id")))
    mapped.undo()
    mapped.redo()
    for state in (0, 7, 3, 4, 8, 1, 6, 5, 2):
        assert state_hash(mapped.at_state(state)) == state_hash(mapped._project.document(state))
    assert mapped.at_state(8) is mapped.at_state(None) is mapped.document
    forth, back = mapped.change_between(3, 6), mapped.change_between(6, 3)
    assert forth == back.inverse()
    assert not forth.is_empty


def test_looking_back_reads_the_log_and_not_the_whole_file(mapped: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_file, "read_document", None)
    assert mapped.at_state(2).state == 2
    assert mapped.at_state(3).state == 3
