"""The columns of the plane against one worked out attribute by attribute, over random documents and edits."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest
from msgspec.structs import replace

from metl_gui.core.changes.draft import EditContext, perform
from metl_gui.core.edits.versions import AddVersion, RemoveVersion
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Attribute, Schema, Side, Version
from metl_gui.core.trees.trees import Tree
from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.content import PlaneContent, axis_of, content_after, content_of
from tests.qt.random_documents import some_document
from tests.unit.ui.naive_plane import Column, Plane
from tests.unit.ui.random_edits import some_edit

SEEDS = range(6)
PAIRS = [(x, y) for x in Level for y in Level]


def edited(document: Document, rng: random.Random, times: int) -> Document:
    for _ in range(times):
        document = perform(document, some_edit(document, rng), EditContext("Bo", 1_800_000_000_000)).after
    return document


@cache  # documents are values, and three tests take the same
def documents(seed: int) -> list[Document]:
    """Return a document in four forms: as edited, with a version gone, merged, and merged and edited again."""
    rng = random.Random(seed)
    document = some_document(seed)
    gone = rng.choice(list(document.extraction.all_versions()))
    smaller = perform(document, RemoveVersion(Side.EXTRACTION, gone.id)).after
    return [document, smaller, document.merged(), edited(smaller.merged(), rng, 8), parallel(document), numbered(seed)]


def parallel(document: Document) -> Document:
    """Return a document in which some entities keep all their versions, and have two."""
    draft = document.cdm.draft()
    for entity in document.cdm.schemas()[::2]:
        draft.put_schema(entity.id, replace(entity, settings=(("policy", "parallel"),)))
    document = replace(document, cdm=draft.finish())
    for entity in document.cdm.schemas():
        version = document.cdm.newest(entity.id)
        assert version is not None
        declared = tuple(AttributeDeclaration(a.path, a.type) for a in (*version.attributes[1:], version.attributes[0]))
        added = AttributeDeclaration("added", "string")
        document = perform(document, AddVersion(Side.CDM, VersionDeclaration(entity.name, (added, *declared)))).after
    return document


def numbered(seed: int) -> Document:
    """Return a document whose attribute ids follow no order, and whose schemas have their versions in any order."""
    rng = random.Random(seed)
    trees = []
    for name, count in (("a.b.schema", 7), ("entity", 3)):
        ids = rng.sample(range(1, 500), count * 3 * 4)
        version_ids = rng.sample(range(1, 200), count * 3)
        versions = [
            Version(id_, at % count + 1, (str(at),), tuple(attribute(ids.pop()) for _ in range(rng.randint(1, 4))), "")
            for at, id_ in enumerate(version_ids)
        ]
        schemas = [Schema(at + 1, f"{name}{at}", tuple(version_ids[at::count])) for at in range(count)]
        trees.append(Tree.of(schemas, versions))
    return edited(Document(extraction=trees[0], cdm=trees[1]), rng, 30)


def attribute(id_: int) -> Attribute:
    return Attribute(id_, f"field_{id_}", ("string", "int64")[id_ % 2], id_)


def agrees(axis: Axis, expected: list[Column]) -> None:
    assert len(axis.runs) == len(expected)
    for at, column in enumerate(expected):
        assert axis.begin(at) == pytest.approx(column.begin)
        assert axis.attribute_id(at) == column.attribute.id
        assert axis.name(Level.ATTRIBUTE, at) == column.attribute.path
        assert axis.position_of(column.version.id, column.attribute.id) == at
        assert axis.position_of_attribute(column.attribute.id) == at
        for level in Level:
            assert axis.parent(Level.ATTRIBUTE, at, level) == column.items[level] == axis.spans(level).item_of(at)
        version = column.items[Level.VERSION]
        assert axis.version_id(version) == column.version.id
        assert axis.name(Level.VERSION, version) == column.version.label
        assert axis.schema_of(version) == column.schema.id
        assert axis.name(Level.SCHEMA, column.items[Level.SCHEMA]) == column.schema.name


def everything(content: PlaneContent, level: Level) -> tuple[range, range]:
    return range(len(content.columns.spans(level))), range(len(content.rows.spans(level)))


def rooms_of(content: PlaneContent, level_x: Level, level_y: Level) -> dict[tuple[int, int], int]:
    """Ask for the room of every tile of a pair of levels."""
    columns, rows = (len(axis.spans(level)) for axis, level in ((content.columns, level_x), (content.rows, level_y)))
    x, y = np.repeat(np.arange(columns), rows), np.tile(np.arange(rows), columns)
    room = content.counts(level_x, level_y).room(x, y)
    return dict(zip(zip(x.tolist(), y.tolist(), strict=True), room.tolist(), strict=True))


def some_range(count: int, rng: random.Random) -> range:
    ends = sorted((rng.randint(-2, count + 2), rng.randint(-2, count + 2)))
    return range(*ends)


@pytest.mark.parametrize("seed", SEEDS)
def test_positions_names_and_places_are_those_of_the_trees(seed: int) -> None:
    for document in documents(seed):
        content, plane = content_of(document), Plane.of(document)
        agrees(content.columns, plane.columns)
        agrees(content.rows, plane.rows)


@pytest.mark.parametrize("seed", SEEDS)
def test_elements_of_any_rectangle_are_those_of_the_matrix(seed: int) -> None:
    rng = random.Random(seed)
    for document in documents(seed):
        content, expected = content_of(document), Plane.of(document).elements()
        assert list(content.elements_within(*everything(content, Level.ATTRIBUTE))) == expected
        for _ in range(20):
            columns, rows = (some_range(len(each), rng) for each in everything(content, Level.ATTRIBUTE))
            inside = [e for e in expected if e[0] in columns and e[1] in rows]
            assert list(content.elements_within(columns, rows)) == inside


@pytest.mark.parametrize("seed", SEEDS)
def test_the_numbers_of_any_rectangle_of_tiles_are_those_counted_one_by_one(seed: int) -> None:
    rng = random.Random(seed)
    for document in documents(seed):
        content, plane = content_of(document), Plane.of(document)
        for level_x, level_y in PAIRS:
            expected = plane.tiles(level_x, level_y)
            xs, ys = range(len(content.columns.spans(level_x))), range(len(content.rows.spans(level_y)))
            assert list(content.counts(level_x, level_y).within(xs, ys)) == expected
            columns, rows = some_range(len(xs), rng), some_range(len(ys), rng)
            inside = [tile for tile in expected if tile.x in columns and tile.y in rows]
            assert list(content.counts(level_x, level_y).within(columns, rows)) == inside


@pytest.mark.parametrize("seed", SEEDS)
def test_the_room_of_every_tile_is_that_of_all_its_blocks_of_zeros_too(seed: int) -> None:
    for document in documents(seed):
        content, plane = content_of(document), Plane.of(document)
        for pair in PAIRS:
            assert rooms_of(content, *pair) == plane.rooms(*pair)


@pytest.mark.parametrize("seed", SEEDS)
def test_laying_out_edit_by_edit_shows_what_laying_out_everything_shows(seed: int) -> None:
    rng = random.Random(seed)
    document = some_document(seed).merged()
    content = content_of(document)
    for step in range(30):
        transition = perform(document, some_edit(document, rng), EditContext("Bo", 1_800_000_000_000 + step))
        document = transition.after
        content = content_after(content, document, [change.key for change in transition.change.blocks])
        plane = Plane.of(document)
        assert list(content.elements_within(*everything(content, Level.ATTRIBUTE))) == plane.elements()
        for pair in ((Level.VERSION, Level.VERSION), (Level.SCHEMA, Level.SCHEMA), (Level.GROUP, Level.OUTER_GROUP)):
            xs, ys = range(len(content.columns.spans(pair[0]))), range(len(content.rows.spans(pair[1])))
            assert list(content.counts(*pair).within(xs, ys)) == plane.tiles(*pair)


@pytest.mark.parametrize("seed", SEEDS)
def test_ghosts_name_their_losses_by_block_whatever_was_edited_before(seed: int) -> None:
    rng = random.Random(seed)
    document = some_document(seed).merged()
    content = content_of(document)
    lines = [line for axis in (content.columns, content.rows) for line in axis.ghosts.lines]
    assert lines
    for line in lines:
        assert list(line.losses) == sorted(line.losses, key=lambda lost: lost[0])
    for step in range(30):
        transition = perform(document, some_edit(document, rng), EditContext("Bo", 1_800_000_000_000 + step))
        document = transition.after
        content = content_after(content, document, [change.key for change in transition.change.blocks])
        whole = content_of(document)
        for side in Side:
            assert axis_of(content, side).ghosts.lines == axis_of(whole, side).ghosts.lines


@pytest.mark.parametrize("side", list(Side))
def test_a_stretch_of_the_axis_holds_the_items_that_touch_it(side: Side) -> None:
    axis, rng = axis_of(content_of(some_document(3)), side), random.Random(3)
    for level in Level:
        spans = axis.spans(level)
        items = range(len(spans))
        begins, ends = spans.begins(items), spans.ends(items)
        for _ in range(100):
            low, high = sorted((rng.uniform(-3, axis.length + 3), rng.uniform(-3, axis.length + 3)))
            assert list(spans.within(low, high)) == np.flatnonzero((ends > low) & (begins < high)).tolist()
            touched = np.flatnonzero((begins <= low) & (low < ends)).tolist()
            assert spans.at(low) == (touched[0] if touched else None)
