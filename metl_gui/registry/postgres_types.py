"""Columns of PostgreSQL as Debezium's schemas say them, so that a tree is the same before and after the first event.

Every rule was seen in what the real connector (3.3.1) writes. Columns of other types it leaves out.

Source: docs/reference/cdc.md, "Types"; *observed* where that is silent (arrays, domains, negative scales).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from metl_gui.errors import SchemaError
from metl_gui.values import Value

_DEBEZIUM, _CONNECT = "io.debezium.", "org.apache.kafka.connect.data."
DECIMAL = f"{_CONNECT}Decimal"
NO_MODIFIER = -1
_HEADER = 4
"""Modifiers of numerics and texts are moved by so much."""

_MILLI_DIGITS = 3
_MICRO_DIGITS = 6


class ConnectType(Value):
    """The type of an attribute.

    Args:
        type: the plain one.
        logical: its logical name, empty for none.
        scale: of a decimal.
    """

    type: str
    logical: str = ""
    scale: int | None = None


class Modes(Value):
    """How a connector was told to write values, named as its settings with ``_`` for the dots; its defaults here.

    Args:
        decimal_handling_mode: ``precise``, ``double`` or ``string``.
        time_precision_mode: ``adaptive``, ``adaptive_time_microseconds``, ``connect``, ``isostring``, ``microseconds``
            or ``nanoseconds``.
        binary_handling_mode: ``bytes``, ``base64``, ``base64-url-safe`` or ``hex``.
        hstore_handling_mode: ``json`` or ``map``.
        interval_handling_mode: ``numeric`` or ``string``.
    """

    decimal_handling_mode: str = "precise"
    time_precision_mode: str = "adaptive"
    binary_handling_mode: str = "bytes"
    hstore_handling_mode: str = "json"
    interval_handling_mode: str = "numeric"


_CHOICES: Mapping[str, tuple[str, ...]] = {
    "decimal_handling_mode": ("precise", "double", "string"),
    "time_precision_mode": (
        "adaptive", "adaptive_time_microseconds", "connect", "isostring", "microseconds", "nanoseconds",
    ),
    "binary_handling_mode": ("bytes", "base64", "base64-url-safe", "hex"),
    "hstore_handling_mode": ("json", "map"),
    "interval_handling_mode": ("numeric", "string"),
}  # fmt: skip
MODE_SETTINGS = tuple(name.replace("_", ".") for name in Modes.__struct_fields__)
"""The settings of a connector that change what its schemas say."""


def modes_of(settings: Mapping[str, str]) -> Modes:
    """Return the modes that settings of a connector name.

    Raises:
        SchemaError: a value is none.
    """
    found = {name.replace(".", "_"): value for name, value in settings.items() if name in MODE_SETTINGS}
    for name, value in found.items():
        if value not in _CHOICES[name]:
            setting = name.replace("_", ".")
            raise SchemaError(
                f"{value!r} is no value of {setting}.", hint=f"Debezium takes {', '.join(_CHOICES[name])}."
            )
    return Modes(**found)


def connect_type(native: str, modifier: int, modes: Modes) -> ConnectType | None:
    """Return the type of a column, ``None`` where Debezium leaves it out.

    Args:
        native: ``pg_type.typname`` of it or, of a domain, of the type below; ``enum`` for enumerations.
        modifier: ``pg_attribute.atttypmod``; ``-1`` for none.
        modes: how the connector was told to write values.
    """
    if native in _PLAIN:
        return _PLAIN[native]
    writes = _BY_MODE.get(native)
    return writes(modifier, modes) if writes is not None else None


def array_type(native: str, modifier: int, modes: Modes) -> ConnectType | None:
    """Return the type of an array by the type of its members, ``None`` where Debezium leaves it out.

    Args:
        native: of the members, as for ``connect_type``.
        modifier: of the column.
        modes: how the connector was told to write values.
    """
    if native == "bit":
        return connect_type(native, modifier, modes)
    return ConnectType("array") if native in _IN_ARRAYS else None


def _named(type_: str, logical: str) -> ConnectType:
    return ConnectType(type_, f"{_DEBEZIUM}{logical}")


def _numeric(modifier: int, modes: Modes) -> ConnectType:
    if modes.decimal_handling_mode != "precise":
        return ConnectType(modes.decimal_handling_mode)
    if modifier == NO_MODIFIER:
        return _named("struct", "data.VariableScaleDecimal")
    # Eleven bits, as the connector reads them: a negative scale comes out large.
    return ConnectType("bytes", DECIMAL, (modifier - _HEADER) & 0x7FF)


def _money(_modifier: int, modes: Modes) -> ConnectType:
    is_precise = modes.decimal_handling_mode == "precise"
    return ConnectType("bytes", DECIMAL, 2) if is_precise else ConnectType(modes.decimal_handling_mode)


def _bit(modifier: int, _modes: Modes) -> ConnectType:
    return ConnectType("boolean") if modifier in (1, NO_MODIFIER) else _named("bytes", "data.Bits")


def _bytea(_modifier: int, modes: Modes) -> ConnectType:
    return ConnectType("bytes" if modes.binary_handling_mode == "bytes" else "string")


def _hstore(_modifier: int, modes: Modes) -> ConnectType:
    return _named("string", "data.Json") if modes.hstore_handling_mode == "json" else ConnectType("map")


def _interval(_modifier: int, modes: Modes) -> ConnectType:
    is_number = modes.interval_handling_mode == "numeric"
    return _named("int64", "time.MicroDuration") if is_number else _named("string", "time.Interval")


def _date(_modifier: int, modes: Modes) -> ConnectType:
    match modes.time_precision_mode:
        case "connect":
            return ConnectType("int32", f"{_CONNECT}Date")
        case "isostring":
            return _named("string", "time.IsoDate")
        case _:
            return _named("int32", "time.Date")


def _time(modifier: int, modes: Modes) -> ConnectType:
    match modes.time_precision_mode:
        case "connect":
            return ConnectType("int32", f"{_CONNECT}Time")
        case "isostring":
            return _named("string", "time.IsoTime")
        case "nanoseconds":
            return _named("int64", "time.NanoTime")
        case "adaptive" if _digits(modifier) <= _MILLI_DIGITS:
            return _named("int32", "time.Time")
        case _:
            return _named("int64", "time.MicroTime")


def _timestamp(modifier: int, modes: Modes) -> ConnectType:
    match modes.time_precision_mode:
        case "connect":
            return ConnectType("int64", f"{_CONNECT}Timestamp")
        case "isostring":
            return _named("string", "time.IsoTimestamp")
        case "nanoseconds":
            return _named("int64", "time.NanoTimestamp")
        case "adaptive" | "adaptive_time_microseconds" if _digits(modifier) <= _MILLI_DIGITS:
            return _named("int64", "time.Timestamp")
        case _:
            return _named("int64", "time.MicroTimestamp")


def _digits(modifier: int) -> int:
    """Return how many digits of a second are kept."""
    return _MICRO_DIGITS if modifier == NO_MODIFIER else modifier


_TEXTS = (
    "bpchar", "varchar", "text", "name", "citext", "char", "inet", "cidr", "macaddr", "macaddr8", "int4range",
    "int8range", "numrange", "tsrange", "tstzrange", "daterange",
)  # fmt: skip

_PLAIN: Mapping[str, ConnectType] = {
    **dict.fromkeys(_TEXTS, ConnectType("string")),
    "bool": ConnectType("boolean"),
    "int2": ConnectType("int16"),
    "int4": ConnectType("int32"),
    "int8": ConnectType("int64"),
    "oid": ConnectType("int64"),
    "float4": ConnectType("float"),
    "float8": ConnectType("double"),
    "int2vector": ConnectType("array"),
    "oidvector": ConnectType("array"),
    "varbit": _named("bytes", "data.Bits"),
    "timetz": _named("string", "time.ZonedTime"),
    "timestamptz": _named("string", "time.ZonedTimestamp"),
    "uuid": _named("string", "data.Uuid"),
    "json": _named("string", "data.Json"),
    "jsonb": _named("string", "data.Json"),
    "xml": _named("string", "data.Xml"),
    "ltree": _named("string", "data.Ltree"),
    "tsvector": _named("string", "data.Tsvector"),
    "enum": _named("string", "data.Enum"),
    "point": _named("struct", "data.geometry.Point"),
    "geometry": _named("struct", "data.geometry.Geometry"),
    "geography": _named("struct", "data.geometry.Geography"),
}
_BY_MODE: Mapping[str, Callable[[int, Modes], ConnectType]] = {
    "numeric": _numeric,
    "money": _money,
    "bit": _bit,
    "bytea": _bytea,
    "hstore": _hstore,
    "interval": _interval,
    "date": _date,
    "time": _time,
    "timestamp": _timestamp,
}
_NOT_IN_ARRAYS = {"name", "xml", "point", "varbit", "money", "interval", "int2vector", "oidvector"}
_IN_ARRAYS = frozenset({*_PLAIN, *_BY_MODE} - _NOT_IN_ARRAYS)
