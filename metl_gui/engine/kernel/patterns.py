"""Patterns: the regular expression of all compact texts that have the members of one text, in the same order.

A text that matches needs no other check of contract.md §5: its names are fixed, so that none is repeated or no UTF-8;
its strings are strict UTF-8 without control characters, wrong escapes and lone surrogates; its numbers are RFC 8259; it
nests no deeper than the text that the pattern was made of. No part is ever tried in a second way (possessive repeats,
atomic groups), so the time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

import msgspec
from msgspec import Raw

from metl_gui.core.json_text import NULL, is_compact, is_object, members
from metl_gui.engine.kernel.skeletons import ROWS, Path, Skeleton, is_fixed

_PLAIN = rb'"[^"\\\x00-\x1f\x80-\xff]*+"'
_ESCAPE = (
    rb'\\(?:["\\/bfnrt]|u(?:(?![dD][89a-fA-F])[0-9a-fA-F]{4}'
    rb"|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}))"
)
_UTF8 = (
    rb"[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]"
    rb"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}"
)
_TEXT = rb'"(?:[^"\\\x00-\x1f\x80-\xff]++|' + _ESCAPE + b"|" + _UTF8 + rb')*+"'
_NUMBER = rb"-?(?:[1-9][0-9]*+|0)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
_SIMPLE = (rb"-?[1-9][0-9]*+(?=[,}])", rb"-?[1-9][0-9]*+\.[0-9]++(?=[,}])")
"""What most numbers look like; tried before the whole grammar, because it takes half the time."""

_TEXTS = (_PLAIN, _TEXT)
_OTHERS = (_NUMBER, b"true", b"false")
_MOST_DEPTH = 8
_elements = msgspec.json.Decoder(list[Raw]).decode


class Pattern(NamedTuple):
    """A compiled pattern and the number of each captured leaf's value in its groups, from 0."""

    expression: re.Pattern[bytes]
    groups: dict[Path, int]


class _Unsteady(Exception):
    """A leaf of which no pattern can be made."""


def pattern_of(
    skeleton: Skeleton, captured: Collection[Path], number: Path | None = None, placeholders: Collection[bytes] = ()
) -> Pattern | None:
    """Make the pattern of a text.

    Args:
        skeleton: of the text.
        captured: leaves whose values are wanted.
        number: a leaf that must be a number.
        placeholders: what no captured leaf of a row may be.

    Returns:
        The pattern, ``None`` when a leaf holds something that has no steady form (a list of lists).
    """
    groups: dict[Path, int] = {}
    real = b"(?!(?:" + b"|".join(map(re.escape, sorted(placeholders))) + b")[,}])" if placeholders else b""

    def leaf(path: Path, raw: Raw) -> bytes:
        if is_fixed(path, raw):
            return re.escape(bytes(raw))
        found = _NUMBER if path == number else _value(raw, 0, is_nullable=path[0] in ROWS)
        if path not in captured:
            return found
        groups[path] = len(groups)
        return (real if path[0] in ROWS else b"") + b"(" + found + b")"

    try:
        written = []
        for name, raw in skeleton.found.items():
            inner = skeleton.parts.get(name)
            if inner is None:
                written.append((name, leaf((name,), raw)))
            else:
                written.append((name, _object([(below, leaf((name, below), kept)) for below, kept in inner.items()])))
        return Pattern(re.compile(_object(written)), groups)
    except _Unsteady:
        return None


def _object(written: list[tuple[str, bytes]]) -> bytes:
    return rb"\{" + b",".join(re.escape(b'"%b":' % name.encode()) + value for name, value in written) + rb"\}"


def _value(raw: Raw, depth: int, *, is_nullable: bool) -> bytes:
    """Write the pattern of a leaf: the kind it has here is tried first, any other scalar after it."""
    text = bytes(raw)
    if text[:1] == b"{":
        kinds = [_nested(raw, depth)]
    elif text[:1] == b"[":
        kinds = [_list(raw)]
    elif text[:1] == b'"':
        kinds = [*_TEXTS, *_OTHERS]
    else:
        simple = [kind for kind in _SIMPLE if re.fullmatch(kind.removesuffix(rb"(?=[,}])"), text)]
        kinds = [*simple, *_OTHERS, *_TEXTS]
    if is_nullable:
        kinds.insert(0 if text == NULL else len(kinds), NULL)
    return b"(?>" + b"|".join(kinds) + b")"


def _nested(raw: Raw, depth: int) -> bytes:
    found = members(raw)
    if depth >= _MOST_DEPTH or not is_compact(raw, found):
        raise _Unsteady
    return _object([(name, _value(inner, depth + 1, is_nullable=True)) for name, inner in found.items()])


def _list(raw: Raw) -> bytes:
    found = _elements(raw)
    if any(is_object(inner) or bytes(inner)[:1] == b"[" for inner in found):
        raise _Unsteady
    scalar = b"(?>" + b"|".join((*_OTHERS, *_TEXTS, NULL)) + b")"
    return rb"\[(?:" + scalar + rb"(?:," + scalar + rb")*+)?+\]"
