"""Texts of records with some of their values hidden; digits, order and names stay as they came.

Records may be envelopes, wrapped by a reader of topics, or written as text within others.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from metl_gui.formats.record_wrapper import is_wrapper

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
_ROWS = frozenset(("before", "after", "updatedFields"))
"""Members of an envelope that MongoDB's connector writes as texts."""
_KEY_HEADERS = frozenset(("__debezium.oldkey", "__debezium.newkey"))
"""Headers that hold the key of a row, in whatever form the connector writes keys."""
_PAIR = 2


def hidden(raw: bytes, wanted: frozenset[Names]) -> bytes | None:
    """Return a record without the values that paths lead to, ``None`` where it cannot be told which they are."""
    return _hidden(raw, wanted, is_record=True)


def _hidden(raw: bytes, wanted: frozenset[Names], *, is_record: bool = False) -> bytes | None:
    if raw.strip() == b"null":
        return raw
    if raw.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        return msgspec.json.encode(_walk(msgspec.Raw(raw.strip()), wanted, wanted, is_record=is_record))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _walk(raw: msgspec.Raw, active: frozenset[Names], wanted: frozenset[Names], *, is_record: bool = False) -> object:
    """Hide what ``active`` paths lead to from here; ``wanted`` ones begin again in every object below.

    Args:
        raw: the text.
        active, wanted: paths.
        is_record: it is a record, or a list of records; what lies in one wraps nothing.

    Raises:
        msgspec.MsgspecError: it is no JSON.
    """
    text = bytes(raw).lstrip()
    if not (active or wanted) or text[:1] not in (b"{", b"["):
        return raw
    if text.startswith(b"["):
        return [_walk(part, active, wanted, is_record=is_record) for part in _arrays.decode(text)]
    found = _objects.decode(text)
    is_envelope = "op" in found or "payload" in found
    wraps = "topic" in found or (is_record and is_wrapper(found))
    left: dict[str, object] = {}
    for name, part in found.items():
        further = frozenset(path[1:] for path in active | wanted if path[0] == name)
        is_text = bytes(part).lstrip().startswith(b'"')
        is_coded = name in _CODED or (name == "data" and "specversion" in found and is_text)
        if () in further or is_coded:
            left[name] = HIDDEN
        elif name == "headers" and wraps:
            left[name] = _headers(part, wanted)
        elif is_text and name in _WRAPPED:
            left[name] = _in_text(part, wanted, is_anything=wraps)
        elif is_text and name in _ROWS:
            left[name] = _in_text(part, wanted | further)
        else:
            left[name] = _walk(part, further, frozenset() if is_envelope and name in _PLACES else wanted)
    return left


def _in_text(raw: msgspec.Raw, wanted: frozenset[Names], *, is_anything: bool = False) -> object:
    """Hide what a message written as text holds; where it may be anything, plain text is hidden whole."""
    inner = _texts.decode(raw)
    if inner.lstrip()[:1] not in ("{", "["):
        return HIDDEN if is_anything else raw
    found = _hidden(inner.encode(), wanted)
    return HIDDEN if found is None else found.decode()


def _headers(raw: msgspec.Raw, wanted: frozenset[Names]) -> object:
    """Hide what headers hold: an object, or a list of pairs, or of objects with a name and a value."""
    text = bytes(raw).lstrip()
    if text.startswith(b"["):
        return [_named_header(part, wanted) for part in _arrays.decode(text)]
    return _header_object(text, wanted) if text.startswith(b"{") else raw


def _named_header(raw: msgspec.Raw, wanted: frozenset[Names]) -> object:
    text = bytes(raw).lstrip()
    if text.startswith(b"{"):
        found = _objects.decode(text)
        name = next((found[each] for each in ("key", "name") if each in found), None)
        if name is None or "value" not in found:
            return _header_object(text, wanted)
        return {**found, "value": _header(_name_in(name), found["value"], wanted)}
    pair = _arrays.decode(text) if text.startswith(b"[") else []
    return [pair[0], _header(_name_in(pair[0]), pair[1], wanted)] if len(pair) == _PAIR else HIDDEN


def _header_object(text: bytes, wanted: frozenset[Names]) -> object:
    return {name: _header(name, part, wanted) for name, part in _objects.decode(text).items()}


def _name_in(raw: msgspec.Raw) -> str:
    return _texts.decode(raw) if bytes(raw).lstrip().startswith(b'"') else ""


def _header(name: str, raw: msgspec.Raw, wanted: frozenset[Names]) -> object:
    if (name,) in wanted:
        return HIDDEN
    start = bytes(raw).lstrip()[:1]
    if start == b'"':
        return _in_text(raw, wanted, is_anything=name in _KEY_HEADERS)
    return _walk(raw, wanted, wanted) if start in (b"{", b"[") or name not in _KEY_HEADERS else HIDDEN
