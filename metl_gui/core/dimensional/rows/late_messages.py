"""What a message that comes late would do to a member: the versions that there would be, and facts that would move.

Plain Python over the messages of one business key; nothing is written.

Source: docs/reference/warehouse-model.md, "From messages to versions".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import accumulate
from types import MappingProxyType
from typing import Any, TypeAlias

import msgspec

from metl_gui.core.counted import number_of
from metl_gui.core.dimensional.rows.cascades import Starts, cascaded
from metl_gui.core.dimensional.rows.epochs import HEAD
from metl_gui.core.dimensional.rows.members import (
    Key,
    MemberTimes,
    MemberVersion,
    Opening,
    Ownership,
    members,
    versions,
)
from metl_gui.core.dimensional.rows.messages import Message, held
from metl_gui.core.dimensional.rows.row_states import FOREVER, Values, row_log, row_states

DECLARED = "_declared"
"""Among the values of a message: the declared time since when its state holds, where the dimension has one."""

_BEHIND = "+"
"""Behind an order key it makes one that no message has: later than that, earlier than the next of equal width."""

NO_CUTS: Mapping[str, Starts] = MappingProxyType({})

Columns: TypeAlias = Callable[[Sequence[Values]], Sequence[Values]]
"""Makes the columns of a dimension from the attributes of times, as the target does."""


class VersionRules(msgspec.Struct, frozen=True):
    """How versions of a dimension follow from messages.

    Args:
        ownership: who owns states.
        compared: columns of which each change makes a version.
        kinds: the columns of the table, and how each keeps its history.
        is_declared: since when a state holds stands in ``DECLARED``, else it is its commit.
        covers_past: the first version covers the time before it.
        removes: a member whose rows are deleted has no versions.
        flags: its newest version stays open, and says that they are.
    """

    ownership: Ownership
    compared: tuple[str, ...]
    kinds: tuple[tuple[str, int], ...] = ()
    is_declared: bool = False
    covers_past: bool = True
    removes: bool = False
    flags: bool = False

    def until(self, member: MemberVersions, version: MemberVersion) -> datetime:
        """Return the end that the table gives a version, ``FOREVER`` for none."""
        return FOREVER if self.flags and version == member.versions[-1] else version.valid_to

    def values(self, version: MemberVersion) -> dict[str, Any]:
        """Return the values of a version that the table holds."""
        found: dict[str, Any] = {}
        for column, kind in self.kinds:
            of_kind = {0: version.first, 1: version.latest, 3: version.current}
            found[column] = of_kind.get(kind, version.by_version).get(column)
            more = {3: ("previous", version.previous), 6: ("current", version.latest)}
            if kind in more:
                ending, others = more[kind]
                found[f"{column}_{ending}"] = others.get(column)
        return found


class MemberVersions(msgspec.Struct, frozen=True):
    """The versions of one member.

    Args:
        versions: in order of time.
        is_alive: one of its rows lives.
    """

    versions: tuple[MemberVersion, ...] = ()
    is_alive: bool = False


class FactTimes(msgspec.Struct, frozen=True):
    """Facts that refer to the version of a member that held at a time.

    Args:
        fact: the table.
        role: of the reference.
        times: of events, and how many rows have each; ``None`` for those that refer to the current version.
        is_cut: there are more.
    """

    fact: str
    role: str
    times: tuple[tuple[datetime | None, int], ...]
    is_cut: bool = False


class LateEffect(msgspec.Struct, frozen=True):
    """What would become of a member.

    Args:
        after: its versions.
        opened: versions that there were not before.
        gone: versions that there would be no longer.
        closed: versions that would end earlier.
        changed: versions of which something else would be another.
        rekeyed: by fact, how many of its rows would refer to another version.
        cut: facts of which not all rows were looked at.
        uncounted: dimensions whose versions follow from these; what would become of them is not told.
    """

    after: MemberVersions
    opened: int
    gone: int
    closed: int
    changed: int
    rekeyed: tuple[tuple[str, int], ...]
    cut: tuple[str, ...] = ()
    uncounted: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Return it in words, with what is left out."""
        left_out = [f"Not all rows of {', '.join(self.cut)} were looked at."] if self.cut else []
        if self.uncounted:
            left_out.append(f"Versions of {', '.join(self.uncounted)} that follow from them are not counted.")
        return " ".join([self._counts, *left_out])

    @property
    def _counts(self) -> str:
        counts = ((self.opened, "opened"), (self.closed, "would end earlier"), (self.changed, "changed"))
        told = [f"{number_of(count, 'version')} {what}" for count, what in (*counts, (self.gone, "gone")) if count]
        told += [f"{number_of(count, 'row')} of {fact} re-keyed" for fact, count in self.rekeyed if count]
        return f"{', '.join(told)}." if told else "Nothing would change."


def member_versions(
    messages: Sequence[Message], key: Key, rules: VersionRules, columns: Columns, cuts: Mapping[str, Starts] = NO_CUTS
) -> MemberVersions:
    """Return the versions of a business key.

    Args:
        messages: of the rows that carry it.
        key: its values.
        rules: of the dimension.
        columns: makes the columns of the dimension.
        cuts: of its parents that make versions of it, by the name of what tells their versions apart.
    """
    states = row_states(held(messages), lambda values: values.get(DECLARED) if rules.is_declared else None)
    member = members(states, rules.ownership).get(key)
    if member is None or (rules.removes and not member.is_alive):
        return MemberVersions()
    *valued, latest = columns([*(one.values for one in member.segments), member.latest])
    segments = tuple(
        msgspec.structs.replace(segment, values=values) for segment, values in zip(member.segments, valued, strict=True)
    )
    times = MemberTimes(segments, latest, member.is_alive)
    for name, starts in cuts.items():
        times = cascaded(times, name, starts)
    return MemberVersions(versions(times, (*rules.compared, *cuts)), member.is_alive)


def late_message(
    messages: Sequence[Message], like: Message, holds_from: datetime, rules: VersionRules, values: Mapping[str, Any]
) -> Message:
    """Return a message like another that comes now and holds from some time.

    Where the dimension declares since when states hold, its source wrote it last. Else, and for a delete, its source
    wrote it at that time, so it stands in the log before what was committed later.

    Args:
        messages: those that there are.
        like: a message of the row.
        holds_from: since when it is to hold.
        rules: of the dimension.
        values: that are other ones.
    """
    log = row_log((like.schema, like.row_key or ""), held(messages))
    commits = list(accumulate((one.commit for one in log), max))
    is_last = rules.is_declared and not like.is_delete
    before = len(log) if is_last else sum(commit <= holds_from for commit in commits)
    committed_at = max(commits, default=holds_from) if is_last else holds_from
    carried: Mapping[str, Any] = {} if like.is_delete else {**like.values, **values}
    return msgspec.structs.replace(
        like,
        order_key=(log[before - 1].order_key if before else like.order_key[:HEAD]) + _BEHIND,
        op=like.op if like.is_delete else "u",
        values={**carried, DECLARED: holds_from} if is_last else carried,
        publication=max((one.publication for one in messages), default=0),
        committed_at=committed_at,
        seen_at=max([committed_at, *(one.seen_at for one in messages)]),
        old_key=None,
    )


def late_effect(
    before: MemberVersions, after: MemberVersions, facts: Sequence[FactTimes], rules: VersionRules
) -> LateEffect:
    """Return what differs between the versions that there are and those that there would be.

    A version is the same one where the same message opened it.
    """
    was = {one.opened_by: one for one in before.versions}
    now = {one.opened_by: one for one in after.versions}
    closed = changed = 0
    for opened_by in was.keys() & now.keys():
        one, other = was[opened_by], now[opened_by]
        ended, ends = rules.until(before, one), rules.until(after, other)
        closed += ends < ended
        is_same = (one.valid_from, rules.values(one)) == (other.valid_from, rules.values(other))
        changed += ends > ended or (ends == ended and not is_same)
    moved: dict[str, int] = {}
    for refers in facts:
        moved[refers.fact] = moved.get(refers.fact, 0) + sum(
            count
            for time, count in refers.times
            if _referred(before, time, rules.covers_past) != _referred(after, time, rules.covers_past, before)
        )
    opened, gone = len(now.keys() - was.keys()), len(was.keys() - now.keys())
    cut = tuple(dict.fromkeys(refers.fact for refers in facts if refers.is_cut))
    return LateEffect(after, opened, gone, closed, changed, tuple(moved.items()), cut)


def _referred(
    member: MemberVersions, time: datetime | None, covers_past: bool, before: MemberVersions | None = None
) -> Opening | None:
    """Return what opened the version that holds at a time, in a gap the last before it; ``None`` for an inferred one.

    The first version of a member that was inferred takes its key along.
    """
    found = member.versions[0] if member.versions and (covers_past or time is None) else None
    for one in member.versions:
        if time is None or one.valid_from <= time:
            found = one
    takes_along = before is not None and not before.versions and member.versions[:1] == (found,)
    return None if found is None or takes_along else found.opened_by
