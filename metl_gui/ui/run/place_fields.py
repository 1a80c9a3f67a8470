"""From where messages come and to where they go: files, folders or topics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFileDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from metl_gui.engine.kafka.servers import is_kafka, parse_address
from metl_gui.engine.runs import Format
from metl_gui.errors import UserError
from metl_gui.ui.choice import Choice
from metl_gui.ui.elided import Elided
from metl_gui.ui.kafka.sink_dialog import TopicSink
from metl_gui.ui.kafka.source_dialog import TopicSource
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label

_OWN_FOLDER = "a folder of the run's own"
_NEW_FOLDER = "a new or empty folder"
FORMATS: tuple[tuple[Format, str, str], ...] = (
    ("jsonl", "JSON lines", "Messages as they are sent, one a line"),
    ("parquet", "Parquet", "One typed table an entity"),
)
_BEGINS = {"": "from the earliest record", "earliest": "from the earliest record", "latest": "from now on"}


@dataclass(frozen=True)
class TopicChoices:
    """What is chosen of topics beside their addresses.

    Args:
        start: where the source begins; empty for its earliest record.
        errors: the address of the error topic; empty for a folder.
        has_tombstones: a null value follows each delete.
    """

    start: str = ""
    errors: str = ""
    has_tombstones: bool = False


class PlaceFields(QWidget):
    """Two lines with the ways to fill them.

    Signals:
        changed: another place was written or chosen.
        topics_wanted: topics are to be chosen: ``source`` or ``sink``.
    """

    changed = Signal()
    topics_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.topic_choices = TopicChoices()
        self.source, self.sink = QLineEdit(), QLineEdit()
        self.source.setPlaceholderText("A file, a folder, a pattern, or topics")
        self.source.setAccessibleName("From")
        self.sink.setAccessibleName("To")
        self.source_facts, self.sink_facts = Elided("", "small"), Elided("", "small")
        self.format = Choice()
        self.format.setAccessibleName("Format of the messages")
        for at, (_, words, tip) in enumerate(FORMATS):
            self.format.addItem(words)
            self.format.setItemData(at, tip, 3)
        self.by_date = QCheckBox("by date")
        self.by_date.setToolTip("A folder for each day below that of the entity")
        self.by_date.setAccessibleName("Folders by date")
        self.files = _link("File…", "Choose a file of messages")
        self.folder = _link("Folder…", "Choose a folder of messages")
        self.topics = _link("Topics…", "Choose topics to read")
        self.into = _link("Folder…", "Folder for the messages")
        self.into_topics = _link("Topics…", "Choose topics to write")
        self._build()
        self.files.clicked.connect(self.choose_file)
        self.folder.clicked.connect(self.choose_folder)
        self.into.clicked.connect(self.choose_sink)
        self.topics.clicked.connect(self._want_source)
        self.into_topics.clicked.connect(self._want_sink)
        for line in (self.source, self.sink):
            line.textChanged.connect(self._say)
        self.show_production(False)
        self._say()

    @property
    def is_from_topics(self) -> bool:
        """Whether the source is in Kafka."""
        return is_kafka(self.source.text())

    @property
    def is_to_topics(self) -> bool:
        """Whether the messages go into topics."""
        return is_kafka(self.sink.text())

    @property
    def topic_source(self) -> TopicSource:
        """What is read, as the dialog of topics takes it."""
        return TopicSource(self.source.text().strip(), self.topic_choices.start)

    @property
    def topic_sink(self) -> TopicSink:
        """Where messages go, as the dialog of topics takes it."""
        known = self.topic_choices
        return TopicSink(self.sink.text().strip(), known.errors, known.has_tombstones)

    def take_source(self, source: TopicSource) -> None:
        """Read topics."""
        self.topic_choices = replace(self.topic_choices, start=source.start)
        self.source.setText(source.address)
        self._say()

    def take_sink(self, sink: TopicSink) -> None:
        """Write to topics."""
        self.topic_choices = replace(self.topic_choices, errors=sink.errors, has_tombstones=sink.has_tombstones)
        self.sink.setText(sink.address)
        self._say()

    def show_production(self, is_production: bool) -> None:
        """Say where messages go when nobody says it."""
        self.sink.setPlaceholderText(_NEW_FOLDER if is_production else _OWN_FOLDER)

    def choose_file(self) -> None:
        """Ask for one file of messages."""
        path, _ = QFileDialog.getOpenFileName(self, "Messages to map", self._start())
        if path:
            self.source.setText(path)

    def choose_folder(self) -> None:
        """Ask for a folder of messages."""
        path = QFileDialog.getExistingDirectory(self, "Folder of messages to map", self._start())
        if path:
            self.source.setText(path)

    def choose_sink(self) -> None:
        """Ask for the folder of the messages."""
        path = QFileDialog.getExistingDirectory(self, "New or empty folder for the messages", self.sink.text())
        if path:
            self.sink.setText(path)

    def _say(self, _text: str = "") -> None:
        """Say of topics what their addresses leave open."""
        known = self.topic_choices
        begins = _BEGINS.get(known.start, f"from {known.start} on")
        self.source_facts.setText(begins if self.is_from_topics else "")
        parts = ["a tombstone after each delete"] if known.has_tombstones and self.is_to_topics else []
        if self.is_to_topics and known.errors:
            parts.append(f"set aside into {_topic_of(known.errors)}")
        self.sink_facts.setText(" · ".join(parts))
        for facts in (self.source_facts, self.sink_facts):
            facts.setVisible(bool(facts.text()))
        for part in (self.format, self.by_date):
            part.setVisible(not self.is_to_topics)
        self.changed.emit()

    def _want_source(self) -> None:
        self.topics_wanted.emit("source")

    def _want_sink(self) -> None:
        self.topics_wanted.emit("sink")

    def _start(self) -> str:
        return str(Path.home() if self.is_from_topics else Path(self.source.text() or Path.home()))

    def _build(self) -> None:
        fields = QVBoxLayout(self)
        fields.setContentsMargins(0, 0, 0, 0)
        fields.setSpacing(4)
        fields.addLayout(_titled("From", self.files, self.folder, self.topics))
        fields.addWidget(self.source)
        fields.addWidget(self.source_facts)
        fields.addSpacing(4)
        fields.addLayout(_titled("To", self.into, self.into_topics))
        fields.addWidget(self.sink)
        fields.addWidget(self.sink_facts)
        how = QHBoxLayout()
        how.setSpacing(8)
        how.addWidget(self.format, 1)
        how.addWidget(self.by_date)
        fields.addLayout(how)


def _topic_of(address: str) -> str:
    try:
        return ", ".join(parse_address(address).topics)
    except UserError:
        return address


def _link(words: str, name: str) -> KeyButton:
    link = KeyButton(words, kind="link")
    link.set_height(20)
    link.setAccessibleName(name)
    return link


def _titled(words: str, *links: KeyButton) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(0)
    row.addWidget(plain_label(words))
    row.addStretch(1)
    for link in links:
        row.addWidget(link)
    return row
