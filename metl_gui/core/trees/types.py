"""Which types can be read as which others, and types as people write them in one word.

Types are compared from version to version of one side (``is_widening``) and from source to target (``is_readable``).

In one word stands a plain type, a format of text, or both with a scale: ``string`` · ``date-time`` (a text in that
format) · ``bytes/org.apache.kafka.connect.data.Decimal(2)``.

Source: docs/architecture/model.md, "Trees, versions, lineages" (widening); docs/reference/json.md, "Problems" (types
that differ).
"""

from __future__ import annotations

import re

from metl_gui.core.trees.declarations import TYPES, AttributeDeclaration
from metl_gui.core.trees.nodes import Attribute
from metl_gui.errors import EditError, near_names

_WIDER: dict[str, tuple[str, ...]] = {
    "int8": ("int16", "int32", "int64", "integer", "number", "float", "double"),
    "int16": ("int32", "int64", "integer", "number", "float", "double"),
    "int32": ("int64", "integer", "number", "double"),
    "int64": ("integer", "number"),
    "integer": ("number",),
    "float": ("double", "number"),
    "double": ("number",),
}
_OPEN = ("any", "union", "unknown", "null")
_NUMBERS = ("number", "double", "float", "integer", "int64", "int32", "int16", "int8")
_DECIMALS = ("org.apache.kafka.connect.data.Decimal", "io.debezium.data.VariableScaleDecimal")
_FORMATS: dict[str, tuple[str, ...]] = {
    "date-time": ("io.debezium.time.ZonedTimestamp", "io.debezium.time.IsoTimestamp"),
    "date": ("io.debezium.time.IsoDate",),
    "time": ("io.debezium.time.ZonedTime", "io.debezium.time.IsoTime"),
    "uuid": ("io.debezium.data.Uuid",),
    "duration": ("io.debezium.time.Interval",),
}
"""For formats of JSON Schema, the logical types whose values are written that way."""

_NUMBER_FORMATS = frozenset({"int8", "int16", "int32", "int64", "float", "double"})
"""Formats by which JSON Schemas give numbers a size."""

_KINDS_OF_TEXT = frozenset(
    {
        *("uri", "uri-reference", "uri-template", "iri", "iri-reference", "url", "email", "idn-email", "hostname"),
        *("idn-hostname", "ipv4", "ipv6", "uuid", "regex", "json-pointer", "relative-json-pointer"),
        *(f"io.debezium.data.{name}" for name in ("Enum", "EnumSet", "Uuid", "Json", "Xml", "Ltree", "Tsvector")),
    }
)
"""Logical types of texts that are plain texts to whoever does not know them; times are none of them."""


def is_widening(before: Attribute, after: Attribute) -> bool:
    """Whether every value of ``before`` can be read as a value of ``after``.

    The same type is; a type that is open or not known on either side is; a decimal may not lose scale; a text may lose
    what kind of text it is, but no number, date or time its meaning.
    """
    if before.type in _OPEN or after.type in _OPEN:
        return True
    (one, one_logical), (other, other_logical) = _sized(before), _sized(after)
    if one != other:
        return one_logical == other_logical and other in _WIDER.get(one, ())
    if one_logical != other_logical:
        return one == "string" and not other_logical and one_logical in _KINDS_OF_TEXT
    return before.scale is None or after.scale is None or after.scale >= before.scale


def _sized(attribute: Attribute) -> tuple[str, str]:
    """Return type and logical name of an attribute; a number whose format is a size has that as its type."""
    if attribute.type in ("integer", "number") and attribute.logical in _NUMBER_FORMATS:
        return attribute.logical, ""
    return attribute.type, attribute.logical


def is_readable(source: Attribute, target: Attribute) -> bool:
    """Whether values of a source attribute can be read as the type of the CDM attribute they go to.

    A decimal reads as a number, whole numbers as any number; a text reads as a text with a format when it has no
    logical type of its own or one that is written in that format.
    """
    if is_widening(source, target):
        return True
    if source.logical in _DECIMALS:
        return target.type in ("number", "double", "float") or target.logical in _DECIMALS
    if target.type in _NUMBERS:
        return not source.logical and source.type in _NUMBERS and is_number_within(source.type, target.type)
    if source.type != target.type:
        return False
    return not (source.logical and target.logical) or source.logical in _FORMATS.get(target.logical, ())


def is_number_within(source: str, target: str) -> bool:
    """Whether numbers of one plain type are all numbers of another."""
    return target == source or target in _WIDER.get(source, ())


def plain_number(attribute: Attribute) -> str:
    """Return the plain type of a number; the size that is its format where it has one."""
    return _sized(attribute)[0]


FORMATS = ("date-time", "date", "time", "duration", "uuid")
"""Formats of text that need no plain type before them."""
CHOICES = (*TYPES[:4], *FORMATS, *TYPES[4:])
"""What a list of types offers."""
_WHOLE = re.compile(r"([^/()]+)(?:/([^()]+?))?(?:\((\d{1,4})\))?")


def type_name(attribute: Attribute | AttributeDeclaration) -> str:
    """Write a type so that ``read_type`` gives it back."""
    if attribute.type == "string" and attribute.logical in FORMATS and attribute.scale is None:
        return attribute.logical
    logical = f"/{attribute.logical}" if attribute.logical else ""
    return f"{attribute.type}{logical}" + ("" if attribute.scale is None else f"({attribute.scale})")


def read_type(text: str) -> tuple[str, str, int | None]:
    """Read a type.

    Returns:
        Plain type, logical name and scale.

    Raises:
        EditError: there is no such type.
    """
    found = _WHOLE.fullmatch(text.strip())
    plain, logical, scale = found.groups() if found else (text.strip(), None, None)
    if plain in FORMATS and not logical and scale is None:
        return "string", plain, None
    if found is None or plain not in TYPES:
        hint = near_names(plain, CHOICES)
        raise EditError(f"There is no type {text.strip()!r}.", hint=f"{hint} Types are {', '.join(CHOICES)}.".strip())
    return plain, logical or "", None if scale is None else int(scale)
