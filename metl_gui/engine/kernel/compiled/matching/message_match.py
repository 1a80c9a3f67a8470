"""Find of which known layout a written message is, and how long its values are, in one pass over its text.

Layouts are a tree of *pieces*: the fixed text before a value, and which pieces may follow that value. A message is
followed through it: the text of one piece must stand where the value before it ended. The piece that was met last is
asked for first among those that may follow.

What is not accepted (``scalars``; values nested more than ``VALUE_DEPTH`` deep) is of no layout, as is what has a piece
that only a longer one beside it should have been taken for: whoever asks reads such a message in another way.
"""

from __future__ import annotations

from metl_gui.engine.kernel.compiled.layout import MOST_DEPTH, WORD
from metl_gui.engine.kernel.compiled.memory import compiled, is_same, load8, load64, store32, store64
from metl_gui.engine.kernel.compiled.object_scan import past_nested
from metl_gui.engine.kernel.compiled.scalars import OPEN, OPEN_LIST, past_scalar, past_string

VALUE_DEPTH = MOST_DEPTH // 2
"""How deep values may be nested; what is around them may be as deep again (``layout_tree``)."""

_SMALL_N, _SMALL_T, _SMALL_F = b"ntf"
_LENGTH_BYTES = 4

PIECE_TEXT, PIECE_SIZE, PIECE_KIND, PIECE_CHILD, PIECE_NEXT, PIECE_LAYOUT = (word * WORD for word in range(6))
PIECE_WORDS = 6
PIECE_BYTES = PIECE_WORDS * WORD
BEFORE_VALUE, BEFORE_LETTERS, BEFORE_WORD, LAST = range(4)
"""A piece stands before a value, before the letters of a text whose quotes are fixed, before true, false or null, or at
the end of a message."""

M_BASE, M_STARTS, M_STOPS, M_PIECES, M_TEXTS, M_LAYOUTS, M_LENGTHS, M_COUNT = (word * WORD for word in range(8))
"""Addresses: of the text, of where messages begin and end in it, of the pieces and their text, of the layouts and the
lengths that are found; how many messages there are."""


@compiled
def following(pieces: int, texts: int, parent: int, at: int, stop: int) -> int:
    """Return the address of the piece behind another that stands here, 0 for none; it is the first of them then."""
    before, first = 0, load64(parent + PIECE_CHILD)
    number = first
    while number >= 0:
        piece = pieces + number * PIECE_BYTES
        end = at + load64(piece + PIECE_SIZE)
        is_near = end == stop if load64(piece + PIECE_KIND) == LAST else end < stop
        if is_near and is_same(at, texts + load64(piece + PIECE_TEXT), end - at):
            if before != 0:
                store64(before + PIECE_NEXT, load64(piece + PIECE_NEXT))
                store64(piece + PIECE_NEXT, first)
                store64(parent + PIECE_CHILD, number)
            return piece
        before, number = piece, load64(piece + PIECE_NEXT)
    return 0


@compiled
def past_value(at: int, stop: int, kind: int) -> int:
    """Skip what stands behind a piece of a kind; 0 for what is not accepted."""
    if kind == BEFORE_LETTERS:
        return max(past_string(at, stop) - 1, 0)
    letter = load8(at)
    if kind == BEFORE_WORD and not (letter == _SMALL_N or letter == _SMALL_T or letter == _SMALL_F):
        return 0
    if letter == OPEN or letter == OPEN_LIST:
        return past_nested(at, stop, VALUE_DEPTH)
    return past_scalar(at, stop, letter)


@compiled
def match_message(pieces: int, texts: int, at: int, stop: int, lengths: int) -> tuple[int, int]:
    """Follow one message; return its layout, -1 for none, and the address behind the lengths of its values."""
    piece = pieces
    while True:
        piece = following(pieces, texts, piece, at, stop)
        if piece == 0:
            return -1, lengths
        at += load64(piece + PIECE_SIZE)
        kind = load64(piece + PIECE_KIND)
        if kind == LAST:
            return load64(piece + PIECE_LAYOUT), lengths
        end = past_value(at, stop, kind)
        if end == 0 or end > stop:
            return -1, lengths
        store32(lengths, end - at)
        lengths += _LENGTH_BYTES
        at = end


@compiled
def match_messages(match: int) -> int:
    """Find the layouts of all messages, and the lengths of the values of those that have one.

    Args:
        match: address of the words above.

    Returns:
        How many lengths there are.
    """
    base, starts, stops = load64(match + M_BASE), load64(match + M_STARTS), load64(match + M_STOPS)
    pieces, texts, layouts = load64(match + M_PIECES), load64(match + M_TEXTS), load64(match + M_LAYOUTS)
    first = load64(match + M_LENGTHS)
    lengths = first
    for number in range(load64(match + M_COUNT)):
        here = number * WORD
        at, stop = load64(starts + here), load64(stops + here)
        layout, end = -1, lengths
        if at < stop:
            layout, end = match_message(pieces, texts, base + at, base + stop, lengths)
        store64(layouts + here, layout)
        lengths = end if layout >= 0 else lengths
    return (lengths - first) // _LENGTH_BYTES
