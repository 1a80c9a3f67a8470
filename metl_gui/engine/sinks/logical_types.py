"""What logical names say of values, what becomes of them in columns, and which can become which others.

The names are Debezium's, Kafka Connect's, Avro's and the formats of JSON Schema. Avro's ``decimal``, ``date``,
``time-millis`` and ``timestamp-millis`` are Connect's once a schema is imported.

Source: docs/reference/typed-columns.md, "Logical types" and "Conversions" (a test follows each row).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum

import pyarrow as pa


class Meaning(StrEnum):
    """What values say, in words; those that say the same can stand for each other."""

    DATE = "date"
    LOCAL_TIME = "local time"
    INSTANT = "instant"
    TIME_OF_DAY = "time of day"
    DURATION = "duration"
    YEAR = "year"
    DECIMAL = "decimal"
    TEXT = "text"
    BYTES = "bytes"


class Conversion(Enum):
    """What becomes of values of a source in a column."""

    EXACT = "as far as nothing of a value is lost"
    BY_ZONE = "where the schema states its time zone, and there is one instant"
    REFUSED = "not at all"


@dataclass(frozen=True, slots=True)
class LogicalType:
    """One logical name on one kind of plain types.

    Args:
        name: as schemas write it.
        on: the plain type; of whole numbers also any wider one.
        says: what values mean.
        counted: what a number counts; ``None`` for everything else.
        stored: the column; ``None`` for that of the plain type, or of a scale.
    """

    name: str
    on: str
    says: Meaning
    counted: pa.DataType | None = None
    stored: pa.DataType | None = None


CONNECT, DEBEZIUM = "org.apache.kafka.connect.data.", "io.debezium.time."
DECIMAL, VARIABLE_SCALE_DECIMAL = f"{CONNECT}Decimal", "io.debezium.data.VariableScaleDecimal"
DECIMALS = (DECIMAL, VARIABLE_SCALE_DECIMAL)
INTEGERS = {"int8": pa.int8(), "int16": pa.int16(), "int32": pa.int32(), "int64": pa.int64(), "integer": pa.int64()}

_DAYS, _MS, _US, _NS = pa.date32(), pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("ns")
_MS_UTC, _US_UTC, _NS_UTC = pa.timestamp("ms", "UTC"), pa.timestamp("us", "UTC"), pa.timestamp("ns", "UTC")
_MS_LONG, _US_LONG, _NS_LONG = pa.duration("ms"), pa.duration("us"), pa.duration("ns")
_YEARS = pa.int32()

LOGICAL_TYPES = (
    LogicalType(f"{DEBEZIUM}Date", "int32", Meaning.DATE, _DAYS, _DAYS),
    LogicalType(f"{DEBEZIUM}IsoDate", "string", Meaning.DATE, None, _DAYS),
    LogicalType(f"{DEBEZIUM}Time", "int32", Meaning.TIME_OF_DAY, _MS_LONG),
    LogicalType(f"{DEBEZIUM}MicroTime", "int64", Meaning.TIME_OF_DAY, _US_LONG),
    LogicalType(f"{DEBEZIUM}NanoTime", "int64", Meaning.TIME_OF_DAY, _NS_LONG),
    LogicalType(f"{DEBEZIUM}IsoTime", "string", Meaning.TEXT),
    LogicalType(f"{DEBEZIUM}ZonedTime", "string", Meaning.TEXT),
    LogicalType(f"{DEBEZIUM}Timestamp", "int64", Meaning.LOCAL_TIME, _MS, _MS),
    LogicalType(f"{DEBEZIUM}MicroTimestamp", "int64", Meaning.LOCAL_TIME, _US, _US),
    LogicalType(f"{DEBEZIUM}NanoTimestamp", "int64", Meaning.LOCAL_TIME, _NS),
    LogicalType(f"{DEBEZIUM}IsoTimestamp", "string", Meaning.LOCAL_TIME, None, _US),
    LogicalType(f"{DEBEZIUM}ZonedTimestamp", "string", Meaning.INSTANT, None, _US_UTC),
    LogicalType(f"{DEBEZIUM}Year", "int32", Meaning.YEAR, _YEARS),
    LogicalType(f"{DEBEZIUM}MicroDuration", "int64", Meaning.DURATION, _US_LONG),
    LogicalType(f"{DEBEZIUM}NanoDuration", "int64", Meaning.DURATION, _NS_LONG),
    LogicalType(f"{DEBEZIUM}Interval", "string", Meaning.TEXT),
    LogicalType(VARIABLE_SCALE_DECIMAL, "struct", Meaning.DECIMAL),
    LogicalType(DECIMAL, "bytes", Meaning.DECIMAL),
    LogicalType(f"{CONNECT}Date", "int32", Meaning.DATE, _DAYS, _DAYS),
    LogicalType(f"{CONNECT}Time", "int32", Meaning.TIME_OF_DAY, _MS_LONG),
    LogicalType(f"{CONNECT}Timestamp", "int64", Meaning.INSTANT, _MS_UTC, _MS_UTC),
    LogicalType("time-micros", "int64", Meaning.TIME_OF_DAY, _US_LONG),
    LogicalType("timestamp-micros", "int64", Meaning.INSTANT, _US_UTC, _US_UTC),
    LogicalType("timestamp-nanos", "int64", Meaning.INSTANT, _NS_UTC),
    LogicalType("local-timestamp-millis", "int64", Meaning.LOCAL_TIME, _MS, _MS),
    LogicalType("local-timestamp-micros", "int64", Meaning.LOCAL_TIME, _US, _US),
    LogicalType("local-timestamp-nanos", "int64", Meaning.LOCAL_TIME, _NS),
    LogicalType("duration", "bytes", Meaning.BYTES),
    LogicalType("date-time", "string", Meaning.INSTANT, None, _US_UTC),
    LogicalType("date", "string", Meaning.DATE, None, _DAYS),
    LogicalType("time", "string", Meaning.TEXT),
    LogicalType("duration", "string", Meaning.TEXT),
    LogicalType("uuid", "string", Meaning.TEXT),
)
"""Debezium's names, Connect's, Avro's, and formats of JSON Schema, in this order. Nanoseconds and times of day stay
integers, as Spark reads no column of their own type."""

_BY_NAME: dict[str, tuple[LogicalType, ...]] = {
    name: tuple(one for one in LOGICAL_TYPES if one.name == name) for name in {one.name for one in LOGICAL_TYPES}
}
_PLAIN_MEANINGS = frozenset({Meaning.DECIMAL, Meaning.TEXT, Meaning.BYTES})


def time_type(type_: str, logical: str) -> LogicalType | None:
    """Return what an attribute says of a time, where its plain type goes with its logical name."""
    return next(
        (one for one in _BY_NAME.get(logical, ()) if one.says not in _PLAIN_MEANINGS and _is_on(type_, one.on)), None
    )


def _is_on(type_: str, on: str) -> bool:
    if type_ in INTEGERS and on in INTEGERS:
        return INTEGERS[type_].bit_width >= INTEGERS[on].bit_width
    return type_ == on


def conversion(source: LogicalType, column: LogicalType) -> Conversion:
    """Return what becomes of times of a source in a column of another, or the same, logical type."""
    is_kept = column.stored is None
    if is_kept and _unit(source) != _unit(column):
        return Conversion.REFUSED
    if (source.says, column.says) == (Meaning.LOCAL_TIME, Meaning.INSTANT):
        return Conversion.BY_ZONE
    return Conversion.EXACT if source.says is column.says else Conversion.REFUSED


def _unit(one: LogicalType) -> str:
    """Return what a number counts; every text is of its own unit."""
    return getattr(one.counted, "unit", str(one.counted))
