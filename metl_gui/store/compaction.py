"""Compaction of the log: entries between the states that are kept become one entry each.

Kept are the states that were named, published, exported or run; the newest thousand edits, and any younger than 90
days, with the whole undo group of each, and what a kept undo took back. A thousand edits are some weeks of work by
hand, so that nobody misses an undo; the days are a quarter, for which people ask who changed what, and keep a bulk
import of thousands of versions from pushing out the edits before it. What was merged can neither be looked at nor
taken back, and says so. Every kept state is exactly what it was. Source: dmm.md §9.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from metl_gui.store.change_packs import pack_change, unpack_changes
from metl_gui.store.log import merged

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


@dataclass(frozen=True, slots=True)
class Keeping:
    """What compaction leaves as it is, beside the states with a name or a use.

    Args:
        edits: the newest so many.
        days: those younger than this.
        at_once: how many entries are merged at most in one go, for its time.
    """

    edits: int = 1_000
    days: float = 90
    at_once: int = 2_000


KEEPING = Keeping()


def compact(connection: sqlite3.Connection, now_ms: int, keeping: Keeping) -> int:
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


def is_worth_it(connection: sqlite3.Connection, now_ms: int, keeping: Keeping) -> bool:
    """Whether there is enough to merge; cheap."""
    newest = connection.execute("SELECT max(state) FROM edits").fetchone()[0] or 0
    if newest < keeping.edits + WORTH:
        return False
    end = _old_enough(connection, now_ms, keeping)
    row = connection.execute("SELECT 1 FROM edits WHERE state < ? AND NOT is_cut LIMIT 1 OFFSET ?", (end, WORTH - 1))
    return row.fetchone() is not None


def _old_enough(connection: sqlite3.Connection, now_ms: int, keeping: Keeping) -> int:
    """Return the first state that is young enough to be kept for itself."""
    newest = connection.execute("SELECT max(state) FROM edits").fetchone()[0] or 0
    among_newest = max(1, newest - keeping.edits + 1)
    since = now_ms - int(keeping.days * _DAY_MS)

    def when_ms(state: int) -> int:
        row = connection.execute("SELECT when_ms FROM edits WHERE state >= ? ORDER BY state LIMIT 1", (state,))
        return int(row.fetchone()[0])

    return 1 + bisect_left(range(1, among_newest), since, key=when_ms)


def _first_kept(connection: sqlite3.Connection, now_ms: int, keeping: Keeping) -> int:
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
