"""Waiting for a pause: what follows letters or changes that come in quick succession is done once, after the last."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


def pause(parent: QObject, delay_ms: int, then: Callable[[], object]) -> QTimer:
    """Make a timer that does something when nobody has started it again for a while; it ends with its parent."""
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(delay_ms)
    timer.timeout.connect(then)
    return timer
