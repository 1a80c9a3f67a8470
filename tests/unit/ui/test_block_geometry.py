"""Where the lines of the block editor run, by numbers of rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.matrix.blocks import Element
from metl_gui.ui.block.lines import ROW_PX, RowLine, RowLink, VisibleRows, line_near, runs

PLACES = {id_: id_ for id_ in range(100)}


def sight(first_row: int, rows: int = 10) -> VisibleRows:
    return VisibleRows(PLACES, first_row * ROW_PX, rows * ROW_PX)


def link(p: int, q: int) -> RowLink:
    return RowLink(Element(q, p))


def test_a_link_with_both_ends_in_sight_is_a_line_between_the_middles_of_its_rows() -> None:
    lines, stubs = runs([link(12, 3)], sight(10), sight(0))
    assert stubs == ()
    assert [(line.left, line.right) for line in lines] == [(2.5 * ROW_PX, 3.5 * ROW_PX)]


@pytest.mark.parametrize(("q", "direction"), [(0, -1), (60, 1), (500, 0)])
def test_a_link_with_one_end_in_sight_is_a_stub_that_tells_where_the_other_lies(q: int, direction: int) -> None:
    lines, stubs = runs([link(12, q)], sight(10), sight(30))
    assert lines == ()
    assert [(stub.is_left, stub.direction) for stub in stubs] == [(True, direction)]


def test_a_stub_starts_on_the_side_whose_end_is_in_sight() -> None:
    _, stubs = runs([link(80, 5)], sight(10), sight(0))
    assert [(stub.is_left, stub.direction) for stub in stubs] == [(False, 1)]


def test_a_link_with_both_ends_out_of_sight_is_not_drawn() -> None:
    assert runs([link(80, 80)], sight(0), sight(0)) == ((), ())


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 60), st.integers(0, 60))
def test_every_link_is_a_line_or_a_stub_or_out_of_sight(p: int, q: int, left: int, right: int) -> None:
    lines, stubs = runs([link(p, q)], sight(left), sight(right))
    seen = (left <= p < left + 10, right <= q < right + 10)
    assert (len(lines), len(stubs)) == ((1, 0) if all(seen) else (0, 1) if any(seen) else (0, 0))


@given(st.floats(0, 400), st.floats(0, 400))
def test_a_line_begins_and_ends_at_its_rows_and_stays_between_them(left: float, right: float) -> None:
    line = RowLine(link(1, 1), left, right)
    heights = [line.height_at(share / 10) for share in range(11)]
    assert heights[0] == pytest.approx(left, abs=0.01)
    assert heights[-1] == pytest.approx(right, abs=0.01)
    low, high = min(left, right), max(left, right)
    assert all(low - 0.01 <= height <= high + 0.01 for height in heights)


def test_the_nearest_line_within_reach_is_found_and_none_beyond() -> None:
    flat, steep = RowLine(link(1, 1), 50, 50), RowLine(link(2, 2), 0, 200)
    assert line_near([flat, steep], 0.1, 47) is flat
    assert line_near([flat, steep], 0.5, 98) is steep
    assert line_near([flat, steep], 0.9, 100) is None
    assert line_near([], 0.5, 10) is None
