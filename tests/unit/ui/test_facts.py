"""Who confirmed the blocks of a tile, and when, counted block by block."""

from __future__ import annotations

import random
from collections import Counter, defaultdict

import pytest

from metl_gui.core.changes.draft import EditContext, perform
from metl_gui.core.matrix.blocks import Block, Status
from metl_gui.core.matrix.document import Document
from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.layout.content import PlaneContent, content_after, content_of
from metl_gui.ui.matrix.layout.tile_reviews import TileReview
from tests.qt.random_documents import some_document
from tests.unit.ui.naive_plane import Plane
from tests.unit.ui.random_edits import some_edit

PAIRS = [(x, y) for x in Level for y in Level if Level.ATTRIBUTE not in (x, y)]


def expected(document: Document, people: tuple[str, ...], level_x: Level, level_y: Level) -> list[TileReview]:
    plane = Plane.of(document)
    wide = {c.version.id: c.items[level_x] for c in plane.columns}
    tall = {r.version.id: r.items[level_y] for r in plane.rows}
    tiles: dict[tuple[int, int], list[Block]] = defaultdict(list)
    for block in document.matrix.blocks():
        if block.version in wide and block.entity_version in tall:
            tiles[wide[block.version], tall[block.entity_version]].append(block)
    found = []
    for key, blocks in sorted(tiles.items()):
        confirmed = [block for block in blocks if block.status is Status.CONFIRMED]
        times = [block.when_ms for block in confirmed if block.when_ms]
        counts = Counter(people.index(block.who) for block in confirmed if block.who)
        who = min(counts, key=lambda number: (-counts[number], number), default=0)
        found.append(TileReview(*key, max(times, default=0), who, len(confirmed), len(blocks)))
    return found


def all_facts(content: PlaneContent, level_x: Level, level_y: Level) -> list[TileReview]:
    xs, ys = range(len(content.columns.spans(level_x))), range(len(content.rows.spans(level_y)))
    return list(content.facts(level_x, level_y).within(xs, ys))


@pytest.mark.parametrize("seed", range(4))
def test_facts_of_tiles_are_those_of_their_blocks_through_edits_of_several_people(seed: int) -> None:
    rng = random.Random(seed)
    document = some_document(seed).merged()
    content = content_of(document)
    for step in range(12):
        stamp = EditContext(rng.choice(("Ada", "Bo", "Cleo")), 1_800_000_000_000 + rng.randint(0, 10**9))
        transition = perform(document, some_edit(document, rng), stamp)
        document = transition.after
        content = content_after(content, document, [change.key for change in transition.change.blocks])
        if step % 4 == 3:
            for pair in PAIRS:
                assert all_facts(content, *pair) == expected(document, content.people, *pair)


def test_nothing_is_known_of_tiles_without_blocks() -> None:
    content = content_of(Document())
    assert list(content.facts(Level.SCHEMA, Level.SCHEMA).within(range(1), range(1))) == []
