"""Results as the JSON documents of docs/reference/json.md: one key for each field, in the order of the fields."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any


class JsonResult:
    """A frozen result that is written as its fields; one whose document has other keys says so in ``as_json``."""

    __slots__ = ()

    def as_json(self) -> dict[str, Any]:
        """Return the document."""
        return _fields(self)


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}


def _plain(value: Any) -> Any:
    if hasattr(value, "as_json"):
        return value.as_json()
    if is_dataclass(value):
        return _fields(value)
    if isinstance(value, dict):
        return {_plain(name): _plain(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, Path) else value
