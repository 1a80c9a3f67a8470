"""What a project file keeps, table by table, and what a merge makes of it; what lies beside the states as values.

A table or column that no rule names is a mistake: what it holds would be lost in a merge without a word.
Source: contract.md §1 (``merge``), dmm.md §9.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from metl_gui.core.changes.draft import Stamp
from metl_gui.core.project.assignments import Assignment
from metl_gui.core.project.comments import Comment
from metl_gui.core.project.project_data import BesideChange, IncludedSamples, Kept, ProjectSetting, StateName
from metl_gui.core.project.refusals import Refusal, RefusedRename
from metl_gui.core.project.sample_profiles import SchemaProfile
from metl_gui.core.project.version_tasks import CollectedTasks, VersionTask
from metl_gui.core.project.writer_schemas import WireSchema
from metl_gui.store import (
    assignments,
    comments,
    project_settings,
    refusals,
    samples,
    states,
    version_tasks,
    wire_schemas,
)


@dataclass(frozen=True, slots=True)
class MergeRule:
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
    # The document: core.merge.merge
    "schemas": MergeRule("side name aliases settings succeeds", "id", _OF_A_FILE),
    "versions": MergeRule(
        "side schema_id place labels fingerprint key attributes",
        "id inferred source",
        "Where a version that both sides have was read from stays as ours tells it; its content is the same.",
    ),
    "dusb": MergeRule("schema_id entity_version version elements"),
    "blocks": MergeRule("schema_id entity_version records"),
    "block_details": MergeRule("version entity_version losses waits retired postponed comment"),
    "texts": MergeRule("text", "id", _OF_A_FILE),
    "types": MergeRule("type logical scale", "id", _OF_A_FILE),
    "people": MergeRule("name", "id", _OF_A_FILE),
    # What lies beside the states: core.merge.merged_beside
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


def read(connection: sqlite3.Connection) -> tuple[Kept, ...]:
    """Read everything that lies beside the states and is merged."""
    return tuple(_read(connection))


def untaken(connection: sqlite3.Connection) -> Untaken:
    """Read what is told of when theirs has more of it."""
    found: Untaken = {}
    for table, rule in MERGE_RULES.items():
        if rule.told:
            columns = ", ".join(rule.told.split())
            found[table] = frozenset(connection.execute(f"SELECT {columns} FROM {table}").fetchall())  # noqa: S608
    return found


def _state_names(connection: sqlite3.Connection) -> Iterator[Kept]:
    """Yield the names of states, each with what made its state."""
    rows = connection.execute(
        "SELECT states.state, name, states.who, states.when_ms, edits.who, edits.when_ms, title"
        " FROM states LEFT JOIN edits ON edits.state = states.state ORDER BY states.state"
    )
    for state, name, who, when_ms, *made in rows:
        yield Kept(StateName(state, name, _made(*made)), who, when_ms)


def has_state(connection: sqlite3.Connection, named: StateName) -> bool:
    """Whether a file has the state that has a name in another one, not just another state of its number."""
    row = connection.execute("SELECT who, when_ms, title FROM edits WHERE state = ?", (named.state,)).fetchone()
    return named.made == (_made(*row) if row is not None else _made(None, None, None) if named.state == 0 else None)


def change(connection: sqlite3.Connection, wanted: BesideChange) -> None:
    """Put and remove things; inside a transaction."""
    for kept in wanted.removed:
        _remove(connection, kept)
    for kept in wanted.put:
        _put(connection, kept)


def _made(who: str | None, when_ms: int | None, title: str | None) -> str:
    return "" if when_ms is None else f"{when_ms} {who} {title}"


def _read(connection: sqlite3.Connection) -> Iterator[Kept]:
    for name, value in project_settings.read(connection).items():
        yield Kept(ProjectSetting(name, value))
    yield from _state_names(connection)
    for comment in comments.read(connection):
        yield Kept(comment, comment.who, comment.when_ms)
    for assignment in assignments.read(connection):
        yield Kept(assignment, assignment.who, assignment.when_ms)
    for refusal, stamp in refusals.stamped(connection):
        yield Kept(refusal, stamp.who, stamp.when_ms)
    for refused, stamp in refusals.stamped_renames(connection):
        yield Kept(refused, stamp.who, stamp.when_ms)
    for task in version_tasks.read(connection):
        yield Kept(task, "", task.when_ms)
    for schema_id, who, when_ms in samples.included_by(connection):
        yield Kept(IncludedSamples(schema_id, samples.included_text(connection, schema_id)), who, when_ms)
    for schema_id in samples.profiled(connection):
        profile = samples.profile(connection, schema_id)
        if profile is not None:
            yield Kept(profile, "", profile.when_ms)
    for wire, when_ms in wire_schemas.stamped(connection):
        yield Kept(wire, "", when_ms)


def _put(connection: sqlite3.Connection, kept: Kept) -> None:
    stamp = Stamp(kept.who, kept.when_ms)
    match kept.thing:
        case ProjectSetting(name, value):
            project_settings.put(connection, name, value)
        case StateName(state, name):
            states.name(connection, state, name, stamp)
        case Comment() as comment:
            comments.add(connection, comment.subject, comment.text, stamp)
        case Assignment() as assignment:
            assignments.assign(connection, [assignment.key], assignment.assignee, stamp)
        case Refusal() as refusal:
            refusals.add(connection, [refusal], stamp)
        case RefusedRename() as refused:
            refusals.add_renames(connection, [refused], stamp)
        case VersionTask() as task:
            version_tasks.change(connection, CollectedTasks((task,)), kept.when_ms)
        case IncludedSamples(schema_id, text):
            samples.include(connection, schema_id, text, stamp)
        case SchemaProfile() as profile:
            samples.put_profile(connection, profile)
        case WireSchema() as wire:
            wire_schemas.keep(connection, [wire], kept.when_ms)


def _remove(connection: sqlite3.Connection, kept: Kept) -> None:
    match kept.thing:
        case ProjectSetting(name):
            project_settings.put(connection, name, "")
        case StateName(state):
            states.forget_name(connection, state)
        case Comment(id_):
            comments.remove(connection, id_)
        case Assignment(key):
            assignments.assign(connection, [key], "", Stamp())
        case Refusal() as refusal:
            refusals.remove(connection, [refusal])
        case RefusedRename() as refused:
            refusals.remove_renames(connection, [refused])
        case VersionTask(id_):
            version_tasks.change(connection, CollectedTasks((), (id_,)), 0)
        case IncludedSamples(schema_id):
            samples.exclude(connection, schema_id)
        case SchemaProfile(schema_id):
            samples.forget_profile(connection, schema_id)
        case WireSchema() as wire:
            wire_schemas.forget(connection, wire)
