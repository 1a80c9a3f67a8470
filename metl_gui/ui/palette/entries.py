"""What the palette offers: the actions that make sense now, the panels of the page in front, words of the glossary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDockWidget, QMainWindow

from metl_gui.core.glossary import WORDS
from metl_gui.ui.palette.fuzzy import score

if TYPE_CHECKING:
    from metl_gui.ui.window import Window

_LESS_LIKELY = 12.0
"""What a word of the glossary is rated below an action that matches as well."""


@dataclass(frozen=True)
class Entry:
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


def entries_of(window: Window) -> tuple[Entry, ...]:
    """Collect what makes sense now."""
    return (*_actions(window), *_panels(window), *_words(window))


def found(entries: Sequence[Entry], letters: str, recent: Sequence[str]) -> tuple[Entry, ...]:
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


def _actions(window: Window) -> list[Entry]:
    table = window.actions_table
    table.refresh()
    entries = []
    for row in table.rows.values():
        if row.is_hint or row.id == "palette" or not table[row.id].isEnabled():
            continue
        action = table[row.id]
        words = action.text().removesuffix("…")
        keys = ", ".join(sequence.toString() for sequence in table.keymap.sequences(row.id))
        entries.append(Entry(row.id, words, row.menu, keys, action.trigger))
    return entries


def _panels(window: Window) -> list[Entry]:
    page = window.stack.currentWidget()
    if not isinstance(page, QMainWindow):
        return []
    return [
        Entry(
            f"panel:{dock.objectName()}",
            f"{'Hide' if dock.isVisible() else 'Show'} the panel {dock.windowTitle()}",
            "View > Panels",
            "",
            dock.toggleViewAction().trigger,
        )
        for dock in page.findChildren(QDockWidget)
    ]


def _words(window: Window) -> list[Entry]:
    def show(word: str) -> Callable[[], object]:
        return lambda: window.commands.show_glossary(word)

    return [
        Entry(f"word:{entry.word}", f"What is: {entry.word}", "Help > Glossary", "", show(entry.word), _LESS_LIKELY)
        for entry in WORDS
    ]
