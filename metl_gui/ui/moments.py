"""Moments as people say them: just now, 3 hours ago, yesterday 09:12, 12 Nov 2026 09:12."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_MINUTE, _HOUR = 60, 3_600
_SOME_DAYS = 7


def now_ms() -> int:
    """Return what time it is, in milliseconds since 1970."""
    return int(datetime.now(UTC).timestamp() * 1000)


def ago(when_ms: int, now: int | None = None) -> str:
    """Say how long ago a moment is, as of now; a date where that says more.

    Args:
        when_ms: the moment, in milliseconds since 1970.
        now: the moment from which it is seen.
    """
    then = datetime.fromtimestamp(when_ms / 1000).astimezone()
    here = datetime.fromtimestamp((now_ms() if now is None else now) / 1000).astimezone()
    seconds = (here - then).total_seconds()
    if seconds < _MINUTE:
        return "just now"
    if seconds < _HOUR:
        return _count(int(seconds // _MINUTE), "minute")
    if then.date() == here.date():
        return _count(int(seconds // _HOUR), "hour")
    if then.date() == here.date() - timedelta(days=1):
        return f"yesterday {then:%H:%M}"
    days = (here.date() - then.date()).days
    return _count(days, "day") if days < _SOME_DAYS else on(when_ms)


def on(when_ms: int) -> str:
    """Return the date and the time of a moment, as the clock on the wall has it."""
    then = datetime.fromtimestamp(when_ms / 1000).astimezone()
    return f"{then.day} {then:%b %Y %H:%M}"


def clock(when_ms: int, now: int | None = None) -> str:
    """Return the time of a moment of today, with yesterday or the date before it where it is another day's.

    Args:
        when_ms: the moment, in milliseconds since 1970.
        now: the moment from which it is seen.
    """
    then = datetime.fromtimestamp(when_ms / 1000).astimezone()
    here = datetime.fromtimestamp((now_ms() if now is None else now) / 1000).astimezone()
    if then.date() == here.date():
        return f"{then:%H:%M}"
    return f"yesterday {then:%H:%M}" if then.date() == here.date() - timedelta(days=1) else on(when_ms)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'} ago"
