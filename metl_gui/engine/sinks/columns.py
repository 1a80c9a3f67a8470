"""Typed columns: what the type of a CDM attribute becomes in Parquet, and how values get into it from JSON.

| attribute | column |
|---|---|
| string, and texts with a kind of their own (uuid, enum, json, times of day, durations ...) | string |
| boolean; int8 to int64; integer | boolean; int8 to int64; int64 |
| float; double, number | float; double; the texts ``NaN``, ``Infinity`` and ``-Infinity`` are values too |
| Connect's ``Decimal`` with a scale from 0 to 38 | decimal(38, scale); negative scales count as 0 |
| ``Decimal`` of another scale or none, ``VariableScaleDecimal`` | string: the digits |
| ``Date``, and texts in the format of a date | date |
| ``Timestamp``, ``MicroTimestamp``, ``IsoTimestamp`` | timestamp in ms, us, us, of no zone |
| Connect's ``Timestamp``; ``ZonedTimestamp``, ``date-time`` | timestamp in ms; us, in UTC |
| ``NanoTimestamp`` and all numeric times of day and durations | the integer: Spark reads no column of their own type |
| bytes | binary |
| array, map, struct, union, any, null, unknown | string: the JSON as it stands |

Values are never converted: a column takes a value when reading it back gives the same value, else it refuses it. Of a
fraction in binary floating point that means as many digits as its type tells apart: 17, in a float 9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

from metl_gui.engine.kernel.plan import ColumnPlan, SourceType
from metl_gui.engine.sinks import readers

Array: TypeAlias = "pa.Array[Any]"
Read: TypeAlias = Callable[[bytes], Array]
_CONNECT = "org.apache.kafka.connect.data."
_DEBEZIUM = "io.debezium.time."
_DECIMAL = f"{_CONNECT}Decimal"
_VARIABLE = "io.debezium.data.VariableScaleDecimal"
_DECIMALS = (_DECIMAL, _VARIABLE)
_DIGITS = 38
_INTEGERS = {"int8": pa.int8(), "int16": pa.int16(), "int32": pa.int32(), "int64": pa.int64(), "integer": pa.int64()}
_UNITS = {
    f"{_CONNECT}Date": "days",
    f"{_DEBEZIUM}Date": "days",
    f"{_CONNECT}Time": "ms of the day",
    f"{_DEBEZIUM}Time": "ms of the day",
    f"{_DEBEZIUM}MicroTime": "us of the day",
    f"{_DEBEZIUM}NanoTime": "ns of the day",
    f"{_CONNECT}Timestamp": "ms",
    f"{_DEBEZIUM}Timestamp": "ms",
    f"{_DEBEZIUM}MicroTimestamp": "us",
    f"{_DEBEZIUM}NanoTimestamp": "ns",
    f"{_DEBEZIUM}MicroDuration": "us long",
    f"{_DEBEZIUM}NanoDuration": "ns long",
    f"{_DEBEZIUM}Year": "years",
}
_INSTANTS: dict[str, pa.DataType] = {
    f"{_CONNECT}Date": pa.date32(),
    f"{_DEBEZIUM}Date": pa.date32(),
    f"{_CONNECT}Timestamp": pa.timestamp("ms", "UTC"),
    f"{_DEBEZIUM}Timestamp": pa.timestamp("ms"),
    f"{_DEBEZIUM}MicroTimestamp": pa.timestamp("us"),
}
_WRITTEN: dict[str, pa.DataType] = {
    "date": pa.date32(),
    f"{_DEBEZIUM}IsoDate": pa.date32(),
    "date-time": pa.timestamp("us", "UTC"),
    f"{_DEBEZIUM}ZonedTimestamp": pa.timestamp("us", "UTC"),
    f"{_DEBEZIUM}IsoTimestamp": pa.timestamp("us"),
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
    read: Read
    by_source: dict[tuple[str, str], Read]


def column(plan: ColumnPlan, sources: tuple[SourceType, ...] = ()) -> Column:
    """Decide how an attribute is stored.

    Args:
        plan: the attribute.
        sources: the sources of another type, of this and of other attributes.
    """
    type_, wants, read = _stored(plan, (plan.type, plan.logical, plan.scale))
    by_source = {
        (source.schema, source.version): _stored(plan, (source.type, source.logical, source.scale))[2]
        for source in sources
        if source.path == plan.path
    }
    return Column(plan.path, type_, wants, read, by_source)


def _stored(plan: ColumnPlan, source: tuple[str, str, int | None]) -> tuple[pa.DataType, str, Read]:
    """Return type, what it takes and how it is read from a source of a type."""
    if plan.logical in _DECIMALS:
        return _decimal(plan, source)
    if plan.logical in _UNITS and _UNITS.get(source[1], _UNITS[plan.logical]) != _UNITS[plan.logical]:
        type_, wants, _ = _plain(plan)
        return type_, wants, readers.nothing
    if plan.type == "bytes" and source[0] != "bytes":
        return pa.binary(), "bytes", readers.nothing
    return _plain(plan)


def _plain(plan: ColumnPlan) -> tuple[pa.DataType, str, Read]:
    """Decide on what is no decimal."""
    if plan.type in _INTEGERS:
        type_ = _INTEGERS[plan.type]
        counted = _INSTANTS.get(plan.logical, type_)
        at = counted if counted.bit_width == type_.bit_width else type_
        return at, f"whole numbers of {type_.bit_width} bits", readers.whole_numbers(type_, at)
    match plan.type:
        case "string" if plan.logical in _WRITTEN:
            written = _WRITTEN[plan.logical]
            wants = "dates" if written.bit_width == pa.date32().bit_width else "times with up to 6 digits of a second"
            return written, wants, readers.times(written)
        case "string":
            return pa.string(), "text", readers.texts
        case "boolean":
            return pa.bool_(), "true and false", readers.truths
        case "float":
            return pa.float32(), "numbers of 32 bits, about 9 digits", readers.short_fractions
        case "double" | "number":
            return pa.float64(), "numbers of 64 bits, about 17 digits", readers.fractions
        case "bytes":
            return pa.binary(), "bytes in base64", readers.byte_texts
        case _:
            return pa.string(), "any JSON", readers.json_texts


def _decimal(plan: ColumnPlan, source: tuple[str, str, int | None]) -> tuple[pa.DataType, str, Read]:
    """Decide on a decimal; texts are bytes in base64 only where the source says so, and count in its scale."""
    text_scale = source[2] if source[1] == _DECIMAL else None
    if plan.logical == _VARIABLE or plan.scale is None or plan.scale > _DIGITS:
        return pa.string(), "decimals", readers.digits(text_scale)
    type_ = pa.decimal128(_DIGITS, max(plan.scale, 0))
    wants = f"decimals of {_DIGITS} digits, {type_.scale} of them after the point"
    return type_, wants, readers.decimals(type_, text_scale)
