"""Cascades: a new version of a parent makes a new one of its children.

Plain Python, by which the statements that databases run are judged.

Source: docs/reference/warehouse-model.md, "Reference".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import TypeAlias

import msgspec

from metl_gui.core.dimensional.rows.members import Key, MemberTimes, MemberVersion, Opening, Segment
from metl_gui.core.dimensional.rows.row_states import Values

Starts: TypeAlias = Callable[[Values], Sequence[tuple[datetime, Opening]]]
"""Returns when versions of the parent begin that a child has with these values, in order, and what opened them."""


def cascaded(member: MemberTimes, role: str, starts: Starts) -> MemberTimes:
    """Return a child whose times are cut where versions of its parent begin.

    Args:
        member: the child.
        role: of its reference, under which values have the number of the parent's version: it is compared like others.
        starts: of the parent.
    """
    cut = (part for segment in member.segments for part in _cut(segment, role, starts(segment.values)))
    return msgspec.structs.replace(member, segments=tuple(cut))


def _cut(segment: Segment, role: str, starts: Sequence[tuple[datetime, Opening]]) -> Iterator[Segment]:
    inside = [(at, opened) for at, opened in starts if segment.valid_from < at < segment.valid_to]
    bounds = [(segment.valid_from, segment.opened_by), *inside, (segment.valid_to, segment.opened_by)]
    for (since, opened), (until, _) in pairwise(bounds):
        number = sum(1 for at, _ in starts if at <= since)
        yield Segment(since, until, opened, {**segment.values, role: number})


def cascaded_below(found: Iterable[MemberVersion], starts: Starts) -> tuple[MemberVersion, ...]:
    """Return the versions of one member, cut where versions of those above it in its dimension begin.

    Args:
        found: the versions that it has of its own.
        starts: of those above a member, as they are; none of them is below this one.
    """
    return tuple(part for one in found for part in _cut_below(one, starts(one.by_version)))


def _cut_below(version: MemberVersion, starts: Sequence[tuple[datetime, Opening]]) -> Iterator[MemberVersion]:
    opened = {at: by for at, by in starts if version.valid_from < at < version.valid_to}
    for part in _parts(version, opened):
        yield msgspec.structs.replace(part, opened_by=opened.get(part.valid_from, part.opened_by))


Above: TypeAlias = Callable[[Values], Iterable[Key]]
"""Returns the members of the same dimension that one with these values refers to."""


def cascaded_within(
    found: Mapping[Key, Sequence[MemberVersion]], above: Above, *, covers_past: bool
) -> dict[Key, tuple[MemberVersion, ...]]:
    """Return the versions of members that refer to one another, cut where versions of those above them begin.

    A start is handed down from a member that has it of its own, to all below it at that time. So members that are
    above one another in a circle share the starts that any of them has, and no start comes from nowhere.

    Args:
        found: the versions that members have of their own, of those that the table holds.
        above: whom a member refers to.
        covers_past: the first version begins with all time.
    """
    starts = {key: {one.valid_from for one in of_member[int(covers_past) :]} for key, of_member in found.items()}
    inside = {key: [_inside(one, above, starts) for one in of_member] for key, of_member in found.items()}
    while any(not cut <= starts[key] for key, cuts in inside.items() for cut in cuts):
        for key, cuts in inside.items():
            starts[key] = starts[key].union(*cuts)
        inside = {key: [_inside(one, above, starts) for one in of_member] for key, of_member in found.items()}
    return {
        key: tuple(part for one, cuts in zip(of_member, inside[key], strict=True) for part in _parts(one, cuts))
        for key, of_member in found.items()
    }


def _inside(version: MemberVersion, above: Above, starts: Mapping[Key, set[datetime]]) -> set[datetime]:
    """Return when versions of those above begin while a version holds."""
    every = set[datetime]().union(*(starts.get(key, set()) for key in above(version.by_version)))
    return {at for at in every if version.valid_from < at < version.valid_to}


def _parts(version: MemberVersion, cuts: Iterable[datetime]) -> Iterator[MemberVersion]:
    for since, until in pairwise([version.valid_from, *sorted(cuts), version.valid_to]):
        yield msgspec.structs.replace(version, valid_from=since, valid_to=until)
