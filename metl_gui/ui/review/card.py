"""The card of one lost element, and the edit that each of its answers means.

A card says what was lost and why; the answers are buttons, each with its key.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from metl_gui.core.changes.draft import Edit
from metl_gui.core.counted import number_of
from metl_gui.core.edits.review import AcceptLosses, RenameLost, ResolveWithTheirs, mapped_in_place
from metl_gui.core.matrix.blocks import Block, Element, Loss
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.refusals import NO_RENAMES_REFUSED, RefusedRenames
from metl_gui.core.review.feeders import other_feeders
from metl_gui.core.review.loss_choices import LossChoices, loss_choices, loss_name, lost_path, rename_name
from metl_gui.core.review.rename_proposals import Proposal, best_proposals
from metl_gui.core.suggest.renames import Values
from metl_gui.core.trees.nodes import Attribute, Side
from metl_gui.errors import BugError
from metl_gui.ui.widgets.choice import ChoiceRow, Chooser
from metl_gui.ui.widgets.dialogs import show
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label, plain_tip
from metl_gui.ui.widgets.two_line_list import TwoLines
from metl_gui.values import Value

_VALUES_SHOWN = 3
_EDGE_PX, _GAP_PX = 14, 8


class AnswerKind(StrEnum):
    """What may be answered."""

    RENAMED = "renamed"
    NOT_RENAMED = "not renamed"
    LOST = "lost"
    ANOTHER = "another"


class CardAnswer(Value):
    """What a person answered.

    Args:
        loss: the lost element.
        kind: which answer.
        new_path: what the lost attribute is called now, or is not.
        attribute: the attribute mapped instead.
    """

    loss: Loss
    kind: AnswerKind
    new_path: str = ""
    attribute: Attribute | None = None


class CardFacts(Value):
    """What a card says.

    Args:
        loss: the lost element.
        title: the CDM attribute.
        need: ``required in payment 2``.
        reason: why the element was lost, and what speaks for a rename.
        lost: path of the end that went.
        proposal: the best candidate.
        choices: all that may stand in its place.
        is_last_source: a required attribute loses its last source by it, so that losing it is not the first answer.
    """

    loss: Loss
    title: str
    need: str
    reason: str
    lost: str
    proposal: Proposal | None
    choices: LossChoices
    is_last_source: bool = False


def cards_of(
    document: Document,
    block: Block,
    losses: tuple[Loss, ...],
    refused: RefusedRenames = NO_RENAMES_REFUSED,
    values: Values | None = None,
    starved: Collection[str] = (),
) -> list[CardFacts]:
    """Work out one card for each loss.

    Args:
        document: the state.
        block: the block that lost something.
        losses: what of it is asked.
        refused: renames that people refused.
        values: sample values of attributes of its schema that may be seen, by id.
        starved: paths of the required attributes that lose their last source.
    """
    entity_version = document.cdm.version(block.entity_version)
    entity = document.cdm.schema(entity_version.schema_id)
    best = best_proposals(document, block, refused, values)
    choices = loss_choices(document, block, losses, refused, values)
    feeders = other_feeders(document, block) if losses else None
    cards = []
    for loss in losses:
        target = entity_version.of_lineage(loss.q_lineage)
        need = "gone from" if target is None else "optional in" if target.optional else "required in"
        proposal = best.get(loss)
        evidence = f"{proposal.reason}." if proposal else "Nothing new looks like it."
        parts = [f"{loss.reason.rstrip('.')}.", evidence]
        parts += _values_words(document, block, loss, proposal, values or {})
        is_last = loss.to_path in starved
        if is_last:
            parts.append("Nothing else feeds it, and it is required.")
        elif feeders is not None and target is not None:
            parts.append(_feeders_words(feeders.get(target.id, 0)))
        where = f"{need} {entity.name} {entity_version.label}"
        path = lost_path(document, block, loss)
        told = " ".join(parts)
        cards.append(CardFacts(loss, loss.to_path, where, told, path, proposal, choices[loss], is_last))
    return cards


def _values_words(document: Document, block: Block, loss: Loss, proposal: Proposal | None, values: Values) -> list[str]:
    """Say which values the lost attribute had and the proposed one has; what a person can compare at a glance."""
    version = document.extraction.version(block.version)
    now = version.at_path(proposal.candidate) if proposal is not None else None
    before, after = _first(values.get(loss.p)), _first(values.get(now.id) if now is not None else None)
    if before and after:
        return [f"Values were {before}; they are {after} now."]
    return [f"Values were {before}."] if before else []


def _first(values: frozenset[str] | None) -> str:
    return ", ".join(sorted(values or ())[:_VALUES_SHOWN])


def _feeders_words(count: int) -> str:
    if not count:
        return "No other schema feeds it."
    return f"{number_of(count, 'other schema')} {'feeds' if count == 1 else 'feed'} it."


class LossCard(QFrame):
    """A card.

    Signals:
        answered: a ``CardAnswer``.
        step_wanted: -1 or 1, to the card before or behind.
    """

    answered = Signal(object)
    step_wanted = Signal(object)

    def __init__(self, facts: CardFacts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.facts = facts
        self.setProperty("surface", "reviewcard")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(f"{facts.title} lost: {facts.reason}")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(_EDGE_PX, 10, _EDGE_PX, 12)
        layout.setSpacing(8)
        self._keys: dict[KeyButton, str] = {}
        head = QHBoxLayout()
        head.setSpacing(8)
        reason = plain_label(facts.reason, "dim")
        reason.setWordWrap(True)
        head.addWidget(Elided(facts.title, "heading", is_snug=True))
        head.addWidget(Elided(facts.need, "dim"), 1)
        layout.addLayout(head)
        layout.addWidget(reason)
        layout.addLayout(self._buttons())

    def answer_first(self) -> None:
        """Give the card's first answer."""
        self.first.click()

    def let_answer(self, is_for_editing: bool) -> None:
        """Offer answers, or none in a project that is open read only."""
        for button in self.findChildren(KeyButton):
            is_possible = button is not self.another_button or bool(self.facts.choices.paths)
            button.setEnabled(is_for_editing and is_possible)

    def show_keys(self, keys: dict[str, str]) -> None:
        """Show the keys that the answers have now, by the actions' ids; the first one has Enter too."""
        known = {
            self.rename_button: "answer_renamed",
            self.another_button: "answer_another",
            self.loss_button: "answer_lost",
            self.refuse_button: "answer_not_renamed",
        }
        self._keys = {button: "Enter" if button is self.first else keys.get(id_, "") for button, id_ in known.items()}
        self._fit_keys()

    def minimumSizeHint(self) -> QSize:
        """Ask for the answers alone: their keys are left out where there is no room for them."""
        return QSize(self._width_of_row({}), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the keys out where the answers would be cut beside them."""
        super().resizeEvent(event)
        self._fit_keys()

    def _fit_keys(self) -> None:
        shown = self._keys if self._width_of_row(self._keys) <= self.width() else {}
        for button in self._keys:
            if button.key != shown.get(button, ""):
                button.key = shown.get(button, "")
                button.updateGeometry()

    def _width_of_row(self, keys: dict[KeyButton, str]) -> int:
        widths = [button.width_with(keys.get(button, "")) for button in self._in_order]
        return sum(widths) + _GAP_PX * (len(widths) - 1) + 2 * _EDGE_PX

    def focus_chain(self) -> list[QWidget]:
        """Return the card and its buttons in the order in which Tab goes through them."""
        return [self, *self._in_order]

    def choosables(self) -> list[ChoiceRow]:
        """List what may stand in its place: proposed names first, then what is free."""
        side, lost = self.facts.choices.side, self.facts.lost
        found = [
            ChoiceRow(TwoLines(p.candidate, p.reason, f"{p.score:.2f}", "good"), p, f"Perhaps {lost} is called so now")
            for p in self.facts.choices.renames
        ]
        section = "Not mapped in this block" if side is Side.EXTRACTION else f"{lost} is called so now"
        return found + [
            ChoiceRow(TwoLines(a.path, f"{a.type_text}{f' · {a.doc}' if a.doc else ''}"), a, section)
            for a in self.facts.choices.free
        ]

    def choose_another(self) -> Chooser:
        """Ask what stands in its place."""
        chooser = Chooser(f"What fills {self.facts.title} instead of {self.facts.lost}?", self.choosables(), self)
        chooser.chosen.connect(self._chosen, Qt.ConnectionType.QueuedConnection)
        show(chooser)
        return chooser

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter gives the first answer; up and down go to other cards."""
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            self.answer_first()
        elif Qt.Key(event.key()) in steps:
            self.step_wanted.emit(steps[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(_GAP_PX)
        self.loss_button = KeyButton("Confirm the loss")
        self.loss_button.clicked.connect(self.accept_loss)
        self.another_button = KeyButton("Choose another…")
        self.another_button.clicked.connect(self.choose_another)
        proposal = self.facts.proposal
        is_same = proposal is not None and proposal.candidate == proposal.lost
        self.rename_button = KeyButton("Map it again" if is_same else "It was renamed", kind="primary")
        self.refuse_button = KeyButton("Not a rename")
        if proposal is not None:
            self.rename_button.setToolTip(plain_tip(f"{proposal.lost} is {proposal.candidate} now"))
            self.refuse_button.setToolTip(
                plain_tip(f"{proposal.candidate} is never proposed for {proposal.lost} again")
            )
        self.rename_button.clicked.connect(self.accept_rename)
        self.refuse_button.clicked.connect(self.refuse_rename)
        with_proposal = [self.rename_button, self.another_button, self.loss_button, self.refuse_button]
        without = [self.loss_button, self.another_button]
        if self.facts.is_last_source:
            without.reverse()
        self._in_order = with_proposal if proposal is not None else without
        for button in (self.rename_button, self.refuse_button):
            button.setParent(self)
            button.setVisible(proposal is not None)
        self.first = self._in_order[0]
        for button in self._in_order:
            button.setAccessibleDescription(self.facts.title)
            row.addWidget(button)
        row.addStretch(1)
        return row

    def accept_rename(self) -> None:
        """Say that the proposed name is the new one."""
        if self.facts.proposal is not None:
            self.answered.emit(CardAnswer(self.facts.loss, AnswerKind.RENAMED, self.facts.proposal.candidate))

    def refuse_rename(self) -> None:
        """Say that the proposed name is another thing."""
        if self.facts.proposal is not None:
            self.answered.emit(CardAnswer(self.facts.loss, AnswerKind.NOT_RENAMED, self.facts.proposal.candidate))

    def accept_loss(self) -> None:
        """Say that nobody needs it any more."""
        self.answered.emit(CardAnswer(self.facts.loss, AnswerKind.LOST))

    def _chosen(self, value: object) -> None:
        if isinstance(value, Proposal):
            self.answered.emit(CardAnswer(self.facts.loss, AnswerKind.RENAMED, value.candidate))
        elif isinstance(value, Attribute) and self.facts.choices.side is Side.CDM:
            self.answered.emit(CardAnswer(self.facts.loss, AnswerKind.RENAMED, value.path))
        elif isinstance(value, Attribute):
            self.answered.emit(CardAnswer(self.facts.loss, AnswerKind.ANOTHER, attribute=value))


def edit_of(document: Document, block: Block, answer: CardAnswer, comment: str = "") -> Edit:
    """Turn an answer into an edit; what was not renamed is no edit."""
    name = loss_name(block, answer.loss)
    match answer.kind:
        case AnswerKind.LOST:
            return AcceptLosses(block.key, (name,), comment)
        case AnswerKind.RENAMED:
            again = _again(document, block, answer)
            taken = mapped_in_place(document, block.key, (again,), comment) if again is not None else None
            if isinstance(taken, ResolveWithTheirs):
                return taken
            return RenameLost(block.key, rename_name(document, block, answer.loss), answer.new_path, comment)
        case AnswerKind.ANOTHER:
            target = document.cdm.version(block.entity_version).of_lineage(answer.loss.q_lineage)
            if answer.attribute is None or target is None:
                raise BugError("another attribute was chosen for a CDM attribute that is gone")
            return mapped_in_place(document, block.key, (Element(target.id, answer.attribute.id),), comment)
        case AnswerKind.NOT_RENAMED:
            raise BugError("a refusal is kept beside the states, it is no edit")


def _again(document: Document, block: Block, answer: CardAnswer) -> Element | None:
    """Return the lost element itself where its versions have both ends of it, as after a merge."""
    source = document.extraction.version(block.version).of_lineage(answer.loss.p_lineage)
    target = document.cdm.version(block.entity_version).of_lineage(answer.loss.q_lineage)
    if source is None or target is None or answer.new_path not in {source.path, target.path}:
        return None
    return Element(target.id, source.id)
