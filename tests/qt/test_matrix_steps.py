"""What lies behind the gestures, without a window: presses, runs, places and the way back, on random input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QMimeData

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.input.cursor import drilled, raised, stepped
from metl_gui.ui.matrix.input.gesture_preview import proposal, run, takers_of
from metl_gui.ui.matrix.input.gestures import Button, Click, Drag, DragSpan, Keys, Pan, Press, SpaceKey, wheel_factors
from metl_gui.ui.matrix.input.hit_test import Hits, item_of, node_of
from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.camera import (
    TALLEST_CELL,
    WIDEST_CELL,
    Anchor,
    Camera,
    Frame,
    Trail,
    Viewpoint,
    camera_of,
    fitted,
    place_of,
)
from metl_gui.ui.matrix.layout.content import content_of
from metl_gui.ui.project.selection import MIME_TYPE, CellRange, Dragged, NodeRef, Selected, from_mime, to_mime
from tests.qt.random_documents import some_document

CONTENT = content_of(some_document())
FRAME = Frame(CONTENT.columns.length, CONTENT.rows.length, 900.0, 600.0)
SPOTS = st.tuples(
    st.integers(0, len(CONTENT.columns.runs) - 1),
    st.integers(0, len(CONTENT.rows.runs) - 1),
)
CAMERAS = st.builds(
    lambda x, y, sx, sy: Camera(x, y, sx, sy).zoomed(FRAME, 1.0, 1.0, (0.0, 0.0)),
    st.floats(0, CONTENT.columns.length),
    st.floats(0, CONTENT.rows.length),
    st.floats(FRAME.least_x, WIDEST_CELL),
    st.floats(FRAME.least_y, TALLEST_CELL),
)


# presses


@pytest.mark.parametrize(
    ("button", "keys", "is_on_cell", "expected"),
    [
        (Button.LEFT, Keys(), True, Pan),
        (Button.MIDDLE, Keys(), False, Pan),
        (Button.LEFT, Keys(space=True), True, Pan),
        (Button.LEFT, Keys(control=True), True, DragSpan),
        (Button.LEFT, Keys(control=True), False, type(None)),
        (Button.LEFT, Keys(shift=True), False, DragSpan),
        (Button.LEFT, Keys(alt=True), True, type(None)),
    ],
)
def test_a_drag_means_what_its_button_and_keys_say(
    button: Button, keys: Keys, is_on_cell: bool, expected: type
) -> None:
    press = Press(10, 10, button, keys, is_on_cell)
    assert type(press.move(40, 10)) is expected


def test_only_a_plain_click_edits_and_shift_extends() -> None:
    clicks = {
        name: Press(5, 5, Button.LEFT, keys, is_on_cell=True).release(6, 5)
        for name, keys in {
            "plain": Keys(),
            "alt": Keys(alt=True),
            "control": Keys(control=True),
            "shift": Keys(shift=True),
        }.items()
    }
    edits = {name: click.edits for name, click in clicks.items() if isinstance(click, Click)}
    assert edits == {"plain": True, "alt": False, "control": False, "shift": False}
    shift = clicks["shift"]
    assert isinstance(shift, Click)
    assert shift.extends


def test_a_stretch_counts_only_when_it_is_released() -> None:
    press = Press(10, 10, Button.LEFT, Keys(shift=True))
    assert press.move(30, 30) == DragSpan(Drag.RECTANGLE, (10, 10), (30, 30))
    assert press.release(30, 30) == DragSpan(Drag.RECTANGLE, (10, 10), (30, 30), is_done=True)


def test_a_tapped_space_is_told_from_a_held_one() -> None:
    space = SpaceKey()
    space.press()
    assert space.release()
    space.press()
    space.use()
    assert not space.release()
    space.press()
    space.forget()
    assert not space.release()


def test_the_keys_of_the_wheel_choose_the_axis() -> None:
    assert wheel_factors(1, Keys()) == (1.18, 1.18)
    assert wheel_factors(1, Keys(shift=True)) == (1.18, 1.0)
    assert wheel_factors(1, Keys(shift=True, control=True)) == (1.0, 1.18)
    assert wheel_factors(1, Keys(control=True)) == (1.18, 1.18)


# runs


@given(SPOTS, SPOTS)
def test_a_run_never_uses_a_column_or_a_row_twice_and_stays_in_one_block(
    start: tuple[int, int], end: tuple[int, int]
) -> None:
    found = run(CONTENT, start, end)
    cells = [*found.wanted, *found.refused]
    assert len({column for column, _ in cells}) == len({row for _, row in cells}) == len(cells)
    assert {CONTENT.key_at(*cell) for cell in cells} <= {CONTENT.key_at(*start)}
    for column, row in found.wanted:
        assert not takers_of(CONTENT, (column, row))
        assert CONTENT.element_at(column, row) is None


CELLS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8, unique=True)


@given(CELLS, CELLS)
def test_a_proposal_beside_elements_is_one_to_one(cells: list[tuple[int, int]], others: list[tuple[int, int]]) -> None:
    elements = proposal(others, ()).wanted
    found = proposal(cells, elements)
    together = [*elements, *found.wanted]
    assert len({column for column, _ in together}) == len({row for _, row in together}) == len(together)
    assert set(found.takers) <= set(elements) | set(found.wanted)
    assert not set(found.refused) & set(found.wanted)


# places


@given(CAMERAS)
def test_a_place_leads_back_to_the_same_picture(camera: Camera) -> None:
    place = place_of(CONTENT, camera, Selected())
    again = Viewpoint.of_json(place.as_json())
    assert again == place
    back = camera_of(CONTENT, FRAME, again)
    assert (back.scale_x, back.scale_y) == (camera.scale_x, camera.scale_y)
    assert back.left == pytest.approx(camera.left)
    assert back.top == pytest.approx(camera.top)


@pytest.mark.parametrize(
    "found", [None, 3, {}, {"x": [1]}, {"x": [1, "a"], "y": [1, 2], "scale": [1, 1], "selected": []}]
)
def test_what_is_no_place_is_passed_over(found: object) -> None:
    assert Viewpoint.of_json(found) is None


def place(number: float) -> Viewpoint:
    return Viewpoint(Anchor(None, number), Anchor(None, 0.0), 1.0, 1.0, Selected())


def test_back_and_forward_walk_the_same_way() -> None:
    trail = Trail()
    for number in range(3):
        trail.leave(place(number), is_jump=True, now_s=number)
    here = place(3)
    walked = []
    while trail.can_go_back:
        found = trail.back(here)
        assert found is not None
        walked.append(found)
        here = found
    assert walked == [place(2), place(1), place(0)]
    assert [trail.forward(each) for each in (place(0), place(1), place(2))] == [place(1), place(2), place(3)]


def test_a_while_of_drifting_is_one_step_back() -> None:
    trail = Trail()
    for number in range(50):
        trail.leave(place(number), is_jump=False, now_s=number * 0.1)
    assert trail.back(place(50)) == place(0)
    assert not trail.can_go_back


def test_going_elsewhere_forgets_what_lay_ahead() -> None:
    trail = Trail()
    trail.leave(place(0), is_jump=True, now_s=0)
    assert trail.back(place(1)) == place(0)
    trail.leave(place(0), is_jump=True, now_s=5)
    assert not trail.can_go_forward


# steps


@pytest.mark.parametrize("axis", [CONTENT.columns, CONTENT.rows])
def test_each_attribute_is_the_item_of_its_own_node(axis: Axis) -> None:
    items = range(len(axis.spans(Level.ATTRIBUTE)))
    assert [item_of(axis, Level.ATTRIBUTE, node_of(axis, Level.ATTRIBUTE, item)) for item in items] == list(items)


@given(CAMERAS, st.sampled_from([(-1, 0), (1, 0), (0, -1), (0, 1)]), st.booleans(), SPOTS)
def test_a_step_moves_along_one_axis_only_and_never_beyond_its_end(
    camera: Camera, by: tuple[int, int], by_block: bool, spot: tuple[int, int]
) -> None:
    hits = Hits(CONTENT, camera)
    cells = Selected(
        node_of(CONTENT.columns, Level.ATTRIBUTE, spot[0]), node_of(CONTENT.rows, Level.ATTRIBUTE, spot[1])
    )
    start = stepped(hits, cells, (0, 0), by_block=False)
    assert start is not None
    moved = stepped(hits, start, by, by_block)
    assert moved is not None
    still = (moved.target, start.target) if by[0] else (moved.source, start.source)
    assert still[0] == still[1]


@given(CAMERAS, SPOTS)
def test_going_up_draws_something_coarser_until_everything_is_in_sight(camera: Camera, spot: tuple[int, int]) -> None:
    hits = Hits(CONTENT, camera)
    cell = Selected(node_of(CONTENT.columns, Level.ATTRIBUTE, spot[0]), node_of(CONTENT.rows, Level.ATTRIBUTE, spot[1]))
    above, _ = raised(hits, FRAME, cell)
    coarser = above.scale_x < camera.scale_x or above.scale_y < camera.scale_y
    assert coarser or above == fitted(FRAME)


@given(SPOTS)
def test_drilling_reaches_cells_in_a_few_steps(spot: tuple[int, int]) -> None:
    cell = Selected(node_of(CONTENT.columns, Level.ATTRIBUTE, spot[0]), node_of(CONTENT.rows, Level.ATTRIBUTE, spot[1]))
    camera = fitted(FRAME)
    for _ in range(4):
        hits = Hits(CONTENT, camera)
        tile = stepped(hits, cell, (0, 0), by_block=False)
        assert tile is not None
        closer = drilled(hits, FRAME, tile)
        assert closer is not None
        camera = closer
    assert Hits(CONTENT, camera).shows_cells


# values


def test_chosen_nodes_hold_the_current_one_and_choosing_one_drops_the_others() -> None:
    one, other = NodeRef(1, 2, 3), NodeRef(1, 2, 4)
    many = Selected(one, None, (one, other))
    assert many.all_on(Side.EXTRACTION) == (one, other)
    assert many.with_place(Side.EXTRACTION, other).sources == (other,)
    assert Selected(one, None, (other,)).sources == (one,)
    cells = CellRange(one, other, one, other)
    assert Selected(one, one, cells=cells).with_place(Side.CDM, other).cells is None


def test_what_is_dragged_comes_out_as_it_went_in_and_anything_else_as_nothing() -> None:
    dragged = Dragged(Side.CDM, (NodeRef(1, 2, 3), NodeRef(4)))
    assert from_mime(to_mime(dragged)) == dragged
    assert dragged.attributes == (NodeRef(1, 2, 3),)
    data = to_mime(dragged)
    data.setData(MIME_TYPE, b'{"side": "cdm", "places": [["x"]]}')
    assert from_mime(data) is None


def test_what_another_window_drags_is_not_taken_as_its_ids_mean_something_else_here() -> None:
    ours = to_mime(Dragged(Side.CDM, (NodeRef(1, 2, 3),)))
    theirs = QMimeData()
    for kind in ours.formats():
        data = ours.data(kind).data()
        theirs.setData(kind, data if kind == MIME_TYPE else data[::-1])
    assert from_mime(theirs) is None
    theirs = QMimeData()
    theirs.setData(MIME_TYPE, ours.data(MIME_TYPE))
    assert from_mime(theirs) is None
