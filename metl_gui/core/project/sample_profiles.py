"""What the values of a schema look like, without telling any of them: what a project keeps of samples.

Source: docs/reference/project-file.md (a project holds profiles of values).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from metl_gui.values import Value

_LONG_RUN = 4
_LONGEST_PATTERN = 40
_RUNS = re.compile(r"(9+|A+|a+)")


class AttributeProfile(Value):
    """What the values of one attribute look like.

    Args:
        path: of the attribute.
        types: how many values were of each JSON type, the commonest first.
        filled: share of the rows in which it is there and not null.
        patterns: forms of its texts and numbers, the commonest first (``pattern_of``).
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


class SchemaProfile(Value):
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


def pattern_of(text: str) -> str:
    """Write the form of a text: which characters are digits, capitals, letters; all others as they are."""
    head = text[:_LONGEST_PATTERN]
    form = "".join("9" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c for c in head)
    short = _RUNS.sub(lambda run: run[0] if len(run[0]) <= _LONG_RUN else run[0][0] + "+", form)
    return short + ("…" if len(text) > len(head) else "")


def without_masked(profile: SchemaProfile, masked: Iterable[str]) -> SchemaProfile:
    """Take away what speaks of the values at some paths."""
    hidden = frozenset(masked)
    kept = (each.without_forms if each.path in hidden else each for each in profile.attributes)
    return replace(profile, attributes=tuple(kept))


def profile_words(profile: AttributeProfile) -> str:
    """Describe in a line what values look like: ``80 % filled, like A-9999, 6 letters long, about 40 different``."""
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
