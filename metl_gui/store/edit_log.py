"""The edit log: every committed change, the cursor that undo and redo move along it, and its compaction.

An undo is a new state that names the undo group it takes back; a redo takes back an undo. So nothing is ever removed,
and what can be undone or redone follows from the log alone, after a restart too.

Compaction makes one entry of all entries between two states that are kept. Kept are the states that were named,
published, exported or run; the newest thousand edits, and any younger than 90 days, with the whole undo group of each,
and what a kept undo took back. A thousand edits are some weeks of work by hand, so that nobody misses an undo; the days
are a quarter, for which people ask who changed what, and keep a bulk import of thousands of versions from pushing out
the edits before it. What was merged can neither be looked at nor taken back, and says so. Every kept state is exactly
what it was.

Source: docs/reference/project-file.md, "States"; docs/guide/change.md, "History".
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from metl_gui.core.changes.draft import BlockChange, ChangeSet, ModelChange, SchemaChange, Transition, VersionChange
from metl_gui.core.edits.titles import group_title
from metl_gui.errors import BugError
from metl_gui.store.rows.packed_changes import LogFilter, opener, pack_change, read_change, unpack_changes
from metl_gui.values import Value

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


class LoggedEdit(Value):
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


class LoggedGroup(Value):
    """The edits of one gesture or command, to be taken back together.

    Args:
        group: names it (its first state).
        states: how many states it made.
        title: of the original edit, however often that was undone and redone since; of an import in a window what it
            brought.
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
    return _group(connection, row) if row else None


def taken_back_by(connection: sqlite3.Connection, group: int) -> LoggedGroup | None:
    """Return the newest undo group that took another one back."""
    row = connection.execute("SELECT max(state) FROM edits WHERE undoes = ?", (group,)).fetchone()
    return None if row[0] is None else group_of(connection, row[0])


def gestures_since(connection: sqlite3.Connection, state: int) -> int:
    """Count the undo groups that were made since a state; one and its undo are none."""
    rows = connection.execute(  # by no index of groups, which would be read from its beginning
        "SELECT undo_group, max(undoes) FROM edits WHERE state > ? GROUP BY +undo_group ORDER BY +undo_group DESC",
        (state,),
    )
    gone: set[int] = set()
    count = 0
    for group, undoes in rows:
        if group in gone:
            continue
        if undoes is not None and undoes > state:
            gone.add(undoes)
        else:
            count += 1
    return count


def change_of_group(connection: sqlite3.Connection, group: int) -> ChangeSet:
    """Read what a group changed, all its edits as one change."""
    rows = connection.execute("SELECT change FROM edits WHERE undo_group = ? ORDER BY state", (group,))
    return merged(unpack_changes(pack for (pack,) in rows))


def change_between(connection: sqlite3.Connection, state: int, later: int) -> ChangeSet:
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


def touching(connection: sqlite3.Connection, wanted: LogFilter) -> Iterator[tuple[LoggedEdit, ChangeSet]]:
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


P = TypeVar("P", SchemaChange, VersionChange, BlockChange, ModelChange)


def merged(changes: Iterable[ChangeSet]) -> ChangeSet:
    """Make one change of several that followed one another: first before, last after."""
    found = list(changes)
    return ChangeSet(
        _merged_parts(((c.side, c.id), c) for change in found for c in change.schemas),
        _merged_parts(((c.side, c.id), c) for change in found for c in change.versions),
        _merged_parts((c.key, c) for change in found for c in change.blocks),
        _merged_parts((c.name, c) for change in found for c in change.models),
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
    return _group(connection, row) if row else None


def _logged(row: tuple[Any, ...]) -> LoggedEdit:
    state, title, who, when_ms, door, group, undoes, name, is_published, states, is_cut = row
    return LoggedEdit(state, title, who, when_ms, door, group, undoes, name, bool(is_published), states, bool(is_cut))


def _group(connection: sqlite3.Connection, row: tuple[Any, ...]) -> LoggedGroup:
    group, states, title, original_states, who, when_ms, door, depth, is_cut, is_taken_back = row
    if original_states > 1 and door == WINDOW:
        title = group_title(title, _titles_of_original(connection, group))
    elif original_states > 1:  # what commands say of their edits is relied on
        title = f"{title} and {original_states - 1} more"
    return LoggedGroup(group, states, title, who, when_ms, door, depth % 2 == 1, bool(is_cut), bool(is_taken_back))


def _titles_of_original(connection: sqlite3.Connection, group: int) -> Iterator[str]:
    """Yield the titles of the group that undos and redos began with."""
    rows = connection.execute(
        "SELECT title FROM edits WHERE undo_group = (SELECT original FROM edits WHERE undo_group = ? LIMIT 1)"
        " ORDER BY state",
        (group,),
    )
    return (title for (title,) in rows)


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


_DAY_MS = 86_400_000
WORTH = 1_000
"""How many entries there must be to merge before it is done unasked."""

_NEEDED = """
WITH RECURSIVE needed (undo_group) AS (
    SELECT undoes FROM edits WHERE state >= ? AND undoes IS NOT NULL
    UNION SELECT undo_group FROM pending_imports WHERE undo_group IS NOT NULL
    UNION SELECT edits.undoes FROM needed JOIN edits USING (undo_group) WHERE edits.undoes IS NOT NULL
)
SELECT undo_group FROM needed
"""
_WEIGHTY = """
SELECT state FROM states UNION SELECT state FROM publications UNION SELECT state FROM exported_states
UNION SELECT state FROM runs WHERE state IS NOT NULL
"""


class RetentionPolicy(Value):
    """What compaction leaves as it is, beside the states with a name or a use.

    Args:
        edits: the newest so many.
        days: those younger than this.
        at_once: how many entries are merged at most in one go, for its time.
    """

    edits: int = 1_000
    days: float = 90
    at_once: int = 2_000


KEEPING = RetentionPolicy()


def compact(connection: sqlite3.Connection, now_ms: int, keeping: RetentionPolicy) -> int:
    """Merge what need not be kept, the oldest first; inside a transaction.

    Returns:
        How many entries of the log are gone.
    """
    end = _first_kept(connection, now_ms, keeping)
    needed = {group for (group,) in connection.execute(_NEEDED, (end,)) if group is not None}
    segments = list(_segments(connection, end, _kept(connection, needed) | {end - 1}, keeping.at_once))
    if segments:
        _cut(connection, segments[-1][-1], needed)
    for segment in segments:
        _merge(connection, segment)
    return sum(len(segment) - 1 for segment in segments)


def is_worth_it(connection: sqlite3.Connection, now_ms: int, keeping: RetentionPolicy) -> bool:
    """Whether there is enough to merge; cheap."""
    newest = connection.execute("SELECT max(state) FROM edits").fetchone()[0] or 0
    if newest < keeping.edits + WORTH:
        return False
    end = _old_enough(connection, now_ms, keeping)
    row = connection.execute("SELECT 1 FROM edits WHERE state < ? AND NOT is_cut LIMIT 1 OFFSET ?", (end, WORTH - 1))
    return row.fetchone() is not None


def _old_enough(connection: sqlite3.Connection, now_ms: int, keeping: RetentionPolicy) -> int:
    """Return the first state that is young enough to be kept for itself."""
    newest = connection.execute("SELECT max(state) FROM edits").fetchone()[0] or 0
    among_newest = max(1, newest - keeping.edits + 1)
    since = now_ms - int(keeping.days * _DAY_MS)

    def when_ms(state: int) -> int:
        row = connection.execute("SELECT when_ms FROM edits WHERE state >= ? ORDER BY state LIMIT 1", (state,))
        return int(row.fetchone()[0])

    return 1 + bisect_left(range(1, among_newest), since, key=when_ms)


def _first_kept(connection: sqlite3.Connection, now_ms: int, keeping: RetentionPolicy) -> int:
    """Return the first state that is kept for itself or because its undo group reaches that far."""
    end = _old_enough(connection, now_ms, keeping)
    while True:
        first = connection.execute("SELECT min(undo_group) FROM edits WHERE state >= ?", (end,)).fetchone()[0]
        if first is None or first >= end:
            return end
        end = int(first)


def _kept(connection: sqlite3.Connection, needed: set[int]) -> set[int]:
    """Return the states that an entry must end with."""
    kept = {state for (state,) in connection.execute(_WEIGHTY)}
    for group in needed:
        for (state,) in connection.execute("SELECT state FROM edits WHERE undo_group = ?", (group,)):
            kept |= {state - 1, state}
    return kept


def _segments(connection: sqlite3.Connection, end: int, kept: set[int], at_once: int) -> Iterator[list[int]]:
    """Yield the states of the entries that become one, the last of them being the one that stays."""
    room = at_once
    segment: list[int] = []
    for (state,) in connection.execute("SELECT state FROM edits WHERE state < ? ORDER BY state", (end,)).fetchall():
        segment.append(state)
        if state in kept or len(segment) >= room:
            if len(segment) > 1:
                room -= len(segment)
                yield segment
            if room <= 1:
                return
            segment = []


def _cut(connection: sqlite3.Connection, last: int, needed: set[int]) -> None:
    """Mark the undo groups up to a state as what cannot be taken back any more."""
    rows = connection.execute("SELECT DISTINCT undo_group FROM edits WHERE state <= ? AND NOT is_cut", (last,))
    groups = [(group,) for (group,) in rows if group not in needed]
    connection.executemany("UPDATE edits SET is_cut = 1 WHERE undo_group = ?", groups)


def _merge(connection: sqlite3.Connection, segment: list[int]) -> None:
    """Make one entry of several that follow one another."""
    first, last = segment[0], segment[-1]
    rows = connection.execute(
        "SELECT states, change FROM edits WHERE state >= ? AND state <= ? ORDER BY state", (first, last)
    ).fetchall()
    change = merged(unpack_changes(pack for _, pack in rows))
    connection.execute("DELETE FROM edits WHERE state >= ? AND state < ?", (first, last))
    connection.execute(
        "UPDATE edits SET states = ?, change = ? WHERE state = ?",
        (sum(states for states, _ in rows), pack_change(change), last),
    )
