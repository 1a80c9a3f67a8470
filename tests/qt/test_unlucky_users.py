"""What an unlucky or hasty user meets: empty projects, very long names, a second opening, closing in time of work."""

from __future__ import annotations

import shutil
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from metl_gui.core.differences.document_difference import compare_by_names
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.progress import Watch
from metl_gui.core.project.comments import node_subject
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import ProjectError
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs
from metl_gui.ui.map import scoped_edits
from metl_gui.ui.project.selection import NodeRef, Selected, place_of_version
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.session import Workbench

from .held_jobs import HeldJobs

_KEYS = (Qt.Key.Key_Left, Qt.Key.Key_Down, Qt.Key.Key_Space, Qt.Key.Key_Z, Qt.Key.Key_F, Qt.Key.Key_Return)


@pytest.fixture
def empty(make_window: Callable[[], Window], tmp_path: Path) -> Window:
    """Return a window on a new project."""
    window = make_window()
    window.show_project(Workbench.create(tmp_path / "new.metl"))
    return window


def add(window: Window, side: Side, name: str, *paths: str) -> None:
    declared = VersionDeclaration(name, tuple(AttributeDeclaration(path, "string") for path in paths))
    assert window.project.do(AddVersion(side, declared))


def test_an_empty_project_says_what_fills_it_until_both_sides_are_there(empty: Window) -> None:
    page = empty.map
    wanted: list[object] = []
    page.import_wanted.disconnect()
    page.import_wanted.connect(wanted.append)
    assert page.empty.isVisible()
    page.empty.targets.click()
    add(empty, Side.EXTRACTION, "fx.a", "id")
    assert page.empty.title.text() == "No canonical model yet"
    assert (page.empty.sources.isVisible(), page.empty.targets.isVisible()) == (False, True)
    add(empty, Side.CDM, "account", "id")
    assert page.matrix.isVisible()
    assert wanted == [Side.CDM]


def test_keys_and_clicks_on_a_matrix_without_cells_change_nothing(empty: Window) -> None:
    matrix = empty.map.matrix
    for names in ((), ("fx.a",)):
        for name in names:
            add(empty, Side.EXTRACTION, name, "id")
        state = empty.project.value.state
        for key in _KEYS:
            QTest.keyClick(matrix, key)
        QTest.mouseClick(matrix.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(300, 200))
        assert empty.project.value.state == state


def test_very_long_names_widen_neither_docks_nor_window(empty: Window) -> None:
    widths = empty.map.source_dock.width(), empty.map.target_dock.width()
    add(empty, Side.EXTRACTION, "fx." + "very_long_" * 30, "path_" * 60)
    add(empty, Side.CDM, "entity_" * 30, "path_" * 60)
    document = empty.project.value
    source, target = (place_of_version(document, side, 1, 1) for side in (Side.EXTRACTION, Side.CDM))
    empty.selection.choose(Selected(source, target))
    QApplication.processEvents()
    assert (empty.map.source_dock.width(), empty.map.target_dock.width()) == widths
    assert empty.map.block_dock.width() < empty.width()
    assert empty.status.place.width() < empty.width()


def test_docks_come_back_as_wide_as_they_were(make_window: Callable[[], Window], sample: SampleFolder) -> None:
    first = make_window()
    first.show_project(Workbench.open(sample.project))
    QApplication.processEvents()
    widths = first.map.source_dock.width(), first.map.target_dock.width()
    first.close()
    second = make_window()
    QApplication.processEvents()
    second.show_project(Workbench.open(sample.project))
    QApplication.processEvents()
    assert (second.map.source_dock.width(), second.map.target_dock.width()) == widths


def test_opening_what_is_open_here_asks_nothing(window: Window, waiting_sample: SampleFolder) -> None:
    workbench = window.project.workbench
    window.commands.open(waiting_sample.project)
    assert window.project.workbench is workbench


def test_after_an_answer_on_a_card_the_next_card_has_the_focus(window: Window) -> None:
    window.show_page(1)
    review = window.review
    window.activateWindow()
    item = next(i for i in window.project.review_items() if len(i.losses) == 2)
    review.list.go_to(item.key)
    review.cards[0].setFocus()
    QTest.keyClick(review.cards[0], Qt.Key.Key_Return)
    assert len(review.cards) == 1
    assert QApplication.focusWidget() is review.cards[0]
    QTest.keyClick(review.cards[0], Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is review.cards[0].first


def test_the_right_button_does_not_pan(window: Window) -> None:
    matrix = window.map.matrix
    for _ in range(30):
        matrix.zoom(1.18)
    before = matrix.camera
    QTest.mousePress(matrix.viewport(), Qt.MouseButton.RightButton, pos=QPoint(500, 300))
    QTest.mouseMove(matrix.viewport(), QPoint(400, 250))
    QTest.mouseRelease(matrix.viewport(), Qt.MouseButton.RightButton, pos=QPoint(400, 250))
    assert matrix.camera == before


@pytest.mark.usefixtures("dressed")
def test_nobody_is_told_of_a_job_that_ends_while_the_window_closes() -> None:
    jobs, going = Jobs(), threading.Event()

    def task(watch: Watch) -> None:
        going.set()
        while not watch.is_cancelled:
            going.wait(0.01)

    outcomes: list[JobOutcome[None]] = []
    jobs.start("Waiting", task, outcomes.append)
    assert going.wait(10)
    jobs.stop()
    QApplication.processEvents()
    assert outcomes == []
    assert jobs.running == []


def test_a_filtered_tree_follows_an_edit(empty: Window) -> None:
    add(empty, Side.EXTRACTION, "fx.a", "id")
    add(empty, Side.EXTRACTION, "fx.b", "id")
    add(empty, Side.CDM, "account", "id")
    empty.map.sources.filter_now("is:mapped")
    assert empty.map.sources.model.shown_count == (0, 2)
    assert empty.project.do(SetElements((1, 1), (Element(1, 1),)))
    assert empty.map.sources.model.shown_count == (1, 2)
    assert empty.map.source_dock.line.facts.text() == "1 of 2 schemas"
    empty.project.undo()
    assert empty.map.sources.model.shown_count == (0, 2)


def test_a_folder_of_schemas_is_imported_whole(
    empty: Window, sample: SampleFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(sample.schemas))
    monkeypatch.setattr(dialogs, "ask", lambda *_: "close")
    empty.actions_table["import_folder"].trigger()
    assert len(empty.project.value.extraction.schemas()) == 15
    assert empty.project.undo_title is not None


def test_an_edit_of_a_project_whose_file_is_gone_is_refused_in_words(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(dialogs, "tell", lambda error, _parent: told.append(str(error)))
    workbench, before = window.project.workbench, window.project.value
    assert workbench is not None
    workbench.path.rename(workbench.path.with_name("elsewhere.metl"))
    assert not window.project.do(AddVersion(Side.CDM, VersionDeclaration("x", (AttributeDeclaration("id", "string"),))))
    assert window.project.value is before
    assert len(told) == 1
    assert "not where it was opened" in told[0]


@pytest.mark.parametrize("is_overwritten", [False, True])
def test_what_is_shown_of_a_project_whose_file_is_gone_is_saved_as_a_copy_and_opened(
    window: Window, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_overwritten: bool
) -> None:
    workbench, shown = window.project.workbench, window.project.value
    assert workbench is not None
    path, copy, before = workbench.path, tmp_path / "copy of it.metl", window.project.value.state
    statuses = Counter(block.status for block in shown.matrix.blocks())
    if is_overwritten:
        Workbench.create(tmp_path / "backup.metl").close()
        shutil.copyfile(tmp_path / "backup.metl", path)
    else:
        path.unlink()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(copy), ""))
    window.actions_table["save_copy"].trigger()
    notice = window.notice.notices[-1]
    assert notice.text.startswith("copy of it.metl is a copy of this project.")
    assert ("history" in notice.text) is is_overwritten
    assert notice.callback is not None
    notice.callback()
    assert window.project.workbench is not workbench
    assert compare_by_names(window.project.value, shown).is_empty
    assert Counter(block.status for block in window.project.value.matrix.blocks()) == statuses
    assert window.project.value.state == (1 if is_overwritten else before)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("backup 2026.07.30", "backup 2026.07.30.metl"),
        ("backup", "backup.metl"),
        ("backup.metl", "backup.metl"),
        ("b.METL", "b.metl"),
    ],
)
def test_a_dot_in_the_name_of_a_copy_or_a_new_project_does_not_end_it(
    window: Window, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, typed: str, kept: str
) -> None:
    for folder, act in (("copies", window.commands.save_copy), ("new", window.commands.new_project)):
        (tmp_path / folder).mkdir()
        place = str(tmp_path / folder / typed)
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, place=place: (place, ""))
        act()
        assert [path.name for path in (tmp_path / folder).glob("*.metl")] == [kept]


@pytest.mark.parametrize("id_", ["publish", "project_settings", "undo_state", "export"])
def test_an_action_that_asks_a_file_which_is_gone_says_so(
    window: Window, monkeypatch: pytest.MonkeyPatch, id_: str
) -> None:
    told: list[str] = []
    monkeypatch.setattr(dialogs, "tell", lambda error, _parent: told.append(str(error)))
    workbench = window.project.workbench
    assert workbench is not None
    window.history.looking.look_at(2)
    workbench.path.rename(workbench.path.with_name("elsewhere.metl"))
    window.actions_table[id_].trigger()
    assert "not where it was opened" in " ".join(told)


def moved_away(window: Window, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Rename the file of the open project, and return where the dialogs that follow are told."""
    told: list[str] = []
    monkeypatch.setattr(dialogs, "tell", lambda error, _parent: told.append(str(error)))
    workbench = window.project.workbench
    assert workbench is not None
    workbench.path.rename(workbench.path.with_name("elsewhere.metl"))
    return told


def test_every_page_can_be_shown_after_the_file_was_moved(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    moved_away(window, monkeypatch)
    for number in (3, 0, 1, 3, 1, 2, 0):
        window.show_page(number)
        QApplication.processEvents()
        assert window.stack.currentIndex() == number
    assert window.project.workbench is not None
    assert window.warehouse.page.star.isVisibleTo(window.warehouse.page)


def test_trees_are_painted_with_the_comments_known_so_far_after_the_file_was_moved(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    workbench, document = window.project.workbench, window.project.value
    assert workbench is not None
    schema = document.extraction.schemas()[0]
    workbench.add_comment(node_subject(document, Side.EXTRACTION, schema.id), "Gross, in euro")
    window.project.read_comments_again()
    window.history.looking.look_at(document.state - 1)
    assert len(window.project.comments()) == 1
    moved_away(window, monkeypatch)
    window.history.looking.come_back()
    assert [comment.text for comment in window.project.comments().all] == ["Gross, in euro"]
    assert not window.map.sources.view.viewport().grab().isNull()


def test_undo_of_the_banner_and_of_a_settled_block_say_that_the_file_is_gone(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = window.project.value.state
    window.history.looking.look_at(newest - 1)
    told = moved_away(window, monkeypatch)
    QTest.mouseClick(window.history.banner.undo, Qt.MouseButton.LeftButton)
    assert len(told) == 1
    window.history.looking.come_back()
    told.clear()
    window.review_commands.settling.undo_wanted.emit(newest)
    window.review_commands.settling.undo_question_wanted.emit(newest)
    assert len(told) == 2
    assert all("not where it was opened" in each for each in told)


def test_decisions_that_come_too_late_are_told_as_given_up_and_not_as_done_in_the_next_project(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = HeldJobs()
    monkeypatch.setattr(window.context.writer, "_jobs", jobs)
    window.show_page(1)
    path = window.project.workbench.path if window.project.workbench is not None else tmp_path
    window.review_commands.postpone_shown()
    window.show_project(Workbench.create(tmp_path / "next.metl"))
    jobs.release()
    assert window.notice.words.text().endswith(f"was given up: {path.name} was closed.")
    assert window.project.undo_title is None
    jobs.stop()
    jobs.deleteLater()


def copied(window: Window, folder: Path) -> Path:
    """Return a copy of the project of a window, whose ids are the same."""
    other = folder / "other.metl"
    assert window.project.workbench is not None
    window.project.workbench.save_copy(other)
    return other


def test_a_project_named_from_its_folder_is_found_again_from_another_one(
    make_window: Callable[[], Window], sample: SampleFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = make_window()
    monkeypatch.chdir(sample.path)
    window.projects.open_path(Path(sample.project.name))
    assert window.settings.recent == [sample.project]
    assert window.warehouse.page.load.target.text() == f"duckdb:{sample.project.with_suffix('.duckdb')}"
    window.close()
    monkeypatch.chdir(tmp_path)
    again = make_window()
    again.projects.open_last()
    assert again.project.workbench is not None
    assert again.project.workbench.path == sample.project


def test_what_is_being_paired_when_another_project_is_opened_is_not_mapped_there(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, jobs, document = copied(window, tmp_path), HeldJobs(), window.project.value
    for owner in (window.map.mapper, window.map.edits):
        monkeypatch.setattr(owner, "_jobs", jobs)
    sources, targets = (
        tuple(NodeRef(each.id, each.version_ids[-1]) for each in document.tree(side).schemas()) for side in Side
    )
    window.selection.choose(Selected(sources[0], targets[0], sources, targets))
    window.map.mapper.map_by_name()
    assert jobs.held
    window.show_project(Workbench.open(other))
    jobs.release()
    assert window.project.undo_title is None
    assert window.notice.isHidden()
    jobs.stop()
    jobs.deleteLater()


@pytest.mark.parametrize("work", ["carried", "plan_like_others"])
def test_what_other_versions_are_looked_at_for_is_not_done_in_another_project(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: str
) -> None:
    other, jobs, document = copied(window, tmp_path), HeldJobs(), window.project.value
    monkeypatch.setattr(window.map.edits, "_jobs", jobs)
    monkeypatch.setattr(scoped_edits, "_AT_ONCE", 0)
    block = next(each for each in document.matrix.blocks() if each.elements)
    if work == "carried":
        window.map.edits.do((SetElements(block.key, zeros=block.elements),))
    else:
        window.map.edits.map_like_others()
    assert jobs.held
    window.show_project(Workbench.open(other))
    jobs.release()
    assert window.project.undo_title is None
    assert window.notice.isHidden()
    jobs.stop()
    jobs.deleteLater()


def test_closing_a_project_gives_up_what_is_being_imported_and_says_so(
    empty: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(dialogs, "ask", lambda title, *_rest, **_more: asked.append(title))
    source = tmp_path / "orders.json"
    source.write_text('{"type": "object", "properties": {"id": {"type": "string"}}}')

    def import_and_close(*_arguments: object, **_more: object) -> None:
        empty.projects.close()  # what the command does once nothing has to be asked any more
        raise ProjectError("it is closed")

    monkeypatch.setattr("metl_gui.ui.importing.commands.import_sources", import_and_close)
    empty.imports.import_schemas(Side.EXTRACTION, [source])
    assert empty.project.workbench is None
    assert asked == []
    assert "given up: new.metl was closed" in empty.notice.words.text()
