"""Decimals as text: all digits of their scale, and never an exponent."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

Array: TypeAlias = "pa.Array[Any]"
_PLAIN_SCALE = 6
"""Arrow writes smaller numbers with an exponent."""


def decimal_texts(decimals: Array) -> Array:
    """Return decimals as they are written with all digits of their scale, as ``12.50``.

    Args:
        decimals: of one scale, none of it negative.

    Nulls: stay null.
    """
    texts: Array = decimals.cast(pa.string())
    type_: Any = decimals.type
    if type_.scale <= _PLAIN_SCALE:
        return texts
    has_exponent: Any = pc.match_substring(texts, "E")
    if not pc.any(has_exponent).as_py():
        return texts
    plain = [format(Decimal(str(text)), "f") for text in texts.filter(has_exponent).to_pylist()]
    made: Array = pc.replace_with_mask(texts, has_exponent, pa.array(plain, pa.string()))
    return made
