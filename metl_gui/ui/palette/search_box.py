"""Search everywhere: the box in the head bar, and below it what was found while somebody types.

A line of the list is a heading, or a name with the words found in bold and its location at the right.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QFontMetricsF, QKeyEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QApplication, QFrame, QLabel, QLineEdit, QListView, QVBoxLayout

from metl_gui.core.search.query import TermKind, parse
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.context.app_context import AppContext
from metl_gui.ui.jobs.timers import pause
from metl_gui.ui.palette.dialog import PaletteEntry
from metl_gui.ui.palette.search_hits import Hit, SearchScope, hits
from metl_gui.ui.project.selection import Selected, still_there
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.rows import (
    LEFT,
    RIGHT,
    HeadedModel,
    Heading,
    Index,
    RowDelegate,
    RowRoles,
    below_headings,
    paint_words,
    quiet_ink,
)

ROW_PX = 26
_PAD_PX = 12


def _spoken(hit: Hit) -> str:
    return ", ".join(part for part in (hit.words, hit.where) if part)


def _tip(hit: Hit) -> str:
    return f"{hit.words}\n{hit.where}" if hit.where else hit.words


class HitDelegate(RowDelegate[Hit]):
    """Paints headings and lines."""

    kind, height_px = Hit, ROW_PX

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.words: tuple[str, ...] = ()

    def paint_heading(self, painter: QPainter, box: QRectF, heading: Heading) -> None:
        """Paint a heading as it is."""
        pad = themes.px(_PAD_PX)
        painter.setFont(themes.small(bold=True))
        painter.setPen(themes.current().dim)
        painter.drawText(box.adjusted(pad, 0, -pad, 0), LEFT, heading.words)

    def paint_row(self, painter: QPainter, box: QRectF, index: Index, row: Hit, is_selected: bool) -> None:
        """Paint one line."""
        theme, pad, font = themes.current(), themes.px(_PAD_PX), themes.scaled(0.92)
        box = box.adjusted(pad, 0, -pad, 0)
        where = QFontMetricsF(font).elidedText(row.where, Qt.TextElideMode.ElideMiddle, box.width() * 0.6)
        room = paint_words(painter, box, where, font, quiet_ink(is_selected), RIGHT)
        painter.setPen(theme.accent if row.filters is not None and not is_selected else theme.text)
        self._paint_words(painter, box.adjusted(pad / 2, 0, -(room + 12 if where else 0), 0), row.words)

    def _paint_words(self, painter: QPainter, box: QRectF, text: str) -> None:
        """Write a name, the letters that were found bold."""
        plain, bold = themes.scaled(1.0), themes.scaled(1.0, bold=True)
        text = QFontMetricsF(bold).elidedText(text, Qt.TextElideMode.ElideMiddle, box.width())
        left = box.left()
        for part, is_found in _parts(text, self.words):
            font = bold if is_found else plain
            painter.setFont(font)
            here = QRectF(left, box.top(), box.right() - left + 1, box.height())
            painter.drawText(here, LEFT, part)
            left += QFontMetricsF(font).horizontalAdvance(part)


def _parts(text: str, words: tuple[str, ...]) -> list[tuple[str, bool]]:
    """Cut a text into what was searched for and what was not."""
    marks = [False] * len(text)
    for word in words:
        at = text.lower().find(word)
        marks[max(at, 0) : max(at, 0) + len(word) * (at >= 0)] = [True] * (len(word) * (at >= 0))
    parts: list[tuple[str, bool]] = []
    for letter, mark in zip(text, marks, strict=False):
        if parts and parts[-1][1] == mark:
            parts[-1] = (parts[-1][0] + letter, mark)
        else:
            parts.append((letter, mark))
    return parts


_DELAY_MS = 30
_WIDTH_PX = 680
_MOST_ROWS = 24


class SearchBox(QFrame):
    """The list below the search box; it never takes the focus.

    Args:
        box: where people type.
        entries: what the palette offers now, which is searched too.

    Signals:
        tree_wanted: (``Side``, words) of the tree to be filtered.
    """

    tree_wanted = Signal(object)

    def __init__(self, context: AppContext, box: QLineEdit, entries: Callable[[], tuple[PaletteEntry, ...]]) -> None:
        super().__init__(context.window)
        self.setProperty("surface", "card")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._context, self._window = context, context.window
        self._box, self._entries = box, entries
        self._grounds: SearchScope | None = None
        self.model = HeadedModel(RowRoles(_spoken, _tip), self)
        self.view = QListView()
        self.delegate = HitDelegate(self.view)
        self.note = QLabel("Nothing has these words.")
        self.note.setProperty("kind", "dim")
        self.note.setContentsMargins(12, 6, 12, 6)
        self._timer = pause(self, _DELAY_MS, self._find)
        self._build()
        self.hide()
        box.installEventFilter(self)
        self._window.installEventFilter(self)
        box.textEdited.connect(self._wait)
        box.textChanged.connect(self._cleared)
        self.view.clicked.connect(self._clicked)
        context.project.opened.connect(self._begin_anew)
        context.project.changed.connect(self._forget)

    def find_now(self, text: str) -> list[Hit]:
        """Search without waiting for more letters, and show what is found."""
        self._timer.stop()
        if self._grounds is None:
            self._grounds = self._read()
        found = hits(self._grounds, text)
        self.delegate.words = parse(text).values(TermKind.WORD)
        self.model.show_rows(below_headings(found, attrgetter("group")))
        self.view.viewport().update()  # the same lines may have other letters bold
        self.view.setVisible(bool(found))
        self.note.setVisible(not found)
        self.setVisible(bool(self.delegate.words))
        self._place()
        self._stand_on(0, 1)
        return found

    @property
    def current(self) -> Hit | None:
        """The line that Enter takes."""
        return self.model.row_at(self.view.currentIndex())

    # what people do

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the keys that move in the list while the focus stays in the box."""
        if watched is self._window and event.type() is QEvent.Type.Resize:
            self._place()
        if watched is self._box:
            if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
                return self._pressed(event.key())
            if event.type() is QEvent.Type.FocusOut:
                self.hide()
        return super().eventFilter(watched, event)

    def take(self, hit: Hit) -> None:
        """Go to what was found, or do it."""
        self.hide()
        self._box.clear()
        if hit.does is not None:
            QTimer.singleShot(0, hit.does)
            return
        if hit.filters is not None:
            self.tree_wanted.emit((hit.filters, " ".join(self.delegate.words)))
            return
        self._context.navigate.show_page(hit.page)
        if hit.selected is not None:
            self._context.selection.choose(self._whole(hit.selected))

    def _pressed(self, key: int) -> bool:
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            if not self.isVisible() and self._box.text():
                self.find_now(self._box.text())
            else:
                step = 1 if key == Qt.Key.Key_Down else -1
                self._stand_on(self.view.currentIndex().row() + step, step)
            return True
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self._timer.isActive() or not self.isVisible():
                self.find_now(self._box.text())
            if self.current is not None:
                self.take(self.current)
            return True
        if key == Qt.Key.Key_Escape:
            self._leave()
            return True
        return False

    def _leave(self) -> None:
        """Close the list; without a list leave the box."""
        if self.isVisible():
            self.hide()
            return
        self._box.clear()
        self._context.navigate.show_page(self._context.navigate.page)

    def _whole(self, selected: Selected) -> Selected:
        """Keep what is chosen on the other side, where nothing was found there."""
        current = self._context.selection.current
        for side in Side:
            if selected.on(side) is None:
                selected = selected.with_place(side, current.on(side))
        return still_there(self._context.project.value, selected)

    # what is shown

    def _build(self) -> None:
        self.view.setModel(self.model)
        self.view.setItemDelegate(self.delegate)
        self.view.setUniformItemSizes(True)
        self.view.setAccessibleName("Found everywhere")
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setMouseTracking(True)
        self.view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(1, 4, 1, 4)
        self._column.setSpacing(0)
        self._column.addWidget(self.note)
        self._column.addWidget(self.view)

    def dress(self) -> None:
        """Follow the scale."""
        self._place()

    def _place(self) -> None:
        """Stand below the box, inside the window."""
        if not self.isVisible():
            return
        rows = min(max(1, self.model.rowCount()), _MOST_ROWS)
        below = self._box.mapTo(self._window, QPoint(0, self._box.height() + 4))
        width = min(themes.px(_WIDTH_PX), self._window.width() - 16)
        height = min(rows * themes.px(ROW_PX) + 18, self._window.height() - below.y() - 8)
        middle = below.x() + self._box.width() // 2
        left = max(8, min(middle - width // 2, self._window.width() - width - 8))
        self.setGeometry(left, below.y(), width, height)
        self._column.activate()
        self.raise_()

    def _stand_on(self, row: int, step: int) -> None:
        """Stand on the next line from a row on, over headings."""
        while 0 <= row < self.model.rowCount():
            index = self.model.index(row, 0)
            hit = self.model.row_at(index)
            if hit is not None:
                self.view.setCurrentIndex(index)
                if row == 1:
                    self.view.scrollToTop()
                words = f"{hit.words}, {hit.where}, {hit.group}"
                QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._box, words))
                return
            row += step

    def _read(self) -> SearchScope:
        project = self._context.project
        return SearchScope(project.value, project.comments(), project.review_items(), self._entries())

    def _forget(self, _what: object) -> None:
        self._grounds = None

    def _begin_anew(self, _workbench: object) -> None:
        """Search for nothing: what was searched in one project means nothing in another."""
        self._forget(None)
        self._box.clear()
        self.hide()

    def _wait(self, _text: str) -> None:
        self._timer.start()

    def _cleared(self, text: str) -> None:
        if not text:
            self._timer.stop()
            self.hide()

    def _find(self) -> None:
        if QApplication.focusWidget() is self._box:
            self._grounds = None if not self.isVisible() else self._grounds
            self.find_now(self._box.text())

    def _clicked(self, index: QModelIndex) -> None:
        hit = self.model.row_at(index)
        if hit is not None:
            self.take(hit)
