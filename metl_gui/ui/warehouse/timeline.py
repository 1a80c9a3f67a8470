"""The timeline of one business key: messages in log order above, a lane for each source row, versions as bars below.

Times stand at equal distances, as changes come within milliseconds or years apart. Numbers are the log order of a row;
a message whose number is higher than that of one at its right came late.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from msgspec.structs import replace
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
from PySide6.QtWidgets import QApplication, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.dimensional.loads.key_history import KeyHistory, KeyMessage, KeyVersion
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.theme import Theme
from metl_gui.values import Value

OPERATIONS = {"c": "create", "r": "read", "u": "update", "d": "delete", "t": "truncate"}
_LANE, _BAR, _AXIS = 26.0, 34.0, 24.0
_LEFT, _STEP, _DOT = 132.0, 74.0, 9.0
"""A step is the least distance of two times; they share the room that there is."""
_FAR, _NEAR = 0.5, 0.1
"""How far an arrow moves a lifted message, in steps; the latter with Shift."""
_BEYOND = timedelta(days=1)
"""A step before the first and behind the last time, where no other step says how long one is."""


class TimelineItem(Value):
    """A message or a version where it is painted.

    Args:
        lane: of a message; -1 for a version.
        start, end: numbers of times; a message has one.
        words: what stands on it.
        spoken: all that is known of it.
        version: of a bar.
        message: that it is.
    """

    lane: int
    start: float
    end: float
    words: str
    spoken: str
    version: KeyVersion | None = None
    is_delete: bool = False
    message: KeyMessage | None = None


class LateMove(Value):
    """A message that is tried as a late one.

    Args:
        message: like which it is.
        holds_from: since when it would hold.
        is_dropped: it is where it is to be.
    """

    message: KeyMessage
    holds_from: datetime
    is_dropped: bool


class TimelineContent(Value):
    """All that is painted.

    Args:
        times: of the axis, in order.
        lanes: names of the source rows.
        items: messages by lane and log order, then versions.
    """

    times: tuple[datetime, ...] = ()
    lanes: tuple[str, ...] = ()
    items: tuple[TimelineItem, ...] = ()

    def place_of(self, moment: datetime) -> float:
        """Return where a moment lies among the times, in steps."""
        for number, (one, other) in enumerate(pairwise(self.times)):
            if moment < other:
                return number + (moment - one) / (other - one)
        if not self.times:
            return 0.0
        return len(self.times) - 1 + (moment - self.times[-1]) / self._step_at(len(self.times))

    def moment_at(self, place: float) -> datetime | None:
        """Return which moment lies at a place, to the second where that is near enough; ``None`` beyond all years."""
        if not self.times:
            return None
        number = min(max(int(place), 0), len(self.times) - 1)
        step = self._step_at(number)
        try:
            found = self.times[number] + (place - number) * step
        except OverflowError:
            return None
        return found.replace(microsecond=0) if step > timedelta(minutes=1) else found

    def _step_at(self, number: int) -> timedelta:
        """Return how long the step behind a time is; the last goes on as the one before."""
        if len(self.times) < 2:
            return _BEYOND
        first = min(number, len(self.times) - 2)
        return self.times[first + 1] - self.times[first]


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
        spoken = _message_words(one, number)
        items.append(TimelineItem(rows.index(row), x, x, str(number), spoken, None, one.op == "d", one))
    content = TimelineContent(tuple(times), tuple(schema for schema, _ in rows), tuple(items))
    return replace(content, items=(*items, *version_items(content, history.versions)))


def version_items(content: TimelineContent, versions: Sequence[KeyVersion]) -> tuple[TimelineItem, ...]:
    """Return where versions lie among the times of a timeline."""
    found = []
    for version in versions:
        start = content.place_of(version.since) if version.since is not None else -0.5
        end = content.place_of(version.until) if version.until is not None else len(content.times) - 0.4
        words = ", ".join(value for _, value in version.values) or f"version {version.number}"
        found.append(TimelineItem(-1, start, max(end, start), words, _version_words(version), version))
    return tuple(found)


def _message_words(message: KeyMessage, number: int) -> str:
    done = OPERATIONS.get(message.op, message.op)
    return (
        f"Message {number} of {message.schema}: {done}, {moment_words(message.holds_from)}. {_listed(message.values)}"
    )


def _version_words(version: KeyVersion) -> str:
    since = moment_words(version.since) if version.since is not None else "all the time before"
    until = moment_words(version.until) if version.until is not None else "open"
    marks = [("current", version.is_current), ("deleted", version.is_deleted), ("inferred", version.is_inferred)]
    told = "".join(f", {word}" for word, is_so in marks if is_so)
    return f"Version {version.number}: from {since} to {until}{told}. {_listed(version.values)}"


def _listed(values: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values)


def moment_words(moment: datetime | None) -> str:
    """Return a moment for people to read."""
    return moment.isoformat(" ", "milliseconds")[:23].removesuffix(".000") if moment is not None else "no time"


class TimelineView(QWidget):
    """Paints a timeline; arrows go from message to message and on to versions.

    A message can be tried as a late one: it is dragged along the axis, or lifted with Enter, moved with arrows (with
    Shift a little) and dropped with Enter. Esc puts it back.

    Signals:
        picked: what is known of the message or version that was chosen, in words.
        tried: where a late message is, a ``LateMove``; ``None`` when it was put back.
        explained: a version of which is asked why it is so, by Enter or a double click.
    """

    picked = Signal(object)
    tried = Signal(object)
    explained = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.content, self.current = TimelineContent(), -1
        self.bring_into_view: Callable[[QRectF], object] = lambda _box: None
        self.ghost: TimelineItem | None = None
        self.would_be: tuple[TimelineItem, ...] = ()
        self._is_lifted, self._pressed_at = False, QPointF()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Timeline of a key")

    def show_content(self, content: TimelineContent) -> None:
        """Show another timeline."""
        self.content, self.current = content, -1
        self.ghost, self.would_be, self._is_lifted = None, (), False
        messages = sum(one.version is None for one in content.items)
        versions = len(content.items) - messages
        self.setAccessibleDescription(f"{number_of(messages, 'message')}, {number_of(versions, 'version')}")
        self.setMinimumSize(self.sizeHint())
        self.update()

    def show_would_be(self, versions: Sequence[KeyVersion]) -> None:
        """Show beside the versions those that there would be."""
        self.would_be = version_items(self.content, versions) if self.ghost is not None else ()
        self.update()

    def sizeHint(self) -> QSize:
        """As large as all of it, with room for the versions that there would be."""
        width = _LEFT + max(len(self.content.times), 1) * _STEP
        height = _AXIS + len(self.content.lanes) * _LANE + 2 * _BAR + 20
        return QSize(themes.px(width), themes.px(height))

    def item_rect(self, number: int) -> QRectF:
        """Return where a message or version is painted."""
        return self._rect(self.content.items[number])

    def _rect(self, item: TimelineItem, *, is_would_be: bool = False) -> QRectF:
        scale = themes.scale()
        start, end = self._x(item.start), self._x(item.end)
        if item.version is None:
            y = (_AXIS + (item.lane + 0.5) * _LANE) * scale
            return QRectF(start - _DOT * scale, y - _DOT * scale, 2 * _DOT * scale, 2 * _DOT * scale)
        top = (_AXIS + len(self.content.lanes) * _LANE + 6 + (_BAR + 6 if is_would_be else 0)) * scale
        return QRectF(start + 1, top, max(end - start - 2, 4.0), _BAR * scale)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go on or back; lift a message, move, drop it, or put it back."""
        steps = {Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1}
        key = Qt.Key(event.key())
        step, count = steps.get(key, 0), len(self.content.items)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and (self._lift_or_drop() or self._explain()):
            return
        if key == Qt.Key.Key_Escape and self.ghost is not None:
            self.put_back()
        elif step and self._is_lifted and self.ghost is not None:
            is_near = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._move(self.ghost.start + step * (_NEAR if is_near else _FAR))
        elif not step or not count:
            super().keyPressEvent(event)
        elif self.current < 0:
            self._pick(0)
        else:
            self._pick(min(max(self.current + step, 0), count - 1))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose what lies below the pointer."""
        at = self._pressed_at = event.position()
        found = [number for number in range(len(self.content.items)) if self.item_rect(number).contains(at)]
        if found:
            self._pick(found[-1])
        else:
            self._pressed_at = QPointF()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the message that was pressed along the axis."""
        if self._pressed_at.isNull() or not event.buttons() & Qt.MouseButton.LeftButton:
            return
        if self._is_lifted:
            self._move((event.position().x() - _LEFT * themes.scale()) / self._step - 0.5)
        elif abs(event.position().x() - self._pressed_at.x()) >= QApplication.startDragDistance():
            self._lift()

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        """Drop what is dragged."""
        self._pressed_at = QPointF()
        if self._is_lifted:
            self._lift_or_drop()

    def mouseDoubleClickEvent(self, _event: QMouseEvent) -> None:
        """Ask why the version is so that was chosen with the first click."""
        self._explain()

    def _explain(self) -> bool:
        version = self.content.items[self.current].version if self.current >= 0 else None
        if version is not None:
            self.explained.emit(version)
        return version is not None

    def put_back(self) -> None:
        """Try no message any more."""
        self.ghost, self.would_be, self._is_lifted = None, (), False
        self.update()
        self.tried.emit(None)

    def _lift(self) -> bool:
        """Lift a copy of the message that is chosen; not of what has no row or no time."""
        item = self.content.items[self.current] if self.current >= 0 else None
        if item is None or item.message is None or item.message.op == "t" or not self.content.times:
            return False
        self.ghost, self._is_lifted = item, True
        self._move(max(item.start, 0.0))
        return True

    def _lift_or_drop(self) -> bool:
        if not self._is_lifted:
            return self._lift()
        self._is_lifted = False
        self._say_where()
        return True

    def _move(self, place: float) -> None:
        if self.ghost is None:
            return
        place = min(max(place, -1.0), float(len(self.content.times)))
        self.ghost = replace(self.ghost, start=place, end=place)
        self.bring_into_view(self._rect(self.ghost))
        self._say_where()

    def _say_where(self) -> None:
        moment = self.content.moment_at(self.ghost.start) if self.ghost is not None else None
        self.update()
        if self.ghost is not None and self.ghost.message is not None and moment is not None:
            self.tried.emit(LateMove(self.ghost.message, moment, not self._is_lifted))

    def _pick(self, number: int) -> None:
        self.current = number
        spoken = self.content.items[number].spoken
        self.bring_into_view(self.item_rect(number))
        self.update()
        self.say(spoken)
        self.picked.emit(spoken)

    def say(self, words: str) -> None:
        """Have words read out."""
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))

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
        self._paint_late(painter, theme)
        painter.end()

    def _paint_late(self, painter: QPainter, theme: Theme) -> None:
        """Paint the message that is tried and the versions that there would be, dashed and paler."""
        if self.ghost is None:
            return
        x = self._rect(self.ghost).center().x()
        painter.setPen(QPen(theme.accent, 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, _AXIS * themes.scale() - 4), QPointF(x, float(self.height())))
        _paint_message(painter, self._rect(self.ghost), self.ghost, theme, is_chosen=self._is_lifted)
        for item in self.would_be:
            if item.version is not None:
                box = self._rect(item, is_would_be=True)
                _paint_version(painter, box, item, item.version, theme, is_chosen=False, is_ghost=True)

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
        names += ["would be"] if self.ghost is not None else []
        for lane, name in enumerate(names):
            bars = lane - len(self.content.lanes)
            last = bars >= 0
            top = (_AXIS + min(lane, len(self.content.lanes)) * _LANE + (6 + bars * (_BAR + 6) if last else 0)) * scale
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
    painter: QPainter,
    box: QRectF,
    item: TimelineItem,
    version: KeyVersion,
    theme: Theme,
    is_chosen: bool,
    is_ghost: bool = False,
) -> None:
    pen = QPen(
        theme.text if is_chosen else theme.accent if version.is_current else theme.line, 2.0 if is_chosen else 1.2
    )
    if version.is_inferred or is_ghost:
        pen.setDashPattern([3.0, 2.4])
    painter.setPen(pen)
    painter.setBrush(theme.panel if is_ghost else theme.accentbg if version.is_current else theme.band)
    painter.drawRoundedRect(box, 4, 4)
    painter.setFont(themes.small())
    painter.setPen(theme.text)
    metrics = QFontMetricsF(painter.font())
    inner = box.adjusted(6, 0, -6, 0)
    words = metrics.elidedText(item.words, Qt.TextElideMode.ElideRight, inner.width())
    painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
