"""Cascades: a new version of a parent makes a new one of its children.

Plain Python, by which the statements that databases run are judged.

Source: docs/reference/warehouse-model.md, "Reference".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import TypeAlias

import msgspec

from metl_gui.core.dimensional.rows.members import MemberTimes, Opening, Segment
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
