"""What text is accepted, against the standard library as the judge."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.errors import RecordError
from metl_gui.formats.json_text import DEPTH_LIMIT, Members, accept, check, depth, is_compact, members, text_of
from tests.helpers.json_texts import judged, mutations, strings, values

objects = st.lists(st.tuples(strings, values), max_size=5).map(
    lambda pairs: ("{" + ",".join(f"{name}:{value}" for name, value in pairs) + "}").encode()
)
"""Objects whose names may be there twice."""


def parsed(text: bytes) -> Members | None:
    """Parse an object; ``None`` when it is refused."""
    try:
        check(text)
        return members(text)
    except RecordError:
        return None


@given(st.one_of(objects, mutations(objects)))
def test_an_object_is_accepted_exactly_when_the_judge_accepts_it(text: bytes) -> None:
    try:
        expected = [name for name, _ in judged(text).pairs]
    except (ValueError, RecursionError):
        assert parsed(text) is None
    else:
        found = parsed(text)
        assert found is not None
        assert list(found) == expected


@given(values)
def test_a_value_keeps_every_byte(value: str) -> None:
    found = parsed(f'{{"before": 1, "kept" : {value} , "behind":2}}'.encode())
    assert found is not None
    assert bytes(found["kept"]).decode() == value


@pytest.mark.parametrize(
    "value",
    [
        '"\\ud800"',
        '"\\udc00"',
        '"\\ud800\\u0041"',
        '"a\\ud800"',
        "01",
        "1.",
        "+1",
        ".5",
        "NaN",
        "Infinity",
        '"\x01"',
        "[1,]",
    ],
)
def test_what_rfc_8259_does_not_know_is_refused_inside_a_raw_value(value: str) -> None:
    assert parsed(f'{{"a":{value}}}'.encode()) is None


def test_bytes_that_are_not_utf8_are_refused_inside_a_raw_value() -> None:
    assert parsed(b'{"a":"\xff"}') is None


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":1,"a":1}',
        b'{"a":1,"a":2}',
        b'{ "a" : 1 , "a" : 1 }',
        b'{"a":1,"b":2,"\\u0061":3}',
        b'{"\xc3\xa9":1,"\\u00e9":1}',
    ],
)
def test_a_name_that_is_there_twice_is_refused_however_it_is_spelled(text: bytes) -> None:
    assert parsed(text) is None


def test_names_that_are_there_twice_deeper_down_pass() -> None:
    found = parsed(b'{"a":{"b":1,"b":2}}')
    assert found is not None
    assert bytes(found["a"]) == b'{"b":1,"b":2}'


@pytest.mark.parametrize("inner", ["[", '{"a":'])
def test_nesting_is_accepted_up_to_the_limit_and_not_beyond(inner: str) -> None:
    closing = "]" if inner == "[" else "}"

    def nested(levels: int) -> bytes:
        return ('{"x":' + inner * levels + ("1" if inner != "[" else "") + closing * levels + "}").encode()

    assert depth(nested(DEPTH_LIMIT - 1)) == DEPTH_LIMIT
    assert parsed(nested(DEPTH_LIMIT - 1)) is not None
    assert parsed(nested(DEPTH_LIMIT)) is None
    assert parsed(nested(100_000)) is None


def test_brackets_inside_strings_do_not_nest() -> None:
    assert depth(b'{"a":"[[[{{{","b":"\\"[["}') == 1


@given(objects)
def test_a_compact_text_has_no_name_twice(text: bytes) -> None:
    try:
        judged(text)
    except ValueError:
        try:
            found = members(text)
        except RecordError:
            return
        assert not is_compact(text, found)


@given(strings)
def test_the_text_of_a_string_is_what_the_judge_reads(string: str) -> None:
    assert text_of(string.encode()) == judged(f'{{"a":{string}}}'.encode()).pairs[0][1]


@given(st.binary(max_size=40))
def test_no_bytes_are_met_with_anything_but_a_record_error(text: bytes) -> None:
    with contextlib.suppress(RecordError):
        accept(text)
    assert parsed(text) is None or text.strip().startswith(b"{")
