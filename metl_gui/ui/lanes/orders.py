"""What a person may order a lane, by name, with what is said before it is done, and the dialogs of two orders.

``SetBackDialog`` sets the offsets of a lane back: where to, what that repeats in each partition, and doing it.
``RollBackDialog`` rolls lanes back to an earlier published state, and maps again what was mapped since.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QHeaderView, QLineEdit, QVBoxLayout, QWidget

from metl_gui.core.project.named_states import NamedState
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.project.text import on
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.table import TableCell, TableModel, make_table
from metl_gui.values import Value
from metl_gui.workbench.lanes.control import CoordinationStatus, Lane
from metl_gui.workbench.lanes.offset_reset import OffsetResetPlan, set_back

if TYPE_CHECKING:
    from metl_gui.core.runs.lanes import PartitionReset


FREEZE, UNFREEZE, ROLL_BACK, SET_BACK, LOAD = "freeze", "unfreeze", "roll_back", "set_back", "load"
ORDERS = {
    FREEZE: "Freeze the state…",
    UNFREEZE: "Follow what is published…",
    ROLL_BACK: "Roll back…",
    SET_BACK: "Set offsets back…",
    LOAD: "Load existing rows…",
}
_ALL = "This holds for every lane of the project on these servers, on whatever computer."
_NOTHING = "Nothing is repeated."


def makes_sense(order: str, *, is_live: bool, is_frozen: bool = False, is_alone: bool = False) -> bool:
    """Whether an order makes sense for a lane.

    Args:
        order: one of ``ORDERS``.
        is_live: it goes on.
        is_frozen: what is published waits.
        is_alone: it agrees with nobody, and nobody can freeze it or roll it back.
    """
    is_other = order == (FREEZE if is_frozen else UNFREEZE)
    return is_live and not is_other and not (is_alone and order not in (SET_BACK, LOAD))


def freeze_words(lane: Lane) -> str:
    """Say what freezing does."""
    agreed = lane.agreement
    state = f"state {agreed.in_force:,}" if agreed is not None and agreed.in_force is not None else "its state"
    return f"The lane stays with {state}; what is published meanwhile waits. {_NOTHING} {_ALL}"


def unfreeze_words(lane: Lane) -> str:
    """Say what following again does."""
    pending = lane.agreement.pending if lane.agreement is not None else None
    what = "What is published is taken up again" if pending is None else f"State {pending:,} waits, and is taken up"
    return f"{what} between two transactions, once all members are ready. {_NOTHING} {_ALL}"


def roll_back_words(lane: Lane, state: int, since: Sequence[PartitionReset]) -> str:
    """Say what rolling back does, and what was mapped with the state that is in force."""
    records = sum(back.records for back in since)
    agreed = lane.agreement
    words = f"Records from then on are mapped with state {state:,}, until something is published anew. {_ALL}"
    if not records or agreed is None or agreed.in_force is None:
        return f"{words}\n{_NOTHING}"
    return (
        f"{words}\nWith state {agreed.in_force:,} this lane has mapped up to {records:,} records. They stay as they "
        "are, unless you map them again too."
    )


def set_back_words(plan: OffsetResetPlan) -> str:
    """Say what setting back repeats."""
    moved = [back for back in plan.partitions if back.records]
    if not moved:
        return "Nothing would be repeated: the lane stands there, or before it."
    oldest = min((back.from_ms for back in moved if back.from_ms is not None), default=None)
    since = f", the oldest of {on(oldest)}" if oldest is not None else ""
    gone = sum(back.gone for back in plan.partitions)
    lost = f" {gone:,} offsets that were asked for are not in the topics any more." if gone else ""
    how = "Its tasks go back between two transactions." if plan.is_live else "The lane does not run; it begins there."
    return (
        f"Up to {plan.records:,} records of {len(moved):,} of {len(plan.partitions):,} partitions are mapped again"
        f"{since}. Their messages come once more, with the same positions.{lost} {how}"
    )


def agreement_words(lane: Lane) -> str:
    """Say how the state of a lane is held, in one line."""
    if lane.keeps_its_state:
        return "Was started to stay with its state."
    agreed = lane.agreement
    if agreed is None:
        return lane.trouble or "Takes what is published, between two transactions."
    if not agreed.is_frozen:
        return "Takes what is published, between two transactions."
    who = f", by {agreed.frozen_by}" if agreed.frozen_by else ""
    waits = f" State {agreed.pending:,} waits." if agreed.pending is not None else ""
    in_force = f"state {agreed.in_force:,}" if agreed.in_force is not None else "its state"
    return f"Frozen{who}: stays with {in_force}, whatever is published.{waits}"


def done_words(order: str, agreed: CoordinationStatus) -> str:
    """Say what came of freezing or following."""
    state = f"state {agreed.in_force:,}" if agreed.in_force is not None else "no state yet"
    return f"The lanes stay with {state}." if order == FREEZE else f"The lanes follow what is published; now {state}."


_SIZE = (720, 480)
_TIME, _OFFSETS, _EARLIEST = "a time", "offsets", "the earliest record that is there"
_EXAMPLES = {_TIME: "2026-11-22T05:00:00Z", _OFFSETS: "topic/partition/offset, with commas between"}
_ASK = "Look first what would be repeated; nothing is done by looking."


class SetBackDialog(FittedDialog):
    """Looks first and sets back then.

    Signals:
        agreed: the ``OffsetResetPlan`` that is to be done.

    Args:
        jobs: where Kafka's servers are asked.
        lane: the lane.
    """

    agreed = Signal(object)

    def __init__(self, jobs: Jobs, lane: Lane, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Set offsets back")
        self._lane, self._looking = lane, NewestJob(jobs, self)
        self.plan: OffsetResetPlan | None = None
        self.where, self.line = ThemedComboBox(), QLineEdit()
        self.where.setAccessibleName("Where to set the lane back")
        states = lane.agreement.taken_up.get(lane.group, ()) if lane.agreement is not None else ()
        for state in dict.fromkeys(reversed(states)):
            self.where.addItem(f"where state {state:,} was taken up", f"state:{state}")
        for words in (_TIME, _OFFSETS, _EARLIEST):
            self.where.addItem(words, "earliest" if words == _EARLIEST else words)
        self.look = KeyButton("Look")
        self.words = plain_label(_ASK, "dim")
        self.words.setWordWrap(True)
        headers = ("partition", "next now", "next then", "records again", "from")
        self.model = TableModel([TableCell(words, is_number=0 < at < 4) for at, words in enumerate(headers)])
        self.table = make_table("What is repeated", self.model)
        columns = self.table.horizontalHeader()
        columns.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        columns.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.do, self.close_button = KeyButton("Set back", kind="primary"), KeyButton("Cancel", "Esc")
        self._build()
        self.where.currentIndexChanged.connect(self._choose)
        self.line.textEdited.connect(self._forget)
        self.line.returnPressed.connect(self._look)
        self.look.clicked.connect(self._look)
        self.do.clicked.connect(self._agree)
        self.close_button.clicked.connect(self.reject)
        self._choose()

    @property
    def to(self) -> str:
        """Where to, as the lane is told."""
        chosen = str(self.where.currentData())
        return self.line.text().strip() if chosen in _EXAMPLES else chosen

    def _choose(self, _at: int = 0) -> None:
        chosen = str(self.where.currentData())
        self.line.setVisible(chosen in _EXAMPLES)
        self.line.setPlaceholderText(_EXAMPLES.get(chosen, ""))
        self.line.setAccessibleName(chosen.capitalize())
        self.line.setText(f"{datetime.now(UTC) - timedelta(minutes=10):%Y-%m-%dT%H:%M:00Z}" if chosen == _TIME else "")
        self._forget()

    def _forget(self, _text: str = "") -> None:
        """Show nothing of another place than the one that is chosen."""
        self._looking.cancel()
        self.plan = None
        self.model.show_rows([])
        self.words.setText(_ASK)
        self.do.setText("Set back")
        self.do.setEnabled(False)
        self.look.setEnabled(bool(self.to) or self.line.isVisible())

    def _look(self) -> None:
        lane, to = self._lane, self.to
        if to:
            self._forget()
            self.words.setText("Looking …")
            self._looking.start("Looking what would be repeated", lambda _watch: set_back(lane, to), self._looked)

    def _looked(self, outcome: JobOutcome[OffsetResetPlan]) -> None:
        if outcome.error is not None:
            title, text = dialogs.words_of(outcome.error)
            self.words.setText(f"✗ {title}\n{text}")
        elif outcome.value is not None:
            plan = self.plan = outcome.value
            self.words.setText(set_back_words(plan))
            self.model.show_rows([_cells(plan, at) for at in range(len(plan.partitions))])
            self.do.setEnabled(plan.records > 0)
            self.do.setText(f"Set back, repeat {plan.records:,}" if plan.records else "Set back")
            self.do.updateGeometry()

    def _agree(self) -> None:
        plan = self.plan
        if plan is not None:
            self.accept()
            self.agreed.emit(plan)

    def _build(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        label = plain_label("Back to")
        label.setBuddy(self.where)
        for part, share in ((label, 0), (self.where, 0), (self.line, 1), (self.look, 0)):
            row.addWidget(part, share)
        row.addStretch(0)
        foot = QHBoxLayout()
        foot.addStretch(1)
        for button in (self.do, self.close_button):
            foot.addWidget(button)
        for button in (self.look, self.do, self.close_button):
            button.setAutoDefault(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(10)
        layout.addWidget(plain_label("Set offsets back", "title"))
        layout.addLayout(row)
        layout.addWidget(self.words)
        layout.addWidget(self.table, 1)
        layout.addLayout(foot)
        self.resize(themes.px(_SIZE[0]), themes.px(_SIZE[1]))


def _cells(plan: OffsetResetPlan, at: int) -> tuple[TableCell, ...]:
    back = plan.partitions[at]
    name = f"{back.topic}/{back.partition}"
    return (
        TableCell(name, tip=name),
        TableCell(f"{back.position:,}", is_number=True),
        TableCell(f"{back.to:,}" if back.records else "stays", is_number=True),
        TableCell(f"{back.records:,}", is_number=True),
        TableCell(on(back.from_ms) if back.from_ms is not None else ""),
    )


_WIDTH_PX = 520


class RollBack(Value):
    """What was chosen.

    Args:
        state: a published state.
        repeats: map again what was mapped with the state that is in force.
    """

    state: int
    repeats: bool


class RollBackDialog(FittedDialog):
    """Says first what will happen.

    Signals:
        agreed: a ``RollBack``.

    Args:
        lane: the lane.
        states: what was published, the newest first.
        since: what the lane has mapped since it took up the state in force.
    """

    agreed = Signal(object)

    def __init__(
        self, lane: Lane, states: Sequence[NamedState], since: Sequence[PartitionReset], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Roll back")
        self._lane, self._since = lane, tuple(since)
        in_force = lane.agreement.in_force if lane.agreement is not None else None
        self._states = [each for each in states if each.state != in_force]
        self.states, self.words = ThemedComboBox(), plain_label("", "dim")
        self.states.setAccessibleName("State to go back to")
        self.states.addItems([_words(each) for each in self._states])
        self.words.setWordWrap(True)
        records = sum(back.records for back in self._since)
        self.repeats = QCheckBox(f"Map up to {records:,} records again with it")
        self.repeats.setVisible(records > 0)
        self.do, self.close_button = KeyButton("Roll back", kind="primary"), KeyButton("Cancel", "Esc")
        self._build()
        self.states.currentIndexChanged.connect(self._say)
        self.repeats.toggled.connect(self._say)
        self.do.clicked.connect(self._agree)
        self.close_button.clicked.connect(self.reject)
        self._say()

    def _say(self, _what: object = None) -> None:
        at = self.states.currentIndex()
        self.do.setEnabled(at >= 0)
        if at < 0:
            self.words.setText("Nothing else was published that one could go back to.")
            return
        self.words.setText(roll_back_words(self._lane, self._states[at].state, self._since))
        self.do.setText("Roll back and repeat" if self.repeats.isChecked() else "Roll back")
        self.do.updateGeometry()

    def _agree(self) -> None:
        chosen = RollBack(self._states[self.states.currentIndex()].state, self.repeats.isChecked())
        self.accept()
        self.agreed.emit(chosen)

    def _build(self) -> None:
        row = QHBoxLayout()
        label = plain_label("Back to")
        label.setBuddy(self.states)
        row.addWidget(label)
        row.addWidget(self.states, 1)
        foot = QHBoxLayout()
        foot.addStretch(1)
        for button in (self.do, self.close_button):
            foot.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(10)
        layout.addWidget(plain_label("Roll the lanes back", "title"))
        layout.addLayout(row)
        layout.addWidget(self.words)
        layout.addWidget(self.repeats)
        layout.addStretch(1)
        layout.addLayout(foot)
        self.setMinimumWidth(themes.px(_WIDTH_PX))


def _words(state: NamedState) -> str:
    name = f" “{state.name}”" if state.name else ""
    when = f", published {on(state.published_ms)}" if state.published_ms is not None else ""
    return f"state {state.state:,}{name}{when}"
