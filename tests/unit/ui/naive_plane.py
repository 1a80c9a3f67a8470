"""The plane worked out from node objects, one attribute and one element at a time: what the columns must agree with."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from metl_gui.core.matrix.blocks import Block, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Attribute, Schema, Side, Version
from metl_gui.core.trees.schema_names import group_of
from metl_gui.core.trees.type_verdicts import TypeVerdict, type_verdict
from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.layout.elements import ElementFlag
from metl_gui.ui.matrix.layout.tile_counts import Tile

GAPS = {Level.VERSION: 0.4, Level.SCHEMA: 0.8, Level.GROUP: 1.6}


@dataclass(frozen=True)
class Column:
    """One attribute on an axis, with what holds it."""

    begin: float
    attribute: Attribute
    version: Version
    schema: Schema
    items: dict[Level, int]


@dataclass(frozen=True)
class Notch:
    """Where something is hidden, and how much."""

    begin: float
    attributes: int
    versions: int
    schemas: int


@dataclass(frozen=True)
class Asked:
    """What an axis is asked to show: schemas in order, a key by which attributes are sorted, and ids that are shown."""

    schemas: list[Schema] | None = None
    key: Callable[[Attribute], object] | None = None
    shown: frozenset[int] | None = None

    def attributes(self, version: Version) -> list[Attribute]:
        """Return the attributes of a version as they stand, hidden ones included."""
        return sorted(version.attributes, key=self.key) if self.key else list(version.attributes)  # type: ignore[arg-type]

    def shows(self, attribute: Attribute) -> bool:
        """Whether an attribute is shown."""
        return self.shown is None or attribute.id in self.shown


def tree_order(document: Document, side: Side) -> list[Schema]:
    schemas = document.tree(side).schemas()
    return sorted(schemas, key=lambda s: (group_of(s.name), s.name if side is Side.EXTRACTION else s.id))


def versions_of(document: Document, side: Side, schema: Schema) -> list[Version]:
    versions = [v for v in document.tree(side).versions(schema.id) if v.attributes]
    newest = document.tree(side).newest(schema.id)
    if side is Side.CDM and schema.setting("policy") != "parallel":
        return [v for v in versions if v is newest]
    return versions


def ghosts_of(
    document: Document, waiting: list[Block], side: Side, version: Version, asked: Asked
) -> Counter[int | None]:
    """Count the ghosts of a version behind each of its shown attributes; ``None`` for those at its start."""
    found: Counter[int | None] = Counter()
    shown = [attribute for attribute in asked.attributes(version) if asked.shows(attribute)]
    for lineage, path, since in lost_lineages(waiting, side, version):
        if asked.key is not None:
            smaller = [attribute.id for attribute in shown if attribute.path < path]
            found[smaller[-1] if smaller else None] += 1
            continue
        old = last_with(document, side, version, lineage, since)
        if old is None:
            found[shown[-1].id] += 1
            continue
        before = [attribute.lineage for attribute in old.attributes]
        stood_before = set(before[: before.index(lineage)])
        order = {each: at for at, each in enumerate(before)}
        neighbours = [attribute for attribute in shown if attribute.lineage in stood_before]
        nearest = max(neighbours, key=lambda attribute: order[attribute.lineage], default=None)
        found[nearest.id if nearest else None] += 1
    return found


def lost_lineages(waiting: list[Block], side: Side, version: Version) -> Iterator[tuple[int, str, int]]:
    """Yield (lineage, path, version where the loss began) of what waiting blocks have lost with an attribute."""
    at_end = 0 if side is Side.EXTRACTION else 1
    seen = {attribute.lineage for attribute in version.attributes}
    for block in waiting:
        if block.key[at_end] != version.id:
            continue
        for loss in block.open_losses:
            lineage, path = (loss.q_lineage, loss.to_path) if at_end else (loss.p_lineage, loss.from_path)
            if lineage not in seen:
                seen.add(lineage)
                yield lineage, path, loss.since


def last_with(document: Document, side: Side, version: Version, lineage: int, since: int) -> Version | None:
    """Return the newest version before a loss that had the attribute."""
    found = None
    for each in document.tree(side).versions(version.schema_id):
        if each.id == version.id or (side is Side.EXTRACTION and each.id == since):
            break
        if each.of_lineage(lineage) is not None:
            found = each
    return found


class Walk:
    """Places one version after the other."""

    def __init__(self, document: Document, side: Side) -> None:
        self.document, self.side = document, side
        self.waiting = [block for block in document.matrix.blocks() if block.status is Status.NEEDS_REVIEW]
        self.columns: list[Column] = []
        self.notches: list[Notch] = []
        self.place = 0.0
        self.items = dict.fromkeys(Level, -1)
        self.skipped: list[tuple[Version, bool]] = []

    def hide(self, attributes: int, versions: int = 0, schemas: int = 0) -> None:
        self.notches.append(Notch(self.place, attributes, versions, schemas))
        self.place += 0.5

    def flush(self) -> None:
        if self.skipped:
            self.place += GAPS[Level.VERSION] if self.columns else 0.0
            schemas = {v.schema_id for v, whole in self.skipped if whole}
            self.hide(sum(len(v.attributes) for v, _ in self.skipped), len(self.skipped), len(schemas))
            self.skipped = []

    def add(self, schema: Schema, version: Version, asked: Asked) -> None:
        before = self.columns[-1] if self.columns else None
        is_schema = before is None or before.schema.id != schema.id
        is_group = before is None or group_of(before.schema.name) != group_of(schema.name)
        is_outer = before is None or _outer(before.schema.name) != _outer(schema.name)
        self.flush()
        if before is not None:
            self.place += GAPS[Level.GROUP if is_group else Level.SCHEMA if is_schema else Level.VERSION]
        elif self.notches:
            self.place += GAPS[Level.VERSION]
        for level, is_new in zip(Level, (False, True, is_schema, is_group, is_outer), strict=True):
            self.items[level] += is_new
        ghosts = ghosts_of(self.document, self.waiting, self.side, version, asked)
        self.place += 0.5 * ghosts[None]
        for is_shown, run in groupby(asked.attributes(version), key=asked.shows):
            attributes = list(run)
            if not is_shown:
                self.hide(len(attributes))
                continue
            for attribute in attributes:
                self.items[Level.ATTRIBUTE] += 1
                self.columns.append(Column(self.place, attribute, version, schema, dict(self.items)))
                self.place += 1.0 + 0.5 * ghosts[attribute.id]


def walked(document: Document, side: Side, asked: Asked) -> Walk:
    """Place every attribute of a tree that is shown."""
    walk = Walk(document, side)
    for schema in asked.schemas if asked.schemas is not None else tree_order(document, side):
        versions = versions_of(document, side, schema)
        is_gone = not any(asked.shows(a) for v in versions for a in v.attributes)
        for version in versions:
            if any(asked.shows(a) for a in version.attributes):
                walk.add(schema, version, asked)
            else:
                walk.skipped.append((version, is_gone))
    walk.flush()
    return walk


def _outer(name: str) -> str:
    return re.split("[./]", group_of(name))[0]


@dataclass(frozen=True)
class Plane:
    """A document laid out."""

    document: Document
    columns: list[Column]
    rows: list[Column]
    notches: tuple[list[Notch], list[Notch]]

    @classmethod
    def of(cls, document: Document, columns: Asked = Asked(), rows: Asked = Asked()) -> Plane:
        """Lay a document out."""
        wide, tall = walked(document, Side.EXTRACTION, columns), walked(document, Side.CDM, rows)
        return cls(document, wide.columns, tall.columns, (wide.notches, tall.notches))

    def elements(self) -> list[tuple[int, int, int]]:
        """List (column, row, mark) of every element."""
        return self._elements

    @cached_property
    def _blocks(self) -> list[Block]:
        return list(self.document.matrix.blocks())

    @cached_property
    def _elements(self) -> list[tuple[int, int, int]]:
        at_p = {c.attribute.id: at for at, c in enumerate(self.columns)}
        at_q = {r.attribute.id: at for at, r in enumerate(self.rows)}
        marks = {Status.UNCONFIRMED: ElementFlag.UNCONFIRMED, Status.NEEDS_REVIEW: ElementFlag.WAITS}
        verdicts = {
            TypeVerdict.MAY_REFUSE: ElementFlag.MAY_REFUSE,
            TypeVerdict.REINTERPRETED: ElementFlag.REINTERPRETED,
        }
        found = []
        for block in self._blocks:
            for element in block.elements:
                if element.p in at_p and element.q in at_q:
                    column, row = at_p[element.p], at_q[element.q]
                    source, target = self.columns[column].attribute, self.rows[row].attribute
                    verdict = verdicts.get(type_verdict(source, target), ElementFlag.PLAIN)
                    found.append((column, row, int(marks.get(block.status, ElementFlag.PLAIN) | verdict)))
        return sorted(found)

    def tiles(self, level_x: Level, level_y: Level) -> list[Tile]:
        """Count the tiles of a pair of levels."""
        sums: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        for column, row, mark in self.elements():
            key = self.columns[column].items[level_x], self.rows[row].items[level_y]
            sums[key][0] += 1
            sums[key][2] += bool(mark & ElementFlag.MAY_REFUSE)
        if Level.ATTRIBUTE not in (level_x, level_y):
            self._add_blocks(sums, level_x, level_y)
        return [Tile(*key, *numbers) for key, numbers in sorted(sums.items()) if numbers[0] or numbers[1]]

    def _add_blocks(self, sums: dict[tuple[int, int], list[int]], level_x: Level, level_y: Level) -> None:
        wide = {c.version.id: c for c in self.columns}
        tall = {r.version.id: r for r in self.rows}
        shown_p, shown_q = {c.attribute.id for c in self.columns}, {r.attribute.id for r in self.rows}
        for block in self._blocks:
            if block.version in wide and block.entity_version in tall:
                x, y = wide[block.version], tall[block.entity_version]
                numbers = sums[x.items[level_x], y.items[level_y]]
                if any(e.p in shown_p and e.q in shown_q for e in block.elements):
                    numbers[3] += block.status is Status.UNCONFIRMED
                numbers[1] += block.status is Status.NEEDS_REVIEW

    def rooms(self, level_x: Level, level_y: Level) -> dict[tuple[int, int], int]:
        """Count how many elements each tile of a pair of levels could hold, block by block."""
        sums: Counter[tuple[int, int]] = Counter()
        wide, tall = self._widths(self.columns, level_x), self._widths(self.rows, level_y)
        for x, columns in wide:
            for y, rows in tall:
                sums[x, y] += min(columns, rows)
        return dict(sums)

    @staticmethod
    def _widths(axis: list[Column], level: Level) -> list[tuple[int, int]]:
        """List the item of a level and the width of every version of an axis, or of every attribute."""
        if level is Level.ATTRIBUTE:
            return [(column.items[level], 1) for column in axis]
        versions = {column.version.id: column for column in axis}
        return [(column.items[level], len(column.version.attributes)) for column in versions.values()]
