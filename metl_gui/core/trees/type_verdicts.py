"""What a typed column makes of values of another type: all of them as they are, all in another form, or not all.

The verdict is of two types; it says what typed sinks do with the values that a column of the source's own type takes.
Some bounds are those of columns, not of types, and are held against no source: 64 bits of an ``integer``, the digits of
a ``number``, of a decimal more than 19 digits before the point, and of times the years 1 to 9999.

Source: docs/reference/typed-columns.md, "Verdicts"; ``tests/unit/engine/test_type_verdicts.py`` holds it against the
columns themselves.
"""

from __future__ import annotations

from enum import IntEnum

from metl_gui.core.trees.logical_types import (
    DECIMAL,
    DECIMALS,
    VARIABLE_SCALE_DECIMAL,
    Conversion,
    LogicalType,
    conversion,
    time_type,
)
from metl_gui.core.trees.nodes import Attribute
from metl_gui.core.trees.types import is_number_within, is_readable, plain_number

_UNDECIDED = ("unknown", "null")
"""Types of which nobody knows what values they have."""

_OPEN = ("any", "union", *_UNDECIDED)
_WHOLE = ("int8", "int16", "int32", "int64", "integer")
_NUMBERS = (*_WHOLE, "float", "double", "number")
_DIGITS, _ENOUGH_DIGITS = 38, 19
_DIGITS_OF = {"int8": 3, "int16": 5, "int32": 10}
_FINER = ("ms", "us", "ns")


class TypeVerdict(IntEnum):
    """What becomes of the values of a source in a column of its target; the worse, the greater."""

    LOSSLESS = 0
    REINTERPRETED = 1
    MAY_REFUSE = 2


def type_verdict(source: Attribute, target: Attribute) -> TypeVerdict:
    """Judge whether typed sinks read every value of a source attribute as the type of the CDM attribute it goes to.

    Returns:
        ``LOSSLESS``: every value is read and means the same; also where the type of the source is not known.
        ``REINTERPRETED``: every value is read, written or meant in another way: days as a date, bytes as a number.
        ``MAY_REFUSE``: some values are refused, or all: a text as a number, a local time as an instant.
    """
    if source.type in _UNDECIDED:
        return TypeVerdict.LOSSLESS
    if not _takes_all(source, target):
        return TypeVerdict.MAY_REFUSE
    return TypeVerdict.LOSSLESS if _has_same_form(source, target) else TypeVerdict.REINTERPRETED


def _takes_all(source: Attribute, target: Attribute) -> bool:
    """Whether a column refuses no value, in the order in which the columns decide what they are."""
    if target.logical in DECIMALS:
        return _decimal_takes_all(source, target)
    time = time_type(target.type, target.logical)
    if time is not None:
        return _time_takes_all(source, target, time)
    if target.type in _NUMBERS:
        return _number_takes_all(source, target.type)
    match target.type:
        case "boolean":
            return source.type == "boolean"
        case "string":  # bytes are base64 in JSON; a decimal may be a number there
            return source.type == "string" or (source.type == "bytes" and source.logical != DECIMAL)
        case "bytes":
            return source.type == "bytes" and source.logical != DECIMAL
        case _:  # any JSON
            return True


def _decimal_takes_all(source: Attribute, target: Attribute) -> bool:
    """Digits are kept as text where the column has no scale; bytes of no known scale are no digits."""
    is_text = target.logical != DECIMAL or target.scale is None or target.scale > _DIGITS
    scale = max(target.scale or 0, 0)
    room = _DIGITS if is_text else _DIGITS - scale
    if source.logical == DECIMAL:
        own = source.scale
        is_narrower = own is not None and own < scale and room >= _ENOUGH_DIGITS
        return own is not None and (is_text or max(own, 0) == scale or is_narrower)
    if source.logical == VARIABLE_SCALE_DECIMAL:
        return is_text
    return source.type in _WHOLE and room >= _DIGITS_OF.get(plain_number(source), _ENOUGH_DIGITS)


def _time_takes_all(source: Attribute, target: Attribute, time: LogicalType) -> bool:
    own = time_type(source.type, source.logical)
    whole = "int32" if time.stored_in == "days" else "int64" if time.stored_in else target.type
    if own is None:
        return bool(time.counts) and source.type in _WHOLE and is_number_within(plain_number(source), whole)
    if conversion(own, time) is not Conversion.EXACT:
        return False
    if not time.stored_in:
        return is_number_within(source.type, whole)
    unit = own.counts or own.stored_in
    return unit == time.stored_in or _FINER.index(unit) < _FINER.index(time.stored_in)


def _number_takes_all(source: Attribute, plain: str) -> bool:
    if source.logical == VARIABLE_SCALE_DECIMAL:
        return plain == "number"
    if source.logical == DECIMAL:
        return source.scale is not None and (plain == "number" or (plain == "integer" and source.scale <= 0))
    return source.type in _NUMBERS and is_number_within(plain_number(source), plain)


def _has_same_form(source: Attribute, target: Attribute) -> bool:
    """Whether values that are all read are written as the target's and mean the same."""
    own, time = time_type(source.type, source.logical), time_type(target.type, target.logical)
    if time is not None:
        return own is not None and own.counts == time.counts
    if source.logical in DECIMALS and target.type not in _OPEN:
        return (source.logical, source.scale) == (target.logical, target.scale)
    return is_readable(source, target)
