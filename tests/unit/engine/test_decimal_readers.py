"""Decimals are read off JSON exactly or refused, whatever number of places they are written with."""

from __future__ import annotations

from decimal import Context, Decimal

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metl_gui.engine.sinks.readers import by_form, decimals, texts

_EXACT = Context(prec=500)
_places = st.integers(0, 90)


def read(text: str, scale: int) -> Decimal | None:
    """Read a number as a decimal of 38 digits; ``None`` where it is refused."""
    try:
        (found,) = decimals(pa.decimal128(38, scale), None).every(f"[{text}]".encode()).to_pylist()
    except ValueError:
        return None
    assert isinstance(found, Decimal)
    return found


def fits(number: Decimal, scale: int) -> bool:
    """Whether a decimal of 38 digits has room for a number."""
    unscaled = number.scaleb(scale, _EXACT)
    return unscaled == unscaled.to_integral_value() and abs(unscaled) < 10**38


@pytest.mark.parametrize("scale", [0, 2, 10])
@pytest.mark.parametrize("more", range(36, 43))
def test_a_number_with_many_places_more_than_the_type_is_refused_and_never_zero(scale: int, more: int) -> None:
    assert read("5." + "9" * (scale + more), scale) is None
    assert read("0." + "0" * (scale + more - 1) + "1", scale) is None
    assert read("5" + "." + "0" * (scale + more), scale) == 5


@given(st.integers(-(10**40), 10**40), _places, st.sampled_from([0, 2, 19, 38]), st.booleans())
@example(1, 39, 0, True)
@example(35, 0, 38, False)
@example(123456789012345678901234567890, 0, 19, False)
@example(10**39, 39, 0, False)
def test_a_number_is_what_it_says_or_refused(unscaled: int, places: int, scale: int, has_exponent: bool) -> None:
    number = Decimal(unscaled).scaleb(-places, _EXACT)
    text = f"{unscaled}e-{places}" if has_exponent else format(number, "f")
    assert read(text, scale) == (number if fits(number, scale) else None)


def test_an_exponent_of_any_size_costs_nothing() -> None:
    assert read("1e999999999", 0) is None
    assert read("1e-999999999", 0) is None
    assert read("0e999999999", 0) == 0


def test_no_text_is_taken_for_a_decimal_where_texts_have_a_reader_of_their_own() -> None:
    with_texts, without = (decimals(pa.decimal128(38, 2), scale) for scale in (2, None))
    assert by_form(with_texts, texts, True).form is None
    assert by_form(without, texts, True).form is without.form is not None
