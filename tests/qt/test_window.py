"""The window as a whole: opening, undo across openings, actions, keys, themes, start page, refusals."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QImage, QKeySequence
from PySide6.QtWidgets import QApplication, QMenu

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import RemoveVersion
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import MetlError
from metl_gui.ui import main
from metl_gui.ui.actions.shortcut_sheet import lines_of
from metl_gui.ui.actions.table import MENUS, SCOPES, always
from metl_gui.ui.project.selection import NodeRef, Selected, still_there
from metl_gui.ui.shell.action_rows.action_table import all_rows
from metl_gui.ui.shell.action_rows.conditions import can_begin
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.theme import contrast
from metl_gui.ui.widgets import dialogs
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.session import Workbench


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect what dialogs would say; each is answered with its last answer."""
    said: list[str] = []

    def reply(title: str, text: str, answers: list[tuple[str, str]], _parent: object = None) -> str:
        said.append(f"{title} {text}")
        return answers[-1][0]

    monkeypatch.setattr(dialogs, "ask", reply)
    return said


def clear_one(window: Window) -> SetElements:
    block = next(b for b in window.project.value.matrix.blocks() if b.elements)
    edit = SetElements(block.key, zeros=(block.elements[0],))
    assert window.project.do(edit)
    return edit


def test_undo_and_redo_carry_their_titles_and_survive_a_new_opening(
    make_window: Callable[[], Window], sample: SampleFolder
) -> None:
    first = make_window()
    first.show_project(Workbench.open(sample.project))
    clear_one(first)
    ones = first.project.value.matrix.ones
    title = first.project.undo_title
    assert title is not None
    assert title in first.actions_table["undo"].text()
    first.close()
    second = make_window()
    second.show_project(Workbench.open(sample.project))
    assert second.project.undo_title == title
    second.actions_table["undo"].trigger()
    assert second.project.value.matrix.ones == ones + 1
    second.actions_table["redo"].trigger()
    assert second.project.value.matrix.ones == ones
    assert second.project.value.state == first_state(sample) + 3


def first_state(sample: SampleFolder) -> int:
    with Workbench.open(sample.project, for_editing=False) as workbench:
        return workbench.document.state - 3


def test_a_refused_edit_changes_nothing_and_says_why(window: Window, told: list[str]) -> None:
    before = window.project.value
    block = next(b for b in before.matrix.blocks() if len(b.elements) > 1)
    one, other = block.elements[:2]
    assert not window.project.do(SetElements(block.key, (type(one)(one.q, other.p),)))
    assert window.project.value is before
    assert "Within a block each attribute is used once." in told[0]


def test_a_project_that_somebody_else_edits_is_opened_as_the_person_says(
    make_window: Callable[[], Window], sample: SampleFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Workbench.open(sample.project, who="Grace"):
        window = make_window()
        monkeypatch.setattr(dialogs, "ask", lambda *_: "read")
        window.commands.open(sample.project)
        assert window.project.workbench is not None
        assert not window.project.workbench.is_for_editing
        assert window.status.mode.text() == "read only"


def test_a_file_that_is_no_project_is_refused_with_a_hint(
    make_window: Callable[[], Window], tmp_path: Path, told: list[str]
) -> None:
    path = tmp_path / "picture.metl"
    path.write_bytes(b"not a project at all")
    window = make_window()
    window.commands.open(path)
    assert window.project.workbench is None
    assert len(told) == 1
    assert window.stack.currentWidget() is window.start


def test_the_start_page_lists_recent_projects_and_greys_missing_ones(
    make_window: Callable[[], Window], sample: SampleFolder, tmp_path: Path
) -> None:
    window = make_window()
    window.settings.remember_project(tmp_path / "gone.metl")
    window.show_project(Workbench.open(sample.project))
    window.actions_table["close"].trigger()
    assert window.stack.currentWidget() is window.start
    assert [(b.text(), b.isEnabled()) for b in window.start.recent] == [("fx", True), ("gone", False)]


def test_the_sample_opens_from_the_start_page(make_window: Callable[[], Window]) -> None:
    window = make_window()
    window.start.sample.click()
    assert window.project.value.matrix.ones > 400
    assert window.stack.currentWidget() is window.map


def test_importing_the_waiting_version_tells_of_decisions_and_offers_to_go_there(
    make_window: Callable[[], Window], sample: SampleFolder
) -> None:
    window = make_window()
    window.show_project(Workbench.open(sample.project))
    window.imports.import_schemas(Side.EXTRACTION, [sample.waiting])
    assert window.notice.words.text() == "1 version added. 2 decisions wait."
    window.notice.action.click()
    assert window.stack.currentWidget() is window.review
    assert window.project.undo_title is not None


def test_every_action_but_hints_stands_in_a_menu_and_has_a_key_of_its_own(window: Window) -> None:
    rows = all_rows()
    assert len({row.id for row in rows}) == len(rows)
    actions = [row for row in rows if not row.is_hint]
    keymap = window.actions_table.keymap
    for row in actions:
        assert row.scope != "window" or keymap.objection(row.id, row.shortcut) == "", row.id
        for text in (row.shortcut, row.also):
            holder = keymap.holder(row.id, text) if text else None
            assert holder is None, f"{text}: {row.id}, {holder.id}"
            assert not text or QKeySequence(text).toString(), row.id
    assert {row.menu.partition(" > ")[0] for row in rows} <= set(MENUS)
    assert {row.scope for row in rows} <= set(SCOPES)
    for row in actions:
        assert window.actions_table[row.id] in window.actions_table.menu(row.menu).actions()


def test_the_sheet_of_keys_lists_every_key_of_the_table(window: Window) -> None:
    listed = {line.id for line in lines_of(window.actions_table.keymap)}
    assert listed == {row.id for row in all_rows() if row.shortcut}


def test_without_a_project_only_what_needs_none_can_be_done(make_window: Callable[[], Window]) -> None:
    window = make_window()
    enabled = {row.id for row in all_rows() if not row.is_hint and window.actions_table[row.id].isEnabled()}
    assert enabled == {row.id for row in all_rows() if row.when in {always, can_begin}}


def test_the_titles_of_the_trees_count_what_their_filters_let_pass(window: Window) -> None:
    window.map.sources.filter_now("iban")
    window.map.targets.filter_now("iban")
    assert window.map.source_dock.line.facts.text() == "1 of 15 schemas"
    assert window.map.target_dock.line.facts.text() == "1 of 6 entities"


def test_switching_the_theme_dresses_everything_and_is_remembered(window: Window) -> None:
    window.actions_table["theme_dark"].trigger()
    assert themes.current().dark
    assert window.settings.theme == "dark"
    assert window.actions_table["theme_dark"].isChecked()
    image = window.grab().toImage()
    assert image.pixelColor(image.width() - 5, 5).lightness() < 80
    window.actions_table["theme_light"].trigger()
    assert not themes.current().dark


def test_the_theme_follows_the_system_until_one_is_chosen(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    hints = QGuiApplication.styleHints()
    monkeypatch.setattr(themes, "system_theme_name", lambda: "dark")
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert themes.current().dark
    window.actions_table["theme_light"].trigger()
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert not themes.current().dark
    window.actions_table["theme_system"].trigger()
    assert themes.current().dark


def test_high_contrast_of_the_system_makes_lines_and_small_words_stand_out(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(themes, "system_wants_contrast", lambda: True)
    window.dressing.follow_system()
    theme = themes.current()
    assert contrast(theme.text, theme.panel) > 20
    assert contrast(theme.dim, theme.panel) >= 7
    assert contrast(theme.line, theme.panel) >= 4.5


def test_everything_grows_with_the_scale_and_comes_back(window: Window) -> None:
    heights = [widget.height() for widget in (window.head, window.head.run)]
    size = QApplication.font().pointSizeF()
    window.actions_table["size_200"].trigger()
    QApplication.processEvents()
    assert [widget.height() for widget in (window.head, window.head.run)] == [2 * height for height in heights]
    assert QApplication.font().pointSizeF() == pytest.approx(2 * size)
    assert window.head.search.font().pointSizeF() == pytest.approx(2 * size)
    window.actions_table["smaller"].trigger()
    assert window.settings.scale == 175
    window.actions_table["normal_size"].trigger()
    QApplication.processEvents()
    assert [widget.height() for widget in (window.head, window.head.run)] == heights


def test_removing_a_version_names_what_goes_and_forgets_its_selection(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = window.project.value.extraction.schemas()[0]
    place = NodeRef(schema.id, schema.version_ids[0])
    window.selection.choose(Selected(place))
    texts: list[str] = []

    def reply(title: str, text: str, *_: object) -> str:
        texts.append(f"{title} {text}")
        return "remove"

    monkeypatch.setattr(dialogs, "ask", reply)
    window.commands.remove_version()
    assert schema.name in texts[0]
    assert "elements go with it" in texts[0]
    assert window.project.value.extraction.find_version(schema.version_ids[0]) is None
    assert window.selection.current == Selected(NodeRef(schema.id))


def test_the_version_of_the_side_that_was_chosen_last_is_removed_or_the_only_one(
    window: Window, told: list[str]
) -> None:
    document = window.project.value
    schema, entity = document.extraction.schemas()[0], document.cdm.named("payment")
    assert entity is not None
    source, target = NodeRef(schema.id, schema.version_ids[0]), NodeRef(entity.id, entity.version_ids[-1])
    remove = window.actions_table["remove_version"]
    for chosen, name in (
        (Selected(source), schema.name),
        (Selected(source, target), "payment"),
        (Selected(NodeRef(schema.id), target), "payment"),
        (Selected(source, target), schema.name),
        (Selected(source, NodeRef(entity.id)), schema.name),
    ):
        window.selection.choose(chosen)
        assert remove.isEnabled()
        remove.trigger()
        assert told[-1].startswith(f"Remove {name} ")


def test_the_menu_of_a_version_that_was_selected_already_removes_that_one(window: Window, told: list[str]) -> None:
    window.show_page(0)
    document = window.project.value
    schema, entity = document.extraction.schemas()[0], document.cdm.named("payment")
    assert entity is not None
    panels = (
        (window.map.targets, NodeRef(entity.id, entity.version_ids[0]), "payment"),
        (window.map.sources, NodeRef(schema.id, schema.version_ids[0]), schema.name),
    )
    for panel, place, _ in panels:
        panel.view.setCurrentIndex(panel.model.index_of(place))
    for panel, _, name in panels:
        panel._show_menu(QPoint())
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        action = next(each for each in menu.actions() if each.objectName() == "remove_version")
        menu.close()
        action.trigger()
        assert told[-1].startswith(f"Remove {name} ")


def test_removing_the_newest_version_of_an_entity_says_what_the_one_below_takes_over(
    window: Window, told: list[str]
) -> None:
    document = window.project.value
    entity = document.cdm.named("payment")
    assert entity is not None
    newest = entity.version_ids[-1]
    window.selection.choose(Selected(None, NodeRef(entity.id, newest)))
    window.commands.remove_version()
    before = document.matrix.ones
    assert window.project.do(RemoveVersion(Side.CDM, newest))
    after = window.project.value
    blocks = after.matrix.row_set(entity.version_ids[-2])
    held, gone = sum(len(block.elements) for block in blocks), before - after.matrix.ones
    assert f"{len(blocks)} blocks with {held} elements are carried to payment 1.0.0; {gone} element" in told[-1]


def test_a_selection_keeps_what_still_exists(window: Window) -> None:
    document = window.project.value
    schema = document.extraction.schemas()[0]
    gone = Selected(NodeRef(schema.id, schema.version_ids[0], 999_999), NodeRef(999_999))
    assert still_there(document, gone) == Selected(NodeRef(schema.id, schema.version_ids[0]), None)


def test_the_program_says_that_there_is_no_display(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert main.main([]) == 1
    assert "There is no display to open a window on." in capsys.readouterr().err


def test_a_display_that_does_not_answer_ends_in_a_hint() -> None:
    environment = {**os.environ, "DISPLAY": ":4711", "QT_QPA_PLATFORM": "xcb"}
    environment.pop("WAYLAND_DISPLAY", None)
    command = [sys.executable, "-m", "metl_gui.ui.main"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert "The window cannot be opened." in ended.stderr
    assert ended.stderr.strip().endswith("system libraries that Qt needs.")


def test_a_picture_of_a_project_needs_no_display(waiting_sample: SampleFolder, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    target = tmp_path / "pictures" / "window.png"
    command = [sys.executable, "-m", "metl_gui.ui.main", str(waiting_sample.project), "--screenshot", str(target)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert QImage(str(target)).width() == 1600


def test_confirming_by_key_on_another_page_only_shows_the_review(window: Window) -> None:
    state = window.project.value.state
    window.actions_table["confirm"].trigger()
    assert window.stack.currentWidget() is window.review
    assert window.project.value.state == state


@pytest.mark.usefixtures("dressed")
def test_a_dialog_says_title_text_and_hint_of_an_error() -> None:
    question = dialogs.QuestionDialog("Gone.", "The file is gone.\nLook elsewhere.", [("close", "Close")])
    question.buttons["close"].click()
    assert question.answer == "close"
    assert dialogs.words_of(MetlError("x"))[0] == "Something went wrong inside METL Workbench"
    question.deleteLater()
