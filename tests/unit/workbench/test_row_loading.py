"""Rows are written after a change that is there, and where there is none people hear what else they can do."""

from __future__ import annotations

import struct

import pytest

from metl_gui.engine.lanes.load_control import Example
from metl_gui.errors import RunError
from metl_gui.workbench.lanes.load_methods import newest_row

DELETE = Example(partition=0, key=b'{"id":1}', value=b'{"before":{"id":1},"after":null,"op":"d"}')
CHANGE = Example(partition=0, key=b'{"id":1}', value=b'{"before":null,"after":{"id":1},"op":"c"}')
AVRO = Example(partition=0, key=struct.pack(">bIq", 0, 7, 1), value=struct.pack(">bI", 0, 8) + b"\x02\x02")


def test_rows_are_written_after_the_newest_change_that_has_one() -> None:
    assert newest_row("t", "public.t", [CHANGE, CHANGE, DELETE]) is CHANGE


def test_a_topic_of_avro_is_refused_with_the_two_ways_that_take_it() -> None:
    with pytest.raises(RunError) as refused:
        newest_row("shop.public.t", "public.t", [AVRO, AVRO])
    assert refused.value.title == "The records of shop.public.t are not JSON."
    assert "--from debezium" in refused.value.hint
    assert "--from beginning" in refused.value.hint


@pytest.mark.parametrize("examples", [[], [DELETE]])
def test_a_topic_without_a_change_of_a_row_asks_for_one(examples: list[Example]) -> None:
    with pytest.raises(RunError, match=r"Change any row of public\.t"):
        newest_row("shop.public.t", "public.t", examples)
