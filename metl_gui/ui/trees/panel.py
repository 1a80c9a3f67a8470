"""A tree with its search box, joined to the window's selection."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPersistentModelIndex, QPointF, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QAbstractItemView, QLabel, QLineEdit, QTreeView, QVBoxLayout, QWidget

from metl_gui.core.nodes import Side
from metl_gui.ui import theme as themes
from metl_gui.ui.document import Changed, OpenProject
from metl_gui.ui.selection import Place, Selected, Selection
from metl_gui.ui.surface import Surface
from metl_gui.ui.trees.delegate import RowDelegate
from metl_gui.ui.trees.model import TreeModel
from metl_gui.ui.trees.query import parse

_FILTER_DELAY_MS = 150
_WIDTHS = {Side.EXTRACTION: 296, Side.CDM: 284}
_EXPANDED_WHEN_FILTERED = 3


class TreePanel(Surface):
    """One of the two trees.

    Signals:
        counted: ("shown" count, whole count) of schemas after opening, edits and filters.
    """

    counted = Signal(object)

    def __init__(self, side: Side, project: OpenProject, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__("panel", (_WIDTHS[side], 600), parent, share=(0.2, 1.0))
        self.side = side
        self._project = project
        self._selection = selection
        self._is_following = False
        self.model = TreeModel(side, self)
        name = "Extraction tree" if side is Side.EXTRACTION else "Canonical model tree"
        self.box = QLineEdit()
        self.box.setPlaceholderText("Filter   type:   is:unmapped   is:review")
        self.box.setAccessibleName(f"Filter the {name.lower()}")
        self.box.setClearButtonEnabled(True)
        self.note = QLabel()
        self.note.setProperty("kind", "small")
        self.note.setWordWrap(True)
        self.note.hide()
        self.view = _make_view(name, self.model)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_FILTER_DELAY_MS)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 2, 10, 0)
        layout.setSpacing(6)
        layout.addWidget(self.box)
        layout.addWidget(self.note)
        layout.addWidget(self.view, 1)
        self._timer.timeout.connect(self._filter)
        self.box.textChanged.connect(self._wait_for_letters)
        self.view.selectionModel().currentChanged.connect(self._chosen)
        project.opened.connect(self._opened)
        project.changed.connect(self._changed)
        selection.changed.connect(self._show_selected)

    def filter_now(self, text: str) -> None:
        """Filter without waiting for more letters."""
        self.box.setText(text)
        self._timer.stop()
        self._filter()

    def _wait_for_letters(self, _text: str) -> None:
        self._timer.start()

    def _opened(self, _workbench: object) -> None:
        self.model.show_document(self._project.value)
        if self._project.value.tree(self.side).schemas():
            self._expand_first()
        self._tell()

    def _changed(self, changed: Changed) -> None:
        self._is_following = True  # a row that goes hands its place on, which is nobody's choice
        try:
            self.model.follow(changed)
        finally:
            self._is_following = False
        self._tell()

    def _filter(self) -> None:
        query = parse(self.box.text())
        self.model.filter(query)
        if query.is_empty:
            self._expand_first()
            self._show_selected(self._selection.current)
        else:
            self.view.expandToDepth(_EXPANDED_WHEN_FILTERED)
        self._tell()
        self.note.setText(f"Not understood: {', '.join(query.unknown)}")
        self.note.setVisible(bool(query.unknown))
        if not query.unknown and not self.model.rowCount():
            self.note.setText("Nothing passes this filter.")
            self.note.setVisible(not query.is_empty)

    def _expand_first(self) -> None:
        if self.side is Side.EXTRACTION:
            self.view.expandToDepth(0)
        else:
            self.view.expand(self.model.index(0, 0))
            self.view.expand(self.model.index(1, 0))

    def _tell(self) -> None:
        self.counted.emit(self.model.shown_count)

    def _chosen(self, current: QModelIndex, _before: QModelIndex) -> None:
        place = self.model.place(current) if current.isValid() else None
        if self._is_following or place is None:
            return
        self._selection.choose(self._selection.current.with_place(self.side, place))

    def _show_selected(self, selected: Selected) -> None:
        place = selected.on(self.side)
        self._is_following = True
        try:
            if place is None:
                self.view.selectionModel().clear()
            else:
                self._go_to(place)
        finally:
            self._is_following = False

    def _go_to(self, place: Place) -> None:
        index = self.model.index_of(place)
        if index.isValid() and index != self.view.currentIndex():
            self.view.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            self.view.scrollTo(index, QAbstractItemView.ScrollHint.EnsureVisible)


class _Tree(QTreeView):
    """A tree view with plain triangles in the colour of the text."""

    def drawBranches(self, painter: QPainter, rect: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        """Draw a triangle beside what can be opened, on the row's own ground."""
        theme = themes.current()
        if self.selectionModel().isSelected(index):
            painter.fillRect(rect, theme.sel)
        if not self.model().hasChildren(index):
            return
        x, y = rect.right() - 7.0, rect.center().y() + 0.5
        shape = [QPointF(x - 3.5, y - 2), QPointF(x + 3.5, y - 2), QPointF(x, y + 2.5)]
        if not self.isExpanded(index):
            shape = [QPointF(x - 2, y - 3.5), QPointF(x - 2, y + 3.5), QPointF(x + 2.5, y)]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.dim)
        painter.drawPolygon(shape)
        painter.restore()


def _make_view(name: str, model: TreeModel) -> QTreeView:
    view = _Tree()
    view.setAccessibleName(name)
    view.setModel(model)
    view.setItemDelegate(RowDelegate(view))
    view.setHeaderHidden(True)
    view.setUniformRowHeights(True)
    view.setIndentation(14)
    view.setMouseTracking(True)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    return view
