"""Places in the logs of databases: keys sort as the log does, and hostile origins are places of transport."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.formats.source_positions import order_key, order_keys, transport_position

_HERE = "shop.orders/3/17"
_NUMBERS = st.integers(0, (1 << 64) - 2)


def key(origin: Any, position: str = _HERE) -> str:
    return order_key(json.dumps(origin).encode(), position)


def hexed(*numbers: int) -> str:
    return "".join(f"{number:016x}" for number in numbers)


_LATER: list[tuple[str, list[Any]]] = [
    (
        "p",
        [
            {"sequence": '[null,"5"]', "lsn": 5},
            {"sequence": '["5","9"]', "lsn": 9},
            {"sequence": '["5","9"]', "lsn": 9, "total_order": 1},
            {"sequence": '["5", "9"]', "lsn": "9", "total_order": 2},
            {"sequence": '["5","70"]', "lsn": 70},
            {"sequence": '["60","61"]', "lsn": 61},
            {"lsn": (1 << 64) - 1},
        ],
    ),
    (
        "b",
        [
            {"file": "mysql-bin.000009", "pos": 7},
            {"file": "mysql-bin.000009", "pos": 7, "row": 0},
            {"file": "mysql-bin.000009", "pos": 7, "row": 1},
            {"file": "mysql-bin.000009", "pos": 10, "row": 0},
            {"file": "mysql-bin.000010", "pos": 4, "row": 0, "server_id": 1, "gtid": None},
            {"file": "mysql-bin.1000000", "pos": "4", "row": "0"},
        ],
    ),
    (
        "s",
        [
            {"commit_lsn": "00000025:00000d98:00a2", "change_lsn": None, "event_serial_no": None},
            {"commit_lsn": "00000025:00000D98:00A2", "change_lsn": "00000025:00000d98:00a0", "event_serial_no": 1},
            {"commit_lsn": "00000025:00000d98:00a2", "change_lsn": "00000025:00000d98:00a0", "event_serial_no": 2},
            {"commit_lsn": "00000025:00000d98:00a2", "change_lsn": "25:d98:a1"},
            {"commit_lsn": "00000027:00000758:0005", "change_lsn": "00000027:00000758:0003"},
        ],
    ),
    (
        "o",
        [
            {"scn": "9"},
            {"scn": "8", "commit_scn": "13"},
            {"scn": "12", "commit_scn": "13"},
            {"scn": 3, "commit_scn": 100},
        ],
    ),
    ("m", [{"ts_ms": 999, "ord": 12}, {"ts_ms": 1000, "ord": 2}, {"ts_ms": 1000, "ord": 11}]),
]


@pytest.mark.parametrize(("letter", "origins"), _LATER)
def test_what_lies_later_in_the_log_of_a_connector_has_a_greater_key_of_the_same_length(
    letter: str, origins: list[Any]
) -> None:
    keys = [key(origin) for origin in origins]
    assert all(earlier < later for earlier, later in pairwise(keys))
    assert {one[0] for one in keys} == {letter}
    assert len({len(one) for one in keys}) == 1


def test_keys_say_their_numbers_in_hexadecimal_digits() -> None:
    assert (
        key({"sequence": '["24023119","24023128"]', "lsn": 24023128, "total_order": 1})
        == f"p{hexed(24023119, 24023128, 2)}"
    )
    assert key({"file": "mysql-bin.000003", "pos": 484, "row": 0}) == f"b{hexed(3, 484, 1)}"
    assert key({"commit_lsn": "00000027:00000ac0:0007", "change_lsn": "00000027:00000ac0:0002"}) == (
        "s0000002700000ac000070000002700000ac000020000000000000000"
    )
    assert key({"ord": 1, "ts_ms": 1558965508000}) == f"m{hexed(1558965508000, 1)}"


def test_a_commit_that_is_not_known_counts_as_the_change_itself() -> None:
    same = f"p{hexed(7, 7, 0)}"
    for origin in (
        {"lsn": 7},
        {"lsn": 7, "sequence": None},
        {"lsn": 7, "sequence": '[null,"7"]'},
        {"sequence": '[null,"7"]'},
    ):
        assert key(origin) == same
    assert key({"scn": "9", "commit_scn": None}) == key({"scn": "9", "commit_scn": "9"})


_NOWHERE: list[Any] = [
    None,
    {},
    [],
    "text",
    5,
    {"lsn": None},
    {"lsn": -1},
    {"lsn": 1 << 64},
    {"lsn": 10**400},
    {"lsn": 1.5},
    {"lsn": True},
    {"lsn": [1]},
    {"lsn": "٣"},
    {"lsn": "1" * 5000},
    {"lsn": 5, "sequence": "[5"},
    {"lsn": 5, "total_order": "x"},
    {"lsn": 5, "total_order": (1 << 64) - 1},
    {"sequence": "[]"},
    {"sequence": "1"},
    {"file": "commitlog-6-123456.log", "pos": 54},
    {"file": "mysql-bin.000003"},
    {"file": "mysql-bin." + "9" * 4000, "pos": 1},
    {"commit_lsn": "627404540760620", "change_lsn": "627404540485812"},
    {"commit_lsn": "00000025:00000d98:00a2", "change_lsn": "x"},
    {"scn": "x"},
    {"commit_scn": "12:3,45:6", "scn": "5"},
    {"ord": 5},
    {"ord": 5, "ts_ms": -5},
    {"server_id": 1, "gtid": "a:1-5"},
]


@pytest.mark.parametrize("origin", _NOWHERE, ids=range(len(_NOWHERE)))
def test_an_origin_that_says_no_comparable_place_is_a_place_of_transport(origin: Any) -> None:
    assert key(origin).startswith(f"t00000003{hexed(17)}")
    assert key(origin) == key(None)


def test_an_origin_that_cannot_be_read_leaves_those_beside_it_as_they_are() -> None:
    origins = [b'{"lsn":5}', b'{"lsn":[]}', b"", b'{},{"lsn":7}', b"null", b'{"file":"a.1","pos":2,"row":3}']
    keys = order_keys(origins, [_HERE] * len(origins))
    assert [one[0] for one in keys] == ["p", "t", "t", "t", "t", "b"]
    assert keys == [order_key(one, _HERE) for one in origins]


def test_one_offset_of_two_files_gives_two_keys() -> None:
    assert key(None, "a.jsonl@0") != key(None, "b.jsonl@0")
    assert key(None, "a.jsonl@9") < key(None, "a.jsonl@10")


@given(st.lists(st.tuples(_NUMBERS, _NUMBERS, st.none() | _NUMBERS), min_size=2, max_size=9))
def test_keys_of_postgresql_sort_as_their_numbers_do(places: list[tuple[int, int, int | None]]) -> None:
    origins = [{"sequence": f'["{commit}","{lsn}"]', "lsn": lsn, "total_order": order} for commit, lsn, order in places]
    keys = order_keys([json.dumps(one).encode() for one in origins], [_HERE] * len(origins))
    by_numbers = sorted(range(len(places)), key=lambda at: [-1 if one is None else one for one in places[at]])
    assert [keys[at] for at in by_numbers] == sorted(keys)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda below: (
            st.lists(below) | st.dictionaries(st.sampled_from(["lsn", "sequence", "file", "pos", "scn"]), below)
        ),
    ),
    st.text(),
)
def test_no_origin_and_no_position_is_refused(origin: Any, position: str) -> None:
    made = order_key(json.dumps(origin, allow_nan=False).encode() if _is_json(origin) else b"{", position)
    assert made[0] in "pbsomt"


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False).encode()
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("shop.orders/3/17", ("shop.orders", 3, 17)),
        ("orders.jsonl@0", ("orders.jsonl", 0, 0)),
        ("day/2/orders.jsonl@4096", ("day/2/orders.jsonl", 0, 4096)),
        ("orders/1/2@77", ("orders/1/2", 0, 77)),
        ("a@b/0/5", ("a@b", 0, 5)),
        ("", ("", 0, 0)),
        ("orders", ("orders", 0, 0)),
        ("orders/x/5", ("orders/x/5", 0, 0)),
        ("orders/0/-5", ("orders/0/-5", 0, 0)),
        (f"orders/0/{1 << 63}", (f"orders/0/{1 << 63}", 0, 0)),
        (f"orders/{1 << 31}/0", (f"orders/{1 << 31}/0", 0, 0)),
        ("file@٣", ("file@٣", 0, 0)),
        ("file@" + "9" * 5000, ("file@" + "9" * 5000, 0, 0)),
    ],
)
def test_a_position_is_a_partition_of_a_topic_or_a_byte_of_a_file(text: str, expected: tuple[str, int, int]) -> None:
    assert transport_position(text) == expected
