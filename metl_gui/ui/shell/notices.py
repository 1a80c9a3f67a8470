"""What is said in the status bar: the notices of the window, and which of them report an edit that can be undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from metl_gui.ui.project.document import DocumentChange
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.notice import Notice, NoticeStrip
from metl_gui.ui.widgets.window_words import in_window

if TYPE_CHECKING:
    from metl_gui.ui.shell.window import Window


class NoticeController(QObject):
    """Shows notices in the status bar of a window."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window, self._project = window, window.project
        self._edited: int | None = None
        self.strip = NoticeStrip()
        window.status.hold(self.strip)
        self.strip.whole_wanted.connect(self._show_whole)
        self._project.edited.connect(self._edit_made)
        self._project.changed.connect(self._changed)

    def say(self, text: str, action_text: str, callback: Callable[[], object] | None, is_good: bool) -> None:
        """Show a notice; one of the same turn of events as an edit reports that, so it offers to undo it.

        One that offers itself to undo the newest edit reports that, whenever it was made.
        """
        state = self._edited if self._edited == self._project.value.state else None
        undo = None if state is None else self._project.undo
        if callback == self._project.undo:
            state, undo = self._project.newest.state, None
        elif undo is not None and callback is None:
            action_text, callback, undo = "Undo", undo, None
        self.strip.say(Notice(in_window(text), action_text, callback, is_good, undo, state))

    def show_last(self) -> None:
        """List what was said lately, the newest first."""
        said = [notice.text for notice in reversed(self.strip.notices)]
        self._show_whole("\n\n".join(said) if said else "Nothing was said since the project was opened.")

    def _show_whole(self, text: str) -> None:
        dialogs.show(dialogs.QuestionDialog("Notices", text, [("close", "Close")], self._window))

    def _edit_made(self, state: int) -> None:
        self._edited = state
        QTimer.singleShot(0, self, self._forget_edit)

    def _forget_edit(self) -> None:
        self._edited = None

    def _changed(self, changed: DocumentChange) -> None:
        self.strip.follow_state(changed.after.state)
