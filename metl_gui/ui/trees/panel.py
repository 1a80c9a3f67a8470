"""A tree with its search box, joined to the window's selection."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPersistentModelIndex, QPointF, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QLabel, QLineEdit, QTreeView, QVBoxLayout, QWidget

from metl_gui.core.nodes import Side
from metl_gui.core.query import Query, parse
from metl_gui.ui import theme as themes
from metl_gui.ui.document import Changed, OpenProject
from metl_gui.ui.selection import Place, Selected, Selection
from metl_gui.ui.surface import Surface
from metl_gui.ui.trees.delegate import RowDelegate
from metl_gui.ui.trees.funnel import Funnel
from metl_gui.ui.trees.model import TreeModel

_FILTER_DELAY_MS = 60
_WIDTHS = {Side.EXTRACTION: 296, Side.CDM: 284}
FILTER_HELP = """Words must stand in a path or a name; "quoted words" stay together; -word leaves out.
type:int  a type
is:unmapped  is:mapped  is:review  is:new  is:required  is:key  is:masked  is:commented
changed:new  changed:removed  changed:type  since the version before
in:orders  only in schemas or entities of that name"""
_ROWS_OPENED = 200
"""So many rows are opened by themselves: Qt lays out every open row, which costs seconds when they are a million."""


class TreePanel(Surface):
    """One of the two trees.

    Signals:
        counted: ("shown" count, whole count) of schemas after opening, edits and filters.
        narrowed: the ``FilterResult`` that the matrix is to show too, ``None`` for everything.
    """

    counted = Signal(object)
    narrowed = Signal(object)

    def __init__(self, side: Side, project: OpenProject, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__("panel", (_WIDTHS[side], 600), parent, share=(0.2, 1.0))
        self.side = side
        self._project = project
        self._selection = selection
        self._is_following = False
        self._is_narrowed = False
        self.model = TreeModel(side, self)
        name = "Extraction tree" if side is Side.EXTRACTION else "Canonical model tree"
        self.box = QLineEdit()
        self.box.setPlaceholderText("Filter   is:unmapped   type:   changed:   in:")
        self.box.setToolTip(FILTER_HELP)
        self.box.setAccessibleName(f"Filter the {name.lower()}")
        self.box.setClearButtonEnabled(True)
        self.funnel = Funnel("the extraction tree" if side is Side.EXTRACTION else "the canonical model tree")
        self._query = Query()
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
        row = QHBoxLayout()
        row.setSpacing(2)
        row.addWidget(self.box, 1)
        row.addWidget(self.funnel)
        layout.addLayout(row)
        layout.addWidget(self.note)
        layout.addWidget(self.view, 1)
        self._timer.timeout.connect(self._filter)
        self.model.filled.connect(self._filled)
        self.funnel.toggled.connect(self._narrow)
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

    def _changed(self, changed: Changed) -> None:
        self._is_following = True  # a row that goes hands its place on, which is nobody's choice
        try:
            self.model.follow(changed)
        finally:
            self._is_following = False
        self._tell()
        self._narrow()

    def _filter(self) -> None:
        self._query = parse(self.box.text())
        self.model.filter(self._query, self.box.text())

    def _filled(self) -> None:
        self._open_first()
        if self._query.is_empty:
            self._show_selected(self._selection.current)
        self._tell()
        self.note.setText(f"Not understood: {', '.join(self._query.unknown)}")
        self.note.setVisible(bool(self._query.unknown))
        if not self._query.unknown and not self.model.rowCount():
            self.note.setText("Nothing passes this filter.")
            self.note.setVisible(not self._query.is_empty)
        self._narrow()

    def _narrow(self) -> None:
        """Tell the matrix what passes while the funnel is on, and everything once it is off."""
        passing = self.model.passing() if self.funnel.isChecked() else None
        if passing is not None or self._is_narrowed:
            self._is_narrowed = passing is not None
            self.narrowed.emit(passing)

    def _open_first(self) -> None:
        if not self._query.is_empty:
            rows = self.model.first_open(_ROWS_OPENED)
        elif self.side is Side.EXTRACTION:
            rows = self.model.first_open(_ROWS_OPENED, depth=1)
        else:
            rows = [self.model.index(0, 0), self.model.index(1, 0)]
        for index in rows:
            self.view.expand(index)

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
