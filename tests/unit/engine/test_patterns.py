"""Patterns of texts: what they take, and that a text they do not take is refused in linear time."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.json_text import accept
from metl_gui.engine.kernel.patterns import pattern_of
from metl_gui.engine.kernel.skeletons import Skeleton
from metl_gui.errors import RecordError

LEAVES = 60


def envelope(row: object) -> bytes:
    """Write a compact change of one row."""
    return json.dumps({"op": "c", "after": row}, separators=(",", ":"), ensure_ascii=False).encode()


def takes(sample: bytes, text: bytes) -> bool:
    """Whether the pattern of one text takes another."""
    skeleton = Skeleton.of(sample)
    assert skeleton is not None
    pattern = pattern_of(skeleton, ())
    assert pattern is not None
    return pattern.expression.fullmatch(text) is not None


@pytest.mark.parametrize("value", ["text", 7, 7.5, "näme \n"])
def test_a_long_row_that_fails_at_its_last_byte_is_not_tried_in_many_ways(value: object) -> None:
    row = {f"c{number}": value for number in range(LEAVES)}
    text = envelope(row)
    assert takes(text, text)
    assert not takes(text, text[:-1] + b"]")


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@given(scalars, scalars)
def test_a_leaf_may_hold_any_other_scalar_than_in_the_sample(one: object, other: object) -> None:
    def is_plain(value: object) -> bool:
        return not isinstance(value, str) or value.isprintable()

    if is_plain(one) and is_plain(other):
        assert takes(envelope({"a": one, "b": 1}), envelope({"a": other, "b": 2}))


@given(st.binary(max_size=12))
def test_bytes_in_place_of_a_leaf_are_taken_only_when_they_are_accepted_text(middle: bytes) -> None:
    text = b'{"op":"c","after":{"a":' + middle + b',"b":2}}'
    if takes(envelope({"a": 1, "b": 1}), text):
        accept(text)


@pytest.mark.parametrize(
    "leaf",
    [
        b"01",
        b"1.",
        b".5",
        b"+1",
        b"NaN",
        b'"\x01"',
        b'"\\x"',
        b'"\\ud800"',
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b'"\xc0\x80"',
    ],
)
def test_a_leaf_that_is_no_accepted_text_is_not_taken(leaf: bytes) -> None:
    text = b'{"op":"c","after":{"a":' + leaf + b"}}"
    with pytest.raises(RecordError):
        accept(text)
    assert not takes(envelope({"a": 1}), text)
