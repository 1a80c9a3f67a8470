"""The dashboard of a lane: figures, chart, partitions, members and troubles, and what a person may order."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from metl_gui.ui import theme as themes
from metl_gui.ui.elided import Elided
from metl_gui.ui.lanes.figures import LAG, LATENCY, RATE, STATE, LaneFigures
from metl_gui.ui.lanes.members import MembersPanel
from metl_gui.ui.lanes.now import LaneNow
from metl_gui.ui.lanes.orders import FREEZE, ORDERS, ROLL_BACK, SET_BACK, UNFREEZE
from metl_gui.ui.lanes.partitions import PartitionPanel
from metl_gui.ui.lanes.views import LAGS, LANE_VIEWS, PARTITION_LAG, PARTITION_RATE, PARTITION_TIMES, TIMES
from metl_gui.ui.pill import KeyButton, Pill
from metl_gui.ui.run.chart import RunChart

_NOTHING = "A lane tells here how far it is, several times a second."
_GAP_PX = 12
_LEAST_PX = (132, 170)
_BY_PARTITION = (PARTITION_LAG, PARTITION_TIMES, PARTITION_RATE)


class LanePanel(QWidget):
    """One of the views of a run.

    Signals:
        order_wanted: ``FREEZE``, ``UNFREEZE``, ``ROLL_BACK`` or ``SET_BACK``.
    """

    order_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lane = LaneNow()
        self.figures = LaneFigures()
        self.chart = RunChart(choices=LANE_VIEWS, nothing=_NOTHING, can_start=False)
        self.chart.setAccessibleName("Course of the lane")
        self.partitions, self.members = PartitionPanel(), MembersPanel()
        self.state, self.pill = Elided("", "dim"), Pill()
        self.buttons = {id_: KeyButton(words) for id_, words in ORDERS.items()}
        self._is_frozen = self._is_live = False
        self._build()
        self.figures.followed.connect(self._follow)
        self.partitions.partition_chosen.connect(self._show_partition)
        for button in self.buttons.values():
            button.clicked.connect(self._pressed)
        self.show_lane(self.lane, is_live=False)

    @property
    def is_frozen(self) -> bool:
        """Whether the lane that is shown stays with its state."""
        return self._is_frozen

    def show_lane(self, lane: LaneNow, *, is_live: bool) -> None:
        """Show a lane as it is now, or as it was at its end."""
        self.lane, self._is_live = lane, is_live
        self.figures.show_lane(lane)
        self.chart.show_course(lane.course, is_live=is_live)
        self.members.show_lane(lane)
        if lane.progress is not None:
            self.partitions.show_progress(lane.progress)
        else:
            self.partitions.clear()
        self._say()

    def show_frozen(self, is_frozen: bool) -> None:
        """Say whether the lane stays with its state whatever is published."""
        self._is_frozen = is_frozen
        self._say()

    def dress(self) -> None:
        """Follow the scale."""
        for part, least in zip((self.chart, self._below), _LEAST_PX, strict=True):
            part.setMinimumHeight(themes.px(least))

    def _say(self) -> None:
        known = self.lane.progress
        if known is None or not self._is_live:
            self.state.setText("")
        elif self._is_frozen:
            self.state.setText(f"Stays with state {known.state:,}, whatever is published.")
        else:
            self.state.setText("Takes what is published, between two transactions.")
        if self.lane.is_troubled and self._is_live:
            self.pill.say("cannot go on now", "bad")
        else:
            self.pill.say("frozen" if self._is_frozen and self._is_live else "", "accent")
        for id_, button in self.buttons.items():
            button.setVisible(self._is_live and id_ != (FREEZE if self._is_frozen else UNFREEZE))

    def _follow(self, figure: str) -> None:
        """Go to what a figure counts."""
        views = {LAG: LAGS, RATE: TIMES, LATENCY: TIMES}
        if figure in views:
            self.chart.show_view(views[figure])
            self.chart.views.setFocus(Qt.FocusReason.OtherFocusReason)
        elif figure == STATE:
            self.members.table.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.partitions.order.setCurrentIndex(self.partitions.order.count() - 1)
            self.partitions.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_partition(self, partition: str) -> None:
        """Draw the lines of a partition, in the view of partitions that is shown or else in that of their lag."""
        here = next((view for view in _BY_PARTITION if view.id == self.chart.view.id), PARTITION_LAG)
        self.chart.show_chosen(here, partition)

    def _pressed(self) -> None:
        button = self.sender()
        wanted = next((id_ for id_, each in self.buttons.items() if each is button), "")
        if wanted:
            self.order_wanted.emit(wanted)

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.state, 1)
        head.addWidget(self.pill)
        for id_ in (FREEZE, UNFREEZE, ROLL_BACK, SET_BACK):
            self.buttons[id_].set_height(24)
            head.addWidget(self.buttons[id_])
        self._below = QWidget()
        row = QHBoxLayout(self._below)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(_GAP_PX)
        row.addWidget(self.partitions, 5)
        row.addWidget(self.members, 3)
        parts = QSplitter(Qt.Orientation.Vertical)
        parts.setProperty("surface", "clear")
        parts.setChildrenCollapsible(False)
        parts.setHandleWidth(_GAP_PX)
        for at, (part, share) in enumerate(((self.chart, 45), (self._below, 55))):
            parts.addWidget(part)
            parts.setStretchFactor(at, share)
        parts.setSizes([4_500, 5_500])  # more than there is: the splitter keeps the proportions
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(_GAP_PX)
        layout.addWidget(self.figures)
        layout.addLayout(head)
        layout.addWidget(parts, 1)
        self.dress()
