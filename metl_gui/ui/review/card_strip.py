"""Cards at the head of the review list for what is no block: a few, and how many more there are."""

from __future__ import annotations

from typing import Generic, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label, plain_tip

_SHOWN = 2
_IN_TIP = 12
Shown = TypeVar("Shown")


class CardStrip(QWidget, Generic[Shown]):
    """One card for each of some things; hidden while there are none.

    Attributes:
        shown: the things, in the order of their cards.
        buttons: those of the cards, in order.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown: tuple[Shown, ...] = ()
        self.buttons: list[KeyButton] = []
        self._can_edit = True
        self._shows_all = False
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(10, 0, 10, 0)
        self._column.setSpacing(6)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.hide()

    def show_cards(self, shown: tuple[Shown, ...], can_edit: bool) -> None:
        """Show cards of other things."""
        if shown == self.shown and can_edit == self._can_edit:
            return
        self.shown, self._can_edit = shown, can_edit
        self._shows_all = self._shows_all and bool(shown)
        self._fill()

    def more_words(self, count: int) -> str:
        """Say how many more there are; every strip says it in its own words."""
        raise NotImplementedError

    def card_of(self, one: Shown) -> QFrame:
        """Make the card of one of them; every strip makes its own."""
        raise NotImplementedError

    def lay_out(self, title: str, facts: str, tip: list[str], buttons: dict[KeyButton, bool]) -> QFrame:
        """Make a card.

        Args:
            title: its heading.
            facts: what is the matter.
            tip: the lines of its tooltip, of which the first ones are shown.
            buttons: each, and whether it edits.
        """
        card = QFrame()
        card.setProperty("surface", "reviewcard")
        more = [f"and {len(tip) - _IN_TIP} more"] if len(tip) > _IN_TIP else []
        card.setToolTip(plain_tip("\n".join([*tip[:_IN_TIP], *more])))
        words = plain_label(facts, "small")
        words.setWordWrap(True)
        row = QHBoxLayout()
        row.setSpacing(6)
        for button, does_edit in buttons.items():
            button.setEnabled(self._can_edit or not does_edit)
            row.addWidget(button)
        row.addStretch(1)
        self.buttons += buttons
        column = QVBoxLayout(card)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(4)
        column.addWidget(Elided(title, "heading", is_snug=True))
        column.addWidget(words)
        column.addLayout(row)
        return card

    def _fill(self) -> None:
        while (taken := self._column.takeAt(0)) is not None:
            widget = taken.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.buttons = []
        shown = self.shown if self._shows_all else self.shown[:_SHOWN]
        for one in shown:
            self._column.addWidget(self.card_of(one))
        more = len(self.shown) - len(shown)
        if more > 0:
            button = KeyButton(self.more_words(more), kind="link")
            button.clicked.connect(self._show_all)
            self._column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self.setVisible(bool(self.shown))

    def _show_all(self) -> None:
        self._shows_all = True
        self._fill()
