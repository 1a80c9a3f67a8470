"""The plane worked out from node objects, one attribute and one element at a time: what the columns must agree with."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from metl_gui.core.blocks import Status
from metl_gui.core.compatibility import is_readable
from metl_gui.core.document import Document
from metl_gui.core.names import group_of
from metl_gui.core.nodes import Attribute, Schema, Side, Version
from metl_gui.ui.matrix.axis import Level
from metl_gui.ui.matrix.elements import Mark
from metl_gui.ui.matrix.pyramid import Tile

GAPS = {Level.VERSION: 0.4, Level.SCHEMA: 0.8, Level.GROUP: 1.6}


@dataclass(frozen=True)
class Column:
    """One attribute on an axis, with what holds it."""

    begin: float
    attribute: Attribute
    version: Version
    schema: Schema
    items: dict[Level, int]


def axis_of(document: Document, side: Side) -> list[Column]:
    """Place every attribute of a tree."""
    tree = document.tree(side)
    found: list[Column] = []
    place = 0.0
    items = dict.fromkeys(Level, -1)
    for schema in sorted(tree.schemas(), key=lambda s: (group_of(s.name), s.name if side is Side.EXTRACTION else s.id)):
        versions = tree.versions(schema.id)
        if side is Side.CDM and schema.setting("policy") != "parallel":
            versions = versions[-1:]
        for version in versions:
            if not version.attributes:
                continue
            before = found[-1] if found else None
            is_schema = before is None or before.schema.id != schema.id
            is_group = before is None or group_of(before.schema.name) != group_of(schema.name)
            is_outer = before is None or _outer(before.schema.name) != _outer(schema.name)
            for level, is_new in zip(Level, (False, True, is_schema, is_group, is_outer), strict=True):
                items[level] += is_new
            if before is not None:
                place += GAPS[Level.GROUP if is_group else Level.SCHEMA if is_schema else Level.VERSION]
            for attribute in version.attributes:
                items[Level.ATTRIBUTE] += 1
                found.append(Column(place, attribute, version, schema, dict(items)))
                place += 1.0
    return found


def _outer(name: str) -> str:
    return re.split("[./]", group_of(name))[0]


@dataclass(frozen=True)
class Plane:
    """A document laid out."""

    document: Document
    columns: list[Column]
    rows: list[Column]

    @classmethod
    def of(cls, document: Document) -> Plane:
        """Lay a document out."""
        return cls(document, axis_of(document, Side.EXTRACTION), axis_of(document, Side.CDM))

    def elements(self) -> list[tuple[int, int, int]]:
        """List (column, row, mark) of every element."""
        at_p = {c.attribute.id: at for at, c in enumerate(self.columns)}
        at_q = {r.attribute.id: at for at, r in enumerate(self.rows)}
        marks = {Status.UNCONFIRMED: Mark.UNCONFIRMED, Status.NEEDS_REVIEW: Mark.WAITS}
        found = []
        for block in self.document.matrix.blocks():
            for element in block.elements:
                if element.p in at_p and element.q in at_q:
                    column, row = at_p[element.p], at_q[element.q]
                    source, target = self.columns[column].attribute, self.rows[row].attribute
                    differs = Mark.PLAIN if is_readable(source, target) else Mark.TYPE_DIFFERS
                    found.append((column, row, int(marks.get(block.status, Mark.PLAIN) | differs)))
        return sorted(found)

    def tiles(self, level_x: Level, level_y: Level) -> list[Tile]:
        """Count the tiles of a pair of levels."""
        sums: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0, 0, 0])
        for column, row, mark in self.elements():
            key = self.columns[column].items[level_x], self.rows[row].items[level_y]
            sums[key][0] += 1
            sums[key][3] += bool(mark & Mark.TYPE_DIFFERS)
        if Level.ATTRIBUTE not in (level_x, level_y):
            self._add_blocks(sums, level_x, level_y)
        return [Tile(*key, *numbers) for key, numbers in sorted(sums.items()) if numbers[0] or numbers[2]]

    def _add_blocks(self, sums: dict[tuple[int, int], list[int]], level_x: Level, level_y: Level) -> None:
        wide = {c.version.id: c for c in self.columns}
        tall = {r.version.id: r for r in self.rows}
        for block in self.document.matrix.blocks():
            if block.version in wide and block.entity_version in tall:
                x, y = wide[block.version], tall[block.entity_version]
                numbers = sums[x.items[level_x], y.items[level_y]]
                if block.elements:
                    numbers[1] += min(len(x.version.attributes), len(y.version.attributes))
                    numbers[4] += block.status is Status.UNCONFIRMED
                numbers[2] += block.status is Status.NEEDS_REVIEW
