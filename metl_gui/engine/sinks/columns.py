"""Typed columns: what the type of a CDM attribute becomes in Parquet, and how values get into it from JSON.

A value is read as what its source declares it to be: days as a date, base64 as a decimal of the source's scale. It goes
into a column that says the same of it: a column takes a value when reading it back gives the same one, else it refuses
it. So what has microseconds goes into no column of milliseconds. Of a fraction in binary floating point the same means
as many digits as its type tells apart: 17, in a float 9. The one value that becomes another is a local time: it goes
into a column of instants where its schema states the time zone, and is the one instant that it is there.

Source: docs/reference/typed-columns.md, "Plain types" (a test follows each row); ``core.trees.logical_types`` for the
others.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from metl_gui.core.trees.logical_types import (
    DECIMAL,
    DECIMALS,
    VARIABLE_SCALE_DECIMAL,
    Conversion,
    LogicalType,
    Meaning,
    conversion,
    time_type,
)
from metl_gui.engine.kernel.plan import ColumnPlan, SourceType
from metl_gui.engine.sinks import readers
from metl_gui.engine.sinks.readers import Reader
from metl_gui.values import Value

INTEGERS = {"int8": pa.int8(), "int16": pa.int16(), "int32": pa.int32(), "int64": pa.int64(), "integer": pa.int64()}
_DIGITS = 38
"""The most digits of a decimal in 128 bits."""


class TypedColumn(Value):
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


def column(plan: ColumnPlan, sources: tuple[SourceType, ...] = ()) -> TypedColumn:
    """Decide how an attribute is stored.

    Args:
        plan: the attribute.
        sources: the sources of another type, of this and of other attributes.
    """
    type_, wants = _stored(plan)
    return column_of(plan, sources, type_, wants, lambda source: _read(plan, type_, source))


def column_of(
    plan: ColumnPlan,
    sources: tuple[SourceType, ...],
    type_: pa.DataType,
    wants: str,
    reader_of: Callable[[SourceType], Reader],
) -> TypedColumn:
    """Make a column that reads the values of each source as that source declares them.

    Args:
        plan, sources: as of ``column``.
        type_, wants: of the column.
        reader_of: how values of a source are read; the same object for the same way.
    """
    own = reader_of(SourceType("", "", plan.path, plan.type, plan.logical, plan.scale))
    by_source: dict[tuple[str, str], Reader] = {}
    for source in sources:
        if source.path == plan.path:
            place, read = (source.schema, source.version), reader_of(source)
            first = by_source.get(place, read)
            by_source[place] = read if first is read else readers.by_form(first, read, source.type == "string")
    by_source = {place: read for place, read in by_source.items() if read is not own}
    return TypedColumn(plan.path, type_, wants, own, by_source)


def digits_column(plan: ColumnPlan, stored: pa.DataType, sources: tuple[SourceType, ...] = ()) -> TypedColumn | None:
    """Decide how numbers are read as they were written; ``None`` where their column says that already.

    Args:
        plan, sources: as of ``column``.
        stored: how the numbers themselves are.
    """
    if not (pa.types.is_floating(stored) or isinstance(stored, pa.Decimal128Type)):
        return None
    own = stored.scale if isinstance(stored, pa.Decimal128Type) else None

    def reader_of(source: SourceType) -> Reader:
        return readers.written_digits(own, source.scale if source.logical == DECIMAL else None)

    return column_of(plan, sources, pa.string(), "numbers", reader_of)


def _stored(plan: ColumnPlan) -> tuple[pa.DataType, str]:
    """Return the type of a column, and what it takes in words."""
    if plan.logical in DECIMALS:
        if plan.logical == VARIABLE_SCALE_DECIMAL or plan.scale is None or plan.scale > _DIGITS:
            return pa.string(), "decimals"
        scale = max(plan.scale, 0)
        return pa.decimal128(_DIGITS, scale), f"decimals of {_DIGITS} digits, {scale} of them after the point"
    time = time_type(plan.type, plan.logical)
    if time is not None and time.stored_in:
        return _TIMES[time.says, time.stored_in], _TIMES_IN_WORDS[time.says, time.stored_in]
    if plan.type in INTEGERS:
        type_ = INTEGERS[plan.type]
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
_TIMES: dict[tuple[Meaning, str], pa.DataType] = {
    (Meaning.DATE, "days"): pa.date32(),
    (Meaning.LOCAL_TIME, "ms"): pa.timestamp("ms"),
    (Meaning.LOCAL_TIME, "us"): pa.timestamp("us"),
    (Meaning.LOCAL_TIME, "ns"): pa.timestamp("ns"),
    (Meaning.INSTANT, "ms"): pa.timestamp("ms", "UTC"),
    (Meaning.INSTANT, "us"): pa.timestamp("us", "UTC"),
    (Meaning.INSTANT, "ns"): pa.timestamp("ns", "UTC"),
    (Meaning.TIME_OF_DAY, "ms"): pa.duration("ms"),
    (Meaning.TIME_OF_DAY, "us"): pa.duration("us"),
    (Meaning.TIME_OF_DAY, "ns"): pa.duration("ns"),
    (Meaning.DURATION, "us"): pa.duration("us"),
    (Meaning.DURATION, "ns"): pa.duration("ns"),
    (Meaning.YEAR, "years"): pa.int32(),
}
"""Times by their units, as numbers count them and columns store them."""

_TIMES_IN_WORDS = {
    (Meaning.DATE, "days"): "dates",
    (Meaning.LOCAL_TIME, "ms"): "local times with up to 3 digits of a second",
    (Meaning.LOCAL_TIME, "us"): "local times with up to 6 digits of a second",
    (Meaning.INSTANT, "ms"): "instants with up to 3 digits of a second",
    (Meaning.INSTANT, "us"): "instants with up to 6 digits of a second",
}


def _read(plan: ColumnPlan, type_: pa.DataType, source: SourceType) -> Reader:
    """Return how values of a source are read into a column."""
    if plan.logical in DECIMALS:
        # A text is bytes in base64 only where its source says so, and counts in the scale of its source.
        scale = source.scale if source.logical == DECIMAL else None
        return readers.decimals(type_, scale) if isinstance(type_, pa.Decimal128Type) else readers.digits(scale)
    own = time_type(plan.type, plan.logical)
    if own is not None:
        return read_time(own, time_type(source.type, source.logical) or own, type_, source)
    if source.logical in DECIMALS and plan.type in _NUMBERS:
        return readers.from_decimals(_NUMBERS[plan.type], source.scale)
    return _read_plain(plan.type, source)


def read_time(own: LogicalType, other: LogicalType, type_: pa.DataType, source: SourceType) -> Reader:
    """Return how times of a source are read into a column.

    Args:
        own, other: what the attribute and its source say.
        type_: of the column.
        source: the source.
    """
    counted = _TIMES[other.says, other.counts] if other.counts else None
    match conversion(other, own):
        case Conversion.REFUSED:
            return readers.nothing
        case Conversion.BY_ZONE if not source.time_zone:
            return readers.local_times_of_no_zone(source.schema)
        case Conversion.BY_ZONE:
            return readers.instants_of_local_times(counted, source.time_zone, type_)
        case Conversion.EXACT if counted is not None:
            return readers.whole_numbers(counted if own.stored_in else type_, type_)
        case Conversion.EXACT:
            return readers.times(type_)


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
    **{name: readers.whole_numbers(type_, type_) for name, type_ in INTEGERS.items()},
    "float": readers.short_fractions,
    "double": readers.fractions,
    "number": readers.fractions,
}
