"""Headers of a record, which stand as JSON beside its value: their names, and their values as they came."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw

from metl_gui.formats.json_text import Members, is_object, is_text, text_of

_any = msgspec.json.Decoder(Raw).decode
_object = msgspec.json.Decoder(dict[str, Raw]).decode
_list = msgspec.json.Decoder(list[Raw]).decode

OLD_KEY = "__debezium.oldkey"
"""The header that names the old key, on the create of a change of the key."""

_OLD_KEY_MARK = b'"__debezium.oldkey"'
_PAIR = 2


def header_pairs(headers: bytes) -> Iterator[tuple[str, Raw]]:
    """Yield names and values of headers written as an object, as a list of pairs, or of objects with key and value."""
    try:
        written = _any(headers)
        if is_object(written):
            yield from _object(written).items()
        elif bytes(written).startswith(b"["):
            for one in _list(written):
                yield from _pairs_of(one)
    except msgspec.DecodeError:
        return


def _pairs_of(one: Raw) -> Iterator[tuple[str, Raw]]:
    if is_object(one):
        members: Members = _object(one)
        name = text_of(members.get("key", members.get("name")))
        yield from members.items() if name is None else ((name, members.get("value", Raw(b"null"))),)
    elif bytes(one).startswith(b"["):
        pair = _list(one)
        name = text_of(pair[0]) if len(pair) == _PAIR else None
        if name is not None:
            yield name, pair[1]


def names_old_key(headers: bytes) -> bool:
    """Return whether headers may name an old key; an escaped name is none.

    Args:
        headers: headers of the record as JSON, empty for none.
    """
    return _OLD_KEY_MARK in headers


def old_key_in(headers: bytes) -> bytes | None:
    """Return the old key that headers name, as the connector's converter wrote it; ``None`` where they name none.

    Args:
        headers: headers of the record as JSON, empty for none.
    """
    if not names_old_key(headers):
        return None
    found = next((raw for name, raw in header_pairs(headers) if name == OLD_KEY), None)
    if found is None or not is_text(found):
        return None if found is None else bytes(found)
    text = text_of(found)
    return None if text is None else text.encode()
