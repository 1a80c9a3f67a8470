"""Version progression: how the mapping of one schema changed from version to version, entity by entity.

Versions go down, entities across. A cell is a tile with its number, and what changed as a shape and a word.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.blocks import BlockKey, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.lineage_search import BlockChangeKind, version_progress
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.panel_updater import PanelUpdater
from metl_gui.ui.project.selection import Selected, Selection, place_of_version
from metl_gui.ui.project.text import schema_name
from metl_gui.ui.search.answer_panel import AnswerBar
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.theme import Theme
from metl_gui.ui.widgets.dock import Surface
from metl_gui.ui.widgets.empty_bar import BarOfRows
from metl_gui.ui.widgets.plain_text import plain_tip
from metl_gui.values import Value

CELL_ROLE = int(Qt.ItemDataRole.UserRole)
Index: TypeAlias = QModelIndex | QPersistentModelIndex


class ProgressCell(Value):
    """One block.

    Args:
        key: (v, w).
        elements: how many elements it has.
        change: how it differs from the version before.
        waits: it needs review.
    """

    key: BlockKey
    elements: int
    change: BlockChangeKind
    waits: bool

    @property
    def words(self) -> str:
        """What the cell says: ``4 elements, smaller``."""
        noun = "element" if self.elements == 1 else "elements"
        return f"{self.elements} {noun}, {self.change.value}" + (", needs review" if self.waits else "")


class ProgressionModel(QAbstractTableModel):
    """Rows are the versions of a schema, oldest first; columns the entity versions that any of them feeds.

    Both have headers and change with the schema, while those of ``ColumnsModel`` stay the same.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[tuple[int, str]] = []
        self._columns: list[tuple[int, str]] = []
        self._cells: dict[BlockKey, ProgressCell] = {}

    def show_schema(self, document: Document, schema_id: int | None) -> None:
        """Show another schema, or another state of it."""
        rows: list[tuple[int, str]] = []
        cells: dict[BlockKey, ProgressCell] = {}
        if schema_id is not None:
            rows = [(version.id, version.label) for version in document.extraction.versions(schema_id)]
            for part in version_progress(document, schema_id):
                block = document.matrix.block(*part.key)
                waits = block is not None and block.status is Status.NEEDS_REVIEW
                cells[part.key] = ProgressCell(part.key, part.elements, part.change, waits)
        targets = [document.cdm.version(w) for w in dict.fromkeys(w for _, w in cells)]
        columns = [
            (version.id, f"{document.cdm.schema(version.schema_id).name} {version.label}") for version in targets
        ]
        self.beginResetModel()
        self._rows, self._columns, self._cells = rows, columns, cells
        self.endResetModel()

    def cell(self, index: Index) -> ProgressCell | None:
        """Return the block of a cell, ``None`` before an entity is fed."""
        if not index.isValid():
            return None
        return self._cells.get(self.key(index))

    def key(self, index: Index) -> BlockKey:
        """Return (v, w) of a cell."""
        return self._rows[index.row()][0], self._columns[index.column()][0]

    def index_of(self, key: BlockKey) -> QModelIndex:
        """Return the cell of a block, an invalid index when it is not here."""
        rows, columns = [v for v, _ in self._rows], [w for w, _ in self._columns]
        if key[0] not in rows or key[1] not in columns:
            return QModelIndex()
        return self.index(rows.index(key[0]), columns.index(key[1]))

    # Qt's questions

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count the versions."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count the entities."""
        return 0 if parent.isValid() else len(self._columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> Any:
        """Return a version or an entity."""
        names = self._columns if orientation is Qt.Orientation.Horizontal else self._rows
        is_text = role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
        if not is_text or not 0 <= section < len(names):
            return None
        name = names[section][1]
        words = name if orientation is Qt.Orientation.Horizontal else f"version {name}"
        return plain_tip(words) if role == Qt.ItemDataRole.ToolTipRole else words

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return a cell, or its words."""
        if not index.isValid():
            return None
        cell = self.cell(index)
        if role == CELL_ROLE:
            return cell
        if role == Qt.ItemDataRole.DisplayRole:
            return cell.words if cell is not None else ""
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            place = f"{self._rows[index.row()][1]} → {self._columns[index.column()][1]}"
            words = f"{place}: {cell.words if cell is not None else 'not fed yet'}"
            return plain_tip(words) if role == Qt.ItemDataRole.ToolTipRole else words
        return None


class ProgressDelegate(QStyledItemDelegate):
    """Tiles with numbers; they are chosen one by one, so no tint of a row lies behind them."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Every tile is as large as the others."""
        return QSize(themes.px(124), themes.px(30))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one tile."""
        theme, cell = themes.current(), index.data(CELL_ROLE)
        box = QRectF(option.rect).adjusted(2, 2, -2, -2)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(cell, ProgressCell):
            _tile(painter, box, cell, theme)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.band)
            painter.drawRoundedRect(box, 4, 4)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(QPen(theme.accent, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box, 4, 4)
        painter.restore()


def _tile(painter: QPainter, box: QRectF, cell: ProgressCell, theme: Theme) -> None:
    colour, width = theme.review_outline
    painter.setPen(QPen(colour, width) if cell.waits else QPen(theme.line, 1))
    painter.setBrush(theme.reviewbg if cell.waits else theme.accentbg if cell.elements else theme.panel)
    painter.drawRoundedRect(box, 4, 4)
    scale = themes.scale()
    painter.setPen(theme.text)
    painter.setFont(themes.scaled(1.0, bold=True))
    number = QRectF(box.left() + 8 * scale, box.top(), 30 * scale, box.height())
    painter.drawText(number, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, str(cell.elements))
    mark = QRectF(number.right() + 8 * scale, box.center().y() - 4 * scale, 8 * scale, 8 * scale)
    ink = change_colour(cell.change, theme)
    paint_change(painter, mark, cell.change, ink)
    painter.setPen(ink)
    painter.setFont(themes.scaled(0.92))
    words = QRectF(mark.right() + 5 * scale, box.top(), box.right() - mark.right() - 8 * scale, box.height())
    painter.drawText(words, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, cell.change.value)


def change_colour(change: BlockChangeKind, theme: Theme) -> QColor:
    """Return the colour of the words of a change."""
    match change:
        case BlockChangeKind.LARGER:
            return theme.good
        case BlockChangeKind.SMALLER | BlockChangeKind.EMPTIED:
            return theme.review
        case BlockChangeKind.OTHER:
            return theme.text
        case _:
            return theme.dim


def paint_change(painter: QPainter, box: QRectF, change: BlockChangeKind, colour: QColor) -> None:
    """Draw the shape of a change: a triangle up or down, two bars, a dot, a lozenge, a dashed square."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    left, right, top, bottom = box.left(), box.right(), box.top(), box.bottom()
    middle = box.center()
    match change:
        case BlockChangeKind.LARGER:
            painter.drawPolygon(QPolygonF([QPointF(middle.x(), top), QPointF(right, bottom), QPointF(left, bottom)]))
        case BlockChangeKind.SMALLER:
            painter.drawPolygon(QPolygonF([box.topLeft(), box.topRight(), QPointF(middle.x(), bottom)]))
        case BlockChangeKind.SAME:
            for at in (0.18, 0.62):
                painter.drawRect(QRectF(left, top + at * box.height(), box.width(), box.height() * 0.2))
        case BlockChangeKind.FIRST:
            painter.drawEllipse(box)
        case BlockChangeKind.OTHER:
            corners = (QPointF(middle.x(), top), QPointF(right, middle.y()), QPointF(middle.x(), bottom))
            painter.drawPolygon(QPolygonF([*corners, QPointF(left, middle.y())]))
        case _:
            painter.setPen(QPen(colour, 1.2, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(box)


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
        self._updater = PanelUpdater(project, self, self._changed, when_shown=self._follow)
        selection.changed.connect(self._selected)
        self._updater.schedule()

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

    def _opened(self, _workbench: object) -> None:
        self.bar.pin.setChecked(False)
        self.ask(None)

    def _changed(self) -> None:
        if self._schema is not None and self._project.value.extraction.find_schema(self._schema) is None:
            self._schema = None
        self._show()

    def _follow(self) -> None:
        source = self._selection.current.source
        if source is not None:
            self._schema = source.schema
        self._changed()  # what is selected may be of a project that was closed

    def _selected(self, selected: Selected) -> None:
        if self._is_choosing or self.bar.is_pinned or selected.source is None:
            return
        if selected.source.schema != self._schema:
            self.ask(selected.source.schema)
        else:
            self._show_current()

    def _show(self) -> None:
        if not self.isVisible():
            self._updater.schedule()
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
    BarOfRows(view)
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
