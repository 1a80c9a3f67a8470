"""Which action has which keys: those of the table, unless a person gave it others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import QKeyCombination, QObject, Qt, Signal
from PySide6.QtGui import QKeySequence

from metl_gui.ui.actions.table import ActionRow
from metl_gui.ui.project.settings import ViewSettings

_MOVING = (
    Qt.Key.Key_Escape,
    Qt.Key.Key_Return,
    Qt.Key.Key_Enter,
    Qt.Key.Key_Tab,
    Qt.Key.Key_Backtab,
    Qt.Key.Key_Space,
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
)
_HOLDING = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier


class Keymap(QObject):
    """The keys of the rows of the action table.

    Args:
        rows: the table; rows that are hints keep the keys that their views read.
        settings: where a person's own keys are kept.

    Signals:
        changed: some action has other keys.
    """

    changed = Signal()

    def __init__(self, rows: Iterable[ActionRow[Any]], settings: ViewSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows = {row.id: row for row in rows}
        self._settings = settings
        self._own: dict[str, str] = {}
        for id_, keys in settings.keys.items():
            if self._can_change(id_) and not self.objection(id_, keys):
                self._own[id_] = keys

    def keys(self, id_: str) -> str:
        """Return the keys of an action as people write them, empty for none."""
        return self._own.get(id_, self.rows[id_].shortcut)

    def sequences(self, id_: str) -> list[QKeySequence]:
        """Return every key of an action: its own, and the second one that the table gives it."""
        row = self.rows[id_]
        also = row.also if id_ not in self._own else ""
        return [QKeySequence(keys) for keys in (self.keys(id_), also) if keys]

    def is_changed(self, id_: str) -> bool:
        """Whether a person gave an action other keys."""
        return id_ in self._own

    def holder(self, id_: str, keys: str) -> ActionRow[Any] | None:
        """Return the other action that has the keys where this one would use them."""
        wanted, row = QKeySequence(keys), self.rows[id_]
        for other in self.rows.values():
            meets = row.scope == other.scope or "window" in (row.scope, other.scope)
            if other.id != id_ and not other.is_hint and meets and wanted in self.sequences(other.id):
                return other
        return None

    def objection(self, id_: str, keys: str) -> str:
        """Say why an action cannot have the keys, empty when it can."""
        combination = first_key(keys)
        if combination is None:
            return "" if not keys else "This is no key."
        key, held = combination.key(), combination.keyboardModifiers()
        words = QKeySequence(combination).toString(QKeySequence.SequenceFormat.NativeText)
        if key in _MOVING and not held & _HOLDING:
            return f"{words} is for moving about and cannot be given to an action."
        is_letter = key < Qt.Key.Key_Escape and not held & _HOLDING
        if is_letter and self.rows[id_].scope == "window":
            return f"{words} alone is for writing. Hold Ctrl or Alt with it."
        return ""

    def give(self, id_: str, keys: str) -> None:
        """Give keys to an action, empty for none; whoever had them has none any more."""
        if self.objection(id_, keys):
            return
        holder = self.holder(id_, keys) if keys else None
        if holder is not None:
            self._own[holder.id] = ""
        self._own[id_] = QKeySequence(keys).toString()
        self._save()

    def reset(self, id_: str) -> None:
        """Give an action the keys of the table; whoever has them now has its own of the table again, or none."""
        self._own.pop(id_, None)
        holder = self.holder(id_, self.rows[id_].shortcut) if self.rows[id_].shortcut else None
        if holder is not None:
            self._own.pop(holder.id, None)
            own = self.rows[holder.id].shortcut
            if own and self.holder(holder.id, own) is not None:
                self._own[holder.id] = ""
        self._save()

    def reset_all(self) -> None:
        """Give every action the keys of the table."""
        self._own = {}
        self._save()

    def _can_change(self, id_: str) -> bool:
        return id_ in self.rows and not self.rows[id_].is_hint

    def _save(self) -> None:
        self._own = {id_: keys for id_, keys in self._own.items() if keys != self.rows[id_].shortcut}
        self._settings.keys = self._own
        self.changed.emit()


def first_key(keys: str) -> QKeyCombination | None:
    """Return the first key of a text, ``None`` when it names none."""
    sequence = QKeySequence(keys)
    if sequence.isEmpty():
        return None
    combination: QKeyCombination = sequence[0]  # type: ignore[index]  # the stubs know no index of a sequence
    return combination if combination.key() is not Qt.Key.Key_unknown else None
