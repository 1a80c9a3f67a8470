"""Canonical keys: every spelling of a key has one text, and two keys have two."""

from __future__ import annotations

import json
from decimal import Context, Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.formats.canonical_keys import canonical_number, row_key, row_keys

_SPELLINGS = [
    ('{"id":5}', '{"id":5}'),
    ('{"b":1,"a":2}', '{"a":2,"b":1}'),
    ('{ "b" : 1 , "a" : [ 1 , 2.0 ] }', '{"a":[1,2],"b":1}'),
    ('{"a!":1,"a":2,"a ":3}', '{"a":2,"a ":3,"a!":1}'),
    ('{"id":1.50}', '{"id":1.5}'),
    ('{"id":1E3}', '{"id":1000}'),
    ('{"id":1.0}', '{"id":1}'),
    ('{"id":-0.0}', '{"id":0}'),
    ('{"id":-0}', '{"id":0}'),
    ('{"id":18446744073709551617}', '{"id":18446744073709551617}'),
    ('{"id":0.1234567890123456789012345678901234567890}', '{"id":0.123456789012345678901234567890123456789}'),
    (f'{{"id":1{"0" * 70}}}', '{"id":1E70}'),
    ('{"id":1e-500000}', '{"id":1E-500000}'),
    ('{"id":1e99999999999999999999}', '{"id":1e99999999999999999999}'),
    ('{"id":"1.50"}', '{"id":"1.50"}'),
    ('{"id":"\\u0041\\/\\u00e9"}', '{"id":"A/é"}'),
    ('{"id":"a\\nb"}', '{"id":"a\\nb"}'),
    ('{"id":"\\u0001"}', '{"id":"\\u0001"}'),
    ('{"\\u0062":1,"a":2}', '{"a":2,"b":1}'),
    ('{"z":{"b":1,"a":null},"a":true}', '{"a":true,"z":{"a":null,"b":1}}'),
    ('{"a":1,"a":2}', '{"a":2}'),
    ("{}", "{}"),
    ("[1.0]", "[1]"),
]


@pytest.mark.parametrize(("given_text", "expected"), _SPELLINGS)
def test_a_key_has_one_text(given_text: str, expected: str) -> None:
    assert row_key(given_text.encode()) == expected
    assert row_key(expected.encode()) == expected


def test_no_key_stays_none() -> None:
    assert row_keys([b"null", b'{"id":null}']) == [None, '{"id":null}']


@pytest.mark.parametrize("text", [b"{", b'{"a":1,}', b"", b'{"a":01}', b'{"a":\xff}', b'{"a":"\xff"}'])
def test_what_is_no_json_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of several kinds
        row_key(text)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), below, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), _VALUES, max_size=4), st.randoms())
def test_order_spaces_and_escapes_make_no_difference(key: dict[str, Any], chance: Any) -> None:
    members = list(key.items())
    chance.shuffle(members)
    spellings = [
        json.dumps(key),
        json.dumps(dict(members), indent=1),
        json.dumps(dict(members), ensure_ascii=False, separators=(",", ":")),
    ]
    made = {row_key(text.encode()) for text in spellings}
    assert len(made) == 1
    assert json.loads(made.pop() or "") == key


_DECIMALS = st.tuples(st.integers(-(10**45), 10**45), st.integers(-120, 120))


@given(_DECIMALS, _DECIMALS)
def test_numbers_have_one_text_exactly_where_they_are_equal(one: tuple[int, int], other: tuple[int, int]) -> None:
    exact = Context(prec=500)
    first, second = (Decimal(unscaled).scaleb(shift, exact) for unscaled, shift in (one, other))
    texts = [canonical_number(f"{unscaled}e{shift}") for unscaled, shift in (one, other)]
    assert (texts[0] == texts[1]) == (first == second)
    assert [Decimal(text) for text in texts] == [first, second]
    assert canonical_number(texts[0]) == texts[0]
