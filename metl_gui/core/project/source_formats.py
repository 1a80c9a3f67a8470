"""The formats of schema sources, by the names that people write."""

from __future__ import annotations

from enum import StrEnum

from metl_gui.errors import SchemaError


class Format(StrEnum):
    """The formats of schema sources; ``auto`` looks into each file."""

    AUTO = "auto"
    JSON_SCHEMA = "json-schema"
    CONNECT_JSON = "connect-json"
    CONNECT_SCHEMA = "connect-schema"
    AVRO = "avro"
    SQL = "sql"
    SQL_POSTGRESQL = "sql-postgresql"
    SQL_MYSQL = "sql-mysql"
    SQL_SQLSERVER = "sql-sqlserver"
    SQL_ORACLE = "sql-oracle"


def parse_format(text: str) -> Format:
    """Return the format that a person named.

    Raises:
        SchemaError: there is no such format.
    """
    try:
        return Format(text)
    except ValueError as error:
        known = ", ".join(one.value for one in Format)
        raise SchemaError(f"There is no format {text}.", f"Formats are {known}.", "Leave it out for auto.") from error
