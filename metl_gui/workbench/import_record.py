"""The record of a bulk import that goes on: what it is about to add stands in the project until it has ended.

Source: dmm.md §9 (bulk imports: what is left to do is stored, so a killed import goes on).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from metl_gui.core.project.pending_imports import PendingImport
from metl_gui.core.trees.declarations import VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.session import Door, EditGroup, Workbench


class ImportRecord:
    """One bulk import, and the undo group of its edits.

    Args:
        workbench: the opened project.
        group: the edits of the import.
        id: of the record in the project; ``None`` for an import of one version, which is whole or not at all anyway.
        is_noted: the group stands in the record.
    """

    def __init__(self, workbench: Workbench, group: EditGroup, id_: int | None, is_noted: bool = False) -> None:
        self.group = group
        self._workbench = workbench
        self._id = id_
        self._is_noted = is_noted

    @classmethod
    def begin(cls, workbench: Workbench, side: Side, declarations: Sequence[VersionDeclaration], door: Door) -> Self:
        """Write down what an import is about to add."""
        several = len(declarations) > 1
        id_ = workbench.kept.pending_imports.begin(side, door, declarations, workbench.stamp()) if several else None
        return cls(workbench, workbench.new_group(door), id_)

    @classmethod
    def again(cls, workbench: Workbench, began: PendingImport) -> Self:
        """Go on with an import: in its undo group, unless something else was done since."""
        newest = workbench.log(1)
        joins = began.group is not None and bool(newest) and newest[0].group == began.group
        group = EditGroup(Door(began.door), began.group if joins else None)
        return cls(workbench, group, began.id, is_noted=joins)

    def note_group(self) -> None:
        """Write down the undo group as soon as there is one."""
        if self._id is not None and not self._is_noted and self.group.id is not None:
            self._workbench.kept.pending_imports.note_group(self._id, self.group.id)
            self._is_noted = True

    def end(self) -> None:
        """Forget the record; the import has done all it could."""
        if self._id is not None:
            self._workbench.kept.pending_imports.end(self._id)
