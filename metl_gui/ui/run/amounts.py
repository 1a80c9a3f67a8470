"""Numbers as people read them."""

from __future__ import annotations

_UNITS = ((1e9, 1e9, " G"), (1e6, 1e6, " M"), (1e4, 1e3, " k"))
_BYTES = ((1e9, " GB"), (1e6, " MB"), (1e3, " kB"))
_TIMES = ((1e9, 1e9, " s"), (1e6, 1e6, " ms"), (100, 1e3, " µs"))
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def amount(value: float) -> str:
    """Write a number for people: 812 k, 3.66 M."""
    for least, unit, words in _UNITS:
        if value >= least:
            return f"{_three(value / unit)}{words}"
    return _three(value) if 0 < value < 10 else f"{value:,.0f}"


def size(value: float) -> str:
    """Write a number of bytes: 1.24 MB."""
    for unit, words in _BYTES:
        if value >= unit:
            return f"{_three(value / unit)}{words}"
    return f"{value:,.0f} B"


def duration_ns(nanoseconds: float) -> str:
    """Write a short time: 0.41 µs, 12.5 ms."""
    for least, unit, words in _TIMES:
        if nanoseconds >= least:
            return f"{_three(nanoseconds / unit)}{words}"
    return f"{nanoseconds:.0f} ns"


def duration(seconds: float) -> str:
    """Write how long something took: 1.2 s, 4 min 10 s, 3 d 4 h."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for unit, words, below, words_below in (
        (_DAY, "d", _HOUR, "h"),
        (_HOUR, "h", _MINUTE, "min"),
        (_MINUTE, "min", 1, "s"),
    ):
        if whole >= unit:
            rest = whole % unit // below
            return f"{whole // unit} {words}" + (f" {rest} {words_below}" if rest else "")
    return f"{whole} s"


def share(part: float, whole: float) -> str:
    """Write a share in percent; what is not all of it never reads as 100 %."""
    if whole <= 0:
        return "–"  # noqa: RUF001 - a dash, as people write for nothing
    percent = 100 * part / whole
    if part < whole and percent > 99.9:
        return "> 99.9 %"
    return "100 %" if percent >= 100 else f"{percent:.1f} %"


def _three(value: float) -> str:
    """Write three digits that matter, without zeros behind the point."""
    return f"{value:,.3g}" if value < 999.5 else f"{value:,.0f}"
