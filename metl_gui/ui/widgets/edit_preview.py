"""What an edit would do to blocks, worked out beside the window and told before it is done."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from metl_gui.core.changes.draft import Edit
from metl_gui.core.matrix.document import Document
from metl_gui.errors import EditError, MetlError
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.jobs.timers import pause
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.two_line_list import LineModel, TwoLines, line_view
from metl_gui.workbench.model.edit_effects import BlockOutcome, EditOutcome, preview

_DELAY_MS = 200
_SHOWN = 500


class PreviewPane(QWidget):
    """A heading, a sentence, and a row for each block that changes.

    Signals:
        judged: an ``EditOutcome`` when the edit can be done, else ``None``.

    Args:
        jobs: where previews are worked out.
    """

    judged = Signal(object)

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._judging = NewestJob(jobs, self)
        self._make: Callable[[], tuple[Document, Edit]] | None = None
        self.model: LineModel[BlockOutcome] = LineModel(self)
        self.view = line_view(self.model, "Blocks that change")
        self.heading = QLabel("Which blocks change")
        self.heading.setProperty("kind", "heading")
        self.words = plain_label(kind="dim")
        self.words.setWordWrap(True)
        self._timer = pause(self, _DELAY_MS, self.work_out)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 6, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.heading)
        layout.addWidget(self.words)
        layout.addWidget(self.view, 1)

    def ask(self, make: Callable[[], tuple[Document, Edit]] | None) -> None:
        """Tell soon what an edit would do; asking again before that forgets this one.

        Args:
            make: gives the document and the edit, or raises why there is none; ``None`` for nothing to tell.
        """
        self._judging.cancel()
        self._make = make
        if make is None:
            self._timer.stop()
            self._say("")
            self.judged.emit(None)
        else:
            self._timer.start()

    def work_out(self) -> None:
        """Tell now, on the other side of a job; what is asked is read here, where widgets may be read."""
        self._timer.stop()
        if self._make is None:
            return
        try:
            document, edit = self._make()
        except EditError as error:
            self._refuse(error)
            return
        self._judging.start("Looking which blocks change", lambda _watch: preview(document, edit), self._told)

    def _told(self, outcome: JobOutcome[EditOutcome]) -> None:
        if outcome.value is not None:
            self._show(outcome.value)
            self.judged.emit(outcome.value if outcome.value.changed else None)
        elif outcome.error is not None:
            self._refuse(outcome.error)

    def _refuse(self, error: MetlError) -> None:
        title, text = dialogs.words_of(error)
        self._say(f"{title} {' '.join(text.split())}".strip())
        self.judged.emit(None)

    def _show(self, told: EditOutcome) -> None:
        rows = [(_row(block), block) for block in told.blocks[:_SHOWN]]
        more = len(told.blocks) - len(rows)
        words = _sentence(told) + (f" The first {_SHOWN} are shown." if more > 0 else "")
        self._say(f"{told.note} {words}".strip() if told.note else words)
        self.model.show_rows(rows)

    def _say(self, words: str) -> None:
        self.words.setText(words)
        self.model.show_rows(())


def _sentence(told: EditOutcome) -> str:
    if not told.changed:
        return "Nothing differs yet."
    if not told.blocks:
        return "No block changes its elements."
    mapped = sum(len(block.restored) for block in told.blocks)
    parting = sum(len(block.parted) for block in told.blocks)
    waiting = sum(block.needs_review for block in told.blocks)
    parts = [f"{_count(mapped, 'element is', 'elements are')} mapped"] if mapped else []
    parts += [_count(parting, "element parts", "elements part")] if parting else []
    parts += [f"{_count(waiting, 'block needs', 'blocks need')} review then"] if waiting else []
    blocks = _count(len(told.blocks), "block changes", "blocks change")
    return f"{blocks}{': ' if parts else ', and every element stays'}{', '.join(parts)}."


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _row(block: BlockOutcome) -> TwoLines:
    name = block.block
    title = f"{name.schema} {name.version} → {name.entity} {name.entity_version}"
    if block.gone:
        return TwoLines(title, block.words(), "goes", "bad")
    if block.needs_review:
        return TwoLines(title, block.words(), "needs review", "review")
    if block.restored:
        return TwoLines(title, block.words(), f"+{len(block.restored)}", "good")
    return TwoLines(title, block.words(), "", "plain")
