"""A line that says of itself as much as it has room for, and nothing in halves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from metl_gui.ui.theming import theme as themes

_PAD_PX = 26
_GAPS = re.compile(r"\s{2,}")


class HintLine(QLineEdit):
    """Shows a hint while it is empty.

    Args:
        hint: parts with wide gaps between, of which the last ones go first; of the first one a word stays at least.
    """

    def __init__(self, hint: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hint = hint
        self._fit()

    def show_hint(self, hint: str) -> None:
        """Show another hint."""
        self._hint = hint
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Say as much as there is room for."""
        super().resizeEvent(event)
        self._fit()

    def dress(self) -> None:
        """Follow the scale."""
        self._fit()

    def _fit(self) -> None:
        room, wide = self.width() - themes.px(_PAD_PX), self.fontMetrics().horizontalAdvance
        forms = list(self._forms())
        self.setPlaceholderText(next((form for form in forms if wide(form) <= room), forms[-1]))

    def _forms(self) -> Iterator[str]:
        yield self._hint
        for gap in reversed(list(_GAPS.finditer(self._hint))):
            yield self._hint[: gap.start()]
        yield self._hint.partition(" ")[0]
