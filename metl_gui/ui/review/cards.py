"""The cards of one review item in a column, and above them a card for each group of equal renames.

A few are shown at first, so that an item that lost hundreds is there as fast as others. Lost attributes that were
renamed in the same way make a group, which is accepted at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from metl_gui.core.edits.rename_groups import RenameGroup
from metl_gui.core.matrix.blocks import Loss
from metl_gui.ui.review.card import CardFacts, LossCard
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_tip

AT_ONCE = 12
"""So many cards are made at once; a screen shows six of them."""


class LossCards(QWidget):
    """A column of cards, below them a button for the others.

    Signals:
        answered: a ``CardAnswer``.
        reached: the ``LossCard`` that got the keyboard and is to be in sight.
    """

    answered = Signal(object)
    reached = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cards: list[LossCard] = []
        self._facts: Sequence[CardFacts] = ()
        self._about: object = None
        self._most = AT_ONCE
        self._keys: dict[str, str] = {}
        self._can_decide = True
        self.more = KeyButton("", kind="link")
        self.more.clicked.connect(self.show_more)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(10)
        self._layout.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        self.hide()

    def show_facts(self, about: object, facts: Sequence[CardFacts], can_decide: bool) -> bool:
        """Show other cards; the one in the place of that with the keyboard gets it.

        Args:
            about: what they are about; as many of the same stay shown as were.
            facts: one for each card.
            can_decide: whether they offer answers.

        Returns:
            Whether the keyboard was on a card and no card is left to take it.
        """
        held = self.in_hand
        focus = QApplication.focusWidget()
        had_focus = held is not None and focus is not None and (held is focus or held.isAncestorOf(focus))
        at = self.cards.index(held) if held is not None and had_focus else 0
        for card in self.cards:
            self._layout.removeWidget(card)
            card.hide()
            card.deleteLater()
        self.cards = []
        self._most = self._most if about == self._about else AT_ONCE
        self._about, self._facts, self._can_decide = about, facts, can_decide
        self.setVisible(bool(facts))
        self._add_cards()
        if had_focus and self.cards:
            self.cards[min(at, len(self.cards) - 1)].setFocus(Qt.FocusReason.OtherFocusReason)
        return had_focus and not self.cards

    def show_keys(self, keys: dict[str, str]) -> None:
        """Show the keys that the answers have now, by the actions' ids."""
        self._keys = keys
        for card in self.cards:
            card.show_keys(keys)

    def show_more(self) -> None:
        """Show further cards, with the keyboard on the first of them."""
        shown = len(self.cards)
        self._reveal(shown + AT_ONCE)
        if shown < len(self.cards):
            self.go_to(self.cards[shown])

    def card_of(self, loss: Loss) -> LossCard | None:
        """Return the card of a lost element, or of the same in a later version; shown if it was not yet."""
        at = next((at for at, facts in enumerate(self._facts) if facts.loss.chain == loss.chain), None)
        if at is None:
            return None
        self._reveal(at + 1)
        return self.cards[at]

    @property
    def in_hand(self) -> LossCard | None:
        """The card with the keyboard, else the first."""
        focus = QApplication.focusWidget()
        held = (card for card in self.cards if focus is not None and (card is focus or card.isAncestorOf(focus)))
        return next(held, self.cards[0] if self.cards else None)

    @property
    def focus_chain(self) -> list[QWidget]:
        """What Tab goes through."""
        return [*(widget for card in self.cards for widget in card.focus_chain()), self.more]

    def step(self, step: int) -> None:
        """Give the keyboard to the card before or behind."""
        held = self.in_hand
        if held is not None:
            at = max(self.cards.index(held) + step, 0)
            self._reveal(at + 1)
            self.go_to(self.cards[min(at, len(self.cards) - 1)])

    def go_to(self, card: LossCard) -> None:
        """Give the keyboard to a card."""
        card.setFocus(Qt.FocusReason.OtherFocusReason)
        self.reached.emit(card)

    def _reveal(self, count: int) -> None:
        if len(self.cards) < min(count, len(self._facts)):
            self._most = max(count, self._most + AT_ONCE)
            self._add_cards()

    def _add_cards(self) -> None:
        """Make the cards that are to be shown and are not there yet."""
        before = len(self.cards)
        for facts in self._facts[before : self._most]:
            card = LossCard(facts)
            card.answered.connect(self.answered)
            card.step_wanted.connect(self.step)
            card.let_answer(self._can_decide)
            card.show_keys(self._keys)
            self._layout.insertWidget(self._layout.count() - 1, card)
            self.cards.append(card)
            card.show()  # else it cannot take the focus yet
        if before:
            fresh = [widget for card in self.cards[before - 1 :] for widget in card.focus_chain()]
            for one, other in pairwise([*fresh, self.more]):
                QWidget.setTabOrder(one, other)
        left = len(self._facts) - len(self.cards)
        self.more.setText(f"Show more of the {left:,} other lost elements" if left > AT_ONCE else f"Show {left:,} more")
        self.more.setVisible(left > 0)
        self.more.updateGeometry()


_MOST = 3
_EXAMPLES, _MOST_IN_TIP = 2, 20


class GroupCard(QFrame):
    """One group with its button.

    Signals:
        accepted: the ``RenameGroup``.
    """

    accepted = Signal(object)

    def __init__(self, group: RenameGroup, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.group = group
        self.setProperty("surface", "reviewcard")
        self.setAccessibleName(f"Renamed together: {group.reason}")
        pairs = [f"{proposal.lost} → {proposal.candidate}" for _, proposal in group.proposals]
        examples = Elided(f"{', '.join(pairs[:_EXAMPLES])}{_and_more(len(pairs) - _EXAMPLES)}", "dim")
        examples.setToolTip(plain_tip("\n".join(pairs[:_MOST_IN_TIP]) + _and_more(len(pairs) - _MOST_IN_TIP)))
        self.button = KeyButton(f"All {len(pairs):,} were renamed")
        self.button.setAccessibleDescription(group.reason)
        self.button.clicked.connect(self._accept)
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addWidget(Elided(group.reason, "heading"))
        words.addWidget(examples)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(14, 10, 14, 12)
        layout.setSpacing(12)
        layout.addLayout(words, 1)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignVCenter)

    def _accept(self) -> None:
        self.accepted.emit(self.group)


class GroupCards(QWidget):
    """The groups of one item, the largest first.

    Signals:
        accepted: the ``RenameGroup`` that a person accepted.
    """

    accepted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cards: list[GroupCard] = []
        self._key = ""
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(10)
        self.hide()

    def show_key(self, key: str) -> None:
        """Show the key that accepts the largest group."""
        self._key = key
        for card in self.cards[:1]:
            card.button.key = key
            card.button.updateGeometry()

    def accept_first(self) -> None:
        """Accept the largest group."""
        for card in self.cards[:1]:
            card.button.click()

    def show_groups(self, groups: Sequence[RenameGroup], can_decide: bool) -> None:
        """Show the groups of another item, a few of them."""
        for card in self.cards:
            self._layout.removeWidget(card)
            card.hide()
            card.deleteLater()
        self.cards = [GroupCard(group) for group in groups[:_MOST]]
        for card in self.cards:
            card.button.setEnabled(can_decide)
            card.accepted.connect(self.accepted)
            self._layout.addWidget(card)
        self.show_key(self._key)
        self.setVisible(bool(self.cards))

    @property
    def buttons(self) -> list[QWidget]:
        """What Tab goes through."""
        return [card.button for card in self.cards]


def _and_more(count: int) -> str:
    return f" and {count:,} more" if count > 0 else ""
