"""Groups with rows below them, in columns, as Qt sees them; and a tree view with plain triangles.

A triangle stands beside each row that can be opened, in the colour of quiet text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QTreeView, QWidget

from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.plain_text import plain_tip

Index: TypeAlias = QModelIndex | QPersistentModelIndex
Row = TypeVar("Row")
RowOut_co = TypeVar("RowOut_co", covariant=True)
_GROUP = 0


class RowGroup(Protocol[RowOut_co]):
    """What a group is to the model: it has rows."""

    @property
    def rows(self) -> Sequence[RowOut_co]:
        """The rows of the group, in order."""


AnyGroup = TypeVar("AnyGroup", bound=RowGroup[Any])


class GroupedModel(QAbstractItemModel, Generic[AnyGroup, Row]):
    """A tree of two levels; the internal id of a group is 0, that of a row one more than its group's place.

    What it says is told by ``group_words``, ``row_words`` and ``colour``.

    Args:
        headers: of the columns.
    """

    def __init__(self, headers: tuple[str, ...], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._headers = headers
        self.groups: Sequence[AnyGroup] = ()

    def show_groups(self, groups: Sequence[AnyGroup]) -> None:
        """Show others."""
        self.beginResetModel()
        self.groups = groups
        self.endResetModel()

    def row_of(self, index: Index) -> Row | None:
        """Return what stands in a row, ``None`` for a group."""
        if not index.isValid() or index.internalId() == _GROUP:
            return None
        row: Row = self.groups[index.internalId() - 1].rows[index.row()]
        return row

    def group_of(self, index: Index) -> AnyGroup | None:
        """Return the group of a row or of itself."""
        if not index.isValid():
            return None
        return self.groups[index.row() if index.internalId() == _GROUP else index.internalId() - 1]

    def group_words(self, group: AnyGroup, column: int) -> str:
        """Say what stands in a column of a group."""
        raise NotImplementedError

    def row_words(self, row: Row, column: int) -> str:
        """Say what stands in a column of a row."""
        raise NotImplementedError

    def colour(self, row: Row | None, column: int) -> Any:
        """Return the colour of a cell, of a group's for no row; ``None`` for that of all text."""
        raise NotImplementedError

    # Qt's questions

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008 - Qt's own default
        """Return a cell's index."""
        if row < 0 or not 0 <= column < len(self._headers) or row >= self.rowCount(parent):
            return QModelIndex()
        return self.createIndex(row, column, parent.row() + 1 if parent.isValid() else _GROUP)

    def parent(self, child: Index = QModelIndex()) -> Any:  # noqa: B008 - Qt overloads parent()
        """Return the group of a row."""
        if not child.isValid() or child.internalId() == _GROUP:
            return QModelIndex()
        return self.createIndex(child.internalId() - 1, 0, _GROUP)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count groups, or the rows of one."""
        if not parent.isValid():
            return len(self.groups)
        is_group = parent.internalId() == _GROUP and parent.column() == 0
        return len(self.groups[parent.row()].rows) if is_group else 0

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count the columns."""
        return len(self._headers)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> Any:
        """Return a heading."""
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._headers[section]
        return None

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return the words of a cell, or its colour; the name of a group is bold."""
        if not index.isValid():
            return None
        row, column = self.row_of(index), index.column()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            words = self.group_words(self.groups[index.row()], column) if row is None else self.row_words(row, column)
            return plain_tip(words) if role == Qt.ItemDataRole.ToolTipRole else words
        if role == Qt.ItemDataRole.FontRole and row is None and column == 0:
            return themes.scaled(1.0, bold=True)
        return self.colour(row, column) if role == Qt.ItemDataRole.ForegroundRole else None


_OPEN = (QPointF(-3.5, -2), QPointF(3.5, -2), QPointF(0, 2.5))
_CLOSED = (QPointF(-2, -3.5), QPointF(-2, 3.5), QPointF(2.5, 0))


def paint_branch(painter: QPainter, rect: QRect, is_open: bool) -> None:
    """Draw the triangle into the last part of a row's indentation."""
    scale = themes.scale()
    at = QPointF(rect.right() - 7.0 * scale, rect.center().y() + 0.5)
    shape = [at + corner * scale for corner in (_OPEN if is_open else _CLOSED)]
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(themes.current().dim)
    painter.drawPolygon(shape)
    painter.restore()


class BranchView(QTreeView):
    """A tree view whose branches are those triangles."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setUniformRowHeights(True)
        self.dress()

    def dress(self) -> None:
        """Follow the scale."""
        self.setIndentation(themes.px(14))

    def drawBranches(self, painter: QPainter, rect: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        """Draw a triangle beside what can be opened, on the row's own ground."""
        if self.selectionModel().isSelected(index):
            painter.fillRect(rect, themes.current().sel)
        if self.model().hasChildren(index):
            paint_branch(painter, rect, self.isExpanded(index))
