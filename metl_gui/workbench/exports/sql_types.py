"""Types of databases for the plain types of attributes: a value keeps what it says in its message."""

from __future__ import annotations

from collections.abc import Sequence

from metl_gui.core.trees.nodes import Attribute
from metl_gui.core.trees.types import is_readable

TEXT, JSON = "text", "json"
_PLAIN = {
    "int8": "smallint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "integer": "decimal(38, 0)",
    "number": "double",
    "float": "double",
    "double": "double",
    "boolean": "boolean",
    "string": TEXT,
    "bytes": TEXT,
}
"""By plain type; bytes are text in base64, or digits where the connector writes decimals so; all else is JSON."""


def sql_type(attribute: Attribute) -> str:
    """Return the type of a column that holds the values of an attribute."""
    return _PLAIN.get(attribute.type, JSON)


def common_type(sources: Sequence[Attribute], target: Attribute) -> str:
    """Return the type of a column that several attributes fill.

    It is theirs when they agree; else the target's where all can be read as it, and text where not.
    """
    types = {sql_type(source) for source in sources}
    if len(types) == 1:
        return types.pop()
    is_safe = target.type in _PLAIN and all(is_readable(source, target) for source in sources)
    return sql_type(target) if is_safe else TEXT
