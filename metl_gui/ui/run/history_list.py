"""The list of runs: one is shown, two are compared."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPoint, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QListView, QMenu, QVBoxLayout, QWidget

from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label
from metl_gui.ui.run.history_model import ENTRY_ROLE, HistoryEntry, HistoryModel
from metl_gui.ui.two_lines import TwoLineDelegate

_NOTHING = "Runs stand here, the newest first. A test run maps your sample messages with what is on the screen."
_PAIR = 2


class HistoryList(QWidget):
    """A heading, the list, and what is done with two of its rows.

    Signals:
        chosen: the ``HistoryEntry`` that is to be shown.
        comparison_wanted: two ``HistoryEntry``s, the older one first.
    """

    chosen = Signal(object)
    comparison_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = HistoryModel(self)
        self.view = QListView()
        self.view.setModel(self.model)
        self.view.setAccessibleName("Run history")
        self.view.setItemDelegate(TwoLineDelegate(self.view))
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.setUniformItemSizes(True)
        self.compare = KeyButton("Compare", kind="link")
        self.compare.set_height(22)
        self.nothing = plain_label(_NOTHING, "small")
        self.nothing.setWordWrap(True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.nothing.setContentsMargins(12, 2, 12, 0)
        self._waits_for_second: HistoryEntry | None = None
        self._build()
        self.view.selectionModel().selectionChanged.connect(self._selected)
        self.view.activated.connect(self._activated)
        self.view.customContextMenuRequested.connect(self._show_menu)
        self.compare.clicked.connect(self.compare_selected)
        self._say()

    def show_entries(self, entries: Sequence[HistoryEntry]) -> None:
        """List other runs; the selected ones stay selected where they are still there."""
        before = [entry.run_id for entry in self.selected]
        self.model.show_entries(entries)
        if before and [entry.run_id for entry in self.selected] != before:
            self._select(before)
        self.view.setVisible(bool(entries))
        self.nothing.setVisible(not entries)
        self._say()

    def select(self, run_id: str) -> None:
        """Select a run without showing it."""
        self._select([run_id])

    @property
    def selected(self) -> tuple[HistoryEntry, ...]:
        """The selected runs, the older one first."""
        rows = sorted((index.row() for index in self.view.selectionModel().selectedRows()), reverse=True)
        return tuple(self.model.entries[row] for row in rows)

    def compare_selected(self) -> None:
        """Compare two selected runs; with one selected, the next one that is clicked is compared with it."""
        pair = self.selected
        if len(pair) == _PAIR:
            self._waits_for_second = None
            self.comparison_wanted.emit(pair)
        elif len(pair) == 1:
            self._waits_for_second = pair[0]
            self.view.setFocus()
        self._say()

    def changeEvent(self, event: QEvent) -> None:
        """Lay the rows out again for another font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "view"):
            self.view.scheduleDelayedItemsLayout()

    def _select(self, run_ids: Sequence[str]) -> None:
        choice = self.view.selectionModel()
        choice.blockSignals(True)
        choice.clearSelection()
        for row in (self.model.row_of(run_id) for run_id in run_ids):
            if row >= 0:
                choice.setCurrentIndex(self.model.index(row), QItemSelectionModel.SelectionFlag.Select)
        choice.blockSignals(False)
        self.view.viewport().update()
        self._say()

    def _selected(self) -> None:
        pair, first = self.selected, self._waits_for_second
        if len(pair) == 1 and first is not None and pair[0].run_id != first.run_id:
            self._waits_for_second = None
            self._select([first.run_id, pair[0].run_id])
            self.comparison_wanted.emit(self.selected)
        elif len(pair) == 1 and first is None:
            self.chosen.emit(pair[0])
        self._say()

    def _activated(self, index: QModelIndex) -> None:
        entry = index.data(ENTRY_ROLE)
        if len(self.selected) == _PAIR:
            self.compare_selected()
        elif isinstance(entry, HistoryEntry):
            self.chosen.emit(entry)

    def _say(self) -> None:
        """Say what the button does now."""
        many = len(self.selected)
        waits = self._waits_for_second is not None and many == 1
        words = {1: "Compare with…", _PAIR: "Compare these two"}.get(many, "")
        self.compare.setText("Choose the other one" if waits else words)
        self.compare.setVisible(bool(words) and len(self.model.entries) > 1)
        self.compare.updateGeometry()

    def _show_menu(self, at: QPoint) -> None:
        if self.selected and len(self.model.entries) > 1:
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction(self.compare.text()).triggered.connect(self.compare_selected)
            menu.popup(self.view.viewport().mapToGlobal(at))

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(12, 0, 8, 0)
        head.addWidget(plain_label("History", "panelTitle"))
        head.addStretch(1)
        head.addWidget(self.compare)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self.nothing, 1)
        layout.addWidget(self.view, 1)
