"""Hands changes of the document to panels that can be seen and show something of what was changed.

A panel says once what brings it up to date and which changes concern it. While it is hidden (its dock is closed or
behind another tab, its page is not in front) a change only marks it as stale; the event that shows it brings it up to
date, once, however much was changed meanwhile. What cannot be read then is told once, and tried again when the panel is
shown the next time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

from metl_gui.errors import BugError, MetlError
from metl_gui.ui.project.document import DocumentChange, OpenProject

LOGGER = logging.getLogger(__name__)


class PanelUpdater(QObject):
    """Brings one panel up to date when the document changes; the panel owns it.

    Args:
        project: whose changes it follows.
        panel: whose visibility counts.
        update: brings the panel up to date.
        concerns: whether a change touches what the panel shows; ``None`` where every change does.
        delay_ms: while the panel is visible, wait so long for further changes.
        when_shown: brings a stale panel up to date when it is shown; ``None`` for ``update``.
        catches_up: whether a stale panel needs that; not where it reads everything whenever it is shown.
    """

    def __init__(
        self,
        project: OpenProject,
        panel: QWidget,
        update: Callable[[], object],
        concerns: Callable[[DocumentChange], bool] | None = None,
        delay_ms: int = 0,
        *,
        when_shown: Callable[[], object] | None = None,
        catches_up: bool = True,
    ) -> None:
        super().__init__(panel)
        self._project, self._panel, self._concerns, self._catches_up = project, panel, concerns, catches_up
        self._update, self._when_shown = update, when_shown or update
        self._is_stale = False
        self._told = ""
        self._timer: QTimer | None = None
        if delay_ms:
            self._timer = QTimer(self)
            self._timer.setSingleShot(True)
            self._timer.setInterval(delay_ms)
            self._timer.timeout.connect(update)
        project.changed.connect(self.follow)

    @property
    def is_waiting(self) -> bool:
        """Whether the panel is to be updated: after the delay, or when it is shown."""
        return self._is_stale or (self._timer is not None and self._timer.isActive())

    def follow(self, changed: DocumentChange) -> None:
        """Take a change of the document."""
        can_matter = not self._is_stale if self._catches_up else self._panel.isVisible()
        if can_matter and (self._concerns is None or self._concerns(changed)):
            self.schedule()

    def schedule(self) -> None:
        """Update the panel after the delay, or when it is shown."""
        if not self._panel.isVisible():
            if self._catches_up and not self._is_stale:
                self._is_stale = True
                self._panel.installEventFilter(self)
        elif self._timer is not None:
            self._timer.start()
        else:
            self._update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Update a stale panel when it is shown."""
        if event.type() is QEvent.Type.Show:
            watched.removeEventFilter(self)
            self._is_stale = False
            self._catch_up(watched)
        return super().eventFilter(watched, event)

    def _catch_up(self, panel: QObject) -> None:
        """Update a stale panel. Qt called, and what were raised into it would end the program."""
        try:
            self._when_shown()
        except MetlError as error:
            self._fail(panel, error)
        except Exception as error:
            LOGGER.exception("a panel could not be shown in a way that nobody foresaw")
            self._fail(panel, BugError(f"{type(error).__name__}: {error}"))
        else:
            self._told = ""

    def _fail(self, panel: QObject, error: MetlError) -> None:
        """Tell what went wrong, once the panel is there; when it is shown again this is tried, but not told, again."""
        panel.installEventFilter(self)
        if str(error) != self._told:
            self._told = str(error)
            QTimer.singleShot(0, self, lambda: self._project.refused.emit(error))
