"""Types of columns as Debezium's connectors write them, by dialect.

Those of PostgreSQL are seen in what the real connector writes (``registry.postgres_types``); the others follow the type
tables of Debezium's documentation, with the connectors' defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from metl_gui.registry.postgres_types import DECIMAL, NO_MODIFIER, ConnectType, Modes, array_type, connect_type

_TIME, _DATA = "io.debezium.time.", "io.debezium.data."
_DEFAULTS = Modes()
_STRING, _BYTES = ConnectType("string"), ConnectType("bytes")
_ZONED = ConnectType("string", f"{_TIME}ZonedTimestamp")
_VARIABLE = ConnectType("struct", f"{_DATA}VariableScaleDecimal")

_NATIVE: Mapping[str, str] = {
    "SMALLINT": "int2", "INT": "int4", "BIGINT": "int8", "SMALLSERIAL": "int2", "SERIAL": "int4", "BIGSERIAL": "int8",
    "DECIMAL": "numeric", "FLOAT": "float4", "DOUBLE": "float8", "BOOLEAN": "bool", "VARCHAR": "varchar",
    "CHAR": "bpchar", "VARBINARY": "bytea",
}  # fmt: skip
"""What the parser calls a type of PostgreSQL, to what the database calls it, where that differs in more than case."""

SERIALS = frozenset({"SMALLSERIAL", "SERIAL", "BIGSERIAL"})


def type_of(dialect: str, kind: exp.DataType, named: Mapping[str, ConnectType | None]) -> ConnectType | None:
    """Return the type of a column, ``None`` where the connector leaves it out.

    Args:
        dialect: sqlglot's name of it.
        kind: the type as it was parsed.
        named: enumerations and domains that were made before, by their names.
    """
    numbers = [int(str(one.this)) for one in kind.expressions if str(one.this).isdecimal()]
    name = kind_name(kind)
    if dialect == "postgres":
        return _of_postgres(kind, name, numbers, named)
    if dialect == "oracle" and name == "DECIMAL":
        return _oracle_number([_ALL_DIGITS, *numbers] if _has_all_digits(kind) else numbers)
    if dialect == "oracle":
        return _of_oracle(kind, name, numbers)
    if name == "USERDEFINED":
        name = own_name(kind).upper()
    found = (_TSQL if dialect == "tsql" else _MYSQL).get(name)
    return found(numbers) if found is not None else None


def _of_postgres(
    kind: exp.DataType, name: str, numbers: list[int], named: Mapping[str, ConnectType | None]
) -> ConnectType | None:
    if name == "ARRAY":
        members = [one for one in kind.expressions if hasattr(one, "is_type")]
        inner = members[0] if members else None
        while inner is not None and kind_name(inner) == "ARRAY":
            inner = inner.expressions[0]
        if inner is None:
            return None
        name = kind_name(inner)
        native = own_name(inner) if name == "USERDEFINED" else _NATIVE.get(name, name.lower())
        is_enum = named.get(native) == connect_type("enum", NO_MODIFIER, _DEFAULTS)
        return array_type("enum" if is_enum else native, _modifier(native, _numbers(inner)), _DEFAULTS)
    native = own_name(kind) if name == "USERDEFINED" else _NATIVE.get(name, name.lower())
    if native in named:
        return named[native]
    return connect_type(native, _modifier(native, numbers), _DEFAULTS)


def kind_name(kind: exp.DataType) -> str:
    """Return what the parser calls a type, upper case."""
    found = kind.this
    if isinstance(found, exp.Interval):
        return "INTERVAL"
    return found.upper() if isinstance(found, str) else str(found.name)


def own_name(kind: exp.DataType) -> str:
    """Return the name of a type that the parser does not know, without its schema."""
    written = kind.args.get("kind")
    text = written if isinstance(written, str) else getattr(written, "name", "")
    return str(text).rpartition(".")[2].strip('"').lower()


def _numbers(kind: exp.DataType) -> list[int]:
    return [int(str(one.this)) for one in kind.expressions if str(one.this).isdecimal()]


def _modifier(native: str, numbers: list[int]) -> int:
    if not numbers:
        return 1 if native == "bit" else NO_MODIFIER
    if native == "numeric":
        return ((numbers[0] << 16) | (numbers[1] if len(numbers) > 1 else 0)) + 4
    return numbers[0]


def _of_oracle(kind: exp.DataType, name: str, numbers: list[int]) -> ConnectType | None:
    found = _ORACLE.get(own_name(kind).upper() if name == "USERDEFINED" else name)
    return found(numbers) if found is not None else None


_ALL_DIGITS = 38


def _has_all_digits(kind: exp.DataType) -> bool:
    """Return whether a NUMBER has a scale and as many digits as there can be: ``NUMBER(*, 0)``."""
    return len(kind.expressions) > 1 and isinstance(kind.expressions[0].this, exp.Star)


def _oracle_number(numbers: list[int]) -> ConnectType:
    """Return the type of a NUMBER: an integer where it is small enough and has no digits behind the point."""
    if not numbers:
        return _VARIABLE
    digits, scale = numbers[0], numbers[1] if len(numbers) > 1 else 0
    if scale:
        return ConnectType("bytes", DECIMAL, scale)
    for limit, name in ((3, "int8"), (5, "int16"), (10, "int32"), (19, "int64")):
        if digits < limit:
            return ConnectType(name)
    return ConnectType("bytes", DECIMAL, 0)


def _always(type_: str, logical: str = "", scale: int | None = None) -> Callable[[list[int]], ConnectType]:
    return lambda _: ConnectType(type_, logical, scale)


def _decimal(default_scale: int) -> Callable[[list[int]], ConnectType]:
    def scaled(numbers: list[int]) -> ConnectType:
        return ConnectType("bytes", DECIMAL, numbers[1] if len(numbers) > 1 else 0 if numbers else default_scale)

    return scaled


def _bits(numbers: list[int]) -> ConnectType:
    return ConnectType("boolean") if not numbers or numbers[0] == 1 else ConnectType("bytes", f"{_DATA}Bits")


def _timestamp(default_digits: int) -> Callable[[list[int]], ConnectType]:
    return lambda numbers: ConnectType("int64", f"{_TIME}{_unit(numbers, default_digits)}Timestamp")


def _time(default_digits: int) -> Callable[[list[int]], ConnectType]:
    def timed(numbers: list[int]) -> ConnectType:
        unit = _unit(numbers, default_digits)
        return ConnectType("int64" if unit else "int32", f"{_TIME}{unit}Time")

    return timed


def _unit(numbers: list[int], default_digits: int) -> str:
    digits = numbers[0] if numbers else default_digits
    return "" if digits <= 3 else "Micro" if digits <= 6 else "Nano"


_TEXTS = ("CHAR", "VARCHAR", "NCHAR", "NVARCHAR", "TEXT", "TINYTEXT", "MEDIUMTEXT", "LONGTEXT")
_BINARIES = ("BINARY", "VARBINARY", "BLOB", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB", "IMAGE", "ROWVERSION")
_COMMON: Mapping[str, Callable[[list[int]], ConnectType]] = {
    **dict.fromkeys(_TEXTS, lambda _: _STRING),
    **dict.fromkeys(_BINARIES, lambda _: _BYTES),
    "SMALLINT": _always("int16"),
    "INT": _always("int32"),
    "BIGINT": _always("int64"),
    "DOUBLE": _always("double"),
    "DATE": _always("int32", f"{_TIME}Date"),
}
_SINGLE_DIGITS = 24
"""A float of more binary digits takes eight bytes."""

_GEOMETRIES = (
    "GEOMETRY", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION",
    "GEOMCOLLECTION",
)  # fmt: skip
_MYSQL: Mapping[str, Callable[[list[int]], ConnectType]] = {
    **_COMMON,
    "TINYINT": _always("int16"),
    "UTINYINT": _always("int16"),
    "BOOLEAN": _always("int16"),
    "SERIAL": _always("int64"),
    "USMALLINT": _always("int32"),
    "MEDIUMINT": _always("int32"),
    "UMEDIUMINT": _always("int32"),
    "UINT": _always("int64"),
    "UBIGINT": _always("int64"),
    "FLOAT": lambda numbers: ConnectType("double" if len(numbers) == 1 and numbers[0] > _SINGLE_DIGITS else "float"),
    "DECIMAL": _decimal(0),
    "UDECIMAL": _decimal(0),
    "BIT": _bits,
    "YEAR": _always("int32", f"{_TIME}Year"),
    "TIME": _always("int64", f"{_TIME}MicroTime"),
    "DATETIME": _timestamp(0),
    "TIMESTAMP": _timestamp(0),
    "TIMESTAMPTZ": lambda _: _ZONED,
    "JSON": _always("string", f"{_DATA}Json"),
    "ENUM": _always("string", f"{_DATA}Enum"),
    "SET": _always("string", f"{_DATA}EnumSet"),
    "POINT": _always("struct", f"{_DATA}geometry.Point"),
    **dict.fromkeys(_GEOMETRIES, _always("struct", f"{_DATA}geometry.Geometry")),
}
_TSQL: Mapping[str, Callable[[list[int]], ConnectType]] = {
    **_COMMON,
    "BIT": _always("boolean"),
    "BOOLEAN": _always("boolean"),
    "TINYINT": _always("int16"),
    "UTINYINT": _always("int16"),
    "FLOAT": lambda numbers: ConnectType("float" if numbers and numbers[0] <= _SINGLE_DIGITS else "double"),
    "DECIMAL": _decimal(0),
    "MONEY": _always("bytes", DECIMAL, 4),
    "SMALLMONEY": _always("bytes", DECIMAL, 4),
    "TIME": _time(7),
    "DATETIME": _timestamp(3),
    "SMALLDATETIME": _timestamp(0),
    "DATETIME2": _timestamp(7),
    "TIMESTAMPTZ": lambda _: _ZONED,
    "UUID": _always("string", f"{_DATA}Uuid"),
    "XML": _always("string", f"{_DATA}Xml"),
    "SYSNAME": lambda _: _STRING,
}
_ORACLE: Mapping[str, Callable[[list[int]], ConnectType]] = {
    **_COMMON,
    "INT": _always("bytes", DECIMAL, 0),
    "SMALLINT": _always("bytes", DECIMAL, 0),
    "FLOAT": lambda _: _VARIABLE,
    "DATE": _timestamp(0),
    "TIMESTAMP": _timestamp(6),
    "TIMESTAMPTZ": lambda _: _ZONED,
    "TIMESTAMPLTZ": lambda _: _ZONED,
    "INTERVAL": _always("int64", f"{_TIME}MicroDuration"),
    "BINARY_FLOAT": _always("float"),
    "BINARY_DOUBLE": _always("double"),
    "NCLOB": lambda _: _STRING,
    "ROWID": lambda _: _STRING,
    "XMLTYPE": _always("string", f"{_DATA}Xml"),
    "RAW": lambda _: _BYTES,
}
