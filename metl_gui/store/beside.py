"""What is kept with a project beside its states: it is no part of the history and is not undone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TypeAlias

from metl_gui.core.changes.draft import Stamp
from metl_gui.core.project.assignments import Assignment, AssignmentKey
from metl_gui.core.project.comments import Comment, Subject
from metl_gui.core.project.pending_imports import PendingImport
from metl_gui.core.project.project_data import BesideChange, Kept, StateName
from metl_gui.core.project.refusals import Refusal, RefusedRename, RefusedRenames
from metl_gui.core.project.sample_profiles import SchemaProfile
from metl_gui.core.project.version_tasks import VersionTask, collect
from metl_gui.core.project.writer_schemas import WireSchema
from metl_gui.core.trees.declarations import VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.store import (
    assignments,
    comments,
    kept,
    pending,
    project_settings,
    refusals,
    runs,
    samples,
    states,
    version_tasks,
    wire_schemas,
)
from metl_gui.store.kept import Untaken
from metl_gui.store.states import NamedState

Session: TypeAlias = Callable[[], AbstractContextManager[sqlite3.Connection]]
"""Opens the project file for reading, or for one transaction of its editor."""


class Beside:
    """Comments, refusals and the like of one open project file; reached by ``ProjectFile.beside``.

    Everything that writes needs the editing lease, but what only appends.

    Args:
        reading: opens the file to read.
        editing: opens it to write.
        appending: opens it to write without the lease.
    """

    def __init__(self, reading: Session, editing: Session, appending: Session) -> None:
        self._reading = reading
        self._editing = editing
        self._appending = appending

    def everything(self) -> tuple[Kept, ...]:
        """Read everything that lies beside the states and is compared and merged."""
        with self._reading() as connection:
            return kept.read(connection)

    def untaken(self) -> Untaken:
        """Read what stays with this file in a merge, and is told of."""
        with self._reading() as connection:
            return kept.untaken(connection)

    def has_state(self, named: StateName) -> bool:
        """Whether this file has the state that is named so in another one, not just another state of its number."""
        with self._reading() as connection:
            return kept.has_state(connection, named)

    def change(self, wanted: BesideChange) -> None:
        """Put and remove things, all of them or none."""
        with self._editing() as connection:
            kept.change(connection, wanted)

    def refuse_renames(self, refused: Iterable[RefusedRename], stamp: Stamp) -> None:
        """Remember that rename proposals were refused, so that they are not made again."""
        with self._editing() as connection:
            refusals.add_renames(connection, refused, stamp)

    def restore_renames(self, restored: Iterable[RefusedRename]) -> None:
        """Forget refused rename proposals, so that they are made again."""
        with self._editing() as connection:
            refusals.remove_renames(connection, restored)

    def refused_proposals(self) -> RefusedRenames:
        """Read the refused rename proposals."""
        with self._reading() as connection:
            return RefusedRenames(refusals.read_renames(connection))

    def refuse_suggestions(self, refused: Iterable[Refusal], stamp: Stamp) -> None:
        """Remember that suggestions were refused, so that they are not made again."""
        with self._editing() as connection:
            refusals.add(connection, refused, stamp)

    def restore_suggestions(self, restored: Iterable[Refusal]) -> None:
        """Forget refusals, so that the suggestions are made again."""
        with self._editing() as connection:
            refusals.remove(connection, restored)

    def refused_suggestions(self) -> tuple[Refusal, ...]:
        """Read the refused suggestions, the newest first."""
        with self._reading() as connection:
            return refusals.read(connection)

    def add_comment(self, subject: Subject, text: str, stamp: Stamp) -> int:
        """Write a comment down, and return its id."""
        with self._editing() as connection:
            return comments.add(connection, subject, text, stamp)

    def remove_comment(self, comment_id: int) -> bool:
        """Remove a comment; whether there was one."""
        with self._editing() as connection:
            return comments.remove(connection, comment_id)

    def comments(self) -> tuple[Comment, ...]:
        """Read the comments, the oldest first."""
        with self._reading() as connection:
            return comments.read(connection)

    def assign(self, keys: Iterable[AssignmentKey], assignee: str, stamp: Stamp) -> None:
        """Say who is to decide on some review items; an empty name takes that away."""
        with self._editing() as connection:
            assignments.assign(connection, keys, assignee, stamp)

    def assignments(self) -> tuple[Assignment, ...]:
        """Read who is to decide on what, the newest first."""
        with self._reading() as connection:
            return assignments.read(connection)

    def publish(self, state: int, name: str, stamp: Stamp) -> None:
        """Make a state the one that production and exports use, and name it unless the name is empty."""
        with self._editing() as connection:
            states.publish(connection, state, stamp)
            if name:
                states.name(connection, state, name, stamp)

    def named_states(self) -> list[NamedState]:
        """Read the named and the published states, newest first."""
        with self._reading() as connection:
            return states.named(connection)

    def live_state(self) -> int | None:
        """Read which state was published last."""
        with self._reading() as connection:
            return states.live(connection)

    def publication(self) -> int:
        """Read the number of the newest publication, which grows with each of whatever state; 0 for none."""
        with self._reading() as connection:
            return states.publication(connection)

    def add_export(self, state: int, when_ms: int) -> None:
        """Remember that a state was exported; needs no lease."""
        with self._appending() as connection:
            states.add_export(connection, state, when_ms)

    def exported_states(self) -> frozenset[int]:
        """Read which states were exported."""
        with self._reading() as connection:
            return states.exported(connection)

    def runs_by_state(self) -> dict[int, tuple[str, ...]]:
        """Read the ids of the runs of every state that has some, newest first."""
        with self._reading() as connection:
            return runs.by_state(connection)

    def begin_import(self, side: Side, door: str, declarations: Sequence[VersionDeclaration], stamp: Stamp) -> int:
        """Write down what a bulk import is about to add, and return its id."""
        with self._editing() as connection:
            return pending.begin(connection, side, door, declarations, stamp)

    def note_import_group(self, import_id: int, group: int) -> None:
        """Write down the undo group of a bulk import."""
        with self._editing() as connection:
            pending.note_group(connection, import_id, group)

    def end_import(self, import_id: int) -> None:
        """Forget a bulk import that ended, or that nobody wants to go on."""
        with self._editing() as connection:
            pending.end(connection, import_id)

    def pending_imports(self) -> tuple[PendingImport, ...]:
        """Read the bulk imports that have not ended, the oldest first."""
        with self._reading() as connection:
            return pending.read(connection)

    def pending_versions(self, import_id: int) -> tuple[VersionDeclaration, ...]:
        """Read the versions of a bulk import in their order, those that were added included."""
        with self._reading() as connection:
            return tuple(pending.versions(connection, import_id))

    def version_tasks(self) -> tuple[VersionTask, ...]:
        """Read the version tasks, dismissed ones included, the oldest first."""
        with self._reading() as connection:
            return version_tasks.read(connection)

    def collect_version_tasks(self, seen: Sequence[VersionTask], stamp: Stamp) -> None:
        """Put versions that a run has seen to the tasks; needs no lease."""
        with self._appending() as connection:
            changes = collect(version_tasks.read(connection), seen)
            version_tasks.change(connection, changes, stamp.when_ms)

    def dismiss_version_task(self, task_id: int, stamp: Stamp) -> bool:
        """Take a version task off the list; whether it was on it."""
        with self._editing() as connection:
            return version_tasks.dismiss(connection, task_id, stamp.who)

    def keep_wire_schemas(self, found: Sequence[WireSchema], stamp: Stamp) -> None:
        """Keep the writer schemas that an import found, with their registry ids."""
        with self._editing() as connection:
            wire_schemas.keep(connection, found, stamp.when_ms)

    def wire_schemas(self, id_: str | None = None) -> tuple[WireSchema, ...]:
        """Read the writer schemas of one registry id, or all of them; those that came last first."""
        with self._reading() as connection:
            return wire_schemas.read(connection, id_)

    def project_settings(self) -> dict[str, str]:
        """Read the settings of the project that are not at their defaults, by name."""
        with self._reading() as connection:
            return project_settings.read(connection)

    def put_project_settings(self, values: Mapping[str, str]) -> None:
        """Keep settings of the project; an empty value puts the default back."""
        with self._editing() as connection:
            for name, value in values.items():
                project_settings.put(connection, name, value)

    def put_profiles(self, profiles: Iterable[SchemaProfile]) -> None:
        """Keep what the values of schemas look like; needs no lease."""
        with self._appending() as connection:
            for profile in profiles:
                samples.put_profile(connection, profile)

    def profile(self, schema_id: int) -> SchemaProfile | None:
        """Read what the values of a schema look like."""
        with self._reading() as connection:
            return samples.profile(connection, schema_id)

    def include_samples(self, schema_id: int, text: bytes, stamp: Stamp) -> None:
        """Keep samples of a schema in the project: JSON lines with masked values hidden."""
        with self._editing() as connection:
            samples.include(connection, schema_id, text, stamp)

    def exclude_samples(self, schema_id: int) -> bool:
        """Take the samples of a schema out of the project; whether there were any."""
        with self._editing() as connection:
            return samples.exclude(connection, schema_id)

    def included_samples(self) -> frozenset[int]:
        """Read of which schemas the project holds samples."""
        with self._reading() as connection:
            return samples.included(connection)

    def included_text(self, schema_id: int) -> bytes:
        """Read the samples of a schema that the project holds."""
        with self._reading() as connection:
            return samples.included_text(connection, schema_id)
