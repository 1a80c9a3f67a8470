"""The fields of the setup: from where messages come, to where they go, and on which Spark a run is done.

Places are files, folders or topics. The targets of Spark are those used lately and the connection profiles that lead to
Spark; beside them stands how the session is now.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QFileDialog, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from metl_gui.core.runs.kafka import is_kafka, parse_address
from metl_gui.core.runs.run_spec import Format
from metl_gui.core.runs.target import LOCAL_TARGET, parse_target
from metl_gui.errors import UserError
from metl_gui.ui.kafka.sink_dialog import TopicSinkChoice
from metl_gui.ui.kafka.source_dialog import TopicSourceChoice
from metl_gui.ui.project.settings import ViewSettings
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.values import Value
from metl_gui.workbench.profiles.kinds import ProfileKind
from metl_gui.workbench.profiles.saved_profiles import profiles

_OWN_FOLDER = "a folder of the run's own"
_NEW_FOLDER = "a new or empty folder"
FORMATS: tuple[tuple[Format, str, str], ...] = (
    ("jsonl", "JSON lines", "Messages as they are sent, one a line"),
    ("parquet", "Parquet", "One typed table an entity"),
)
_BEGINS = {"": "from the earliest record", "earliest": "from the earliest record", "latest": "from now on"}


class TopicChoices(Value):
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
        self.format = ThemedComboBox()
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
    def topic_source(self) -> TopicSourceChoice:
        """What is read, as the dialog of topics takes it."""
        return TopicSourceChoice(self.source.text().strip(), self.topic_choices.start)

    @property
    def topic_sink(self) -> TopicSinkChoice:
        """Where messages go, as the dialog of topics takes it."""
        known = self.topic_choices
        return TopicSinkChoice(self.sink.text().strip(), known.errors, known.has_tombstones)

    def take_source(self, source: TopicSourceChoice) -> None:
        """Read topics."""
        self.topic_choices = replace(self.topic_choices, start=source.start)
        self.source.setText(source.address)
        self._say()

    def take_sink(self, sink: TopicSinkChoice) -> None:
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


_READY, _STARTING = "ready", "starting"
_PROFILE = "@"


class TargetBox(QWidget):
    """A box to type or choose a target in, with the state of the session above it.

    Signals:
        chosen: the text of another target.
        profiles_wanted: the profiles are to be shown.
    """

    chosen = Signal(object)
    profiles_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = ThemedComboBox()
        self.line = QLineEdit()
        self.box.setLineEdit(self.line)
        self.box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.box.setAccessibleName("On")
        self.box.setAccessibleDescription("local[*], sc://host:port, spark://host:port, or @ and the name of a profile")
        self.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.profiles = KeyButton("Connections…", kind="link")
        self.profiles.set_height(20)
        self.dot = QLabel()
        self.dot.setAccessibleName("State of Spark")
        self.state = Elided("not started", "small")
        self._recent: tuple[str, ...] = ()
        self._profiles: tuple[str, ...] = ()
        self._told = LOCAL_TARGET
        self._build()
        self.show_targets((), ())
        self.box.setEditText(LOCAL_TARGET)
        self.show_state("not started")
        self.profiles.clicked.connect(self.profiles_wanted)
        self.line.editingFinished.connect(self._tell)
        self.box.activated.connect(self._tell)

    @property
    def text(self) -> str:
        """What is chosen."""
        return self.box.currentText().strip() or LOCAL_TARGET

    def choose(self, target: str) -> None:
        """Choose a target."""
        self.box.setEditText(target)
        self._tell()

    def show_targets(self, recent: Iterable[str], profiles: Iterable[str]) -> None:
        """Offer what was used lately, and the profiles by their names."""
        self._recent, self._profiles = tuple(recent), tuple(f"{_PROFILE}{name}" for name in profiles)
        text = self.box.currentText()
        self.box.blockSignals(True)
        self.box.clear()
        self.box.addItems(list(dict.fromkeys((LOCAL_TARGET, *self._profiles, *self._recent))))
        self.box.setEditText(text)
        self.box.blockSignals(False)

    def show_state(self, words: str) -> None:
        """Say how the session is: ``ready``, ``starting``, or what is wrong with it."""
        theme = themes.current()
        colours = {_READY: theme.good, _STARTING: theme.dim, "not started": theme.faint}
        self.dot.setText(themes.coloured("●", colours.get(words, theme.bad)))
        self.state.setText(words)
        self.dot.setAccessibleDescription(words)

    def dress(self) -> None:
        """Take the colours of the theme."""
        self.show_state(self.state.text())

    def _tell(self) -> None:
        if self.text != self._told:
            self._told = self.text
            self.chosen.emit(self.text)

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(4)
        head.addWidget(QLabel("On"))
        head.addSpacing(4)
        head.addWidget(self.dot)
        head.addWidget(self.state, 1)
        head.addWidget(self.profiles)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self.box)


def without_secrets(target: str) -> str:
    """Return a target as it may be remembered: without tokens; empty where it cannot be read."""
    if target.startswith(_PROFILE):
        return target
    try:
        return parse_target(target).master
    except UserError:
        return ""


class KnownTargets:
    """Offers targets in a box, and remembers what was used.

    Args:
        settings: where they are remembered.
        box: where they are offered.
    """

    def __init__(self, settings: ViewSettings, box: TargetBox) -> None:
        self._settings, self._box = settings, box

    def remember(self, target: str) -> None:
        """Offer a target from now on; nothing secret of it is remembered."""
        known = without_secrets(target)
        if known:
            self._settings.remember_target(known)
            self.refresh()

    def refresh(self) -> None:
        """Offer the targets used lately and the connections that there are now."""
        try:
            names = [profile.name for profile in profiles(ProfileKind.SPARK)]
        except UserError:
            names = []  # their dialog says why they cannot be read
        self._box.show_targets(self._settings.targets, names)
