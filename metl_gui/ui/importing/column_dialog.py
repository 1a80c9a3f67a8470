"""Asks which column of a mapping table of another shape is what, with its first rows as they would be read."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from metl_gui.core.project.table_columns import TableColumns
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.dialogs import lay_out
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.table import TableCell, TableModel, make_table
from metl_gui.workbench.importing.foreign_table import ForeignTable

WORDS = {
    "schema": "Schema",
    "schema_version": "Version of the schema",
    "attribute": "Attribute of the schema",
    "entity": "Entity",
    "entity_version": "Version of the entity",
    "cdm_attribute": "Attribute of the entity",
}
_SHORT = ("Schema", "Its version", "Its attribute", "Entity", "Its version", "Its attribute")
_WITHOUT = {"schema_version": "All versions", "entity_version": "The newest version"}
_READ_AS = {"schema_version": "all", "entity_version": "newest"}
_NOT_CHOSEN = "Choose a column"
_ROWS_SHOWN = 5
_SIZE_PX = (860, 470)
_TEXT = "Say which of its columns is what; what was likely is chosen already. Other columns are left alone."


class ColumnDialog(FittedDialog):
    """A box for each thing that a mapping table says, and the first rows below them.

    Args:
        table: the table, with a guess.

    Signals:
        wanted: the ``TableColumns`` to read it by.
    """

    wanted = Signal(object)

    def __init__(self, table: ForeignTable, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Which column is what")
        self._head = table.head
        self.boxes: dict[str, ThemedComboBox] = {}
        self.model = TableModel([TableCell(words) for words in _SHORT], self)
        self.rows = make_table("The first rows as they would be read", self.model)
        self.why_not = plain_label(kind="small")
        self.do, self.cancel = KeyButton("Add its elements", "Enter", "primary"), KeyButton("Cancel", "Esc")
        for name, title in table.guess.as_pairs:
            self.boxes[name] = self._box(name, title)
        self._build(table.path.name)
        self._show()

    @property
    def columns(self) -> TableColumns:
        """What is chosen now."""
        return TableColumns(**{name: str(box.currentData()) for name, box in self.boxes.items()})

    def accept(self) -> None:
        """Tell what is chosen and close."""
        if self.do.isEnabled():
            super().accept()
            self.wanted.emit(self.columns)

    def _box(self, name: str, title: str) -> ThemedComboBox:
        box = ThemedComboBox()
        box.setAccessibleName(WORDS[name])
        box.addItem(_WITHOUT.get(name, _NOT_CHOSEN), "")
        for each in self._head.titles:
            box.addItem(each, each)
        box.setCurrentIndex(max(box.findData(title), 0))
        box.setSizeAdjustPolicy(box.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(10)
        box.currentIndexChanged.connect(self._show)
        return box

    def _build(self, name: str) -> None:
        self.do.clicked.connect(self.accept)
        self.cancel.clicked.connect(self.reject)
        heading, text = plain_label(f"{name} has columns of its own", "heading"), plain_label(_TEXT, "dim")
        for label in (heading, text, self.why_not):
            label.setWordWrap(True)
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        for at, (words, box) in enumerate(zip(_SHORT, self.boxes.values(), strict=True)):
            label = plain_label(words)
            label.setBuddy(box)
            row, column = at % 3, 2 * (at // 3)
            grid.addWidget(label, row, column)
            grid.addWidget(box, row, column + 1)
        for column in (1, 3):
            grid.setColumnStretch(column, 1)
        body = QVBoxLayout()
        body.setSpacing(10)
        body.addLayout(grid)
        body.addWidget(self.rows, 1)
        body.addWidget(self.why_not)
        lay_out(self, (heading, text), body, (self.do, self.cancel))
        self.do.setDefault(True)
        self.rows.setMinimumHeight(themes.px(24 * 3))
        self.resize(*(themes.px(side) for side in _SIZE_PX))

    def _show(self) -> None:
        columns = self.columns
        rows = self._head.rows[:_ROWS_SHOWN]
        cells = [
            self._head.column(title)[:_ROWS_SHOWN] if title else (_READ_AS.get(name, ""),) * len(rows)
            for name, title in columns.as_pairs
        ]
        self.model.show_rows([tuple(TableCell(cell, tip=cell) for cell in row) for row in zip(*cells, strict=True)])
        words = [WORDS[name].lower() for name in columns.missing]
        why_not = f"Choose the column of: {', '.join(words)}." if words else ""
        if columns.repeated and not why_not:
            why_not = f"“{columns.repeated[0]}” is chosen twice."
        self.why_not.setText(why_not)
        self.do.setEnabled(not why_not)
        self.do.setToolTip(why_not)
