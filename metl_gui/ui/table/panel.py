"""The mapping list: filter box, columns, sorting, copying, clearing; joined to the window's selection."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from metl_gui.core.changes.draft import Transition
from metl_gui.core.counted import number_of
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.search.query import Query, parse
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.jobs.timers import pause
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.panel_updater import PanelUpdater
from metl_gui.ui.project.selection import Selected, Selection, place_of_version
from metl_gui.ui.project.settings import ViewSettings
from metl_gui.ui.table.rows import MappingColumn, MappingRows, Rows
from metl_gui.ui.table.view import COLUMNS, MappingModel, MappingView, RowCopier
from metl_gui.ui.trees.panel import FILTER_HELP
from metl_gui.ui.widgets.dock import Surface
from metl_gui.ui.widgets.hint_line import HintLine
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.window_words import in_window
from metl_gui.workbench.session import EditOrigin

AT_ONCE = 300_000
"""Up to so many elements are filtered and sorted between two frames; more are a job."""

MOST_BLOCKS_AT_ONCE = 100
"""Elements of so many blocks are cleared at once; more are a job."""

_FILTER_DELAY_MS = 60
_SORTING = "Sorting the mapping list"
_COLUMNS_KEPT = "mappingColumns"
_AT_FIRST = (MappingColumn.ENTITY_VERSION, MappingColumn.CDM_TYPE, MappingColumn.COMMENT)


class MappingPanel(Surface):
    """The table twin of the matrix.

    Signals:
        told: words for the title of its dock: how many rows it shows.
        said: what came of copying or clearing.

    Args:
        jobs: where large projects are sorted and filtered.
        settings: where the columns are kept.
    """

    told = Signal(object)
    said = Signal(object)

    def __init__(
        self,
        project: OpenProject,
        selection: Selection,
        jobs: Jobs,
        settings: ViewSettings,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("panel", (900, 260), parent, share=(1.0, 0.4))
        self._settings = settings
        self._is_laid_out = False
        self._project = project
        self._selection = selection
        self._jobs = jobs
        self._sorting = NewestJob(jobs, self)
        self._known: MappingRows | None = None
        self._query = Query()
        self._order: tuple[MappingColumn, bool] = (MappingColumn.SCHEMA, False)
        self._is_following = False
        self.model = MappingModel(self)
        self.view = MappingView(self.model)
        self.copier = RowCopier(self.model, self.view)
        self._build()
        self._timer = pause(self, _FILTER_DELAY_MS, self._filter)
        self.box.textChanged.connect(self._wait_for_letters)
        self.view.selectionModel().currentRowChanged.connect(self._chosen)
        self.view.clicked.connect(self._chosen)
        self.view.horizontalHeader().sectionClicked.connect(self._sort_by_section)
        self.view.clear_wanted.connect(self.clear)
        self.view.copy_wanted.connect(self.copier.copy)
        self.copier.said.connect(self.said)
        project.opened.connect(self._opened)
        self._updater = PanelUpdater(project, self, self._refresh)
        project.commented.connect(self._updater.schedule)
        selection.changed.connect(self._show_selected)
        self._updater.schedule()

    # what people do

    def filter_now(self, text: str) -> None:
        """Filter without waiting for more letters."""
        self.box.setText(text)
        self._timer.stop()
        self._filter()

    def sort_by(self, column: MappingColumn, is_descending: bool = False) -> None:
        """Sort by one column."""
        self._order = column, is_descending
        self._updater.schedule()

    def show_column(self, column: MappingColumn, is_shown: bool) -> None:
        """Show or hide one column."""
        self.view.setColumnHidden(COLUMNS.index(column), not is_shown)

    def clear(self) -> None:
        """Set the selected elements to zero, as one undo step; a great many in a job."""
        mapping, rows = self.model.mapping, self.view.chosen_rows()
        workbench = self._project.workbench
        if mapping is None or workbench is None or not len(rows):
            return
        blocks = mapping.elements(self.model.rows[rows])
        edits = tuple(SetElements(key, zeros=tuple(elements)) for key, elements in blocks.items())
        words = number_of(len(rows), "element")
        edit = edits[0] if len(rows) == 1 else CompositeEdit(f"Clear {words}", edits)
        if len(edits) <= MOST_BLOCKS_AT_ONCE or not self._project.can_edit:
            if self._project.do(edit):
                self.said.emit(f"{words} cleared")
            return

        def done(outcome: JobOutcome[Transition]) -> None:
            self._project.catch_up()
            if outcome.error is not None:
                self._project.refused.emit(outcome.error)
            elif outcome.value is not None:
                self.said.emit(f"{words} cleared")

        self._jobs.start(f"Clearing {words}", lambda _watch: workbench.do(edit, EditOrigin.WINDOW), done)

    # building

    def _build(self) -> None:
        self.box = HintLine("Filter   is:review   type:   in:   changed:   who or comment")
        self.box.setToolTip(FILTER_HELP)
        self.box.setAccessibleName("Filter the mapping list")
        self.box.setClearButtonEnabled(True)
        self.box.setMaximumWidth(520)
        self.note = plain_label(kind="small")
        self.columns = _quiet("Columns ▾", "Choose columns and what to sort by")
        self.copying = _quiet("Copy", "Copy the selected rows (Ctrl+C)")
        self.clearing = _quiet("Clear", "Clear the selected elements (Delete)")
        self.pin = _quiet("Pin", "Keep the rows where they are when something is selected elsewhere")
        self.pin.setCheckable(True)
        bar = QHBoxLayout()
        bar.setSpacing(4)
        bar.addWidget(self.box, 3)
        bar.addWidget(self.note)
        bar.addStretch(1)
        for button in (self.columns, self.copying, self.clearing, self.pin):
            bar.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 2, 10, 0)
        layout.setSpacing(6)
        layout.addLayout(bar)
        layout.addWidget(self.view, 1)
        for column in _AT_FIRST:
            self.show_column(column, False)
        self.columns.clicked.connect(self._choose_columns)
        self.copying.clicked.connect(self.copier.copy)
        self.clearing.clicked.connect(self.clear)
        header = self.view.horizontalHeader()
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._menu_at_header)

    def column_menu(self) -> QMenu:
        """Make the menu of columns."""
        menu = QMenu(self)
        for at, column in enumerate(COLUMNS):
            action = menu.addAction(column.value)
            action.setCheckable(True)
            action.setChecked(not self.view.isColumnHidden(at))
            action.toggled.connect(lambda is_shown, column=column: self.show_column(column, is_shown))
        sorting = menu.addMenu("Sort by")
        for column in COLUMNS:
            is_now = column is self._order[0]
            action = sorting.addAction(column.value + ("  ↓" if is_now and self._order[1] else "  ↑" if is_now else ""))
            action.triggered.connect(lambda _checked=False, column=column: self._sort_again(column))
        return menu

    def _choose_columns(self) -> None:
        self.column_menu().popup(self.columns.mapToGlobal(QPoint(0, self.columns.height())))

    def _menu_at_header(self, at: QPoint) -> None:
        self.column_menu().popup(self.view.horizontalHeader().mapToGlobal(at))

    # what is shown

    def hideEvent(self, event: QHideEvent) -> None:
        """Keep the columns."""
        super().hideEvent(event)
        if self._is_laid_out:
            self._settings.save_layout(_COLUMNS_KEPT, self.view.horizontalHeader().saveState())

    def _opened(self, _workbench: object) -> None:
        self._known = None
        self.model.show_rows(None, np.zeros(0, np.int32))
        self._updater.schedule()

    def _wait_for_letters(self, _text: str) -> None:
        self._timer.start()

    def _filter(self) -> None:
        self._query = parse(self.box.text())
        self._updater.schedule()

    def _sort_by_section(self, section: int) -> None:
        self._sort_again(COLUMNS[section])

    def _sort_again(self, column: MappingColumn) -> None:
        self.sort_by(column, column is self._order[0] and not self._order[1])

    def _refresh(self) -> None:
        """Filter and sort again; a large project in a job, whose rows appear when it ends.

        The list is read when it is first seen, with the columns as they were left.
        """
        state = self._settings.layout(_COLUMNS_KEPT) if not self._is_laid_out else None
        self._is_laid_out = True
        if state is not None:
            self.view.horizontalHeader().restoreState(state)
        document = self._project.value
        mapping = self._mapping()
        query, order = self._query, self._order
        self._sorting.cancel()
        if document.matrix.ones <= AT_ONCE:
            self._show(mapping, _arranged(mapping, query, order, UNWATCHED))
            return
        self.note.setText("Sorting…")

        def done(outcome: JobOutcome[Rows]) -> None:
            if outcome.value is not None:
                self._show(mapping, outcome.value)
            elif outcome.error is not None:
                self.note.setText(in_window(str(outcome.error)))
            else:
                self.note.setText("Sorting was stopped: the rows are those of before.")

        self._sorting.start(_SORTING, lambda watch: _arranged(mapping, query, order, watch), done)

    def _mapping(self) -> MappingRows:
        """Return the rows of the document, with what was worked out for them as long as it is the same."""
        document, comments, known = self._project.value, self._project.comments(), self._known
        if known is None or known.document is not document or known.comments is not comments:
            known = self._known = MappingRows(document, comments)
        return known

    def _show(self, mapping: MappingRows, rows: Rows) -> None:
        header = self.view.horizontalHeader()
        direction = Qt.SortOrder.DescendingOrder if self._order[1] else Qt.SortOrder.AscendingOrder
        header.setSortIndicator(COLUMNS.index(self._order[0]), direction)
        self._is_following = True
        try:
            self.model.show_rows(mapping, rows)
        finally:
            self._is_following = False
        whole = mapping.document.matrix.ones
        unknown = f"Not understood: {', '.join(self._query.unknown)}" if self._query.unknown else ""
        nothing = "Nothing passes this filter." if whole else "Nothing is mapped yet."
        self.note.setText(unknown or ("" if len(rows) else nothing))
        all_of_them = number_of(whole, "element")
        self.told.emit(all_of_them if len(rows) == whole else f"{len(rows):,} of {all_of_them}")
        self._show_selected(self._selection.current)

    # selection

    def _chosen(self, current: QModelIndex, _before: QModelIndex | None = None) -> None:
        where = self.model.where(current.row()) if current.isValid() else None
        if self._is_following or where is None:
            return
        document, (v, w) = self._project.value, where.block.key
        source = place_of_version(document, Side.EXTRACTION, v, where.element.p)
        target = place_of_version(document, Side.CDM, w, where.element.q)
        self._selection.choose(Selected(source, target))

    def _show_selected(self, selected: Selected) -> None:
        """Stand on the selected element; without one on the first row, which the view would choose by itself."""
        mapping = self.model.mapping
        if self.pin.isChecked() or not self.isVisible() or mapping is None:
            return
        number = -1
        if selected.block is not None and selected.element is not None:
            number = mapping.row_of(selected.block, selected.element)
        row = self.model.row_at(number) if number >= 0 else -1
        if row < 0 and self.view.currentIndex().isValid():
            return
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        is_elsewhere = row != self.view.currentIndex().row()
        self._is_following = True
        try:
            if row < 0:
                self.view.selectionModel().setCurrentIndex(
                    self.model.index(0, 0), QItemSelectionModel.SelectionFlag.NoUpdate
                )
            elif is_elsewhere:
                self.view.selectionModel().setCurrentIndex(self.model.index(row, 0), flags)
        finally:
            self._is_following = False
        if is_elsewhere and row >= 0:
            self.view.stand_on(row)


def _arranged(mapping: MappingRows, query: Query, order: tuple[MappingColumn, bool], watch: Watch) -> Rows:
    """Filter and sort."""
    rows = mapping.passing(query, lambda: watch.step(_SORTING))
    watch.step(_SORTING)
    return mapping.ordered(rows, *order)


def _quiet(words: str, tip: str) -> QPushButton:
    button = QPushButton(words)
    button.setProperty("kind", "quiet")
    button.setToolTip(tip)
    return button
