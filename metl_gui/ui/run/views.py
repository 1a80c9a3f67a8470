"""The views of one run, of which most people see one: the others are made when somebody wants them."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from metl_gui.ui.lanes.orders import makes_sense
from metl_gui.ui.lanes.panel import LanePanel
from metl_gui.ui.lanes.progress import FollowedLane
from metl_gui.ui.run.comparison import ComparisonPanel
from metl_gui.ui.run.details import DetailsPanel
from metl_gui.ui.run.head import VIEWS
from metl_gui.ui.run.overview import RunBody
from metl_gui.ui.run.speed import SpeedPanel

RUN_VIEW, LANE_VIEW, DETAILS_VIEW, SPEED_VIEW, COMPARE_VIEW = range(len(VIEWS))

_View = TypeVar("_View", bound=QWidget)


class RunViews(QStackedWidget):
    """A stack in the order of ``VIEWS``.

    Args:
        body: the first view, which is there from the beginning.

    Signals:
        order_wanted: one of the orders of a lane.
        version_chosen: ``schema@version`` of what was read.
        attribute_chosen: an ``AttributeFilled``.
        run_wanted: the id of a run that is to be shown.
        followed: a ``ComparisonCell``.
    """

    order_wanted = Signal(object)
    version_chosen = Signal(object)
    attribute_chosen = Signal(object)
    run_wanted = Signal(object)
    followed = Signal(object)

    def __init__(self, body: RunBody, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lane: LanePanel | None = None
        self._details: DetailsPanel | None = None
        self._speed: SpeedPanel | None = None
        self._comparison: ComparisonPanel | None = None
        self._told, self._is_live = FollowedLane(), False
        self.addWidget(body)
        for _ in VIEWS[1:]:
            self.addWidget(QWidget())

    @property
    def lane(self) -> LanePanel:
        """How far a lane is."""
        if self._lane is None:
            self._lane = self._put(LANE_VIEW, LanePanel())
            self._lane.order_wanted.connect(self.order_wanted)
            self._lane.show_lane(self._told, is_live=self._is_live)
        return self._lane

    @property
    def details(self) -> DetailsPanel:
        """Which versions were read, and how far attributes are filled."""
        if self._details is None:
            self._details = self._put(DETAILS_VIEW, DetailsPanel())
            self._details.version_chosen.connect(self.version_chosen)
            self._details.attribute_chosen.connect(self.attribute_chosen)
        return self._details

    @property
    def speed(self) -> SpeedPanel:
        """How fast the kernel was."""
        if self._speed is None:
            self._speed = self._put(SPEED_VIEW, SpeedPanel())
            self._speed.run_wanted.connect(self.run_wanted)
        return self._speed

    @property
    def comparison(self) -> ComparisonPanel:
        """Two runs side by side."""
        if self._comparison is None:
            self._comparison = self._put(COMPARE_VIEW, ComparisonPanel())
            self._comparison.followed.connect(self.followed)
        return self._comparison

    def show_view(self, number: int) -> None:
        """Bring a view to the front."""
        {
            LANE_VIEW: lambda: self.lane,
            DETAILS_VIEW: lambda: self.details,
            SPEED_VIEW: lambda: self.speed,
            COMPARE_VIEW: lambda: self.comparison,
        }.get(number, self.currentWidget)()
        self.setCurrentIndex(number)

    def show_lane(self, lane: FollowedLane, *, is_live: bool) -> None:
        """Show a lane as it is now, or as it was at its end; nobody sees it before its view is made."""
        self._told, self._is_live = lane, is_live
        if self._lane is not None:
            self._lane.show_lane(lane, is_live=is_live)

    def has_told_of(self, lane: FollowedLane) -> bool:
        """Whether a lane is the one that was shown last."""
        return self._told is lane

    def can_order(self, order: str) -> bool:
        """Whether an order makes sense for the lane that is shown."""
        if self._lane is not None:
            return self._lane.can_order(order)
        return makes_sense(order, is_live=self._is_live)

    def forget_comparison(self) -> None:
        """Show that nothing is compared."""
        if self._comparison is not None:
            self._comparison.clear()

    def _put(self, number: int, view: _View) -> _View:
        """Put a view where its place was kept, for the stack and for Tab."""
        place = self.widget(number)
        self.insertWidget(number, view)
        if place is not None:
            _take_turn_of(place, view)
            self.removeWidget(place)
            place.deleteLater()
        return view


def _take_turn_of(place: QWidget, view: QWidget) -> None:
    """Let Tab come to what is in a view where its place was kept, and not at the end of the window."""
    inside, each = [], view.nextInFocusChain()
    while each is not None and view.isAncestorOf(each):
        inside.append(each)
        each = each.nextInFocusChain()
    before = place.previousInFocusChain()
    while before is not None and before is not place and before.focusPolicy() == Qt.FocusPolicy.NoFocus:
        before = before.previousInFocusChain()
    for stop in inside:
        if before is not None and stop.focusPolicy() != Qt.FocusPolicy.NoFocus:
            QWidget.setTabOrder(before, stop)
            before = stop
