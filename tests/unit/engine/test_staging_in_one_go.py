"""Many messages read in one call are what each is by itself, whatever stands among them."""

from __future__ import annotations

import functools
import json
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.engine.sinks.readers import digits
from metl_gui.engine.staging.messages import StagedBatch
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


class Alone(NamedTuple):
    """What becomes of one text that is staged by itself.

    Args:
        reasons: why it was set aside.
        rows: key and operation of each message.
        skipped: how many were of another entity.
    """

    reasons: list[tuple[int, str, str]]
    rows: list[tuple[str, str]]
    skipped: int


@functools.cache
def alone(text: bytes) -> Alone:
    """Stage a text by itself, once for all examples: most of their texts are the same."""
    staged = stage(text)
    return Alone(reasons(staged), keys_of(staged), staged.tally.skipped)


def keys_of(staged: StagedBatch) -> list[tuple[str, str]]:
    return [(row["row_key"] or "", row["op"]) for row in rows_of(staged)]


@given(st.lists(st.tuples(st.integers(0, MANY), st.sampled_from(PIECES)), max_size=5))
def test_pieces_of_messages_are_never_joined_into_others(placed: list[tuple[int, bytes]]) -> None:
    texts = [message(key={"id": number}) for number in range(MANY)]
    for at, piece in placed:
        texts.insert(at, piece)
    together = stage(*texts)
    each = [alone(text) for text in texts]
    assert [(at, *found[1:]) for at, one in enumerate(each) for found in one.reasons] == reasons(together)
    assert sorted(row for one in each for row in one.rows) == sorted(keys_of(together))
    assert together.tally.by_skip.get("other_entity", 0) == sum(one.skipped for one in each)


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
