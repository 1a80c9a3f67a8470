"""Keys of messages as canonical text: two messages are of one row exactly where these are equal.

Members stand in the order of their names, without spaces, escaped only where JSON asks for it. Numbers are equal by
value, to any digit: ``1.50`` is ``1.5``, ``1E3`` is ``1000`` and ``-0`` is ``0``. Texts are compared as they are.

Source: RFC 8785, of which two things differ: names stand in the order of their code points, not of UTF-16, and numbers
are exact, not those of binary floating point.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

import msgspec
from msgspec import Raw

from metl_gui.formats.json_text import NULL, quoted

_MOST_ZEROS = 64
"""So many zeros are written out; numbers that need more keep an exponent."""

_EXPONENT_DIGITS = 18
_PLAIN = rb'"[^"\\\x00-\x1f]*+"|-?[1-9][0-9]{0,63}+(?![.eE0-9])|0(?![.eE0-9])|true|false|null'
_MEMBER = re.compile(rb'("[^"\\\x00-\x1f]*+"):(%b)' % _PLAIN)
_ONE = re.compile(rb'\{"[^"\\\x00-\x1f]*+":(?:%b)\}' % _PLAIN)
_NUMBER = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?)(\d+))?", re.ASCII)
_members = msgspec.json.Decoder(dict[str, Raw]).decode
_items = msgspec.json.Decoder(list[Raw]).decode
_value = msgspec.json.Decoder(Raw).decode
_text = msgspec.json.Decoder(str).decode


def row_keys(keys: Iterable[bytes]) -> list[str | None]:
    """Return the canonical texts of keys, null for null."""
    return [row_key(key) for key in keys]


def row_key(key: bytes) -> str | None:
    """Return the canonical text of a key.

    Args:
        key: any JSON value.

    Raises:
        ValueError: it is no JSON, or not UTF-8.
    """
    if key == NULL:
        return None
    if _ONE.fullmatch(key) is None:
        key = _plain_members(key) or _canonical(bytes(_value(key)))
    return key.decode()


def _plain_members(key: bytes) -> bytes | None:
    """Sort members without spaces, escapes and fractions; ``None`` for other keys."""
    found = _MEMBER.findall(key)
    length = sum(len(name) + len(value) + 2 for name, value in found) + 1
    if not found or len(key) != length or key[:1] != b"{":
        return None
    # Quotes sort before everything that a name may hold but spaces and exclamation marks.
    by_name = sorted((name[1:-1], value) for name, value in found)
    if any(one[0] == other[0] for one, other in pairwise(by_name)):
        return None
    return b"{%b}" % b",".join(b'"%b":%b' % member for member in by_name)


def _canonical(raw: bytes) -> bytes:
    """Write any value in its canonical form; of a name that is there twice the last value counts."""
    match raw[:1]:
        case b"{":
            found = sorted(_members(raw).items(), key=lambda member: member[0])
            return b"{%b}" % b",".join(b"%b:%b" % (quoted(name), _canonical(bytes(value))) for name, value in found)
        case b"[":
            return b"[%b]" % b",".join(_canonical(bytes(one)) for one in _items(raw))
        case b'"':
            return quoted(_text(raw))
        case b"t" | b"f" | b"n":
            return raw
        case _:
            return canonical_number(raw.decode()).encode()


def canonical_number(text: str) -> str:
    """Return the one text of a number that all its spellings share.

    Args:
        text: as JSON has it; an exponent of more than 18 digits is left as it stands.
    """
    found = _NUMBER.fullmatch(text)
    if found is None or len(found[5] or "") > _EXPONENT_DIGITS:
        return text
    sign, whole, fraction = found[1], found[2], found[3] or ""
    digits = (whole + fraction).lstrip("0")
    exponent = int(f"{found[4] or ''}{found[5] or 0}") - len(fraction)
    significant = digits.rstrip("0")
    exponent += len(digits) - len(significant)
    if not significant:
        return "0"
    if 0 <= exponent <= _MOST_ZEROS:
        return f"{sign}{significant}{'0' * exponent}"
    behind = -exponent
    if 0 < behind <= len(significant) + _MOST_ZEROS:
        filled = significant.rjust(behind + 1, "0")
        return f"{sign}{filled[:-behind]}.{filled[-behind:]}"
    return f"{sign}{significant}E{exponent}"
