"""What the star diagram of a warehouse model shows, and where: boxes for entities and tables, lines between them.

Entities stand left, then dimensions, facts, and what follows from either or is generated. A box stays where a person
put it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from metl_gui.core.counted import number_of
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.core.warehouse_model import (
    Bridge,
    Dates,
    Dimension,
    Fact,
    Hierarchy,
    Junk,
    Model,
    Periodic,
    Reference,
    Table,
    TimesOfDay,
)
from metl_gui.values import Value
from metl_gui.workbench.warehouse.table_rows import table_problems

BOX_WIDTH, BOX_HEIGHT = 168.0, 46.0
COLUMN_GAP, ROW_GAP = 104.0, 26.0
_FEW_ROWS = 9
"""Boxes that stand in one column, where there are not many."""
_SHAPE = 2.0
"""How many times as wide as high a diagram of many boxes is."""

_FARTHEST = 100_000.0
"""How far from the origin a box may be put."""


class BoxKind(StrEnum):
    """What a box stands for; each looks different."""

    ENTITY = "entity"
    DIMENSION = "dimension"
    FACT = "fact"
    PERIODIC = "periodic"
    DATE = "date"
    OTHER = "other"


class StarBox(Value):
    """One entity or table.

    Args:
        key: its name behind what it is, as ``table:NAME``.
        kind: see ``BoxKind``.
        name: what it is called.
        facts: what else is said of it.
        problem: of the worst severity, empty for none.
        is_ghost: it is proposed only.
    """

    key: str
    kind: BoxKind
    name: str
    facts: str
    problem: str = ""
    is_ghost: bool = False

    @property
    def is_table(self) -> bool:
        """Whether it is a table of the model or a proposed one."""
        return self.kind is not BoxKind.ENTITY

    @property
    def spoken(self) -> str:
        """What is read aloud."""
        ghost = "proposed " if self.is_ghost else ""
        kind = "table" if self.kind is BoxKind.OTHER else self.kind.value
        facts = self.facts if self.is_table else ""
        return ", ".join(part for part in (f"{ghost}{kind} {self.name}", facts, self.problem) if part)


class StarLine(Value):
    """A line from one box to another.

    Args:
        start, end: keys of the boxes; a reference ends at what it refers to.
        words: role and as-of of a reference; empty for what a table is made of.
        is_ghost: of a proposed table.
    """

    start: str
    end: str
    words: str = ""
    is_ghost: bool = False


class Star(Value):
    """What is shown: boxes by their keys in the order of reading, and lines whose ends are among them."""

    boxes: Mapping[str, StarBox]
    lines: tuple[StarLine, ...] = ()


NO_STAR = Star({})
Places = Mapping[str, tuple[float, float]]
"""Where the left upper corners of boxes lie, by their keys."""

NO_PLACES: Places = MappingProxyType({})


def table_key(name: str) -> str:
    """Return the key of the box of a table."""
    return f"table:{name}"


def star_of(model: Model, proposed: Sequence[Table] = (), problems: Sequence[Problem] = ()) -> Star:
    """Return the diagram of a model and of what is proposed for it."""
    boxes: dict[str, StarBox] = {}
    lines: list[StarLine] = []
    own = {one.name for one in model.tables}
    for table in (*model.tables, *(one for one in proposed if one.name not in own)):
        is_ghost = table.name not in own
        entity = getattr(table, "entity", "")
        if entity:
            key = f"entity:{entity}"
            boxes.setdefault(key, StarBox(key, BoxKind.ENTITY, entity, "entity"))
        found = "" if is_ghost else _worst(table_problems(model, table.name, problems))
        facts = facts_of(table)
        key = table_key(table.name)
        boxes.setdefault(key, StarBox(key, kind_of(table), table.name, facts, found, is_ghost))
        lines += _lines(table, is_ghost)
    known = tuple(one for one in lines if one.start in boxes and one.end in boxes and one.start != one.end)
    return Star(boxes, tuple(dict.fromkeys(known)))


def kind_of(table: Table) -> BoxKind:
    """Return as what a table is drawn."""
    match table:
        case Dimension():
            return BoxKind.DIMENSION
        case Fact():
            return BoxKind.FACT
        case Periodic():
            return BoxKind.PERIODIC
        case Dates() | TimesOfDay():
            return BoxKind.DATE
        case _:
            return BoxKind.OTHER


def facts_of(table: Table) -> str:
    """Return in some words what a table is."""
    match table:
        case Dimension(columns="all"):
            return "dimension · every attribute"
        case Dimension(columns=columns):
            return f"dimension · {number_of(len(columns), 'column')}"
        case Fact():
            return f"fact · {number_of(len(table.measures), 'measure')}"
        case Periodic():
            return f"every {table.every} · {table.time_zone}"
        case Dates():
            return f"{table.first[:4]} to {table.last[:4]}"
        case TimesOfDay():
            return "time of day"
        case Bridge() | Hierarchy() | Junk():
            return str(table.__struct_config__.tag)


def _worst(problems: Iterable[Problem]) -> str:
    found = {one.severity for one in problems}
    return next((one.value for one in (Severity.ERROR, Severity.WARNING) if one in found), "")


def _lines(table: Table, is_ghost: bool) -> list[StarLine]:
    key = table_key(table.name)
    found = []
    if getattr(table, "entity", ""):
        found.append(StarLine(f"entity:{getattr(table, 'entity', '')}", key, is_ghost=is_ghost))
    is_fact = isinstance(table, Fact)
    for reference in getattr(table, "references", ()):
        words = reference_words(reference, is_fact)
        found.append(StarLine(key, table_key(reference.dimension), words, is_ghost))
    if getattr(table, "of", ""):
        found.append(StarLine(table_key(getattr(table, "of", "")), key, _of_words(table), is_ghost))
    if isinstance(table, Bridge) and table.to:
        found.append(StarLine(key, table_key(table.to), "elements", is_ghost))
    return found


def _of_words(table: Table) -> str:
    match table:
        case Periodic():
            return f"end of each {table.every}"
        case Bridge():
            return f"as of {table.as_of}"
        case _:
            return ""


def reference_words(reference: Reference, is_fact: bool) -> str:
    """Return the role of a reference and as of when it is looked up."""
    role = f"{reference.role} · " if reference.role and reference.role != reference.dimension else ""
    if isinstance(reference.on, str):
        return f"{role}{reference.time_zone or 'by day'}"
    as_of = reference.as_of or ("event" if is_fact else "durable")
    return f"{role}{'durable key' if as_of == 'durable' else f'as of {as_of}'}"


_COLUMNS = {
    BoxKind.ENTITY: 0,
    BoxKind.DIMENSION: 1,
    BoxKind.FACT: 2,
    BoxKind.PERIODIC: 3,
    BoxKind.DATE: 3,
    BoxKind.OTHER: 3,
}


def arranged(star: Star, moved: Places) -> dict[str, tuple[float, float]]:
    """Return where each box lies: where a person put it, else in a column of its kind, columns centred."""
    kinds: dict[int, list[str]] = {}
    for key, box in star.boxes.items():
        kinds.setdefault(_COLUMNS[box.kind], []).append(key)
    width, height = BOX_WIDTH + COLUMN_GAP, BOX_HEIGHT + ROW_GAP
    rows = max(_FEW_ROWS, round(math.sqrt(len(star.boxes) * width / (height * _SHAPE))))
    columns = [keys[at : at + rows] for _, keys in sorted(kinds.items()) for at in range(0, len(keys), rows)]
    found = {}
    for place, keys in enumerate(columns):
        top = -len(keys) * height / 2
        for row, key in enumerate(keys):
            found[key] = moved.get(key) or (place * width, top + row * height)
    return found


def read_places(kept: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Read places that were kept; what is none is left out."""
    found = {}
    for key, value in kept.items():
        if isinstance(value, list) and len(value) == 2 and all(_is_place(each) for each in value):
            found[key] = (float(value[0]), float(value[1]))
    return found


def _is_place(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and abs(value) <= _FARTHEST


def nearest(places: Places, key: str, direction: tuple[int, int]) -> str:
    """Return the box that lies nearest in a direction, the same one where there is none."""
    if key not in places:
        return min(places, key=lambda one: places[one], default="")
    x, y = places[key]
    dx, dy = direction
    best, least = key, math.inf
    for other, (ox, oy) in places.items():
        ahead, aside = (ox - x) * dx + (oy - y) * dy, abs((ox - x) * dy) + abs((oy - y) * dx)
        cost = ahead + 2 * aside
        if other != key and ahead > 1 and cost < least:
            best, least = other, cost
    return best
