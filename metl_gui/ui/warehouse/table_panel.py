"""The panel of one table: which, what checks say of it, its columns, and what can be done with them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from metl_gui.core.search.problems import Problem, Severity
from metl_gui.ui.warehouse.columns import ColumnsView, TableColumnsModel
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.dock import Surface
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_tip, wrapped_label
from metl_gui.ui.widgets.window_words import in_window
from metl_gui.workbench.warehouse.table_rows import ColumnPart, TableRow

_FIXED = (ColumnPart.KEY, ColumnPart.EVERY, ColumnPart.SETTING)


class TablePanel(Surface):
    """One table at a time.

    Signals:
        table_chosen: the name of a table, chosen by its list.
        accept_wanted: the proposed table that is shown is to be taken into the model.
        column_wanted: one more column is to be chosen.
        table_removal_wanted: the table is to go.
        removal_wanted: the ``TableRow`` that is to go.
    """

    table_chosen = Signal(object)
    accept_wanted = Signal()
    column_wanted = Signal()
    table_removal_wanted = Signal()
    removal_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("panel", (800, 280), parent, share=(1.0, 0.34))
        self.tables = ThemedComboBox()
        self.tables.setAccessibleName("Table")
        self.tables.setSizeAdjustPolicy(ThemedComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.tables.setMinimumContentsLength(20)
        self.model = TableColumnsModel(self)
        self.view = ColumnsView(self.model)
        self.problems = wrapped_label("small")
        self.accept = KeyButton("Accept", "Enter", "primary")
        self.add = KeyButton("Add column…")
        self.remove = KeyButton("Remove", "Del")
        self.remove.setAccessibleName("Remove the row")
        self.remove_table = KeyButton("Remove table")
        self.can_edit = self.can_add = False
        self._build()
        self.tables.activated.connect(self._choose)
        self.accept.clicked.connect(self.accept_wanted)
        self.add.clicked.connect(self.column_wanted)
        self.remove.clicked.connect(self._remove)
        self.remove_table.clicked.connect(self.table_removal_wanted)
        self.view.removal_wanted.connect(self._want_removal)
        self.view.selectionModel().currentChanged.connect(self._offer)

    def show_tables(self, names: Sequence[tuple[str, str]], current: str) -> None:
        """Offer the tables there are, as (name, words), and mark the one that is shown."""
        known = [(self.tables.itemData(at), self.tables.itemText(at)) for at in range(self.tables.count())]
        if known != list(names):
            self.tables.clear()
            for name, words in names:
                self.tables.addItem(words, name)
        self.tables.setCurrentIndex(self.tables.findData(current))

    def show_table(
        self,
        rows: Sequence[TableRow],
        problems: Sequence[Problem],
        *,
        can_edit: bool,
        can_add: bool,
        accepts: str,
        new: int = 0,
    ) -> None:
        """Show the rows of a table.

        Args:
            rows: of it.
            problems: of the table itself; those of its rows stand in them.
            can_edit: whether anything can be changed.
            can_add: whether it can have one more column.
            accepts: words for taking it into the model where it is only proposed; else empty.
            new: how many of the attributes that it could take are new.
        """
        self.can_edit, self.can_add = can_edit and not accepts, can_add
        self.model.show_rows(rows, can_edit=self.can_edit)
        self.view.fit()
        self.accept.setText(accepts or "Accept")
        self.accept.setVisible(bool(accepts))
        self.accept.setEnabled(can_edit)
        self.accept.updateGeometry()
        self.add.show_count(f"{new:,} new" if new else "")
        self.add.setAccessibleDescription(f"{new:,} attributes are new" if new else "")
        for button in (self.add, self.remove, self.remove_table):
            button.setVisible(not accepts and bool(rows))
        for part in (self.tables, self.view):
            part.setVisible(bool(rows))
        self._say(problems)
        self._offer()

    def _say(self, problems: Sequence[Problem]) -> None:
        shown = [one for one in problems if one.severity is not Severity.NOTE]
        self.problems.setText("\n".join(map(_words_of, shown[:2])))
        self.problems.setToolTip(plain_tip("\n".join(map(_words_of, problems))))
        self.problems.setVisible(bool(shown))

    def _choose(self, number: int) -> None:
        self.table_chosen.emit(self.tables.itemData(number))

    def _remove(self) -> None:
        if self.view.row is not None:
            self._want_removal(self.view.row)

    def _want_removal(self, row: TableRow) -> None:
        if self.can_edit and row.part not in _FIXED:
            self.removal_wanted.emit(row)

    def _offer(self, *_: object) -> None:
        row = self.view.row
        self.add.setEnabled(self.can_edit and self.can_add)
        self.remove.setEnabled(self.can_edit and row is not None and row.part not in _FIXED)
        self.remove_table.setEnabled(self.can_edit)

    def _build(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(12, 0, 12, 0)
        row.setSpacing(8)
        row.addWidget(self.tables)
        row.addStretch(1)
        for button in (self.accept, self.add, self.remove, self.remove_table):
            button.set_height(26)
            row.addWidget(button)
        words = QHBoxLayout()
        words.setContentsMargins(12, 0, 12, 0)
        words.addWidget(self.problems)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 2, 0, 0)
        layout.setSpacing(6)
        layout.addLayout(row)
        layout.addLayout(words)
        layout.addWidget(self.view, 1)


def _words_of(problem: Problem) -> str:
    return in_window(f"{problem.message} {problem.hint}".strip())
