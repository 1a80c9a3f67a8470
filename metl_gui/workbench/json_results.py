"""Results as the JSON documents of docs/reference/json.md: one key for each field, in the order of the fields."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Any

from metl_gui.values import Value


class JsonResult(Value):
    """A frozen result that is written as its fields; one whose document has other keys says so in ``as_json``."""

    def as_json(self) -> dict[str, Any]:
        """Return the document."""
        return _fields(self)


def _fields(value: Value) -> dict[str, Any]:
    return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}


def _plain(value: Any) -> Any:
    if hasattr(value, "as_json"):
        return value.as_json()
    if isinstance(value, Value):
        return _fields(value)
    if isinstance(value, dict):
        return {_plain(name): _plain(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, Path) else value
