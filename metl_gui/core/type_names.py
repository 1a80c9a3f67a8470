"""Types as people write them in one word: a plain type, a format of text, or both with a scale.

``string`` · ``date-time`` (a text in that format) · ``bytes/org.apache.kafka.connect.data.Decimal(2)``.
"""

from __future__ import annotations

import re

from metl_gui.core.declarations import TYPES, AttributeDeclaration
from metl_gui.core.nodes import Attribute
from metl_gui.errors import EditError, near_names

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
