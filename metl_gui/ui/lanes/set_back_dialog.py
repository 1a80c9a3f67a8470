"""Setting the offsets of a lane back: where to, what that repeats in each partition, and doing it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QHeaderView, QLineEdit, QVBoxLayout, QWidget

from metl_gui.ui import asking
from metl_gui.ui import theme as themes
from metl_gui.ui.choice import Choice
from metl_gui.ui.jobs import Jobs, Outcome
from metl_gui.ui.lanes.orders import set_back_words
from metl_gui.ui.moments import on
from metl_gui.ui.newest_job import NewestJob
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label
from metl_gui.ui.run.tables import TableCell, TableModel, make_table
from metl_gui.workbench.lanes import Lane
from metl_gui.workbench.lanes_set_back import SetBackPlan, set_back

_SIZE = (720, 480)
_TIME, _OFFSETS, _EARLIEST = "a time", "offsets", "the earliest record that is there"
_EXAMPLES = {_TIME: "2026-11-22T05:00:00Z", _OFFSETS: "topic/partition/offset, with commas between"}
_ASK = "Look first what would be repeated; nothing is done by looking."


class SetBackDialog(QDialog):
    """Looks first and sets back then.

    Signals:
        agreed: the ``SetBackPlan`` that is to be done.

    Args:
        jobs: where Kafka's servers are asked.
        lane: the lane.
    """

    agreed = Signal(object)

    def __init__(self, jobs: Jobs, lane: Lane, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Set offsets back")
        self._lane, self._looking = lane, NewestJob(jobs, self)
        self.plan: SetBackPlan | None = None
        self.where, self.line = Choice(), QLineEdit()
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

    def _looked(self, outcome: Outcome[SetBackPlan]) -> None:
        if outcome.error is not None:
            title, text = asking.words_of(outcome.error)
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


def _cells(plan: SetBackPlan, at: int) -> tuple[TableCell, ...]:
    back = plan.partitions[at]
    name = f"{back.topic}/{back.partition}"
    return (
        TableCell(name, tip=name),
        TableCell(f"{back.position:,}", is_number=True),
        TableCell(f"{back.to:,}" if back.records else "stays", is_number=True),
        TableCell(f"{back.records:,}", is_number=True),
        TableCell(on(back.from_ms) if back.from_ms is not None else ""),
    )
