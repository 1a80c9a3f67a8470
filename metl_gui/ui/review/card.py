"""One card for each lost element: what was lost, why, and the answers as buttons."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QKeyEvent, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QVBoxLayout, QWidget

from metl_gui.core.blocks import Block, Loss
from metl_gui.core.document import Document
from metl_gui.core.nodes import Attribute
from metl_gui.core.proposals import Proposal, best_proposals
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_entry, plain_label, plain_tip


class AnswerKind(StrEnum):
    """The three answers."""

    RENAMED = "renamed"
    LOST = "lost"
    ANOTHER = "another"


@dataclass(frozen=True)
class CardAnswer:
    """What a person answered.

    Args:
        loss: the lost element.
        kind: which answer.
        proposal: the rename accepted.
        attribute: the attribute chosen instead.
    """

    loss: Loss
    kind: AnswerKind
    proposal: Proposal | None = None
    attribute: Attribute | None = None


@dataclass(frozen=True)
class CardFacts:
    """What a card says.

    Args:
        title: the CDM attribute.
        need: ``required in payment 2``.
        reason: why the element was lost, and what speaks for a rename.
        proposal: the best candidate.
        free: attributes that can be chosen instead.
    """

    loss: Loss
    title: str
    need: str
    reason: str
    proposal: Proposal | None
    free: tuple[Attribute, ...]


def cards_of(document: Document, block: Block, losses: tuple[Loss, ...]) -> list[CardFacts]:
    """Work out one card for each loss."""
    version = document.extraction.version(block.version)
    entity_version = document.cdm.version(block.entity_version)
    entity = document.cdm.schema(entity_version.schema_id)
    best = best_proposals(document, block)
    taken = {element.p for element in block.elements}
    free = tuple(a for a in version.attributes if a.id not in taken)
    cards = []
    for loss in losses:
        target = entity_version.of_lineage(loss.q_lineage)
        need = "gone from" if target is None else "optional in" if target.optional else "required in"
        proposal = best.get(loss)
        evidence = f"{proposal.reason}." if proposal else "Nothing new looks like it."
        reason = f"{loss.reason.rstrip('.')}. {evidence}"
        is_mappable = free if target is not None else ()
        title = loss.to_path
        cards.append(
            CardFacts(loss, title, f"{need} {entity.name} {entity_version.label}", reason, proposal, is_mappable)
        )
    return cards


class LossCard(QFrame):
    """A card.

    Signals:
        answered: a ``CardAnswer``.
    """

    answered = Signal(object)

    def __init__(self, facts: CardFacts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.facts = facts
        self.setProperty("surface", "reviewcard")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(f"{facts.title} lost: {facts.reason}")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 10, 14, 12)
        layout.setSpacing(8)
        head = QHBoxLayout()
        title, need = plain_label(facts.title, "heading"), plain_label(facts.need, "dim")
        reason = plain_label(facts.reason, "dim")
        head.addWidget(title)
        head.addSpacing(4)
        head.addWidget(need)
        head.addStretch(1)
        layout.addLayout(head)
        reason.setWordWrap(True)
        layout.addWidget(reason)
        layout.addLayout(self._buttons())

    def answer_first(self) -> None:
        """Give the card's first answer."""
        self.first.click()

    def let_answer(self, is_for_editing: bool) -> None:
        """Offer answers, or none in a project that is open read only."""
        for button in self.findChildren(KeyButton):
            button.setEnabled(is_for_editing and (button is not self.another_button or bool(self.facts.free)))

    def focus_chain(self) -> list[QWidget]:
        """Return the card and its buttons in the order in which Tab goes through them."""
        return [self, *self.findChildren(KeyButton)]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter gives the first answer."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            self.answer_first()
        else:
            super().keyPressEvent(event)

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self.loss_button = KeyButton("Confirm the loss", "" if self.facts.proposal else "Enter")
        self.loss_button.clicked.connect(self._accept_loss)
        self.another_button = KeyButton("Choose another…")
        self.another_button.clicked.connect(self._choose_another)
        self.another_button.setEnabled(bool(self.facts.free))
        self.first = self.loss_button
        if self.facts.proposal is not None:
            self.rename_button = KeyButton("It was renamed", "Enter", "primary")
            words = f"{self.facts.proposal.lost} is {self.facts.proposal.candidate} now"
            self.rename_button.setToolTip(plain_tip(words))
            self.rename_button.clicked.connect(self._accept_rename)
            self.first = self.rename_button
            row.addWidget(self.rename_button)
            row.addWidget(self.another_button)
            row.addWidget(self.loss_button)
        else:
            row.addWidget(self.loss_button)
            row.addWidget(self.another_button)
        row.addStretch(1)
        return row

    def _accept_rename(self) -> None:
        self.answered.emit(CardAnswer(self.facts.loss, AnswerKind.RENAMED, proposal=self.facts.proposal))

    def _accept_loss(self) -> None:
        self.answered.emit(CardAnswer(self.facts.loss, AnswerKind.LOST))

    def _choose_another(self) -> None:
        menu = self.menu_of_free()
        menu.popup(self.another_button.mapToGlobal(QPoint(0, self.another_button.height())))

    def menu_of_free(self) -> QMenu:
        """Build the menu of attributes that are not mapped in this block."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for attribute in self.facts.free:
            action = menu.addAction(plain_entry(f"{attribute.path}   {attribute.type_text}"))
            action.setData(attribute)
        menu.triggered.connect(self._chosen)
        return menu

    def _chosen(self, action: object) -> None:
        attribute = action.data() if hasattr(action, "data") else None
        if isinstance(attribute, Attribute):
            self.answered.emit(CardAnswer(self.facts.loss, AnswerKind.ANOTHER, attribute=attribute))
