"""Ways to break a record, a few bytes at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import TypeAlias

from tests.fuzz.values import ATOMS, BROKEN, PLACEHOLDERS, nested, respelled

Mutation: TypeAlias = Callable[[Random, bytes, Sequence[bytes]], bytes]
"""Changes one record, with others at hand."""

_TOKENS = tuple(text.encode("utf-8", "surrogatepass") for text in (*ATOMS, *PLACEHOLDERS))
_BROKEN = tuple(text.encode("utf-8", "surrogatepass") for text in BROKEN)
_NUMBER = re.compile(rb'"[0-9]{1,20}"')
_NUMBERS = (
    *(b'"0"', b'"00"', b'"06"', b'"7"', b'"-1"', b'" 1"', b'"1 "', b'"1x"', b'"x1"', b'"1.5"', b'""', b'"1\\u0031"'),
    *(b'"' + b"1" * length + b'"' for length in (15, 16, 17, 19, 20, 40)),
    *(b"8", b"-1", b"1.5", b"1e3", b"null", b"[1]", b"{}", b"true", b"1" * 17),
)
_BITS = (
    *(
        b'"',
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b" ",
        b"\n",
        b"\r",
        b"\t",
        b"\0",
        b"0",
        b"-",
        b".",
        b"e",
        b"\x0b",
    ),
    *(b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80", b"\xc3", b"\x80", b"\xf0\x9f\x98\x80"),
    *(
        b"\xef\xbb\xbf",
        b"\\ud800",
        b"\\udc00",
        b"\\u0061",
        b"\\u00",
        b'\\"',
        b"\\\\",
        b"null",
        b"true",
        b"\x7f",
        b"\x1f",
    ),
    *(b'"id":1,', b'"op":"d",', b'"a":{},', b',"id":1', b"{}", b"[]", b"  ", b"\xc2\xa0", b"\xe2\x80\xa8", b"/"),
)


def mutate(dice: Random, raw: bytes, others: Sequence[bytes]) -> bytes:
    """Change a record in one place or a few."""
    for _ in range(1 if dice.random() < 0.8 else dice.randrange(2, 5)):
        raw = dice.choice(_MUTATIONS)(dice, raw, others)
    return raw


def _flip(dice: Random, raw: bytes, _: Sequence[bytes]) -> bytes:
    if not raw:
        return b"\0"
    at = dice.randrange(len(raw))
    return raw[:at] + bytes([raw[at] ^ (1 << dice.randrange(8))]) + raw[at + 1 :]


def _insert(dice: Random, raw: bytes, _: Sequence[bytes]) -> bytes:
    at = dice.randrange(len(raw) + 1)
    return raw[:at] + dice.choice(_BITS) + raw[at:]


def _overwrite(dice: Random, raw: bytes, _: Sequence[bytes]) -> bytes:
    at, bits = dice.randrange(len(raw) + 1), dice.choice(_BITS)
    return raw[:at] + bits + raw[at + len(bits) :]


def _remove(dice: Random, raw: bytes, _: Sequence[bytes]) -> bytes:
    at = dice.randrange(len(raw) + 1)
    return raw[:at] + raw[at + dice.choice((1, 1, 1, 2, 8, 40)) :]


def _repeat(dice: Random, raw: bytes, _: Sequence[bytes]) -> bytes:
    at = dice.randrange(len(raw) + 1)
    piece = raw[at : at + dice.choice((1, 4, 8, 30))]
    return raw[:at] + piece * dice.choice((1, 1, 2, 9)) + raw[at:]


def _cut(dice: Random, raw: bytes, _: Sequence[bytes]) -> bytes:
    return raw[: dice.randrange(len(raw) + 1)] if dice.random() < 0.7 else raw[dice.randrange(len(raw) + 1) :]


def _splice(dice: Random, raw: bytes, others: Sequence[bytes]) -> bytes:
    other = dice.choice(others)
    return raw[: dice.randrange(len(raw) + 1)] + other[dice.randrange(len(other) + 1) :]


def _value(dice: Random, raw: bytes, _: Sequence[bytes]) -> bytes:
    """Put another value behind a colon, up to where the old one most likely ends."""
    colon = raw.find(b":", dice.randrange(len(raw) + 1))
    if colon < 0:
        return raw
    ends = [end for end in (raw.find(b",", colon), raw.find(b"}", colon)) if end > 0]
    put = dice.choice(_TOKENS if dice.random() < 0.8 else _BROKEN)
    return raw[: colon + 1] + put + raw[min(ends, default=len(raw)) :]


def _member(dice: Random, raw: bytes, _: Sequence[bytes]) -> bytes:
    """Repeat a member, or take one out."""
    comma = raw.find(b",", dice.randrange(len(raw) + 1))
    if comma < 0:
        return raw
    end = raw.find(b",", comma + 1)
    end = len(raw) - 1 if end < 0 else end
    return raw[:end] + raw[comma:end] + raw[end:] if dice.random() < 0.6 else raw[:comma] + raw[end:]


def _escape(dice: Random, raw: bytes, _: Sequence[bytes]) -> bytes:
    """Spell a letter as an escape."""
    quote = raw.find(b'"', dice.randrange(len(raw) + 1))
    if quote < 0 or quote + 1 >= len(raw) or raw[quote + 1] > 127:
        return raw
    return raw[: quote + 1] + b"\\u%04x" % raw[quote + 1] + raw[quote + 2 :]


def _unescape(dice: Random, raw: bytes, _: Sequence[bytes]) -> bytes:
    """Take a backslash away."""
    at = raw.find(b"\\", dice.randrange(len(raw) + 1))
    return raw if at < 0 else raw[:at] + raw[at + 1 :]


def _digits(dice: Random, raw: bytes, _: Sequence[bytes]) -> bytes:
    """Put another number, or what is nearly one, in place of a text of digits."""
    found = list(_NUMBER.finditer(raw))
    if not found:
        return raw
    start, stop = dice.choice(found).span()
    return raw[:start] + dice.choice(_NUMBERS) + raw[stop:]


def _space(dice: Random, raw: bytes, _: Sequence[bytes]) -> bytes:
    """Put space, or what is none, behind a token."""
    at = raw.find(dice.choice((b",", b":", b"{", b"}", b"[", b'"')), dice.randrange(len(raw) + 1))
    gap = dice.choice((b" ", b"\n", b"\t", b"\r", b" " * 9, b"\n" * 17, b"\0", b"\x0c", b"\xc2\xa0"))
    return raw[: at + 1] + gap + raw[at + 1 :]


def _deepen(dice: Random, raw: bytes, _: Sequence[bytes]) -> bytes:
    colon = raw.find(b":", dice.randrange(len(raw) + 1))
    deep = nested(dice, dice.choice((5, 59, 60, 61, 62, 63, 64, 65, 66)))
    return raw[: colon + 1] + deep.encode() + raw[colon + 1 :].lstrip(b"0123456789nul")


def _lengthen(dice: Random, raw: bytes, _: Sequence[bytes]) -> bytes:
    """Make a name or a string longer by letters of one or two bytes."""
    quote = raw.find(b'"', dice.randrange(len(raw) + 1))
    letters = dice.choice((b"a", b"\xc3\xa9", b"\\n", b"1")) * dice.choice((1, 7, 8, 9, 56, 64, 1000, 5000))
    return raw[: quote + 1] + letters + raw[quote + 1 :]


def _respell(dice: Random, raw: bytes, _: Sequence[bytes]) -> bytes:
    """Write the record as another writer may."""
    try:
        return respelled(dice, raw.decode()).encode()
    except (ValueError, RecursionError):
        return raw


_MUTATIONS: tuple[Mutation, ...] = (
    *(_flip, _insert, _overwrite, _remove, _repeat, _cut, _splice, _member, _member, _deepen, _lengthen, _lengthen),
    *(_value, _respell) * 8,
    *(_escape, _unescape, _space, _digits) * 3,
)
