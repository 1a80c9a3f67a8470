"""Names come from other people's files: markup and ampersands in them are letters, in every label, tooltip and menu."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex
from PySide6.QtGui import Qt, QTextDocument, QTextLayout, QTextLine
from PySide6.QtWidgets import QAbstractItemView, QApplication, QDockWidget, QLabel, QWidget

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.project.selection import Selected, place_of_version
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets.pill import Pill
from metl_gui.ui.widgets.plain_text import left_to_right, plain_label, plain_tip
from metl_gui.workbench.session import Workbench


@pytest.fixture
def empty(make_window: Callable[[], Window], tmp_path: Path) -> Window:
    """Return a window on a new project."""
    window = make_window()
    window.show_project(Workbench.create(tmp_path / "new.metl"))
    return window


def markup_in(window: Window) -> list[str]:
    """Return the labels and tooltips that Qt would lay out as markup of the names' own."""
    labels = [
        label.text()
        for label in window.findChildren(QLabel)
        if label.textFormat() is not Qt.TextFormat.PlainText and not isinstance(label, Pill)
    ]
    tips = [widget.toolTip() for widget in window.findChildren(QWidget)]
    for view in window.findChildren(QAbstractItemView):
        tips += [
            str(index.data(Qt.ItemDataRole.ToolTipRole) or "") for index in rows_below(view.model(), QModelIndex())
        ]
    return [text for text in labels + tips if "<img" in text]


def rows_below(model: QAbstractItemModel, parent: QModelIndex) -> Iterator[QModelIndex]:
    for row in range(model.rowCount(parent)):
        for column in range(1 if isinstance(model, QAbstractListModel) else model.columnCount(parent)):
            yield model.index(row, column, parent)
        yield from rows_below(model, model.index(row, 0, parent))


def test_a_name_that_looks_like_markup_is_shown_to_the_letter_wherever_it_stands(empty: Window) -> None:
    name = "<b>x</b><img src='/etc/hostname'>"
    for side in Side:
        attributes = tuple(AttributeDeclaration(f"{name}{i}", "string", doc=name) for i in range(3))
        assert empty.project.do(AddVersion(side, VersionDeclaration(f"{name}.{side.value}", attributes, label=name)))
    document = empty.project.value
    key = (document.extraction.version(1).id, document.cdm.version(1).id)
    assert empty.project.do(SetElements(key, ones=(Element(1, 1),)))
    source, target = (place_of_version(document, side, 1, 1) for side in (Side.EXTRACTION, Side.CDM))
    for dock in empty.findChildren(QDockWidget):
        dock.show()
        dock.raise_()
        empty.selection.choose(Selected(source))
        empty.selection.choose(Selected(source, target))
        QApplication.processEvents()
        assert markup_in(empty) == []
    empty.show_page(1)
    QApplication.processEvents()
    assert markup_in(empty) == []
    assert "<img" not in empty.map.matrix.tip(empty.selection.current)


def test_an_ampersand_in_a_name_is_no_key_of_the_menu(empty: Window) -> None:
    declared = VersionDeclaration("R&D.a", (AttributeDeclaration("id", "string"),))
    assert empty.project.do(AddVersion(Side.EXTRACTION, declared))
    undo = empty.actions_table["undo"]
    assert "R&&D.a" in undo.text()


@pytest.mark.parametrize("words", ["<b>x</b>", "a <i>b</i>\n2 versions", "<img src=x>"])
def test_a_tooltip_of_words_that_look_like_markup_has_every_letter_and_line_of_them(words: str) -> None:
    document = QTextDocument()
    document.setHtml(plain_tip(words))
    assert document.toPlainText() == words


def test_a_tooltip_of_plain_words_stays_as_it_is() -> None:
    assert plain_tip("a < b, 2 versions") == "a < b, 2 versions"


LONG = "customer_relationship_management_of_the_whole_enterprise.master_record_with_every_extension"


def test_panels_keep_their_widths_whatever_a_chosen_schema_is_called(empty: Window) -> None:
    fields = (AttributeDeclaration(f"{LONG}.id", "string"),)
    for name in (LONG, "b"):
        assert empty.project.do(AddVersion(Side.EXTRACTION, VersionDeclaration(name, fields)))
    assert empty.project.do(AddVersion(Side.CDM, VersionDeclaration(LONG.replace(".", "_"), fields)))
    document, page = empty.project.value, empty.map
    empty.resize(1440, 900)
    target = place_of_version(document, Side.CDM, 1)
    widths = []
    for version in (2, 1):
        empty.selection.choose(Selected(place_of_version(document, Side.EXTRACTION, version), target))
        for _ in range(3):
            QApplication.processEvents()
        widths.append([dock.width() for dock in (page.source_dock, page.target_dock, page.block_dock)])
    assert widths[0] == widths[1]
    assert LONG in next(each for each in empty.preview.dock.findChildren(QLabel) if "No samples" in each.text()).text()


@pytest.mark.usefixtures("dressed")
@pytest.mark.parametrize("name", [LONG, "x" * 200])
def test_a_label_that_wraps_breaks_a_name_that_is_longer_than_it(name: str) -> None:
    label = plain_label(f"No samples of {name} yet")
    label.setWordWrap(True)
    assert label.minimumSizeHint().width() < 250
    assert label.text() == f"No samples of {name} yet"


@pytest.mark.usefixtures("dressed")
@pytest.mark.usefixtures("qapp")
def test_what_can_be_selected_is_copied_to_the_letter() -> None:
    words = "metl://0123456789abcdef0123456789abcdef/orders.of.a.very.long.name and \u05d0\u05d1 → b"
    label = plain_label(words)
    assert QLabel.text(label) != words
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    for shown in (words, words[5:]):
        label.setText(shown)
        label.setSelection(0, len(QLabel.text(label)))
        assert label.selectedText() == label.text() == shown
    label.clear()
    assert label.text() == ""


def test_a_name_written_from_right_to_left_does_not_turn_its_sentence_round() -> None:
    words = "\u0641\u0627\u062a\u0648\u0631\u0629 1 → \u05d7\u05e9\u05d1\u05d5\u05df 2"
    layout = QTextLayout(left_to_right(words))
    layout.beginLayout()
    line = layout.createLine()
    layout.endLayout()
    schema, arrow, entity = (_x(line, layout.text().index(each)) for each in (words[0], "→", words[-6]))
    assert schema < arrow < entity
    assert left_to_right("a 1 → b 2") == "a 1 → b 2"
    label = plain_label(f"{words[0]} was removed")
    assert label.text() == f"{words[0]} was removed"
    assert not QLabel.text(label)[0].isalpha()  # a mark in front: Qt goes by the first letter


def _x(line: QTextLine, at: int) -> float:
    found: Any = line.cursorToX(at)
    return float(found[0] if isinstance(found, tuple) else found)
