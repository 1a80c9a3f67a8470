"""The parts of a page for people: texts, what it tells of a matrix, and pictures of blocks.

What a text says is shown and never read as markup; what cannot be seen in it is made visible.

A page has entities, for each the schemas that feed it, for each runs of versions. Versions that follow each other and
say the same of an entity are told once, as in the compact set, so that fifty versions of a schema do not fill fifty
tables.

Pictures are SVG that needs nothing beside it: all blocks from above (``overview``), and each from near (``near``). Here
is where things stand in them; ``resources/pages`` has what is written.
Marks are those of the window (docs/guide/mapping.md, "Look"): a filled square is mapped, a half-filled one unconfirmed,
plain grey is zero, an amber outline waits for a person.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape
from itertools import count
from typing import TypeAlias

from metl_gui.core.trees.nodes import Schema, Version
from metl_gui.core.trees.trees import Tree
from metl_gui.values import Value
from metl_gui.workbench.exports.blocks import ExportedBlock

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_UNFIT = re.compile(r"[\x80-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


class PageText(Value):
    """A text as it stands in an element or a quoted attribute of a page; templates leave it as it is."""

    html: str

    def __html__(self) -> str:
        return self.html


@lru_cache(4096)  # names come again and again
def text(words: str) -> PageText:
    """Write a text into an element or a quoted attribute; control characters show as their pictures.

    Quotes are written as Python's own library does it, not as that of templates: a state gives the bytes that earlier
    versions gave.
    """
    seen = _CONTROLS.sub(lambda found: "\u2421" if found[0] == "\x7f" else chr(0x2400 + ord(found[0])), words)
    return PageText(escape(_UNFIT.sub("\N{REPLACEMENT CHARACTER}", seen), quote=True))


def short(words: str, most: int) -> str:
    """Cut a name in its middle, unescaped."""
    if len(words) <= most:
        return words
    head = (most - 1) // 2
    return f"{words[:head]}…{words[len(words) - (most - 1 - head) :]}"


_Said: TypeAlias = tuple[object, ...]


class VersionRange(Value):
    """Versions of one schema, one after the other, that say the same of one entity version.

    Args:
        blocks: one block for each of them, oldest first.
        number: which one it is on the page, from 1.
    """

    blocks: tuple[ExportedBlock, ...]
    number: int

    @property
    def newest(self) -> ExportedBlock:
        """The block of the newest of them."""
        return self.blocks[-1]

    @property
    def versions(self) -> str:
        """The versions in words."""
        first, last = self.blocks[0].version.label, self.blocks[-1].version.label
        return f"version {first}" if len(self.blocks) == 1 else f"versions {first} to {last} ({len(self.blocks):,})"

    @property
    def used(self) -> int:
        """How many attributes of the newest of them are mapped."""
        return len({line.source.id for line in self.newest.lines})

    @property
    def waits(self) -> bool:
        """Whether somebody must still decide."""
        return bool(self.newest.block.open_losses or self.newest.block.waits)


class EntityPart(Value):
    """One version of an entity with all that feeds it, schemas by name."""

    entity: Schema
    version: Version
    stretches: tuple[VersionRange, ...]
    number: int

    @property
    def schemas(self) -> dict[str, list[VersionRange]]:
        """The stretches by schema."""
        found: dict[str, list[VersionRange]] = defaultdict(list)
        for stretch in self.stretches:
            found[stretch.newest.schema.name].append(stretch)
        return found

    @property
    def elements(self) -> int:
        """Number of elements, each version counted."""
        return sum(len(block.lines) for stretch in self.stretches for block in stretch.blocks)

    @property
    def waits(self) -> int:
        """Number of blocks that somebody must still decide on."""
        return sum(len(stretch.blocks) for stretch in self.stretches if stretch.waits)


def entity_parts(cdm: Tree, blocks: Iterable[ExportedBlock]) -> tuple[EntityPart, ...]:
    """Lay out blocks as a page tells them: every entity by name, its newest version and those that something feeds."""
    by_target: dict[int, list[ExportedBlock]] = defaultdict(list)
    for block in blocks:
        by_target[block.entity_version.id].append(block)
    parts: list[EntityPart] = []
    number = count(1)
    for entity in sorted(cdm.schemas(), key=lambda entity: entity.name):
        for version_id in entity.version_ids:
            found = sorted(by_target.get(version_id, ()), key=lambda block: (block.schema.name, _place(block)))
            if found or version_id == entity.version_ids[-1]:
                stretches = tuple(VersionRange(run, next(number)) for run in _runs(found))
                parts.append(EntityPart(entity, cdm.version(version_id), stretches, len(parts) + 1))
    return tuple(parts)


def _place(block: ExportedBlock) -> int:
    return block.schema.version_ids.index(block.version.id)


def _runs(blocks: Sequence[ExportedBlock]) -> Iterator[tuple[ExportedBlock, ...]]:
    run: list[ExportedBlock] = []
    for block in blocks:
        follows = bool(run) and run[-1].schema.id == block.schema.id and _place(block) == _place(run[-1]) + 1
        if run and not (follows and _said(run[-1]) == _said(block)):
            yield tuple(run)
            run = []
        run.append(block)
    if run:
        yield tuple(run)


def _said(block: ExportedBlock) -> _Said:
    lines = tuple((x.source.path, x.source.type_text, x.target.path) for x in block.lines)
    losses = tuple((loss.from_path, loss.to_path, loss.reason) for loss in block.block.open_losses)
    kept = block.block
    return lines, losses, kept.status, kept.is_unconfirmed, bool(kept.waits), block.is_held, kept.comment


MOST_TILES = 20_000
"""So many tiles a browser still draws at once."""

MOST_ATTRIBUTES = 200
"""A block with more attributes on a side has no picture of its own."""

_STEPS = 5
_LETTERS, _LETTER = 28, 7.2
_SINE = 0.87  # of the slant of column names
_NEAR_PX, _CELL = 180, 10


class Zeros(Value):
    """The grid that a picture is drawn on.

    Args:
        x, y: where it begins.
        columns, rows: how many cells it has.
        wide, high: of a cell.
        gap: between cells.

    Units: pixels.
    """

    x: float
    y: float
    columns: int
    rows: int
    wide: float
    high: float
    gap: float

    @property
    def rounding(self) -> float:
        """Radius of the corners of a cell."""
        return min(3, self.wide / 5)


class _ColumnLabel(Value):
    """The slanted name of a column."""

    name: str
    shown: str
    x: float
    y: float


class _OverviewTile(Value):
    """All that one schema gives to one version of an entity.

    Args:
        number: of the newest of its version ranges.
        words: what it is, for people.
        x: where it begins.
        elements: how many there are in the newest.
        step: how dark it is, 0 for none.
        waits: somebody must still decide.
    """

    number: int
    words: str
    x: float
    elements: int
    step: int
    waits: bool


class _OverviewRow(Value):
    """One version of an entity in the picture of all blocks; where rows are low it has no label."""

    label: str | None
    y: float
    tiles: tuple[_OverviewTile, ...]


class BlockOverview(Value):
    """Entities against the schemas that feed them, each tile a link to its block.

    Args:
        wide, high: of the picture.
        gap: between tiles.
        zeros: what tiles lie on.

    Units: pixels.
    """

    wide: float
    high: float
    gap: float
    zeros: Zeros
    heads: tuple[_ColumnLabel, ...]
    rows: tuple[_OverviewRow, ...]
    words: str = "Entities against the schemas that feed them"


def overview(parts: Sequence[EntityPart]) -> BlockOverview | None:
    """Place entities against the schemas that feed them; None where nothing is fed, or there are too many tiles."""
    fed = [part for part in parts if part.stretches]
    names = sorted({name for part in fed for name in part.schemas})
    if not fed or sum(len(part.schemas) for part in fed) > MOST_TILES:
        return None
    wide, high = _size(len(names)), _size(len(fed))
    labels = [short(_entity_words(part), _LETTERS) for part in fed] if high >= 12 else [""]
    shown = [short(name, _LETTERS) for name in names] if wide >= 12 else [""]
    left = 12 + max(map(len, labels)) * _LETTER
    top = 12 + max(map(len, shown)) * _LETTER * _SINE
    column = {name: left + at * wide for at, name in enumerate(names)}
    heads = (
        _ColumnLabel(name, head, column[name] + wide / 2, top - 6)
        for name, head in zip(names, shown, strict=False)
        if head
    )
    rows = (
        _OverviewRow(labels[at] if high >= 12 else None, top + at * high, tuple(_tiles(part, column)))
        for at, part in enumerate(fed)
    )
    beyond = max(len(head) * _LETTER / 2 for head in shown)  # slanted names reach beyond the last column
    least = min(wide, high)
    return BlockOverview(
        wide=left + len(names) * wide + beyond,
        high=top + len(fed) * high + 4,
        gap=2 if least >= 8 else 0.5,
        zeros=Zeros(left, top, len(names), len(fed), wide, high, 2 if least >= 6 else 0.5),
        heads=tuple(heads),
        rows=tuple(rows),
    )


def _entity_words(part: EntityPart) -> str:
    return f"{part.entity.name} {part.version.label}"


def _tiles(part: EntityPart, column: Mapping[str, float]) -> Iterator[_OverviewTile]:
    for schema, stretches in part.schemas.items():
        newest = stretches[-1].newest
        elements = len(newest.lines)
        share = elements / max(1, min(len(newest.version.attributes), len(newest.entity_version.attributes)))
        step = max(1, min(_STEPS, round(share * _STEPS))) if elements else 0
        waits = any(stretch.waits for stretch in stretches)
        words = f"{_entity_words(part)} from {schema}: {elements:,} elements{', waits for a decision' if waits else ''}"
        yield _OverviewTile(stretches[-1].number, words, column[schema], elements, step, waits)


def _size(count: int) -> float:
    """Return how many pixels a row or column gets, by how many there are."""
    return next((px for most, px in ((60, 28.0), (150, 14.0), (600, 6.0)) if count <= most), 3.0)


class _One(Value):
    """The square of one element."""

    x: float
    y: float
    words: str


class NearPicture(Value):
    """One block: rows are the attributes of the entity, columns those of the schema.

    Args:
        wide, high: of the picture; side: of a square.
        id: of its pattern on the page.
        words: what it shows, for people.
        zeros: what squares lie on.
        ones: one square for each element.
        is_half: nobody has confirmed them.

    Units: pixels.
    """

    wide: float
    high: float
    side: float
    id: str
    words: str
    zeros: Zeros
    ones: tuple[_One, ...]
    is_half: bool


def near(part: EntityPart, stretch: VersionRange) -> NearPicture | None:
    """Place the elements of one block; None where it has none, or is too large."""
    block = stretch.newest
    columns, rows = block.version.attributes, part.version.attributes
    if not block.lines or max(len(columns), len(rows)) > MOST_ATTRIBUTES:
        return None
    cell = max(2.0, min(_CELL, _NEAR_PX / max(len(columns), len(rows))))
    x = {attribute.id: at * cell for at, attribute in enumerate(columns)}
    y = {attribute.id: at * cell for at, attribute in enumerate(rows)}
    gap = 2 if cell >= 6 else 0.5
    return NearPicture(
        wide=len(columns) * cell,
        high=len(rows) * cell,
        side=cell - gap,
        id=f"b{stretch.number}",
        words=f"{len(block.lines):,} elements in {len(rows):,} rows and {len(columns):,} columns",
        zeros=Zeros(0, 0, len(columns), len(rows), cell, cell, gap),
        ones=tuple(
            _One(x[line.source.id], y[line.target.id], f"{line.target.path} from {line.source.path}")
            for line in block.lines
        ),
        is_half=block.block.is_unconfirmed,
    )
