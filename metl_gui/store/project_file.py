"""The project file as the rest of the program sees it: open, read, commit, undo, runs.

The newest document is read whole: both trees, and the dense set from the compact one (A4).
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Self, TypeAlias

import msgspec
from msgspec.structs import astuple

from metl_gui.core.changes.draft import ChangeSet, EditContext, Transition
from metl_gui.core.changes.rewind import rewound
from metl_gui.core.matrix.document import Document, NextIds
from metl_gui.core.project.project_data import ProjectDataChange
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import BugError, ProjectChangedError, ProjectError, ProjectLockedError, RunCancelled
from metl_gui.store import edit_log, lease, schema_validation
from metl_gui.store.creation import bring_up_to_date, copy_open, make_file, newer, require_free
from metl_gui.store.edit_log import KEEPING, LoggedEdit, LoggedGroup, RetentionPolicy, compact, is_worth_it
from metl_gui.store.file_identity import FileLoss, Presence
from metl_gui.store.repositories.project_data import Repositories
from metl_gui.store.repositories.sessions import Sessions
from metl_gui.store.rows.block_rows import read_matrix, write_blocks
from metl_gui.store.rows.model_rows import read_models, write_models
from metl_gui.store.rows.packed_changes import LogFilter
from metl_gui.store.rows.packed_rows import Interned
from metl_gui.store.rows.tree_rows import read_tree, write_trees
from metl_gui.store.sqlite.connection import (
    FileConnection,
    connect,
    enter_editing_mode,
    leave_editing_mode,
    reading,
    writing,
)
from metl_gui.store.sqlite.failures import damaged, translated
from metl_gui.store.tables import VERSION, file_version

_MOST_IDS = 2**31 - 1
"""What columns of 32 bits hold."""

Told: TypeAlias = Callable[[int, int], None]
"""Follows reading: (versions read, versions in all)."""


def ignore_progress(_done: int, _total: int) -> None:
    """Follow nothing."""


def read_document(connection: sqlite3.Connection, state: int, told: Told) -> Document:
    """Read the newest document.

    Args:
        connection: to the file.
        state: its number.
        told: called with (versions read, versions in all); what it raises ends the reading.
    """
    # The condition makes it a query of many steps: a bare count is one, in which nothing can be cancelled.
    total = int(connection.execute("SELECT count(*) FROM versions WHERE id > 0").fetchone()[0])
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        told(done, total)

    trees = {side: read_tree(connection, side, count) for side in Side}
    rows = connection.execute("SELECT side, schema, version, attribute, lineage FROM next_ids")
    ids = {Side(side): NextIds(*numbers) for side, *numbers in rows}
    if any(not 0 < number <= _MOST_IDS for each in ids.values() for number in astuple(each)):
        raise ValueError("next ids that can never be")
    matrix = read_matrix(connection, trees[Side.EXTRACTION], trees[Side.CDM])
    models = read_models(connection)
    extraction, cdm = Side.EXTRACTION, Side.CDM
    return Document(state, trees[extraction], trees[cdm], matrix, ids[extraction], ids[cdm], models)


_log = logging.getLogger(__name__)


class ProjectFile:
    """One open project file. Calls may come from any thread and are done one after the other.

    Made by ``create`` and ``open``; a context manager that closes.
    """

    def __init__(
        self, path: Path, connection: FileConnection, holder: lease.LeaseHolder | None, project_id: str
    ) -> None:
        self.path = path
        self.project_id = project_id
        """The project's own id, which never changes; copies of the file share it."""
        self.backup: Path | None = None
        self._connection = connection
        self._holder = holder
        self._lost: ProjectLockedError | None = None
        self._lock = threading.RLock()
        self._presence = Presence(path, connection)
        if holder is not None:
            self._presence.follow_lease(holder)
        self._has_edited = False
        self.kept = Repositories(Sessions(self._reading, self._editing, self._appending))

    @classmethod
    def create(cls, path: Path, who: str = "") -> ProjectFile:
        """Make an empty project at state 0 and open it for editing.

        Raises:
            ProjectError: the name is taken or the folder cannot be written.
        """
        with translated(path):
            make_file(path)
        return cls.open(path, for_editing=True, who=who)

    @classmethod
    def open(
        cls, path: Path, for_editing: bool, who: str = "", take_over: bool = False, *, is_sound: bool = False
    ) -> ProjectFile:
        """Open a project, migrating an older one after a backup beside it (``backup``).

        Args:
            path: the file.
            for_editing: take the editing lease; else it can be read, and runs can be added.
            who: the person, named to others who want to edit.
            take_over: edit even if another living editor has the lease; that one turns read only.
            is_sound: its pages were looked through before, by somebody who looks every second; not again.

        Raises:
            ProjectLockedError: somebody else edits it.
            ProjectError: it cannot be opened.
        """
        with translated(path):
            connection = connect(path)
            try:
                holder = lease.LeaseHolder.here(who) if for_editing else None
                found = file_version(connection)
                if found > VERSION:
                    raise newer(path, found)
                if found not in range(1, VERSION + 1):
                    raise damaged(path, f"It says that it has version {found}, which never was")
                schema_validation.require_shape(connection, path, schema_validation.shape_of(found))
                if not is_sound:
                    schema_validation.require_soundness(connection, path)
                project_id = _project_id(connection, path)
                backup = None
                if holder is not None or found < VERSION:
                    backup = bring_up_to_date(connection, path)
                if holder is not None:
                    enter_editing_mode(connection, path)
                    with writing(connection):
                        lease.take(connection, holder, by_force=take_over)
                project = cls(path, connection, holder, project_id)
                project.backup = backup
                return project
            except BaseException:
                connection.close()
                raise

    def close(self) -> None:
        """Compact a log that has grown large here, give the lease back and close the file; again does nothing."""
        try:
            self._tidy()
        finally:
            self._let_go()

    def _let_go(self) -> None:
        with self._lock, translated(self.path):
            holder, self._holder = self._holder, None
            if self._connection.file is None:
                return
            try:
                if self._presence.loss() is not None:
                    self._presence.abandon()
                elif holder is not None:
                    with writing(self._connection):
                        lease.release(self._connection, holder)
                    leave_editing_mode(self._connection)
            except sqlite3.Error as error:  # all edits are safe, and the lease of a process that ended counts no more
                _log.warning("the editing lease of %s could not be given back: %s", self.path, error)
            finally:
                self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def save_copy(self, target: Path) -> bool:
        """Copy the project as it was last committed, wherever its own file is now, under a new name.

        Returns:
            Whether it was; not when another file was copied over this one, so that only fragments are left.

        Raises:
            ProjectError: the name is taken, or the copy cannot be written.
        """
        with self._lock, translated(self.path):
            require_free(target, is_new=True)
            if self._presence.loss() is FileLoss.OVERWRITTEN:
                return False
            copy_open(self._connection, target, self._holder)
            return True

    @property
    def is_for_editing(self) -> bool:
        """Whether this opening holds the editing lease, as far as it knows."""
        return self._holder is not None

    def state(self) -> int:
        """Read the number of the newest state; cheap, so that others can look whether something was committed."""
        with self._reading() as connection:
            return _state(connection)

    def document(self, state: int | None = None, told: Told = ignore_progress) -> Document:
        """Read the document: trees, and the dense set from the compact one (A4).

        Args:
            state: an earlier state, rebuilt from the log; the newest one by default.
            told: called with (versions read, versions in all); what it raises ends the reading.

        Raises:
            ProjectError: the file is damaged, or has no such state.
        """
        with self._reading() as connection:
            newest = _state(connection)
            if state is not None:
                self._require_state(connection, state)
            document = read_document(connection, newest, told)
            return (
                document
                if state is None
                else rewound(document, edit_log.change_between(connection, state, newest), state)
            )

    def change_between(self, state: int, later: int) -> ChangeSet:
        """Read everything that was changed after a state up to a later one, as one change.

        Cost: the log entries between the two, not the project.

        Raises:
            ProjectError: there is no such state, or it was merged into a later one.
        """
        with self._reading() as connection:
            for each in (state, later):
                self._require_state(connection, each)
            return edit_log.change_between(connection, state, later)

    def touching(self, wanted: LogFilter) -> list[tuple[LoggedEdit, ChangeSet]]:
        """Read the edits that may have touched something, newest first, each with what it changed."""
        with self._reading() as connection:
            return list(edit_log.touching(connection, wanted))

    def commit(
        self,
        transition: Transition,
        door: str = edit_log.WINDOW,
        group: int | None = None,
        undoes: int | None = None,
        beside: ProjectDataChange = ProjectDataChange(),  # noqa: B008 - frozen
    ) -> int:
        """Write one edit: all of it in one transaction, or nothing.

        Args:
            transition: built on the file's newest state.
            door: ``window`` or ``command``.
            group: what an earlier commit of the same gesture returned.
            undoes: the undo group that this one takes back.
            beside: what changes with it beside the states, which undo does not take back.

        Returns:
            The undo group of this edit.

        Raises:
            ProjectChangedError: the file moved on since the transition's document was read.
            ProjectLockedError: the file is open read only, or was taken over; from then on it is read only.
            ProjectError: it cannot be written.
        """
        with self._editing() as connection:
            found = _state(connection)
            if found != transition.before.state:
                who = edit_log.last_writer(connection)
                raise ProjectChangedError(
                    f"{self.path.name} was changed by {who} since.",
                    f"This edit was built on state {transition.before.state}; the file has state {found}.",
                    "Read it again and repeat the edit where it still makes sense.",
                )
            interned = Interned(connection)
            write_trees(connection, transition, interned)
            write_blocks(connection, transition, interned)
            write_models(connection, transition)
            kept = Repositories.within(connection)
            kept.assignments.follow(transition)
            kept.data.change(beside)
            group = edit_log.append(connection, transition, door, group, undoes)
            connection.execute("UPDATE project SET state = ?", (transition.after.state,))
            self._has_edited = True
        self._presence.newest_state = transition.after.state
        return group

    def undo_candidate(self, doors: Collection[str] = (edit_log.WINDOW,)) -> LoggedGroup | None:
        """Find the newest group of edits that undo takes back, made through one of the doors."""
        with self._reading() as connection:
            return edit_log.undo_candidate(connection, doors)

    def redo_candidate(self, doors: Collection[str] = (edit_log.WINDOW,)) -> LoggedGroup | None:
        """Find the newest undo that redo takes back; none after a new edit."""
        with self._reading() as connection:
            return edit_log.redo_candidate(connection, doors)

    def group_of(self, state: int) -> LoggedGroup | None:
        """Find the group of edits that made a state, to take it back from the history."""
        with self._reading() as connection:
            return edit_log.group_of(connection, state)

    def taken_back_by(self, group: LoggedGroup) -> LoggedGroup | None:
        """Find the group that took another one back."""
        with self._reading() as connection:
            return edit_log.taken_back_by(connection, group.group)

    def change_of(self, group: LoggedGroup) -> ChangeSet:
        """Read what a group of edits changed, as one change."""
        with self._reading() as connection:
            return edit_log.change_of_group(connection, group.group)

    def gestures_since(self, state: int) -> int:
        """Count what was done since a state; what was done and undone since is not counted."""
        with self._reading() as connection:
            return edit_log.gestures_since(connection, state)

    def history(self, limit: int | None = None, below: int | None = None) -> list[LoggedEdit]:
        """Read the history, newest first; pages are made with the last row's state as ``below``."""
        with self._reading() as connection:
            return list(edit_log.history(connection, limit, below))

    def name_state(self, state: int, name: str, stamp: EditContext) -> None:
        """Give a state a name, or another one."""
        with self._editing() as connection:
            self._require_state(connection, state)
            Repositories.within(connection).states.name(state, name, stamp)

    def compact(self, keeping: RetentionPolicy = KEEPING) -> int:
        """Merge entries of the log between the states that are kept; each call does a bounded part of it.

        Returns:
            How many entries are gone; 0 when nothing is left to merge.
        """
        with self._editing() as connection:
            return compact(connection, _now_ms(), keeping)

    def is_compacted(self) -> bool:
        """Whether older edits cannot be taken back any more, because the log was compacted."""
        with self._reading() as connection:
            return edit_log.is_compacted(connection)

    def give_room_back(self) -> None:
        """Make the file as small as what it holds, as far as nobody reads it just now; linear in the file."""
        with self._session() as connection:
            try:
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except sqlite3.OperationalError as error:
                _log.info("%s stays as large as it is: %s", self.path, error)

    def holder(self) -> lease.LeaseHolder | None:
        """Read who holds the editing lease, gone or not."""
        with self._reading() as connection:
            return lease.read(connection)

    def beat(self) -> None:
        """Renew the lease, as every commit does; an editor calls this every half minute.

        Raises:
            ProjectLockedError: it was taken over.
        """
        with self._editing():
            return

    def require_lease(self) -> None:
        """Make sure that nobody has taken it over, where it is open for editing; cheap, as it only reads.

        Raises:
            ProjectLockedError: it was taken over, now or earlier; from then on it is read only here.
        """
        if self._lost is not None:
            raise self._lost.with_traceback(None)
        if self._holder is not None:
            with self._reading() as connection:
                self._require_lease(connection, self._holder)

    def _require_lease(self, connection: sqlite3.Connection, holder: lease.LeaseHolder) -> None:
        """Make sure that the lease is held; who took it over is remembered, whoever hears of it first."""
        try:
            lease.require(connection, holder)
        except ProjectLockedError as error:
            self._holder, self._lost = None, error
            raise

    def _tidy(self) -> None:
        if self._holder is None or not self._has_edited:
            return
        try:
            with self._reading() as connection:
                wanted = is_worth_it(connection, _now_ms(), KEEPING)
            if wanted:
                self.compact(KEEPING)
        except (ProjectError, RunCancelled) as error:  # the next one who closes it does it
            _log.info("the log of %s is not compacted: %s", self.path, error)

    @contextmanager
    def _session(self) -> Iterator[sqlite3.Connection]:
        with self._lock, translated(self.path):
            self._presence.require()
            yield self._connection

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._session() as connection, reading(connection), self._fitting():
            yield connection

    @contextmanager
    def _appending(self) -> Iterator[sqlite3.Connection]:
        with self._session() as connection, writing(connection), self._readable():
            yield connection

    @contextmanager
    def _editing(self) -> Iterator[sqlite3.Connection]:
        holder = self._holder
        if self._lost is not None:
            raise self._lost.with_traceback(None)
        if holder is None:
            raise ProjectLockedError(
                f"{self.path.name} is open read only here.", hint="Open it for editing to change something."
            )
        with self._session() as connection, writing(connection):
            self._require_lease(connection, holder)
            lease.renew(connection, holder)
            with self._readable():
                yield connection

    @contextmanager
    def _fitting(self) -> Iterator[None]:
        """Call it damage where what was read does not fit together; nothing but reading may be in it."""
        try:
            with self._readable():
                yield
        except (BugError, LookupError, TypeError, OverflowError) as error:
            raise damaged(self.path, f"Its parts do not fit together ({error})") from error

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Call it damage where a part of the file cannot be read by itself."""
        try:
            yield
        except UnicodeEncodeError:
            raise  # by what is written
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise damaged(self.path, f"Its parts do not fit together ({error})") from error
        except MemoryError as error:
            raise ProjectError(
                f"There is not enough memory for {self.path.name}.",
                f"{error}.".removeprefix("."),
                "Close other programs, or open it on a larger computer. If it is a small file, it is damaged.",
            ) from error

    def _require_state(self, connection: sqlite3.Connection, state: int) -> None:
        newest = _state(connection)
        if not 0 <= state <= newest:
            raise ProjectError(
                f"There is no state {state} in {self.path.name}.", hint=f"Its states go from 0 to {newest}."
            )
        if not edit_log.has_state(connection, state):
            below, above = edit_log.nearest(connection, state)
            raise ProjectError(
                f"State {state} of {self.path.name} cannot be looked at any more.",
                f"When the log was compacted it was merged into state {above}.",
                f"The nearest states that were kept are {below} and {above}.",
            )


def read_project_id(path: Path) -> str:
    """Read the id of a project without opening it: nothing in the file is changed, and little of it is read.

    Raises:
        ProjectError: it is no project file, or cannot be read.
    """
    with translated(path), closing(connect(path)) as connection:
        return _project_id(connection, path)


def _project_id(connection: sqlite3.Connection, path: Path) -> str:
    found = connection.execute("SELECT id FROM project").fetchone()
    if found is None or not isinstance(found[0], str):
        raise damaged(path, "It does not say which project it is")
    return found[0]


def _state(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT state FROM project").fetchone()[0])


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
