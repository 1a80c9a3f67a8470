"""Exports from the window: one dialog over all formats, which takes what is published."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QFileDialog, QLabel, QLineEdit

from metl_gui.ui.exports.dialog import ExportDialog
from metl_gui.ui.history.publish_dialog import PublishDialog
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.workbench.exports.formats import EXPORTS
from metl_gui.workbench.publishing.publication import live_state, publish
from metl_gui.workbench.session import Workbench

from .conftest import activate
from .held_jobs import HeldJobs

CONTROL = Qt.KeyboardModifier.ControlModifier


def ask(window: Window) -> ExportDialog:
    window.actions_table["export"].trigger()
    QApplication.processEvents()
    return next(dialog for dialog in window.findChildren(ExportDialog) if dialog.isVisible())


def choose(dialog: ExportDialog, name: str) -> None:
    """Go to a format by the keyboard."""
    dialog.formats.setFocus()
    QTest.keyClick(dialog.formats, Qt.Key.Key_Home)
    for _ in range(list(EXPORTS).index(name)):
        QTest.keyClick(dialog.formats, Qt.Key.Key_Down)
    assert dialog.chosen.name == name


def export(dialog: ExportDialog, place: Path) -> None:
    dialog.form.place.setText(str(place))
    QTest.keyClick(dialog, Qt.Key.Key_Return, CONTROL)


def field_of(dialog: ExportDialog, label: str) -> QLineEdit | ThemedComboBox:
    found = next(each for each in dialog.form.findChildren(QLabel) if each.text() == label)
    buddy = found.buddy()
    assert isinstance(buddy, QLineEdit | ThemedComboBox)
    return buddy


def test_the_export_is_the_live_state_and_not_what_is_on_the_screen(window: Window, tmp_path: Path) -> None:
    path, workbench = tmp_path / "out.json", window.project.workbench
    assert workbench is not None
    dialog = ask(window)
    choose(dialog, "json")
    export(dialog, path)
    live = live_state(workbench)
    assert live is not None
    assert json.loads(path.read_text())["state"] == live.state < window.project.value.state
    assert f"of state {live.state:,}" in dialog.outcome.text()
    dialog.reject()


def test_every_format_is_there_with_its_sentence_and_says_before_and_after_what_it_cannot_say(
    window: Window, tmp_path: Path
) -> None:
    dialog = ask(window)
    assert [export_.name for _, export_ in dialog.model.rows] == list(EXPORTS)
    for name in ("csv", "html", "xlsx"):
        choose(dialog, name)
        assert dialog.title.text() == EXPORTS[name].title
        assert (dialog.says_title.text(), dialog.says.sentences) == ("What it cannot say", EXPORTS[name].limits)
        export(dialog, tmp_path / f"a{EXPORTS[name].suffix}")
        assert dialog.outcome.text().startswith(f"✓ a{EXPORTS[name].suffix}: ")
        assert dialog.says_title.text() == "What it does not say"
        assert dialog.says.sentences[: len(EXPORTS[name].limits)] == EXPORTS[name].limits
    dialog.reject()


def test_what_is_chosen_reaches_the_file(window: Window, tmp_path: Path) -> None:
    workbench = window.project.workbench
    assert workbench is not None
    before = live_state(workbench)
    publish(workbench, name="next")
    dialog = ask(window)
    choose(dialog, "sssom")
    field = field_of(dialog, "Base")
    assert isinstance(field, QLineEdit)
    QTest.keyClicks(field, "https://data.example.org/")
    export(dialog, tmp_path / "a.tsv")
    assert before is not None
    assert '"https://data.example.org/schema/"' in (tmp_path / "a.tsv").read_text()
    dialog.form.state.setCurrentIndex(1)
    export(dialog, tmp_path / "b.tsv")
    assert f'mapping_set_version: "{before.state}"' in (tmp_path / "b.tsv").read_text()
    choose(dialog, "json")
    dialog.form.unconfirmed.setChecked(True)
    export(dialog, tmp_path / "c.json")
    assert json.loads((tmp_path / "c.json").read_text())["settings"]["include_unconfirmed"] is True
    dialog.reject()


def boxes_of_safe_cells(dialog: ExportDialog) -> list[QCheckBox]:
    QApplication.processEvents()
    return [each for each in dialog.form.findChildren(QCheckBox) if "formula" in each.text() and each.isVisible()]


def test_safe_cells_are_a_box_to_tick_of_tables_and_reach_the_file(window: Window, tmp_path: Path) -> None:
    dialog = ask(window)
    choose(dialog, "csv")
    for at, is_safe in enumerate((False, True)):
        (box,) = boxes_of_safe_cells(dialog)
        if is_safe:
            QTest.keyClick(box, Qt.Key.Key_Space)
        export(dialog, tmp_path / f"{at}.csv")
        header = (tmp_path / f"{at}.csv").read_text().splitlines()[0]
        assert header.endswith(",safe_cells") is is_safe
    choose(dialog, "json")
    assert boxes_of_safe_cells(dialog) == []
    dialog.reject()


def test_a_name_that_nobody_changed_follows_the_format_and_another_one_stays(window: Window) -> None:
    dialog = ask(window)
    choose(dialog, "xlsx")
    assert Path(dialog.form.place.text()).name == "fx.xlsx"
    choose(dialog, "spark")
    assert Path(dialog.form.place.text()).name == "fx-spark"
    assert dialog.form.place_label.text() == "Folder"
    dialog.form.place.setText("mine")
    choose(dialog, "csv")
    assert dialog.form.place.text() == "mine"
    workbench = window.project.workbench
    assert workbench is not None
    assert dialog.form.path == workbench.path.parent / "mine"
    dialog.form.place.clear()
    assert not dialog.do.isEnabled()
    dialog.reject()


def test_a_file_of_somebody_else_is_replaced_only_when_the_person_says_so(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("mine")
    asked: list[str] = []
    answers = ["keep", "replace"]

    def answer(title: str, *_: object) -> str:
        asked.append(title)
        return answers.pop(0)

    monkeypatch.setattr(dialogs, "ask", answer)
    dialog = ask(window)
    choose(dialog, "csv")
    export(dialog, path)
    assert path.read_text() == "mine"
    export(dialog, path)
    assert path.read_text().startswith("schema,")
    export(dialog, path)
    assert asked == ["mine.csv is there already"] * 2
    dialog.reject()


def test_stopping_writes_nothing_and_the_dialog_stays_for_another_try(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = HeldJobs()
    monkeypatch.setattr(window, "jobs", jobs)
    dialog = ask(window)
    choose(dialog, "json")
    export(dialog, tmp_path / "a.json")
    assert dialog.bar.isVisible()
    assert not dialog.form.isEnabled()
    assert dialog.leave.text() == "Stop"
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    jobs.release()
    assert list(tmp_path.glob("*a.json*")) == []
    assert dialog.isVisible()
    assert dialog.words.text() == "Stopped; nothing was written."
    export(dialog, tmp_path / "a.json")
    jobs.release()
    assert (tmp_path / "a.json").exists()
    dialog.reject()
    jobs.stop()
    jobs.deleteLater()


def test_a_place_that_cannot_be_written_is_told_and_the_dialog_stays(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(dialogs, "tell", lambda error, _parent: told.append(str(error)))
    dialog = ask(window)
    choose(dialog, "csv")
    export(dialog, tmp_path / "no" / "such" / "a.csv")
    assert len(told) == 1
    assert dialog.isVisible()
    assert dialog.do.isEnabled()
    assert dialog.outcome.isHidden()
    dialog.reject()


def test_the_folder_and_the_page_that_were_written_open(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_url(url: QUrl) -> bool:
        opened.append(url.toLocalFile())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    dialog = ask(window)
    choose(dialog, "html")
    export(dialog, tmp_path / "a.html")
    QTest.keyClick(dialog, Qt.Key.Key_O, CONTROL)
    QTest.mouseClick(dialog.open_file, Qt.MouseButton.LeftButton)
    assert opened == [str(tmp_path), str(tmp_path / "a.html")]
    dialog.reject()


def test_the_next_export_begins_where_the_last_one_was(window: Window, tmp_path: Path) -> None:
    dialog = ask(window)
    choose(dialog, "dusb")
    export(dialog, tmp_path / "a.dusb")
    dialog.reject()
    again = ask(window)
    assert again.chosen.name == "dusb"
    assert again.form.place.text() == str(tmp_path / "fx.dusb")
    again.reject()


def test_the_dialog_goes_with_the_project_it_is_about(window: Window, tmp_path: Path) -> None:
    dialog = ask(window)
    window.show_project(Workbench.create(tmp_path / "next.metl"))
    assert not dialog.isVisible()


def test_choosing_a_file_is_one_way_to_name_it(window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (str(tmp_path / "b.csv"), ""))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_, **__: "")
    dialog = ask(window)
    choose(dialog, "csv")
    QTest.mouseClick(dialog.form.browse, Qt.MouseButton.LeftButton)
    assert dialog.form.path == tmp_path / "b.csv"
    choose(dialog, "spark")
    QTest.mouseClick(dialog.form.browse, Qt.MouseButton.LeftButton)
    assert dialog.form.path == tmp_path / "b.csv"
    dialog.reject()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_words_of_the_dialog_are_cut_whatever_the_format(window: Window, tmp_path: Path, theme: str) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    themes.apply(app, themes.load(theme))
    activate(window)
    dialog = ask(window)
    for name in EXPORTS:
        choose(dialog, name)
        for _ in range(3):  # form, page and scroll area, each after the one within it
            QApplication.processEvents()
        for label in (dialog.title, *dialog.form.findChildren(QLabel)):
            assert label.width() >= label.minimumSizeHint().width(), (name, label.text())
            assert label.height() >= label.heightForWidth(label.width()) - 1, (name, label.text())
    assert dialog.grab().save(str(tmp_path / "dialog.png"))
    dialog.reject()


def test_an_export_without_a_published_state_offers_to_publish(
    make_window: Callable[[], Window], tmp_path: Path
) -> None:
    window = make_window()
    window.show_project(Workbench.create(tmp_path / "new.metl"))
    window.actions_table["export"].trigger()
    assert window.findChildren(ExportDialog) == []
    assert window.notice.words.text() == "Nothing is published yet, and exports take what is."
    QTest.mouseClick(window.notice.action, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    (dialog,) = (found for found in window.findChildren(PublishDialog) if found.isVisible())
    dialog.reject()
