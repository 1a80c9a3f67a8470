"""What logical names say of values, and which times can become which others in typed columns.

The names are Debezium's, Kafka Connect's, Avro's and the formats of JSON Schema. Avro's ``decimal``, ``date``,
``time-millis`` and ``timestamp-millis`` are Connect's once a schema is imported.

Source: docs/reference/typed-columns.md, "Logical types" and "Conversions" (a test follows each row).
"""

from __future__ import annotations

from enum import Enum, StrEnum

from metl_gui.values import Value


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


class LogicalType(Value):
    """One logical name on one kind of plain types.

    Args:
        name: as schemas write it.
        on: the plain type; of whole numbers also any wider one.
        says: what values mean.
        counts: the unit of a number: ``days``, ``ms``, ``us``, ``ns`` or ``years``; empty for everything else.
        stored_in: the unit of the typed column; empty where that is of the plain type, or of a scale.
    """

    name: str
    on: str
    says: Meaning
    counts: str = ""
    stored_in: str = ""


CONNECT, DEBEZIUM = "org.apache.kafka.connect.data.", "io.debezium.time."
DECIMAL, VARIABLE_SCALE_DECIMAL = f"{CONNECT}Decimal", "io.debezium.data.VariableScaleDecimal"
DECIMALS = (DECIMAL, VARIABLE_SCALE_DECIMAL)
_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64, "integer": 64}

LOGICAL_TYPES = (
    LogicalType(f"{DEBEZIUM}Date", "int32", Meaning.DATE, "days", "days"),
    LogicalType(f"{DEBEZIUM}IsoDate", "string", Meaning.DATE, "", "days"),
    LogicalType(f"{DEBEZIUM}Time", "int32", Meaning.TIME_OF_DAY, "ms"),
    LogicalType(f"{DEBEZIUM}MicroTime", "int64", Meaning.TIME_OF_DAY, "us"),
    LogicalType(f"{DEBEZIUM}NanoTime", "int64", Meaning.TIME_OF_DAY, "ns"),
    LogicalType(f"{DEBEZIUM}IsoTime", "string", Meaning.TEXT),
    LogicalType(f"{DEBEZIUM}ZonedTime", "string", Meaning.TEXT),
    LogicalType(f"{DEBEZIUM}Timestamp", "int64", Meaning.LOCAL_TIME, "ms", "ms"),
    LogicalType(f"{DEBEZIUM}MicroTimestamp", "int64", Meaning.LOCAL_TIME, "us", "us"),
    LogicalType(f"{DEBEZIUM}NanoTimestamp", "int64", Meaning.LOCAL_TIME, "ns"),
    LogicalType(f"{DEBEZIUM}IsoTimestamp", "string", Meaning.LOCAL_TIME, "", "us"),
    LogicalType(f"{DEBEZIUM}ZonedTimestamp", "string", Meaning.INSTANT, "", "us"),
    LogicalType(f"{DEBEZIUM}Year", "int32", Meaning.YEAR, "years"),
    LogicalType(f"{DEBEZIUM}MicroDuration", "int64", Meaning.DURATION, "us"),
    LogicalType(f"{DEBEZIUM}NanoDuration", "int64", Meaning.DURATION, "ns"),
    LogicalType(f"{DEBEZIUM}Interval", "string", Meaning.TEXT),
    LogicalType(VARIABLE_SCALE_DECIMAL, "struct", Meaning.DECIMAL),
    LogicalType(DECIMAL, "bytes", Meaning.DECIMAL),
    LogicalType(f"{CONNECT}Date", "int32", Meaning.DATE, "days", "days"),
    LogicalType(f"{CONNECT}Time", "int32", Meaning.TIME_OF_DAY, "ms"),
    LogicalType(f"{CONNECT}Timestamp", "int64", Meaning.INSTANT, "ms", "ms"),
    LogicalType("time-micros", "int64", Meaning.TIME_OF_DAY, "us"),
    LogicalType("timestamp-micros", "int64", Meaning.INSTANT, "us", "us"),
    LogicalType("timestamp-nanos", "int64", Meaning.INSTANT, "ns"),
    LogicalType("local-timestamp-millis", "int64", Meaning.LOCAL_TIME, "ms", "ms"),
    LogicalType("local-timestamp-micros", "int64", Meaning.LOCAL_TIME, "us", "us"),
    LogicalType("local-timestamp-nanos", "int64", Meaning.LOCAL_TIME, "ns"),
    LogicalType("duration", "bytes", Meaning.BYTES),
    LogicalType("date-time", "string", Meaning.INSTANT, "", "us"),
    LogicalType("date", "string", Meaning.DATE, "", "days"),
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
    if type_ in _BITS and on in _BITS:
        return _BITS[type_] >= _BITS[on]
    return type_ == on


def conversion(source: LogicalType, column: LogicalType) -> Conversion:
    """Return what becomes of times of a source in a column of another, or the same, logical type."""
    if not column.stored_in and source.counts != column.counts:
        return Conversion.REFUSED
    if (source.says, column.says) == (Meaning.LOCAL_TIME, Meaning.INSTANT):
        return Conversion.BY_ZONE
    return Conversion.EXACT if source.says is column.says else Conversion.REFUSED
