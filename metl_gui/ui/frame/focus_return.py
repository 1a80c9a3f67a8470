"""Where the keyboard goes when the button that was pressed goes away: back to where it was, not to the next stop.

*Stop* ends with its job, *Accept all* with what it accepted; whoever pressed them goes on in the list.
"""

from __future__ import annotations

import shiboken6
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QDockWidget, QWidget


def first_focus(panel: QWidget) -> QWidget | None:
    """Return the widget of a panel that gets the focus: a view before the box above it."""
    inside = [widget for widget in [panel, *panel.findChildren(QWidget)] if takes_focus(widget)]
    views = [widget for widget in inside if widget.property("isMain")]
    return next(iter(views or inside), None)


def takes_focus(widget: QWidget) -> bool:
    """Whether Tab stops at a widget now."""
    policy = widget.focusPolicy()
    is_stop = bool(policy & Qt.FocusPolicy.TabFocus)
    return is_stop and widget.isVisible() and widget.isEnabled() and widget.focusProxy() is None


class FocusReturn(QObject):
    """Follows the focus within one window."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._from: QWidget | None = None
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._changed)

    def _changed(self, old: QWidget | None, new: QWidget | None) -> None:
        if old is None or new is None or not (self._window.isAncestorOf(old) and self._window.isAncestorOf(new)):
            return
        if not isinstance(old, QAbstractButton):
            self._from = old if isinstance(new, QAbstractButton) else None
        elif not (old.isVisible() and old.isEnabled()):
            self._go_back(old)

    def _go_back(self, button: QWidget) -> None:
        before, self._from = self._from, None
        if before is None or not shiboken6.isValid(before):
            return
        if not (before.isVisible() and before.isEnabled()):
            dock = next((each for each in _parents(button) if isinstance(each, QDockWidget)), None)
            before = first_focus(dock) if dock is not None else None
        if before is not None:
            before.setFocus(Qt.FocusReason.OtherFocusReason)


def _parents(widget: QWidget) -> list[QWidget]:
    found, parent = [], widget.parentWidget()
    while parent is not None:
        found.append(parent)
        parent = parent.parentWidget()
    return found
