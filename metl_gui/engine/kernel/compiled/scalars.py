"""Read the scalars of JSON text, every byte checked: space, strings, numbers, words.

Accepted is RFC 8259 in strict UTF-8 without lone surrogates (docs/reference/formats.md, "A record"). Every function
takes the address of the next byte and returns the address behind what it read, 0 for refused text. A load lies before
the end of the text or less than ``PADDING`` behind it: loops ask for the end once for each vector.
"""

from __future__ import annotations

from metl_gui.engine.kernel.compiled.instructions import VECTOR
from metl_gui.engine.kernel.compiled.layout import S_SCRATCH, S_SCRATCH_STOP
from metl_gui.engine.kernel.compiled.memory import (
    backslashes,
    compiled,
    copy_without,
    count_bits,
    first_bit,
    hundredth,
    inlined,
    load8,
    load64,
    no_digit,
    quotes,
    special,
    store8,
    store64,
)

QUOTE, BACKSLASH, COMMA, COLON = 0x22, 0x5C, 0x2C, 0x3A
OPEN, CLOSE, OPEN_LIST, CLOSE_LIST = 0x7B, 0x7D, 0x5B, 0x5D
MINUS, PLUS, DOT, ZERO, NINE = 0x2D, 0x2B, 0x2E, 0x30, 0x39
SPACE, TAB, FEED, RETURN = 0x20, 0x09, 0x0A, 0x0D
SMALL_E, LARGE_E, SMALL_U = 0x65, 0x45, 0x75


def word_of(text: bytes) -> int:
    """Return up to 8 bytes as the number that a load gives."""
    return int.from_bytes(text.ljust(8, b"\0"), "little")


_TRUE, _FALS, _NULL = word_of(b"true"), word_of(b"fals"), word_of(b"null")
_ESCAPED, _STANDS_FOR = tuple(b"nrtbf"), tuple(b"\n\r\t\b\f")
_ESCAPED_SMALL = sum(1 << (letter - 0x40) for letter in b"\\bfnrt")
_FOUR_BYTES = 0xFFFFFFFF
_ODD_PLACES = 0xAAAA
_MOST_DIGITS = 19
"""Of a number of 8 bytes."""


@compiled
def past_space(at: int, end: int) -> int:
    """Skip the space that JSON allows between its parts."""
    while at < end:
        letter = load8(at)
        if letter > SPACE or not (letter == SPACE or letter == FEED or letter == RETURN or letter == TAB):
            break
        at += 1
    return at


@compiled
def hexadecimal(at: int) -> int:
    """Return the number that four hexadecimal digits make, -1 when they are none."""
    number = 0
    for place in range(4):
        letter = load8(at + place)
        if ZERO <= letter <= NINE:
            digit = letter - ZERO
        elif 0x61 <= (letter | 0x20) <= 0x66:
            digit = (letter | 0x20) - 0x57
        else:
            return -1
        number = number * 16 + digit
    return number


@compiled
def code_of_escape(at: int) -> int:
    """Return what the escape at a backslash stands for, -1 when it is none or a lone surrogate.

    Beyond U+FFFF the escape has 12 bytes, for ``u`` 6, otherwise 2.
    """
    letter = load8(at + 1)
    if letter == SMALL_U:
        code = hexadecimal(at + 2)
        if 0xDC00 <= code <= 0xDFFF:
            return -1
        if 0xD800 <= code <= 0xDBFF:
            if load8(at + 6) != BACKSLASH or load8(at + 7) != SMALL_U:
                return -1
            low = hexadecimal(at + 8)
            if low < 0xDC00 or low > 0xDFFF:
                return -1
            return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
        return code
    if letter == QUOTE or letter == BACKSLASH or letter == 0x2F:
        return letter
    for number in range(5):
        if letter == _ESCAPED[number]:
            return _STANDS_FOR[number]
    return -1


@compiled
def past_escape(at: int) -> int:
    """Skip the escape at a backslash."""
    code = code_of_escape(at)
    if code < 0:
        return 0
    if load8(at + 1) != SMALL_U:
        return at + 2
    return at + 12 if code > 0xFFFF else at + 6


@compiled
def past_character(at: int) -> int:
    """Skip one character beyond ASCII, which must be the shortest strict UTF-8 of it."""
    first, second = load8(at), load8(at + 1)
    if second < 0x80 or second > 0xBF:
        return 0
    if 0xC2 <= first <= 0xDF:
        return at + 2
    third = load8(at + 2)
    if third < 0x80 or third > 0xBF:
        return 0
    if 0xE0 <= first <= 0xEF:
        if (first == 0xE0 and second < 0xA0) or (first == 0xED and second > 0x9F):
            return 0
        return at + 3
    fourth = load8(at + 3)
    if fourth < 0x80 or fourth > 0xBF or first < 0xF0 or first > 0xF4:
        return 0
    if (first == 0xF0 and second < 0x90) or (first == 0xF4 and second > 0x8F):
        return 0
    return at + 4


@compiled
def past_rarity(at: int) -> int:
    """Skip a backslash with what it escapes, or past what is not ASCII; control bytes are refused."""
    letter = load8(at)
    if letter == BACKSLASH:
        return past_escape(at)
    return past_character(at) if letter >= 0x80 else 0


@compiled
def is_short_escape(letter: int) -> bool:
    """Return whether a backslash and this letter are a whole escape."""
    if letter >= 0x40:
        return (_ESCAPED_SMALL >> (letter & 0x3F)) & 1 == 1 and letter < 0x80
    return letter == QUOTE or letter == 0x2F


@compiled
def past_string(at: int, end: int) -> int:
    """Skip a string whose opening quote is behind us, a vector of plain letters in one step."""
    while at < end:
        marks = special(at)
        if marks == 0:
            at += VECTOR
            continue
        place = 0
        # Escapes often come one after the other.
        while marks != 0:
            place = first_bit(marks)
            letter = load8(at + place)
            if letter == QUOTE:
                return at + place + 1 if at + place < end else 0
            if letter != BACKSLASH or place == VECTOR - 1 or not is_short_escape(load8(at + place + 1)):
                break
            marks &= ~(3 << place)
        if marks == 0:
            at += VECTOR
        elif load8(at + place) == BACKSLASH and is_short_escape(load8(at + place + 1)):
            at += place + 2
        else:
            at = past_rarity(at + place)
            if at == 0:
                return 0
    return 0


@compiled
def past_digits(at: int, end: int) -> int:
    """Skip one or more digits."""
    start = at
    while at < end:
        marks = no_digit(at)
        if marks != 0:
            at += first_bit(marks)
            break
        at += VECTOR
    return at if start < at <= end else 0


@compiled
def past_number(at: int, end: int) -> int:
    """Skip a number."""
    if load8(at) == MINUS:
        at += 1
    if load8(at) == ZERO:
        at += 1
    else:
        at = past_digits(at, end)
        if at == 0:
            return 0
    letter = load8(at)
    if letter == DOT:
        at = past_digits(at + 1, end)
        if at == 0:
            return 0
        letter = load8(at)
    if letter == SMALL_E or letter == LARGE_E:
        at += 1
        letter = load8(at)
        if letter == PLUS or letter == MINUS:
            at += 1
        at = past_digits(at, end)
    return at


@compiled
def past_word(at: int) -> int:
    """Skip null, true or false; 0 for anything else."""
    word = load64(at)
    four = word & _FOUR_BYTES
    if four == _NULL or four == _TRUE:
        return at + 4
    return at + 5 if four == _FALS and (word >> 32) & 0xFF == SMALL_E else 0


@compiled
def past_scalar(at: int, end: int, letter: int) -> int:
    """Skip a string, number or word that begins with a letter; 0 for anything else."""
    if letter == QUOTE:
        return past_string(at + 1, end)
    if letter == MINUS or ZERO <= letter <= NINE:
        return past_number(at, end)
    return past_word(at)


@inlined
def past_plain_number(at: int) -> int:
    """Skip a number without its sign, of up to 15 digits on each side of its point, up to an exponent; 0 for others."""
    marks = no_digit(at)
    digits = first_bit(marks) if marks != 0 else 0
    if digits == 0 or (digits > 1 and load8(at) == ZERO):
        return 0
    at += digits
    if load8(at) != DOT:
        return at
    marks = no_digit(at + 1)
    return at + 1 + first_bit(marks) if marks > 1 and marks & 1 == 0 else 0


@inlined
def past_plain(at: int, end: int) -> int:
    """Skip a string of plain letters, a number without an exponent, or a word; 0 for what may be something else.

    Who asks looks at what stands behind it, and whether that is before the end of the text.
    """
    letter = load8(at)
    if letter == QUOTE:
        at += 1
        marks = special(at)
        while marks == 0 and at < end:
            at += VECTOR
            marks = special(at)
        at += first_bit(marks) if marks != 0 else 0
        return at + 1 if load8(at) == QUOTE else 0
    if letter == MINUS or ZERO <= letter <= NINE:
        return past_plain_number(at + 1 if letter == MINUS else at)
    return past_word(at)


@compiled
def unescape_one(target: int, at: int) -> tuple[int, int]:
    """Write what an escape or a character beyond ASCII stands for; return where it and what was written end."""
    letter = load8(at)
    if letter != BACKSLASH:
        after = past_rarity(at)
        while at < after:
            store8(target, load8(at))
            target += 1
            at += 1
        return after, target
    letter = load8(at + 1)
    if letter == QUOTE or letter == BACKSLASH:
        store8(target, letter)
        return at + 2, target + 1
    code = code_of_escape(at)
    if code < 0:
        return 0, 0
    return past_escape(at), write_character(target, code)


@inlined
def plain_escapes(at: int) -> int:
    """Mark the backslashes of a vector that escape a quote or a backslash, which stand for themselves.

    In a run of backslashes every second one is escaped itself: where a run begins at an odd place, subtracting borrows.
    """
    slashes = backslashes(at)
    escapes = ((slashes << 1 | _ODD_PLACES) - slashes ^ _ODD_PLACES) & slashes
    return escapes & ((slashes | quotes(at)) >> 1)


@compiled
def unescape(state: int, at: int, end: int) -> tuple[int, int]:
    """Write what a string stands for into the scratch room, its opening quote being behind us.

    Returns:
        Where the string ends, behind its quote; where what it stands for ends, which is kept as the next free place.
        Both are 0 when there is no room or the string is refused.
    """
    target = load64(state + S_SCRATCH)
    stop = load64(state + S_SCRATCH_STOP)
    while at < end:
        if target + VECTOR > stop:
            return 0, 0
        dropped = plain_escapes(at)
        marks = special(at) & ~(dropped | dropped << 1)
        copy_without(target, at, dropped)
        if marks == 0:
            at += VECTOR
            target += VECTOR - count_bits(dropped)
            continue
        place = first_bit(marks)
        at += place
        target += place - count_bits(dropped & ((1 << place) - 1))
        if load8(at) == QUOTE:
            if at >= end:
                return 0, 0
            store64(state + S_SCRATCH, target)
            return at + 1, target
        at, target = unescape_one(target, at)
        if at == 0:
            return 0, 0
    return 0, 0


@compiled
def write_character(target: int, code: int) -> int:
    """Write one character as UTF-8."""
    if code < 0x80:
        store8(target, code)
        return target + 1
    if code < 0x800:
        store8(target, 0xC0 | (code >> 6))
        store8(target + 1, 0x80 | (code & 0x3F))
        return target + 2
    if code < 0x10000:
        store8(target, 0xE0 | (code >> 12))
        store8(target + 1, 0x80 | ((code >> 6) & 0x3F))
        store8(target + 2, 0x80 | (code & 0x3F))
        return target + 3
    store8(target, 0xF0 | (code >> 18))
    store8(target + 1, 0x80 | ((code >> 12) & 0x3F))
    store8(target + 2, 0x80 | ((code >> 6) & 0x3F))
    store8(target + 3, 0x80 | (code & 0x3F))
    return target + 4


@compiled
def write_number(target: int, number: int) -> int:
    """Write a number that is not negative in decimal digits."""
    digits, least = 1, 10
    while digits < _MOST_DIGITS and number >= least:
        least *= 10
        digits += 1
    end = target + digits
    place = end
    while place > target + 1:
        place -= 2
        more = hundredth(number)
        two = number - more * 100
        # A tenth, exactly, of numbers below 100.
        ten = (two * 103) >> 10
        store8(place, ZERO + ten)
        store8(place + 1, ZERO + two - ten * 10)
        number = more
    if place > target:
        store8(target, ZERO + number)
    return end
