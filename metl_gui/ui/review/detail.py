"""One review item: what was and what is, side by side; a card for each lost element; what is new."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from metl_gui.core.counted import number_of
from metl_gui.core.edits.rename_groups import grouped
from metl_gui.core.matrix.blocks import Block, Loss
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.refusals import RefusedRenames
from metl_gui.core.review.items import ReviewItem
from metl_gui.core.review.query import ReviewFacts
from metl_gui.core.suggest.renames import Values
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.block.sketch import BlockLines, BlockPicture, picture_of, scrolled
from metl_gui.ui.project.text import ago, block_words, version_words
from metl_gui.ui.review.card import LossCard, cards_of
from metl_gui.ui.review.cards import GroupCards, LossCards
from metl_gui.ui.review.matrix_pane import MatrixPane
from metl_gui.ui.review.new_attributes import FreshRows
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import VERDICT_KINDS, KeyButton, Pill

_MATRIX_LEAST_PX = 300
_LEAST_LISTS_PX = 200
_HEAD_PX = 130
_GAP_PX, _EDGE_PX = 14, 8
_RING_PX = 4
_FRAME_PX = 2 * _EDGE_PX + 2
"""What a frame takes above and below its lists, its border with it."""


class ItemDetail(QWidget):
    """The right side of the Review page, without its foot.

    Signals:
        answered: a ``CardAnswer``.
        joined: the ``Element`` that a person drew or chose.
        joined_later: a later block's key and the ``Element`` to be set there.
        assign_wanted: the button that says who is to decide was pressed.
        matrix_shown: the matrix is in front, or the lists again.
    """

    answered = Signal(object)
    joined = Signal(object)
    joined_later = Signal(object)
    assign_wanted = Signal()
    matrix_shown = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._make_matrix: Callable[[], MatrixPane] | None = None
        self.values_of: Callable[[int], Values | None] = _no_values
        self.matrix: MatrixPane | None = None
        self._title = Elided(kind="title", is_snug=True)
        self._pill = Pill()
        self._carried = Elided(kind="dim")
        self._said = Elided(kind="dim", is_snug=True)
        self.assigned = KeyButton("Assigned to nobody", kind="link")
        self.assigned.clicked.connect(self.assign_wanted)
        self.lists_button, self.matrix_button = _segment("Lists", "first"), _segment("Matrix", "last")
        self.before, self.after = BlockLines(is_dim=True), BlockLines(can_join=True)
        self.before.setAccessibleName("The block before")
        self.after.setAccessibleName("The block after")
        self._before_title, self._after_title = Elided(kind="panelTitle"), Elided(kind="panelTitle")
        self.sides = QStackedWidget()
        self.fresh = FreshRows()
        self.groups = GroupCards()
        self.losses = LossCards()
        self.losses.answered.connect(self.answered)
        self.losses.reached.connect(self._bring_into_sight)
        self._lay_out()
        self.after.joined.connect(self.joined)
        self.fresh.map_wanted.connect(self.joined)
        self.fresh.again_wanted.connect(self.joined_later)

    def add_matrix(self, make: Callable[[], MatrixPane]) -> None:
        """Offer the block in the matrix too; the view is made when it is first looked at."""
        self._make_matrix = make
        self._switch.show()

    def show_keys(self, keys: dict[str, str]) -> None:
        """Show the keys that actions have now, by the actions' ids."""
        self.assigned.key = keys.get("assign_item", "")
        self.assigned.updateGeometry()
        self.losses.show_keys(keys)
        self.groups.show_key(keys.get("answer_group", ""))

    @property
    def cards(self) -> list[LossCard]:
        """The cards that are shown."""
        return self.losses.cards

    @property
    def offers_matrix(self) -> bool:
        """Whether the block can be shown in the matrix."""
        return self._make_matrix is not None

    @property
    def shows_matrix(self) -> bool:
        """Whether the block is shown in the matrix."""
        return self.matrix is not None and self.sides.currentWidget() is self.matrix

    def show_matrix(self, is_shown: bool) -> None:
        """Show the block in the matrix, or as lists."""
        if is_shown and self.matrix is None and self._make_matrix is not None:
            self.matrix = self._make_matrix()
            self.sides.addWidget(self.matrix)
        if is_shown and self.matrix is not None:
            self.sides.setCurrentWidget(self.matrix)
        else:
            self.sides.setCurrentIndex(0)
        self.matrix_button.setChecked(self.shows_matrix)
        self.lists_button.setChecked(not self.shows_matrix)
        self._fit_sides()
        self.matrix_shown.emit(self.shows_matrix)

    def show_item(self, document: Document, facts: ReviewFacts, refused: RefusedRenames, can_decide: bool) -> None:
        """Show another item."""
        self._show_head(document, facts)
        self._show_sides(document, facts.item, refused)
        self._show_cards(document, facts, refused, can_decide)
        self.fresh.show_item(document, facts.item, can_decide)
        self._fit_sides()
        self._show_first_lost()
        self.assigned.setEnabled(can_decide)
        self.after.let_join(can_decide)

    def card_of(self, loss: Loss) -> LossCard | None:
        """Return the card of a lost element, or of the same in a later version."""
        return self.losses.card_of(loss)

    @property
    def card_in_hand(self) -> LossCard | None:
        """The card with the keyboard, else the first."""
        return self.losses.in_hand

    def focus_chain(self) -> list[QWidget]:
        """Return what Tab goes through."""
        switch = [self.lists_button, self.matrix_button] if self._make_matrix is not None else []
        return [self.assigned, *switch, *self.groups.buttons, *self.losses.focus_chain, *self.fresh.buttons]

    def go_to_card(self, card: LossCard) -> None:
        """Give the keyboard to a card, in sight."""
        self.losses.go_to(card)

    def _bring_into_sight(self, card: LossCard) -> None:
        self._area.ensureWidgetVisible(card, 0, 12)

    def _show_head(self, document: Document, facts: ReviewFacts) -> None:
        item, block = facts.item, facts.item.block
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
        self._said.setText(_said_words(block))
        words = f"Assigned to {facts.assigned}" if facts.assigned else "Assigned to nobody"
        self.assigned.setText(words)
        self.assigned.setAccessibleDescription(f"Who is to decide on {block_words(document, item.key)}")
        self.assigned.updateGeometry()

    def _show_sides(self, document: Document, item: ReviewItem, refused: RefusedRenames) -> None:
        block = item.block
        origin = block.came_from
        known = origin is not None and document.matrix.block(*origin) is not None
        before = picture_of(document, origin) if origin is not None and known else BlockPicture((), (), ())
        self.before.show_picture(before)
        self.after.show_picture(picture_of(document, block.key, refused, self._values(document, block)))
        words = block_words(document, origin) if origin is not None and known else "it is not in the matrix any more"
        self._before_title.setText(f"Before · {words}")
        self._after_title.setText(f"After · {block_words(document, block.key)}")

    def _values(self, document: Document, block: Block) -> Values | None:
        return self.values_of(document.extraction.schema_of(block.version))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the lists as much of the room as the cards leave."""
        super().resizeEvent(event)
        self._fit_sides()

    def _fit_sides(self) -> None:
        """Make the lists as high as they are; where that is too much, let them scroll within what the cards leave."""
        height = max(self.before.sizeHint().height(), self.after.sizeHint().height())
        for lines in (self.before, self.after):
            lines.setFixedHeight(height)
        whole = height + _FRAME_PX + _RING_PX  # layouts tell what they held before, until events come round
        lists = min(whole, self._room_for_lists())
        self._lists_area.setFixedHeight(lists)
        self._lists_area.setFocusPolicy(Qt.FocusPolicy.StrongFocus if lists < whole else Qt.FocusPolicy.NoFocus)
        titles = self._before_title.sizeHint().height() + 6
        wanted = self.matrix.sizeHint().height() if self.shows_matrix and self.matrix is not None else 0
        self.sides.setFixedHeight(max(lists + titles, wanted, _MATRIX_LEAST_PX) if wanted else lists + titles)

    def _room_for_lists(self) -> int:
        """Return how high the lists may be: all that the cards leave, and never so much that no card is in sight."""
        whole = self._area.viewport().height()
        parts = [*self.cards, *(part for part in (self.groups, self.fresh) if not part.isHidden())]
        below = sum(part.sizeHint().height() + 12 for part in parts)
        return max(themes.px(_LEAST_LISTS_PX), whole // 2 - themes.px(20), whole - below - themes.px(_HEAD_PX))

    def _show_first_lost(self) -> None:
        """Begin the lists at what was lost, with a row above it."""
        lost = next((at for at, entry in enumerate(self.after.picture.right) if entry.is_lost), 0)
        self._lists.resize(self._lists.width(), self.after.height() + _FRAME_PX)  # else it cannot scroll there yet
        self._lists_area.verticalScrollBar().setValue(self.after.place_of(lost - 1) if lost else 0)

    def _show_cards(self, document: Document, asked: ReviewFacts, refused: RefusedRenames, can_decide: bool) -> None:
        item = asked.item
        values = self._values(document, item.block)
        facts = cards_of(document, item.block, item.losses, refused, values, asked.starved)
        best = {each.loss: each.proposal for each in facts if each.proposal is not None}
        self.groups.show_groups(grouped(best), can_decide)
        if self.losses.show_facts(item.key, facts, can_decide):
            self._area.setFocus(Qt.FocusReason.OtherFocusReason)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(12)
        for widget in (self._title, self._pill):
            head.addWidget(widget)
        head.addWidget(self._carried, 1)
        self._switch = QWidget()
        switch = QHBoxLayout(self._switch)
        switch.setContentsMargins(0, 0, 0, 0)
        switch.setSpacing(0)
        group = QButtonGroup(self)
        for button in (self.lists_button, self.matrix_button):
            switch.addWidget(button)
            group.addButton(button)
        self.lists_button.setChecked(True)
        self.lists_button.clicked.connect(self._show_lists)
        self.matrix_button.clicked.connect(self._show_matrix)
        self._switch.hide()
        head.addWidget(self._switch)
        said = QHBoxLayout()
        said.setSpacing(12)
        said.addWidget(self._said)
        said.addWidget(self.assigned)
        said.addStretch(1)
        self._lists_area = self._build_lists()
        inner = QWidget()
        inner.setProperty("surface", "clear")
        body = QVBoxLayout(inner)
        body.setContentsMargins(20, 16, 20, 16)
        body.setSpacing(12)
        body.addLayout(head)
        body.addLayout(said)
        body.addWidget(self.groups)
        body.addWidget(self.sides)
        body.addWidget(self.losses)
        body.addWidget(self.fresh)
        body.addStretch(1)
        self._area = scrolled(inner)
        self._area.setAccessibleName("The block before and after, and what it lost")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._area)

    def _build_lists(self) -> QScrollArea:
        """Put the lists side by side below their titles, which stay when the lists scroll."""
        self._lists = QWidget()
        area = scrolled(self._lists)
        area.setAccessibleName("The block before and after, as lists")
        self._lists.setLayout(_side_by_side(_framed(self.before), _framed(self.after)))
        page, column = QWidget(), QVBoxLayout()
        page.setLayout(column)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(_side_by_side(self._before_title, self._after_title))
        column.addWidget(area)
        column.addStretch(1)
        self.sides.addWidget(page)
        return area

    def _show_lists(self) -> None:
        self.show_matrix(False)

    def _show_matrix(self) -> None:
        self.show_matrix(True)


def _no_values(_schema: int) -> None:
    """Know no sample values of any schema."""


def _said_words(block: Block) -> str:
    """Say who touched a block last, when, and what was said of it."""
    parts = [block.who or "From the automated update"]
    parts += [ago(block.when_ms)] if block.when_ms else []
    parts = [", ".join(parts)]
    parts += [f"“{block.comment}”"] if block.comment else []
    parts += ["postponed"] if block.postponed else []
    return " · ".join(part for part in parts if part)


def _segment(words: str, edge: str) -> KeyButton:
    button = KeyButton(words, kind="segment")
    button.setProperty("edge", edge)
    button.setCheckable(True)
    button.set_height(24)
    return button


def _side_by_side(before: QWidget, after: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(_GAP_PX)
    row.addWidget(before, 1)
    row.addWidget(after, 1)
    return row


def _framed(lines: BlockLines) -> QFrame:
    frame = QFrame()
    frame.setProperty("surface", "card")
    layout = QVBoxLayout(frame)
    layout.setContentsMargins(10, _EDGE_PX, 10, _EDGE_PX)
    layout.addWidget(lines, 0, Qt.AlignmentFlag.AlignTop)
    return frame
