"""Look at JSON values row by row, to say what they look like."""

from __future__ import annotations

from collections import Counter

from msgspec import Raw

from metl_gui.core.project.sample_profiles import AttributeProfile, pattern_of
from metl_gui.formats.json_text import is_null, text_of

_MOST_PATTERNS = 5
_MOST_DISTINCT = 10_000
_KINDS = {ord('"'): "string", ord("{"): "object", ord("["): "array", ord("t"): "boolean", ord("f"): "boolean"}


def kind_of(raw: bytes | Raw) -> str:
    """Return the JSON type of a value: ``string``, ``integer``, ``number``, ``boolean``, ``null``, ..."""
    text = bytes(raw)
    if is_null(text):
        return "null"
    kind = _KINDS.get(text[0]) if text else "null"
    return kind or ("number" if any(mark in text for mark in b".eE") else "integer")


def shown_value(raw: bytes | Raw) -> str:
    """Return a value as people read it: a text without its quotes, anything else as it is written."""
    text = text_of(raw)
    return bytes(raw).decode("utf-8", "replace") if text is None else text


class Profiler:
    """Looks at the values of one attribute, row by row.

    Args:
        path: of the attribute.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.rows = 0
        self._types: Counter[str] = Counter()
        self._forms: Counter[str] = Counter()
        self._lengths: set[int] = set()
        self._values: set[bytes] = set()

    def take(self, value: bytes | Raw | None) -> None:
        """Inspect the value of the next row, ``None`` where it is missing."""
        self.rows += 1
        if value is None or is_null(value):
            return
        kind = kind_of(value)
        self._types[kind] += 1
        if len(self._values) < _MOST_DISTINCT:
            self._values.add(bytes(value))
        if kind in ("string", "integer", "number"):
            text = shown_value(value)
            self._forms[pattern_of(text)] += 1
            self._lengths.add(len(text))

    def profile(self) -> AttributeProfile:
        """Return what they look like."""
        return AttributeProfile(
            self.path,
            tuple(self._types.most_common()),
            round(sum(self._types.values()) / self.rows, 3) if self.rows else 0.0,
            tuple(form for form, _ in self._forms.most_common(_MOST_PATTERNS)),
            min(self._lengths, default=0),
            max(self._lengths, default=0),
            len(self._values),
        )
