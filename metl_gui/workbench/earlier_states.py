"""Earlier states of an opened project, in memory: rebuilt from a state at hand and the log, not from the whole file."""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.core.changes.draft import ChangeSet
from metl_gui.core.changes.rewind import rewound
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError, ProjectError
from metl_gui.store.edit_log import LoggedEdit, LoggedGroup
from metl_gui.store.project_file import ProjectFile
from metl_gui.store.rows.packed_changes import LogFilter

_SHOWN = 3


class EarlierStates:
    """The states before the current one. Calls may come from any thread.

    The state that was looked at last is kept, so that going along the history costs what lies between two looks.

    Args:
        project: the open project file.
    """

    def __init__(self, project: ProjectFile) -> None:
        self._project = project
        self._looked: Document | None = None

    def at(self, current: Document, state: int | None) -> Document:
        """Return the document at a state.

        Args:
            current: the current document.
            state: its number; ``None`` for the current one.

        Raises:
            ProjectError: there is no such state, or the log was compacted over it.
        """
        if state is None or state == current.state:
            return current
        if state > current.state:  # the file has moved on
            return self._project.document(state)
        looked = self._looked
        bases = [current] if looked is None or looked.state > current.state else [current, looked]
        near = min(bases, key=lambda document: abs(document.state - state))
        if near.state == state:
            return near
        low, high = sorted((state, near.state))
        change = self._project.change_between(low, high)
        found = rewound(near, change if near.state == high else change.inverse(), state)
        self._looked = found
        return found

    def why_nothing(self) -> str:
        """Explain why there is nothing more to take back, where it is not that nothing was done."""
        return "Older edits were merged when the log was compacted." if self._project.is_compacted() else ""

    def group_to_take_back(self, state: int) -> LoggedGroup:
        """Find the undo group of a state, as far as the log can still take it back.

        Raises:
            EditError: it is taken back already, or the log was compacted over it.
            ProjectError: there is no such state.
        """
        group = self._project.group_of(state)
        if group is None:
            self._project.change_between(state, state)  # says what became of it
            raise ProjectError("State 0 is the empty project.", hint="There is nothing to take back.")
        again = self._standing(group)
        if again is None:
            raise EditError(
                f"“{group.title}” is taken back already.", hint="See metl history for the state that did it."
            )
        if again.is_cut:
            raise EditError(
                f"“{group.title}” cannot be taken back any more.",
                f"The log was compacted over state {state}.",
                "Set it by hand; metl history --of shows what it was.",
            )
        return again

    def with_states(self, refusal: EditError, group: LoggedGroup, change: ChangeSet) -> EditError:
        """Say of a refused undo which later states stand in its way, the newest first: the order to take them back in.

        Args:
            refusal: what the rules said.
            group: what was to be taken back.
            change: all that it changed.
        """
        keys = frozenset(each.key for each in change.blocks)
        schemas = {(each.side, each.id) for each in change.schemas}
        schemas |= {(each.side, part.schema_id) for each in change.versions if (part := each.after or each.before)}
        wanted = [LogFilter(keys=keys, versions=frozenset((each.side, each.id) for each in change.versions))]
        wanted += [LogFilter(model=each.name) for each in change.models[:_SHOWN]]
        wanted += [LogFilter(schema=schema) for schema in sorted(schemas)[:_SHOWN]]
        later = {edit.state: edit.title for each in wanted for edit in self._later(each, group, change)}
        if not later:
            return refusal
        told = ", ".join(f"{state} ({later[state]})" for state in sorted(later, reverse=True)[:_SHOWN])
        more = f" and {len(later) - _SHOWN:,} more" if len(later) > _SHOWN else ""
        noun = "state" if len(later) == 1 else "states"
        return EditError(refusal.title, f"{refusal.text} That was {noun} {told}{more}.", refusal.hint)

    def _later(self, wanted: LogFilter, group: LoggedGroup, change: ChangeSet) -> Iterator[LoggedEdit]:
        """Find what touched the same parts after a group of edits."""
        parts = _parts(change)
        for edit, later in self._project.touching(wanted):
            if edit.state <= group.group:
                return
            if edit.group != group.group and not parts.isdisjoint(_parts(later) | _ends(later)):
                yield edit

    def _standing(self, group: LoggedGroup) -> LoggedGroup | None:
        """Find the group that has the effect of another one today: itself, or what did it again after an undo."""
        undo = self._project.taken_back_by(group)
        if undo is None:
            return group
        redo = self._project.taken_back_by(undo)
        return None if redo is None else self._standing(redo)


def _parts(change: ChangeSet) -> set[tuple[object, ...]]:
    """Name the parts that a change touched."""
    found: set[tuple[object, ...]] = {("schema", each.side, each.id) for each in change.schemas}
    found |= {("version", each.side, each.id) for each in change.versions}
    found |= {("model", each.name) for each in change.models}
    return found | {("block", each.key) for each in change.blocks}


def _ends(change: ChangeSet) -> set[tuple[object, ...]]:
    """Name the versions that the blocks of a change stand between: what was mapped stands on them."""
    sides = zip(Side, zip(*(each.key for each in change.blocks), strict=True), strict=False)
    return {("version", side, id_) for side, ids in sides for id_ in ids}
