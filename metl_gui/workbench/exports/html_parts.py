"""The parts of a page for people: texts, what it tells of a matrix, and pictures of blocks.

What a text says is shown and never read as markup; what cannot be seen in it is made visible.

A page has entities, for each the schemas that feed it, for each runs of versions. Versions that follow each other and
say the same of an entity are told once, as in the compact set, so that fifty versions of a schema do not fill fifty
tables.

Pictures are SVG that needs nothing beside it: all blocks from above (``overview``), and each from near (``near``).
Marks are those of the window (docs/guide/mapping.md, "Look"): a filled square is mapped, a half-filled one unconfirmed,
plain grey is zero, an amber outline waits for a person.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import count
from typing import TypeAlias

from metl_gui.core.trees.nodes import Schema, Version
from metl_gui.core.trees.trees import Tree
from metl_gui.workbench.exports.blocks import ExportedBlock

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_UNFIT = re.compile(r"[\x80-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def text(words: str) -> str:
    """Write a text into an element or a quoted attribute; control characters show as their pictures."""
    seen = _CONTROLS.sub(lambda found: "\u2421" if found[0] == "\x7f" else chr(0x2400 + ord(found[0])), words)
    return escape(_UNFIT.sub("\N{REPLACEMENT CHARACTER}", seen), quote=True)


def name(words: str) -> str:
    """Write a name that somebody else chose; its direction of writing does not reach beyond it."""
    return f"<bdi>{text(words)}</bdi>"


def short(words: str, most: int) -> str:
    """Cut a name in its middle, unescaped."""
    if len(words) <= most:
        return words
    head = (most - 1) // 2
    return f"{words[:head]}…{words[len(words) - (most - 1 - head) :]}"


_Said: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class VersionRange:
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
    def waits(self) -> bool:
        """Whether somebody must still decide."""
        return bool(self.newest.block.open_losses or self.newest.block.waits)


@dataclass(frozen=True, slots=True)
class EntityPart:
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


@dataclass(frozen=True, slots=True)
class _Tile:
    """All that one schema gives to one version of an entity."""

    stretches: Sequence[VersionRange]

    @property
    def newest(self) -> VersionRange:
        return self.stretches[-1]

    @property
    def elements(self) -> int:
        return len(self.newest.newest.lines)

    @property
    def share(self) -> float:
        block = self.newest.newest
        return self.elements / max(1, min(len(block.version.attributes), len(block.entity_version.attributes)))

    @property
    def waits(self) -> bool:
        return any(stretch.waits for stretch in self.stretches)


def overview(parts: Sequence[EntityPart]) -> str:
    """Draw entities against the schemas that feed them, each tile a link to its block; empty where there are too many.

    Units: pixels.
    """
    rows = [part for part in parts if part.stretches]
    names = sorted({name for part in rows for name in part.schemas})
    if not rows or sum(len(part.schemas) for part in rows) > MOST_TILES:
        return ""
    wide, high = _size(len(names)), _size(len(rows))
    labels = [short(f"{part.entity.name} {part.version.label}", _LETTERS) for part in rows] if high >= 12 else [""]
    heads = [short(name, _LETTERS) for name in names] if wide >= 12 else [""]
    left = 12 + max(map(len, labels)) * _LETTER
    top = 12 + max(map(len, heads)) * _LETTER * _SINE
    column = {name: left + at * wide for at, name in enumerate(names)}
    drawn = [_grid("all", left, top, len(names), len(rows), wide, high)]
    drawn += [_slanted(name, head, column[name] + wide / 2, top - 6) for name, head in zip(names, heads, strict=False)]
    for at, part in enumerate(rows):
        y = top + at * high
        if high >= 12:
            drawn.append(f'<text class="label" x="{left - 8:g}" y="{y + high / 2 + 4:g}">{text(labels[at])}</text>')
        drawn += [
            _tile(part, name, _Tile(stretches), (column[name], y), (wide, high))
            for name, stretches in part.schemas.items()
        ]
    beyond = max(len(head) * _LETTER / 2 for head in heads)  # slanted names reach beyond the last column
    size = left + len(names) * wide + beyond, top + len(rows) * high + 4
    return _svg(size, "Entities against the schemas that feed them", "".join(drawn))


def near(part: EntityPart, stretch: VersionRange) -> str:
    """Draw one block: rows are the attributes of the entity, columns those of the schema; empty where it is too large.

    Units: pixels.
    """
    block = stretch.newest
    columns, rows = block.version.attributes, part.version.attributes
    if not block.lines or max(len(columns), len(rows)) > MOST_ATTRIBUTES:
        return ""
    cell = max(2.0, min(_CELL, _NEAR_PX / max(len(columns), len(rows))))
    x = {attribute.id: at * cell for at, attribute in enumerate(columns)}
    y = {attribute.id: at * cell for at, attribute in enumerate(rows)}
    side = cell - (2 if cell >= 6 else 0.5)
    is_half = block.block.is_unconfirmed
    drawn = [_grid(f"b{stretch.number}", 0, 0, len(columns), len(rows), cell, cell)]
    for line in block.lines:
        words = text(f"{line.target.path} from {line.source.path}")
        drawn.append(_one(x[line.source.id], y[line.target.id], side, words, is_half))
    size = len(columns) * cell, len(rows) * cell
    words = f"{len(block.lines):,} elements in {len(rows):,} rows and {len(columns):,} columns"
    return _svg(size, words, "".join(drawn))


def _one(x: float, y: float, side: float, words: str, is_half: bool) -> str:
    if not is_half:
        box = f'x="{x:g}" y="{y:g}" width="{side:g}" height="{side:g}" rx="{side / 5:g}"'
        return f'<rect class="one" {box}><title>{words}</title></rect>'
    corner = f"M{x:g} {y + side:g}V{y:g}H{x + side:g}Z"
    outline = f'<rect class="half" x="{x + 0.5:g}" y="{y + 0.5:g}" width="{side - 1:g}" height="{side - 1:g}"/>'
    return f'<g><title>{words}, unconfirmed</title><path class="one" d="{corner}"/>{outline}</g>'


def _tile(part: EntityPart, schema: str, tile: _Tile, place: tuple[float, float], cell: tuple[float, float]) -> str:
    (x, y), (wide, high) = place, cell
    gap = 2 if min(cell) >= 8 else 0.5
    step = max(1, min(_STEPS, round(tile.share * _STEPS)))
    waits = ", waits for a decision" if tile.waits else ""
    words = f"{part.entity.name} {part.version.label} from {schema}: {tile.elements:,} elements{waits}"
    box = f'x="{x:g}" y="{y:g}" width="{wide - gap:g}" height="{high - gap:g}" rx="{min(3, wide / 5):g}"'
    drawn = f'<rect class="tile t{step if tile.elements else 0}" {box}/>'
    if tile.waits and gap == 2:
        inner = f'x="{x + 1:g}" y="{y + 1:g}" width="{wide - 4:g}" height="{high - 4:g}" rx="2"'
        drawn += f'<rect class="waits" {inner}/>'
    if tile.elements and min(cell) >= 20:
        middle = f'x="{x + (wide - gap) / 2:g}" y="{y + (high - gap) / 2 + 4:g}"'
        drawn += f'<text class="number" {middle}>{tile.elements:,}</text>'
    return f'<a href="#b{tile.newest.number}"><title>{text(words)}</title>{drawn}</a>'


def _size(count: int) -> float:
    """Return how many pixels a row or column gets, by how many there are."""
    return next((px for most, px in ((60, 28.0), (150, 14.0), (600, 6.0)) if count <= most), 3.0)


def _grid(name: str, x: float, y: float, columns: int, rows: int, wide: float, high: float) -> str:
    """Draw the zeros: one rectangle filled with a pattern, however many there are."""
    gap = 2 if min(wide, high) >= 6 else 0.5
    size = f'width="{wide - gap:g}" height="{high - gap:g}" rx="{min(3, wide / 5):g}"'
    pattern = (
        f'<pattern id="p{name}" x="{x:g}" y="{y:g}" width="{wide:g}" height="{high:g}" patternUnits="userSpaceOnUse">'
        f'<rect class="empty" {size}/></pattern>'
    )
    area = f'x="{x:g}" y="{y:g}" width="{columns * wide:g}" height="{rows * high:g}"'
    return f'{pattern}<rect {area} fill="url(#p{name})"/>'


def _slanted(name: str, shown: str, x: float, y: float) -> str:
    if not shown:
        return ""
    return f'<text transform="translate({x:g} {y:g}) rotate(-60)"><title>{text(name)}</title>{text(shown)}</text>'


def _svg(size: tuple[float, float], words: str, drawn: str) -> str:
    wide, high = size
    box = f'viewBox="0 0 {wide:g} {high:g}" width="{wide:g}" height="{high:g}"'
    return f'<svg {box} role="img" aria-label="{text(words)}">{drawn}</svg>'
