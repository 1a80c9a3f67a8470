"""How a value or key says which schema wrote it: by headers, by its first bytes, or not at all.

Source: cdc-formats.md §7 (Confluent, Apicurio), the Avro specification (single-object encoding).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

import msgspec

from metl_gui.core.project.writer_schemas import of_content, of_global, of_rabin
from metl_gui.formats.record_wrapper import SINGLE_OBJECT

MAGIC = 0
_SINGLE_OBJECT_BYTES = 10
_SHORT, _LONG = 4, 8
_GUID_BYTES = 16
_MOST_DIGITS = 20
_MARKS = (b"_schema_id", b"apicurio.")


class Framed(NamedTuple):
    """One way to read some bytes.

    Args:
        ids: what their schema may be called, the likeliest first.
        body: what the schema wrote.
    """

    ids: tuple[str, ...]
    body: bytes


def readings(content: bytes, headers: bytes, part: str, framing: str) -> Iterator[Framed]:
    """Yield the ways to read a value or key, the likeliest first; none where it is text.

    Args:
        content: the bytes.
        headers: headers of the record as JSON, empty for none.
        part: ``value`` or ``key``.
        framing: one of ``project.writer_schemas.FRAMINGS``.
    """
    named = ids_in_headers(headers, part) if any(mark in headers for mark in _MARKS) else ()
    if named:
        yield Framed(named, content)
        return
    if content.startswith(SINGLE_OBJECT):
        if len(content) >= _SINGLE_OBJECT_BYTES:
            print_ = int.from_bytes(content[2:_SINGLE_OBJECT_BYTES], "little")
            yield Framed((of_rabin(print_),), content[_SINGLE_OBJECT_BYTES:])
        return
    if not content or content[0] != MAGIC or framing == "none":
        return
    if framing != "apicurio8" and len(content) > _SHORT:
        number = int.from_bytes(content[1 : 1 + _SHORT], "big")
        ids = (str(number), of_content(number), of_global(number))
        yield Framed(ids if framing != "apicurio4" else (ids[1], ids[0]), content[1 + _SHORT :])
    if framing in ("auto", "apicurio8") and len(content) > _LONG:
        number = int.from_bytes(content[1 : 1 + _LONG], "big")
        yield Framed((of_global(number), str(number), of_content(number)), content[1 + _LONG :])


def is_framed(content: bytes, headers: bytes) -> bool:
    """Say whether bytes may be anything but text."""
    return content[:1] in (b"\0", b"\xc3") or any(mark in headers for mark in _MARKS)


def ids_in_headers(headers: bytes, part: str) -> tuple[str, ...]:
    """Return what headers call the schema of a value or key, the likeliest first; empty when they do not."""
    found = {name.lower(): value for name, value in _pairs(headers) if isinstance(value, str | int)}
    ids: list[str] = []
    confluent = found.get(f"__{part}_schema_id")
    if confluent is not None:
        ids.extend(_confluent_ids(confluent))
    for name, named in (("contentid", of_content), ("globalid", of_global)):
        number = _number(found.get(f"apicurio.{part}.{name}"))
        if number is not None:
            ids += [named(number), str(number)]
    return tuple(dict.fromkeys(ids))


def _pairs(headers: bytes) -> Iterator[tuple[str, object]]:
    """Yield names and values of headers written as an object, as a list of pairs, or of objects with key and value."""
    try:
        written = msgspec.json.decode(headers)
    except msgspec.DecodeError:
        return
    if isinstance(written, dict):
        yield from written.items()
    for one in written if isinstance(written, list) else ():
        if isinstance(one, dict):
            name = one.get("key", one.get("name"))
            pairs = [(name, one.get("value"))] if isinstance(name, str) else list(one.items())
            yield from pairs
        elif isinstance(one, list) and len(one) == 2 and isinstance(one[0], str):
            yield one[0], one[1]


def _confluent_ids(written: str | int) -> Iterator[str]:
    """Yield the id in the header of newer Confluent serializers: a byte of version, then a number or a GUID."""
    raw = b"" if isinstance(written, int) else _raw(written)
    if isinstance(written, int) or _is_number(written):
        yield str(int(written))
    elif len(raw) == 1 + _GUID_BYTES and raw[0] == 1:
        yield str(UUID(bytes=raw[1:]))
    elif len(raw) == 1 + _SHORT and raw[0] == MAGIC:
        yield str(int.from_bytes(raw[1:], "big"))
    else:
        try:
            yield str(UUID(written))
        except ValueError:
            yield written


def _number(written: object) -> int | None:
    """Return a number that stands as digits, or as the bytes of a long in base64 or as characters."""
    if isinstance(written, int):
        return written
    if not isinstance(written, str) or not written:
        return None
    if _is_number(written):
        return int(written)
    raw = _raw(written)
    return int.from_bytes(raw, "big") if len(raw) in (_SHORT, _LONG) else None


def _is_number(written: str) -> bool:
    """Say whether a text may be the number of a schema; Python also calls other digits such, and endless ones."""
    return written.isascii() and written.isdigit() and len(written) <= _MOST_DIGITS


def _raw(written: str) -> bytes:
    """Return the bytes that a header was written from: as base64, or one character each."""
    try:
        return base64.b64decode(written, validate=True)
    except (binascii.Error, ValueError):
        return written.encode("latin-1", "replace")
