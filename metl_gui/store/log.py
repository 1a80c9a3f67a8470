"""The edit log: every committed change, and the cursor that undo and redo move along it.

An undo is a new state that names the undo group it takes back; a redo takes back an undo. So nothing is ever removed,
and what can be undone or redone follows from the log alone, after a restart too.
Source: dmm.md §9.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import msgspec

from metl_gui.core.changes.draft import BlockChange, Change, SchemaChange, Transition, VersionChange
from metl_gui.errors import BugError
from metl_gui.store.change_packs import Touched, opener, pack_change, read_change, unpack_changes

WINDOW = "window"
COMMAND = "command"
DOORS = (WINDOW, COMMAND)

_STEPS = (
    "SELECT undo_group, states, title, original_states, who, when_ms, door, depth, is_cut, is_taken_back"
    " FROM undo_steps"
)
_CANDIDATES = (
    " WHERE depth % 2 = ? AND state > ? AND NOT is_cut AND NOT is_taken_back"
    " AND door IN (SELECT value FROM json_each(?)) ORDER BY state DESC LIMIT 1"
)
_EDITS = (
    "SELECT edits.state, title, edits.who, edits.when_ms, door, undo_group, undoes, coalesce(name, ''),"
    " EXISTS (SELECT 1 FROM publications WHERE publications.state = edits.state), edits.states, is_cut"
)


@dataclass(frozen=True, slots=True)
class LoggedEdit:
    """One state of the history.

    Args:
        state, title, who, when_ms: the edit that made the state.
        door: ``window`` or ``command``.
        group: its undo group, named by the group's first state.
        undoes: the undo group that it takes back.
        name: the name a person gave the state, empty when none.
        is_published: whether production may use the state.
        states: how many states it stands for, more than 1 where earlier ones were merged into it.
        is_cut: its undo group cannot be taken back any more, because the log was compacted.
    """

    state: int
    title: str
    who: str
    when_ms: int
    door: str
    group: int
    undoes: int | None = None
    name: str = ""
    is_published: bool = False
    states: int = 1
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class LoggedGroup:
    """The edits of one gesture or command, to be taken back together.

    Args:
        group: names it (its first state).
        states: how many states it made.
        title: of the original edit, however often that was undone and redone since.
        who, when_ms, door: of its newest state.
        is_undo: taking it back is a redo.
        is_cut: it cannot be taken back, because the log was compacted.
        is_taken_back: a later group took it back.
    """

    group: int
    states: int
    title: str
    who: str
    when_ms: int
    door: str
    is_undo: bool
    is_cut: bool = False
    is_taken_back: bool = False


def append(
    connection: sqlite3.Connection, transition: Transition, door: str, group: int | None, undoes: int | None
) -> int:
    """Write one edit into the log; inside its transaction.

    Returns:
        The undo group it belongs to.
    """
    state = transition.after.state
    group = state if group is None else group
    depth, original = _origin(connection, undoes, group)
    stamp = transition.stamp
    row = state, transition.title, stamp.who, stamp.when_ms, door, group, undoes, depth, original
    connection.execute(
        "INSERT INTO edits (state, title, who, when_ms, door, undo_group, undoes, depth, original, states, is_cut,"
        " change) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0, ?)",
        (*row, pack_change(transition.change)),
    )
    return group


def undo_candidate(connection: sqlite3.Connection, doors: Collection[str]) -> LoggedGroup | None:
    """Find the newest group, made through one of the doors, whose effect is not taken back."""
    return _candidate(connection, doors, 0, 0)


def redo_candidate(connection: sqlite3.Connection, doors: Collection[str]) -> LoggedGroup | None:
    """Find the newest undo that is not taken back and has no new edit after it."""
    newest = connection.execute(
        "SELECT max(state) FROM edits WHERE depth = 0 AND door IN (SELECT value FROM json_each(?))", (_json(doors),)
    ).fetchone()[0]
    return _candidate(connection, doors, 1, newest or 0)


def group_of(connection: sqlite3.Connection, state: int) -> LoggedGroup | None:
    """Return the undo group of a state."""
    row = connection.execute(f"{_STEPS} WHERE state = ?", (state,)).fetchone()
    return _group(row) if row else None


def taken_back_by(connection: sqlite3.Connection, group: int) -> LoggedGroup | None:
    """Return the newest undo group that took another one back."""
    row = connection.execute("SELECT max(state) FROM edits WHERE undoes = ?", (group,)).fetchone()
    return None if row[0] is None else group_of(connection, row[0])


def change_of_group(connection: sqlite3.Connection, group: int) -> Change:
    """Read what a group changed, all its edits as one change."""
    rows = connection.execute("SELECT change FROM edits WHERE undo_group = ? ORDER BY state", (group,))
    return merged(unpack_changes(pack for (pack,) in rows))


def change_between(connection: sqlite3.Connection, state: int, later: int) -> Change:
    """Read everything that was changed after a state up to a later one, as one change; both must be there."""
    rows = connection.execute("SELECT change FROM edits WHERE state > ? AND state <= ? ORDER BY state", (state, later))
    return merged(unpack_changes(pack for (pack,) in rows))


def has_state(connection: sqlite3.Connection, state: int) -> bool:
    """Whether a state can be looked at: it is state 0, or the log still ends an entry with it."""
    return state == 0 or connection.execute("SELECT 1 FROM edits WHERE state = ?", (state,)).fetchone() is not None


def is_compacted(connection: sqlite3.Connection) -> bool:
    """Whether older edits were merged, so that they cannot be taken back; cheap, as they stand first."""
    row = connection.execute("SELECT is_cut FROM edits ORDER BY state LIMIT 1").fetchone()
    return bool(row and row[0])


def nearest(connection: sqlite3.Connection, state: int) -> tuple[int, int]:
    """Return the nearest states below and above one that was merged into another."""
    below, above = connection.execute(
        "SELECT (SELECT max(state) FROM edits WHERE state < ?), (SELECT min(state) FROM edits WHERE state > ?)",
        (state, state),
    ).fetchone()
    return below or 0, above or state


def history(connection: sqlite3.Connection, limit: int | None, below: int | None) -> Iterator[LoggedEdit]:
    """Yield the history, newest first."""
    rows = connection.execute(
        f"{_EDITS} FROM edits LEFT JOIN states USING (state) WHERE edits.state < ? ORDER BY edits.state DESC LIMIT ?",
        (2**62 if below is None else below, -1 if limit is None else limit),
    )
    return (_logged(row) for row in rows)


def touching(connection: sqlite3.Connection, wanted: Touched) -> Iterator[tuple[LoggedEdit, Change]]:
    """Yield the edits that may have touched something, newest first, each with what it changed."""
    rows = connection.execute(f"{_EDITS}, change FROM edits LEFT JOIN states USING (state) ORDER BY edits.state DESC")
    unpacked = opener()
    for *facts, pack in rows:
        text = unpacked(pack)
        if wanted.may_be_in(text):
            yield _logged(tuple(facts)), read_change(text)


def last_writer(connection: sqlite3.Connection) -> str:
    """Name who made the newest state."""
    row = connection.execute("SELECT who FROM edits ORDER BY state DESC LIMIT 1").fetchone()
    return str(row[0]) if row and row[0] else "somebody"


P = TypeVar("P", SchemaChange, VersionChange, BlockChange)


def merged(changes: Iterable[Change]) -> Change:
    """Make one change of several that followed one another: first before, last after."""
    found = list(changes)
    return Change(
        _merged_parts(((c.side, c.id), c) for change in found for c in change.schemas),
        _merged_parts(((c.side, c.id), c) for change in found for c in change.versions),
        _merged_parts((c.key, c) for change in found for c in change.blocks),
    )


def _merged_parts(parts: Iterable[tuple[object, P]]) -> tuple[P, ...]:
    by_key: dict[object, P] = {}
    for key, part in parts:
        first = by_key.get(key)
        by_key[key] = part if first is None else replace(first, after=part.after)
    return tuple(part for part in by_key.values() if part.before != part.after)


def _candidate(connection: sqlite3.Connection, doors: Collection[str], parity: int, above: int) -> LoggedGroup | None:
    row = connection.execute(
        f"{_STEPS}{_CANDIDATES}",
        (parity, above, _json(doors)),
    ).fetchone()
    return _group(row) if row else None


def _logged(row: tuple[Any, ...]) -> LoggedEdit:
    state, title, who, when_ms, door, group, undoes, name, is_published, states, is_cut = row
    return LoggedEdit(state, title, who, when_ms, door, group, undoes, name, bool(is_published), states, bool(is_cut))


def _group(row: tuple[Any, ...]) -> LoggedGroup:
    group, states, title, original_states, who, when_ms, door, depth, is_cut, is_taken_back = row
    title = title if original_states == 1 else f"{title} and {original_states - 1} more"
    return LoggedGroup(group, states, title, who, when_ms, door, depth % 2 == 1, bool(is_cut), bool(is_taken_back))


def _origin(connection: sqlite3.Connection, undoes: int | None, group: int) -> tuple[int, int]:
    """Find how deep an edit stands in undos of undos, and the group that they began with."""
    if undoes is None:
        return 0, group
    row = connection.execute("SELECT depth, original FROM edits WHERE undo_group = ? LIMIT 1", (undoes,)).fetchone()
    if row is None:
        raise BugError(f"there is no undo group {undoes} to take back")
    return row[0] + 1, row[1]


def _json(values: Iterable[str]) -> str:
    return msgspec.json.encode(list(values)).decode()
