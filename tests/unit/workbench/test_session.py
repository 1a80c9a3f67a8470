"""One opened project: edits, undo, redo, states, other openers."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.edits.settings import AddAlias, SetSettings
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError, ProjectError, ProjectLockedError
from metl_gui.workbench.history.states import history, redo, show, undo
from metl_gui.workbench.session import EditOrigin, Workbench, person

from .conftest import declare


def test_an_edit_is_in_the_file_before_the_project_is_closed(workbench: Workbench) -> None:
    with Workbench.open(workbench.path, for_editing=False) as reader:
        assert state_hash(reader.document) == state_hash(workbench.document)
        assert reader.document.state == 4


def test_undo_brings_back_the_content_under_a_new_number(workbench: Workbench) -> None:
    before = state_hash(workbench.document)
    workbench.do(AddVersion(Side.CDM, declare("rate", "1", "base", "quote")))
    assert workbench.undo_title() == "Add rate version 1"
    done = undo(workbench)
    assert done.state == 6
    assert done.title == "Undo: Add rate version 1"
    assert state_hash(workbench.document) == before
    assert redo(workbench).title == "Redo: Add rate version 1"
    assert workbench.document.cdm.named("rate") is not None


def test_a_group_is_undone_by_one_step(workbench: Workbench) -> None:
    before = state_hash(workbench.document)
    group = workbench.new_group()
    workbench.do(AddVersion(Side.CDM, declare("rate", "1", "base")), group=group)
    workbench.do(AddVersion(Side.CDM, declare("rate", "2", "base", "quote")), group=group)
    workbench.undo()
    assert state_hash(workbench.document) == before
    workbench.redo()
    rate = workbench.document.cdm.named("rate")
    assert rate is not None
    assert len(rate.version_ids) == 2


def test_undo_goes_on_from_where_a_restart_left_it(workbench: Workbench) -> None:
    workbench.do(AddVersion(Side.CDM, declare("rate", "1", "base")))
    workbench.undo()
    workbench.close()
    with Workbench.open(workbench.path) as again:
        assert again.redo_title() == "Add rate version 1"
        assert again.undo_title() == "Add fx.pay version 1"


def test_a_window_takes_back_only_what_windows_did(workbench: Workbench) -> None:
    schema = workbench.document.extraction.named("fx.pay")
    assert schema is not None
    workbench.do(AddAlias(Side.EXTRACTION, schema.id, "old.pay"), door=EditOrigin.WINDOW)
    workbench.do(AddVersion(Side.CDM, declare("rate", "1", "base")), door=EditOrigin.COMMAND)
    assert workbench.undo_title((EditOrigin.WINDOW,)) == "old.pay continues fx.pay"
    assert workbench.undo_title() == "Add rate version 1"


def test_undo_says_what_stands_in_its_way(workbench: Workbench) -> None:
    schema = workbench.document.extraction.named("fx.pay")
    assert schema is not None
    workbench.do(AddAlias(Side.EXTRACTION, schema.id, "old.pay"), door=EditOrigin.WINDOW)
    workbench.do(SetSettings(Side.EXTRACTION, schema.id, (("ask", "always"),)), door=EditOrigin.COMMAND)
    with pytest.raises(EditError, match=r"fx\.pay"):
        workbench.undo((EditOrigin.WINDOW,))
    assert workbench.document.state == 6


def test_nothing_to_undo_is_said(tmp_path: Path) -> None:
    with Workbench.create(tmp_path / "empty.metl") as empty, pytest.raises(EditError, match="nothing to undo"):
        empty.undo()


def test_an_edit_that_changes_nothing_makes_no_state(workbench: Workbench) -> None:
    schema = workbench.document.extraction.named("fx.pay")
    assert schema is not None
    transition = workbench.do(AddAlias(Side.EXTRACTION, schema.id, "fx.pay"))
    assert transition.after is transition.before
    assert workbench.document.state == 4


def test_a_refused_edit_leaves_document_and_file_as_they_were(workbench: Workbench) -> None:
    before = workbench.document
    with pytest.raises(EditError):
        workbench.do(AddVersion(Side.CDM, declare("payment", "1", "other")))
    assert workbench.document is before
    assert workbench.read_again().state == before.state


def test_an_earlier_state_is_rebuilt_with_its_content(workbench: Workbench) -> None:
    old = workbench.document
    hash_before = state_hash(old)
    workbench.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "amount")))
    assert state_hash(workbench.at_state(old.state)) == hash_before
    assert show(workbench, old.state).versions == 2
    assert show(workbench).versions == 3
    assert show(workbench, 0).title == ""
    with pytest.raises(ProjectError, match="no state 99"):
        workbench.at_state(99)


def test_the_second_editor_is_told_who_edits(workbench: Workbench) -> None:
    with pytest.raises(ProjectLockedError, match="tess"):
        Workbench.open(workbench.path)


def test_an_editor_that_was_overtaken_cannot_write_and_keeps_its_view(workbench: Workbench) -> None:
    before = workbench.document
    with Workbench.open(workbench.path, take_over=True, who="ann") as second:
        second.do(AddVersion(Side.CDM, declare("rate", "1", "base")))
        with pytest.raises(ProjectLockedError):
            workbench.do(AddVersion(Side.CDM, declare("fee", "1", "base")))
        assert workbench.document is before
        assert not workbench.is_for_editing
        assert workbench.reload().state == before.state + 1


def test_a_reader_cannot_edit(workbench: Workbench) -> None:
    with Workbench.open(workbench.path, for_editing=False) as reader, pytest.raises(ProjectLockedError):
        reader.do(AddVersion(Side.CDM, declare("rate", "1", "base")))


def test_the_history_names_every_state_with_who_and_when(workbench: Workbench) -> None:
    workbench.name_state(2, "before orders")
    found = history(workbench).as_json()
    assert found["state"] == 4
    assert [entry["state"] for entry in found["states"]] == [4, 3, 2, 1]
    assert {entry["who"] for entry in found["states"]} == {"tess"}
    assert [entry["named"] for entry in found["states"]] == [None, None, "before orders", None]
    assert found["states"][0]["when"].endswith("Z")
    assert [entry.state for entry in history(workbench, limit=2, below=4).states] == [3, 2]


def test_merging_the_overlay_keeps_the_content(workbench: Workbench) -> None:
    before = state_hash(workbench.document)
    assert state_hash(workbench.merge_overlay()) == before
    workbench.do(AddVersion(Side.CDM, declare("rate", "1", "base")))
    workbench.undo()
    assert state_hash(workbench.document) == before


def test_the_person_is_the_login_name_where_nobody_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("METL_USER", raising=False)
    monkeypatch.setenv("LOGNAME", "login")
    assert person() == "login"
