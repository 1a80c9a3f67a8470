"""The line above the review list: a box with prefixes, a menu that writes into it, a menu of orders and groups."""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from metl_gui.core.review.query import NOBODY, Grouping, ReviewOrder, ReviewQuery, parse_review_query
from metl_gui.ui.widgets.hint_line import HintLine
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_entry

_AGES = (1, 7, 30)
_VERDICTS = ("smaller", "emptied", "same")
_ORDERS = {
    ReviewOrder.SCHEMA: "By schema and version",
    ReviewOrder.AGE: "Oldest first",
    ReviewOrder.WEIGHT: "Heaviest first (records, lost elements)",
}
_GROUPS = {Grouping.SCHEMA: "Grouped by schema", Grouping.ENTITY: "Grouped by entity", Grouping.NONE: "Not grouped"}


class FilterBar(QWidget):
    """What the list shows, and in which order.

    Signals:
        changed: another filter, order or grouping.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.order, self.grouping = ReviewOrder.SCHEMA, Grouping.SCHEMA
        self.query = ReviewQuery()
        self.people: Callable[[], tuple[str, ...]] = tuple
        self.names: Callable[[], tuple[str, str]] = lambda: ("", "")
        """Names of the current item's schema and entity."""
        self.box = HintLine("Filter   schema:  entity:  verdict:  older:7  assigned:")
        self.box.setAccessibleName("Filter the review list")
        self.box.setClearButtonEnabled(True)
        self.filter = KeyButton("Filter")
        self.filter.setAccessibleDescription("Verdict, age, person, schema or entity")
        self.sort = KeyButton("Sort")
        self.sort.setAccessibleDescription("Order and groups of the review list")
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 0, 10, 0)
        row.setSpacing(6)
        row.addWidget(self.box, 1)
        row.addWidget(self.filter)
        row.addWidget(self.sort)
        self.box.textChanged.connect(self._typed)
        self.filter.clicked.connect(self._open_filter)
        self.sort.clicked.connect(self._open_sort)

    def filter_menu(self) -> QMenu:
        """Build the menu of what can be asked for; what is asked for is checked."""
        menu = QMenu(self)
        text = self.box.text()
        for verdict in _VERDICTS:
            self._add(menu, f"Only {verdict}", f"verdict:{verdict}", text)
        menu.addSeparator()
        for days in _AGES:
            self._add(menu, f"Older than {days} day{'' if days == 1 else 's'}", f"older:{days}", text)
        menu.addSeparator()
        people = self.people()
        for name in people:
            self._add(menu, f"Assigned to {name}", f"assigned:{_quoted(name)}", text)
        self._add(menu, "Assigned to nobody", f"assigned:{NOBODY}", text)
        menu.addSeparator()
        schema, entity = self.names()
        for words, kind, name in (("Only the schema", "schema", schema), ("Only the entity", "entity", entity)):
            if name:
                self._add(menu, f"{words} {name}", f"{kind}:{_quoted(name)}", text)
        menu.addSeparator()
        everything = menu.addAction("Show everything")
        everything.setEnabled(bool(text))
        everything.triggered.connect(self.box.clear)
        menu.triggered.connect(self._toggle)
        return menu

    def sort_menu(self) -> QMenu:
        """Build the menu of orders and groups."""
        menu = QMenu(self)
        orders, groups = QActionGroup(menu), QActionGroup(menu)
        for order, words in _ORDERS.items():
            self._add_choice(menu, orders, words, order, order is self.order)
        menu.addSeparator()
        for grouping, words in _GROUPS.items():
            self._add_choice(menu, groups, words, grouping, grouping is self.grouping)
        menu.triggered.connect(self._choose)
        return menu

    def show_text(self, text: str) -> None:
        """Ask for something else."""
        self.box.setText(text)

    def forget(self) -> None:
        """Ask for everything again, for another project; nobody is told."""
        was_blocked = self.blockSignals(True)
        self.box.clear()
        self.blockSignals(was_blocked)

    def _open_filter(self) -> None:
        _open_below(self.filter_menu(), self.filter)

    def _open_sort(self) -> None:
        _open_below(self.sort_menu(), self.sort)

    def _typed(self, text: str) -> None:
        self.query = parse_review_query(text)
        unknown = ", ".join(self.query.unknown)
        self.box.setToolTip(f"This means nothing here: {unknown}" if unknown else "")
        self.changed.emit()

    @staticmethod
    def _add(menu: QMenu, words: str, term: str, text: str) -> None:
        action = menu.addAction(plain_entry(words))
        action.setCheckable(True)
        action.setChecked(term.lower() in text.lower().split() or term.lower() in text.lower())
        action.setData(term)

    @staticmethod
    def _add_choice(menu: QMenu, group: QActionGroup, words: str, value: object, is_on: bool) -> None:
        action = menu.addAction(words)
        action.setCheckable(True)
        action.setChecked(is_on)
        action.setData(value)
        group.addAction(action)

    def _toggle(self, action: QAction) -> None:
        """Write a term into the box in place of another one of its kind, or take it out."""
        term = action.data()
        if not isinstance(term, str):
            return
        kind = term.partition(":")[0]
        rest = " ".join(re.sub(rf'-?{kind}:("[^"]*"?|\S*)', "", self.box.text(), flags=re.IGNORECASE).split())
        self.box.setText(f"{rest} {term}".strip() if action.isChecked() else rest)

    def _choose(self, action: QAction) -> None:
        value = action.data()
        if isinstance(value, ReviewOrder):
            self.order = value
        elif isinstance(value, Grouping):
            self.grouping = value
        self.changed.emit()


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name


def _open_below(menu: QMenu, button: QWidget) -> None:
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(button.mapToGlobal(QPoint(0, button.height())))
