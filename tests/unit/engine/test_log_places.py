"""Places read as columns are those that are read one by one."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.engine.staging.log_places import order_key_column, transport_columns
from metl_gui.engine.staging.place_code import MACHINE
from metl_gui.formats.source_positions import order_key, order_keys, transport_position

_POSITIONS = ["shop.orders/3/17", "a.jsonl@9", "", "x/y/1", "a@b/0/5", "d/1/2@7", "a\nb@5", "a/0/" + "9" * 19, "é/1/2"]
_NUMBERS = st.sampled_from([0, 1, 10**17, 10**18 - 1, 10**18, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64, -1])
_POSTGRESQL = st.builds(
    lambda commit, lsn, order: (
        {
            "sequence": json.dumps([commit if commit is None else str(commit), str(lsn)], separators=(",", ":")),
            "lsn": lsn,
        }
        | ({} if order == "missing" else {"total_order": order})
    ),
    st.none() | _NUMBERS,
    _NUMBERS,
    st.just("missing") | st.none() | _NUMBERS,
)
_BINLOG = st.builds(
    lambda sequence, gtid, file, pos, row: (
        ({"sequence": None} if sequence else {})
        | {"server_id": 1, "gtid": gtid, "file": f"mysql-bin.{file}", "pos": pos, "row": row}
    ),
    st.booleans(),
    st.none() | st.just("a:1-5"),
    _NUMBERS,
    _NUMBERS,
    _NUMBERS,
)
_OTHER: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        {},
        {"lsn": 5},
        {"lsn": 5, "total_order": 3},
        {"lsn": -1},
        {"lsn": "6"},
        {"scn": "7"},
        {"ord": 1, "ts_ms": 5},
        {"file": "a.1", "pos": 1},
        [],
        "x",
    ]
)


_PIECES = ["0", "9" * 20, '"', "\\", ",", "}", "{", "-", " ", "null", ".", "é", "\n", '","pos":1', '"lsn":5,']


@pytest.fixture(params=["machine", "python"], scope="module")
def machine(request: pytest.FixtureRequest) -> ModuleType | None:
    """Machine code, and none."""
    return MACHINE.now() if request.param == "machine" else None


@given(st.lists(st.tuples(_POSTGRESQL | _BINLOG | _OTHER, st.sampled_from(_POSITIONS)), max_size=12))
def test_columns_of_places_are_the_places_of_each_message(
    machine: ModuleType | None, messages: list[tuple[Any, str]]
) -> None:
    origins = [None if origin is None else json.dumps(origin, separators=(",", ":")) for origin, _ in messages]
    positions = [position for _, position in messages]
    found = order_key_column(pa.array(origins, pa.string()), pa.array(positions, pa.string()), machine)
    assert found.to_pylist() == order_keys([(one or "null").encode() for one in origins], positions)


@given(
    st.lists(st.tuples(_POSTGRESQL | _BINLOG, st.floats(0, 1), st.integers(0, 2), st.sampled_from(["", *_PIECES]))),
    st.integers(0, 3),
)
def test_origins_with_something_wrong_in_them_are_read_as_one_by_one(
    machine: ModuleType | None, spoilt: list[tuple[Any, float, int, str]], first: int
) -> None:
    texts = []
    for origin, at, gone, piece in spoilt:
        text = json.dumps(origin, separators=(",", ":"))
        place = int(at * len(text))
        texts.append(text[:place] + piece + text[place + gone :])
    origins, positions = pa.array(texts, pa.string()).slice(first), ["shop/0/1"] * len(texts[first:])
    found = order_key_column(origins, pa.array(positions, pa.string()), machine)
    assert found.to_pylist() == order_keys([one.encode() for one in texts[first:]], positions)


@given(
    st.lists(st.sampled_from(_POSITIONS) | st.text(st.characters(exclude_categories=["Cs"])), max_size=12),
    st.integers(0, 3),
)
def test_columns_of_positions_are_the_positions_of_each_message(
    machine: ModuleType | None, positions: list[str], first: int
) -> None:
    log, partition, offset = transport_columns(pa.array(positions, pa.string()).slice(first), machine)
    rows = zip(log.to_pylist(), partition.to_pylist(), offset.to_pylist(), strict=True)
    assert list(rows) == [tuple(transport_position(one)) for one in positions[first:]]


@pytest.mark.parametrize("text", ["a/0/5\n", "a@5\n", "\na/0/5", "a\nb/0/5"])
def test_line_feeds_are_letters_like_others(machine: ModuleType | None, text: str) -> None:
    (log,), (partition,), (offset,) = (column.to_pylist() for column in transport_columns(pa.array([text]), machine))
    assert (log, partition, offset) == tuple(transport_position(text))


def test_what_lies_behind_a_null_is_not_read(machine: ModuleType | None) -> None:
    """One origin is null though a text lies where it would lie; the batch is a slice of a larger one."""
    text = b'{"lsn":5}{"lsn":6}{"lsn":7}'
    made_of: list[Any] = [np.array([0b101], np.uint8), np.array([0, 9, 18, 27], np.int32), text]
    buffers: list[Any] = [pa.py_buffer(one) for one in made_of]
    origins: Any = pa.Array.from_buffers(pa.string(), 3, buffers)
    found = order_key_column(origins.slice(1), pa.array(["a/0/1", "a/0/2"]), machine)
    assert found.to_pylist() == order_keys([b"null", b'{"lsn":7}'], ["a/0/1", "a/0/2"])


@pytest.mark.parametrize("odd", ["", '{},{"lsn":77}', '{"lsn":5', "[", "]"])
def test_an_odd_origin_changes_nothing_of_those_beside_it(machine: ModuleType | None, odd: str) -> None:
    origins = pa.array(['{"lsn":2}', odd, '{"lsn":3}'])
    positions = pa.array(["a/0/1", "a/0/2", "a/0/3"])
    found = order_key_column(origins, positions, machine).to_pylist()
    assert found == [order_key(b'{"lsn":2}', "a/0/1"), order_key(b"null", "a/0/2"), order_key(b'{"lsn":3}', "a/0/3")]
