"""The dialog for topics to write: one for each entity, and perhaps one for what is set aside.

Topics that a run needs and that are not there are shown with their settings, and made when a person says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QHeaderView, QLineEdit, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.runs.kafka import ENTITY, is_kafka, parse_address
from metl_gui.errors import UserError
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.kafka.servers_box import ServersBox, servers_of
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.table import TableCell, TableModel, make_table
from metl_gui.values import Value
from metl_gui.workbench.runs.topics import TopicInfo, list_topics

if TYPE_CHECKING:
    from metl_gui.core.runs.kafka import TopicPlan


_SIZE = (760, 540)
_PATTERN = f"metl.{ENTITY}"
_ERRORS = "metl.errors"
_PATTERN_WORDS = f"{ENTITY} stands for the name of the entity; without it all messages go into one topic."
_TOMBSTONE_WORDS = "Compacted topics forget a row by it; connectors of databases delete by it."
_ERRORS_WORDS = (
    "Takes what is set aside, whole, with the reason in its headers. A fast lane needs one; else it may be empty, for "
    "a folder of the run's own."
)
_MADE_WORDS = "The others are shown with their settings before the run, and made when you say so."
_KEY_WORDS = "Keyed by the mapped key, so that the messages of a row stay in order. No topic is made unasked."


class TopicSinkChoice(Value):
    """Where messages go.

    Args:
        address: servers and the pattern of topics.
        errors: the address of the error topic, empty for a folder.
        has_tombstones: a null value follows each delete.
    """

    address: str
    errors: str = ""
    has_tombstones: bool = False


class SinkDialog(FittedDialog):
    """Asks where messages go.

    Signals:
        chosen: a ``TopicSinkChoice``.
        profiles_wanted: the connections are to be shown.

    Args:
        jobs: where servers are asked.
        entities: what there are messages of.
        now: where they go so far.
        also: other addresses, whose servers are offered.
    """

    chosen = Signal(object)
    profiles_wanted = Signal()

    def __init__(
        self,
        jobs: Jobs,
        entities: Sequence[str],
        now: TopicSinkChoice,
        also: tuple[str, ...] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Topics to write")
        self._entities = tuple(entities)
        self._listing = NewestJob(jobs, self)
        self._known: dict[str, int] | None = None
        self.servers = ServersBox()
        self.servers.ask.setText("Look")
        self.pattern, self.errors = QLineEdit(_PATTERN), QLineEdit()
        self.tombstones = QCheckBox("Send a tombstone after each delete")
        self.model = TableModel([TableCell("topic"), TableCell("entity"), TableCell("now")])
        self.table = make_table("Topics of the messages", self.model)
        self.facts = plain_label("", "small")
        self.facts.setWordWrap(True)  # as in the pane that looks into topics
        self.take, self.close_button = KeyButton("Write there", kind="primary"), KeyButton("Cancel", "Esc")
        self._build()
        self._show_now(now, also)
        self._connect()
        self._say()
        if self.servers.address:
            self._ask()

    @property
    def sink(self) -> TopicSinkChoice | None:
        """What is chosen; ``None`` while messages could not go there."""
        servers, pattern, errors = self.servers.address, self.pattern.text().strip(), self.errors.text().strip()
        if not servers or not pattern:
            return None
        found = TopicSinkChoice(
            f"{servers}/{pattern}", f"{servers}/{errors}" if errors else "", self.tombstones.isChecked()
        )
        try:
            addresses = [parse_address(each) for each in (found.address, found.errors) if each]
        except UserError:
            return None
        is_one = all(len(each.topics) == 1 and not each.pattern for each in addresses)
        return found if is_one and ENTITY not in errors else None

    def _show_now(self, now: TopicSinkChoice, also: tuple[str, ...]) -> None:
        self.servers.offer(*filter(servers_of, (now.address, *also)))
        self.tombstones.setChecked(now.has_tombstones)
        for address, line in ((now.address, self.pattern), (now.errors, self.errors)):
            if servers_of(address) and (topics := parse_address(address).topics):
                line.setText(topics[0])
        if not is_kafka(now.address):
            self.errors.setText(_ERRORS)

    def _ask(self) -> None:
        servers = self.servers.address
        if servers:
            self._known = None
            self.facts.setText(f"Asking {servers} …")
            self._listing.start("Listing topics", lambda _watch: list_topics(servers), self._list)

    def _list(self, outcome: JobOutcome[tuple[TopicInfo, ...]]) -> None:
        if outcome.value is not None:
            self._known = {each.name: each.partitions for each in outcome.value}
            self._say()
        elif outcome.error is not None:
            title, text = dialogs.words_of(outcome.error)
            self.facts.setText(f"✗ {title} {text}".replace("\n", " "))

    def _say(self, _what: object = None) -> None:
        """Show which topics these are, and which of them are there."""
        sink = self.sink
        self.take.setEnabled(sink is not None)
        if sink is None:
            self.model.show_rows([])
            self.facts.setText("Name servers, and a topic with letters, digits, dots, dashes and underscores.")
            return
        pattern, errors = self.pattern.text().strip(), self.errors.text().strip()
        names = {pattern.replace(ENTITY, each.lower()): each for each in self._entities}
        rows = [(name, entity if ENTITY in pattern else "all entities") for name, entity in names.items()]
        rows += [(errors, "what is set aside")] if errors else []
        self.model.show_rows([self._row(*each) for each in rows])
        if self._known is not None:
            missing = sum(name not in self._known for name, _ in rows)
            there = f"{len(rows) - missing:,} of {number_of(len(rows), 'topic')} are there"
            then = ". The others are shown with their settings, and made when you say so, before the run." * (
                missing > 0
            )
            self.facts.setText(f"{there}{then}")

    def _row(self, name: str, entity: str) -> tuple[TableCell, ...]:
        if self._known is None:
            now = TableCell("")
        elif name in self._known:
            now = TableCell(number_of(self._known[name], "partition"))
        else:
            now = TableCell("not there yet", pill="review")
        return TableCell(name, tip=name), TableCell(entity, tip=entity), now

    def _take(self) -> None:
        sink = self.sink
        if sink is not None:
            self.accept()
            self.chosen.emit(sink)

    # building

    def _connect(self) -> None:
        self.servers.asked.connect(self._ask)
        self.servers.line.textEdited.connect(self._say)
        self.servers.profiles_wanted.connect(self.profiles_wanted)
        self.pattern.textChanged.connect(self._say)
        self.errors.textChanged.connect(self._say)
        self.take.clicked.connect(self._take)
        self.close_button.clicked.connect(self.reject)

    def _build(self) -> None:
        form = QGridLayout()
        form.setHorizontalSpacing(14)
        form.setVerticalSpacing(4)
        form.setColumnStretch(1, 1)
        fields = (
            ("Topics", self.pattern, _PATTERN_WORDS),
            ("", self.tombstones, _TOMBSTONE_WORDS),
            ("Error topic", self.errors, _ERRORS_WORDS),
        )
        for at, (title, field, words) in enumerate(fields):
            label = plain_label(title)
            label.setBuddy(field)
            form.addWidget(label, 2 * at, 0)
            form.addWidget(field, 2 * at, 1)
            field.setAccessibleDescription(words)
            if title:
                field.setAccessibleName(title)
            small = plain_label(words, "small")
            small.setWordWrap(True)
            form.addWidget(small, 2 * at + 1, 1)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addStretch(1)
        for button in (self.take, self.close_button):
            button.setAutoDefault(False)
            foot.addWidget(button)
        key = plain_label(_KEY_WORDS, "small")
        key.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(10)
        layout.addWidget(plain_label("Topics to write", "title"))
        layout.addWidget(self.servers)
        layout.addLayout(form)
        layout.addWidget(key)
        layout.addWidget(self.facts)
        layout.addWidget(self.table, 1)
        layout.addLayout(foot)
        self.resize(themes.px(_SIZE[0]), themes.px(_SIZE[1]))


_NEW_TOPICS_SIZE = (900, 420)
_PARTITIONS = (0, 1, 2, 3, 4, 6, 8, 12, 24, 48, 96)
_AS_SET = "as the servers are set"


class NewTopicsDialog(FittedDialog):
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
        self.partitions = ThemedComboBox()
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
        self.resize(themes.px(_NEW_TOPICS_SIZE[0]), themes.px(_NEW_TOPICS_SIZE[1]))


def _cells(plan: TopicPlan) -> tuple[TableCell, ...]:
    settings = ", ".join(f"{name}={value}" for name, value in plan.settings) or "the servers' own"
    return (
        TableCell(plan.name, tip=plan.name),
        TableCell("as set" if plan.partitions < 0 else f"{plan.partitions:,}", is_number=True),
        TableCell("as set" if plan.replication < 0 else f"{plan.replication:,}", is_number=True),
        TableCell(settings, tip=settings),
        TableCell(plan.why, tip=plan.why),
    )
