"""The sheet of keys: every key of the table, searched as you type."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from metl_gui.ui import theme as themes
from metl_gui.ui.keys.keymap import Keymap
from metl_gui.ui.keys.table import KeyTable, lines_of
from metl_gui.ui.pill import KeyButton


class KeySheet(QDialog):
    """Lists the keys; a base for the dialog that changes them.

    Args:
        keymap: which action has which keys; followed while the sheet is open.
        with_unbound: list actions without keys too.
    """

    def __init__(self, keymap: Keymap, parent: QWidget | None = None, with_unbound: bool = False) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys")
        self.keymap = keymap
        self._with_unbound = with_unbound
        self.model = KeyTable(self)
        self.box = QLineEdit()
        self.box.setPlaceholderText("Find a key or what it does")
        self.box.setAccessibleName("Find a key or what it does")
        self.box.setClearButtonEnabled(True)
        self.view = _make_view(self.model)
        self.close_button = KeyButton("Close", "Esc")
        self.close_button.clicked.connect(self.reject)
        heading = QLabel("Keys")
        heading.setProperty("kind", "heading")
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(20, 18, 20, 16)
        self.body.setSpacing(10)
        self.body.addWidget(heading)
        self.body.addWidget(self.box)
        self.body.addWidget(self.view, 1)
        self.foot = QHBoxLayout()
        self.foot.addStretch(1)
        self.foot.addWidget(self.close_button)
        self.body.addLayout(self.foot)
        self.resize(themes.px(820), themes.px(620))
        self.box.setFocus()
        self.box.textChanged.connect(self.model.filter)
        keymap.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the keys as they are now."""
        self.model.show_lines(lines_of(self.keymap, self._with_unbound))


def _make_view(model: KeyTable) -> QTableView:
    view = QTableView()
    view.setAccessibleName("Keys")
    view.setModel(model)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setShowGrid(False)
    view.setTabKeyNavigation(False)
    view.verticalHeader().hide()
    view.verticalHeader().setDefaultSectionSize(themes.px(24))
    header = view.horizontalHeader()
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    header.setHighlightSections(False)
    header.resizeSection(0, themes.px(290))
    header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
    header.resizeSection(2, themes.px(150))
    return view
