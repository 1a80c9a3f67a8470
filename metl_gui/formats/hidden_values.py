"""Texts of records with some of their values hidden; digits, order and names stay as they came.

Records may be envelopes, wrapped by a reader of topics, or written as text within others.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

HIDDEN = "•••"
"""What stands in the place of a hidden value."""

Names: TypeAlias = tuple[str, ...]
"""A path, name by name, that begins in any object of a record."""

_objects = msgspec.json.Decoder(dict[str, msgspec.Raw])
_arrays = msgspec.json.Decoder(list[msgspec.Raw])
_texts = msgspec.json.Decoder(str)
_PLACES = frozenset(("source", "transaction", "schema"))
"""Members of an envelope that say where a message came from, not what it says."""
_CODED = frozenset(("value_b64", "key_b64", "data_base64"))
_WRAPPED = frozenset(("value", "message", "key"))


def hidden(raw: bytes, wanted: frozenset[Names]) -> bytes | None:
    """Return a record without the values that paths lead to, ``None`` where it cannot be told which they are."""
    if raw.strip() == b"null":
        return raw
    if raw.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        return msgspec.json.encode(_walk(msgspec.Raw(raw.strip()), wanted, wanted))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _walk(raw: msgspec.Raw, active: frozenset[Names], wanted: frozenset[Names]) -> object:
    """Hide what ``active`` paths lead to from here; ``wanted`` ones begin again in every object below.

    Raises:
        msgspec.MsgspecError: it is no JSON.
    """
    text = bytes(raw).lstrip()
    if not (active or wanted) or text[:1] not in (b"{", b"["):
        return raw
    if text.startswith(b"["):
        return [_walk(part, active, wanted) for part in _arrays.decode(text)]
    found = _objects.decode(text)
    is_envelope = "op" in found or "payload" in found
    is_wrapper = "topic" in found
    left: dict[str, object] = {}
    for name, part in found.items():
        further = frozenset(path[1:] for path in active | wanted if path[0] == name)
        is_coded = name in _CODED or (name == "data" and "specversion" in found and bytes(part).startswith(b'"'))
        if () in further or is_coded:
            left[name] = HIDDEN
        elif name in _WRAPPED and bytes(part).lstrip().startswith(b'"'):
            left[name] = _in_text(part, wanted, is_wrapper)
        else:
            left[name] = _walk(part, further, frozenset() if is_envelope and name in _PLACES else wanted)
    return left


def _in_text(raw: msgspec.Raw, wanted: frozenset[Names], is_wrapper: bool) -> object:
    """Hide what a message written as text holds; the plain text of a wrapper may be anything."""
    inner = _texts.decode(raw)
    if inner.lstrip()[:1] not in ("{", "["):
        return HIDDEN if is_wrapper else raw
    found = hidden(inner.encode(), wanted)
    return HIDDEN if found is None else found.decode()
