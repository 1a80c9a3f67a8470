"""The shapes in which an unavailable value stands in a row (cdc-formats.md §4)."""

from __future__ import annotations

import base64
import json
from functools import lru_cache

_HEX = "hex:"


@lru_cache(maxsize=256)
def forms_of(placeholder: str) -> frozenset[bytes]:
    """Return every JSON value that means "unchanged": text, list of text, list of codes, base64, and maps.

    Lists and maps are known as connectors write them and as tools write them that put a space behind each separator.

    Args:
        placeholder: the text that the connector is set to, with ``hex:`` before hexadecimal digits.
    """
    content = _content(placeholder)
    text = content.decode("utf-8", "replace")
    as_map = {text: text}
    values = (
        text,
        [text],
        list(content),
        base64.b64encode(content).decode(),
        base64.urlsafe_b64encode(content).decode(),
        as_map,
        json.dumps(as_map, separators=(",", ":"), ensure_ascii=False),
        json.dumps(as_map, ensure_ascii=False),
    )
    spellings = ((",", ":"), (", ", ": "))
    written = (json.dumps(value, separators=spelling, ensure_ascii=False) for value in values for spelling in spellings)
    return frozenset(text.encode() for text in written) | {json.dumps(placeholder, ensure_ascii=False).encode()}


def _content(placeholder: str) -> bytes:
    if placeholder.startswith(_HEX):
        try:
            return bytes.fromhex(placeholder.removeprefix(_HEX))
        except ValueError:
            return placeholder.encode()
    return placeholder.encode()
