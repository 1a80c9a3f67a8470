"""What the window does by itself: following other programs, merging edits, and what the status bar counts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Status
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.project.selection import NodeRef, Selected
from metl_gui.ui.project.text import selected_words
from metl_gui.ui.shell import projects
from metl_gui.ui.shell.projects import Maintenance
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.session import Workbench


def clear_one(window: Window) -> None:
    block = next(b for b in window.project.value.matrix.blocks() if b.elements)
    assert window.project.do(SetElements(block.key, zeros=(block.elements[0],)))


def test_a_reader_follows_what_another_program_commits(make_window: Callable[[], Window], sample: SampleFolder) -> None:
    window = make_window()
    window.show_project(Workbench.open(sample.project, for_editing=False))
    ones = window.project.value.matrix.ones
    with Workbench.open(sample.project) as other:
        block = next(b for b in other.document.matrix.blocks() if b.elements)
        other.do(SetElements(block.key, zeros=(block.elements[0],)))
        window.upkeep.look()
    assert window.project.value.matrix.ones == ones - 1
    assert window.status.state.text().startswith(f"State {window.project.value.state} ")


def test_many_edited_blocks_are_merged_when_the_window_is_idle_and_nothing_shown_changes(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    clear_one(window)
    before, plane = window.project.value, window.map.planes.whole
    assert plane is not None
    assert len(plane.edited) == 1
    monkeypatch.setattr(projects, "MANY_EDITED", 0)
    window.upkeep.look()
    assert window.project.value is before
    monkeypatch.setattr(projects, "_IDLE_MS", 0)
    told: list[object] = []
    window.project.changed.connect(told.append)
    window.upkeep.look()
    after = window.project.value
    assert (after.state, after.matrix.ones) == (before.state, before.matrix.ones)
    assert (before.matrix.edited_count, after.matrix.edited_count) == (1, 0)
    assert told == []
    again = window.map.planes.whole
    assert again is not None
    assert len(again.edited) == 0
    everything = range(len(plane.columns.runs)), range(len(plane.rows.runs))
    assert list(again.elements_within(*everything)) == list(plane.elements_within(*everything))
    window.project.undo()
    assert window.project.value.matrix.ones == before.matrix.ones + 1


def test_a_file_that_is_gone_is_said_once_in_a_notice(window: Window, sample: SampleFolder) -> None:
    failed: list[object] = []
    window.upkeep.failed.connect(failed.append)
    sample.project.rename(sample.project.with_name("moved.metl"))
    window.upkeep.look()
    window.upkeep.look()
    assert len(failed) == 1
    assert "is not where it was opened" in window.notice.words.text()
    assert not window.notice.notices[-1].is_good


def test_nothing_is_looked_at_without_a_project(window: Window) -> None:
    window.actions_table["close"].trigger()
    Maintenance(window.project, window.jobs, window).look()
    assert window.notice.isHidden()


def test_the_status_bar_counts_the_blocks_that_a_person_confirmed(window: Window) -> None:
    blocks = list(window.project.value.matrix.blocks())
    confirmed = sum(block.status is Status.CONFIRMED for block in blocks)
    assert 0 < confirmed < len(blocks)
    assert window.status.blocks.text().endswith(f"{confirmed} of {len(blocks)} blocks confirmed")


def test_names_that_look_like_markup_are_shown_as_they_are(window: Window) -> None:
    declared = VersionDeclaration("a.<i>b</i>", (AttributeDeclaration("<u>&", "string"),))
    assert window.project.do(AddVersion(Side.EXTRACTION, declared))
    schema = window.project.value.extraction.named("a.<i>b</i>")
    assert schema is not None
    assert selected_words(window.project.value, Selected(NodeRef(schema.id))) == "<b>a.&lt;i&gt;b&lt;/i&gt;</b>"
