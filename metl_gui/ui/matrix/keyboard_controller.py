"""The keyboard on the matrix: cursor, blocks, rectangles, drilling; keys of one letter are actions of the table.

Source: docs/guide/mapping.md, "Map".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from metl_gui.ui.matrix.input.cursor import stepped
from metl_gui.ui.matrix.input.hit_test import cell_between, node_of, position_of
from metl_gui.ui.matrix.input.selected_content import passed_words
from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.project.selection import Selected

if TYPE_CHECKING:
    from metl_gui.ui.matrix.view import MatrixView

_STEPS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
_ZOOM_STEP = 1.18


class KeyboardController:
    """Does what keys mean in one view."""

    def __init__(self, view: MatrixView) -> None:
        self._view = view

    def press(self, event: QKeyEvent) -> bool:
        """Do what a key means; whether it means anything here."""
        key, held = Qt.Key(event.key()), event.modifiers()
        control = bool(held & Qt.KeyboardModifier.ControlModifier)
        shift = bool(held & Qt.KeyboardModifier.ShiftModifier)
        if held & Qt.KeyboardModifier.AltModifier:
            return False
        if key in _STEPS:
            self._step(_STEPS[key], control, shift)
            return True
        if control or (shift and key is not Qt.Key.Key_Plus):
            return False
        if key is Qt.Key.Key_Space:
            if not event.isAutoRepeat():
                self._view.hand.space.press()
            return True
        return self._command(key)

    def release(self, event: QKeyEvent) -> bool:
        """Set or clear the current cell when Space was only tapped; whether the key means anything here."""
        if event.key() != Qt.Key.Key_Space:
            return False
        if not event.isAutoRepeat() and self._view.hand.space.release():
            self.toggle()
        return True

    def toggle(self) -> None:
        """Ask for the current cell to be set or cleared."""
        source, target = self._view.selected.source, self._view.selected.target
        if source is not None and target is not None and self._view.selected.element is not None:
            self._view.toggle_wanted.emit(cell_between(source, target))

    def _command(self, key: Qt.Key) -> bool:
        view = self._view
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if view.selected == Selected():
                self._step((0, 0), by_block=False, stretches=False)
            elif not view.accept_ghost():
                view.drill()
        elif key is Qt.Key.Key_Escape:
            view.escape()
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            view.zoom(_ZOOM_STEP)
        elif key is Qt.Key.Key_Minus:
            view.zoom(1 / _ZOOM_STEP)
        else:
            return False
        return True

    def _step(self, by: tuple[int, int], by_block: bool, stretches: bool) -> None:
        view, hits = self._view, self._view.hits
        if hits is None:
            return
        if stretches and self._stretch(by):
            return
        moved = stepped(hits, view.selected, by, by_block)
        if moved is None:
            return
        passed = passed_words(hits.content, view.selected, moved)
        view.picked.emit(moved)
        view.bring_into_sight(moved)
        view.announce(moved, passed)

    def _stretch(self, by: tuple[int, int]) -> bool:
        """Move the far corner of the chosen rectangle; whether there is a cell to begin at."""
        view, hits = self._view, self._view.hits
        now = view.selected
        if hits is None or now.element is None:
            return False
        cells = now.cells
        far = (cells.last_source, cells.last_target) if cells is not None else (now.source, now.target)
        corner = []
        for axis, place, step in ((hits.content.columns, far[0], by[0]), (hits.content.rows, far[1], by[1])):
            at = position_of(axis, place)
            if at is None:
                return False
            at = min(max(at + step, 0), len(axis.spans(Level.ATTRIBUTE)) - 1)
            corner.append(node_of(axis, Level.ATTRIBUTE, at))
        reached = Selected(corner[0], corner[1])
        view.stretch_to(reached)
        view.bring_into_sight(reached)
        view.announce(reached)
        return True
