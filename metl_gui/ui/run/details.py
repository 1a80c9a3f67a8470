"""What a run found, further down: which schema versions it read, what it skipped, how far each attribute was filled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QHeaderView, QTableView, QVBoxLayout, QWidget

from metl_gui.core.matrix.document import Document
from metl_gui.ui.project.text import share
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.table import HEADING_PX, TableCell, TableModel, make_table
from metl_gui.workbench.runs.fill_rates import AttributeFilled, EntityFilled, filled_of

_ALL = "All entities"
_BAR, _BAR_PX = 4, 90
_CHOICE_PX = 300
_NOTHING = "After a run the versions that it read stand here, and how often each mapped attribute was filled."


class DetailsPanel(QWidget):
    """Two cards side by side.

    Signals:
        version_chosen: ``schema@version`` of what was read.
        attribute_chosen: an ``AttributeFilled``.
    """

    version_chosen = Signal(object)
    attribute_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entities: tuple[EntityFilled, ...] = ()
        self.shown: tuple[AttributeFilled, ...] = ()
        self.read: tuple[tuple[str, int, bool], ...] = ()
        count = TableCell("records", is_number=True)
        self.versions = TableModel([TableCell("schema and version"), count, TableCell("share", is_number=True)])
        filled = TableCell("filled", is_number=True)
        self.filled = TableModel(
            [TableCell("attribute"), TableCell(""), filled, TableCell("share", is_number=True), TableCell("")]
        )
        self.version_table = make_table("Records by schema version", self.versions)
        self.filled_table = make_table("Filled attributes", self.filled)
        self.entity = ThemedComboBox()
        self.entity.setAccessibleName("Entity whose attributes are shown")
        self.nothing = plain_label(_NOTHING, "dim")
        self.nothing.setWordWrap(True)
        _widths(self.version_table, stretched=0)
        _widths(self.filled_table, stretched=0)
        self.filled_table.horizontalHeader().setSectionResizeMode(_BAR, QHeaderView.ResizeMode.Fixed)
        self.filled_table.setTextElideMode(Qt.TextElideMode.ElideLeft)  # the attribute stands at the end
        self.dress()
        self._build()
        self.entity.currentIndexChanged.connect(self._show_filled)
        for table, choose in ((self.version_table, self._choose_version), (self.filled_table, self._choose_attribute)):
            table.clicked.connect(choose)
            table.activated.connect(choose)
        self.clear()

    def dress(self) -> None:
        """Follow the scale."""
        self.filled_table.setColumnWidth(_BAR, themes.px(_BAR_PX))
        self.entity.setMaximumWidth(themes.px(_CHOICE_PX))

    def clear(self) -> None:
        """Show that nothing was run."""
        self.show_counts(None, Document())

    def show_counts(self, counts: Mapping[str, Any] | None, document: Document) -> None:
        """Show the counts of a run, live or finished.

        Args:
            counts: as the report names them; ``None`` for no run.
            document: says what is required.
        """
        self.nothing.setVisible(counts is None)
        counts = counts or {}
        versions = [(name, int(count), True) for name, count in (counts.get("by_version") or {}).items()]
        skipped = [(f"skipped: {name}", int(count), False) for name, count in (counts.get("by_skip") or {}).items()]
        self.read = (*sorted(versions, key=_most_first), *sorted(skipped, key=_most_first))
        whole = int(counts.get("read") or 0)
        self.versions.show_rows([_version_cells(name, count, whole) for name, count, _ in self.read])
        self.entities = filled_of(counts.get("by_entity") or {}, counts.get("by_attribute") or {}, document)
        names = [_ALL, *(row.entity for row in self.entities)]
        if names != [self.entity.itemText(at) for at in range(self.entity.count())]:
            before = self.entity.currentText()
            self.entity.blockSignals(True)
            self.entity.clear()
            self.entity.addItems(names)
            self.entity.setCurrentIndex(max(self.entity.findText(before), 0))
            self.entity.blockSignals(False)
        self._show_filled()

    def show_entity(self, entity: str) -> None:
        """Show the attributes of an entity."""
        self.entity.setCurrentIndex(max(self.entity.findText(entity), 0))

    def _show_filled(self) -> None:
        chosen = self.entity.currentText()
        rows = [row for entity in self.entities if chosen in (_ALL, entity.entity) for row in entity.attributes]
        self.shown = tuple(rows)
        self.filled.show_rows([_filled_cells(row, chosen == _ALL) for row in rows])

    def _choose_version(self, index: QModelIndex) -> None:
        if 0 <= index.row() < len(self.read) and self.read[index.row()][2]:
            self.version_chosen.emit(self.read[index.row()][0])

    def _choose_attribute(self, index: QModelIndex) -> None:
        if 0 <= index.row() < len(self.shown):
            self.attribute_chosen.emit(self.shown[index.row()])

    def _build(self) -> None:
        read_head = QHBoxLayout()
        title = plain_label("Read", "heading")
        title.setMinimumHeight(HEADING_PX)
        read_head.addWidget(title)
        filled_head = QHBoxLayout()
        filled_head.addWidget(plain_label("Filled attributes", "heading"))
        filled_head.addStretch(1)
        filled_head.addWidget(self.entity)
        cards = QHBoxLayout()
        cards.setSpacing(12)
        for head, table, stretch in ((read_head, self.version_table, 2), (filled_head, self.filled_table, 3)):
            card = QFrame()
            card.setProperty("surface", "card")
            inside = QVBoxLayout(card)
            inside.setContentsMargins(14, 8, 14, 8)
            inside.setSpacing(4)
            inside.addLayout(head)
            inside.addWidget(table, 1)
            cards.addWidget(card, stretch)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self.nothing)
        layout.addLayout(cards, 1)


def _most_first(row: tuple[str, int, bool]) -> int:
    return -row[1]


def _version_cells(name: str, count: int, whole: int) -> tuple[TableCell, ...]:
    schema, _, label = name.rpartition("@")
    words = f"{schema} {label}" if schema else name
    share_cell = TableCell(share(count, whole), is_number=True)
    return TableCell(words), TableCell(f"{count:,}", is_number=True), share_cell


def _filled_cells(row: AttributeFilled, names_entity: bool) -> tuple[TableCell, ...]:
    name = f"{row.entity} {row.version} {row.path}" if names_entity else row.path
    is_short = row.is_required and row.filled < row.messages
    told = f"{row.filled:,} of {row.messages:,} messages"
    return (
        TableCell(name),
        TableCell("required" if row.is_required else "", pill="review" if is_short else ""),
        TableCell(f"{row.filled:,}", is_number=True),
        TableCell(share(row.filled, row.messages), is_number=True, tip=told),
        TableCell("", share=row.share, tip=told),
    )


def _widths(table: QTableView, stretched: int) -> None:
    header = table.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(stretched, QHeaderView.ResizeMode.Stretch)
