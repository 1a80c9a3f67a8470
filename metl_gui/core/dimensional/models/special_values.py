"""Values that a model declares as text, held against the types of their columns, as every target reads them.

Source: docs/reference/warehouse-model.md, "Types".
"""

from __future__ import annotations

import re
from datetime import date, time
from decimal import Decimal
from math import isfinite

from metl_gui.core.dimensional.histories import DECIMAL_DIGITS

_TRUTHS = frozenset(("true", "t", "yes", "y", "1", "false", "f", "no", "n", "0"))
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(r"([0-9-]+)(?:[ T]([0-9:.]+)(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?")
_TIME = re.compile(r"([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(?:\.[0-9]{1,6})?")
_NUMBER = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")
_NO_NUMBER = re.compile(r"\s*[+-]?(nan|inf|infinity)\s*", re.IGNORECASE)
_ENDLESS = frozenset(("infinity", "-infinity"))


def is_day(value: str) -> bool:
    """Whether a text is a day as ``2026-12-31``; weeks and days without hyphens are none."""
    if _DAY.fullmatch(value) is None:
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def is_value(value: str, type_: str) -> bool:
    """Whether a text is a value of a type; of one that is not known, or of texts, anything is.

    Args:
        value: the text.
        type_: see ``histories.TYPES``.
    """
    name, _, rest = type_.partition("(")
    numbers = [int(one) for one in rest.rstrip(")").split(",") if one]
    match name:
        case "integer":
            return _is_decimal(value, DECIMAL_DIGITS, 0)
        case "decimal":
            return _is_decimal(value, *numbers) if len(numbers) == 2 else True
        case "float":
            return _is_float(value)
        case "boolean":
            return value.lower() in _TRUTHS
        case "date":
            return is_day(value) or value.lower() in _ENDLESS
        case "time":
            return _is_time(value)
        case "timestamp" | "instant":
            return _is_moment(value)
        case _:
            return True


def _is_decimal(value: str, digits: int, scale: int) -> bool:
    if _NUMBER.fullmatch(value) is None:
        return False
    try:
        found = Decimal(value.strip())
        places = -int(found.normalize().as_tuple().exponent)
    except ArithmeticError:  # an exponent that no decimal has
        return False
    return places <= scale and found.adjusted() < max(digits - scale, 1)


def _is_float(value: str) -> bool:
    """Return whether a text is a float that is neither too large nor, but for 0, too small for its 64 bits."""
    if _NUMBER.fullmatch(value) is None:
        return _NO_NUMBER.fullmatch(value) is not None
    found, digits = float(value), value.lower().partition("e")[0]
    return isfinite(found) and (found != 0 or not digits.strip(" +-0."))


def _is_time(value: str) -> bool:
    found = _TIME.fullmatch(value)
    if found is None:
        return False
    try:
        time.fromisoformat(found[1])
    except ValueError:
        return False
    return True


def _is_moment(value: str) -> bool:
    found = _MOMENT.fullmatch(value)
    if found is None:
        return value.lower() in _ENDLESS
    return is_day(found[1]) and (found[2] is None or _is_time(found[2]))
