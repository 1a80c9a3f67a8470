"""Values of PostgreSQL as Debezium writes them into the ``after`` of a change, read from what the server itself prints.

A row of a snapshot must say what the same row says as a change, or the load would put values back to another form. So
the form is chosen by what the schema of the topic says of a column (plain type, logical name, scale), not by its type
in the database alone, which only says how its text is to be read.

Source: docs/reference/cdc.md, "Values that are not the value"; docs/reference/cdc.md, "Types"; what the schema leaves
open was taken from changes of a real connector (``tests/live/test_row_values.py`` compares all of them).
"""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final, TypeAlias

from metl_gui.errors import RunError
from metl_gui.formats.table_columns import TableColumn

Writer: TypeAlias = Callable[[str], Any]
"""From the server's text to a value of JSON."""

_CONNECT, _TIME, _DATA = "org.apache.kafka.connect.data.", "io.debezium.time.", "io.debezium.data."
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - without a zone, as such columns are
_DAY_ONE = date(1970, 1, 1)
_MICROS_OF_DAY = 86_400_000_000
_DAYS_OF_MONTH: Final = 365.25 / 12
_INFINITE_DAYS = {"infinity": -622_191_234, "-infinity": -625_821_272}
_INFINITE_MICROS = {"infinity": 9_223_372_036_825_200_000, "-infinity": -9_223_372_036_832_400_000}
_FLOATS = {"NaN": "NaN", "Infinity": "Infinity", "-Infinity": "-Infinity"}
_OFFSET = re.compile(r"([+-]\d\d)(?::(\d\d))?(?::(\d\d))?$")
_INTERVAL = re.compile(
    r"P(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?\d+(?:\.\d+)?)S)?)?$"
)
_WHOLE_ELEMENTS = frozenset({"int2", "int4", "int8", "bool", "text", "varchar", "bpchar", "uuid", "citext", "name"})
_TEXTS = frozenset({"text", "varchar", "bpchar", "name", "citext", "char"})
_NUMBERS = frozenset({"int2", "int4", "int8", "oid"})


def writer_of(column: TableColumn) -> Writer:
    """Return what turns the server's text of a column into the value that Debezium writes.

    Raises:
        RunError: there is no sure way for this pair of types.
    """
    short = column.logical.removeprefix(_CONNECT).removeprefix(_TIME).removeprefix(_DATA)
    found = _by_logical(column, short) if column.logical else _by_plain(column)
    if found is None:
        shown = f"{column.type} ({column.logical})" if column.logical else column.type
        raise RunError(
            f"The column {column.name} cannot be loaded.",
            f"It is {column.native} in the database and {shown} in the topic; how Debezium writes one as the other is "
            "not known.",
            "Load the table from Debezium's own snapshot (--from debezium), or from the topic's beginning.",
        )
    return found


def filler_of(column: TableColumn) -> Any:
    """Return what stands in a column that nothing is mapped from: null, or a zero where null is not allowed.

    Debezium does the same in the old rows of deletes (docs/reference/cdc.md, "The envelope").
    """
    if column.optional:
        return None
    zeros = {"string": "", "boolean": False, "bytes": "", "array": [], "map": {}, "struct": {}}
    return zeros.get(column.type, 0)


def _by_plain(column: TableColumn) -> Writer | None:
    native, plain = column.native, column.type
    if native.startswith("_"):
        return _elements(native[1:]) if plain == "array" else None
    match plain:
        case "boolean" if native in ("bool", "bit"):
            return lambda text: text in ("t", "1")
        case "int8" | "int16" | "int32" | "int64" if native in _NUMBERS:
            return int
        case "float" | "double" if native in ("float4", "float8", "numeric", "money"):
            return _float
        case "bytes" if native == "bytea":
            return lambda text: _base64(_bytes(text))
        case "string" if native == "bytea":
            return lambda text: text.removeprefix(r"\x")
        case "string" if native not in ("interval", "timetz", "timestamptz", "timestamp", "time", "date", "hstore"):
            return str
    return None


def _by_logical(column: TableColumn, short: str) -> Writer | None:
    native = column.native
    if writer := _TIMES.get((native, short)):
        return writer
    match short:
        case "Decimal" if native in ("numeric", "money") and column.scale is not None:
            scale = column.scale
            return lambda text: _base64(_unscaled(_decimal(text, column.name), scale))
        case "VariableScaleDecimal" if native == "numeric":
            return lambda text: _variable(_decimal(text, column.name))
        case "Json" if native == "hstore":
            return _compact
        case "Json" | "Xml" | "Uuid" | "Ltree" | "Tsvector" | "Enum":
            return str
        case "Bits" if native in ("bit", "varbit"):
            return lambda text: _base64(_bits(text))
        case "geometry.Point" if native == "point":
            return _point
    return None


def _float(text: str) -> float | str:
    return _FLOATS.get(text) or float(text)


def _bytes(text: str) -> bytes:
    if not text.startswith(r"\x"):
        raise ValueError("bytes that are not written in hex")
    return bytes.fromhex(text[2:])


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _compact(text: str) -> str:
    return json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False)


def _decimal(text: str, column: str) -> tuple[int, int]:
    """Return the digits as a whole number, and how many of them stand behind the point."""
    whole, _, fraction = text.partition(".")
    try:
        return int(whole + fraction), len(fraction)
    except ValueError as error:
        raise ValueError(f"{column} holds {text}, which no decimal of the topic can say") from error


def _unscaled(number: tuple[int, int], scale: int) -> bytes:
    digits, behind = number
    if behind > scale:
        digits, rest = divmod(digits, int(10 ** (behind - scale)))
        if rest:
            raise ValueError(f"a number has more than the {scale} decimals that the topic says")
    value = digits * int(10 ** max(scale - behind, 0))
    return value.to_bytes((value + (value < 0)).bit_length() // 8 + 1, "big", signed=True)


def _variable(number: tuple[int, int]) -> dict[str, Any]:
    digits, scale = number
    while scale and not digits % 10:
        digits, scale = digits // 10, scale - 1
    return {"scale": scale, "value": _base64(_unscaled((digits, scale), scale))}


def _bits(text: str) -> bytes:
    number = int(text, 2) if text else 0
    return number.to_bytes((number.bit_length() + 7) // 8, "little")


def _point(text: str) -> dict[str, Any]:
    x, y = (float(part) for part in text.strip("()").split(","))
    return {"x": x, "y": y, "wkb": _base64(struct.pack("<BIdd", 1, 1, x, y)), "srid": None}


def _elements(native: str) -> Writer | None:
    if native in _WHOLE_ELEMENTS:
        return json.loads
    if native in ("float4", "float8"):
        return json.loads
    return None


def _days(text: str) -> int:
    if text in _INFINITE_DAYS:
        return _INFINITE_DAYS[text]
    return (_date(text) - _DAY_ONE).days


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"the day {text} is outside the years 1 to 9999") from error


def _micros(text: str) -> int:
    """Read a timestamp without a zone."""
    if text in _INFINITE_MICROS:
        return _INFINITE_MICROS[text]
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"the time {text} is outside the years 1 to 9999") from error
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _micros_of_day(text: str) -> int:
    if text.startswith("24:"):
        return _MICROS_OF_DAY
    clock = time.fromisoformat(text)
    return ((clock.hour * 60 + clock.minute) * 60 + clock.second) * 1_000_000 + clock.microsecond


def _instant(text: str) -> str:
    if text in _INFINITE_MICROS:
        return text
    try:
        moment = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"the time {text} is outside the years 1 to 9999") from error
    return f"{moment.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def _clock_in_utc(text: str) -> str:
    found = _OFFSET.search(text)
    if found is None:
        raise ValueError(f"{text} has no zone")
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    behind = -1 if found[1].startswith("-") else 1
    shift = (hours * 60 + behind * minutes) * 60 + behind * seconds
    micros = (_micros_of_day(text[: found.start()]) - shift * 1_000_000) % _MICROS_OF_DAY
    whole, rest = divmod(micros, 1_000_000)
    fraction = f".{rest:06d}".rstrip("0") if rest else ""
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}{fraction}Z"


def _duration(text: str) -> int:
    years, months, days, hours, minutes, seconds = _interval(text)
    of_days = ((years * 12 + months) * _DAYS_OF_MONTH + days) * 86_400_000_000.0
    return int(of_days + (hours * 3600 + minutes * 60) * 1_000_000 + int(seconds * 1_000_000))


def _interval_text(text: str) -> str:
    years, months, days, hours, minutes, seconds = _interval(text)
    return f"P{years}Y{months}M{days}DT{hours}H{minutes}M{seconds:f}S"


def _interval(text: str) -> tuple[int, int, int, int, int, Decimal]:
    found = _INTERVAL.match(text)
    if found is None:
        raise ValueError(f"{text} is no interval")
    years, months, days, hours, minutes = (int(part or 0) for part in found.groups()[:5])
    return years, months, days, hours, minutes, Decimal(found[6] or "0")


_TIMES: Final[dict[tuple[str, str], Writer]] = {
    ("date", "Date"): _days,
    ("time", "Time"): lambda text: _micros_of_day(text) // 1000,
    ("time", "MicroTime"): _micros_of_day,
    ("time", "NanoTime"): lambda text: _micros_of_day(text) * 1000,
    ("timetz", "ZonedTime"): _clock_in_utc,
    ("timestamp", "Timestamp"): lambda text: _micros(text) // 1000,
    ("timestamp", "MicroTimestamp"): _micros,
    ("timestamp", "NanoTimestamp"): lambda text: _micros(text) * 1000,
    ("timestamptz", "ZonedTimestamp"): _instant,
    ("interval", "MicroDuration"): _duration,
    ("interval", "Interval"): _interval_text,
}
"""By the type in the database and the last part of the logical name; both Connect's names and Debezium's end alike."""
