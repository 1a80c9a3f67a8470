"""Postings of a fact: each change of it is the negative of the row before and the new row.

Plain Python, by which the statements that databases run are judged.

Source: docs/reference/warehouse-model.md, "Reversals".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import msgspec

from metl_gui.core.dimensional.rows.members import FactState, Key, Ownership, fact_states
from metl_gui.core.dimensional.rows.row_states import Happening, Row, State

FactRow: TypeAlias = tuple[Any, ...]
RowOf: TypeAlias = Callable[[FactState], FactRow | None]
"""The values of a row of the fact, ``None`` for one that is left out."""


class FactMoment(NamedTuple):
    """What a fact was once something had happened.

    Args:
        at: commit of what happened.
        state: of the fact.
    """

    at: datetime
    state: FactState


class Posting(NamedTuple):
    """A row of a fact that is never overwritten.

    Args:
        posted_at: commit of the change.
        number: of the change among those of the fact with one commit, from 1 on.
        is_reversal: it takes the row before back.
        row: the values, as they were then.
    """

    posted_at: datetime
    number: int
    is_reversal: bool
    row: FactRow


def fact_moments(states: Iterable[State], ownership: Ownership) -> dict[Key, tuple[FactMoment, ...]]:
    """Return what each fact was after every message of its source rows, in the order of their commits.

    Cost: the messages of a fact, squared.
    """
    owned: dict[Key, list[State]] = defaultdict(list)
    for state in states:
        owner = ownership.owner(state)
        if owner is not None:
            owned[owner].append(state)
    return {key: tuple(_moments(of_key, ownership)) for key, of_key in owned.items()}


def _moments(states: Sequence[State], ownership: Ownership) -> Iterator[FactMoment]:
    happened: set[tuple[Happening, Row]] = {(one.happening, one.row) for one in states}
    happened |= {(one.followed, one.row) for one in states if one.followed is not None}
    for happening, row in sorted(happened):
        seen = [_as_of(one, (happening, row)) for one in states if (one.happening, one.row) <= (happening, row)]
        (state,) = fact_states(seen, ownership).values()
        yield FactMoment(happening.at, state)


def _as_of(state: State, now: tuple[Happening, Row]) -> State:
    """Return a state as it was once something had happened: the last of its row until it is followed."""
    is_last = state.followed is None or (state.followed, state.row) > now
    return msgspec.structs.replace(state, is_last=is_last)


def row_before(moments: Sequence[FactMoment], row_of: RowOf, time: datetime, *, is_flagged: bool) -> FactRow | None:
    """Return the row of a fact as it was right before a time, ``None`` where there was none.

    Args:
        moments: of the fact, in order.
        row_of: its values.
        time: by the clock of the source.
        is_flagged: a fact that was deleted has a row too.
    """
    state = next((state for at, state in reversed(moments) if at < time), None)
    return None if state is None or not (state.is_alive or is_flagged) else row_of(state)


class _Change(NamedTuple):
    at: datetime
    row: FactRow | None
    is_end: bool


def postings(
    moments: Sequence[FactMoment], row_of: RowOf, *, on_correction: str, on_delete: str
) -> tuple[Posting, ...]:
    """Return the postings of a fact.

    Args:
        moments: of the fact, in order.
        row_of: its values.
        on_correction: ``overwrite`` posts the last row of each life alone, ``reverse`` every row.
        on_delete: ``reverse`` takes the row back, ``flag`` posts it as deleted, ``remove`` leaves no posting of a life
            that has ended.
    """
    changes = list(_changes(moments, row_of, on_delete))
    if on_delete == "remove":
        ends = [place for place, change in enumerate(changes, 1) if change.is_end]
        changes = changes[max(ends, default=0) :]
    if on_correction == "overwrite":
        changes = [
            change
            for change, after in pairwise([*changes, None])
            if change is not None and (change.is_end or after is None or after.is_end)
        ]
    return tuple(_posted(changes))


def _changes(moments: Sequence[FactMoment], row_of: RowOf, on_delete: str) -> Iterator[_Change]:
    """Yield the moments at which a fact became another, or ended."""
    before: _Change | None = None
    for at, state in moments:
        is_left_out = not state.is_alive and on_delete != "flag"
        change = _Change(at, None if is_left_out else row_of(state), not state.is_alive)
        if before is None or change[1:] != before[1:]:
            before = change
            yield change


def _posted(changes: Sequence[_Change]) -> Iterator[Posting]:
    before: FactRow | None = None
    numbers: Counter[datetime] = Counter()
    for at, row, _ in changes:
        if row == before:
            continue
        numbers[at] += 1
        if before is not None:
            yield Posting(at, numbers[at], True, before)
        if row is not None:
            yield Posting(at, numbers[at], False, row)
        before = row
