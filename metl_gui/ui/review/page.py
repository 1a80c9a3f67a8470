"""The Review page: the list left; before, after, cards and the fixed foot right."""

from __future__ import annotations

from html import escape
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMainWindow,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from metl_gui.core.blocks import BlockKey
from metl_gui.core.edits.review import ConfirmBlock, Postpone, RetireBlock
from metl_gui.core.nodes import Side
from metl_gui.core.review import ReviewItem
from metl_gui.ui import asking
from metl_gui.ui.block.picture import BlockPicture, picture_of
from metl_gui.ui.block.sketch import BlockLines, scrolled
from metl_gui.ui.dock import Dock
from metl_gui.ui.document import OpenProject
from metl_gui.ui.elided import Elided
from metl_gui.ui.naming import block_words, number_of, version_words
from metl_gui.ui.pill import VERDICT_KINDS, KeyButton, Pill
from metl_gui.ui.review.answers import edit_of
from metl_gui.ui.review.card import CardAnswer, LossCard, cards_of
from metl_gui.ui.review.list import ReviewList
from metl_gui.ui.selection import Selected, Selection, place_of_version


class ReviewPage(QMainWindow):
    """One of the three pages."""

    def __init__(self, project: OpenProject, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setObjectName("reviewPage")
        self._project = project
        self._selection = selection
        self.cards: list[LossCard] = []
        self.item: ReviewItem | None = None
        self.list = ReviewList()
        self.list_dock = Dock("reviewListDock", "Waiting for a decision", self.list)
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self.list_dock)
        self._stack = QStackedWidget()
        self._stack.addWidget(_nothing_waits())
        self._stack.addWidget(self._detail())
        self.setCentralWidget(self._stack)
        self.list.chosen.connect(self._show_item)
        self.list.counted.connect(self._count)
        self.list.view.pressed_key.connect(self._pressed_key)
        project.opened.connect(self._refresh)
        project.changed.connect(self._refresh)
        selection.changed.connect(self._selected)

    def confirm(self) -> None:
        """Confirm the block; with open cards, name what is accepted as lost and ask once."""
        item = self.item
        if item is None:
            return
        if item.losses:
            names = ", ".join(loss.to_path for loss in item.losses)
            later = f"\nThe same holds for {len(item.chain)} later version(s)." if item.chain else ""
            answers = [("confirm", f"Confirm without {_short(names)}"), ("cancel", "Cancel")]
            title = f"{number_of(len(item.losses), 'lost element')} will stay empty"
            text = f"{block_words(self._project.value, item.key)} will not fill: {names}.{later}"
            if asking.ask(title, text, answers, self) != "confirm":
                return
        self._project.do(ConfirmBlock(item.key, self._take_comment()))

    def postpone(self) -> None:
        """Put the block at the end of the list."""
        if self.item is not None:
            key = self.item.key
            self.list.next()
            self._project.do(Postpone(key, self._take_comment()))

    def retire(self) -> None:
        """Say that the schema feeds the entity no more; asks, because elements go."""
        if self.item is None:
            return
        words = block_words(self._project.value, self.item.key)
        count = len(self.item.block.elements)
        text = f"{number_of(count, 'element')} will go; the list stays in the record. Later versions do not copy them."
        if (
            asking.ask(f"Retire {words}?", text, [("retire", "Retire the block"), ("cancel", "Cancel")], self)
            == "retire"
        ):
            self._project.do(RetireBlock(self.item.key, self._take_comment()))

    def _detail(self) -> QWidget:
        page = QWidget()
        page.setObjectName("page")
        self._title = Elided(kind="title", is_snug=True)
        self._pill = Pill()
        self._carried = Elided(kind="dim")
        head = QHBoxLayout()
        head.setSpacing(12)
        head.addWidget(self._title)
        head.addWidget(self._pill)
        head.addWidget(self._carried, 1)
        self.before, self.after = BlockLines(is_dim=True), BlockLines()
        self._before_title, self._after_title = Elided(kind="panelTitle"), Elided(kind="panelTitle")
        sides = QHBoxLayout()
        sides.setSpacing(14)
        sides.addWidget(_framed(self._before_title, self.before))
        sides.addWidget(_framed(self._after_title, self.after))
        self._cards = QVBoxLayout()
        self._cards.setSpacing(10)
        self._more = QLabel()
        self._more.setProperty("kind", "dim")
        self._more.setTextFormat(Qt.TextFormat.RichText)
        self._more.setWordWrap(True)
        inner = QWidget()
        inner.setProperty("surface", "clear")
        body = QVBoxLayout(inner)
        body.setContentsMargins(20, 16, 20, 16)
        body.setSpacing(14)
        body.addLayout(head)
        body.addLayout(sides)
        body.addLayout(self._cards)
        body.addWidget(self._more)
        body.addStretch(1)
        layout = QVBoxLayout(page)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        area = scrolled(inner)
        area.setAccessibleName("The block before and after, and what it lost")
        layout.addWidget(area, 1)
        layout.addWidget(self._foot())
        return page

    def _foot(self) -> QFrame:
        foot = QFrame()
        foot.setProperty("surface", "foot")
        self.comment = QLineEdit()
        self.comment.setPlaceholderText("Comment for the history (optional)")
        self.comment.setAccessibleName("Comment for the history")
        self.later_button = KeyButton("Later", "L")
        self.next_button = KeyButton("Next", "N")
        self.confirm_button = KeyButton("Confirm the new block", "Ctrl+Enter", "primary")
        self.later_button.clicked.connect(self.postpone)
        self.next_button.clicked.connect(self.list.next)
        self.confirm_button.clicked.connect(self.confirm)
        self._foot_chain: list[QWidget] = [self.comment, self.later_button, self.next_button, self.confirm_button]
        row = QHBoxLayout(foot)
        row.setContentsMargins(20, 10, 20, 10)
        row.setSpacing(10)
        row.addWidget(self.comment, 1)
        for button in (self.later_button, self.next_button, self.confirm_button):
            row.addWidget(button)
        return foot

    @property
    def _can_decide(self) -> bool:
        return self._project.can_edit

    def _refresh(self, _what: object) -> None:
        for widget in (self.comment, self.later_button, self.confirm_button):
            widget.setEnabled(self._can_decide)
        self.list.show_items(self._project.value, self._project.review_items())

    def _count(self, shown: int) -> None:
        whole = len(self._project.review_items())
        self.list_dock.say("Waiting for a decision", str(whole) if shown == whole else f"{shown} of {whole}")

    def _show_item(self, item: ReviewItem | None) -> None:
        self.item = item
        self._stack.setCurrentIndex(0 if item is None else 1)
        if item is None:
            return
        self._show_head(item)
        self._show_sides(item)
        self._show_cards(item)
        if self.isVisible():
            self._selection.choose(self._selected_of(item.key))

    def _show_head(self, item: ReviewItem) -> None:
        document, block = self._project.value, item.block
        came_from = document.extraction.find_version(block.came_from[0]) if block.came_from else None
        source = version_words(document, Side.EXTRACTION, block.version)
        name, _, label = source.rpartition(" ")
        is_new_source = came_from is not None and came_from.id != block.version
        self._title.setText(f"{name}: version {came_from.label} → {label}" if is_new_source and came_from else source)
        self._pill.say(block.verdict.value, VERDICT_KINDS.get(block.verdict.value, "plain"))
        target = version_words(document, Side.CDM, block.entity_version)
        kept = len(block.elements)
        whole = number_of(kept + len(block.open_losses), "element")
        self._carried.setText(f"{kept} of {whole} carried over to {target}")

    def _show_sides(self, item: ReviewItem) -> None:
        document, block = self._project.value, item.block
        origin = block.came_from
        known = origin is not None and document.matrix.block(*origin) is not None
        before = picture_of(document, origin) if origin is not None and known else BlockPicture((), (), ())
        self.before.show_picture(before)
        self.after.show_picture(picture_of(document, block.key))
        height = max(self.before.sizeHint().height(), self.after.sizeHint().height())
        for lines in (self.before, self.after):
            lines.setFixedHeight(height)
        words = block_words(document, origin) if origin is not None and known else "it is not in the matrix any more"
        self._before_title.setText(f"Before · {words}")
        self._after_title.setText(f"After · {block_words(document, block.key)}")

    def _show_cards(self, item: ReviewItem) -> None:
        focus = QApplication.focusWidget()
        had_focus = focus is not None and any(card is focus or card.isAncestorOf(focus) for card in self.cards)
        for card in self.cards:
            self._cards.removeWidget(card)
            card.hide()
            card.deleteLater()
        self.cards = [LossCard(facts) for facts in cards_of(self._project.value, item.block, item.losses)]
        for card in self.cards:
            card.answered.connect(self._answered)
            card.let_answer(self._can_decide)
            self._cards.addWidget(card)
            card.show()  # else it cannot take the focus yet
        chain = [self.list.view, *(w for card in self.cards for w in card.focus_chain()), *self._foot_chain]
        for before, after in pairwise(chain):
            QWidget.setTabOrder(before, after)
        if had_focus:
            (self.cards[0] if self.cards else self.list.view).setFocus(Qt.FocusReason.OtherFocusReason)
        self._more.setText(_more_words(item))
        self._more.setVisible(bool(self._more.text()))

    def _answered(self, answer: CardAnswer) -> None:
        if self.item is not None:
            block = self.item.block
            self._project.do(edit_of(self._project.value, block, answer, self._take_comment()))

    def _take_comment(self) -> str:
        words = self.comment.text().strip()
        self.comment.clear()
        return words

    def _pressed_key(self, key: str) -> None:
        if key == "n":
            self.list.next()
        elif key == "l":
            self.later_button.click()
        elif self.cards:
            self.cards[0].answer_first()

    def _selected(self, selected: Selected) -> None:
        source, target = selected.source, selected.target
        self.after.choose(source.attribute if source else None, target.attribute if target else None)
        if selected.block is not None and (self.item is None or self.item.key != selected.block):
            self.list.go_to(selected.block)

    def _selected_of(self, key: BlockKey) -> Selected:
        if self._selection.current.block == key:
            return self._selection.current
        document = self._project.value
        return Selected(
            place_of_version(document, Side.EXTRACTION, key[0]), place_of_version(document, Side.CDM, key[1])
        )


def _more_words(item: ReviewItem) -> str:
    parts = []
    if item.new_attributes:
        parts.append(f"New in this version: <b>{escape(', '.join(item.new_attributes))}</b>")
    for change in item.type_changes:
        tail = "" if change.is_compatible else " (its values cannot be read as before)"
        types = f"was {escape(change.before)} and is {escape(change.after)} now"
        parts.append(f"<b>{escape(change.path)}</b> {types}{tail}")
    if item.chain:
        count = len(item.chain)
        parts.append(f"The decision holds for {number_of(count, 'later version')} too")
    return "<br>".join(parts)


def _short(names: str) -> str:
    return names if len(names) <= 32 else f"{names[:30]}…"


def _framed(title: QLabel, lines: BlockLines) -> QFrame:
    frame = QFrame()
    frame.setProperty("surface", "card")
    layout = QVBoxLayout(frame)
    layout.setContentsMargins(10, 8, 10, 8)
    layout.addWidget(title)
    layout.addWidget(lines)
    return frame


def _nothing_waits() -> QWidget:
    page = QWidget()
    page.setObjectName("page")
    layout = QVBoxLayout(page)
    title = QLabel("Nothing waits for a decision")
    title.setProperty("kind", "title")
    text = QLabel("When a new version of a schema loses mapped attributes, it stands here with a reason for each.")
    text.setProperty("kind", "dim")
    for label in (title, text):
        label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    layout.addStretch(1)
    layout.addWidget(title)
    layout.addWidget(text)
    layout.addStretch(1)
    return page
