"""A message before mapping beside what it became, with what was mapped marked on both sides.

For every place that shows messages: it knows texts and links, and nothing of where they come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QTextEdit, QVBoxLayout, QWidget

from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.ui.messages.json_layout import Member
from metl_gui.ui.messages.pairs import RecordLink
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.theme import Theme
from metl_gui.ui.widgets.labels import Elided


def _nobody_knows(_key: BlockKey, _element: Element, _state: int) -> str:
    return ""


_HINT = "Point at a marked part to see its partner; a click leads to its cell."
_LINES_ABOVE = 2
_STILL_PX = 4
"""A press that moved no further is a click; further it selects text."""


class MessageText(QPlainTextEdit):
    """One side: a text that cannot be changed, with marked parts.

    Signals:
        pointed: the position in the text that is pointed at, by the mouse or by the keyboard; -1 for none.
        taken: the position that was clicked, or at which Enter was pressed.
    """

    pointed = Signal(object)
    taken = Signal(object)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setTabChangesFocus(True)
        self.setProperty("surface", "clear")
        self.setAccessibleName(name)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(themes.mono())
        self.viewport().setMouseTracking(True)
        self.marked: tuple[Member, ...] = ()
        self.bright: tuple[Member, ...] = ()
        self._painted: tuple[tuple[Member, ...], str] = ((), "")
        self._pressed = QPoint()
        self.cursorPositionChanged.connect(self._moved)

    def setPlainText(self, text: str) -> None:
        """Show another text, with nothing marked in it."""
        self._painted = (), ""
        super().setPlainText(text)

    def mark(self, marked: Iterable[Member], bright: Iterable[Member] = ()) -> None:
        """Mark the parts that were mapped, and brightly those that are pointed at."""
        self.marked, self.bright = tuple(dict.fromkeys(marked)), tuple(dict.fromkeys(bright))
        theme = themes.current()
        if self._painted != (self.marked, theme.name):
            self._painted = self.marked, theme.name
            self._paint_marks(theme)
        self.setExtraSelections([self._tinted(part, theme) for part in self.bright])

    def look_at(self, position: int) -> None:
        """Scroll to the line of a position, with what leads to it above; not at all where everything fits."""
        line = self.document().findBlock(position).blockNumber()
        self.verticalScrollBar().setValue(max(line - _LINES_ABOVE, 0))

    def part_at(self, position: int) -> Member | None:
        """Return the smallest marked part at a position."""
        found = [part for part in self.marked if part.start <= position < part.stop]
        return min(found, key=lambda part: part.stop - part.start, default=None)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell what is pointed at."""
        super().mouseMoveEvent(event)
        position = self._position(event.position().toPoint())
        is_part = self.part_at(position) is not None
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if is_part else Qt.CursorShape.IBeamCursor)
        self.pointed.emit(position)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to select text, or to click."""
        super().mousePressEvent(event)
        self._pressed = event.position().toPoint()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Take a marked part that was clicked."""
        super().mouseReleaseEvent(event)
        moved = (event.position().toPoint() - self._pressed).manhattanLength()
        if event.button() == Qt.MouseButton.LeftButton and moved <= _STILL_PX and not self.textCursor().hasSelection():
            self.taken.emit(self._position(event.position().toPoint()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take the marked part under the cursor by Enter."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.taken.emit(self.textCursor().position())
            return
        super().keyPressEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Point at nothing."""
        super().leaveEvent(event)
        self.pointed.emit(-1)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Point at nothing."""
        super().focusOutEvent(event)
        self.pointed.emit(-1)

    def _moved(self) -> None:
        if self.hasFocus():
            self.pointed.emit(self.textCursor().position())

    def _position(self, point: QPoint) -> int:
        """Return the position in the text below a point, -1 beside the words."""
        cursor = self.cursorForPosition(point)
        box = self.cursorRect(cursor)
        is_beside = not box.top() <= point.y() <= box.bottom() or abs(point.x() - box.center().x()) > 2 * box.height()
        if is_beside:
            return -1
        # The nearest gap between letters may be the one behind the letter that is pointed at.
        return cursor.position() - (1 if point.x() < box.left() and cursor.position() else 0)

    def _paint_marks(self, theme: Theme) -> None:
        """Write the marked parts in the accent, their names underlined as well: colour alone is no sign."""
        text = self.toPlainText()
        self._put_look(0, len(text), QTextCharFormat())
        look, name = QTextCharFormat(), QTextCharFormat()
        for each in (look, name):
            each.setForeground(theme.accent)
        name.setFontUnderline(True)
        for part in self.marked:
            self._put_look(part.start, part.stop, look)
            self._put_look(part.start + 1, part.start + len(text[part.start : part.value].rstrip(" \n:")) - 1, name)

    def _put_look(self, start: int, stop: int, look: QTextCharFormat) -> None:
        self._cursor_over(start, stop).setCharFormat(look)

    def _cursor_over(self, start: int, stop: int) -> QTextCursor:
        cursor = QTextCursor(self.document())
        cursor.setPosition(start)
        cursor.setPosition(stop, QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _tinted(self, part: Member, theme: Theme) -> Any:
        made: Any = QTextEdit.ExtraSelection()  # Qt's stubs do not know that its parts can be set
        look = QTextCharFormat()
        look.setForeground(theme.text)
        look.setBackground(theme.sel)
        made.cursor, made.format = self._cursor_over(part.start, part.stop), look
        return made


class MessageSides(QWidget):
    """Both sides, each below its title, and a line that names what is pointed at.

    Signals:
        cell_wanted: the ``RecordLink`` whose cell somebody wants to see.
    """

    cell_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.decision: Callable[[BlockKey, Element, int], str] = _nobody_knows
        """Says who decided a cell, when and why, as of a state."""
        self._bright: tuple[RecordLink, ...] = ()
        self._about: RecordLink | str = ""
        self.before, self.after = MessageText("Message before mapping"), MessageText("Messages after mapping")
        self.before_title, self.after_title = Elided("before mapping", "small"), Elided("after mapping", "small")
        self.said = Elided("", "small")
        self._links: tuple[RecordLink, ...] = ()
        self._build()
        self.before.pointed.connect(self._point_before)
        self.after.pointed.connect(self._point_after)
        self.before.taken.connect(self._take_before)
        self.after.taken.connect(self._take_after)

    @property
    def links(self) -> tuple[RecordLink, ...]:
        """What belongs together."""
        return self._links

    def show_texts(
        self,
        before: str,
        after: str,
        links: Sequence[RecordLink] = (),
        after_title: str = "after mapping",
        is_prose: bool = False,
        about: RecordLink | str = "",
    ) -> None:
        """Show a message.

        Args:
            before, after: the texts.
            links: what of them belongs together (``pairs.links_between``).
            after_title: what stands above the right side.
            is_prose: the right side is no message but words, which are wrapped.
            about: what stands below while nothing is pointed at: a cell with who decided it, or words.
        """
        self._links, self._about = tuple(links), about
        self.after_title.setText(after_title)
        modes = QPlainTextEdit.LineWrapMode
        self.after.setLineWrapMode(modes.WidgetWidth if is_prose else modes.NoWrap)
        for side, words in ((self.before, before), (self.after, after)):
            if side.toPlainText() != words:
                side.setPlainText(words)
        self._mark(())
        self.before.look_at(min((link.before.start for link in links), default=0))
        self.after.look_at(min((link.after.start for link in links if link.is_payload), default=0))

    def point_at(self, key: BlockKey, element: Element) -> None:
        """Mark what a cell mapped as if it were pointed at, and bring it into sight."""
        found = [link for link in self._links if (link.block, link.element) == (key, element)]
        if found:
            self._mark(found)
            self.before.look_at(found[0].before.start)
            self.after.look_at(found[0].after.start)

    def clear(self) -> None:
        """Show nothing."""
        self.show_texts("", "")

    def dress(self) -> None:
        """Take the colours and the font of the theme."""
        for side in (self.before, self.after):
            side.setFont(themes.mono())
        self._mark(())

    def _point_before(self, position: int) -> None:
        self._mark(self._links_before(position))

    def _point_after(self, position: int) -> None:
        self._mark(self._links_after(position))

    def _take_before(self, position: int) -> None:
        self._want_cell(self._links_before(position))

    def _take_after(self, position: int) -> None:
        self._want_cell(self._links_after(position))

    def _links_before(self, position: int) -> tuple[RecordLink, ...]:
        """Return the links of the part at a position of the left side."""
        part = self.before.part_at(position)
        return tuple(link for link in self._links if link.before == part)

    def _links_after(self, position: int) -> tuple[RecordLink, ...]:
        """Return the links of the part at a position of the right side."""
        part = self.after.part_at(position)
        return tuple(link for link in self._links if link.after == part)

    def _want_cell(self, links: tuple[RecordLink, ...]) -> None:
        if links:
            self.cell_wanted.emit(links[0])

    def _mark(self, bright: Sequence[RecordLink]) -> None:
        self._bright = tuple(bright)
        self.before.mark((link.before for link in self._links), (link.before for link in bright))
        self.after.mark((link.after for link in self._links), (link.after for link in bright))
        self.say_again()

    def say_again(self) -> None:
        """Say anew what is pointed at: more may be known of who decided it."""
        words = dict.fromkeys(self._words(link) for link in self._bright)
        self.said.setText(" · ".join(words) if words else self._hint)

    def _words(self, link: RecordLink) -> str:
        """Name both ends of a cell and who decided it."""
        decided = self.decision(link.block, link.element, link.state)
        return f"{link.words}, mapped {decided}" if decided else link.words

    @property
    def _hint(self) -> str:
        if isinstance(self._about, RecordLink):
            return self._words(self._about)
        return self._about or (_HINT if self._links else "")

    def _build(self) -> None:
        sides = QHBoxLayout()
        sides.setSpacing(20)
        for title, text in ((self.before_title, self.before), (self.after_title, self.after)):
            column = QVBoxLayout()
            column.setSpacing(2)
            column.addWidget(title)
            column.addWidget(text, 1)
            sides.addLayout(column, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addLayout(sides, 1)
        layout.addWidget(self.said)
