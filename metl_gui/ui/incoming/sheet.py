"""The sheet that says what dropped files are; nothing happens to them unless a button is pressed."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from metl_gui.ui import theme as themes
from metl_gui.ui.incoming.parts import Offer, Part
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label

_WIDTH_PX = 600


class IncomingSheet(QDialog):
    """One part for each kind of file, with its buttons.

    Args:
        parts: what was found.
        refused: a line for each file that cannot be used.

    Signals:
        wanted: the ``Offer`` whose button was pressed; connect it queued, so that the sheet is closed by then.
    """

    wanted = Signal(object)

    def __init__(self, parts: tuple[Part, ...], refused: list[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("What was dropped")
        self.buttons: list[tuple[Offer, KeyButton]] = []
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 18, 20, 16)
        layout.setSpacing(12)
        layout.addWidget(_label("What was dropped" if parts else "Nothing here can be used", "heading"))
        for part in parts:
            layout.addWidget(self._card(part))
        if refused:
            self.refused = _label("\n".join(refused), "dim")
            layout.addWidget(_label("Cannot be used" if parts else "Why", "panelTitle"))
            layout.addWidget(self.refused)
        self.cancel = KeyButton("Cancel" if parts else "Close", "Esc")
        self.cancel.setAutoDefault(not parts)
        self.cancel.clicked.connect(self.reject)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        layout.addLayout(foot)
        self.setFixedWidth(themes.px(_WIDTH_PX))
        self.resize(self.width(), layout.totalHeightForWidth(self.width()))
        self.cancel.setFocus()

    def _card(self, part: Part) -> QFrame:
        frame = QFrame()
        frame.setProperty("surface", "card")
        column = QVBoxLayout(frame)
        column.setContentsMargins(14, 10, 14, 12)
        column.setSpacing(6)
        column.addWidget(_label(part.title, "heading"))
        column.addWidget(_label(part.text, "dim"))
        row = QHBoxLayout()
        row.setSpacing(10)
        for at, offer in enumerate(part.offers):
            button = KeyButton(offer.words, kind="primary" if at == 0 else "")
            button.setEnabled(not offer.why_not)
            button.setAutoDefault(False)
            button.setObjectName(str(len(self.buttons)))
            button.setAccessibleDescription(f"{part.title}: {part.text}")
            button.clicked.connect(self._pressed)
            self.buttons.append((offer, button))
            row.addWidget(button)
        row.addStretch(1)
        column.addLayout(row)
        for why_not in dict.fromkeys(offer.why_not for offer in part.offers if offer.why_not):
            column.addWidget(_label(why_not, "small"))
        return frame

    def _pressed(self) -> None:
        button = self.sender()
        if button is not None:
            self.accept()
            self.wanted.emit(self.buttons[int(button.objectName())][0])


def _label(words: str, kind: str) -> QLabel:
    label = plain_label(words, kind)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return label
