"""The partitions of a lane as a table: how far behind, how fast, how late, and what waits in each."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QHeaderView, QVBoxLayout, QWidget

from metl_gui.engine.events import LaneProgressed, PartitionFigures
from metl_gui.engine.lanes.lane_order import LOAD_TOPICS
from metl_gui.ui import theme as themes
from metl_gui.ui.choice import Choice
from metl_gui.ui.elided import Elided
from metl_gui.ui.naming import number_of
from metl_gui.ui.plain import plain_label
from metl_gui.ui.run.amounts import amount, duration_ns
from metl_gui.ui.run.tables import HEADING_PX, TableCell, TableModel, make_table

_HEADERS = ("partition", "task", "position", "lag", "records /s", "p50", "p95", "p99", "waiting", "read")
_ROOM_PX = {2: 860, 9: 760, 1: 660, 5: 560, 6: 560}
"""How wide the card must be for a column that is left out else."""
_ORDERS = (
    ("by name", lambda each: (each.topic, each.partition)),
    ("most lag first", lambda each: (-each.lag, each.topic, each.partition)),
    ("latest first", lambda each: (-(each.latency_ms.p99 or 0.0), each.topic, each.partition)),
    ("what waits first", lambda each: (-each.waiting, each.topic, each.partition)),
)


class PartitionPanel(QFrame):
    """A card with one row for each partition.

    Signals:
        partition_chosen: ``topic/partition`` whose lines are to be drawn.
    """

    partition_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "card")
        self.shown: tuple[PartitionFigures, ...] = ()
        self._known: tuple[PartitionFigures, ...] = ()
        self.model = TableModel([TableCell(words, is_number=at > 0) for at, words in enumerate(_HEADERS)])
        self.table = make_table("Partitions of the lane", self.model)
        columns = self.table.horizontalHeader()
        columns.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        columns.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.table.setTextElideMode(Qt.TextElideMode.ElideLeft)  # the number stands at the end
        self.order = Choice()
        self.order.setAccessibleName("Order of the partitions")
        self.order.addItems([words for words, _ in _ORDERS])
        self.facts = Elided("", "small")
        row = QHBoxLayout()
        title = plain_label("Partitions", "heading")
        title.setMinimumHeight(HEADING_PX)
        row.addWidget(title)
        row.addSpacing(8)
        row.addWidget(self.facts, 1)
        row.addWidget(self.order)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 8, 14, 8)
        layout.setSpacing(4)
        layout.addLayout(row)
        layout.addWidget(self.table, 1)
        self.table.clicked.connect(self._choose)
        self.table.activated.connect(self._choose)
        self.order.currentIndexChanged.connect(self._show)
        self.clear()

    def clear(self) -> None:
        """Show that nothing is known."""
        self._known = ()
        self.facts.setText("what each partition of the source is at")
        self._show()

    def show_progress(self, progress: LaneProgressed) -> None:
        """Show how far a lane is."""
        self._known = progress.partitions
        topics = len({each.topic for each in self._known})
        tasks = len({each.task for each in self._known if each.task is not None})
        words = f"{number_of(len(self._known), 'partition')} of {number_of(topics, 'topic')}"
        self.facts.setText(f"{words} · {number_of(tasks, 'task')}")
        self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave columns out where there is no room for all."""
        super().resizeEvent(event)
        for column, least in _ROOM_PX.items():
            self.table.setColumnHidden(column, self.width() < themes.px(least))

    def _show(self, _at: int = 0) -> None:
        self.shown = tuple(sorted(self._known, key=_ORDERS[self.order.currentIndex()][1]))
        self.model.show_rows([_cells(each) for each in self.shown])

    def _choose(self, index: QModelIndex) -> None:
        if 0 <= index.row() < len(self.shown):
            each = self.shown[index.row()]
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)
            self.partition_chosen.emit(f"{each.topic}/{each.partition}")


def _name(each: PartitionFigures) -> str:
    """Name a partition; the existing rows of a table, while they are loaded, by its topic."""
    if not each.topic.startswith(LOAD_TOPICS):
        return f"{each.topic}/{each.partition}"
    changes = each.topic.removeprefix(LOAD_TOPICS).partition(".")[2]
    return f"{changes}/{each.partition} · existing rows"


def _cells(each: PartitionFigures) -> tuple[TableCell, ...]:
    times = (each.latency_ms.p50, each.latency_ms.p95, each.latency_ms.p99)
    return (
        TableCell(_name(each), tip=f"{each.topic}/{each.partition}"),
        TableCell("-" if each.task is None else f"{each.task:,}", is_number=True),
        TableCell(f"{each.position:,}", is_number=True, tip=f"The next record is {each.position:,} of {each.end:,}"),
        TableCell(f"{each.lag:,}", is_number=True),
        TableCell(amount(each.rate), is_number=True),
        *(TableCell("-" if ms is None else duration_ns(ms * 1e6), is_number=True) for ms in times),
        TableCell(f"{each.waiting:,}", is_number=True, pill="review" if each.waiting else ""),
        TableCell(f"{each.read:,}", is_number=True),
    )
