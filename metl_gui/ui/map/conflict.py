"""The 1:1 guard of a click: what stands in the way of an element, and the one question that editing asks.

It is asked in a sheet beside the cell: an end is taken; replace, swap, or leave it. Each answer means edits.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QFocusEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import Block, BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.pill import ValueButton
from metl_gui.values import Value


class ConflictAnswer(StrEnum):
    """What a person may say to a conflict."""

    REPLACE = "replace"
    SWAP = "swap"
    CANCEL = "cancel"


class ElementConflict(Value):
    """An element that cannot simply be set.

    Args:
        key: the block.
        wanted: the element.
        taken: the elements that use one of its ends: one or two.
    """

    key: BlockKey
    wanted: Element
    taken: tuple[Element, ...]

    @property
    def can_swap(self) -> bool:
        """Whether both ends are taken by two elements whose other ends can be joined."""
        return len(self.taken) == 2

    def replace(self) -> SetElements:
        """Clear what is taken and set the wanted element."""
        return SetElements(self.key, (self.wanted,), self.taken)

    def swap(self) -> SetElements:
        """Set the wanted element and join the two ends that become free."""
        other_q = next(e.q for e in self.taken if e.q != self.wanted.q)
        other_p = next(e.p for e in self.taken if e.p != self.wanted.p)
        return SetElements(self.key, (self.wanted, Element(other_q, other_p)), self.taken)


def toggle(document: Document, key: BlockKey, element: Element) -> SetElements | ElementConflict:
    """Work out what setting or clearing an element means."""
    block = document.matrix.block(*key) or Block(*key)
    if element in block.elements:
        return SetElements(key, zeros=(element,))
    taken = tuple(e for e in block.elements if e.q == element.q or e.p == element.p)
    return ElementConflict(key, element, taken) if taken else SetElements(key, (element,))


def describe(document: Document, conflict: ElementConflict) -> tuple[str, str]:
    """Say what is taken by what, and what swapping would set."""
    version, entity_version = document.extraction.version(conflict.key[0]), document.cdm.version(conflict.key[1])
    sources = {a.id: a.path for a in version.attributes}
    targets = {a.id: a.path for a in entity_version.attributes}

    def pair(element: Element) -> str:
        return f"{sources[element.p]} → {targets[element.q]}"

    title = f"{pair(conflict.wanted)} shares an end with what is mapped already"
    text = "Taken now: " + ", ".join(pair(element) for element in conflict.taken) + "."
    if conflict.can_swap:
        other = next(e for e in conflict.swap().ones if e != conflict.wanted)
        text += f" Swapping sets {pair(other)} too."
    if len(document.extraction.schema(version.schema_id).version_ids) > 1:
        text += " Other versions stay as they are."
    return title, text


_GAP = 8
_WIDEST = 460
_ROOM = 6


class ConflictSheet(QFrame):
    """Lies over its parent while it asks; Esc, a click elsewhere and a change of the project leave things as they are.

    Args:
        parent: shows the cell, a view by its viewport: screen readers are told of nothing else in a view.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_NoMousePropagation)
        self.setObjectName("conflictSheet")
        self.setProperty("surface", "notice")
        self.setProperty("tone", "review")
        self.setAccessibleName("Taken already")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.title, self.text = QLabel(), QLabel()
        self.title.setFont(themes.scaled(1.0, bold=True))
        self.text.setProperty("kind", "dim")
        for label in (self.title, self.text):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        self.replace = ValueButton(ConflictAnswer.REPLACE, "Replace", "R", "primary")
        self.swap = ValueButton(ConflictAnswer.SWAP, "Swap the two", "S")
        self.cancel = ValueButton(ConflictAnswer.CANCEL, "Leave it", "Esc")
        self._answered: Callable[[ConflictAnswer], object] | None = None
        self._came_from: QWidget | None = None
        self._build()
        self.hide()

    def ask(
        self,
        document: Document,
        conflict: ElementConflict,
        near: QRect | None,
        answered: Callable[[ConflictAnswer], object],
    ) -> None:
        """Ask about a conflict.

        Args:
            document: where its names are.
            conflict: what is taken.
            near: the cell in the parent's pixels, ``None`` when it is not in sight.
            answered: called once, unless the answer is to leave it.
        """
        title, text = describe(document, conflict)
        self.title.setText(title)
        self.text.setText(text)
        self.swap.setVisible(conflict.can_swap)
        self.setAccessibleDescription(f"{title}. {text}")
        self._answered = answered
        self._came_from = QApplication.focusWidget()
        self._place(near)
        self.show()
        self.raise_()
        self.replace.setFocus(Qt.FocusReason.PopupFocusReason)
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, f"{title}. {text}"))

    def close_unanswered(self) -> None:
        """Leave things as they are."""
        if self.isVisible():
            self._finish(ConflictAnswer.CANCEL)

    def event(self, event: QEvent) -> bool:
        """Keep single keys from the view below while the sheet asks."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.ShortcutOverride:
            has_modifiers = event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier & ~Qt.KeyboardModifier.KeypadModifier
            if not has_modifiers:
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """R replaces, S swaps, Esc leaves it; everything else stays inside."""
        answers = {Qt.Key.Key_R: ConflictAnswer.REPLACE, Qt.Key.Key_Escape: ConflictAnswer.CANCEL}
        if self.swap.isVisible():
            answers[Qt.Key.Key_S] = ConflictAnswer.SWAP
        answer = answers.get(Qt.Key(event.key()))
        if answer is not None:
            self._finish(answer)
        event.accept()

    def showEvent(self, event: QShowEvent) -> None:
        """Watch where the focus goes."""
        super().showEvent(event)
        QApplication.instance().focusChanged.connect(self._focus_moved)  # type: ignore[union-attr]

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Hand the focus on to the first answer."""
        super().focusInEvent(event)
        self.replace.setFocus()

    def _build(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 12, 14, 12)
        layout.setSpacing(8)
        layout.addWidget(self.title)
        layout.addWidget(self.text)
        row = QHBoxLayout()
        row.setSpacing(6)
        for button in (self.replace, self.swap, self.cancel):
            button.chosen.connect(self._finish)
            row.addWidget(button)
        row.addStretch(1)
        layout.addLayout(row)

    def _place(self, near: QRect | None) -> None:
        parent = self.parentWidget()
        if parent is None:
            return
        wide = min(_WIDEST, parent.width() - 2 * _GAP)
        self.setFixedWidth(wide)
        layout = self.layout()
        high = layout.heightForWidth(wide) if layout is not None else self.sizeHint().height()
        high += _ROOM  # the last line's descenders lie below what a wrapped label asks for
        self.setFixedHeight(high)
        at = QPoint((parent.width() - wide) // 2, _GAP)
        if near is not None:
            below = near.bottom() + _GAP
            top = below if below + high <= parent.height() else near.top() - _GAP - high
            at = QPoint(near.left(), top)
        left = min(max(at.x(), _GAP), parent.width() - wide - _GAP)
        self.move(left, min(max(at.y(), _GAP), max(parent.height() - high - _GAP, _GAP)))

    def _focus_moved(self, _old: QWidget | None, now: QWidget | None) -> None:
        if now is not None and now is not self and not self.isAncestorOf(now):
            self._came_from = None  # somebody chose to go elsewhere: the focus stays there
            self._finish(ConflictAnswer.CANCEL)

    def _finish(self, answer: ConflictAnswer) -> None:
        answered, self._answered = self._answered, None
        back, self._came_from = self._came_from, None
        application = QApplication.instance()
        if self.isVisible() and isinstance(application, QApplication):
            application.focusChanged.disconnect(self._focus_moved)
        self.hide()
        if back is not None:
            back.setFocus(Qt.FocusReason.PopupFocusReason)
        if answered is not None and answer is not ConflictAnswer.CANCEL:
            answered(answer)
