"""The few controls of the preview that stand in the title line of its dock."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLayout, QPushButton, QSizePolicy, QWidget

_LONG, _SHORT = "sample {:,} of {:,}", "{:,} of {:,}"
_GAP_PX, _PAD_PX = 2, 8


class PreviewTools(QWidget):
    """Which sample, the samples before and after it, whole records, and a message of one's own.

    Signals:
        stepped: how many samples further, -1 or 1.
        choice_wanted: the list of the samples.
        paste_wanted: a message is to be pasted.
    """

    stepped = Signal(object)
    choice_wanted = Signal()
    paste_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.count = _button("", "Choose a sample")
        self.back = _button("\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", "Previous sample")
        self.forward = _button("\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}", "Next sample")
        self.whole = _button("Whole", "Show whole records, with their envelopes")
        self.whole.setCheckable(True)
        self.paste = _button("Paste", "Paste a message")
        self._at, self._whole = 0, 0
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(_GAP_PX)
        row.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        row.addStretch(1)
        for button in (self.count, self.back, self.forward, self.whole, self.paste):
            row.addWidget(button)
        self.back.clicked.connect(self._go_back)
        self.forward.clicked.connect(self._go_forward)
        self.count.clicked.connect(self.choice_wanted)
        self.paste.clicked.connect(self.paste_wanted)

    def show_count(self, at: int, whole: int) -> None:
        """Show which sample of how many is shown; none without any."""
        self._at, self._whole = at, whole
        self.count.setAccessibleName(f"sample {at + 1:,} of {whole:,}, choose a sample")
        self.count.setVisible(whole > 0)
        for button in (self.back, self.forward):
            button.setVisible(whole > 0)
            button.setEnabled(whole > 1)
        self._fit()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Ask for room for everything."""
        return self._room(_LONG, [*self._steps, self.whole, self.paste])

    def minimumSizeHint(self) -> QSize:
        """Get along with room for the steps; the rest has keys and stands in the menu."""
        return self._room(_SHORT, self._steps)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out what there is no room for."""
        super().resizeEvent(event)
        self._fit()

    def say_keys(self, action_named: Callable[[str], QAction | None]) -> None:
        """Say in the tooltips by which keys the buttons can be had, as a person may have changed them."""
        names = {
            "previous_sample": (self.back, "Previous sample"),
            "next_sample": (self.forward, "Next sample"),
            "choose_sample": (self.count, "Choose a sample"),
            "paste_message": (self.paste, "Paste a message"),
            "whole_sample": (self.whole, "Show whole records, with their envelopes"),
        }
        for name, (button, what) in names.items():
            action = action_named(name)
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText) if action is not None else ""
            button.setToolTip(f"{what} ({keys})" if keys else what)

    @property
    def _steps(self) -> list[QPushButton]:
        return [self.back, self.forward] if self._whole else []

    def _room(self, words: str, buttons: list[QPushButton]) -> QSize:
        of_count = self.count.fontMetrics().horizontalAdvance(self._words(words)) + 2 * _PAD_PX if self._whole else 0
        width = of_count + sum(button.sizeHint().width() + _GAP_PX for button in buttons)
        return QSize(width, self.back.sizeHint().height())

    def _words(self, words: str) -> str:
        return words.format(self._at + 1, self._whole)

    def _fit(self) -> None:
        is_narrow = self.width() < self.sizeHint().width()
        self.count.setText(self._words(_SHORT if is_narrow else _LONG))
        for button in (self.whole, self.paste):
            button.setVisible(not is_narrow)

    def _go_back(self) -> None:
        self.stepped.emit(-1)

    def _go_forward(self) -> None:
        self.stepped.emit(1)


def _button(words: str, what: str) -> QPushButton:
    button = QPushButton(words)
    button.setProperty("kind", "quiet")
    button.setAccessibleName(what)
    button.setToolTip(what)
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    return button
