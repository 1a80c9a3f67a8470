"""The dialog for loading rows that tables have already: which tables, from where, what would be done, the load.

Also what is said of loads: the ways, what one would do, how far one is, and what became of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QComboBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.progress import Progress
from metl_gui.errors import UserError
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.project.text import on
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.table import CheckRow, CheckTable
from metl_gui.workbench.lanes.control import Lane
from metl_gui.workbench.lanes.initial_load import (
    BEGINNING,
    DEBEZIUM,
    POSTGRESQL,
    Loadable,
    LoadPlan,
    LoadRequest,
    plan_load,
)
from metl_gui.workbench.profiles.kinds import ProfileKind
from metl_gui.workbench.profiles.saved_profiles import SIGN, profiles
from metl_gui.workbench.session import Workbench

if TYPE_CHECKING:
    from metl_gui.core.runs.lanes import LoadProgress


WAYS = {POSTGRESQL: "From the database", DEBEZIUM: "From the connector", BEGINNING: "From the topics' beginning"}
WAY_WORDS = {
    POSTGRESQL: "Reads the rows from the database as they are at one moment. Nothing is written there.",
    DEBEZIUM: "Asks Debezium to send the rows among the changes. Needs its signalling table or topic.",
    BEGINNING: "Takes what the topics still hold from before the lane began.",
}
PROMISE = (
    "All rows that are there already go through the mapping once, while the lane goes on with their changes. No row is "
    "lost, and none goes back to an older value."
)
ASK = "Choose tables with Space, then look what would be done; nothing is done by looking."


def newest_words(load: LoadProgress | None) -> str:
    """Say in a few words what became of the newest load of a table."""
    if load is None:
        return "not loaded yet"
    rows = f"{load.done:,} of {load.rows:,}"
    when = f", {on(load.ended_ms)}" if load.ended_ms else ""
    if not load.is_done:
        return f"goes on: {rows} rows"
    if load.is_given_up:
        return f"given up at {rows} rows{when}"
    return f"{number_of(load.rows, 'row')}{when}"


def plan_words(plan: LoadPlan) -> str:
    """Say what a load would do."""
    counts = [table.records for table in plan.tables if table.records is not None]
    checked = sum(table.checked for table in plan.tables)
    rows = f"About {number_of(sum(counts), 'row')} of " if counts else "The rows of "
    compared = f" {number_of(checked, 'row')} compared with their changes: they are written alike." if checked else ""
    return f"{rows}{number_of(len(plan.tables), 'table')}.{compared} {plan.says}"


def loaded_words(plan: LoadPlan, done: Sequence[LoadProgress]) -> str:
    """Say what became of a load."""
    if not done:
        tables = ", ".join(table.table for table in plan.tables)
        return f"The connector was asked for the rows of {tables}; they come among the changes."
    return " ".join(map(_loaded, done))


def stopped_words(plan: LoadPlan, known: Sequence[LoadProgress]) -> str:
    """Say how things are after somebody stopped waiting for a load."""
    topics = {table.topic for table in plan.tables}
    going_on = [load for load in known if load.changes in topics and not load.is_done]
    if not going_on:
        return "The load was stopped before the lane was told of it."
    each = ", ".join(f"{load.changes} ({load.done:,} of {load.rows:,} rows)" for load in going_on)
    return f"The lane goes on with {each}; to stop that too, give the load up."


def given_up_words(done: Sequence[LoadProgress]) -> str:
    """Say what became of loads that were given up."""
    return " ".join(f"{load.changes}: given up; {load.done:,} of {load.rows:,} rows are mapped." for load in done)


def needs_another(done: Sequence[LoadProgress]) -> bool:
    """Whether large values are missing that only another load brings, or rows."""
    return any(load.superseded_partly or load.is_given_up for load in done)


def _loaded(load: LoadProgress) -> str:
    if load.is_given_up:
        return given_up_words([load])
    words = f"{load.changes}: all {number_of(load.rows, 'row')} are through."
    if load.superseded:
        words += f" {load.superseded:,} were left out, as they changed meanwhile."
    if load.superseded_partly:
        words += (
            f" {load.superseded_partly:,} were left out although their changes leave out large values: load once more."
        )
    return words


_SIZE = (860, 600)
_ANSWER_PX = 68
_DATABASE = "@ and the name of a connection, or postgresql://user@host/database"
_SLOT = "only where the database has more than one: the connector's slot.name"
_SIGNAL = "schema.table (signal.data.collection), or kafka:TOPIC (signal.kafka.topic)"
_HEADERS = ("topic of the table", "newest load", "rows", "compared")


class LoadDialog(FittedDialog):
    """Looks first and loads then.

    Signals:
        agreed: the ``LoadPlan`` that is to be done.
        given_up: the topics of the tables whose loads are to be given up.
        profiles_wanted: the connections are to be shown.

    Args:
        jobs: where servers are asked.
        workbench: the project.
        lane: the lane.
        tables: what it reads.
    """

    agreed = Signal(object)
    given_up = Signal(object)
    profiles_wanted = Signal()

    def __init__(
        self, jobs: Jobs, workbench: Workbench, lane: Lane, tables: Sequence[Loadable], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Load existing rows")
        self._workbench, self._lane, self._looking = workbench, lane, NewestJob(jobs, self)
        self._tables = {each.topic: each for each in tables}
        self.plan: LoadPlan | None = None
        self._asked: LoadRequest | None = None
        self.ways = {way: KeyButton(words, kind="segment") for way, words in WAYS.items()}
        self._group = QButtonGroup(self)
        self.way_words, self.words = plain_label("", "dim"), plain_label(ASK, "dim")
        self.database, self.slot, self.signal = ThemedComboBox(), QLineEdit(), QLineEdit()
        self.profiles = KeyButton("Connections…", kind="link")
        self.table = CheckTable("Tables", _HEADERS, (2, 3))
        self.look, self.give_up = KeyButton("Look"), KeyButton("Give the load up")
        self.do, self.close_button = KeyButton("Load", kind="primary"), KeyButton("Cancel", "Esc")
        self._build()
        self.offer_databases()
        self._connect()
        self.table.rows.choose([topic for topic in self._tables if len(self._tables) == 1])
        self._forget()

    @property
    def way(self) -> str:
        """Where the rows come from."""
        return next(way for way, button in self.ways.items() if button.isChecked())

    @property
    def request(self) -> LoadRequest | None:
        """What is chosen; ``None`` while something is missing."""
        chosen, database = tuple(self.table.rows.chosen), self.database.currentText().strip()
        signal = self.signal.text().strip()
        has_all = {
            POSTGRESQL: bool(database),
            DEBEZIUM: bool(signal) and (bool(database) or signal.startswith("kafka:")),
            BEGINNING: True,
        }
        if not chosen or not has_all[self.way]:
            return None
        return LoadRequest(chosen, self.way, database, slot=self.slot.text().strip(), signal=signal)

    def offer_databases(self) -> None:
        """Offer the connections of databases that there are."""
        text = self.database.currentText()
        try:
            names = [f"{SIGN}{profile.name}" for profile in profiles(ProfileKind.POSTGRESQL)]
        except UserError:
            names = []  # their dialog says why they cannot be read
        self.database.clear()
        self.database.addItems(names)
        self.database.setEditText(text or self.database.itemText(0))

    # showing

    def _forget(self, _what: object = None) -> None:
        """Show nothing of another load than the one that is chosen."""
        self._looking.cancel()
        self.plan = self._asked = None
        self._say(ASK)

    def _say(self, words: str) -> None:
        way, plan, chosen = self.way, self.plan, self.table.rows.chosen
        loads = [self._tables[topic].newest for topic in chosen]
        goes_on = [load is not None and not load.is_done for load in loads]
        for row, ways in self._rows.items():
            row.setVisible(way in ways)
        self.way_words.setText(WAY_WORDS[way])
        self.words.setText(words)
        self._show_rows()
        self.look.setEnabled(self.request is not None and not any(goes_on))
        self.give_up.setVisible(bool(goes_on) and all(goes_on))
        records = [table.records for table in plan.tables if table.records is not None] if plan is not None else []
        self.do.setEnabled(plan is not None)
        self.do.setText(f"Load about {number_of(sum(records), 'row')}" if records else "Load")
        self.do.updateGeometry()

    def _show_rows(self) -> None:
        plan = {table.topic: table for table in self.plan.tables} if self.plan is not None else {}
        rows = []
        for topic, each in self._tables.items():
            known = plan.get(topic)
            records = f"{known.records:,}" if known is not None and known.records is not None else ""
            checked = f"{known.checked:,}" if known is not None and known.checked else ""
            rows.append(CheckRow(topic, (newest_words(each.newest), records, checked)))
        if tuple(rows) != self.table.rows.rows:
            at = self.table.currentIndex().row()
            self.table.rows.show_rows(rows)
            self.table.selectRow(max(at, 0))

    # doing

    def _look(self) -> None:
        request, workbench, lane = self.request, self._workbench, self._lane
        # A line in a box of choices tells of Enter twice.
        if request is None or request == self._asked or not self.look.isEnabled():
            return
        self._forget()
        self._asked = request
        self._say("Looking …")
        job = self._looking.start(
            "Looking what would be loaded", lambda watch: plan_load(workbench, lane, request, watch), self._looked
        )
        job.progressed.connect(self._tell)

    def _tell(self, progress: Progress) -> None:
        if self.plan is None:
            self.words.setText(f"{progress.text} …")

    def _looked(self, outcome: JobOutcome[LoadPlan]) -> None:
        if outcome.error is not None:
            self._asked = None
            title, text = dialogs.words_of(outcome.error)
            self._say(f"✗ {title}\n{text}")
        elif outcome.value is not None:
            self.plan = outcome.value
            self._say(plan_words(self.plan))

    def _agree(self) -> None:
        plan = self.plan
        if plan is not None:
            self.accept()
            self.agreed.emit(plan)

    def _give_up(self) -> None:
        chosen = tuple(self.table.rows.chosen)
        self.accept()
        self.given_up.emit(chosen)

    # building

    def _connect(self) -> None:
        self._group.idClicked.connect(self._forget)
        self.table.rows.chosen_changed.connect(self._forget)
        for line in (self.database.lineEdit(), self.slot, self.signal):
            if line is not None:
                line.textChanged.connect(self._forget)
                line.returnPressed.connect(self._look)
        self.profiles.clicked.connect(self.profiles_wanted)
        self.look.clicked.connect(self._look)
        self.give_up.clicked.connect(self._give_up)
        self.do.clicked.connect(self._agree)
        self.close_button.clicked.connect(self.reject)

    def _build(self) -> None:
        line = QLineEdit()
        line.setPlaceholderText(_DATABASE)
        self.database.setLineEdit(line)
        self.database.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.database.setAccessibleName("Database")
        self.database.setAccessibleDescription(_DATABASE)
        self.slot.setPlaceholderText(_SLOT)
        self.signal.setPlaceholderText(_SIGNAL)
        self._rows = {
            _row("Database", self.database, self.profiles): (POSTGRESQL, DEBEZIUM),
            _row("Replication slot", self.slot): (POSTGRESQL,),
            _row("Signals", self.signal): (DEBEZIUM,),
        }
        promise = plain_label(PROMISE, "dim")
        for label in (promise, self.way_words, self.words):
            label.setWordWrap(True)
        # Room for an answer, so that nothing moves when it comes.
        self.words.setMinimumHeight(themes.px(_ANSWER_PX))
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(10)
        layout.addWidget(plain_label("Load existing rows", "title"))
        layout.addWidget(promise)
        layout.addWidget(self.table, 1)
        layout.addLayout(self._ways_row())
        layout.addWidget(self.way_words)
        for row in self._rows:
            layout.addWidget(row)
        layout.addWidget(self.words)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(self.give_up)
        foot.addStretch(1)
        for button in (self.look, self.do, self.close_button):
            foot.addWidget(button)
        layout.addLayout(foot)
        for button in (self.profiles, self.look, self.give_up, self.do, self.close_button, *self.ways.values()):
            button.setAutoDefault(False)
        self.resize(themes.px(_SIZE[0]), themes.px(_SIZE[1]))

    def _ways_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(0)
        for at, button in enumerate(self.ways.values()):
            button.setCheckable(True)
            button.setProperty("edge", "first" if at == 0 else "last" if at == len(self.ways) - 1 else "middle")
            self._group.addButton(button, at)
            row.addWidget(button)
        row.addStretch(1)
        self.ways[POSTGRESQL].setChecked(True)
        return row


def _row(words: str, field: QWidget, *more: QWidget) -> QWidget:
    row = QWidget()
    parts = QHBoxLayout(row)
    parts.setContentsMargins(0, 0, 0, 0)
    parts.setSpacing(8)
    label = plain_label(words)
    label.setMinimumWidth(themes.px(110))
    label.setBuddy(field)
    field.setAccessibleName(words)
    for part, share in ((label, 0), (field, 1), *((each, 0) for each in more)):
        parts.addWidget(part, share)
    return row
