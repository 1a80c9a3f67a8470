"""The text of a preview: read, searched with the eyes, copied; a value under the pointer lights up with its partner."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from metl_gui.core.trees.nodes import Side
from metl_gui.ui import theme as themes
from metl_gui.ui.preview.laid import Laid, Look, Spot
from metl_gui.ui.run.messages import MessageText

Ends = frozenset[tuple[Side, int, int]]
"""Attributes by side, version and id."""


class PreviewText(MessageText):
    """Shows what was laid out.

    Signals:
        picked: the ``Spot`` that was clicked, or that Enter was pressed on.
        lit: the ``Spot`` that is pointed at, by mouse or keyboard, or ``None``.
    """

    picked = Signal(object)
    lit = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Preview of the sample message", parent)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setProperty("isMain", True)
        self.laid = Laid()
        self._chosen: Ends = frozenset()
        self._pointed: Spot | None = None
        self.pointed.connect(self._point)
        self.taken.connect(self._take)

    def show_laid(self, laid: Laid, chosen: Ends) -> None:
        """Show a preview, with the values of chosen attributes marked."""
        if laid != self.laid:
            is_same_text = laid.text == self.laid.text
            at = self.verticalScrollBar().value() if is_same_text or self.laid.text else 0
            self.laid, self._pointed = laid, None
            self.marked = tuple(spot.member for spot in laid.spots)
            self._set_laid()
            self.verticalScrollBar().setValue(at)
        self.choose(chosen)

    def choose(self, chosen: Ends) -> None:
        """Mark the values of some attributes, and bring the first of them into sight."""
        is_new = chosen != self._chosen
        self._chosen = chosen
        self._light()
        found = self.chosen_spots
        if found and is_new and not self.hasFocus():
            self._bring_into_sight(found[0])

    @property
    def chosen_spots(self) -> tuple[Spot, ...]:
        """The values of the chosen attributes."""
        return tuple(spot for spot in self.laid.spots if (spot.side, spot.version, spot.attribute) in self._chosen)

    @property
    def lit_spots(self) -> tuple[Spot, ...]:
        """The value that is pointed at, and its partners."""
        spot = self._pointed
        if spot is None:
            return ()
        other = Side.CDM if spot.side is Side.EXTRACTION else Side.EXTRACTION
        partners = (s for s in self.laid.spots if s.side is other and (s.version, s.attribute) in spot.partners)
        return (spot, *partners)

    def dress(self) -> None:
        """Take the colours and the font of the theme."""
        self.setFont(themes.mono())
        self._set_laid()
        self._light()

    def _set_laid(self) -> None:
        self.setPlainText(self.laid.text)
        cursor = QTextCursor(self.document())
        for part in self.laid.parts:
            cursor.setPosition(part.start)
            cursor.setPosition(part.stop, QTextCursor.MoveMode.KeepAnchor)
            cursor.setCharFormat(_look_of(part.look))

    def _point(self, position: int) -> None:
        spot = self.laid.spot_at(position) if position >= 0 else None
        if spot is not self._pointed:
            self._pointed = spot
            self._light()
            self.lit.emit(spot)

    def _take(self, position: int) -> None:
        spot = self.laid.spot_at(position)
        if spot is not None:
            self.picked.emit(spot)

    def _light(self) -> None:
        theme = themes.current()
        found = list(self._marks(self.chosen_spots, theme.sel, theme.accent))
        found += self._marks(self.lit_spots, theme.accentbg, theme.accent)
        self.setExtraSelections(found)

    def _marks(self, spots: Iterable[Spot], ground: QColor, line: QColor) -> list[Any]:
        marks = []
        for spot in spots:
            made: Any = QTextEdit.ExtraSelection()  # Qt's stubs do not know that its parts can be set
            cursor = QTextCursor(self.document())
            cursor.setPosition(spot.member.start)
            cursor.setPosition(spot.member.stop, QTextCursor.MoveMode.KeepAnchor)
            look = QTextCharFormat()
            look.setBackground(ground)
            look.setForeground(themes.current().text)
            look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
            look.setUnderlineColor(line)
            made.cursor, made.format = cursor, look
            marks.append(made)
        return marks

    def _bring_into_sight(self, spot: Spot) -> None:
        cursor = QTextCursor(self.document())
        cursor.setPosition(spot.member.start)
        box = self.cursorRect(cursor)
        if not self.viewport().rect().contains(box):
            self.setTextCursor(cursor)
            self.ensureCursorVisible()


def _look_of(look: Look) -> QTextCharFormat:
    theme, made = themes.current(), QTextCharFormat()
    colours = {Look.HEAD: theme.dim, Look.UNMAPPED: theme.dim, Look.QUIET: theme.dim, Look.WAITS: theme.review}
    made.setForeground(colours.get(look, theme.text))
    if look is Look.VALUE:
        made.setFontWeight(themes.scaled(1.0, bold=True).weight())
    return made
