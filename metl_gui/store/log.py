"""The edit log: every committed change, and the cursor that undo and redo move along it.

An undo is a new state that names the undo group it takes back; a redo takes back an undo. So nothing is ever removed,
and what can be undone or redone follows from the log alone, after a restart too.
Source: dmm.md §9.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

import msgspec

from metl_gui.core.draft import BlockChange, Change, SchemaChange, Transition, VersionChange
from metl_gui.errors import BugError

WINDOW = "window"
COMMAND = "command"
DOORS = (WINDOW, COMMAND)

_decoder = msgspec.json.Decoder(Change)


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


@dataclass(frozen=True, slots=True)
class LoggedGroup:
    """The edits of one gesture or command, to be taken back together.

    Args:
        group: names it (its first state).
        states: how many states it made.
        title: of the original edit, however often that was undone and redone since.
        who, when_ms, door: of its newest state.
        is_undo: taking it back is a redo.
    """

    group: int
    states: int
    title: str
    who: str
    when_ms: int
    door: str
    is_undo: bool


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
    change = msgspec.json.encode(transition.change).decode()
    stamp = transition.stamp
    row = state, transition.title, stamp.who, stamp.when_ms, door, group, undoes, depth, original, change
    connection.execute(
        "INSERT INTO edits (state, title, who, when_ms, door, undo_group, undoes, depth, original, change)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        row,
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
    row = connection.execute(
        "SELECT undo_group, states, title, original_states, who, when_ms, door, depth FROM undo_steps WHERE state = ?",
        (state,),
    ).fetchone()
    return _group(row) if row else None


def change_of_group(connection: sqlite3.Connection, group: int) -> Change:
    """Read what a group changed, all its edits as one change."""
    rows = connection.execute("SELECT change FROM edits WHERE undo_group = ? ORDER BY state", (group,))
    return merged(_decoder.decode(text) for (text,) in rows)


def change_since(connection: sqlite3.Connection, state: int) -> Change:
    """Read everything that was changed after a state, as one change."""
    rows = connection.execute("SELECT change FROM edits WHERE state > ? ORDER BY state", (state,))
    return merged(_decoder.decode(text) for (text,) in rows)


def history(connection: sqlite3.Connection, limit: int | None, below: int | None) -> Iterator[LoggedEdit]:
    """Yield the history, newest first."""
    rows = connection.execute(
        "SELECT state, title, edits.who, edits.when_ms, door, undo_group, undoes, coalesce(name, ''),"
        " EXISTS (SELECT 1 FROM publications WHERE publications.state = edits.state)"
        " FROM edits LEFT JOIN states USING (state) WHERE state < ? ORDER BY state DESC LIMIT ?",
        (2**62 if below is None else below, -1 if limit is None else limit),
    )
    for state, title, who, when_ms, door, group, undoes, name, is_published in rows:
        yield LoggedEdit(state, title, who, when_ms, door, group, undoes, name, bool(is_published))


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
        "SELECT undo_group, states, title, original_states, who, when_ms, door, depth FROM undo_steps"
        " WHERE depth % 2 = ? AND state > ? AND NOT is_taken_back AND door IN (SELECT value FROM json_each(?))"
        " ORDER BY state DESC LIMIT 1",
        (parity, above, _json(doors)),
    ).fetchone()
    return _group(row) if row else None


def _group(row: tuple[int, int, str, int, str, int, str, int]) -> LoggedGroup:
    group, states, title, original_states, who, when_ms, door, depth = row
    title = title if original_states == 1 else f"{title} and {original_states - 1} more"
    return LoggedGroup(group, states, title, who, when_ms, door, depth % 2 == 1)


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
