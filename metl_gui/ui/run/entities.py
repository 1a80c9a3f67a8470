"""Messages by entity: how many, and how far the attributes that the entity requires are filled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QHeaderView, QVBoxLayout, QWidget

from metl_gui.core.matrix.document import Document
from metl_gui.ui import theme as themes
from metl_gui.ui.elided import Elided
from metl_gui.ui.naming import number_of
from metl_gui.ui.plain import plain_label
from metl_gui.ui.run.amounts import share
from metl_gui.ui.run.tables import HEADING_PX, TableCell, TableModel, make_table
from metl_gui.workbench.filled import EntityFilled, filled_of

_FILLED, _BAR = 2, 3
_ROOM_FOR_BARS_PX = 430
_LEAST_BAR_PX = 58
_NAMES_FIRST_PX = 80


class EntityPanel(QFrame):
    """A card with one row for each entity, the largest first.

    Signals:
        entity_chosen: the entity whose messages are to be shown.
        filled_wanted: the entity whose filled attributes are to be shown.
    """

    entity_chosen = Signal(object)
    filled_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "card")
        self.rows: tuple[EntityFilled, ...] = ()
        right = TableCell("required filled", is_number=True)
        self.model = TableModel([TableCell("entity"), TableCell("messages", is_number=True), right, TableCell("")])
        self.table = make_table("Messages by entity", self.model)
        columns = self.table.horizontalHeader()
        modes = QHeaderView.ResizeMode.Stretch, QHeaderView.ResizeMode.ResizeToContents
        for column, mode in enumerate((modes[0], modes[1], modes[1], QHeaderView.ResizeMode.Fixed)):
            columns.setSectionResizeMode(column, mode)
        self.facts = Elided("", "small")
        row = QHBoxLayout()
        title = plain_label("By entity", "heading")
        title.setMinimumHeight(HEADING_PX)
        row.addWidget(title)
        row.addSpacing(8)
        row.addWidget(self.facts, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 8, 14, 8)
        layout.setSpacing(4)
        layout.addLayout(row)
        layout.addWidget(self.table, 1)
        self.table.clicked.connect(self._clicked)
        self.table.activated.connect(self._activated)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the bars what the names can spare, and leave them out when there is no room for both."""
        super().resizeEvent(event)
        self.table.setColumnWidth(
            _BAR, max(themes.px(_LEAST_BAR_PX), self.width() * 2 // 7 - themes.px(_NAMES_FIRST_PX))
        )
        self.table.setColumnHidden(_BAR, self.width() < themes.px(_ROOM_FOR_BARS_PX))

    def clear(self) -> None:
        """Show that nothing was run."""
        self.rows = ()
        self.model.show_rows([])
        self.facts.setText("what a run makes of your messages")

    def show_counts(self, counts: Mapping[str, Any], document: Document) -> None:
        """Show the counts of a run, live or finished.

        Args:
            counts: as the report names them.
            document: says which attributes are required.
        """
        self.rows = filled_of(counts["by_entity"], counts.get("by_attribute") or {}, document)
        most = max((row.messages for row in self.rows), default=1)
        self.model.show_rows([_cells(row, most) for row in self.rows])
        unreviewed = sum((counts.get("from_unreviewed") or {}).values())
        words = number_of(int(counts["messages_out"]), "message")
        self.facts.setText(f"{words} · {unreviewed:,} from unreviewed blocks" if unreviewed else words)

    def _clicked(self, index: QModelIndex) -> None:
        self._choose(index, index.column() == _FILLED)

    def _activated(self, index: QModelIndex) -> None:
        """Show by Enter what is filled; the arrows have shown the messages already."""
        self._choose(index, True)

    def _choose(self, index: QModelIndex, wants_filled: bool) -> None:
        if not 0 <= index.row() < len(self.rows):
            return
        entity = self.rows[index.row()].entity
        (self.filled_wanted if wants_filled else self.entity_chosen).emit(entity)


def _cells(row: EntityFilled, most: int) -> tuple[TableCell, ...]:
    part, whole = row.required
    return (
        TableCell(row.name),
        TableCell(f"{row.messages:,}", is_number=True),
        TableCell(share(part, whole), is_number=True, is_link=bool(row.attributes)),
        TableCell("", share=row.messages / most if most else 0.0, tip=f"{row.messages:,} of {most:,}"),
    )
