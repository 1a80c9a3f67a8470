"""Topics that a run needs and that are not there: shown with their settings, and made when a person says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QHeaderView, QVBoxLayout, QWidget

from metl_gui.ui import theme as themes
from metl_gui.ui.choice import Choice
from metl_gui.ui.naming import number_of
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label
from metl_gui.ui.run.tables import TableCell, TableModel, make_table

if TYPE_CHECKING:
    from metl_gui.engine.kafka.topics import TopicPlan

_SIZE = (900, 420)
_PARTITIONS = (0, 1, 2, 3, 4, 6, 8, 12, 24, 48, 96)
_AS_SET = "as the servers are set"


class MakingDialog(QDialog):
    """Shows plans of topics.

    Signals:
        agreed: the plans as they are to be made, in a tuple.

    Args:
        plans: what is missing.
        where: the servers, in words.
    """

    agreed = Signal(object)

    def __init__(self, plans: Sequence[TopicPlan], where: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Topics to be made")
        self._plans = tuple(plans)
        headers = ("topic", "partitions", "copies", "settings", "for")
        self.model = TableModel([TableCell(words, is_number=at in (1, 2)) for at, words in enumerate(headers)])
        self.table = make_table("Topics to be made", self.model)
        columns = self.table.horizontalHeader()
        columns.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        columns.setSectionResizeMode(3, QHeaderView.ResizeMode.Stretch)
        self.partitions = Choice()
        for many in _PARTITIONS:
            self.partitions.addItem(f"{many:,}" if many else _AS_SET, many)
        self.partitions.setAccessibleName("Partitions of each topic of messages")
        topics = number_of(len(self._plans), "topic")
        self.make = KeyButton(f"Make {topics} and start", kind="primary")
        self.close_button = KeyButton("Cancel", "Esc")
        title = f"{topics} {'is' if len(self._plans) == 1 else 'are'} not there yet."
        text = f"The run would write there. Nothing is made on {where} before you say so."
        self._build(title, text)
        self.partitions.currentIndexChanged.connect(self._show)
        self.make.clicked.connect(self._agree)
        self.close_button.clicked.connect(self.reject)
        self._show()
        self.make.setFocus()

    @property
    def plans(self) -> tuple[TopicPlan, ...]:
        """The plans with the partitions that are chosen; an error topic keeps its own."""
        wanted = int(self.partitions.currentData())
        if not wanted:
            return self._plans
        return tuple(
            plan if plan.settings else msgspec.structs.replace(plan, partitions=wanted) for plan in self._plans
        )

    def _show(self, _many: int = 0) -> None:
        self.model.show_rows([_cells(plan) for plan in self.plans])

    def _agree(self) -> None:
        self.accept()
        self.agreed.emit(self.plans)

    def _build(self, title: str, text: str) -> None:
        words = plain_label(text, "dim")
        words.setWordWrap(True)
        label = plain_label("Partitions of the topics of messages")
        label.setBuddy(self.partitions)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(label)
        row.addWidget(self.partitions)
        row.addStretch(1)
        foot = QHBoxLayout()
        foot.addStretch(1)
        for button in (self.make, self.close_button):
            foot.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(10)
        for part in (plain_label(title, "title"), words):
            layout.addWidget(part)
        layout.addWidget(self.table, 1)
        layout.addLayout(row)
        layout.addLayout(foot)
        self.resize(themes.px(_SIZE[0]), themes.px(_SIZE[1]))


def _cells(plan: TopicPlan) -> tuple[TableCell, ...]:
    settings = ", ".join(f"{name}={value}" for name, value in plan.settings) or "the servers' own"
    return (
        TableCell(plan.name, tip=plan.name),
        TableCell("as set" if plan.partitions < 0 else f"{plan.partitions:,}", is_number=True),
        TableCell("as set" if plan.replication < 0 else f"{plan.replication:,}", is_number=True),
        TableCell(settings, tip=settings),
        TableCell(plan.why, tip=plan.why),
    )
