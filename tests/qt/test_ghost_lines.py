"""Ghost columns and rows: room for removed attributes that takes no position, in every order and under every filter."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from metl_gui.core.changes.draft import Edit, perform
from metl_gui.core.edits.review import ConfirmBlock
from metl_gui.core.matrix.document import Document
from metl_gui.core.merge.merged_document import MergeTheirs
from metl_gui.core.search.filters import FilterResult
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.camera import Camera
from metl_gui.ui.matrix.layout.content import Arrangement, PlaneContent, SortOrder, content_after, content_of
from metl_gui.ui.matrix.layout.placement import GHOST
from metl_gui.ui.matrix.layout.sort_and_filter import arranged
from metl_gui.ui.matrix.painting.paint_context import PaintContext, Sign
from metl_gui.ui.matrix.painting.plane import paint_plane
from metl_gui.ui.theming import theme as themes
from tests.helpers.world import World
from tests.qt.random_documents import some_document

DOCUMENT = some_document()
ORDERS = [Arrangement(order=order) for order in SortOrder] + [Arrangement(is_relevant_only=True)]


def filtered(document: Document) -> Arrangement:
    """Hide every third attribute of the extraction tree, so that some old neighbours are hidden too."""
    ids = sorted(a.id for v in document.extraction.all_versions() for at, a in enumerate(v.attributes) if at % 3)
    schemas = np.array(sorted(schema.id for schema in document.extraction.schemas()), np.int32)
    versions = np.array(sorted(version.id for version in document.extraction.all_versions()), np.int32)
    passing = FilterResult(Side.EXTRACTION, "some", schemas, versions, np.array(ids, np.int32), len(schemas))
    return Arrangement(columns=passing)


def example_b() -> World:
    """Return example B after its first event (docs/architecture/model.md, "Worked examples")."""
    world = World()
    world.schema("s1", "1", "a1", "a2", "a3")
    world.schema("s1", "2", "a4=a1", "a5", "a6=a3")
    world.entity("be1", "1", "c1", "c2")
    world.map("s1@1:be1@1", c1="a1", c2="a3")
    world.map("s1@2:be1@1", c1="a4", c2="a6")
    world.schema("s1", "3", "a7=a4")
    return world


def versions_in_order(axis: Axis) -> list[list[tuple[float, str]]]:
    """Return for every version its attributes and its ghosts by place, ghosts marked."""
    found = []
    for item in range(len(axis.version_spans)):
        positions = range(axis.version_spans.first(item), axis.version_spans.last(item))
        names = [(axis.begin(at), axis.name(Level.ATTRIBUTE, at)) for at in positions]
        begin, end = axis.version_spans.stretch(item)
        names += [(at, f"~{line.path}") for line, at in axis.ghosts.within(begin, end)]
        found.append(sorted(names))
    return found


def after(document: Document, edit: Edit, content: PlaneContent) -> PlaneContent:
    done = perform(document, edit)
    return content_after(content, done.after, [change.key for change in done.change.blocks])


@pytest.mark.parametrize("arrangement", [*ORDERS, filtered(DOCUMENT)], ids=lambda each: str(each.order))
def test_ghosts_leave_every_position_and_every_count_as_it_is_without_them(arrangement: Arrangement) -> None:
    content = arranged(DOCUMENT, arrangement)
    for axis, bare in zip((content.columns, content.rows), content.bare, strict=True):
        positions = range(len(bare.runs))
        assert len(axis.runs) == len(bare.runs)
        assert [axis.attribute_id(at) for at in positions] == [bare.attribute_id(at) for at in positions]
        assert [axis.runs.at(axis.begin(at) + 0.5) for at in positions] == list(positions)
        assert axis.length == pytest.approx(bare.length + GHOST * len(axis.ghosts))
    assert len(content.columns.ghosts) > 0
    tiles = content.counts(Level.SCHEMA, Level.SCHEMA)
    whole = tiles.within(range(len(content.columns.schemas)), range(len(content.rows.schemas)))
    assert int(whole.elements.sum()) == len(
        content.elements_within(range(len(content.columns.runs)), range(len(content.rows.runs)))
    )


@pytest.mark.parametrize("arrangement", [*ORDERS, filtered(DOCUMENT)], ids=lambda each: str(each.order))
def test_nothing_lies_at_the_place_of_a_ghost_and_nothing_overlaps_it(arrangement: Arrangement) -> None:
    axis = arranged(DOCUMENT, arrangement).columns
    for line, begin in zip(axis.ghosts.lines, axis.ghosts.begins.tolist(), strict=True):
        assert axis.runs.at(begin + GHOST / 2) is None
        assert axis.version_spans.at(begin + GHOST / 2) == line.item
        assert axis.ghosts.at(begin + GHOST / 2) is line
        for hidden in axis.hidden_within(begin, begin + GHOST):
            assert hidden.end <= begin + 1e-6 or hidden.begin >= begin + GHOST - 1e-6


def test_a_ghost_stands_behind_the_neighbour_that_its_attribute_had() -> None:
    world = World()
    world.schema("s", "1", "first", "a", "b", "c", "d")
    world.entity("e", "1", "p", "q", "r", "s")
    world.map("s@1:e@1", p="first", q="a", r="b", s="d")
    world.schema("s", "2", "new", "d", "c")
    (_, second) = versions_in_order(content_of(world.document).columns)
    assert [name for _, name in second] == ["~first", "~a", "~b", "new", "d", "c"]
    world.schema("s", "3", "c", "d")
    third = versions_in_order(content_of(world.document).columns)[2]
    assert [name for _, name in third] == ["~first", "~a", "~b", "c", "d"]


def test_example_b_has_one_ghost_behind_its_only_attribute() -> None:
    versions = versions_in_order(content_of(example_b().document).columns)
    assert [[name for _, name in version] for version in versions][2] == ["a7", "~a6"]


def test_a_ghost_stands_at_its_name_where_attributes_are_sorted_by_name() -> None:
    for names in versions_in_order(arranged(DOCUMENT, Arrangement(order=SortOrder.NAME)).columns):
        paths = [name.removeprefix("~") for _, name in names]
        assert paths == sorted(paths)


def test_a_ghost_row_stands_where_an_entity_version_removed_an_attribute() -> None:
    world = example_b()
    world.entity("be1", "2", "c1")
    content = content_of(world.document)
    assert [[name for _, name in version] for version in versions_in_order(content.rows)] == [["c1", "~c2"]]
    first = world.key("s1@1:be1@2")
    assert [(cell.is_ghost, cell.loss.to_path) for cell in content.lost_cells(first)] == [(True, "c2")]
    lost = {content.columns.ghosts.at(cell.column[0] + 0.1) for cell in content.lost_cells(first)}
    assert lost == {None}  # the column is there, only the row is gone


def test_a_block_that_is_decided_takes_its_ghosts_with_it_and_undo_brings_them_back() -> None:
    content = content_of(DOCUMENT)
    key = next(iter(content.lost))
    decided = after(DOCUMENT, ConfirmBlock(key), content)
    assert {line.version for line in decided.columns.ghosts.lines} == {
        line.version for line in content.columns.ghosts.lines
    } - {key[0], *(k[0] for k in content.lost if k not in decided.lost)}
    assert key not in decided.lost
    again = content_after(decided, DOCUMENT, content.lost)
    assert again.columns.ghosts.lines == content.columns.ghosts.lines
    assert np.array_equal(again.columns.runs.starts, content.columns.runs.starts)
    assert np.array_equal(
        decided.columns.version_spans.starts, content_of(decided.document).columns.version_spans.starts
    )


def test_what_was_lost_between_two_ghosts_is_found_by_either_of_them() -> None:
    world = example_b()
    world.entity("be1", "2", "c1")
    content, key = content_of(world.document), world.key("s1@3:be1@2")
    (cell,) = content.lost_cells(key)
    column = content.columns.ghosts.at(cell.column[0] + 0.1)
    row = content.rows.ghosts.at(cell.row[0] + 0.1)
    assert column is not None
    assert row is not None
    assert column.loss_in(key, row) == row.loss_in(key) == (key, cell.loss)


def merged_in_conflict() -> World:
    """Return a world whose d is mapped from a, after a merge with another side that mapped it from b."""
    world = World()
    world.schema("s", "1", "a", "b", "x")
    world.entity("e", "1", "c", "d")
    world.map("s@1:e@1", c="x")
    base = world.document
    world.map("s@1:e@1", d="b")
    theirs, world.document = world.document, base
    world.map("s@1:e@1", d="a")
    world.do(MergeTheirs(base, theirs, "theirs"))
    return world


def test_a_conflict_of_a_merge_stands_in_its_cell_without_a_ghost_and_names_its_rival() -> None:
    world = merged_in_conflict()
    content, key = content_of(world.document), world.key("s@1:e@1")
    assert len(content.columns.ghosts) == len(content.rows.ghosts) == 0
    (cell,) = content.lost_cells(key)
    assert (cell.is_ghost, cell.loss.from_path, cell.loss.to_path) == (False, "b", "d")
    mapped = world.element(key, "a", "d")
    column, row = content.columns.position_of(key[0], mapped.p), content.rows.position_of(key[1], mapped.q)
    assert column is not None
    assert row is not None
    assert [(x[0], y[0]) for x, y in cell.rivals] == [(content.columns.begin(column), content.rows.begin(row))]


def test_both_squares_of_a_conflict_are_crossed_and_the_legend_says_so(dressed: QApplication) -> None:
    assert dressed is not None
    world, theme = merged_in_conflict(), themes.load("light")
    look = PaintContext(content_of(world.document), Camera(-0.4, -0.4, 27, 25), (300, 120), 1.0, theme)
    image = QImage(300, 120, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    signs = paint_plane(painter, look)
    painter.end()
    assert Sign.CONFLICT in signs
    (cell,) = look.content.lost_cells(world.key("s@1:e@1"))
    (rival,) = cell.rivals
    for column, row, colour in ((*rival, theme.panel), (cell.column, cell.row, theme.review_outline[0])):
        x, y = (round((sum(stretch) / 2 + 0.4) * scale) for stretch, scale in ((column, 27), (row, 25)))
        near = {image.pixelColor(x + dx, y + dy).name() for dx in (-1, 0, 1) for dy in (-1, 0, 1)}
        assert colour.name() in near


def test_a_ghost_is_hatched_wherever_its_axis_shows_single_attributes(dressed: QApplication) -> None:
    assert dressed is not None
    content, theme = content_of(DOCUMENT), themes.load("light")
    begin = float(content.columns.ghosts.begins[0])
    signs = {}
    for scale_y in (25.0, 4.0, 0.6, 0.05):
        look = PaintContext(content, Camera(begin - 5, -0.4, 27, scale_y), (400, 200), 1.0, theme)
        image = QImage(400, 200, QImage.Format.Format_RGB32)
        painter = QPainter(image)
        signs[scale_y] = Sign.REMOVED in paint_plane(painter, look), look.levels[1]
        painter.end()
    assert all(is_hatched is (level is not None) for is_hatched, level in signs.values())
    assert {level for _, level in signs.values()} >= {Level.ATTRIBUTE, Level.VERSION, None}
