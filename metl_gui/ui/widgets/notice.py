"""A quiet strip that says what came of something, over the foot of the page, without taking the focus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLabel, QSizePolicy, QWidget

from metl_gui.ui.jobs.timers import pause
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.pill import KeyButton

STAYS_MS = 8_000
"""How long good news stand when nobody points at them."""

_MOST = 5
_MARGIN = 12
_WIDEST = 720
_MOVES = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide)


@dataclass(frozen=True)
class Notice:
    """What is said.

    Args:
        text: what happened, to what.
        action_text: words of the button, empty for none.
        callback: what the button does.
        is_good: good news, which go by themselves; anything else stays until somebody has seen it.
    """

    text: str
    action_text: str = ""
    callback: Callable[[], object] | None = None
    is_good: bool = True


class NoticeStrip(QFrame):
    """Shows the newest notice over the foot of its parent; when it goes, the one before comes back.

    Args:
        parent: the widget that it lies over.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self._foot: QWidget | None = None
        self.setProperty("surface", "notice")
        self.setAccessibleName("Notice")
        self.notices: list[Notice] = []
        self.words = QLabel()
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setWordWrap(True)
        self.words.setSizePolicy(QSizePolicy.Policy.MinimumExpanding, QSizePolicy.Policy.Preferred)
        self.more = QLabel()
        self.more.setProperty("kind", "small")
        self.action = KeyButton("", kind="link")
        self.dismiss = KeyButton("Close", "Esc", "link")
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 6, 10, 6)
        row.setSpacing(12)
        row.addWidget(self.words, 1)
        for widget in (self.more, self.action, self.dismiss):
            row.addWidget(widget)
        self.timer = pause(self, STAYS_MS, self._time_is_up)
        self.action.clicked.connect(self._act)
        self.dismiss.clicked.connect(self.close_newest)
        parent.installEventFilter(self)
        self.hide()

    def stay_above(self, foot: QWidget) -> None:
        """Leave a row of buttons at the foot of a page free while it is seen."""
        self._foot = foot
        foot.installEventFilter(self)

    def say(self, notice: Notice) -> None:
        """Show a notice and tell screen readers; the same words twice are one notice."""
        others = [one for one in self.notices if one.text != notice.text]
        self.notices = [*others[-_MOST + 1 :], notice]
        self._show_newest()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, notice.text))

    def close_newest(self) -> None:
        """Take the shown notice away."""
        self.notices = self.notices[:-1]
        self._show_newest()

    def clear(self) -> None:
        """Take every notice away, those that nobody has seen too."""
        self.notices = []
        self._show_newest()

    def take_focus(self) -> None:
        """Put the focus on the button of the shown notice."""
        button = self.action if self.action.isVisible() else self.dismiss
        button.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay at the foot of the parent."""
        if event.type() in _MOVES:
            self._place()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc takes the notice away."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_newest()
        else:
            super().keyPressEvent(event)

    def _show_newest(self) -> None:
        had_focus = self._has_focus()
        if not self.notices:
            self.timer.stop()
            self.hide()
            if had_focus:
                self._over.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        newest, waiting = self.notices[-1], len(self.notices) - 1
        self.words.setText(newest.text)
        self.more.setText(f"{waiting} more" if waiting else "")
        self.more.setVisible(waiting > 0)
        self.action.setText(newest.action_text)
        self.action.setVisible(newest.callback is not None)
        self.setProperty("tone", "good" if newest.is_good else "review")
        self.style().unpolish(self)
        self.style().polish(self)
        self.show()
        self.raise_()
        self._place()
        if newest.is_good:
            self.timer.start()
        else:
            self.timer.stop()

    def _place(self) -> None:
        if self.isHidden():
            return
        room = self._over.rect().adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)
        words = round(themes.text_width(self.words.text(), self.words.font()))
        others = self.sizeHint().width() - self.words.sizeHint().width()
        width = min(room.width(), themes.px(_WIDEST), words + others + _MARGIN)
        height = self.heightForWidth(width)
        if self._foot is not None and self._foot.isVisible():
            room.setBottom(min(room.bottom(), self._foot.mapTo(self._over, QPoint(0, -_MARGIN)).y()))
        self.setGeometry(room.center().x() - width // 2, room.bottom() - height + 1, width, height)

    def _time_is_up(self) -> None:
        if self.underMouse() or self._has_focus():
            self.timer.start()  # somebody is at it
        else:
            self.close_newest()

    def _has_focus(self) -> bool:
        focus = QApplication.focusWidget()
        return focus is not None and self.isAncestorOf(focus)

    def _act(self) -> None:
        notice = self.notices[-1] if self.notices else None
        self.close_newest()
        if notice is not None and notice.callback is not None:
            notice.callback()
