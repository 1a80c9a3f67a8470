"""What a project file keeps, table by table, and what a merge makes of it; what lies beside the states as values.

A table or column that no rule names is a mistake: what it holds would be lost in a merge without a word.
Source: docs/guide/teams.md, "Compare and merge"; docs/reference/project-file.md, "States".
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import TypeAlias

from metl_gui.core.changes.draft import EditContext
from metl_gui.core.project.assignments import Assignment
from metl_gui.core.project.comments import Comment
from metl_gui.core.project.project_data import (
    IncludedSamples,
    ProjectDataChange,
    ProjectItem,
    ProjectSetting,
    StateName,
)
from metl_gui.core.project.refusals import RefusedRename, RefusedSuggestion
from metl_gui.core.project.sample_profiles import SchemaProfile
from metl_gui.core.project.version_tasks import CollectedTasks, VersionTask
from metl_gui.core.project.writer_schemas import WriterSchema
from metl_gui.store.repositories.imports import PendingImportRepository, VersionTaskRepository, WriterSchemaRepository
from metl_gui.store.repositories.review import (
    AssignmentRepository,
    CommentRepository,
    RefusedRenameRepository,
    RefusedSuggestionRepository,
)
from metl_gui.store.repositories.runs import RunRepository
from metl_gui.store.repositories.samples import SampleRepository
from metl_gui.store.repositories.sessions import Sessions
from metl_gui.store.repositories.states import SettingRepository, StateRepository
from metl_gui.values import Value


class MergeRule(Value):
    """What a merge makes of a table.

    Args:
        merged: the columns that are merged three-way, with what goes along with them.
        ours: the columns that stay as ours has them.
        why: for these, the reason.
        told: columns that tell one row from others, where it is told that theirs has more of them.
    """

    merged: str = ""
    ours: str = ""
    why: str = ""
    told: str = ""

    @property
    def columns(self) -> frozenset[str]:
        """Every column that the rule knows."""
        return frozenset((*self.merged.split(), *self.ours.split()))


_OF_A_FILE = "It is a number of this file alone."
_SUBJECT = (
    "source_schema source_version source_attribute source_lineage"
    " target_schema target_version target_attribute target_lineage"
)

MERGE_RULES = {
    # The document: core.merge.merged_document
    "schemas": MergeRule("side name aliases settings succeeds ignored", "id", _OF_A_FILE),
    "versions": MergeRule(
        "side schema_id place labels fingerprint key attributes",
        "id inferred source",
        "Where a version that both sides have was read from stays as ours tells it; its content is the same.",
    ),
    "dusb": MergeRule("schema_id entity_version version elements"),
    "blocks": MergeRule("schema_id entity_version records"),
    "block_details": MergeRule("version entity_version losses waits retired postponed comment"),
    "warehouse_models": MergeRule("name model"),
    "texts": MergeRule("text", "id", _OF_A_FILE),
    "types": MergeRule("type logical scale", "id", _OF_A_FILE),
    "people": MergeRule("name", "id", _OF_A_FILE),
    # What lies beside the states: core.merge.merged_project_data
    "project_settings": MergeRule("name value"),
    "comments": MergeRule(f"{_SUBJECT} text who when_ms", "id", _OF_A_FILE),
    "assignments": MergeRule("schema_id entity_id version assignee who when_ms"),
    "refused_suggestions": MergeRule("schema_id p_lineage entity_id q_lineage from_path to_path who when_ms"),
    "refused_renames": MergeRule("side schema_id lost candidate lost_lineage candidate_lineage who when_ms"),
    "states": MergeRule("state name who when_ms"),
    "version_tasks": MergeRule("schema seen declaration samples waits when_ms dismissed_by", "id", _OF_A_FILE),
    "profiles": MergeRule("schema_id rows when_ms attributes"),
    "included_samples": MergeRule("schema_id samples who when_ms"),
    "wire_schemas": MergeRule("id schema kind fingerprint text when_ms"),
    # What stays with its file
    "project": MergeRule(
        ours="id created_ms state", why="The result is ours gone on: the same project, with one state more."
    ),
    "next_ids": MergeRule(
        ours="side schema version attribute lineage", why="What comes gets the next numbers that ours has free."
    ),
    "edits": MergeRule(
        ours="state title who when_ms door undo_group undoes depth original states is_cut change",
        why="The history of ours goes on with the merge as one edit; that of theirs stays in its file.",
    ),
    "publications": MergeRule(
        ours="id state who when_ms",
        why="A merge does not change what production uses; publish the result for that.",
        told="state who when_ms",
    ),
    "exported_states": MergeRule(ours="state when_ms", why="The states of theirs have other numbers in ours."),
    "runs": MergeRule(
        ours="id state when_ms report events spec",
        why="A run belongs to the state of the file that it mapped with.",
        told="id",
    ),
    "pending_imports": MergeRule(
        ours="id side door undo_group total who when_ms",
        why="An import that was interrupted goes on in the file in which it began: metl resume.",
        told="side who when_ms",
    ),
    "pending_versions": MergeRule(
        ours="import_id place declarations", why="They go on with the import that they belong to."
    ),
    "lease": MergeRule(
        ours="only token who host machine process_id process_start since_ms heartbeat_ms",
        why="Who edits a file now says nothing of another file.",
    ),
}
"""By table: what a merge makes of it."""

VIEWS = frozenset({"undo_steps"})
"""They hold nothing of their own."""

Untaken: TypeAlias = dict[str, frozenset[tuple[object, ...]]]
"""Rows of tables that are not merged, by table, each by what tells it from others."""


class ProjectDataRepository(Value):
    """Everything that a project keeps beside its states, as values that are compared and merged."""

    sessions: Sessions

    def read(self) -> tuple[ProjectItem, ...]:
        """Read all of it, as it is at one moment."""
        with self.sessions.reading() as connection:
            return tuple(_read(Repositories.within(connection), connection))

    def untaken(self) -> Untaken:
        """Read what stays with this file in a merge, and is told of when theirs has more of it."""
        found: Untaken = {}
        with self.sessions.reading() as connection:
            for table, rule in MERGE_RULES.items():
                if rule.told:
                    columns = ", ".join(rule.told.split())
                    found[table] = frozenset(connection.execute(f"SELECT {columns} FROM {table}").fetchall())  # noqa: S608
        return found

    def has_state(self, named: StateName) -> bool:
        """Whether this file has the state that is named so in another one, not just another state of its number."""
        with self.sessions.reading() as connection:
            row = connection.execute("SELECT who, when_ms, title FROM edits WHERE state = ?", (named.state,)).fetchone()
        return named.made == (_made(*row) if row is not None else _made(None, None, None) if named.state == 0 else None)

    def change(self, wanted: ProjectDataChange) -> None:
        """Put and remove things, all of them or none."""
        with self.sessions.editing() as connection:
            repositories = Repositories.within(connection)
            for kept in wanted.removed:
                _remove(repositories, kept)
            for kept in wanted.put:
                _put(repositories, kept)


class Repositories(Value):
    """One repository for each thing that a project keeps beside its states; none of it is undone.

    Args:
        sessions: how they reach the file.
    """

    sessions: Sessions

    @classmethod
    def within(cls, connection: sqlite3.Connection) -> Repositories:
        """Take part in a transaction that is open already."""
        return cls(Sessions.within(connection))

    @property
    def comments(self) -> CommentRepository:
        """Comments of people."""
        return CommentRepository(self.sessions)

    @property
    def assignments(self) -> AssignmentRepository:
        """Who is to decide on what."""
        return AssignmentRepository(self.sessions)

    @property
    def refused_suggestions(self) -> RefusedSuggestionRepository:
        """Suggestions that were refused."""
        return RefusedSuggestionRepository(self.sessions)

    @property
    def refused_renames(self) -> RefusedRenameRepository:
        """Rename proposals that were refused."""
        return RefusedRenameRepository(self.sessions)

    @property
    def pending_imports(self) -> PendingImportRepository:
        """Bulk imports that have not ended."""
        return PendingImportRepository(self.sessions)

    @property
    def version_tasks(self) -> VersionTaskRepository:
        """Versions that wait to be imported."""
        return VersionTaskRepository(self.sessions)

    @property
    def writer_schemas(self) -> WriterSchemaRepository:
        """Writer schemas by registry id."""
        return WriterSchemaRepository(self.sessions)

    @property
    def states(self) -> StateRepository:
        """Names, publications and exports of states."""
        return StateRepository(self.sessions)

    @property
    def settings(self) -> SettingRepository:
        """Settings of the project."""
        return SettingRepository(self.sessions)

    @property
    def runs(self) -> RunRepository:
        """Mapping runs."""
        return RunRepository(self.sessions)

    @property
    def samples(self) -> SampleRepository:
        """Profiles and samples."""
        return SampleRepository(self.sessions)

    @property
    def data(self) -> ProjectDataRepository:
        """All of it as values, for comparing and merging."""
        return ProjectDataRepository(self.sessions)


def _state_names(connection: sqlite3.Connection) -> Iterator[ProjectItem]:
    """Yield the names of states, each with what made its state."""
    rows = connection.execute(
        "SELECT states.state, name, states.who, states.when_ms, edits.who, edits.when_ms, title"
        " FROM states LEFT JOIN edits ON edits.state = states.state ORDER BY states.state"
    )
    for state, name, who, when_ms, *made in rows:
        yield ProjectItem(StateName(state, name, _made(*made)), who, when_ms)


def _made(who: str | None, when_ms: int | None, title: str | None) -> str:
    return "" if when_ms is None else f"{when_ms} {who} {title}"


def _read(of: Repositories, connection: sqlite3.Connection) -> Iterator[ProjectItem]:
    for name, value in of.settings.all().items():
        yield ProjectItem(ProjectSetting(name, value))
    yield from _state_names(connection)
    for comment in of.comments.all():
        yield ProjectItem(comment, comment.who, comment.when_ms)
    for assignment in of.assignments.all():
        yield ProjectItem(assignment, assignment.who, assignment.when_ms)
    for refusal, stamp in of.refused_suggestions.stamped():
        yield ProjectItem(refusal, stamp.who, stamp.when_ms)
    for refused, stamp in of.refused_renames.stamped():
        yield ProjectItem(refused, stamp.who, stamp.when_ms)
    for task in of.version_tasks.all():
        yield ProjectItem(task, "", task.when_ms)
    for schema_id, who, when_ms in of.samples.included_by():
        yield ProjectItem(IncludedSamples(schema_id, of.samples.included_text(schema_id)), who, when_ms)
    for profile in of.samples.profiles():
        yield ProjectItem(profile, "", profile.when_ms)
    for wire, when_ms in of.writer_schemas.stamped():
        yield ProjectItem(wire, "", when_ms)


def _put(into: Repositories, kept: ProjectItem) -> None:
    stamp = EditContext(kept.who, kept.when_ms)
    match kept.thing:
        case ProjectSetting(name, value):
            into.settings.put({name: value})
        case StateName(state, name):
            into.states.name(state, name, stamp)
        case Comment() as comment:
            into.comments.add(comment.subject, comment.text, stamp)
        case Assignment() as assignment:
            into.assignments.assign([assignment.key], assignment.assignee, stamp)
        case RefusedSuggestion() as refusal:
            into.refused_suggestions.add([refusal], stamp)
        case RefusedRename() as refused:
            into.refused_renames.add([refused], stamp)
        case VersionTask() as task:
            into.version_tasks.change(CollectedTasks((task,)), kept.when_ms)
        case IncludedSamples(schema_id, text):
            into.samples.include(schema_id, text, stamp)
        case SchemaProfile() as profile:
            into.samples.put_profiles([profile])
        case WriterSchema() as wire:
            into.writer_schemas.keep([wire], stamp)


def _remove(out_of: Repositories, kept: ProjectItem) -> None:
    match kept.thing:
        case ProjectSetting(name):
            out_of.settings.put({name: ""})
        case StateName(state):
            out_of.states.forget_name(state)
        case Comment(id_):
            out_of.comments.remove(id_)
        case Assignment(key):
            out_of.assignments.assign([key], "", EditContext())
        case RefusedSuggestion() as refusal:
            out_of.refused_suggestions.remove([refusal])
        case RefusedRename() as refused:
            out_of.refused_renames.remove([refused])
        case VersionTask(id_):
            out_of.version_tasks.change(CollectedTasks((), (id_,)), 0)
        case IncludedSamples(schema_id):
            out_of.samples.exclude(schema_id)
        case SchemaProfile(schema_id):
            out_of.samples.forget_profile(schema_id)
        case WriterSchema() as wire:
            out_of.writer_schemas.forget(wire)
