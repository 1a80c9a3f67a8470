"""Many messages read in one call are what each is by itself, whatever stands among them."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.engine.sinks.readers import digits
from metl_gui.engine.staging.rows import _keys
from metl_gui.formats.canonical_keys import row_key
from tests.unit.engine.test_message_staging import message, reasons, rows_of, stage

MANY = 60
OPENED = message(payload={"id": 1, "tags": [{"b": 1}]})
PIECES = (
    OPENED[: OPENED.index(b"]")],  # up to within an array, where a comma may follow
    b'{"b":2}]}}',
    message() + b"," + message(),
    message() + b"\n" + message(),
    message() + message(),
    b'{"entity":"}',
    b'{"}',
    b"",
    b"{}",
    message().replace(b'"order"', b'"order\xff"'),
    b'{"entity":' + b'{"a":' * 70 + b"1" + b"}" * 70 + b"}",
    b" " + message() + b"\r",
    json.dumps(json.loads(message()), indent=1).encode(),
    message(entity="nobody"),
    message(version="9"),
    message(entity="other", version="1"),
    message(op="t", version=None, key=None, payload={}),
)


@given(st.lists(st.tuples(st.integers(0, MANY), st.sampled_from(PIECES)), max_size=5))
def test_pieces_of_messages_are_never_joined_into_others(placed: list[tuple[int, bytes]]) -> None:
    texts = [message(key={"id": number}) for number in range(MANY)]
    for at, piece in placed:
        texts.insert(at, piece)
    together = stage(*texts)
    alone = [stage(text) for text in texts]
    assert [(at, *found[1:]) for at, one in enumerate(alone) for found in reasons(one)] == reasons(together)
    by_key: list[list[Any]] = [
        sorted((row["row_key"] or "", row["op"]) for one in staged for row in rows_of(one))
        for staged in (alone, [together])
    ]
    assert by_key[0] == by_key[1]
    assert together.tally.by_skip.get("other_entity", 0) == sum(one.tally.skipped for one in alone)


_PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
_KEYS = st.dictionaries(
    st.text(max_size=3), _PLAIN | st.dictionaries(st.text(max_size=2), _PLAIN, max_size=2), max_size=2
)


@given(st.lists(st.none() | _KEYS, max_size=6), st.sampled_from([None, (",", ":")]))
def test_keys_of_a_column_are_those_of_each_message(keys: list[Any], separators: Any) -> None:
    try:
        texts = [None if key is None else json.dumps(key, ensure_ascii=False, separators=separators) for key in keys]
        column = pa.array(texts, pa.string())
    except UnicodeEncodeError:
        return
    expected = [None if text is None else row_key(text.encode()) for text in texts]
    assert _keys(column).to_pylist() == expected


def test_numbers_keep_their_digits_and_what_is_none_is_refused() -> None:
    read = digits(None)
    assert read(b"[1, null,-2.50,1E3]").to_pylist() == ["1", None, "-2.50", "1E3"]
    for values in (b"[1,true]", b"[false]", b"[1,[2]]", b'["1"]'):
        with pytest.raises(ValueError, match=r"\w"):
            read(values)
