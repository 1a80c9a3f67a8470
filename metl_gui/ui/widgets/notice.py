"""A quiet line that says what came of something, in the status bar, without taking the focus.

One notice is shown at a time, for six seconds or as long as somebody is at it; one that is replaced does not come back.
The last ones are kept for a list.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QWidget

from metl_gui.ui.jobs.timers import pause
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.values import Value

STAYS_MS = 6_000
"""How long a notice stands when nobody points at it."""

_MOST = 20
_BUTTON_PX = 20
_AROUND_PX = 36


class Notice(Value):
    """What is said.

    Args:
        text: what happened, to what.
        action_text: words of the button, empty for none.
        callback: what the button does.
        is_good: good news.
        undo: takes back the edit that is reported; ``None`` where none is.
        state: that the edit made.
    """

    text: str
    action_text: str = ""
    callback: Callable[[], object] | None = None
    is_good: bool = True
    undo: Callable[[], object] | None = None
    state: int | None = None


class NoticeStrip(QFrame):
    """Shows the newest notice for a while.

    Signals:
        shown: whether there is something to read now.
        whole_wanted: the text of a notice that was cut is to be read.
    """

    shown = Signal(bool)
    whole_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "notice")
        self.setAccessibleName("Notice")
        self.current: Notice | None = None
        self.notices: list[Notice] = []
        self._came_from: QWidget | None = None
        self.words = Elided()
        self.whole = KeyButton("Read all", kind="link")
        self.action = KeyButton("", kind="link")
        self.undo = KeyButton("Undo", kind="link")
        self.dismiss = KeyButton("Close", "Esc", "link")
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(8, 0, 4, 0)
        row.setSpacing(6)
        row.addWidget(self.words, 1)
        for button in (self.whole, self.action, self.undo, self.dismiss):
            button.set_height(_BUTTON_PX)
            row.addWidget(button)
        self.timer = pause(self, STAYS_MS, self._time_is_up)
        self.whole.clicked.connect(self._read_whole)
        self.action.clicked.connect(self._act)
        self.undo.clicked.connect(self._undo)
        self.dismiss.clicked.connect(self.close_newest)
        self.hide()

    def say(self, notice: Notice) -> None:
        """Show a notice in place of the one before, and tell screen readers."""
        others = [one for one in self.notices if one.text != notice.text]
        self.notices = [*others[-_MOST + 1 :], notice]
        self.current = notice
        self.words.setText(notice.text)
        self.action.setText(notice.action_text)
        self.action.setVisible(notice.callback is not None)
        self.undo.setVisible(notice.undo is not None)
        self.setProperty("tone", "good" if notice.is_good else "review")
        self.style().unpolish(self)
        self.style().polish(self)
        self.shown.emit(True)
        self.show()
        self._fit()
        self.timer.start()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, notice.text))

    def close_newest(self) -> bool:
        """Take the shown notice away; whether there was one."""
        if self.current is None:
            return False
        focus = QApplication.focusWidget()
        had_focus = focus is not None and self.isAncestorOf(focus)
        self.current = None
        self.timer.stop()
        self.hide()
        self.shown.emit(False)
        if had_focus and self._came_from is not None:
            self._came_from.setFocus(Qt.FocusReason.OtherFocusReason)
        self._came_from = None
        return True

    def clear(self) -> None:
        """Take the notice away and forget all that were there before."""
        self.close_newest()
        self.notices = []

    def follow_state(self, state: int) -> None:
        """Take a notice about an edit away when that is undone, or is not the last one any more."""
        if self.current is not None and self.current.state not in (None, state):
            self.close_newest()

    def take_focus(self) -> None:
        """Put the focus on the first button of the shown notice; it goes back when the notice goes."""
        self._came_from = QApplication.focusWidget()
        buttons = (self.whole, self.action, self.undo, self.dismiss)
        next(each for each in buttons if not each.isHidden()).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def minimumSizeHint(self) -> QSize:
        """Ask for the buttons alone: the words give way."""
        return QSize(self._row.minimumSize().width(), themes.px(_BUTTON_PX))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Offer to read what is cut."""
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc takes the notice away."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_newest()
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Follow the font."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange and self.current is not None:
            self._fit()

    @property
    def whole_width(self) -> int:
        """Return how wide it is with all words, in pixels."""
        buttons = (self.action, self.undo, self.dismiss)
        taken = sum(each.sizeHint().width() + 6 for each in buttons if not each.isHidden())
        return round(themes.text_width(self.words.text(), self.words.font())) + taken + _AROUND_PX

    def _fit(self) -> None:
        self.whole.setVisible(self.whole_width > self.width())

    def _time_is_up(self) -> None:
        focus = QApplication.focusWidget()
        if self.underMouse() or (focus is not None and self.isAncestorOf(focus)):
            self.timer.start()  # somebody is at it
        else:
            self.close_newest()

    def _read_whole(self) -> None:
        if self.current is not None:
            self.whole_wanted.emit(self.current.text)

    def _act(self) -> None:
        notice = self.current
        self.close_newest()
        if notice is not None and notice.callback is not None:
            notice.callback()

    def _undo(self) -> None:
        notice = self.current
        self.close_newest()
        if notice is not None and notice.undo is not None:
            notice.undo()
