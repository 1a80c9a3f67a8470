"""The timeline of one business key: messages in log order above, a lane for each source row, versions as bars below.

Times stand at equal distances, as changes come within milliseconds or years apart. Numbers are the log order of a row;
a message whose number is higher than that of one at its right came late.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QWidget

from metl_gui.core.dimensional.loads.key_history import KeyHistory, KeyMessage, KeyVersion
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.theme import Theme

OPERATIONS = {"c": "create", "r": "read", "u": "update", "d": "delete", "t": "truncate"}
_LANE, _BAR, _AXIS = 26.0, 34.0, 24.0
_LEFT, _STEP, _DOT = 132.0, 74.0, 9.0
"""A step is the least distance of two times; they share the room that there is."""


@dataclass(frozen=True, slots=True)
class TimelineItem:
    """A message or a version where it is painted.

    Args:
        lane: of a message; -1 for a version.
        start, end: numbers of times; a message has one.
        words: what stands on it.
        spoken: all that is known of it.
        version: of a bar.
    """

    lane: int
    start: float
    end: float
    words: str
    spoken: str
    version: KeyVersion | None = None
    is_delete: bool = False


@dataclass(frozen=True, slots=True)
class TimelineContent:
    """All that is painted.

    Args:
        times: of the axis, in order.
        lanes: names of the source rows.
        items: messages by lane and log order, then versions.
    """

    times: tuple[datetime, ...] = ()
    lanes: tuple[str, ...] = ()
    items: tuple[TimelineItem, ...] = ()


def timeline_of(history: KeyHistory) -> TimelineContent:
    """Return where messages and versions lie; messages in whose place others hold are left out."""
    messages = [one for one in history.messages if not one.is_void]
    moments = [one.holds_from for one in messages]
    moments += [moment for one in history.versions for moment in (one.since, one.until)]
    times = sorted({moment for moment in moments if moment is not None})
    at = {moment: float(number) for number, moment in enumerate(times)}
    rows = list(dict.fromkeys((one.schema, one.row) for one in messages))
    numbers: dict[tuple[str, str], int] = {}
    items = []
    for one in messages:
        row = one.schema, one.row
        numbers[row] = numbers.get(row, 0) + 1
        x = at[one.holds_from] if one.holds_from is not None else -0.5
        number = numbers[row]
        items.append(TimelineItem(rows.index(row), x, x, str(number), _message_words(one, number), None, one.op == "d"))
    for version in history.versions:
        start = at[version.since] if version.since is not None else -0.5
        end = at[version.until] if version.until is not None else len(times) - 0.4
        words = ", ".join(value for _, value in version.values) or f"version {version.number}"
        items.append(TimelineItem(-1, start, end, words, _version_words(version), version))
    return TimelineContent(tuple(times), tuple(schema for schema, _ in rows), tuple(items))


def _message_words(message: KeyMessage, number: int) -> str:
    done = OPERATIONS.get(message.op, message.op)
    return f"Message {number} of {message.schema}: {done}, {_moment(message.holds_from)}. {_listed(message.values)}"


def _version_words(version: KeyVersion) -> str:
    since = _moment(version.since) if version.since is not None else "all the time before"
    until = _moment(version.until) if version.until is not None else "open"
    marks = [("current", version.is_current), ("deleted", version.is_deleted), ("inferred", version.is_inferred)]
    told = "".join(f", {word}" for word, is_so in marks if is_so)
    return f"Version {version.number}: from {since} to {until}{told}. {_listed(version.values)}"


def _listed(values: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values)


def _moment(moment: datetime | None) -> str:
    return moment.isoformat(" ", "milliseconds")[:23].removesuffix(".000") if moment is not None else "no time"


class TimelineView(QWidget):
    """Paints a timeline; arrows go from message to message and on to versions.

    Signals:
        picked: what is known of the message or version that was chosen, in words.
    """

    picked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.content, self.current = TimelineContent(), -1
        self.bring_into_view: Callable[[QRectF], object] = lambda _box: None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Timeline of a key")

    def show_content(self, content: TimelineContent) -> None:
        """Show another timeline."""
        self.content, self.current = content, -1
        messages = sum(one.version is None for one in content.items)
        versions = len(content.items) - messages
        self.setAccessibleDescription(f"{messages} messages, {versions} versions")
        self.setMinimumSize(self.sizeHint())
        self.update()

    def sizeHint(self) -> QSize:
        """As large as all of it."""
        width = _LEFT + max(len(self.content.times), 1) * _STEP
        height = _AXIS + len(self.content.lanes) * _LANE + _BAR + 14
        return QSize(themes.px(width), themes.px(height))

    def item_rect(self, number: int) -> QRectF:
        """Return where a message or version is painted."""
        item, scale = self.content.items[number], themes.scale()
        start, end = self._x(item.start), self._x(item.end)
        if item.version is None:
            y = (_AXIS + (item.lane + 0.5) * _LANE) * scale
            return QRectF(start - _DOT * scale, y - _DOT * scale, 2 * _DOT * scale, 2 * _DOT * scale)
        top = (_AXIS + len(self.content.lanes) * _LANE + 6) * scale
        return QRectF(start + 1, top, max(end - start - 2, 4.0), _BAR * scale)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go on or back."""
        steps = {Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1}
        step, count = steps.get(Qt.Key(event.key())), len(self.content.items)
        if step is None or not count:
            super().keyPressEvent(event)
        elif self.current < 0:
            self._pick(0)
        else:
            self._pick(min(max(self.current + step, 0), count - 1))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose what lies below the pointer."""
        at = event.position()
        found = [number for number in range(len(self.content.items)) if self.item_rect(number).contains(at)]
        if found:
            self._pick(found[-1])

    def _pick(self, number: int) -> None:
        self.current = number
        spoken = self.content.items[number].spoken
        self.bring_into_view(self.item_rect(number))
        self.update()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, spoken))
        self.picked.emit(spoken)

    def _x(self, time: float) -> float:
        return _LEFT * themes.scale() + (time + 0.5) * self._step

    @property
    def _step(self) -> float:
        left = self.width() - _LEFT * themes.scale()
        return max(left / max(len(self.content.times), 1), _STEP * themes.scale())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the axis, lanes, messages and versions."""
        theme = themes.current()
        painter = QPainter(self)
        painter.fillRect(event.rect(), theme.panel)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_axis(painter, theme)
        self._paint_order(painter, theme)
        for number, item in enumerate(self.content.items):
            box, is_chosen = self.item_rect(number), number == self.current
            if item.version is None:
                _paint_message(painter, box, item, theme, is_chosen)
            else:
                _paint_version(painter, box, item, item.version, theme, is_chosen)
        painter.end()

    def _paint_axis(self, painter: QPainter, theme: Theme) -> None:
        scale, bottom = themes.scale(), float(self.height())
        painter.setFont(themes.scaled(0.8))
        metrics = QFontMetricsF(painter.font())
        for number, moment in enumerate(self.content.times):
            x = self._x(number)
            painter.setPen(QPen(theme.grid, 1))
            painter.drawLine(QPointF(x, _AXIS * scale - 4), QPointF(x, bottom))
            before = self.content.times[number - 1] if number else None
            painter.setPen(theme.dim)
            words = metrics.elidedText(axis_words(moment, before), Qt.TextElideMode.ElideRight, self._step - 6)
            box = QRectF(x - self._step / 2, 2, self._step, _AXIS * scale - 6)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)
        names = [*self.content.lanes, "versions"] if self.content.items else []
        for lane, name in enumerate(names):
            last = lane == len(self.content.lanes)
            top = (_AXIS + lane * _LANE + (6 if last else 0)) * scale
            box = QRectF(10, top, (_LEFT - 24) * scale, (_BAR if last else _LANE) * scale)
            words = metrics.elidedText(name, Qt.TextElideMode.ElideLeft, box.width())
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)

    def _paint_order(self, painter: QPainter, theme: Theme) -> None:
        """Link the messages of each row in log order: a line that goes back leads to one that came late."""
        painter.setPen(QPen(theme.line, 1.4))
        for number in range(len(self.content.items) - 1):
            one, other = self.content.items[number : number + 2]
            if one.lane == other.lane and one.lane >= 0:
                painter.drawLine(self.item_rect(number).center(), self.item_rect(number + 1).center())


def axis_words(moment: datetime, before: datetime | None) -> str:
    """Return a time of the axis: the day where it is another one than before, else the time of the day."""
    if before is None or before.date() != moment.date():
        return moment.date().isoformat()
    has_seconds = before.replace(second=0, microsecond=0) == moment.replace(second=0, microsecond=0)
    return moment.strftime("%M:%S.%f")[:-3] if has_seconds else moment.strftime("%H:%M:%S")


def _paint_message(painter: QPainter, box: QRectF, item: TimelineItem, theme: Theme, is_chosen: bool) -> None:
    colour = theme.bad if item.is_delete else theme.accent
    painter.setPen(QPen(theme.text if is_chosen else colour, 2.2 if is_chosen else 1.4))
    painter.setBrush(theme.panel if item.is_delete else theme.accentbg)
    if item.is_delete:
        painter.drawRect(box.adjusted(1, 1, -1, -1))
    else:
        painter.drawEllipse(box)
    painter.setFont(themes.scaled(0.8, bold=True))
    painter.setPen(colour)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, item.words)


def _paint_version(
    painter: QPainter, box: QRectF, item: TimelineItem, version: KeyVersion, theme: Theme, is_chosen: bool
) -> None:
    pen = QPen(
        theme.text if is_chosen else theme.accent if version.is_current else theme.line, 2.0 if is_chosen else 1.2
    )
    if version.is_inferred:
        pen.setDashPattern([3.0, 2.4])
    painter.setPen(pen)
    painter.setBrush(theme.accentbg if version.is_current else theme.band)
    painter.drawRoundedRect(box, 4, 4)
    painter.setFont(themes.small())
    painter.setPen(theme.text)
    metrics = QFontMetricsF(painter.font())
    inner = box.adjusted(6, 0, -6, 0)
    words = metrics.elidedText(item.words, Qt.TextElideMode.ElideRight, inner.width())
    painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
