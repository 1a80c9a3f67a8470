"""Lost attributes that were renamed in the same way, to be accepted at once above their single cards."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from metl_gui.core.edits.rename_groups import RenameGroup
from metl_gui.ui.elided import Elided
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_tip

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
