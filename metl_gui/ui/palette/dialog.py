"""The command palette (a box, the list of what fits, Enter does it) and the glossary (Help > Glossary).

The palette offers the actions that make sense now, the panels of the page in front, and words of the glossary.
``score`` rates how well a few letters name a text: the letters in order, the better the closer they stand to beginnings
of words. The glossary has the words of the program, searched as you type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QObject, QRectF, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QFontMetricsF,
    QKeyEvent,
    QPainter,
)
from PySide6.QtWidgets import (
    QDockWidget,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QMainWindow,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from metl_gui.core.glossary import ALL_WORDS, GlossaryTerm
from metl_gui.ui.actions.menus import Actions
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.rows import RIGHT, Index, RowDelegate, RowRoles, RowsModel, paint_words, quiet_ink
from metl_gui.values import Value

_BEGINS_WORD = 8.0
_FOLLOWS = 5.0
_FIRST = 4.0
_GAP = 0.3
_LENGTH = 0.05


def score(letters: str, text: str) -> float | None:
    """Rate a text for what was typed, ``None`` when the letters do not occur in this order.

    Each word that was typed is looked for by itself, so their order does not matter.

    Source: the usual subsequence match of editors' palettes; of the places where a word can begin the best counts.
    """
    lowered = text.lower()
    total = 0.0
    for word in letters.lower().split():
        starts = [at for at, letter in enumerate(lowered) if letter == word[0]]
        rated = [rate for at in starts if (rate := _score_from(word, lowered, at)) is not None]
        if not rated:
            return None
        total += max(rated)
    return total - _LENGTH * len(text)


def _score_from(word: str, text: str, start: int) -> float | None:
    rate, before = _FIRST if start == 0 else 0.0, start - 1
    for offset, letter in enumerate(word):
        at = text.find(letter, before + 1)
        if at < 0:
            return None
        if at == 0 or not text[at - 1].isalnum():
            rate += _BEGINS_WORD
        elif offset and at == before + 1:
            rate += _FOLLOWS
        if offset:
            rate -= _GAP * (at - before - 1)
        before = at
    return rate


_LESS_LIKELY = 12.0
"""What a word of the glossary is rated below an action that matches as well."""


class PaletteEntry(Value):
    """One line of the palette.

    Args:
        id: of an action; of anything else a name that begins with its kind and a colon.
        words: what it does.
        where: its menu.
        keys: its keys.
        does: what choosing it does.
        handicap: how much less likely it is meant than an action.
    """

    id: str
    words: str
    where: str
    keys: str
    does: Callable[[], object]
    handicap: float = 0.0


def entries_of(
    actions: Actions[Any], page: QWidget | None, show_word: Callable[[str], object]
) -> tuple[PaletteEntry, ...]:
    """Collect what makes sense now.

    Args:
        actions: of the window.
        page: the one in front.
        show_word: shows a word of the glossary.
    """
    return (*_actions(actions), *_panels(page), *_words(show_word))


def found(entries: Sequence[PaletteEntry], letters: str, recent: Sequence[str]) -> tuple[PaletteEntry, ...]:
    """Return the entries that letters name, the likeliest first.

    Order: without letters the recently used actions first, then as given, without the glossary; with letters by how
    well they name an entry, at equal rates the recently used first.
    """
    rank = {id_: at for at, id_ in enumerate(recent)}
    if not letters.strip():
        wanted = [entry for entry in entries if not entry.handicap]
        return tuple(sorted(wanted, key=lambda entry: rank.get(entry.id, len(rank))))
    rated = []
    for entry in entries:
        rate = score(letters, entry.words)
        wider = score(letters, f"{entry.words} {entry.where}")
        best = rate if rate is not None else wider - _LESS_LIKELY / 2 if wider is not None else None
        if best is not None:
            rated.append((-(best - entry.handicap), rank.get(entry.id, len(rank)), entry))
    rated.sort(key=lambda one: one[:2])
    return tuple(entry for _, _, entry in rated)


def _actions(table: Actions[Any]) -> list[PaletteEntry]:
    table.refresh()
    entries = []
    for row in table.rows.values():
        if row.is_hint or row.id == "palette" or not table[row.id].isEnabled():
            continue
        action = table[row.id]
        words = action.text().removesuffix("…")
        keys = ", ".join(sequence.toString() for sequence in table.keymap.sequences(row.id))
        entries.append(PaletteEntry(row.id, words, row.menu, keys, action.trigger))
    return entries


def _panels(page: QWidget | None) -> list[PaletteEntry]:
    if not isinstance(page, QMainWindow):
        return []
    return [
        PaletteEntry(
            f"panel:{dock.objectName()}",
            f"{'Hide' if dock.isVisible() else 'Show'} the panel {dock.windowTitle()}",
            "View > Panels",
            "",
            dock.toggleViewAction().trigger,
        )
        for dock in page.findChildren(QDockWidget)
    ]


def _words(show_word: Callable[[str], object]) -> list[PaletteEntry]:
    where = "Help > Glossary"
    return [
        PaletteEntry(f"word:{word}", f"What is: {word}", where, "", partial(show_word, word), _LESS_LIKELY)
        for word in (entry.word for entry in ALL_WORDS)
    ]


def _spoken(entry: PaletteEntry) -> str:
    return ", ".join(part for part in (entry.words, entry.keys, entry.where) if part)


_ROW_PX = 28
_PAD_PX = 12


class EntryDelegate(RowDelegate[PaletteEntry]):
    """Paints words left, menu and keys right."""

    kind, height_px = PaletteEntry, _ROW_PX

    def paint_row(self, painter: QPainter, box: QRectF, index: Index, row: PaletteEntry, is_selected: bool) -> None:
        """Paint one line."""
        pad = themes.px(_PAD_PX)
        box = box.adjusted(pad, 0, -pad, 0)
        for words, font in ((row.keys, themes.mono()), (row.where, themes.small())):
            painter.setFont(font)
            painter.setPen(quiet_ink(is_selected))
            painter.drawText(box, RIGHT, words)
            box.setRight(box.right() - (QFontMetricsF(font).horizontalAdvance(words) + pad if words else 0))
        paint_words(painter, box, row.words, themes.scaled(1.0), themes.current().text)


class Palette(FittedDialog):
    """Asks what to do.

    Args:
        entries: what can be done now.
        recent: ids of what was done last, the newest first.

    Signals:
        chosen: the ``PaletteEntry`` to be done; connect it queued, so that the palette has gone and the focus is back
            by then.
    """

    chosen = Signal(object)

    def __init__(self, entries: Sequence[PaletteEntry], recent: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Do what?")
        self._entries, self._recent = entries, recent
        self.box = QLineEdit()
        self.box.setPlaceholderText("Type a few letters of what you want to do")
        self.box.setAccessibleName("What do you want to do?")
        self.model = RowsModel(RowRoles(_spoken), self)
        self.view = QListView()
        self.view.setAccessibleName("What can be done now")
        self.view.setModel(self.model)
        self.view.setItemDelegate(EntryDelegate(self.view))
        self.view.setUniformItemSizes(True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.none = QLabel("Nothing that can be done now has these letters.")
        self.none.setProperty("kind", "dim")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 12, 12, 12)
        layout.setSpacing(8)
        layout.addWidget(self.box)
        layout.addWidget(self.none)
        layout.addWidget(self.view, 1)
        self.resize(themes.px(620), themes.px(440))
        self.box.setFocus()
        self.box.installEventFilter(self)
        self.box.textChanged.connect(self._filter)
        self.box.returnPressed.connect(self._take)
        self.view.clicked.connect(self._clicked)
        self._filter("")

    def place_over(self, window: QWidget) -> None:
        """Stand at the upper middle of a window, inside it."""
        self.resize(min(self.width(), window.width() - 40), min(self.height(), window.height() - 80))
        middle = window.mapToGlobal(window.rect().center())
        top = window.mapToGlobal(window.rect().topLeft())
        self.move(middle.x() - self.width() // 2, top.y() + min(72, window.height() // 8))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Up and down move through the list while the box has the focus."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            page = max(self.view.height() // themes.px(_ROW_PX) - 1, 1)
            steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -page, Qt.Key.Key_PageDown: page}
            step = steps.get(Qt.Key(event.key()))
            if step is not None and watched is self.box:
                self._go_to(self.view.currentIndex().row() + step)
                return True
        return super().eventFilter(watched, event)

    def _filter(self, text: str) -> None:
        self.model.show_rows(found(self._entries, text, self._recent))
        self.none.setVisible(not self.model.rows)
        if self.model.rows:
            self._go_to(0)

    def _go_to(self, row: int) -> None:
        index = self.model.index(min(max(row, 0), len(self.model.rows) - 1))
        self.view.setCurrentIndex(index)
        self.view.scrollTo(index)
        words = index.data()
        if words and self.isVisible():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.box, str(words)))

    def _take(self) -> None:
        entry = self.model.row_at(self.view.currentIndex())
        if entry is not None:
            self.accept()
            self.chosen.emit(entry)

    def _clicked(self, _index: QModelIndex) -> None:
        self._take()


class Glossary(FittedDialog):
    """The words that hold what was typed, with what they mean.

    Args:
        word: what is looked up at first; empty for everything.
    """

    def __init__(self, word: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Glossary")
        heading = QLabel("Glossary")
        heading.setProperty("kind", "heading")
        self.box = QLineEdit(word)
        self.box.setPlaceholderText("Find a word")
        self.box.setAccessibleName("Find a word")
        self.box.setClearButtonEnabled(True)
        self.text = QTextBrowser()
        self.text.setAccessibleName("Words and what they mean")
        self.text.setProperty("surface", "clear")
        self.close_button = KeyButton("Close", "Esc")
        self.close_button.clicked.connect(self.reject)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.close_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 18, 20, 16)
        layout.setSpacing(10)
        layout.addWidget(heading)
        layout.addWidget(self.box)
        layout.addWidget(self.text, 1)
        layout.addLayout(foot)
        self.resize(themes.px(640), themes.px(600))
        self.box.setFocus()
        self.box.textChanged.connect(self._show)
        self._show(word)

    def _show(self, text: str) -> None:
        words = words_for(text)
        lines = [f"<p><b>{escape(word.word)}</b><br>{escape(word.means)}</p>" for word in words]
        self.text.setHtml("".join(lines) or "<p>No word of the program holds this.</p>")


def words_for(text: str) -> tuple[GlossaryTerm, ...]:
    """Return the words that hold every part of a text in themselves or in their meaning, best first."""
    parts = text.lower().split()
    held = [word for word in ALL_WORDS if all(part in f"{word.word} {word.means}".lower() for part in parts)]
    exact = text.strip().lower()
    return tuple(sorted(held, key=lambda word: (word.word.lower() != exact, exact not in word.word.lower())))
