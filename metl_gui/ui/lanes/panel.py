"""The dashboard of a lane: figures, chart, partitions, members and troubles, and what a person may order."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from metl_gui.ui import theme as themes
from metl_gui.ui.elided import Elided
from metl_gui.ui.lanes.figures import LAG, LATENCY, RATE, STATE, LaneFigures
from metl_gui.ui.lanes.members import MembersPanel
from metl_gui.ui.lanes.now import STARTS, LaneNow
from metl_gui.ui.lanes.orders import FREEZE, LOAD, ORDERS, ROLL_BACK, SET_BACK, UNFREEZE
from metl_gui.ui.lanes.partitions import PartitionPanel
from metl_gui.ui.lanes.views import LAGS, LANE_VIEWS, PARTITION_LAG, PARTITION_RATE, PARTITION_TIMES, TIMES
from metl_gui.ui.pill import KeyButton, Pill
from metl_gui.ui.run.chart import RunChart

_NOTHING = "A lane tells here how far it is, several times a second."
_TAKES = "Takes what is published, between two transactions."
_GAP_PX = 12
_LEAST_PX = (132, 170)
_BY_PARTITION = (PARTITION_LAG, PARTITION_TIMES, PARTITION_RATE)


class LanePanel(QWidget):
    """One of the views of a run.

    Signals:
        order_wanted: one of ``ORDERS``.
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
        self._is_frozen = self._is_live = self._is_alone = False
        self._held = ""
        self._build()
        self.figures.followed.connect(self._follow)
        self.partitions.partition_chosen.connect(self._show_partition)
        for button in self.buttons.values():
            button.clicked.connect(self._pressed)
        self.show_lane(self.lane, is_live=False)

    def show_lane(self, lane: LaneNow, *, is_live: bool) -> None:
        """Show a lane as it is now, or as it was at its end."""
        if lane is not self.lane:
            self._held, self._is_frozen, self._is_alone = "", False, False
        self.lane, self._is_live = lane, is_live
        self.figures.show_lane(lane)
        self.chart.show_course(lane.course, is_live=is_live)
        self.members.show_lane(lane)
        if lane.progress is not None:
            self.partitions.show_progress(lane.progress)
        else:
            self.partitions.clear()
        self._say()

    def show_held(self, words: str, *, is_frozen: bool, is_alone: bool = False) -> None:
        """Say how the state of the lane is held.

        Args:
            words: in one line.
            is_frozen: what is published waits.
            is_alone: it agrees with nobody, and nobody can freeze it or roll it back.
        """
        self._held, self._is_frozen, self._is_alone = words, is_frozen, is_alone
        self._say()

    def can_order(self, order: str) -> bool:
        """Whether an order makes sense for the lane that is shown."""
        is_other = order == (FREEZE if self._is_frozen else UNFREEZE)
        return self._is_live and not is_other and not (self._is_alone and order not in (SET_BACK, LOAD))

    def dress(self) -> None:
        """Follow the scale."""
        for part, least in zip((self.chart, self._below), _LEAST_PX, strict=True):
            part.setMinimumHeight(themes.px(least))

    def _say(self) -> None:
        is_told = self._is_live and self.lane.progress is not None
        words = (self._held or _TAKES) if self.lane.has_begun else f"{STARTS[0].upper()}{STARTS[1:]}."
        self.state.setText(words if is_told else "")
        if self.lane.is_troubled and self._is_live:
            self.pill.say("cannot go on now", "bad")
        else:
            self.pill.say("frozen" if self._is_frozen and self._is_live else "", "accent")
        for id_, button in self.buttons.items():
            button.setVisible(self.can_order(id_))

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
        for id_ in (LOAD, FREEZE, UNFREEZE, ROLL_BACK, SET_BACK):
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
