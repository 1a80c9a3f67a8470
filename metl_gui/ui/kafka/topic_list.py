"""Topics to choose from: a table with a mark for each, filtered while somebody types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from metl_gui.ui import theme as themes
from metl_gui.ui.plain import plain_tip
from metl_gui.workbench.topics import TopicThere

_HEADERS = ("topic", "partitions")
_Index = QModelIndex | QPersistentModelIndex


class TopicModel(QAbstractTableModel):
    """The topics that are shown, each chosen or not; those that are hidden stay as they are.

    Signals:
        chosen_changed: another topic is chosen, or one no more.
    """

    chosen_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.shown: tuple[TopicThere, ...] = ()
        self.chosen: dict[str, None] = {}
        self.can_choose = True

    def show_topics(self, topics: Sequence[TopicThere], can_choose: bool) -> None:
        """Show other topics."""
        self.beginResetModel()
        self.shown, self.can_choose = tuple(topics), can_choose
        self.endResetModel()

    def choose(self, names: Iterable[str]) -> None:
        """Choose these topics and no others."""
        self.chosen = dict.fromkeys(names)
        if self.shown:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.shown) - 1, 0))
        self.chosen_changed.emit()

    def toggle(self, row: int) -> None:
        """Choose a topic, or no more."""
        if self.can_choose and 0 <= row < len(self.shown):
            name = self.shown[row].name
            if name in self.chosen:
                del self.chosen[name]
            else:
                self.chosen[name] = None
            self.dataChanged.emit(self.index(row, 0), self.index(row, 0))
            self.chosen_changed.emit()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own
        """Count the rows."""
        return 0 if parent.isValid() else len(self.shown)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own
        """Count the columns."""
        return 0 if parent.isValid() else len(_HEADERS)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Say what can be done with a cell."""
        more = Qt.ItemFlag.ItemIsUserCheckable if self.can_choose and index.column() == 0 else Qt.ItemFlag.NoItemFlags
        return super().flags(index) | more

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> Any:
        """Return a header's words and side."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _HEADERS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: _Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return a name, a count, or whether the topic is chosen."""
        if not index.isValid() or index.row() >= len(self.shown):
            return None
        topic = self.shown[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{topic.partitions:,}" if index.column() else topic.name
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == 0:
            return plain_tip(topic.name)
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column():
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.CheckStateRole and index.column() == 0 and self.can_choose:
            return Qt.CheckState.Checked if topic.name in self.chosen else Qt.CheckState.Unchecked
        return None

    def setData(self, index: _Index, _value: Any, role: int = int(Qt.ItemDataRole.EditRole)) -> bool:
        """Take a click on the mark."""
        if role != Qt.ItemDataRole.CheckStateRole or not self.can_choose:
            return False
        self.toggle(index.row())
        return True


class TopicTable(QTableView):
    """The table; Space chooses the topic one stands on.

    Signals:
        looked: the name of the topic that somebody stands on now.
    """

    looked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.topics = TopicModel(self)
        self.setModel(self.topics)
        self.setAccessibleName("Topics")
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(themes.px(24))
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.selectionModel().currentRowChanged.connect(self._look)
        self.doubleClicked.connect(self._toggle)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose with Space; everything else is the view's."""
        if event.key() == Qt.Key.Key_Space:
            self.topics.toggle(self.currentIndex().row())
        else:
            super().keyPressEvent(event)

    def _toggle(self, index: QModelIndex) -> None:
        self.topics.toggle(index.row())

    def _look(self, index: QModelIndex, _before: QModelIndex) -> None:
        if index.isValid():
            self.looked.emit(self.topics.shown[index.row()].name)
