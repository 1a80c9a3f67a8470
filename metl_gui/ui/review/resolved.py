"""Blocks that were settled lately: one of them to read, and the controller that leads there and back.

The controller reads them in a job and shows them below the review list. Of one block stands there what it lost, how
that was answered, by whom, when and why; and the ways back.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.edits.titles import past_tense
from metl_gui.core.matrix.blocks import Block, Loss
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.review.settled import Resolution, ResolvedBlock, ResolvedBlocks, passing
from metl_gui.ui.block.sketch import BlockLines, BlockPicture, picture_of, scrolled
from metl_gui.ui.context.app_context import PAGES, AppContext
from metl_gui.ui.jobs.jobs import JobOutcome, NewestJob
from metl_gui.ui.project.panel_updater import PanelUpdater
from metl_gui.ui.project.text import block_words, clock, now_ms
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton, Pill
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.values import Value
from metl_gui.workbench.review.progress import decided_with, midnight_ms, settled_since

if TYPE_CHECKING:
    from metl_gui.ui.review.page import ReviewPage

_SHOWN = 50
_MOST_LISTS_PX = 420
_SAID = {
    Resolution.SAME: "The update took it over whole and confirmed it",
    Resolution.CONFIRMED: "Confirmed",
    Resolution.MAPPED_AGAIN: "Mapped again",
    Resolution.LOSS_CONFIRMED: "Loss confirmed",
    Resolution.RETIRED: "Retired",
}
_ANSWERS = {"accepted": "stays empty", "renamed": "renamed", "mapped": "mapped again"}


class ResolvedDetail(QWidget):
    """What stands in the place of the cards while a settled block is looked at.

    Signals:
        map_wanted: the ``ResolvedBlock`` to be shown on the Map page.
        again_wanted: the ``ResolvedBlock`` to be put back on the review list.
        undo_wanted: the ``ResolvedBlock`` whose edit is to be taken back.
    """

    map_wanted = Signal(object)
    again_wanted = Signal(object)
    undo_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.settled: ResolvedBlock | None = None
        self._title, self._pill = Elided(kind="title", is_snug=True), Pill()
        self._said = plain_label(kind="dim")
        self._comment = plain_label(kind="dim")
        for label in (self._said, self._comment):
            label.setWordWrap(True)
        self._before_title, self._after_title = Elided(kind="panelTitle"), Elided(kind="panelTitle")
        self.before, self.after = BlockLines(is_dim=True), BlockLines()
        self.before.setAccessibleName("The block before")
        self.after.setAccessibleName("The block as it is")
        self._answers = QVBoxLayout()
        self._answers.setSpacing(10)
        self.map_button = KeyButton("Show it on the Map", "Enter")
        self.again_button = KeyButton("Look again")
        self.again_button.setToolTip("Takes the decision back, so that it waits on the list again")
        self.undo_button = KeyButton("Undo this…")
        for button, signal in (
            (self.map_button, self.map_wanted),
            (self.again_button, self.again_wanted),
            (self.undo_button, self.undo_wanted),
        ):
            button.clicked.connect(lambda _checked=False, signal=signal: signal.emit(self.settled))
        self._lay_out()

    def show_settled(self, document: Document, settled: ResolvedBlock, can_edit: bool) -> None:
        """Show another block."""
        self.settled = settled
        words = block_words(document, settled.key)
        self._title.setText(words)
        self._pill.say(settled.how.value, "plain")
        by = f" by {settled.who}" if settled.who else ""
        joint = ", in a state made" if settled.how is Resolution.SAME else ""
        when = clock(settled.when_ms)
        done = past_tense(settled.title)
        self._said.setText(f"{_SAID[settled.how]}{joint}{by}, {when} · state {settled.state:,} · {done}")
        self._comment.setText(f"“{settled.block.comment}”")
        self._comment.setVisible(bool(settled.block.comment))
        self._show_lists(document, settled.block)
        self._show_answers(document, settled)
        self.again_button.setVisible(settled.waited)
        for button in (self.again_button, self.undo_button):
            button.setEnabled(can_edit)
            button.setAccessibleDescription(words)

    def focus_chain(self) -> list[QWidget]:
        """Return what Tab goes through."""
        return [self.map_button, self.again_button, self.undo_button]

    def _show_lists(self, document: Document, block: Block) -> None:
        origin = block.came_from
        is_known = origin is not None and document.matrix.block(*origin) is not None
        before = picture_of(document, origin) if origin is not None and is_known else BlockPicture((), (), ())
        self.before.show_picture(before)
        self.after.show_picture(picture_of(document, block.key))
        self._before_frame.setVisible(is_known)
        self._before_title.setText(f"Before · {block_words(document, origin)}" if origin is not None else "")
        self._after_title.setText(f"Now · {block_words(document, block.key)}")
        height = max(each.sizeHint().height() for each in (self.before, self.after))
        for lines in (self.before, self.after):
            lines.setFixedHeight(height)
        self._lists.setFixedHeight(min(self._pair.sizeHint().height() + 4, themes.px(_MOST_LISTS_PX)))

    def _show_answers(self, document: Document, settled: ResolvedBlock) -> None:
        while (taken := self._answers.takeAt(0)) is not None:
            widget = taken.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        if settled.how is Resolution.RETIRED:
            count = number_of(len(settled.block.retired), "element")
            self._answers.addWidget(plain_label(f"{count} went when it was retired; later versions do not copy them."))
        for loss in settled.answered[:_SHOWN]:
            self._answers.addWidget(_answer_card(document, settled.block, loss))
        if len(settled.answered) > _SHOWN:
            self._answers.addWidget(plain_label(f"and {len(settled.answered) - _SHOWN:,} more lost elements", "dim"))

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(12)
        head.addWidget(self._title)
        head.addWidget(self._pill)
        head.addStretch(1)
        self._pair = QWidget()
        sides = QHBoxLayout(self._pair)
        sides.setContentsMargins(0, 0, 0, 0)
        sides.setSpacing(14)
        self._before_frame = _framed(self._before_title, self.before)
        sides.addWidget(self._before_frame)
        sides.addWidget(_framed(self._after_title, self.after))
        self._lists = scrolled(self._pair)
        self._lists.setAccessibleName("The block before and now, as lists")
        inner = QWidget()
        inner.setProperty("surface", "clear")
        body = QVBoxLayout(inner)
        body.setContentsMargins(20, 16, 20, 16)
        body.setSpacing(12)
        body.addLayout(head)
        for widget in (self._said, self._comment, self._lists):
            body.addWidget(widget)
        body.addLayout(self._answers)
        body.addStretch(1)
        area = scrolled(inner)
        area.setAccessibleName("A settled block, to read")
        foot = QFrame()
        foot.setProperty("surface", "foot")
        row = QHBoxLayout(foot)
        row.setContentsMargins(20, 10, 20, 10)
        row.setSpacing(10)
        row.addStretch(1)
        for button in self.focus_chain():
            row.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(area, 1)
        layout.addWidget(foot)


def _framed(title: Elided, lines: BlockLines) -> QFrame:
    frame = QFrame()
    frame.setProperty("surface", "card")
    layout = QVBoxLayout(frame)
    layout.setContentsMargins(10, 8, 10, 8)
    layout.addWidget(title)
    layout.addWidget(lines)
    return frame


def _answer_card(document: Document, block: Block, loss: Loss) -> QFrame:
    """Say of one lost element why it was lost and what became of it."""
    card = QFrame()
    card.setProperty("surface", "card")
    row = QHBoxLayout()
    row.setSpacing(8)
    row.addWidget(Elided(loss.to_path, "heading", is_snug=True))
    row.addWidget(Pill(_ANSWERS.get(loss.answer, loss.answer), "plain"))
    row.addStretch(1)
    now = _source_now(document, block, loss)
    fills = f" {now} fills it now." if now else " Nothing fills it now."
    was = "" if loss.from_path in loss.reason else f"{loss.from_path} filled it. "
    reason = plain_label(f"{was}{loss.reason.rstrip('.')}.{fills}", "dim")
    reason.setWordWrap(True)
    column = QVBoxLayout(card)
    column.setContentsMargins(14, 10, 14, 12)
    column.setSpacing(6)
    column.addLayout(row)
    column.addWidget(reason)
    return card


def _source_now(document: Document, block: Block, loss: Loss) -> str:
    """Return the path of what fills the CDM attribute of a lost element in its block now, empty for nothing."""
    target = document.cdm.version(block.entity_version).of_lineage(loss.q_lineage)
    p = next((e.p for e in block.elements if target is not None and e.q == target.id), None)
    source = document.extraction.version(block.version).attribute(p) if p is not None else None
    return source.path if source is not None else ""


_DELAY_MS = 60


class _ResolvedResult(Value):
    """What a job found: all that was settled, and what the filter of the list shows of it."""

    all: ResolvedBlocks
    shown: tuple[ResolvedBlock, ...]


class ResolvedController(QObject):
    """Joins the parts.

    Args:
        page: gets the detail; the strip is in its review list already.

    Signals:
        undo_wanted: the number of a state whose edit is to be taken back.
        undo_question_wanted: the same, after one question that names it.
    """

    undo_wanted = Signal(object)
    undo_question_wanted = Signal(object)

    def __init__(self, context: AppContext, page: ReviewPage) -> None:
        super().__init__(context.window)
        self._context, self._page, self._project = context, page, context.project
        self._strip = self._page.list.settled
        self._opened_ms = now_ms()
        self._known: ResolvedBlocks | None = None
        self._newest = NewestJob(context.jobs, self)
        self.detail = ResolvedDetail()
        self._page.add_settled(self.detail)
        self._strip.fold(context.settings.folds_settled)
        self._strip.folded.connect(self._fold)
        self._strip.chosen.connect(self.show)
        self._strip.map_wanted.connect(self.show_on_map)
        self.detail.map_wanted.connect(self.show_on_map)
        self.detail.again_wanted.connect(self.look_again)
        self.detail.undo_wanted.connect(self.ask_and_undo)
        self._page.list.chosen.connect(self._chosen)
        self._updater = PanelUpdater(self._project, page, self.read, delay_ms=_DELAY_MS, catches_up=False)
        self._page.list.filter.changed.connect(self._updater.schedule)
        self._page.seen.connect(self.read)  # a new day may have begun, too
        self._project.opened.connect(self._opened)

    # what is seen

    def read(self) -> None:
        """Read what was settled since midnight, or since the window was opened where that is longer ago."""
        workbench, document = self._project.workbench, self._project.value
        if workbench is None or self._project.looks_back is not None:
            self._strip.show_settled(document, (), "")
            self._leave()
            return
        now, known, query = now_ms(), self._known, self._page.list.filter.query
        since = min(midnight_ms(now), self._opened_ms)

        def task(watch: Watch) -> _ResolvedResult:
            found = settled_since(workbench, since, known, watch)
            return _ResolvedResult(found, passing(document, found.newest_first(), query, now))

        def done(outcome: JobOutcome[_ResolvedResult]) -> None:
            if outcome.value is not None and self._project.workbench is workbench:
                self._known = outcome.value.all
                words = "Settled today" if since >= midnight_ms(now) else f"Settled since {clock(since)}"
                self._show(outcome.value.shown, words)

        self._newest.start("Reading what was settled", task, done)

    def show(self, settled: ResolvedBlock) -> None:
        """Show a settled block in the place of the cards, to read."""
        if not self._is_here(settled):
            return
        self.detail.show_settled(self._project.value, settled, self._project.can_edit)
        self._page.show_settled(settled.key)
        chain = [self._strip.view, *self.detail.focus_chain()]
        for before, after in pairwise(chain):
            QWidget.setTabOrder(before, after)

    # what is done

    def show_on_map(self, settled: ResolvedBlock) -> None:
        """Select a settled block on the Map page."""
        if self._is_here(settled):
            self._context.navigate.show_page(PAGES.index("Map"))
            self._context.selection.choose(self._page.selected_of(settled.key))

    def look_again(self, settled: ResolvedBlock) -> None:
        """Take the decision back, so that the block waits again; asks where others were decided in the same step."""
        workbench = self._project.workbench
        if workbench is None:
            return

        def done(outcome: JobOutcome[int]) -> None:
            is_here = self._project.workbench is workbench and not outcome.is_cancelled
            if is_here and self._agrees(settled, outcome.value or 0):
                self.undo_wanted.emit(settled.state)

        self._context.jobs.start("Looking what goes back", lambda _watch: decided_with(workbench, settled), done)

    def _agrees(self, settled: ResolvedBlock, others: int) -> bool:
        """Ask whether other blocks that were decided in one step with a block are to wait again, too."""
        if not others or not self._is_here(settled):
            return True
        title = f"Look again at {number_of(others + 1, 'block')}?"
        words = block_words(self._project.value, settled.key)
        text = f"{words} was decided in one step with {number_of(others, 'other block')}: “{settled.title}”. "
        text += "They can only be taken back together, and all wait again."
        answers = [("again", "Look again at all"), ("cancel", "Cancel")]
        return dialogs.ask(title, text, answers, self._context.window) == "again"

    def ask_and_undo(self, settled: ResolvedBlock) -> None:
        """Take back what settled the block, after one question that names it."""
        self.undo_question_wanted.emit(settled.state)

    # following

    def _show(self, shown: tuple[ResolvedBlock, ...], words: str) -> None:
        self._strip.show_settled(self._project.value, shown, words)
        front = self.detail.settled
        if front is None or not self._page.shows_settled:
            return
        again = next((each for each in shown if each.key == front.key), None)
        if again is None:
            self._leave()
        elif again != front and self._is_here(again):
            self.detail.show_settled(self._project.value, again, self._project.can_edit)

    def _is_here(self, settled: ResolvedBlock) -> bool:
        """Whether both versions are there still; what went is read again in a moment."""
        document, (v, w) = self._project.value, settled.key
        return document.extraction.has_version(v) and document.cdm.has_version(w)

    def _leave(self) -> None:
        """Go to what waits: to the block itself where it does again."""
        front = self.detail.settled
        if front is not None and self._page.shows_settled:
            self._strip.leave()
            self._page.leave_settled(front.key)

    def _chosen(self, item: object) -> None:
        if item is not None:
            self._strip.leave()

    def _opened(self, _workbench: object) -> None:
        self._known = None
        self._leave()
        self._updater.schedule()

    def _fold(self, is_folded: bool) -> None:
        self._context.settings.folds_settled = is_folded
