"""Typed columns: what the type of a CDM attribute becomes in Parquet, and how values get into it from JSON.

| attribute | column |
|---|---|
| string, and texts with a kind of their own (uuid, enum, json, times of day, durations ...) | string |
| boolean; int8 to int64; integer | boolean; int8 to int64; int64 |
| float; double, number | float; double; the texts ``NaN``, ``Infinity`` and ``-Infinity`` are values too |
| Connect's ``Decimal`` with a scale up to 38 | decimal(38, scale); negative scales count as 0 |
| ``Decimal`` of another scale or none, ``VariableScaleDecimal`` | string: the digits |
| ``Date``; ``IsoDate``, ``date`` | date |
| ``Timestamp``, ``MicroTimestamp``, ``IsoTimestamp`` | timestamp of no zone in ms, us, us |
| Connect's ``Timestamp``; ``ZonedTimestamp``, ``date-time`` | timestamp in UTC in ms; us |
| ``NanoTimestamp`` and all numeric times of day and durations | the integer: Spark reads no column of their own type |
| bytes | binary |
| array, map, struct, union, any, null, unknown | string: the JSON as it stands |

A value is read as what its source declares it to be: days as a date, base64 as a decimal of the source's scale. It goes
into a column that says the same of it: a column takes a value when reading it back gives the same one, else it refuses
it. So what has microseconds goes into no column of milliseconds. Of a fraction in binary floating point the same means
as many digits as its type tells apart: 17, in a float 9. The one value that becomes another is a local time: it goes
into a column of instants where its schema states the time zone, and is the one instant that it is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa

from metl_gui.engine.kernel.plan import ColumnPlan, SourceType
from metl_gui.engine.sinks import readers
from metl_gui.engine.sinks.readers import Reader

_CONNECT = "org.apache.kafka.connect.data."
_DEBEZIUM = "io.debezium.time."
_DECIMAL = f"{_CONNECT}Decimal"
_VARIABLE = "io.debezium.data.VariableScaleDecimal"
_DECIMALS = (_DECIMAL, _VARIABLE)
_DIGITS = 38
_INTEGERS = {"int8": pa.int8(), "int16": pa.int16(), "int32": pa.int32(), "int64": pa.int64(), "integer": pa.int64()}


class _Moment(NamedTuple):
    """What a logical name says of a time.

    Args:
        sort: moments of one sort say the same thing.
        counted: what a number counts; ``None`` for texts.
        stored: the column; ``None`` for the number itself.
    """

    sort: str
    counted: pa.DataType | None
    stored: pa.DataType | None


_DAY, _LOCAL, _INSTANT = "date", "local time", "instant"
_MOMENTS = {
    f"{_CONNECT}Date": _Moment(_DAY, pa.date32(), pa.date32()),
    f"{_DEBEZIUM}Date": _Moment(_DAY, pa.date32(), pa.date32()),
    "date": _Moment(_DAY, None, pa.date32()),
    f"{_DEBEZIUM}IsoDate": _Moment(_DAY, None, pa.date32()),
    f"{_DEBEZIUM}Timestamp": _Moment(_LOCAL, pa.timestamp("ms"), pa.timestamp("ms")),
    f"{_DEBEZIUM}MicroTimestamp": _Moment(_LOCAL, pa.timestamp("us"), pa.timestamp("us")),
    f"{_DEBEZIUM}NanoTimestamp": _Moment(_LOCAL, pa.timestamp("ns"), None),
    f"{_DEBEZIUM}IsoTimestamp": _Moment(_LOCAL, None, pa.timestamp("us")),
    f"{_CONNECT}Timestamp": _Moment(_INSTANT, pa.timestamp("ms", "UTC"), pa.timestamp("ms", "UTC")),
    f"{_DEBEZIUM}ZonedTimestamp": _Moment(_INSTANT, None, pa.timestamp("us", "UTC")),
    "date-time": _Moment(_INSTANT, None, pa.timestamp("us", "UTC")),
    f"{_CONNECT}Time": _Moment("ms of the day", pa.int32(), None),
    f"{_DEBEZIUM}Time": _Moment("ms of the day", pa.int32(), None),
    f"{_DEBEZIUM}MicroTime": _Moment("us of the day", pa.int64(), None),
    f"{_DEBEZIUM}NanoTime": _Moment("ns of the day", pa.int64(), None),
    f"{_DEBEZIUM}MicroDuration": _Moment("us long", pa.int64(), None),
    f"{_DEBEZIUM}NanoDuration": _Moment("ns long", pa.int64(), None),
    f"{_DEBEZIUM}Year": _Moment("years", pa.int32(), None),
}


@dataclass(frozen=True, slots=True)
class Column:
    """One leaf of the payload.

    Args:
        path: its CDM path.
        type: in the file.
        wants: what it takes, in words.
        read: makes an array of the values of a JSON array; raises ``ValueError`` or ``OverflowError`` when one of
            them does not fit.
        by_source: other ways to read it, by schema and version of the source.
    """

    path: str
    type: pa.DataType
    wants: str
    read: Reader
    by_source: dict[tuple[str, str], Reader]


def column(plan: ColumnPlan, sources: tuple[SourceType, ...] = ()) -> Column:
    """Decide how an attribute is stored.

    Args:
        plan: the attribute.
        sources: the sources of another type, of this and of other attributes.
    """
    type_, wants = _stored(plan)
    own = _read(plan, type_, SourceType("", "", plan.path, plan.type, plan.logical, plan.scale))
    by_source = {
        (source.schema, source.version): read
        for source in sources
        if source.path == plan.path and (read := _read(plan, type_, source)) is not own
    }
    return Column(plan.path, type_, wants, own, by_source)


def _stored(plan: ColumnPlan) -> tuple[pa.DataType, str]:
    """Return the type of a column, and what it takes in words."""
    if plan.logical in _DECIMALS:
        if plan.logical == _VARIABLE or plan.scale is None or plan.scale > _DIGITS:
            return pa.string(), "decimals"
        scale = max(plan.scale, 0)
        return pa.decimal128(_DIGITS, scale), f"decimals of {_DIGITS} digits, {scale} of them after the point"
    moment = _moment(plan)
    if moment is not None and moment.stored is not None:
        return moment.stored, _MOMENTS_IN_WORDS[moment.sort, getattr(moment.stored, "unit", "")]
    if plan.type in _INTEGERS:
        type_ = _INTEGERS[plan.type]
        return type_, f"whole numbers of {type_.bit_width} bits"
    return _PLAIN.get(plan.type, (pa.string(), "any JSON"))


_PLAIN: dict[str, tuple[pa.DataType, str]] = {
    "string": (pa.string(), "text"),
    "boolean": (pa.bool_(), "true and false"),
    "float": (pa.float32(), "numbers of 32 bits, about 9 digits"),
    "double": (pa.float64(), "numbers of 64 bits, about 17 digits"),
    "number": (pa.float64(), "numbers of 64 bits, about 17 digits"),
    "bytes": (pa.binary(), "bytes"),
}
_MOMENTS_IN_WORDS = {
    (_DAY, ""): "dates",
    (_LOCAL, "ms"): "local times with up to 3 digits of a second",
    (_LOCAL, "us"): "local times with up to 6 digits of a second",
    (_INSTANT, "ms"): "instants with up to 3 digits of a second",
    (_INSTANT, "us"): "instants with up to 6 digits of a second",
}


def _moment(of: ColumnPlan | SourceType) -> _Moment | None:
    """Return what an attribute says of a time, where its plain type goes with its logical name."""
    found = _MOMENTS.get(of.logical)
    if found is None:
        return None
    if found.counted is None:
        return found if of.type == "string" else None
    return found if of.type in _INTEGERS and _INTEGERS[of.type].bit_width >= found.counted.bit_width else None


def _read(plan: ColumnPlan, type_: pa.DataType, source: SourceType) -> Reader:
    """Return how values of a source are read into a column."""
    if plan.logical in _DECIMALS:
        # A text is bytes in base64 only where its source says so, and counts in the scale of its source.
        scale = source.scale if source.logical == _DECIMAL else None
        return readers.decimals(type_, scale) if isinstance(type_, pa.Decimal128Type) else readers.digits(scale)
    own, other = _moment(plan), _moment(source)
    if own is not None and other is not None and (own.sort, other.sort) == (_INSTANT, _LOCAL):
        return _read_local(type_, other, source)
    if own is not None:
        return _read_moment(own, own if other is None else other, type_)
    if source.logical in _DECIMALS and plan.type in _NUMBERS:
        return readers.from_decimals(_NUMBERS[plan.type], source.scale)
    return _read_plain(plan.type, source)


def _read_local(type_: pa.DataType, local: _Moment, source: SourceType) -> Reader:
    """Return how local times of a source are read into a column of instants."""
    if not source.time_zone:
        return readers.local_times_of_no_zone(source.schema)
    return readers.instants_of_local_times(local.counted, source.time_zone, type_)


def _read_moment(own: _Moment, other: _Moment, type_: pa.DataType) -> Reader:
    if own.sort != other.sort or (own.stored is None and own.counted != other.counted):
        return readers.nothing
    if other.counted is not None:
        return readers.whole_numbers(other.counted, type_)
    return readers.times(type_) if own.stored is not None else readers.nothing


def _read_plain(type_: str, source: SourceType) -> Reader:
    match type_:
        case "string":
            return readers.texts
        case "boolean":
            return readers.truths
        case "bytes":
            return readers.byte_texts if source.type == "bytes" else readers.nothing
        case _:
            return _NUMBERS.get(type_, readers.json_texts)


_NUMBERS: dict[str, Reader] = {
    **{name: readers.whole_numbers(type_, type_) for name, type_ in _INTEGERS.items()},
    "float": readers.short_fractions,
    "double": readers.fractions,
    "number": readers.fractions,
}
