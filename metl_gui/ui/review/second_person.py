"""Blocks that wait for a second person, where the project asks for one: how many, and the way to the next."""

from __future__ import annotations

from bisect import bisect_right

from PySide6.QtCore import QObject, Signal

from metl_gui.core.changes.second_person import is_author, unconfirmed_keys
from metl_gui.core.matrix.blocks import Block, BlockKey
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import UserError
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.selection import Selected, Selection, place_of_version
from metl_gui.workbench.settings import project_settings


class SecondPerson(QObject):
    """Follows the open project.

    Signals:
        changed: another number of blocks waits, the project asks otherwise, or somebody else sits there.
    """

    changed = Signal()

    def __init__(self, project: OpenProject, selection: Selection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._project, self._selection = project, selection
        self._keys: list[BlockKey] = []
        self.is_needed = False
        self._told = False, 0, ""
        project.opened.connect(self.look)
        project.changed.connect(self._count)

    @property
    def count(self) -> int:
        """How many blocks wait; none where the project does not ask for a second person."""
        return len(self._keys)

    def look(self, _what: object = None) -> None:
        """Read again what the project asks for."""
        workbench = self._project.workbench
        try:
            self.is_needed = workbench is not None and project_settings(workbench).second_person_confirms
        except UserError:
            self.is_needed = False  # the file is not where it was opened; whoever edits is told
        self._count()

    def why_not(self, block: Block) -> str:
        """Say why the person at the window cannot confirm a block; nothing where they can."""
        workbench = self._project.workbench
        if not self.is_needed or workbench is None or not is_author(block, workbench.who):
            return ""
        return f"{workbench.who} has part in this block: a second person must confirm it."

    def go_on(self) -> None:
        """Select the next block that waits, behind the one that is selected."""
        if not self._keys:
            return
        here = self._selection.current.block
        at = bisect_right(self._keys, here) if here is not None else 0
        v, w = self._keys[at % len(self._keys)]
        document = self._project.value
        source, target = place_of_version(document, Side.EXTRACTION, v), place_of_version(document, Side.CDM, w)
        self._selection.choose(Selected(source, target))

    def _count(self, _changed: object = None) -> None:
        self._keys = unconfirmed_keys(self._project.value.matrix) if self.is_needed else []
        workbench = self._project.workbench
        now = self.is_needed, self.count, workbench.who if workbench is not None else ""
        if now != self._told:
            self._told = now
            self.changed.emit()
