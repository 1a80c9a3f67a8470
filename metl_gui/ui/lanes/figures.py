"""The five figures of a lane: lag, rate, latency, what waits, and the state in use."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from metl_gui.ui.lanes.now import LaneNow
from metl_gui.ui.naming import number_of
from metl_gui.ui.run.amounts import amount, duration_ns
from metl_gui.ui.run.figures import Figure

LAG, RATE, LATENCY, WAITING, STATE = "lag", "rate", "latency", "waiting", "state"


class LaneFigures(QWidget):
    """A row of figures.

    Signals:
        followed: one of ``LAG``, ``RATE``, ``LATENCY``, ``WAITING``, ``STATE`` was pressed.
    """

    followed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lag = Figure("behind", "Draw how far the lane is behind", "lag")
        self.rate = Figure("records in", "Draw how many records come in")
        self.latency = Figure("from record to message", "Draw how long messages take", "latency")
        self.waiting = Figure("wait for a version", "Show the partitions in which records wait", "waiting")
        self.state = Figure("in use", "Show who maps with which state")
        self._ids = {
            self.lag: LAG,
            self.rate: RATE,
            self.latency: LATENCY,
            self.waiting: WAITING,
            self.state: STATE,
        }
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        for figure in self._ids:
            row.addWidget(figure, 1)
            figure.clicked.connect(self._follow)

    def show_lane(self, lane: LaneNow) -> None:
        """Show how a lane is."""
        known = lane.progress
        if known is None:
            for figure in self._ids:
                figure.clear()
            return
        self.lag.say(f"{lane.lag:,}", "records behind", fewer=("behind",))
        self.rate.say(f"{sum(each.rate for each in known.partitions):,.0f} /s", "records in")
        times = known.latency
        if times.p99 is None or times.p95 is None or times.p50 is None:
            self.latency.say("-", "p99 · nothing came lately", fewer=("p99",))
        else:
            p50, p95, p99 = (duration_ns(ms * 1e6) for ms in (times.p50, times.p95, times.p99))
            self.latency.say(p99, f"p99 · p95 {p95} · p50 {p50}", fewer=(f"p99 · p50 {p50}", "p99"))
        self.waiting.say(f"{known.waiting:,}", "wait for a version", needs_a_look=known.waiting > 0, fewer=("waiting",))
        many = sum(each.is_alive for each in lane.members)
        words = f"state in use · {number_of(many, 'member')}" if many else "state in use"
        self.state.say(f"{known.state:,}", words, fewer=("state in use", f"state · {amount(many)}"))

    def _follow(self) -> None:
        figure = self.sender()
        if isinstance(figure, Figure):
            self.followed.emit(self._ids[figure])
