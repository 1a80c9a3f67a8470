"""What is painted of the plane: colours at known places of every level in both themes, and what the legend explains."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from PySide6.QtCore import QPoint, QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtTest import QTest

from metl_gui.core.edits.review import ConfirmBlock
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.types import read_type
from metl_gui.ui.matrix.labels.legend import paint_legend
from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.layout.camera import Camera
from metl_gui.ui.matrix.layout.content import PlaneContent, content_of
from metl_gui.ui.matrix.layout.spans import ItemSpans
from metl_gui.ui.matrix.layout.tile_counts import Tile
from metl_gui.ui.matrix.painting import paint_context
from metl_gui.ui.matrix.painting.cells import mark_side
from metl_gui.ui.matrix.painting.paint_context import Overlay, PaintContext, Sign, Tinting, zero_of
from metl_gui.ui.matrix.painting.plane import paint_plane
from metl_gui.ui.matrix.painting.raster import PixelLine, Plates, palette, plates
from metl_gui.ui.matrix.painting.shapes import BoxPainter
from metl_gui.ui.matrix.painting.version_changes import changes_within
from metl_gui.ui.matrix.picture import PictureSpec, save
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.theme import contrast, luminance
from tests.helpers.world import World
from tests.qt.random_documents import some_document
from tests.unit.ui.naive_plane import Plane

SIZE = (1400, 800)
CELLS, VERSIONS, SCHEMAS = Camera(-0.4, -0.4, 27, 25), Camera(-4, -4, 3, 3), Camera(-8, -8, 1, 3)
DOCUMENT = some_document()
CONTENT = content_of(DOCUMENT)


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest) -> themes.Theme:
    request.getfixturevalue("dressed")
    return themes.load(request.param)


def painted(look: PaintContext, ground: QColor | None = None) -> tuple[QImage, frozenset[Sign]]:
    """Paint a plane over a ground, else the panel's, and return the picture with the signs that were used."""
    image = QImage(round(look.size[0] * look.ratio), round(look.size[1] * look.ratio), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(look.ratio)
    image.fill(ground or look.theme.panel)
    painter = QPainter(image)
    signs = paint_plane(painter, look)
    painter.end()
    return image, signs


def at(image: QImage, camera: Camera, x: float, y: float) -> QColor:
    """Return the colour at a place of the plane."""
    px, py = camera.on_screen(x, y)
    return image.pixelColor(round(px), round(py))


def near(one: QColor, other: QColor, by: int = 6) -> bool:
    parts = (one.red(), other.red()), (one.green(), other.green()), (one.blue(), other.blue())
    return all(abs(a - b) <= by for a, b in parts)


def tiles(content: PlaneContent, *levels: Level) -> Iterator[tuple[tuple[float, float, float, float], Tile]]:
    wide, tall = content.columns.spans(levels[0]), content.rows.spans(levels[-1])
    for tile in content.counts(levels[0], levels[-1]).within(range(len(wide)), range(len(tall))):
        (left, right), (top, bottom) = wide.stretch(tile.x), tall.stretch(tile.y)
        yield (left, right, top, bottom), tile


@given(
    st.lists(st.tuples(st.floats(0.01, 50), st.floats(0, 5)), min_size=1, max_size=60),
    st.floats(0, 100),
    st.floats(0.05, 30),
    st.sampled_from([1.0, 1.5, 2.0]),
)
def test_every_pixel_of_an_axis_shows_the_item_that_lies_there(
    parts: list[tuple[float, float]], place: float, scale: float, ratio: float
) -> None:
    lengths, gaps = (np.array(column) for column in zip(*parts, strict=True))
    begin = np.cumsum(lengths + gaps) - lengths
    spans = ItemSpans(begin, begin + lengths, np.arange(len(parts) + 1))
    line = PixelLine.of(spans, place, scale, ratio, 300)
    assert len(line.items) <= 302
    assert (line.begin[1:] >= line.end[:-1]).all() or (np.diff(line.begin) > 0).all()
    for pixel in np.flatnonzero(line.of_pixel >= 0).tolist():
        item = int(line.items[line.of_pixel[pixel]])
        units = place + (pixel + 0.5) / (scale * ratio)
        slack = 1.5 / (scale * ratio)
        assert begin[item] - slack <= units <= begin[item] + lengths[item] + slack


def test_a_tile_has_its_colour_inside_rounded_corners_and_the_ground_between_tiles() -> None:
    spans = ItemSpans(np.array([0.0, 10.0]), np.array([9.0, 19.0]), np.arange(3))
    line = PixelLine.of(spans, 0, 2, 1, 40)
    table = palette(QColor("white"), [QColor("red"), QColor("blue")])
    image = plates(line, line, np.array([[1, 2], [2, 1]], np.uint8), 3).image(table, 1.0)
    assert image.pixelColor(9, 9) == QColor("red")
    assert image.pixelColor(28, 9) == QColor("blue")
    assert all(image.pixelColor(18, y) == QColor("white") for y in range(40))
    assert image.pixelColor(0, 0) != QColor("red")
    assert image.pixelColor(8, 0) == QColor("red")


@given(st.integers(1, 300), st.integers(1, 40), st.sampled_from([1.0, 2.0, 3.0]), st.integers(0, 2**32 - 1))
def test_a_picture_drawn_in_bands_is_the_one_that_is_drawn_at_once(
    height: int, width: int, ratio: float, seed: int
) -> None:
    random = np.random.default_rng(seed)
    table = palette(QColor("white"), [QColor("red"), QColor("blue")])
    numbers = random.integers(0, len(table), (5, width)).astype(np.uint8)
    laid_out = Plates(numbers, random.integers(0, len(numbers), height))
    drawn = QImage(width, height, QImage.Format.Format_RGB32)
    drawn.setDevicePixelRatio(ratio)
    painter = QPainter(drawn)
    laid_out.draw(painter, table, ratio)
    painter.end()
    assert drawn == laid_out.image(table, ratio)


@pytest.mark.parametrize(
    "camera", [CELLS, Camera(-30.3, -9.7, 21, 60), Camera(40.6, 3.3, 90, 17), Camera(5, 2, 15, 14), VERSIONS, SCHEMAS]
)
@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0, 3.0])
def test_what_stood_there_before_is_painted_over_everywhere(theme: themes.Theme, camera: Camera, ratio: float) -> None:
    look = PaintContext(CONTENT, camera, (500, 300), ratio, theme)
    assert painted(look, QColor("magenta"))[0] == painted(look, QColor("green"))[0]


@pytest.mark.parametrize(("camera", "level"), [(VERSIONS, Level.VERSION), (SCHEMAS, Level.SCHEMA)])
@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_the_tint_of_a_tile_is_its_share_and_of_an_empty_one_that_of_zero(
    theme: themes.Theme, camera: Camera, level: Level, ratio: float
) -> None:
    look = PaintContext(CONTENT, camera, SIZE, ratio, theme)
    assert look.levels == (level, Level.VERSION)
    image, _ = painted(look)
    rooms = Plane.of(DOCUMENT).rooms(level, Level.VERSION)
    for box, tile in tiles(CONTENT, level, Level.VERSION):
        place = camera.on_screen(box[0], box[2])
        colour = image.pixelColor(round((place[0] + 4) * ratio), round((place[1] + 1) * ratio))
        if not tile.waiting and place[0] < SIZE[0] - 10:
            room = rooms[tile.x, tile.y]
            assert near(colour, theme.tint(tile.elements / room), 8)
    known = {(tile.x, tile.y) for _, tile in tiles(CONTENT, level, Level.VERSION)}
    wide, tall = CONTENT.columns.spans(level), CONTENT.rows.spans(Level.VERSION)
    x, y = next((x, y) for x in range(9) for y in range(len(tall)) if (x, y) not in known)
    middle = camera.on_screen(sum(wide.stretch(x)) / 2, sum(tall.stretch(y)) / 2)
    assert image.pixelColor(round(middle[0] * ratio), round(middle[1] * ratio)) == zero_of(theme)


def one_of_many() -> Document:
    """Map one attribute of 78 schemas of 50 attributes each to an entity of 50; another group is mapped whole."""
    paths = [f"field_{number}" for number in range(50)]
    names = [*(f"many.wide{number}" for number in range(78)), "some.wide0"]
    world = World()
    world.entity("entity", "1", *paths)
    for name in names:
        world.schema(name, "1", *paths)
    world.map("many.wide3@1:entity@1", field_7="field_7")
    world.map("some.wide0@1:entity@1", **{path: path for path in paths})
    return world.document


def test_one_element_in_78_schemas_looks_nearly_empty_and_a_full_tile_does_not(theme: themes.Theme) -> None:
    content, camera = content_of(one_of_many()), Camera(0, 0, 0.25, 4)
    look = PaintContext(content, camera, SIZE, 1.0, theme)
    assert look.levels == (Level.GROUP, Level.VERSION)
    image, _ = painted(look)
    groups = content.columns.spans(Level.GROUP)
    little, whole = (
        image.pixelColor(round(camera.on_screen(groups.begin(item), 0)[0]) + 6, 60) for item in range(len(groups))
    )
    assert near(little, theme.tint(0.0), 2)
    assert near(whole, theme.tint(1.0), 2)
    assert little != zero_of(theme)
    assert contrast(little, theme.panel) < 1.2 < contrast(whole, theme.panel)


@pytest.mark.parametrize(
    ("scale", "words"), [(0.25, {"1 of 3,900"}), (0.01, {"1"}), (1.5, {"1 of 50", "50 of 50"}), (0.5, {"1", "50"})]
)
def test_a_tile_says_of_how_many_where_there_is_room(tmp_path: Path, scale: float, words: set[str]) -> None:
    content = content_of(one_of_many())
    size = round(content.columns.length * scale) + 20, 220
    sheet = PictureSpec(content, Camera(0, 0, scale, 4), size, themes.load("light"))
    written = re.findall(r">([^<>]+)</text>", save(sheet, tmp_path / "plane.svg").read_text("utf-8"))
    assert {text.strip() for text in written if re.fullmatch(r"[\d,]+( of [\d,]+)?", text.strip())} == words


def test_zero_and_the_least_tint_and_the_ground_are_three_colours(theme: themes.Theme) -> None:
    colours = [theme.panel, zero_of(theme), theme.tint(0.0)]
    assert len({colour.rgb() for colour in colours}) == 3
    assert contrast(theme.tint(0.0), theme.panel) > contrast(zero_of(theme), theme.panel) or theme.dark


def test_a_tile_in_which_a_block_waits_is_outlined_in_amber(theme: themes.Theme) -> None:
    image, signs = painted(PaintContext(CONTENT, VERSIONS, SIZE, 1.0, theme))
    assert Sign.REVIEW in signs
    box = next(box for box, tile in tiles(CONTENT, Level.VERSION) if tile.waiting)
    x, y = VERSIONS.on_screen(box[0], (box[2] + box[3]) / 2)
    assert near(image.pixelColor(round(x), round(y)), theme.review_outline[0], 40)


def test_a_mapped_cell_has_a_square_of_the_accent_and_an_empty_one_has_none(theme: themes.Theme) -> None:
    image, signs = painted(PaintContext(CONTENT, CELLS, SIZE, 1.0, theme))
    assert Sign.SHARE not in signs
    elements = CONTENT.elements_within(range(40), range(20))
    plain = [(x, y) for x, y, mark in elements if not mark & 5]
    assert plain
    for column, row in plain:
        place = CONTENT.columns.begin(column) + 0.5, CONTENT.rows.begin(row) + 0.5
        assert near(at(image, CELLS, *place), theme.accent)
    column, row = plain[0]
    beside = at(image, CELLS, CONTENT.columns.begin(column) + 0.5, CONTENT.rows.begin(row) + 1.5)
    assert not near(beside, theme.accent, 30)


def test_a_block_that_waits_has_an_amber_ground_at_cell_level(theme: themes.Theme) -> None:
    wide, tall = CONTENT.columns.spans(Level.VERSION), CONTENT.rows.spans(Level.VERSION)
    blocks = CONTENT.blocks_within(range(len(wide)), range(len(tall)))
    block = next(b for b in blocks if b.status is Status.NEEDS_REVIEW)
    camera = Camera(wide.begin(block.x) - 1, tall.begin(block.y) - 1, 27, 25)
    image, signs = painted(PaintContext(CONTENT, camera, SIZE, 1.0, theme))
    assert {Sign.REVIEW, Sign.LOST} <= signs
    inside = camera.on_screen(wide.begin(block.x), tall.begin(block.y))
    assert near(image.pixelColor(round(inside[0]) + 5, round(inside[1]) + 4), theme.reviewbg, 16)


TYPED = (
    ("lossless", "int32", "int64"),
    ("reinterpreted", "int32/io.debezium.time.Date", "date"),
    ("may_refuse", "boolean", "int64"),
)


def typed_document() -> Document:
    """Map one attribute of each verdict, in a block that is confirmed."""
    world = World()
    for side, at in ((Side.CDM, 2), (Side.EXTRACTION, 1)):
        declared = tuple(AttributeDeclaration(row[0], *read_type(row[at])) for row in TYPED)
        world.do(AddVersion(side, VersionDeclaration("day", declared, "1")))
    world.map("day@1:day@1", **{row[0]: row[0] for row in TYPED})
    world.do(ConfirmBlock(world.key("day@1:day@1")))
    return world.document


@pytest.mark.parametrize("ratio", [1.0, 2.0])
@pytest.mark.parametrize("scales", [(27, 25), (14, 14)])
@pytest.mark.parametrize("is_vector", [False, True])
def test_what_may_be_refused_is_crossed_in_red_and_what_is_read_in_another_form_has_a_dim_line(
    theme: themes.Theme, scales: tuple[int, int], ratio: float, is_vector: bool
) -> None:
    camera = Camera(-0.4, -0.4, *scales)
    look = PaintContext(content_of(typed_document()), camera, (300, 200), ratio, theme, is_vector=is_vector)
    image, signs = painted(look)
    assert signs == {Sign.MAPPED, Sign.MAY_REFUSE, Sign.REINTERPRETED}
    places = {name: camera.on_screen(at + 0.5, at + 0.5) for at, (name, *_) in enumerate(TYPED)}
    side = mark_side(*scales)
    lined, crossed = set(), set()
    for name, (x, y) in places.items():
        below = (image.pixelColor(round(x * ratio), round(at * ratio)) for at in np.arange(y, y + side, 0.5))
        lined |= {name} if any(near(colour, theme.dim) for colour in below) else set()
        crossed |= {name} if near(image.pixelColor(round(x * ratio), round(y * ratio)), theme.bad, 24) else set()
    assert lined == {"reinterpreted"}
    assert crossed == {"may_refuse"}


@pytest.mark.parametrize("scales", [(27, 5), (5, 5), (5, 27)])
def test_tiles_have_no_sign_of_types_whatever_they_hold(theme: themes.Theme, scales: tuple[int, int]) -> None:
    look = PaintContext(content_of(typed_document()), Camera(-0.4, -0.4, *scales), (300, 200), 1.0, theme)
    assert look.levels != (Level.ATTRIBUTE, Level.ATTRIBUTE)
    assert look.content.counts(Level.SCHEMA, Level.SCHEMA).at(0, 0).flagged == 1
    image, signs = painted(look)
    assert not signs & {Sign.MAY_REFUSE, Sign.REINTERPRETED}
    assert not any(near(image.pixelColor(x, y), theme.bad, 60) for x in range(300) for y in range(200))


def lineage_pairs(document: Document, version: int, entity: int) -> set[tuple[int, int]]:
    block = document.matrix.block(version, entity)
    lineages = {a.id: a.lineage for a in document.extraction.version(version).attributes}
    return {(lineages[e.p], e.q) for e in block.elements} if block else set()


def test_what_changed_is_what_the_version_before_had_not_or_had_more() -> None:
    wide, tall = CONTENT.columns.spans(Level.VERSION), CONTENT.rows.spans(Level.VERSION)
    found = changes_within(CONTENT, range(len(wide)), range(len(tall)), Level.VERSION)
    told = dict(
        zip(
            zip(found.x.tolist(), found.y.tolist(), strict=True),
            zip(found.added.tolist(), found.gone.tolist(), strict=True),
            strict=True,
        )
    )
    expected = {}
    for x in range(1, len(wide)):
        if CONTENT.columns.schema_at(x) != CONTENT.columns.schema_at(x - 1):
            continue
        for y in range(len(tall)):
            entity = CONTENT.rows.version_id(y)
            now = lineage_pairs(DOCUMENT, CONTENT.columns.version_id(x), entity)
            before = lineage_pairs(DOCUMENT, CONTENT.columns.version_id(x - 1), entity)
            if now != before:
                expected[x, y] = len(now - before), len(before - now)
    assert told == expected
    assert expected
    part = range(5, 9)
    some = changes_within(CONTENT, part, range(len(tall)), Level.VERSION)
    assert set(zip(some.x.tolist(), some.y.tolist(), strict=True)) == {key for key in expected if key[0] in part}


@pytest.mark.parametrize("overlay", [overlay for overlay in Overlay if overlay is not Overlay.NONE])
def test_an_overlay_tints_tiles_and_blocks_and_says_its_scale_in_words(theme: themes.Theme, overlay: Overlay) -> None:
    chosen = Tinting(overlay, 1_700_000_000_000 + 40 * 86_400_000)
    scale = paint_context.scale_of(chosen, theme, CONTENT.people)
    assert all(step.words for step in scale)
    allowed = [step.colour for step in scale]
    plain = PaintContext(CONTENT, VERSIONS, SIZE, 1.0, theme)
    image, signs = painted(replace(plain, tinting=chosen))
    assert Sign.SHARE not in signs
    for box, tile in tiles(CONTENT, Level.VERSION):
        place = VERSIONS.on_screen(box[0], box[2])
        if not tile.waiting and tile.elements and place[0] < SIZE[0] - 10:
            colour = image.pixelColor(round(place[0]) + 4, round(place[1]) + 1)
            assert any(near(colour, each) for each in allowed)


@pytest.mark.parametrize("overlay", [Overlay.AGE, Overlay.COVERAGE])
def test_the_steps_of_a_ramp_differ_in_lightness_for_eyes_that_see_no_colour(
    theme: themes.Theme, overlay: Overlay
) -> None:
    scale = paint_context.scale_of(Tinting(overlay), theme, ("",))[:5]
    light = [luminance(step.colour) for step in scale]
    assert light == sorted(light, reverse=not theme.dark)
    assert len({round(each, 3) for each in light}) == len(light)


def test_the_words_of_a_tile_can_be_read_on_every_tint(theme: themes.Theme) -> None:
    for overlay in Overlay:
        for step in paint_context.scale_of(Tinting(overlay), theme, ("", *"ABCDEFGH")):
            assert contrast(theme.on_tint(step.colour), step.colour) >= 4.5, (overlay, step.words)


def test_ages_are_counted_in_days_to_the_moment_that_was_chosen() -> None:
    day = 86_400_000
    chosen = Tinting(Overlay.AGE, 1000 * day)
    newest = np.array([1000 * day, 998 * day, 980 * day, 800 * day, 1 * day, 0], np.int64)
    zeros = np.zeros(6, np.int64)
    told = paint_context.TileStatistics(zeros, zeros.astype(np.float64), zeros, zeros, newest, zeros)
    assert paint_context.steps_of(chosen, told, ("",)).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("camera", [VERSIONS, CELLS, replace(CELLS, scale_y=3.0), Camera(0, 0, 0.2, 0.2)])
def test_a_matrix_without_elements_is_painted_as_zeros_at_every_level(theme: themes.Theme, camera: Camera) -> None:
    empty = content_of(Document(1, DOCUMENT.extraction, DOCUMENT.cdm))
    image, signs = painted(PaintContext(empty, camera, SIZE, 1.0, theme))
    assert signs <= {Sign.DENSITY}
    colours = {image.pixel(x, y) for x in range(0, SIZE[0], 7) for y in range(0, SIZE[1], 7)}
    assert not any(near(QColor(colour), theme.accent, 40) for colour in colours)


@pytest.mark.usefixtures("dressed")
def test_the_legend_explains_what_is_on_the_screen_and_nothing_else() -> None:
    def shown(signs: frozenset[Sign]) -> QImage:
        image = QImage(900, 26, QImage.Format.Format_RGB32)
        image.fill(themes.current().panel)
        painter = QPainter(image)
        paint_legend(painter, QRectF(0, 0, 900, 26), themes.current(), signs)
        painter.end()
        return image

    empty, one, two = shown(frozenset()), shown(frozenset({Sign.MAPPED})), shown(frozenset({Sign.MAPPED, Sign.LOST}))
    ink = [np.frombuffer(image.constBits(), np.uint8).reshape(26, -1).std(axis=0) > 0 for image in (empty, one, two)]
    assert not ink[0].any()
    assert 0 < ink[1].nonzero()[0].max() < ink[2].nonzero()[0].max()


def test_moving_the_pointer_does_not_paint_the_plane_again(window: Window) -> None:
    matrix = window.map.matrix
    matrix.fit()
    window.grab()
    painted_before = matrix.tiles.painted
    box = matrix.panes.plane.box()
    for share in (0.2, 0.4, 0.6):
        QTest.mouseMove(matrix.viewport(), QPoint(round(box.left() + share * box.width()), round(box.center().y())))
        matrix.viewport().repaint()
    assert matrix.pointer.column is not None
    assert matrix.tiles.painted == painted_before


@pytest.mark.usefixtures("dressed")
@pytest.mark.parametrize("size", [(7, 12), (40, 18), (300, 200)])
@pytest.mark.parametrize("ratio", [1.0, 2.0])
@pytest.mark.parametrize("width", [0.0, 2.0])
def test_a_box_looks_as_qt_draws_it(size: tuple[int, int], ratio: float, width: float) -> None:
    outline = QColor("#8F5400") if width else None
    fill = QColor("#FFF3DD")

    def drawn(is_vector: bool) -> QImage:
        image = QImage(round(320 * ratio), round(220 * ratio), QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(ratio)
        image.fill(QColor("white"))
        painter = QPainter(image)
        box = QRectF(10, 10, *size)
        BoxPainter(painter, ratio, 4.0, is_vector=is_vector).draw(box, fill, outline, width)
        painter.end()
        return image

    one, other = drawn(is_vector=False), drawn(is_vector=True)
    bytes_of = [np.frombuffer(image.constBits(), np.uint8).astype(int) for image in (one, other)]
    assert np.abs(bytes_of[0] - bytes_of[1]).max() <= 3
    assert one.pixelColor(round((10 + size[0] / 2) * ratio), round((10 + size[1] / 2) * ratio)) == fill
