"""The dialog for topics to read: from a list or by a pattern, where to begin, and a look at what lies there.

Where to begin holds when nothing says where an earlier run ended. The look into a topic shows its newest messages, with
their keys.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.document import Document
from metl_gui.core.runs.kafka import is_kafka, parse_address
from metl_gui.errors import UserError
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.kafka.servers_box import ServersBox, servers_of
from metl_gui.ui.project.text import ago
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.table import CheckRow, CheckTable, TableCell, TableModel, make_table
from metl_gui.values import Value
from metl_gui.workbench.runs.topics import ShownMessage, TopicContents, TopicInfo, list_topics, look_into, pattern_fits

_EARLIEST, _LATEST, _TIME, _OFFSETS = range(4)
_CHOICES = (
    "with the earliest record that is there",
    "with what comes from now on",
    "with the first record at or after a time",
    "with offsets",
)
_EXAMPLES = {_TIME: "2026-11-22T05:00:00Z", _OFFSETS: "topic/partition/offset, with commas between"}


class StartRow(QWidget):
    """A choice, and a line where the choice needs one.

    Signals:
        changed: something else is chosen.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.choice, self.line, self.fault = ThemedComboBox(), QLineEdit(), Elided("", "small")
        self.choice.addItems(_CHOICES)
        self.choice.setAccessibleName("Where to begin")
        label = plain_label("Begin")
        label.setBuddy(self.choice)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for part, share in ((label, 0), (self.choice, 0), (self.line, 2), (self.fault, 3)):
            row.addWidget(part, share)
        self.choice.currentIndexChanged.connect(self._choose)
        self.line.textChanged.connect(self._tell)
        self._choose(_EARLIEST)

    @property
    def text(self) -> str:
        """Where to begin, as a run is told."""
        at = self.choice.currentIndex()
        return {_EARLIEST: "earliest", _LATEST: "latest"}.get(at, self.line.text().strip())

    @property
    def is_good(self) -> bool:
        """Whether it can be read."""
        return not self.fault.text()

    def show_start(self, text: str) -> None:
        """Show where to begin."""
        at = {"": _EARLIEST, "earliest": _EARLIEST, "latest": _LATEST}.get(text, -1)
        if at < 0:
            at = _OFFSETS if "/" in text else _TIME
        self.choice.setCurrentIndex(at)
        if at in _EXAMPLES:
            self.line.setText(text)

    def _choose(self, at: int) -> None:
        self.line.setVisible(at in _EXAMPLES)
        self.line.setPlaceholderText(_EXAMPLES.get(at, ""))
        self.line.setAccessibleName(_CHOICES[at].removeprefix("with ").capitalize())
        self.line.setText(f"{datetime.now(UTC) - timedelta(hours=1):%Y-%m-%dT%H:00:00Z}" if at == _TIME else "")
        self._tell()

    def _tell(self, _text: str = "") -> None:
        from metl_gui.core.runs.kafka import parse_start

        try:
            parse_start(self.text)
            is_missing = self.choice.currentIndex() in _EXAMPLES and not self.text
            self.fault.setText("Say where." if is_missing else "")
        except UserError as error:
            self.fault.setText(f"✗ {error.title}")
        self.changed.emit()


_NOTHING = "Stand on a topic to see what lies in it."
_EMPTY = "Nothing lies in it now."


class TopicPane(QWidget):
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
            columns.resizeSection(at, themes.px(110))
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

    def show_outcome(self, outcome: JobOutcome[TopicContents]) -> None:
        """Show what was found in a topic, or why nothing was."""
        if outcome.value is None:
            self.say(self.title.text(), dialogs.in_one_line(outcome.error) if outcome.error is not None else "")
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


_SIZE = (1_000, 620)
_COLUMNS = ("Topics", ("topic", "partitions"), (1,))
_LIST, _PATTERN = range(2)
_WAYS = ("Chosen topics", "All that fit a pattern")
_HINTS = ("Search the topics", "a pattern that fits whole names, like shop\\.public\\..*")


class TopicSourceChoice(Value):
    """What is read.

    Args:
        address: servers and topics.
        start: where to begin, as a run is told.
    """

    address: str
    start: str


class SourceDialog(FittedDialog):
    """Asks for topics to read.

    Signals:
        chosen: a ``TopicSourceChoice``.
        profiles_wanted: the connections are to be shown.

    Args:
        jobs: where servers are asked.
        document: returns the state whose masks hold for what is shown.
        now: what is read so far.
        also: other addresses, whose servers are offered.
    """

    chosen = Signal(object)
    profiles_wanted = Signal()

    def __init__(
        self,
        jobs: Jobs,
        document: Callable[[], Document],
        now: TopicSourceChoice,
        also: tuple[str, ...] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Topics to read")
        self._document = document
        self._listing, self._looking = NewestJob(jobs, self), NewestJob(jobs, self)
        self._known: tuple[TopicInfo, ...] = ()
        self._listed = ""
        self.servers, self.table, self.look, self.start = ServersBox(), CheckTable(*_COLUMNS), TopicPane(), StartRow()
        self.ways = [KeyButton(words, kind="segment") for words in _WAYS]
        self._group = QButtonGroup(self)
        self.line, self.count, self.address = QLineEdit(), Elided("", "small"), Elided("", "dim")
        self.take, self.close_button = KeyButton("Read these", kind="primary"), KeyButton("Cancel", "Esc")
        self._build()
        self._show_now(now, also)
        self._connect()
        self._filter()
        if self.servers.address:
            self._ask()

    @property
    def source(self) -> TopicSourceChoice | None:
        """What is chosen; ``None`` while nothing could be read."""
        servers = self._listed or self.servers.address
        topics = f"^{self.line.text().strip()}" if self._is_pattern else ",".join(self.table.rows.chosen)
        if not servers or topics in ("", "^") or not self.start.is_good:
            return None
        return TopicSourceChoice(f"{servers}/{topics}", self.start.text)

    @property
    def _is_pattern(self) -> bool:
        return self.ways[_PATTERN].isChecked()

    def _show_now(self, now: TopicSourceChoice, also: tuple[str, ...]) -> None:
        self.servers.offer(*filter(servers_of, (now.address, *also)))
        self.start.show_start(now.start)
        self.ways[_LIST].setChecked(True)
        if not is_kafka(now.address):
            return
        try:
            known = parse_address(now.address)
        except UserError:
            return
        self.table.rows.choose(known.topics)
        if known.pattern:
            self.ways[_PATTERN].setChecked(True)
            self.line.setText(known.pattern)

    def _ask(self) -> None:
        """List the topics of the servers."""
        servers = self.servers.address
        if not servers:
            return
        if self._listed and servers != self._listed:
            self.table.rows.choose(())
        self._known, self._listed = (), ""
        self._filter()
        self.count.setText(f"Asking {servers} …")
        self._listing.start("Listing topics", lambda _watch: (servers, list_topics(servers)), self._list)

    def _list(self, outcome: JobOutcome[tuple[str, tuple[TopicInfo, ...]]]) -> None:
        if outcome.value is not None:
            self._listed, self._known = outcome.value
            self._filter()
            if self.isVisible() and self.servers.line.hasFocus():
                self.line.setFocus()
        elif outcome.error is not None:
            title, text = dialogs.words_of(outcome.error)
            self.count.setText("")
            self.look.say(f"✗ {title}", text.replace("\n", " "))

    def _filter(self, _what: object = None) -> None:
        """Show the topics that the line is about, and say how many that are."""
        text = self.line.text().strip()
        self.line.setPlaceholderText(_HINTS[self._is_pattern])
        self.line.setAccessibleName("Pattern" if self._is_pattern else "Search the topics")
        if self._is_pattern:
            try:
                fitting = set(pattern_fits(text, [each.name for each in self._known])) if text else set()
            except UserError as error:
                self.table.rows.show_rows((), can_choose=False)
                self.count.setText(f"✗ {error.title} {error.text}")
                self._say()
                return
            shown = [each for each in self._known if each.name in fitting]
            partitions = number_of(sum(each.partitions for each in shown), "partition")
            self.count.setText(f"{len(shown):,} of {number_of(len(self._known), 'topic')} fit, {partitions}")
        else:
            shown = [each for each in self._known if text.lower() in each.name.lower()]
            self.count.setText(f"{len(shown):,} of {number_of(len(self._known), 'topic')} shown")
        rows = [CheckRow(each.name, (f"{each.partitions:,}",)) for each in shown]
        self.table.rows.show_rows(rows, can_choose=not self._is_pattern)
        self._say()

    def _say(self) -> None:
        source, chosen = self.source, len(self.table.rows.chosen)
        what = "Choose topics with Space." if not self._is_pattern else "Write a pattern."
        self.address.setText(source.address if source is not None else what)
        self.take.setEnabled(source is not None)
        words = "Read all that fit" if self._is_pattern else f"Read {number_of(chosen, 'topic')}"
        self.take.setText(words)
        self.take.updateGeometry()

    def _look_into(self, topic: str) -> None:
        servers, document = self._listed, self._document()
        self.look.say(topic, "Looking …")
        self._looking.start(
            f"Looking into {topic}", lambda watch: look_into(servers, topic, document, watch), self._looked
        )

    def _looked(self, outcome: JobOutcome[TopicContents]) -> None:
        self.look.show_outcome(outcome)

    def _take(self) -> None:
        source = self.source
        if source is not None:
            self.accept()
            self.chosen.emit(source)

    # building

    def _connect(self) -> None:
        self.servers.asked.connect(self._ask)
        self.servers.profiles_wanted.connect(self.profiles_wanted)
        self._group.idClicked.connect(self._filter)
        self.line.textChanged.connect(self._filter)
        self.table.looked.connect(self._look_into)
        self.table.rows.chosen_changed.connect(self._say)
        self.start.changed.connect(self._say)
        self.take.clicked.connect(self._take)
        self.close_button.clicked.connect(self.reject)

    def _build(self) -> None:
        ways = QHBoxLayout()
        ways.setSpacing(0)
        for at, button in enumerate(self.ways):
            button.setCheckable(True)
            button.setAutoDefault(False)
            button.setProperty("edge", "first" if at == 0 else "last")
            self._group.addButton(button, at)
            ways.addWidget(button)
        ways.addSpacing(10)
        ways.addWidget(self.line, 1)
        parts = QSplitter(Qt.Orientation.Horizontal)
        parts.setProperty("surface", "clear")
        parts.setChildrenCollapsible(False)
        parts.setHandleWidth(16)
        parts.addWidget(self.table)
        parts.addWidget(self.look)
        parts.setSizes([4_500, 5_500])
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(self.address, 1)
        for button in (self.take, self.close_button):
            button.setAutoDefault(False)
            foot.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(10)
        layout.addWidget(plain_label("Topics to read", "title"))
        layout.addWidget(self.servers)
        layout.addLayout(ways)
        layout.addWidget(self.count)
        layout.addWidget(parts, 1)
        layout.addWidget(self.start)
        layout.addLayout(foot)
        self.resize(themes.px(_SIZE[0]), themes.px(_SIZE[1]))
