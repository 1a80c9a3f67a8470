"""The folder of a day: by ``ts_ms`` of messages, in UTC.

The clock of this computer has no part in it: a message lands in the folder of its own time, whenever it is mapped.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

DAY_MS = 86_400_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNKNOWN = "date=unknown"


def date_folder(ts_ms: int | None) -> str:
    """Return ``date=YYYY-MM-DD``, ``date=unknown`` where there is no time or none that a calendar has."""
    return UNKNOWN if ts_ms is None else _of_day(ts_ms // DAY_MS)


@lru_cache(maxsize=65536)
def _of_day(day: int) -> str:
    try:
        return f"date={_EPOCH + timedelta(days=day):%Y-%m-%d}"
    except OverflowError:
        return UNKNOWN
