"""Write messages of Kafka as wrappers: what is proven to be one whole JSON value stands in them as it is.

A value or key is embedded only when the scanner has gone past it as one object that ends where it ends, so nothing in
it can end the wrapper or begin another member. Text that is no object but plain is quoted where it is a key. Every
other message is left to Python, which writes its exact text or its bytes (``engine.kafka.records``).

Units: places are bytes; every number has 8. A missing key or value has length -1.
"""

from __future__ import annotations

from itertools import count
from typing import Final

from metl_gui.engine.kernel.compiled.instructions import VECTOR
from metl_gui.engine.kernel.compiled.memory import compiled, copy, first_bit, load8, load64, special, store8, store64
from metl_gui.engine.kernel.compiled.message_writer import write_number
from metl_gui.engine.kernel.compiled.object_scan import past_nested
from metl_gui.engine.kernel.compiled.scalars import CLOSE, OPEN, QUOTE, past_character, word_of

_places = count(0, 8)
# How many messages; of each its head and its headers as indices, its offset and its time.
W_COUNT, W_HEAD_OF, W_HEADERS_OF, W_OFFSETS, W_TIMES = (next(_places) for _ in range(5))
# Address and length of each head and of all headers as JSON; the text between the parts, in the same way.
W_HEADS, W_HEADERS, W_PARTS = (next(_places) for _ in range(3))
# Where keys and values lie.
W_KEYS, W_KEY_LENGTHS, W_VALUES, W_VALUE_LENGTHS = (next(_places) for _ in range(4))
# Where wrappers go, and where each begins and ends there; what is left ends where it begins.
W_OUT, W_STARTS, W_STOPS = (next(_places) for _ in range(3))
WRAPPING_WORDS: Final = next(_places) // 8

PARTS = (b',"timestamp":', b',"key":', b',"headers":', b',"value":')
_BEFORE_TIME, _BEFORE_KEY, _BEFORE_HEADERS, _BEFORE_VALUE = range(4)
_NULL = word_of(b"null")
UNFIT, _MISSING, _WHOLE, _PLAIN = range(4)
_PAIR = 16
_AROUND = 1
"""A wrapper is one object around its value and key."""


@compiled
def is_whole(start: int, end: int) -> bool:
    """Say whether bytes are one object of JSON and nothing else, not too deep to have one around it."""
    return load8(start) == OPEN and past_nested(start, end, _AROUND) == end


@compiled
def is_plain(start: int, end: int) -> bool:
    """Say whether bytes are strict UTF-8 that stands in a JSON string as it is."""
    while start < end:
        marks = special(start)
        if marks == 0:
            start += VECTOR
            continue
        start += first_bit(marks)
        if start >= end:
            return True
        if load8(start) < 0x80:
            return False
        start = past_character(start)
        if start == 0 or start > end:
            return False
    return True


@compiled
def form_of(start: int, length: int) -> int:
    """Return how a key or value may stand in a wrapper."""
    if length < 0:
        return _MISSING
    if length > 1 and is_whole(start, start + length):
        return _WHOLE
    return _PLAIN if is_plain(start, start + length) else UNFIT


@compiled
def write_content(target: int, start: int, length: int, form: int) -> int:
    """Write a key or value; return where it ends."""
    if form == _MISSING:
        store64(target, _NULL)
        return target + 4
    if form == _WHOLE:
        return copy(target, start, length)
    store8(target, QUOTE)
    target = copy(target + 1, start, length)
    store8(target, QUOTE)
    return target + 1


@compiled
def write_kept(target: int, table: int, number: int) -> int:
    """Write one of the texts that many messages share."""
    return copy(target, load64(table + number * _PAIR), load64(table + number * _PAIR + 8))


@compiled
def write_wrapper(state: int, target: int, message: int, key: int, value: int) -> int:
    """Write one message whose key and value may stand in a wrapper; return where it ends, 0 when one may not."""
    here = message * 8
    key_length, value_length = (
        load64(load64(state + W_KEY_LENGTHS) + here),
        load64(load64(state + W_VALUE_LENGTHS) + here),
    )
    value_form = form_of(value, value_length)
    if value_form == UNFIT:
        return 0
    key_form = form_of(key, key_length)
    if key_form == UNFIT:
        return 0
    parts = load64(state + W_PARTS)
    target = write_kept(target, load64(state + W_HEADS), load64(load64(state + W_HEAD_OF) + here))
    target = write_number(target, load64(load64(state + W_OFFSETS) + here))
    target = write_kept(target, parts, _BEFORE_TIME)
    time = load64(load64(state + W_TIMES) + here)
    target = write_number(target, time) if time >= 0 else write_content(target, 0, -1, _MISSING)
    target = write_kept(target, parts, _BEFORE_KEY)
    target = write_content(target, key, key_length, key_form)
    target = write_kept(target, parts, _BEFORE_HEADERS)
    target = write_kept(target, load64(state + W_HEADERS), load64(load64(state + W_HEADERS_OF) + here))
    target = write_kept(target, parts, _BEFORE_VALUE)
    target = write_content(target, value, value_length, value_form)
    store8(target, CLOSE)
    return target + 1


@compiled
def wrap(state: int) -> int:
    """Write all messages that may be written so; return how many are left."""
    key, value, target = load64(state + W_KEYS), load64(state + W_VALUES), load64(state + W_OUT)
    left = 0
    for message in range(load64(state + W_COUNT)):
        here = message * 8
        after = write_wrapper(state, target, message, key, value)
        store64(load64(state + W_STARTS) + here, target - load64(state + W_OUT))
        if after == 0:
            left += 1
        else:
            target = after
        store64(load64(state + W_STOPS) + here, target - load64(state + W_OUT))
        key += max(load64(load64(state + W_KEY_LENGTHS) + here), 0)
        value += max(load64(load64(state + W_VALUE_LENGTHS) + here), 0)
    return left
