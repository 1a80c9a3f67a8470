"""Puts another style sheet on what is seen at once, and on what is hidden right after, or as soon as it is shown.

Of the 1,350 widgets of a window with the panels of all pages open, 160 are seen. Qt has no way to leave the others for
later, so they are taken out of its walk by the two attributes that it asks for there.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from itertools import compress, repeat

import shiboken6
from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QScrollArea, QStatusBar, QWidget

from metl_gui.ui.theming import theme as themes

_PAUSE_MS = 100
"""After which hidden widgets follow: what is seen has been painted by then."""

_STEP_S = 0.008
"""After which no further page, dock or window is begun at a stretch; each is dressed as a whole."""

_MEASURING = (QMainWindow, QScrollArea)
"""What measures all that is in it when it hears of another style; it is told last, when that has its sizes."""

_COMING = (QEvent.Type.Show, QEvent.Type.Move)
"""What a widget is told of when it comes to be seen."""

_IS_POLISHED = Qt.WidgetAttribute.WA_WState_Polished
_HAS_OWN_STYLE = Qt.WidgetAttribute.WA_SetStyle


class Dresser(QObject):
    """Dresses every widget of the application, what is hidden later.

    Args:
        parent: what it lives with.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._waiting: dict[QWidget, bool] = {}  # whether it wears the sheet before
        self._tops: list[QWidget] = []
        self._asking: set[QDockWidget] = set()  # for the room that was foreseen for them
        self._scale = themes.scale()
        self._steps = QTimer(self)
        self._steps.timeout.connect(self._go_on)

    @property
    def is_at_work(self) -> bool:
        """Whether something hidden has yet to follow."""
        return self._steps.isActive()

    def dress(self, app: QApplication) -> None:
        """Put the style sheet of the chosen theme on what is seen, and have the rest follow."""
        with themes.no_widget_goes():
            seen, self._tops = _seen_and_tops(app)
            self._ask_for_docks_behind(seen)
            for widget in seen:
                if self._waiting.pop(widget, False):
                    widget.setAttribute(_IS_POLISHED)
            before, at_once = self._waiting, set(seen)
            hidden = [each for each in app.allWidgets() if each not in at_once]
            self._waiting = {each: before.get(each, False) or each.testAttribute(_IS_POLISHED) for each in hidden}
            self._change_sheet(app, seen)
            for widget in self._tops:
                widget.installEventFilter(self)
            for widget in seen:
                _follow(widget)
        self._steps.start(_PAUSE_MS)

    def _ask_for_docks_behind(self, seen: Iterable[QWidget]) -> None:
        """Have docks behind others ask for the room that they will need: what is seen moves once then, not again later.

        They say themselves what they need when they are dressed.
        """
        grown, self._scale = themes.scale() / self._scale, themes.scale()
        self._stop_asking(seen)
        for dock in self._tops:
            if isinstance(dock, QDockWidget) and dock.isVisible():
                dock.setMinimumSize(dock.minimumSize() * grown)
                self._asking.add(dock)

    def _stop_asking(self, widgets: Iterable[QWidget]) -> None:
        """Have those of some widgets that ask for what was foreseen say themselves what they need."""
        for widget in self._asking.intersection(widgets):
            self._asking.discard(widget)
            widget.setMinimumSize(0, 0)

    def _change_sheet(self, app: QApplication, seen: list[QWidget]) -> None:
        """Take the sheet off and put the other on, leaving out what is hidden, and telling what is seen once.

        Qt leaves a widget as it is that was not polished, and does not tell one that has a style of its own. What is
        seen keeps what the sheet before gave it until the other gives the same anew.
        """
        keeper = QWidget()
        keeper.setStyleSheet("QWidget {}")  # with the last sheet Qt would forget what it changed in hidden widgets
        hidden, last = list(self._waiting), [widget for widget in seen if isinstance(widget, _MEASURING)]
        last.reverse()  # what is inside of others first
        polished = [widget for widget in seen if widget.testAttribute(_IS_POLISHED)]
        _mark([*hidden, *seen], _HAS_OWN_STYLE)
        _mark([*compress(hidden, self._waiting.values()), *polished], _IS_POLISHED, False)
        themes.undress(app)
        _mark([widget for widget in seen if not isinstance(widget, _MEASURING)], _HAS_OWN_STYLE, False)
        _mark(polished, _IS_POLISHED)
        themes.dress(app)
        _mark([*hidden, *last], _HAS_OWN_STYLE, False)
        for widget in last:
            QApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))
            widget.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Dress what is shown now, or comes to the front of the docks of its place."""
        if event.type() in _COMING and isinstance(watched, QWidget) and _is_seen(watched):
            with themes.no_widget_goes():
                self._dress_below(watched)
                _tell_around([watched])
        return super().eventFilter(watched, event)

    def _go_on(self) -> None:
        """Dress some of what is hidden."""
        self._steps.setInterval(0)
        end = time.perf_counter() + _STEP_S
        dressed: list[QWidget] = []
        with themes.no_widget_goes():
            while self._tops and time.perf_counter() < end:
                top = self._tops.pop()
                if shiboken6.isValid(top):
                    self._dress_below(top)
                    dressed.append(top)
            _tell_around(dressed)
        if not self._tops:  # what was put elsewhere meanwhile is below none of them
            self._tops = [widget for widget in self._waiting if shiboken6.isValid(widget)]
        if not self._tops:
            self._steps.stop()
            self._waiting.clear()

    def _dress_below(self, top: QWidget) -> None:
        top.removeEventFilter(self)
        dressed = []
        for widget in (top, *top.findChildren(QWidget)):
            is_worn = self._waiting.pop(widget, None)
            if is_worn is None:  # it waits no longer: it may have come to be seen by what was dressed just now
                continue
            if is_worn:
                widget.style().unpolish(widget)
                QApplication.sendEvent(widget, QEvent(QEvent.Type.Polish))
            dressed.append(widget)
        self._stop_asking(dressed)
        for widget in dressed:
            QApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))
        for widget in dressed:
            _follow(widget)


def _seen_and_tops(app: QApplication) -> tuple[list[QWidget], list[QWidget]]:
    """Return what is dressed at once, and what is hidden, each with all that is in it.

    What a status bar hides is dressed with it, as it asks for the height of all that is in it; so is what a widget
    hides whose ``measures_hidden`` is set.
    """
    seen: list[QWidget] = []
    tops: list[QWidget] = []
    look_at = app.topLevelWidgets()
    measured: set[QWidget] = set()
    while look_at:
        widget = look_at.pop()
        if not _is_seen(widget) and widget not in measured:
            tops.append(widget)
            continue
        seen.append(widget)
        below = [child for child in _children(widget) if not child.isWindow()]
        look_at += below
        if isinstance(widget, QStatusBar) or getattr(type(widget), "measures_hidden", False):
            measured.update(below)
    return seen, tops


def _is_seen(widget: QWidget) -> bool:
    """Tell whether a widget is shown; Qt says so of all docks that share a place, and moves those behind far off."""
    return widget.isVisible() and not (isinstance(widget, QDockWidget) and widget.geometry().right() < 0)


def _mark(widgets: Iterable[QWidget], attribute: Qt.WidgetAttribute, is_on: bool = True) -> None:
    """Set an attribute of thousands of widgets; a loop that calls their methods takes half as long again."""
    deque(map(QWidget.setAttribute, widgets, repeat(attribute), repeat(is_on)), maxlen=0)


def _tell_around(dressed: list[QWidget]) -> None:
    """Tell what is around some widgets, each once: they may ask for another size now."""
    for parent in {top.parentWidget() for top in dressed if shiboken6.isValid(top) and not top.isWindow()}:
        if parent is not None:
            QApplication.sendEvent(parent, QEvent(QEvent.Type.StyleChange))


def _children(widget: QWidget) -> list[QWidget]:
    return widget.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)


def _follow(widget: QWidget) -> None:
    dress = getattr(type(widget), "dress", None)  # a widget itself is asked by PySide for names of its class in Qt, too
    if dress is not None:
        dress(widget)
