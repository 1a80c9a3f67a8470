"""Choosing topics to read: from a list or by a pattern, where to begin, and a look at what lies there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QDialog, QHBoxLayout, QLineEdit, QSplitter, QVBoxLayout, QWidget

from metl_gui.core.matrix.document import Document
from metl_gui.engine.kafka.servers import is_kafka, parse_address
from metl_gui.errors import UserError
from metl_gui.ui import asking
from metl_gui.ui import theme as themes
from metl_gui.ui.chosen_table import Choosable, ChosenTable
from metl_gui.ui.elided import Elided
from metl_gui.ui.jobs import Jobs, Outcome
from metl_gui.ui.kafka.look_pane import LookPane
from metl_gui.ui.kafka.servers_box import ServersBox, servers_of
from metl_gui.ui.kafka.start_row import StartRow
from metl_gui.ui.naming import number_of
from metl_gui.ui.newest_job import NewestJob
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label
from metl_gui.workbench.topics import TopicLook, TopicThere, look_into, pattern_fits, topics_there

_SIZE = (1_000, 620)
_COLUMNS = ("Topics", ("topic", "partitions"), (1,))
_LIST, _PATTERN = range(2)
_WAYS = ("Chosen topics", "All that fit a pattern")
_HINTS = ("Search the topics", "a pattern that fits whole names, like shop\\.public\\..*")


@dataclass(frozen=True)
class TopicSource:
    """What is read.

    Args:
        address: servers and topics.
        start: where to begin, as a run is told.
    """

    address: str
    start: str


class SourceDialog(QDialog):
    """Asks for topics to read.

    Signals:
        chosen: a ``TopicSource``.
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
        now: TopicSource,
        also: tuple[str, ...] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Topics to read")
        self._document = document
        self._listing, self._looking = NewestJob(jobs, self), NewestJob(jobs, self)
        self._known: tuple[TopicThere, ...] = ()
        self._listed = ""
        self.servers, self.table, self.look, self.start = ServersBox(), ChosenTable(*_COLUMNS), LookPane(), StartRow()
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
    def source(self) -> TopicSource | None:
        """What is chosen; ``None`` while nothing could be read."""
        servers = self._listed or self.servers.address
        topics = f"^{self.line.text().strip()}" if self._is_pattern else ",".join(self.table.rows.chosen)
        if not servers or topics in ("", "^") or not self.start.is_good:
            return None
        return TopicSource(f"{servers}/{topics}", self.start.text)

    @property
    def _is_pattern(self) -> bool:
        return self.ways[_PATTERN].isChecked()

    def _show_now(self, now: TopicSource, also: tuple[str, ...]) -> None:
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
        self._listing.start("Listing topics", lambda _watch: (servers, topics_there(servers)), self._list)

    def _list(self, outcome: Outcome[tuple[str, tuple[TopicThere, ...]]]) -> None:
        if outcome.value is not None:
            self._listed, self._known = outcome.value
            self._filter()
            if self.isVisible() and self.servers.line.hasFocus():
                self.line.setFocus()
        elif outcome.error is not None:
            title, text = asking.words_of(outcome.error)
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
        rows = [Choosable(each.name, (f"{each.partitions:,}",)) for each in shown]
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

    def _looked(self, outcome: Outcome[TopicLook]) -> None:
        self.look.show_outcome(outcome)

    def _take(self) -> None:
        source = self.source
        if source is not None:
            self.accept()
            self.chosen.emit(source)

    def refresh_servers(self) -> None:
        """Offer the connections that there are now."""
        self.servers.offer()

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
