"""The layout of the plane: gaps, levels, camera; and what the content counts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.changes.draft import perform
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import Element, Status
from metl_gui.ui.matrix.input.gestures import Pan, Press
from metl_gui.ui.matrix.labels.headers import spaced_names
from metl_gui.ui.matrix.layout.axis import Level, columns_of, rows_of
from metl_gui.ui.matrix.layout.block_index import BlockTile
from metl_gui.ui.matrix.layout.camera import TALLEST_CELL, WIDEST_CELL, Camera, Frame, fitted, level_at, looking_at
from metl_gui.ui.matrix.layout.content import PlaneContent, content_after, content_of
from metl_gui.ui.matrix.layout.tile_counts import Tile, Tiles
from tests.qt.random_documents import some_document

DOCUMENT = some_document()
CONTENT = content_of(DOCUMENT)
FRAMES = st.builds(Frame, st.floats(1, 5000), st.floats(1, 5000), st.floats(50, 3000), st.floats(50, 3000))
CAMERAS = st.builds(
    Camera, st.floats(-100, 5000), st.floats(-100, 5000), st.floats(0.01, WIDEST_CELL), st.floats(0.01, TALLEST_CELL)
)


def everything(content: PlaneContent, level_x: Level, level_y: Level) -> Tiles:
    spans = content.columns.spans(level_x), content.rows.spans(level_y)
    return content.counts(level_x, level_y).within(range(len(spans[0])), range(len(spans[1])))


def shown(content: PlaneContent) -> tuple[list[tuple[int, int, int]], list[BlockTile], list[Tile]]:
    columns, rows = range(len(content.columns.runs)), range(len(content.rows.runs))
    xs, ys = range(len(content.columns.version_spans)), range(len(content.rows.version_spans))
    return (
        list(content.elements_within(columns, rows)),
        list(content.blocks_within(xs, ys)),
        list(everything(content, Level.SCHEMA, Level.SCHEMA)),
    )


def test_every_attribute_of_every_version_has_one_column() -> None:
    expected = sorted(a.id for v in DOCUMENT.extraction.all_versions() for a in v.attributes)
    columns = CONTENT.columns
    assert sorted(columns.attribute_id(at) for at in range(len(columns.runs))) == expected


def test_gaps_are_wider_between_groups_than_between_schemas_than_between_versions() -> None:
    axis = columns_of(DOCUMENT.extraction)
    versions = axis.spans(Level.VERSION)
    items = range(len(versions))
    gaps = np.round(versions.begins(items)[1:] - versions.ends(items)[:-1], 6)
    schema = axis.parents(Level.VERSION, np.array(items), Level.SCHEMA)
    group = axis.parents(Level.VERSION, np.array(items), Level.GROUP)
    same_schema, same_group = schema[1:] == schema[:-1], group[1:] == group[:-1]
    assert set(gaps[same_schema].tolist()) == {0.4}
    assert set(gaps[same_group & ~same_schema].tolist()) == {0.8}
    assert set(gaps[~same_group].tolist()) == {1.6}


def test_an_entity_under_the_default_policy_has_rows_for_its_newest_version_only() -> None:
    axis = rows_of(DOCUMENT.cdm)
    assert axis.version_ids.tolist() == [e.version_ids[-1] for e in axis.schemas]


def test_a_place_in_a_gap_belongs_to_no_version() -> None:
    versions = CONTENT.columns.spans(Level.VERSION)
    assert versions.at(versions.end(0) + 0.1) is None
    assert versions.at(versions.begin(1) + 0.1) == 1


def test_items_within_a_stretch_are_those_that_touch_it() -> None:
    spans = CONTENT.columns.spans(Level.VERSION)
    seen = spans.within(10.0, 40.0)
    touching = [i for i in range(len(spans)) if spans.end(i) > 10.0 and spans.begin(i) < 40.0]
    assert list(seen) == touching


def test_the_counts_of_every_pair_of_levels_add_up_to_the_elements_of_the_matrix() -> None:
    for level_x in Level:
        for level_y in Level:
            assert int(everything(CONTENT, level_x, level_y).elements.sum()) == DOCUMENT.matrix.ones


def test_tiles_count_every_block_that_waits() -> None:
    waiting = len(DOCUMENT.matrix.waiting())
    assert int(everything(CONTENT, Level.SCHEMA, Level.SCHEMA).waiting.sum()) == waiting > 0


def test_laying_out_what_an_edit_changed_equals_laying_out_everything() -> None:
    block = next(b for b in DOCUMENT.matrix.blocks() if len(b.elements) >= 2)
    free = next(w for e in DOCUMENT.cdm.schemas() for w in e.version_ids if not DOCUMENT.matrix.block(block.version, w))
    target = DOCUMENT.cdm.version(free).attributes[0]
    edits = [
        SetElements(block.key, zeros=block.elements[:1]),
        SetElements(block.key, zeros=block.elements),
        SetElements((block.version, free), (Element(target.id, block.elements[0].p),)),
    ]
    for edit in edits:
        transition = perform(DOCUMENT, edit)
        keys = [change.key for change in transition.change.blocks]
        part, whole = content_after(CONTENT, transition.after, keys), content_of(transition.after)
        assert shown(part) == shown(whole)


def test_cells_name_the_block_they_lie_in() -> None:
    block = next(b for b in DOCUMENT.matrix.blocks() if b.elements and b.status is not Status.RETIRED)
    element = block.elements[0]
    column = CONTENT.columns.position_of(block.version, element.p)
    row = CONTENT.rows.position_of(block.entity_version, element.q)
    assert column is not None
    assert row is not None
    assert CONTENT.key_at(column, row) == block.key
    assert CONTENT.element_at(column, row) is not None
    assert CONTENT.element_at(column, (row + 1) % len(CONTENT.rows.runs)) is None or len(block.elements) > 1


@given(FRAMES, CAMERAS, st.floats(0.2, 5), st.floats(0, 1), st.floats(0, 1))
def test_zooming_never_leaves_the_bounds_of_an_axis(
    frame: Frame, camera: Camera, factor: float, x: float, y: float
) -> None:
    zoomed = camera.zoomed(frame, factor, factor, (x * frame.width, y * frame.height))
    assert frame.least_x <= zoomed.scale_x <= WIDEST_CELL
    assert frame.least_y <= zoomed.scale_y <= TALLEST_CELL


def test_the_place_under_the_pointer_stays_when_zooming_in_the_middle_of_a_large_plane() -> None:
    frame = Frame(10_000, 10_000, 1000, 600)
    camera = looking_at(frame, (4000, 4000, 4100, 4100))
    before = camera.on_plane(300, 200)
    after = camera.zoomed(frame, 1.4, 1.4, (300, 200)).on_plane(300, 200)
    assert np.allclose(before, after)


@given(FRAMES)
def test_fitting_shows_the_whole_plane(frame: Frame) -> None:
    camera = fitted(frame)
    right, bottom = camera.on_screen(frame.columns, frame.rows)
    is_wide, is_tall = camera.scale_x < WIDEST_CELL, camera.scale_y < TALLEST_CELL
    assert right <= frame.width + 1e-6 or not is_wide
    assert bottom <= frame.height + 1e-6 or not is_tall


@given(FRAMES, CAMERAS, st.floats(-9000, 9000), st.floats(-9000, 9000))
def test_panning_there_and_back_stays_on_the_plane(frame: Frame, camera: Camera, dx: float, dy: float) -> None:
    held = camera.zoomed(frame, 1, 1, (0, 0))
    panned = held.panned(frame, dx, dy)
    left, top = panned.on_screen(0, 0)
    right, bottom = panned.on_screen(frame.columns, frame.rows)
    assert left < frame.width
    assert top < frame.height
    assert right > 0
    assert bottom > 0


def test_the_level_is_the_finest_whose_items_are_fourteen_pixels_or_more() -> None:
    axis = CONTENT.columns
    assert level_at(axis, 14.0) is Level.ATTRIBUTE
    assert level_at(axis, 13.9) is Level.VERSION
    median = axis.spans(Level.VERSION).median_length
    assert level_at(axis, 14.0 / median - 0.001) is Level.SCHEMA
    assert level_at(axis, 0.001) is None


def test_a_press_is_a_click_until_it_moved_six_pixels() -> None:
    press = Press(10, 10)
    assert press.move(15, 10) is None
    assert press.release(15, 10) is not None
    dragged = Press(10, 10)
    pan = dragged.move(17, 10)
    assert isinstance(pan, Pan)
    assert (pan.dx, pan.dy) == (7, 0)
    assert dragged.release(17, 10) is None


def test_an_abandoned_press_means_nothing() -> None:
    press = Press(10, 10)
    press.abandon()
    assert press.move(100, 100) is None
    assert press.release(100, 100) is None


@given(st.lists(st.floats(0.5, 60), min_size=1, max_size=300), st.floats(8, 30), st.integers(0, 299))
def test_names_above_a_raster_never_run_into_each_other_and_the_one_pointed_at_is_among_them(
    lengths: list[float], room: float, pointed: int
) -> None:
    ends = np.cumsum(lengths).tolist()
    items = [(item, end - length, end) for item, (length, end) in enumerate(zip(lengths, ends, strict=True))]
    first = pointed % len(items)
    named = spaced_names(items, len(items), ends[-1], room, first)
    middles = [(begin + end) / 2 for _, begin, end in named]
    assert all(after - before >= room for before, after in pairwise(middles))
    assert first in [item for item, _, _ in named]


def test_names_above_a_raster_stay_while_one_pans() -> None:
    items = [(item, 3.0 * item, 3.0 * item + 3.0) for item in range(200)]
    whole = {item for item, _, _ in spaced_names(items, 200, 600.0, 14.0)}
    part = {item for item, _, _ in spaced_names(items[60:120], 200, 600.0, 14.0)}
    assert part == {item for item in whole if 60 <= item < 120}
    assert len(part) >= 5
