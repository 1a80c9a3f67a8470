"""Names, moments and numbers as the window writes them.

Names and numbers of blocks and elements, verdicts on types; moments as people say them (just now, 3 hours ago,
yesterday 09:12, 12 Nov 2026 09:12); amounts, sizes, durations and shares as people read them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from html import escape

from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.type_verdicts import TypeVerdict
from metl_gui.ui.project.selection import NodeRef, Selected


def some_lines(lines: Iterable[str], most: int) -> list[str]:
    """Return the first lines, the last one for those that are not listed: ``and 12 more``."""
    found = list(lines)
    more = len(found) - most
    return [*found[:most], f"and {more:,} more"] if more > 0 else found


def block_words(document: Document, key: BlockKey) -> str:
    """Return ``schema version → entity version``, ids where a node is gone."""
    return f"{version_words(document, Side.EXTRACTION, key[0])} → {version_words(document, Side.CDM, key[1])}"


def version_words(document: Document, side: Side, version_id: int) -> str:
    """Return ``schema version``."""
    version = document.tree(side).find_version(version_id)
    if version is None:
        return f"version {version_id}"
    return f"{document.tree(side).schema(version.schema_id).name} {version.label}"


def schema_name(document: Document, side: Side, schema_id: int) -> str:
    """Return the name of a schema or entity, its id where it is gone."""
    schema = document.tree(side).find_schema(schema_id)
    return schema.name if schema is not None else f"#{schema_id}"


def path_of(document: Document, side: Side, version_id: int, attribute_id: int) -> str:
    """Return the path of an attribute, its id where it is gone."""
    version = document.tree(side).find_version(version_id)
    attribute = version.attribute(attribute_id) if version is not None else None
    return attribute.path if attribute is not None else f"#{attribute_id}"


def verdict_words(verdict: TypeVerdict) -> str:
    """Return what becomes of values in typed columns; nothing where all stay what they are."""
    return {
        TypeVerdict.REINTERPRETED: "typed columns read values in another form",
        TypeVerdict.MAY_REFUSE: "typed columns may refuse values",
    }.get(verdict, "")


def place_words(document: Document, side: Side, place: NodeRef | None) -> str:
    """Return the full path of a node as rich text, its last part bold."""
    if place is None:
        return ""
    tree = document.tree(side)
    schema = tree.find_schema(place.schema)
    if schema is None:
        return ""
    version = tree.find_version(place.version) if place.version is not None else None
    attribute = version.attribute(place.attribute) if version and place.attribute is not None else None
    if attribute is not None and version is not None:
        return f"{escape(schema.name)} {escape(version.label)} <b>{escape(attribute.path)}</b>"
    return f"<b>{escape(f'{schema.name} {version.label}' if version is not None else schema.name)}</b>"


def selected_words(document: Document, selected: Selected) -> str:
    """Return both full paths, for the status bar."""
    parts = [
        place_words(document, Side.EXTRACTION, selected.source),
        place_words(document, Side.CDM, selected.target),
    ]
    return " → ".join(part for part in parts if part)


_MINUTE_SECONDS, _HOUR_SECONDS = 60, 3_600
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
    if seconds < _MINUTE_SECONDS:
        return "just now"
    if seconds < _HOUR_SECONDS:
        return _count(int(seconds // _MINUTE_SECONDS), "minute")
    if then.date() == here.date():
        return _count(int(seconds // _HOUR_SECONDS), "hour")
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
