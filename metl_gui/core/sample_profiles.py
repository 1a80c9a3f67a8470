"""What the values of a schema look like, without telling any of them: what a project keeps of samples.

Source: contract.md §2 (the project holds only profiles).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import msgspec
from msgspec import Raw

from metl_gui.core.json_text import is_null, text_of
from metl_gui.core.version_tasks import pattern_of

_MOST_PATTERNS = 5
_MOST_DISTINCT = 10_000
_KINDS = {ord('"'): "string", ord("{"): "object", ord("["): "array", ord("t"): "boolean", ord("f"): "boolean"}


@dataclass(frozen=True, slots=True)
class AttributeProfile:
    """What the values of one attribute look like.

    Args:
        path: of the attribute.
        types: how many values were of each JSON type, the commonest first.
        filled: share of the rows in which it is there and not null.
        patterns: forms of its texts and numbers, the commonest first (``core.version_tasks.pattern_of``).
        shortest, longest: letters of a text, digits and marks of a number; 0 without any.
        distinct: how many different values there were, at least.

    Masked attributes have types and ``filled`` only.
    """

    path: str
    types: tuple[tuple[str, int], ...] = ()
    filled: float = 0.0
    patterns: tuple[str, ...] = ()
    shortest: int = 0
    longest: int = 0
    distinct: int = 0

    @property
    def without_forms(self) -> AttributeProfile:
        """The same with nothing that speaks of values."""
        return replace(self, patterns=(), shortest=0, longest=0, distinct=0)


@dataclass(frozen=True, slots=True)
class SchemaProfile:
    """What the rows of one schema look like.

    Args:
        schema_id: the schema.
        rows: how many were looked at.
        when_ms: when (milliseconds since 1970).
        attributes: of each attribute that any version has, by path.
    """

    schema_id: int
    rows: int
    when_ms: int
    attributes: tuple[AttributeProfile, ...] = ()

    def of_path(self, path: str) -> AttributeProfile | None:
        """Return what the values at a path look like."""
        return next((each for each in self.attributes if each.path == path), None)


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
        """Look at the value of the next row, ``None`` where it is missing."""
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
        """Say what they look like."""
        return AttributeProfile(
            self.path,
            tuple(self._types.most_common()),
            round(sum(self._types.values()) / self.rows, 3) if self.rows else 0.0,
            tuple(form for form, _ in self._forms.most_common(_MOST_PATTERNS)),
            min(self._lengths, default=0),
            max(self._lengths, default=0),
            len(self._values),
        )


def without_masked(profile: SchemaProfile, masked: Iterable[str]) -> SchemaProfile:
    """Take away what speaks of the values at some paths."""
    hidden = frozenset(masked)
    kept = (each.without_forms if each.path in hidden else each for each in profile.attributes)
    return replace(profile, attributes=tuple(kept))


def profile_words(profile: AttributeProfile) -> str:
    """Say in a line what values look like: ``80 % filled, like A-9999, 6 letters long, about 40 different``."""
    parts = [f"{profile.filled:.0%} filled".replace("%", " %")] if profile.filled < 1 else []
    if profile.patterns:
        parts.append(f"like {' or '.join(profile.patterns[:2])}")
    if profile.longest:
        parts.append(f"{_lengths(profile)} long")
    if profile.distinct:
        parts.append(f"{profile.distinct:,} different")
    return ", ".join(parts)


def _lengths(profile: AttributeProfile) -> str:
    if profile.shortest == profile.longest:
        return f"{profile.longest} letter{'s' if profile.longest != 1 else ''}"
    return f"{profile.shortest} to {profile.longest} letters"


_PROFILES = msgspec.json.Decoder(tuple[AttributeProfile, ...])


def encode(profile: SchemaProfile) -> str:
    """Write the attributes of a profile as JSON."""
    return msgspec.json.encode(profile.attributes).decode()


def decode(text: str) -> tuple[AttributeProfile, ...]:
    """Read them back; what was written by another hand and cannot be read says nothing."""
    try:
        return _PROFILES.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return ()
