"""The dashboard of a lane: figures, chart, partitions, members and troubles, and what a person may order.

The five figures are lag, rate, latency, what waits, and the state in use; the views are what the chart can show. The
table of partitions says how far behind, how fast and how late each is, and what waits in it. The members are those who
map with the same matrix, with what they wait for; below them stands what went wrong lately.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace
from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QHeaderView, QSplitter, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.runs.events import LaneProgressed
from metl_gui.core.runs.kafka import LOAD_TOPICS
from metl_gui.core.runs.lanes import MemberFigures, PartitionFigures
from metl_gui.ui.charts.chart import RunChart
from metl_gui.ui.charts.figures import Figure
from metl_gui.ui.charts.series import ChartView, ProgressSeries, milliseconds
from metl_gui.ui.lanes.orders import FREEZE, LOAD, ORDERS, ROLL_BACK, SET_BACK, UNFREEZE, makes_sense
from metl_gui.ui.lanes.progress import (
    LAG,
    LATENCIES,
    RATE,
    STARTS,
    WAITING,
    FollowedLane,
    LaneSeries,
    LaneTrouble,
    members_words,
    newest_of,
    partition_line,
)
from metl_gui.ui.project.text import amount, duration, duration_ns
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import Pill, ValueButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.table import HEADING_PX, TableCell, TableModel, make_table

LAG_FIGURE, RATE_FIGURE, LATENCY_FIGURE, WAITING_FIGURE, STATE_FIGURE = "lag", "rate", "latency", "waiting", "state"


class LaneFigures(QWidget):
    """A row of figures.

    Signals:
        followed: ``LAG_FIGURE``, ``RATE_FIGURE``, ``LATENCY_FIGURE``, ``WAITING_FIGURE`` or ``STATE_FIGURE`` was
            pressed.
    """

    followed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lag = Figure(LAG_FIGURE, "behind", "Draw how far the lane is behind", "lag")
        self.rate = Figure(RATE_FIGURE, "records in", "Draw how many records come in")
        self.latency = Figure(LATENCY_FIGURE, "from record to message", "Draw how long messages take", "latency")
        self.waiting = Figure(
            WAITING_FIGURE, "wait for a version", "Show the partitions in which records wait", "waiting"
        )
        self.state = Figure(STATE_FIGURE, "in use", "Show who maps with which state")
        self._figures = (self.lag, self.rate, self.latency, self.waiting, self.state)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        for figure in self._figures:
            row.addWidget(figure, 1)
            figure.followed.connect(self.followed)

    def show_lane(self, lane: FollowedLane) -> None:
        """Show how a lane is."""
        known = lane.progress
        if known is None:
            for figure in self._figures:
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


_MOST = 6


def _of_partitions(
    id_: str, title: str, line: str, words: Callable[[float], str], *, is_by_powers: bool = False
) -> ChartView:
    """Make the view of the partitions with most of something lately."""

    def fill(course: ProgressSeries, chosen: str) -> ChartView:
        known = course.partitions if isinstance(course, LaneSeries) else ()
        recent = course.last(_LATELY)

        def most(name: str) -> float:
            return -course.mean(partition_line(line, name), recent)

        names = sorted(known, key=most)[:_MOST]
        if chosen in known and chosen not in names:
            names = [*names[: _MOST - 1], chosen]
        lines = tuple(partition_line(line, name) for name in sorted(names))
        return replace(view, upper=lines)

    view = ChartView(id_, title, (), upper_words=words, is_by_powers=is_by_powers, fill=fill)
    return view


_LATELY = 60.0
LAGS = ChartView("lane", "Lag, waiting", (LAG,), (WAITING,))
TIMES = ChartView("latency", "Latency, rate", LATENCIES, (RATE,), upper_words=milliseconds, is_by_powers=True)
PARTITION_LAG = _of_partitions("lags", "Lag by partition", LAG, amount)
PARTITION_TIMES = _of_partitions("latencies", "p99 by partition", LATENCIES[-1], milliseconds, is_by_powers=True)
PARTITION_RATE = _of_partitions("rates", "Rate by partition", RATE, amount)
LANE_VIEWS = (TIMES, LAGS, PARTITION_LAG, PARTITION_TIMES, PARTITION_RATE)


_HEADERS = ("partition", "task", "position", "lag", "records /s", "p50", "p95", "p99", "waiting", "read")
_ROOM_PX = {2: 860, 9: 760, 1: 660, 5: 560, 6: 560}
"""How wide the card must be for a column that is left out else."""
_ORDERS = (
    ("by name", lambda each: (each.topic, each.partition)),
    ("most lag first", lambda each: (-each.lag, each.topic, each.partition)),
    ("latest first", lambda each: (-(each.latency_ms.p99 or 0.0), each.topic, each.partition)),
    ("what waits first", lambda each: (-each.waiting, each.topic, each.partition)),
)


class PartitionPanel(QFrame):
    """A card with one row for each partition.

    Signals:
        partition_chosen: ``topic/partition`` whose lines are to be drawn.
    """

    partition_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "card")
        self.shown: tuple[PartitionFigures, ...] = ()
        self._known: tuple[PartitionFigures, ...] = ()
        self.model = TableModel([TableCell(words, is_number=at > 0) for at, words in enumerate(_HEADERS)])
        self.table = make_table("Partitions of the lane", self.model)
        columns = self.table.horizontalHeader()
        columns.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        columns.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.table.setTextElideMode(Qt.TextElideMode.ElideLeft)  # the number stands at the end
        self.order = ThemedComboBox()
        self.order.setAccessibleName("Order of the partitions")
        self.order.addItems([words for words, _ in _ORDERS])
        self.facts = Elided("", "small")
        row = QHBoxLayout()
        title = plain_label("Partitions", "heading")
        title.setMinimumHeight(HEADING_PX)
        row.addWidget(title)
        row.addSpacing(8)
        row.addWidget(self.facts, 1)
        row.addWidget(self.order)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 8, 14, 8)
        layout.setSpacing(4)
        layout.addLayout(row)
        layout.addWidget(self.table, 1)
        self.table.clicked.connect(self._choose)
        self.table.activated.connect(self._choose)
        self.order.currentIndexChanged.connect(self._show)
        self.clear()

    def clear(self) -> None:
        """Show that nothing is known."""
        self._known = ()
        self.facts.setText("what each partition of the source is at")
        self._show()

    def show_progress(self, progress: LaneProgressed) -> None:
        """Show how far a lane is."""
        self._known = progress.partitions
        topics = len({each.topic for each in self._known})
        tasks = len({each.task for each in self._known if each.task is not None})
        words = f"{number_of(len(self._known), 'partition')} of {number_of(topics, 'topic')}"
        self.facts.setText(f"{words} · {number_of(tasks, 'task')}")
        self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave columns out where there is no room for all."""
        super().resizeEvent(event)
        for column, least in _ROOM_PX.items():
            self.table.setColumnHidden(column, self.width() < themes.px(least))

    def _show(self, _at: int = 0) -> None:
        self.shown = tuple(sorted(self._known, key=_ORDERS[self.order.currentIndex()][1]))
        self.model.show_rows([_cells(each) for each in self.shown])

    def _choose(self, index: QModelIndex) -> None:
        if 0 <= index.row() < len(self.shown):
            each = self.shown[index.row()]
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)
            self.partition_chosen.emit(f"{each.topic}/{each.partition}")


def _name(each: PartitionFigures) -> str:
    """Name a partition; the existing rows of a table, while they are loaded, by its topic."""
    if not each.topic.startswith(LOAD_TOPICS):
        return f"{each.topic}/{each.partition}"
    changes = each.topic.removeprefix(LOAD_TOPICS).partition(".")[2]
    return f"{changes}/{each.partition} · existing rows"


def _cells(each: PartitionFigures) -> tuple[TableCell, ...]:
    times = (each.latency_ms.p50, each.latency_ms.p95, each.latency_ms.p99)
    return (
        TableCell(_name(each), tip=f"{each.topic}/{each.partition}"),
        TableCell("-" if each.task is None else f"{each.task:,}", is_number=True),
        TableCell(f"{each.position:,}", is_number=True, tip=f"The next record is {each.position:,} of {each.end:,}"),
        TableCell(f"{each.lag:,}", is_number=True),
        TableCell(amount(each.rate), is_number=True),
        *(TableCell("-" if ms is None else duration_ns(ms * 1e6), is_number=True) for ms in times),
        TableCell(f"{each.waiting:,}", is_number=True, pill="review" if each.waiting else ""),
        TableCell(f"{each.read:,}", is_number=True),
    )


_NO_TROUBLE = "Nothing went wrong."


class MembersPanel(QFrame):
    """A card: a sentence, one row for each member, and the troubles."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "card")
        self.sentence, self.quiet = Elided("", "small"), Elided(_NO_TROUBLE, "small")
        self.model = TableModel([TableCell("member"), TableCell("maps with"), TableCell("")])
        self.table = make_table("Members on this matrix", self.model)
        self.troubles = TableModel([TableCell("at"), TableCell("what went wrong")])
        self.trouble_table = make_table("Troubles of the lane", self.troubles)
        self.trouble_table.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.table.setTextElideMode(Qt.TextElideMode.ElideLeft)
        for table, stretched in ((self.table, 0), (self.trouble_table, 1)):
            table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
            table.horizontalHeader().setSectionResizeMode(stretched, QHeaderView.ResizeMode.Stretch)
        self._build()
        self.show_lane(FollowedLane())

    def show_lane(self, lane: FollowedLane) -> None:
        """Show who takes part in a lane's state, and its troubles."""
        self.sentence.setText(members_words(lane.members) if lane.members else "Who maps with the same matrix.")
        newest = newest_of([each for each in lane.members if each.is_alive])
        members = sorted(lane.members, key=lambda each: each.instance)
        self.model.show_rows([_member_cells(each, newest) for each in members])
        self.troubles.show_rows([_trouble_cells(each) for each in reversed(lane.troubles)])
        self.trouble_table.setVisible(bool(lane.troubles))
        self.quiet.setText(_trouble_words(lane) if lane.troubles else _NO_TROUBLE)

    def _build(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 8, 14, 8)
        layout.setSpacing(4)
        for words, beside, table in (
            ("Members", self.sentence, self.table),
            ("Troubles", self.quiet, self.trouble_table),
        ):
            row = QHBoxLayout()
            title = plain_label(words, "heading")
            title.setMinimumHeight(HEADING_PX)
            row.addWidget(title)
            row.addSpacing(8)
            row.addWidget(beside, 1)
            layout.addLayout(row)
            layout.addWidget(table, 1)


def _member_cells(each: MemberFigures, newest: int) -> tuple[TableCell, ...]:
    state = "none yet" if each.state is None else f"state {each.state:,}"
    return TableCell(each.instance, tip=each.instance), TableCell(state), _standing(each, newest)


def _standing(each: MemberFigures, newest: int) -> TableCell:
    """Say in a pill what a member does about the newest state."""
    if not each.is_alive:
        return TableCell(f"silent for {duration(each.seconds_silent)}", pill="bad", tip="The others do not wait for it")
    if each.trouble:
        return TableCell("cannot", pill="bad", tip=each.trouble)
    if each.state == newest:
        return TableCell("")
    if (each.ready_for or 0) >= newest:
        return TableCell(f"ready for {newest:,}", pill="good")
    return TableCell(f"prepares {newest:,}", pill="review")


def _trouble_words(lane: FollowedLane) -> str:
    times = sum(each.times for each in lane.troubles)
    return "It cannot go on now, and tries again." if lane.is_troubled else f"{times:,} so far; it went on."


def _trouble_cells(each: LaneTrouble) -> tuple[TableCell, ...]:
    times = f" ({each.times:,} times)" if each.times > 1 else ""
    return TableCell(duration(each.second)), TableCell(f"{each.text}{times}", tip=each.text)


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
        self.lane = FollowedLane()
        self.figures = LaneFigures()
        self.chart = RunChart(choices=LANE_VIEWS, nothing=_NOTHING, can_start=False)
        self.chart.setAccessibleName("Course of the lane")
        self.partitions, self.members = PartitionPanel(), MembersPanel()
        self.state, self.pill = Elided("", "dim"), Pill()
        self.buttons = {id_: ValueButton(id_, words) for id_, words in ORDERS.items()}
        self._is_frozen = self._is_live = self._is_alone = False
        self._held = ""
        self._build()
        self.figures.followed.connect(self._follow)
        self.partitions.partition_chosen.connect(self._show_partition)
        for button in self.buttons.values():
            button.chosen.connect(self.order_wanted)
        self.show_lane(self.lane, is_live=False)

    def show_lane(self, lane: FollowedLane, *, is_live: bool) -> None:
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
        return makes_sense(order, is_live=self._is_live, is_frozen=self._is_frozen, is_alone=self._is_alone)

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
        views = {LAG_FIGURE: LAGS, RATE_FIGURE: TIMES, LATENCY_FIGURE: TIMES}
        if figure in views:
            self.chart.show_view(views[figure])
            self.chart.views.setFocus(Qt.FocusReason.OtherFocusReason)
        elif figure == STATE_FIGURE:
            self.members.table.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.partitions.order.setCurrentIndex(self.partitions.order.count() - 1)
            self.partitions.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_partition(self, partition: str) -> None:
        """Draw the lines of a partition, in the view of partitions that is shown or else in that of their lag."""
        here = next((view for view in _BY_PARTITION if view.id == self.chart.view.id), PARTITION_LAG)
        self.chart.show_chosen(here, partition)

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
