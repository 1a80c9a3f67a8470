"""What lies in a topic: the newest messages, with their keys."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QPlainTextEdit, QSplitter, QVBoxLayout, QWidget

from metl_gui.errors import MetlError
from metl_gui.ui import asking
from metl_gui.ui import theme as themes
from metl_gui.ui.elided import Elided
from metl_gui.ui.jobs import Outcome
from metl_gui.ui.moments import ago
from metl_gui.ui.naming import number_of
from metl_gui.ui.plain import plain_label
from metl_gui.ui.run.tables import TableCell, TableModel, make_table
from metl_gui.workbench.topics import ShownMessage, TopicLook

_NOTHING = "Stand on a topic to see what lies in it."
_EMPTY = "Nothing lies in it now."


class LookPane(QWidget):
    """A table of messages, and the whole of the one that is chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title, self.facts = Elided("", "heading"), plain_label(_NOTHING, "small")
        self.facts.setWordWrap(True)  # what to do about servers that do not answer takes more than a line
        self.model = TableModel([TableCell("position"), TableCell("key"), TableCell("value")])
        self.table = make_table("Newest messages", self.model)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        columns = self.table.horizontalHeader()
        for at in (0, 1):
            columns.setSectionResizeMode(at, QHeaderView.ResizeMode.Interactive)
        columns.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        self.table.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.whole = QPlainTextEdit()
        self.whole.setReadOnly(True)
        self.whole.setAccessibleName("Message")
        self.whole.setTabChangesFocus(True)
        self.whole.setFont(themes.mono())
        self._messages: tuple[ShownMessage, ...] = ()
        parts = QSplitter(Qt.Orientation.Vertical)
        parts.setProperty("surface", "clear")
        parts.setChildrenCollapsible(False)
        parts.addWidget(self.table)
        parts.addWidget(self.whole)
        parts.setSizes([3_000, 2_000])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.title)
        layout.addWidget(self.facts)
        layout.addWidget(parts, 1)
        self.table.selectionModel().currentRowChanged.connect(self._show_whole)

    def say(self, title: str, facts: str) -> None:
        """Show words and no messages."""
        self.title.setText(title)
        self.facts.setText(facts)
        self._messages = ()
        self.model.show_rows([])
        self.whole.clear()

    def show_nothing(self) -> None:
        """Show that no topic was looked into."""
        self.say("", _NOTHING)

    def show_outcome(self, outcome: Outcome[TopicLook]) -> None:
        """Show what was found in a topic, or why nothing was."""
        if outcome.value is None:
            self.say(self.title.text(), _words_of(outcome.error) if outcome.error is not None else "")
            return
        look = outcome.value
        counted = f"{number_of(look.partitions, 'partition')}, {look.offsets:,} offsets"
        newest = look.messages[0].time_ms if look.messages else 0
        when = f" · newest {ago(newest)}" if newest else ""
        self.say(look.topic, f"{counted}{when}" if look.messages else f"{counted}. {_EMPTY}")
        self._messages = look.messages
        self.model.show_rows([_cells(each) for each in look.messages])
        self.table.setColumnWidth(0, themes.px(70))
        self.table.setColumnWidth(1, themes.px(110))
        if look.messages:
            self.table.selectRow(0)

    def _show_whole(self) -> None:
        row = self.table.currentIndex().row()
        if 0 <= row < len(self._messages):
            each = self._messages[row]
            self.whole.setPlainText(each.value or "No value: a tombstone.")


def _cells(each: ShownMessage) -> tuple[TableCell, ...]:
    value = TableCell("tombstone", pill="plain") if each.kind == "tombstone" else TableCell(_line(each.value))
    place = each.position.split("/", 1)[1]
    return TableCell(place, tip=each.position), TableCell(_line(each.key), tip=each.key[:400]), value


def _line(text: str) -> str:
    return " ".join(text[:400].split())


def _words_of(error: MetlError) -> str:
    return " ".join(asking.words_of(error)).replace("\n", " ")
