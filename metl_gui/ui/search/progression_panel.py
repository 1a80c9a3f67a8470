"""Version progression: how the mapping of one schema changed from version to version, entity by entity."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QVBoxLayout, QWidget

from metl_gui.core.trees.nodes import Side
from metl_gui.ui import theme as themes
from metl_gui.ui.document import Changed, OpenProject
from metl_gui.ui.naming import number_of, schema_name
from metl_gui.ui.search.bar import AnswerBar
from metl_gui.ui.search.progression_delegate import ProgressDelegate
from metl_gui.ui.search.progression_model import ProgressionModel
from metl_gui.ui.selection import Selected, Selection, place_of_version
from metl_gui.ui.surface import Surface

_NARROWEST_PX = 132
_WIDEST_PX = 260
_HINT = "Select a schema to see how its mapping changed from version to version."


class ProgressionPanel(Surface):
    """The version progression of the selected schema.

    Signals:
        told: title and facts for its dock.
    """

    told = Signal(object)

    def __init__(self, project: OpenProject, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__("panel", (760, 260), parent, share=(1.0, 0.4))
        self._project = project
        self._selection = selection
        self._schema: int | None = None
        self._is_choosing = False
        self._is_stale = True
        self.bar = AnswerBar("the version progression", has_filter=False)
        self.model = ProgressionModel(self)
        self.view = _make_view(self.model)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 2, 10, 0)
        layout.setSpacing(6)
        layout.addWidget(self.bar)
        layout.addWidget(self.view, 1)
        self.dress()
        self.bar.unpinned.connect(self._follow)
        self.view.selectionModel().currentChanged.connect(self._chosen)
        self.view.clicked.connect(self._chosen)
        project.opened.connect(self._opened)
        project.changed.connect(self._changed)
        selection.changed.connect(self._selected)

    def ask(self, schema_id: int | None) -> None:
        """Show the progression of a schema."""
        self._schema = schema_id
        self._show()

    def dress(self) -> None:
        """Follow the scale."""
        header = self.view.horizontalHeader()
        header.setDefaultSectionSize(themes.px(_NARROWEST_PX))
        header.setMinimumSectionSize(themes.px(_NARROWEST_PX))
        header.setMaximumSectionSize(themes.px(_WIDEST_PX))
        header.resizeSections(QHeaderView.ResizeMode.ResizeToContents)
        self.view.verticalHeader().setDefaultSectionSize(themes.px(32))

    def showEvent(self, event: QShowEvent) -> None:
        """Ask when the panel is seen."""
        super().showEvent(event)
        if self._is_stale:
            self._follow()

    def _opened(self, _workbench: object) -> None:
        self.bar.pin.setChecked(False)
        self.ask(None)

    def _changed(self, _changed: Changed) -> None:
        if self._schema is not None and self._project.value.extraction.find_schema(self._schema) is None:
            self._schema = None
        self._show()

    def _follow(self) -> None:
        source = self._selection.current.source
        self.ask(source.schema if source is not None else self._schema)

    def _selected(self, selected: Selected) -> None:
        if self._is_choosing or self.bar.is_pinned or selected.source is None:
            return
        if selected.source.schema != self._schema:
            self.ask(selected.source.schema)
        else:
            self._show_current()

    def _show(self) -> None:
        self._is_stale = not self.isVisible()
        if self._is_stale:
            return
        document = self._project.value
        self._is_choosing = True
        try:
            self.model.show_schema(document, self._schema)
            self.dress()
            self._show_current()
        finally:
            self._is_choosing = False
        rows, columns = self.model.rowCount(), self.model.columnCount()
        fed = "It feeds no entity yet." if rows and not columns else ""
        self.bar.note.setText(_HINT if self._schema is None else fed)
        title, facts = "Version progression", ""
        if self._schema is not None:
            title += f" · {schema_name(document, Side.EXTRACTION, self._schema)}"
            facts = f"{number_of(rows, 'version')}, {columns} entit{'y' if columns == 1 else 'ies'}"
        self.told.emit((title, facts))

    def _show_current(self) -> None:
        """Stand on the selected block, or else on the newest one without choosing it."""
        key = self._selection.current.block
        index = self.model.index_of(key) if key is not None else QModelIndex()
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
        if not index.isValid():
            index = self.model.index(self.model.rowCount() - 1, 0)
            flags = QItemSelectionModel.SelectionFlag.Clear
        before, self._is_choosing = self._is_choosing, True
        self.view.selectionModel().setCurrentIndex(index, flags)
        self._is_choosing = before

    def _chosen(self, current: QModelIndex, _before: QModelIndex | None = None) -> None:
        if self._is_choosing or not current.isValid():
            return
        v, w = self.model.key(current)
        document = self._project.value
        source = place_of_version(document, Side.EXTRACTION, v)
        self._is_choosing = True
        try:
            self._selection.choose(Selected(source, place_of_version(document, Side.CDM, w)))
        finally:
            self._is_choosing = False


def _make_view(model: ProgressionModel) -> QTableView:
    view = QTableView()
    view.setModel(model)
    view.setItemDelegate(ProgressDelegate(view))
    view.setAccessibleName("Version progression")
    view.setShowGrid(False)
    view.setCornerButtonEnabled(False)
    view.setTabKeyNavigation(False)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    view.horizontalHeader().setHighlightSections(False)
    view.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideMiddle)
    view.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    view.verticalHeader().setHighlightSections(False)
    return view
