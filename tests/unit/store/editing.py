"""A world whose every edit is committed to a project file."""

from __future__ import annotations

from metl_gui.core.changes.draft import Edit, EditContext, Transition, perform
from metl_gui.core.edits.revert import Revert
from metl_gui.store.edit_log import COMMAND, DOORS, WINDOW, LoggedGroup
from metl_gui.store.project_file import ProjectFile
from tests.helpers.world import World


class Editing(World):
    """A document under edit and the file it lies in."""

    def __init__(self, project: ProjectFile) -> None:
        super().__init__()
        self.project = project
        self.document = project.document()
        self.door = WINDOW
        self.group: int | None = None
        self.undoes: int | None = None
        self.last_group = 0

    def do(self, edit: Edit) -> Transition:
        """Apply an edit, commit it, then go on with the result."""
        transition = perform(self.document, edit, EditContext("tester", 1_000 + self.document.state))
        self.last_group = self.project.commit(transition, self.door, self.group, self.undoes)
        self.document = transition.after
        self.log.append(transition)
        return transition

    def undo_group(self, group: LoggedGroup) -> int:
        """Take a group of edits back, or redo it where it is an undo."""
        edit = Revert(self.project.change_of(group), group.title, is_redo=group.is_undo)
        transition = perform(self.document, edit)
        taken_back = self.project.commit(transition, self.door, undoes=group.group)
        self.document = transition.after
        return taken_back

    def undo_newest(self) -> str:
        """Press Ctrl+Z (or call ``metl undo``); the title of what was taken back."""
        group = self.project.undo_candidate(DOORS if self.door == COMMAND else (WINDOW,))
        assert group is not None
        self.undo_group(group)
        return group.title

    def redo_newest(self) -> str:
        """Press Ctrl+Y; the title of what was done again."""
        group = self.project.redo_candidate()
        assert group is not None
        self.undo_group(group)
        return group.title

    def small_world(self) -> None:
        """Map one schema with two versions to one entity, one element lost on the way."""
        self.schema("fx.payments", "1", "id:int64", "amount", "legacy")
        self.entity("payment", "1", "key:int64", "value", "old")
        self.map("fx.payments@1:payment@1", key="id", value="amount", old="legacy")
        self.schema("fx.payments", "2", "id:int64", "amount", "note")
