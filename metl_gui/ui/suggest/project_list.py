"""The list of suggestions over the whole project or the selected nodes: filtered, sorted, accepted many at once.

What is unlikely is folded away until somebody asks for it, and no key accepts it.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.blocks import Status
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.suggest.project_suggestions import ProjectSuggestions
from metl_gui.ui.suggest.rows import SUGGESTION_ROLES, SuggestionDelegate, SuggestionRow, SuggestionView, suggestion_row
from metl_gui.ui.suggest.suggestions import LEAST_GHOST, LEAST_OF_ALL
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.rows import RowsModel
from metl_gui.workbench.mapping.acceptance import plan_acceptance
from metl_gui.workbench.mapping.suggestions import NOT_MAPPED, Suggestion, SuggestionFilter, SuggestionOrder

_SCORES = (0.50, 0.70, LEAST_OF_ALL)
_STATUSES = ("", NOT_MAPPED, Status.CONFIRMED.value, Status.UNCONFIRMED.value, Status.NEEDS_REVIEW.value)


class ProjectSuggestionList(QWidget):
    """Shows ``ProjectSuggestions``.

    Signals:
        shown: what is listed, or chosen, is another.
        accepting: the tuple of ``Suggestion`` to look at before all of them are accepted, and the least score of them.
    """

    shown = Signal()
    accepting = Signal(object, float)

    def __init__(self, project: OpenProject, suggestions: ProjectSuggestions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._project, self._suggestions = project, suggestions
        self._is_refreshing = False
        self.listed: tuple[Suggestion, ...] = ()
        self.sure: tuple[Suggestion, ...] = ()
        self.model: RowsModel[SuggestionRow] = RowsModel(SUGGESTION_ROLES, self)
        self.view = SuggestionView()
        self.box = QLineEdit()
        self.score, self.status, self.order = ThemedComboBox(), ThemedComboBox(), ThemedComboBox()
        self.selected_only = KeyButton("Selected only", kind="switch")
        self.unlikely = KeyButton("", kind="link")
        self.accept_all = KeyButton("")
        self.empty = plain_label(kind="dim")
        self.stack = QStackedWidget()
        self._build()
        self.box.textChanged.connect(self.refresh)
        for choice in (self.score, self.status, self.order):
            choice.currentIndexChanged.connect(self.refresh)
        self.unlikely.toggled.connect(self.refresh)
        self.selected_only.toggled.connect(suggestions.follow_selection)
        self.accept_all.clicked.connect(self._look_at_all)
        self.view.selectionModel().selectionChanged.connect(self._chosen)
        suggestions.changed.connect(self.refresh)

    @property
    def current(self) -> SuggestionRow | None:
        """The row that is chosen."""
        chosen = self.view.selectionModel().selectedIndexes()
        return self.model.row_at(chosen[0]) if chosen else None

    @property
    def facts(self) -> str:
        """What the title line of the dock says."""
        if self._suggestions.is_looking:
            return "looking…"
        return f"{len(self.listed):,} suggested"

    @property
    def least(self) -> float:
        """The score from which on all are accepted at once: the one filtered by, else only what is nearly certain."""
        return float(self.score.currentData()) or LEAST_OF_ALL

    def refresh(self, _what: object = None) -> None:
        """Show what is found now."""
        if not self.isVisible():
            return
        document, found = self._project.value, self._suggestions.found
        order = SuggestionOrder(self.order.currentData())  # Qt gives it back as a plain text
        wanted = SuggestionFilter(self.box.text(), self.status.currentData(), self.score.currentData(), order)
        everything = wanted.of(document, found)
        likely = tuple(each for each in everything if each.score >= LEAST_GHOST)
        self.listed = everything if self.unlikely.isChecked() else likely
        self._show_rows()
        above = f"above {self.least:.2f}"
        self.sure = plan_acceptance(document, (each for each in everything if each.score >= self.least), above).accepted
        blocks = len({each.key for each in self.sure})
        words = f"Accept {len(self.sure):,} {above} in {number_of(blocks, 'block')}…"
        self.accept_all.setText(words if self.sure else f"Nothing {above}")
        self.accept_all.setEnabled(bool(self.sure) and self._project.can_edit and not self._suggestions.is_looking)
        self.accept_all.updateGeometry()
        fewer = len(everything) - len(likely)
        verb = "Fold away" if self.unlikely.isChecked() else "Show"
        self.unlikely.setText(f"{verb} {fewer:,} below {LEAST_GHOST:.2f}")
        self.unlikely.setVisible(fewer > 0)
        self.unlikely.updateGeometry()
        self.empty.setText("" if self.listed else self._why_empty())
        self.stack.setCurrentIndex(0 if self.listed else 1)
        self.shown.emit()

    def _show_rows(self) -> None:
        at = self.view.currentIndex().row() if self.current is not None else -1
        rows = tuple(suggestion_row(each) for each in self.listed)
        self._is_refreshing = True
        try:
            self.model.show_rows(rows)
            if at >= 0 and rows and self.current is None:
                self.view.setCurrentIndex(self.model.index(min(at, len(rows) - 1)))
        finally:
            self._is_refreshing = False

    def _why_empty(self) -> str:
        if self._suggestions.is_looking:
            return "Looking for suggestions…"
        if self._suggestions.is_stopped:
            return "The search was stopped. Switch to another part and back to search again."
        if self._suggestions.found:
            return "No suggestion is as the filter asks."
        if self._suggestions.follows_selection:
            return "Nothing that is free looks alike in what is selected."
        return "Nothing that is free looks alike."

    def _chosen(self, *_what: object) -> None:
        row = self.current
        if self._is_refreshing:
            return
        if row is not None and row.suggestion is not None:
            self._suggestions.go_to(row.suggestion)
        self.shown.emit()

    def _look_at_all(self) -> None:
        self.accepting.emit(self.sure, self.least)

    def _build(self) -> None:
        self.box.setPlaceholderText("Schema, entity or attribute")
        self.box.setAccessibleName("Filter suggestions by schema, entity or attribute")
        self.box.setClearButtonEnabled(True)
        self.score.addItem("Any", 0.0)
        for least in _SCORES:
            self.score.addItem(f"≥ {least:.2f}", least)
        self.score.setAccessibleName("Least score")
        self.score.setToolTip("Shows what is scored so or more, and lets all of it be accepted")
        for status in _STATUSES:
            self.status.addItem(status or "all blocks", status)
        self.status.setAccessibleName("Status of the blocks")
        for order in SuggestionOrder:
            self.order.addItem(f"↓ {order.value}", order)
        self.order.setAccessibleName("Sort by")
        for box in (self.score, self.status, self.order):
            box.setMinimumContentsLength(6)
            box.setSizeAdjustPolicy(ThemedComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.selected_only.setCheckable(True)
        self.selected_only.setToolTip("Suggestions of the selected nodes; one in each tree is a block")
        self.unlikely.setCheckable(True)
        self.empty.setWordWrap(True)
        self.empty.setMargin(12)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.view.setModel(self.model)
        self.view.setItemDelegate(SuggestionDelegate(self.view))
        self.view.setAccessibleName("Suggestions of the project")
        self.view.setMouseTracking(True)
        self.view.setUniformItemSizes(True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.stack.addWidget(self.view)
        self.stack.addWidget(self.empty)
        filters = QGridLayout()
        filters.setContentsMargins(12, 0, 12, 0)
        filters.setSpacing(6)
        filters.addWidget(self.box, 0, 0, 1, 2)
        filters.addWidget(self.selected_only, 0, 2)
        for column, choice in enumerate((self.score, self.status, self.order)):
            filters.addWidget(choice, 1, column)
            filters.setColumnStretch(column, 1)
        foot = QVBoxLayout()
        foot.setContentsMargins(12, 0, 12, 0)
        foot.setSpacing(6)
        for button in (self.unlikely, self.accept_all):
            foot.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addLayout(filters)
        layout.addWidget(self.stack, 1)
        layout.addLayout(foot)
