"""Test or production: which state a target goes by. The choice is there while something is published."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from metl_gui.core.matrix.document import Document
from metl_gui.core.project.named_states import NamedState
from metl_gui.core.runs.run_spec import Mode
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.run.progress import published_words
from metl_gui.ui.widgets.plain_text import wrapped_label
from metl_gui.ui.widgets.segments import Segments
from metl_gui.workbench.runs.mapping_run import PRODUCTION, TEST
from metl_gui.workbench.session import Workbench

_TEST_WORDS: Final = "Goes by what is on the screen."


class TargetMode(QWidget):
    """Two buttons in one, and the words below them that say which state is meant.

    Signals:
        changed: another mode may be chosen than before, or another state published.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._live: NamedState | None = None
        self._modes = Segments([(mode, mode.capitalize()) for mode in (TEST, PRODUCTION)])
        self.buttons = self._modes.buttons
        for mode, button in self.buttons.items():
            button.setAccessibleName(f"{mode.capitalize()} target")
        self.words = wrapped_label("small")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self._modes)
        layout.addWidget(self.words)
        self._modes.clicked.connect(self._say)
        self.show_live(None)

    @property
    def mode(self) -> Mode:
        """What is chosen; without a published state there is nothing but tests."""
        return PRODUCTION if self.live is not None else TEST

    @property
    def live(self) -> NamedState | None:
        """The published state where production is chosen, else ``None``."""
        return self._live if self._modes.choice == PRODUCTION else None

    def choose(self, mode: Mode) -> None:
        """Choose a mode."""
        self._modes.choose(mode)
        self._say()

    def show_live(self, live: NamedState | None) -> None:
        """Offer production with a published state; where there is none any more, go back to tests."""
        self._live = live
        if live is None:
            self._modes.choose(TEST)
        self.setVisible(live is not None)
        self._say()

    def _say(self) -> None:
        live = self.live
        self.words.setText(_TEST_WORDS if live is None else f"Goes by {published_words(live)}.")
        self.changed.emit()


def state_reader(project: OpenProject, mode: Mode) -> Callable[[], Document]:
    """Return what reads the state that a target goes by, off the window's thread: the published one may be far back."""
    workbench = project.workbench
    if workbench is None or mode == TEST:
        return partial(_shown, project.value)
    return partial(_published, workbench)


def _shown(document: Document) -> Document:
    return document


def _published(workbench: Workbench) -> Document:
    from metl_gui.workbench.loads.target_documents import document_of  # parsers of SQL, and the database

    return document_of(workbench, PRODUCTION)
