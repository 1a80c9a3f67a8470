"""The sheet that says what schemas which are not live yet would do; it changes nothing itself."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from metl_gui.core.trees.nodes import Side
from metl_gui.ui import theme as themes
from metl_gui.ui.incoming.trial import Finding, details_of, heading_of, rows_of, sentence_of, text_of
from metl_gui.ui.owners.line_model import LineModel, line_view
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label
from metl_gui.workbench.trying import Trial

_SIZE, _DETAILS_PX = (760, 560), 96


class TrialSheet(QDialog):
    """What would be lost, one row each, and all of the current one below.

    Args:
        trial: what was found.
        side: the tree that was tried.
        why_not: why the versions cannot be added now, empty when they can.

    Signals:
        add_wanted: add the versions that were tried; connect it queued, so that the sheet is closed by then.
    """

    add_wanted = Signal(object)

    def __init__(self, trial: Trial, side: Side, why_not: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Only tried")
        self._trial, self._side = trial, side
        self.heading = plain_label(heading_of(trial), "title")
        self.sentence = plain_label(sentence_of(trial), "dim")
        self.model: LineModel[Finding] = LineModel(self)
        self.view = line_view(self.model, "What would be lost")
        self.details = plain_label()
        self.add = KeyButton("Add them now", kind="" if trial.blocks else "primary")
        self.add.setEnabled(bool(trial.added) and not why_not)
        self.add.setToolTip(why_not)
        self.copy = KeyButton("Copy as text")
        self.cancel = KeyButton("Close", "Esc")
        self._build()
        self.add.clicked.connect(self._add)
        self.copy.clicked.connect(self._copy)
        self.cancel.clicked.connect(self.reject)
        self.view.selectionModel().currentChanged.connect(self._show_details)
        self.model.show_rows(rows_of(trial))
        self._first()

    def _build(self) -> None:
        for label in (self.heading, self.sentence, self.details):
            label.setWordWrap(True)
        self.details.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.details.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.details.setContentsMargins(12, 8, 12, 8)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(self.details)
        area.setAccessibleName("The chosen one in detail")
        foot = QHBoxLayout()
        foot.addWidget(self.copy)
        foot.addStretch(1)
        for button in (self.add, self.cancel):
            foot.addWidget(button)
        for button in (self.add, self.copy, self.cancel):
            button.setAutoDefault(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 18, 20, 16)
        layout.setSpacing(10)
        layout.addWidget(self.heading)
        layout.addWidget(self.sentence)
        has_rows = bool(self._trial.blocks or self._trial.sources_lost)
        if has_rows:
            area.setMinimumHeight(themes.px(_DETAILS_PX))
            layout.addWidget(self.view, 4)
            layout.addWidget(area, 1)
            self.resize(*(themes.px(length) for length in _SIZE))
        else:
            self.details.setText("\n".join(f"{each.source}: {each.reason}" for each in self._trial.refused))
            layout.addWidget(area, 1)
            area.setVisible(bool(self._trial.refused))
            self.setMinimumWidth(themes.px(_SIZE[0] * 2 // 3))
        layout.addLayout(foot)

    def _first(self) -> None:
        if self.model.rows:
            flag = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self.view.selectionModel().setCurrentIndex(self.model.index(0, 0), flag)
            self.view.setFocus()
        else:
            self.cancel.setFocus()

    def _show_details(self, index: QModelIndex) -> None:
        found = self.model.at(index)
        self.details.setText(details_of(found) if found is not None else "")

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(text_of(self._trial))

    def _add(self) -> None:
        self.accept()
        self.add_wanted.emit(self._side)
