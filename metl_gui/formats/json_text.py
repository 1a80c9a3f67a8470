"""JSON text as records must be written: strict UTF-8, RFC 8259, nesting up to 64, values kept as the bytes they are.

A parsed object is a ``dict`` from name to ``Raw``, the exact bytes of its value. msgspec checks the grammar, the
escapes and lone surrogates even in what it keeps raw (a test watches that it goes on doing so); what it leaves
unchecked is added here: UTF-8 inside strings, nesting and duplicate names.

Source: docs/reference/formats.md, "A record".
"""

from __future__ import annotations

import re
from typing import TypeAlias, cast

import msgspec
from msgspec import Raw

from metl_gui.errors import RecordError

Members: TypeAlias = dict[str, Raw]
"""The members of one object in the order of the text."""

DEPTH_LIMIT = 64
NULL = b"null"
_PIECE_BYTES = 1 << 18
_QUOTE = ord('"')
_OPENING, _CLOSING = list(b"[{"), list(b"]}")
BLANK = b" \t\n\r"
"""What may stand between the tokens of JSON."""

_ON_ONE_LINE = bytes.maketrans(b"\r\n", b"  ")


class ParsedObject(bytes):
    """The text of an object whose members are at hand, so that it is not parsed again.

    Attributes:
        found: its members; their names and values count, whatever stands in the text between its brackets.
    """

    found: dict[str, bytes | Raw]


_members = msgspec.json.Decoder(dict[str, Raw]).decode
_text = msgspec.json.Decoder(str).decode
_value = msgspec.json.Decoder(Raw).decode
_name = re.compile(rb'[ \t\n\r]*("[^"\\]*+(?:\\.[^"\\]*+)*+")[ \t\n\r]*:[ \t\n\r]*', re.DOTALL)
_comma = re.compile(rb"[ \t\n\r]*,")


def malformed(detail: str) -> RecordError:
    """Make the error for text that must not be accepted."""
    return RecordError("malformed", detail)


def check(text: bytes) -> None:
    """Refuse text that is not strict UTF-8 or nests too deeply.

    Raises:
        RecordError: ``malformed``.
    """
    if not text.isascii():
        try:
            text.decode()
        except UnicodeDecodeError as error:
            raise malformed(f"byte {error.start} is not UTF-8") from None
    if text.count(b"{") + text.count(b"[") > DEPTH_LIMIT and depth(text) > DEPTH_LIMIT:
        raise malformed(f"objects and arrays are nested deeper than {DEPTH_LIMIT}")


def depth(text: bytes) -> int:
    """Return how deeply objects and arrays nest; brackets in strings do not count.

    Piece by piece, so that a long text with many brackets takes no more memory than a copy of it.
    """
    import numpy as np  # only long or doubtful texts need it

    # Without escaped backslashes and then escaped quotes, every quote begins or ends a string.
    plain = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    steps = np.zeros(256, np.int64)
    steps[_OPENING], steps[_CLOSING] = 1, -1
    deepest = level = quotes = 0
    for start in range(0, len(plain), _PIECE_BYTES):
        letters = np.frombuffer(plain[start : start + _PIECE_BYTES], np.uint8)
        seen = np.cumsum(letters == _QUOTE) + quotes
        levels = np.cumsum(np.where(seen & 1, 0, steps[letters])) + level
        deepest = max(deepest, int(levels.max()))
        level, quotes = int(levels[-1]), int(seen[-1])
    return deepest


def accept(text: bytes) -> bytes:
    """Check one whole value and return it without the space around it.

    Raises:
        RecordError: ``malformed``.
    """
    check(text)
    try:
        return bytes(_value(text))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise malformed(_reason(error)) from None


def members(text: bytes | Raw) -> Members:
    """Parse one object, keep its values raw, and refuse a name that is there twice.

    The text has passed ``check`` as a whole or as part of a larger text.

    Raises:
        RecordError: ``malformed``.
    """
    found = members_unless_repeated(text)
    if not isinstance(text, ParsedObject) and not is_compact(text, found):
        _refuse_repeated(bytes(text), found)
    return found


def members_unless_repeated(text: bytes | Raw) -> Members:
    """Parse one object as ``members`` does; of a name that is there twice the last value counts.

    Raises:
        RecordError: it is not JSON, or not an object.
    """
    if isinstance(text, ParsedObject):
        return cast("Members", text.found)
    try:
        return _members(text)
    except msgspec.ValidationError:
        raise malformed("this is JSON, but not an object") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise malformed(_reason(error)) from None


def bytes_of(raw: bytes | Raw) -> bytes:
    """Return the bytes of a value, without a copy where it is bytes."""
    return bytes(raw) if type(raw) is Raw else raw


def text_of(raw: bytes | Raw | None) -> str | None:
    """Return the text of a JSON string, ``None`` for any other value or none."""
    if raw is None or not is_text(raw):
        return None
    try:
        return _text(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def is_text(raw: bytes | Raw) -> bool:
    """Return whether a value is a string."""
    return bytes(raw)[:1] == b'"'


def is_object(raw: bytes | Raw) -> bool:
    """Return whether a value is an object."""
    return bytes(raw)[:1] == b"{"


def is_null(raw: bytes | Raw | None) -> bool:
    """Return whether a value is null or not there."""
    return raw is None or bytes(raw) == NULL


def is_compact(text: bytes | Raw, found: Members) -> bool:
    """Return whether the lengths of names and values add up to the text, so that nothing else can be in it.

    True proves that no name is there twice, that no space stands around names and values, and that no name is
    escaped; false proves nothing.

    A name has never more letters than bytes in the text, so a sum that fits leaves no room for a second member.
    """
    names = "".join(found)
    return len(text) == len(names) + len(b"".join(found.values())) + 4 * len(found) + 1 and names.isascii()


def on_one_line(text: bytes) -> bytes:
    """Return JSON that was accepted with spaces for its line ends: they stand between tokens, never in a string."""
    return text.translate(_ON_ONE_LINE)


def quoted(text: str) -> bytes:
    """Write a text as a JSON string."""
    return msgspec.json.encode(text)


def _refuse_repeated(text: bytes, found: Members) -> None:
    """Walk over the members in order; where the walk leaves the text, a name was repeated."""
    at = text.index(b"{") + 1
    for number, (name, raw) in enumerate(found.items()):
        if number:
            comma = _comma.match(text, at)
            at = comma.end() if comma else at
        start = _name.match(text, at)
        if start is None or _text(start[1]) != name or not text.startswith(bytes(raw), start.end()):
            raise malformed(f"a name is there twice near {name!r}")
        at = start.end() + len(raw)
    rest = text[at:].strip(BLANK)
    if rest != b"}":
        last = _name.match(rest, 1)
        raise malformed(f"the name {_text(last[1])!r} is there twice" if last else "a name is there twice")


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return f"objects and arrays are nested deeper than {DEPTH_LIMIT}"
    if isinstance(error, UnicodeDecodeError):
        return "a name is not UTF-8"
    return str(error).removeprefix("JSON is malformed: ")
