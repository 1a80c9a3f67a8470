"""One opened project: the current document, and the only way to change it.

An edit is worked out on the frozen document, committed to the project file in one transaction, and only then becomes
the current document; so a failure at any point leaves both as they were.
"""

from __future__ import annotations

import getpass
import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Self

from msgspec.structs import replace

from metl_gui.core.changes.draft import ChangeSet, Edit, EditContext, Transition, perform
from metl_gui.core.edits.revert import Revert
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.project.comments import CommentSubject
from metl_gui.core.project.project_data import ProjectDataChange
from metl_gui.core.project.refusals import RefusedSuggestion
from metl_gui.errors import EditError, ProjectChangedError
from metl_gui.store import edit_log as log
from metl_gui.store.edit_log import LoggedEdit, LoggedGroup
from metl_gui.store.project_file import ProjectFile
from metl_gui.store.repositories.project_data import Repositories
from metl_gui.store.rows.packed_changes import LogFilter
from metl_gui.workbench.earlier_states import EarlierStates

SECOND_PERSON_CONFIRMS = "second_person_confirms"
"""Name of the project setting; ``yes`` or absent."""

KEPT_RUNS = "kept_runs"
"""Name of the project setting: how many runs the history keeps."""

DEFAULT_KEPT_RUNS = 200
_TRIES = 5


class EditOrigin(StrEnum):
    """Where a person made a gesture: undo in a window takes back only what was done in windows."""

    WINDOW = log.WINDOW
    COMMAND = log.COMMAND


ANY_ORIGIN = tuple(EditOrigin)


@dataclass(slots=True)
class EditGroup:
    """The edits of one gesture or command, undone together; made by ``Workbench.new_group``.

    Args:
        door: where the gesture was made.
        id: the first state of the group, ``None`` until its first edit is committed.
    """

    door: EditOrigin
    id: int | None = None


class Workbench:
    """A project that is open, with its current document.

    Calls may come from any thread; edits are done one after the other. A context manager that closes.

    Args:
        project: the open project file; closed with this.
        who: the person whose name stands at edits; by default ``METL_USER`` or the login name.
        watch: progress and cancel of reading the document.
    """

    def __init__(self, project: ProjectFile, who: str | None = None, watch: Watch = UNWATCHED) -> None:
        self._project = project
        self._past = EarlierStates(project)
        self._lock = threading.RLock()
        self._who = person() if who is None else who
        self._document = project.document(told=partial(watch.step, "Reading schemas and mappings"))

    @classmethod
    def create(cls, path: Path, who: str | None = None) -> Workbench:
        """Make an empty project file and open it for editing.

        Raises:
            ProjectError: the name is taken or the folder cannot be written.
        """
        return cls._on(ProjectFile.create(path, person() if who is None else who), who)

    @classmethod
    def open(
        cls,
        path: Path,
        for_editing: bool = True,
        who: str | None = None,
        take_over: bool = False,
        watch: Watch = UNWATCHED,
    ) -> Workbench:
        """Open a project file.

        Args:
            path: the file.
            for_editing: take the editing lease; without it everything but edits can be done.
            who: the person.
            take_over: edit even if another living editor holds the lease; that one turns read only.
            watch: progress and cancel.

        Raises:
            RunCancelled: it was stopped.
            ProjectLockedError: somebody else edits it; the message names who.
            ProjectError: it cannot be opened.
        """
        name = person() if who is None else who
        return cls._on(ProjectFile.open(path, for_editing, name, take_over), who, watch)

    @classmethod
    def _on(cls, project: ProjectFile, who: str | None, watch: Watch = UNWATCHED) -> Workbench:
        try:
            return cls(project, who, watch)
        except BaseException:
            project.close()
            raise

    def close(self) -> None:
        """Give the lease back and close the file; a second time does nothing."""
        self._project.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """The project file."""
        return self._project.path

    @property
    def project_id(self) -> str:
        """The id that the project's samples and run folders are kept under."""
        return self._project.project_id

    @property
    def backup(self) -> Path | None:
        """The copy of the file as it was, when opening had to bring it to this program's version."""
        return self._project.backup

    @property
    def who(self) -> str:
        """The person whose name stands at edits from now on."""
        return self._who

    @who.setter
    def who(self, name: str) -> None:
        self._who = name

    @property
    def is_for_editing(self) -> bool:
        """Whether this opening may edit; turns false when another one takes over."""
        return self._project.is_for_editing

    @property
    def document(self) -> Document:
        """The current document; a frozen value that stays as it is while edits go on."""
        return self._document

    @property
    def kept(self) -> Repositories:
        """What is kept with the project beside its states."""
        return self._project.kept

    def new_group(self, door: EditOrigin = EditOrigin.COMMAND) -> EditGroup:
        """Begin a group of edits that are undone together; pass it to ``do`` for each of them."""
        return EditGroup(door)

    def do(
        self,
        edit: Edit,
        door: EditOrigin = EditOrigin.COMMAND,
        group: EditGroup | None = None,
        beside: Callable[[Transition], ProjectDataChange] | None = None,
        *,
        is_decided: bool = False,
    ) -> Transition:
        """Apply an edit: work it out, commit it, make its outcome the current document.

        When the file has moved on meanwhile it is read again and the edit applied to what is there now.

        Args:
            edit: from ``core.edits``.
            door: where the gesture was made; a group brings its own.
            group: the gesture's group when it makes several states.
            beside: works out what the edit changes beside the states, in the same transaction; undo leaves that.
            is_decided: what it brings was confirmed or not where it comes from, so that nobody decides on it anew.

        Returns:
            What changed. An edit that changes nothing makes no state: its ``after`` is its ``before``.

        Raises:
            EditError: the rules refuse the edit.
            ProjectLockedError: the project is open read only, or was taken over.
            ProjectError: the file cannot be written.
        """
        group = group or EditGroup(door)

        def commit(transition: Transition) -> None:
            change = beside(transition) if beside is not None else ProjectDataChange()
            if not transition.change.is_empty:
                group.id = self._project.commit(transition, group.door, group.id, beside=change)
            elif change:
                self._project.kept.data.change(change)

        def work_out() -> Transition:
            stamp = self.stamp()
            return perform(self._document, edit, replace(stamp, needs_second=False) if is_decided else stamp)

        return self._apply(work_out, commit)

    def undo_title(self, doors: tuple[EditOrigin, ...] = ANY_ORIGIN) -> str | None:
        """Return the title of what undo takes back, ``None`` when there is nothing."""
        found = self._project.undo_candidate(doors)
        return found.title if found else None

    def redo_title(self, doors: tuple[EditOrigin, ...] = ANY_ORIGIN) -> str | None:
        """Return the title of what redo brings again, ``None`` when there is nothing."""
        found = self._project.redo_candidate(doors)
        return found.title if found else None

    def undo(self, doors: tuple[EditOrigin, ...] = ANY_ORIGIN, door: EditOrigin = EditOrigin.COMMAND) -> Transition:
        """Undo the newest group of edits, as a new state.

        Args:
            doors: only what was done through these counts; a window passes ``(Door.WINDOW,)``.
            door: where the undo itself is made.

        Raises:
            EditError: there is nothing to take back, or what it touched was changed since.
        """
        return self._take_back(lambda: self._project.undo_candidate(doors), "undo", door)

    def undo_state(self, state: int, door: EditOrigin = EditOrigin.COMMAND) -> Transition:
        """Undo the group of edits that made a state, whatever was done elsewhere since, as a new state.

        Raises:
            EditError: what it touched was changed since, it is taken back already, or the log was compacted over it.
            ProjectError: there is no such state.
        """
        return self._take_back(lambda: self._past.group_to_take_back(state), "undo", door)

    def title_of_group(self, state: int) -> str:
        """Return the title of everything that was made by one gesture or command with a state; empty for no state."""
        found = self._project.group_of(state)
        return found.title if found is not None else ""

    def change_of_group(self, state: int) -> ChangeSet:
        """Return everything that was changed by one gesture or command with a state, as one change.

        Raises:
            EditError: it is taken back already, or the log was compacted over it.
            ProjectError: there is no such state.
        """
        return self._project.change_of(self._past.group_to_take_back(state))

    def redo(self, doors: tuple[EditOrigin, ...] = ANY_ORIGIN, door: EditOrigin = EditOrigin.COMMAND) -> Transition:
        """Bring the newest undone group of edits again, as a new state.

        Raises:
            EditError: there is nothing to bring again, or what it touched was changed since.
        """
        return self._take_back(lambda: self._project.redo_candidate(doors), "redo", door)

    def at_state(self, state: int | None) -> Document:
        """Return the document at a state, rebuilt from the log; the current one for ``None``.

        Cost: what changed between that state and the current one, or the one that was looked at before.

        Raises:
            ProjectError: there is no such state, or the log was compacted over it.
        """
        return self._past.at(self._document, state)

    def change_between(self, state: int, later: int) -> ChangeSet:
        """Return everything that differs between two states as one change, from the first to the second.

        Raises:
            ProjectError: there is no such state, or the log was compacted over it.
        """
        low, high = sorted((state, later))
        found = self._project.change_between(low, high)
        return found if state <= later else found.inverse()

    def touching(self, wanted: LogFilter) -> list[tuple[LoggedEdit, ChangeSet]]:
        """Read the edits that may have touched something, newest first, each with what it changed."""
        return self._project.touching(wanted)

    def log(self, limit: int | None = None, below: int | None = None) -> list[LoggedEdit]:
        """Read the edit log, newest first; pages are made with the last row's state as ``below``."""
        return self._project.history(limit, below)

    def gestures_since(self, state: int) -> int:
        """Count the gestures and commands since a state; one and its undo are none."""
        return self._project.gestures_since(state)

    def compact(self) -> int:
        """Merge a part of the log; how many entries are gone, 0 when there is nothing left to merge.

        Raises:
            ProjectLockedError: the project is open read only, or was taken over.
        """
        return self._project.compact()

    def give_room_back(self) -> None:
        """Make the project file as small as what it holds; linear in the file."""
        self._project.give_room_back()

    def name_state(self, state: int, name: str) -> None:
        """Give a state a name.

        Raises:
            ProjectError: there is no such state, or the project is open read only.
        """
        self._project.name_state(state, name, self.stamp())

    def refuse_suggestions(self, refused: Iterable[RefusedSuggestion]) -> None:
        """Remember that suggestions were refused; not part of a state."""
        self._project.kept.refused_suggestions.add(refused, self.stamp())

    def add_comment(self, subject: CommentSubject, text: str) -> int:
        """Keep a comment with the project, and return its id; not part of a state."""
        return self._project.kept.comments.add(subject, text, self.stamp())

    def add_run(
        self,
        report: dict[str, Any],
        events: list[Any],
        spec: dict[str, Any] | None = None,
        when_ms: int | None = None,
    ) -> str:
        """Keep the report and the events of a run, and what was asked, with the project; needs no lease.

        As many runs stay as the project's setting says.
        """
        kept = self._project.kept.settings.all().get(KEPT_RUNS, str(DEFAULT_KEPT_RUNS))
        return self._project.kept.runs.add(report, events, spec, max(int(kept), 1), when_ms)

    def beat(self) -> None:
        """Say that this editor is alive; a window calls this every half minute.

        Raises:
            ProjectLockedError: another editor has taken over; this one is read only from now on.
        """
        self._project.beat()

    def require_lease(self) -> None:
        """Make sure that no other editor has taken over; cheap.

        Raises:
            ProjectLockedError: one has, now or earlier; this one is read only from then on.
        """
        self._project.require_lease()

    def has_moved_on(self) -> bool:
        """Return whether the file has another state than the current document; cheap."""
        return self._project.state() != self._document.state

    def reload(self) -> Document:
        """Read the document again when the file has moved on, and return the current one."""
        with self._lock:
            if self._project.state() != self._document.state:
                self._document = self._project.document()
            return self._document

    def read_again(self) -> Document:
        """Read the current state from the file without making it the current document: for checks."""
        return self._project.document()

    def save_copy(self, target: Path) -> bool:
        """Save the project under a new name as it is here, whatever became of its file meanwhile.

        Returns:
            Whether all of it was saved; where another file was copied over its own, only the current document is left,
            without its history and what is kept beside the states.

        Raises:
            ProjectError: the name is taken, or the copy cannot be written.
        """
        with self._lock:
            if self._project.save_copy(target):
                return True
            from metl_gui.core.merge.merged_document import MergeTheirs  # few need it

            edit = MergeTheirs(Document(), self._document, self.path.stem)
            with ProjectFile.create(target, self._who) as copy:
                copy.commit(perform(copy.document(), edit, EditContext(self._who, time.time_ns() // 1_000_000)))
            return False

    def merge_overlay(self) -> Document:
        """Merge what was edited since opening into the columns; linear in everything, so do it in the background."""
        before = self._document
        merged = before.merged()
        with self._lock:
            if self._document is before:
                self._document = merged
            return self._document

    def stamp(self) -> EditContext:
        """Return who edits, when, and whether a second person confirms it."""
        needs_second = self._project.kept.settings.all().get(SECOND_PERSON_CONFIRMS) == "yes"
        return EditContext(self._who, time.time_ns() // 1_000_000, needs_second)

    def _take_back(self, find: Callable[[], LoggedGroup | None], verb: str, door: EditOrigin) -> Transition:
        found: list[LoggedGroup] = []

        def work_out() -> Transition:
            group = find()
            if group is None:
                why = self._past.why_nothing() if verb == "undo" else ""
                raise EditError(f"There is nothing to {verb}.", why, "See metl history for what was done.")
            found[:] = [group]
            change = self._project.change_of(group)
            edit = Revert(change, group.title, group.is_undo)
            try:
                # What comes back was confirmed or not when it went, and nobody decides on it anew.
                return perform(self._document, edit, replace(self.stamp(), needs_second=False))
            except EditError as refusal:
                raise self._past.with_states(refusal, group, change) from refusal

        def commit(transition: Transition) -> None:
            if not transition.change.is_empty:
                self._project.commit(transition, door, undoes=found[0].group)

        return self._apply(work_out, commit)

    def _apply(self, work_out: Callable[[], Transition], commit: Callable[[Transition], None]) -> Transition:
        with self._lock:
            for _ in range(_TRIES - 1):
                try:
                    return self._attempt(work_out, commit)
                except (ProjectChangedError, EditError) as error:
                    if isinstance(error, EditError) and not self.has_moved_on():
                        raise
                    self._document = self._project.document()
            return self._attempt(work_out, commit)

    def _attempt(self, work_out: Callable[[], Transition], commit: Callable[[Transition], None]) -> Transition:
        transition = work_out()
        if transition.change.is_empty:
            transition = replace(transition, after=transition.before)
        commit(transition)
        self._document = transition.after
        return transition


def person() -> str:
    """Name the person who works: ``METL_USER``, else the login name."""
    named = os.environ.get("METL_USER", "").strip()
    if named:
        return named
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "somebody"
