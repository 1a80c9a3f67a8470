"""What of a fact follows from the values of its state: the milestones of an accumulating snapshot, and their days.

Plain Python, by which the statements that databases run are judged.

Source: docs/reference/warehouse-model.md, "Fact".
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, tzinfo
from typing import NamedTuple

from metl_gui.core.dimensional.rows.row_states import Values

NO_DAY = -1
"""The key of a day that does not apply: the milestone has not been reached."""

OUTSIDE = 0
"""The key of a day that a table of days does not have."""


class Milestone(NamedTuple):
    """One of several times of a fact.

    Args:
        time: when it was reached, ``None`` before that.
        day: its key in the table of days.
    """

    time: datetime | None
    day: int


def milestones(values: Values, attributes: Sequence[str], first: date, last: date) -> tuple[Milestone, ...]:
    """Return the milestones of a state, in the order of their attributes.

    Args:
        values: of the state.
        attributes: that say when each was reached.
        first, last: of the table of days.
    """
    times = [values.get(attribute) for attribute in attributes]
    return tuple(Milestone(time, day_key(time, UTC, first, last)) for time in times)


def day_key(time: datetime | None, zone: tzinfo, first: date, last: date) -> int:
    """Return the key of the day of a time in a zone: yyyymmdd where the table of days has it."""
    if time is None:
        return NO_DAY
    day = time.astimezone(zone).date()
    return int(f"{day:%Y%m%d}") if first <= day <= last else OUTSIDE
