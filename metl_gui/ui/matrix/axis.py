"""One axis of the plane: attributes one unit wide, with gaps after versions, schemas and groups.

Source: ux.md §2 (one plane). Positions are prefix sums; every question about a range is a binary search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import groupby

import numpy as np
import numpy.typing as npt

from metl_gui.core.nodes import Schema, Side, Version
from metl_gui.core.trees import Tree

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

GAP_AFTER_VERSION = 0.4
GAP_AFTER_SCHEMA = 0.8
GAP_AFTER_GROUP = 1.6


class Level(IntEnum):
    """What one item of an axis is, finest first."""

    ATTRIBUTE = 0
    VERSION = 1
    SCHEMA = 2
    GROUP = 3


@dataclass(frozen=True, eq=False)
class Spans:
    """The items of one level along an axis.

    Shape: all arrays have one entry an item. Units: ``begin`` and ``end`` in attribute units.

    Args:
        first, last: half-open range of attribute positions.
        begin, end: where the item lies.
        names: what people read.
        ids: version ids, schema ids; attribute ids; group numbers.
    """

    first: Ints
    last: Ints
    begin: Floats
    end: Floats
    names: tuple[str, ...]
    ids: Ints

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def median_length(self) -> float:
        """Length in units of the item in the middle, 0 without items."""
        return float(np.median(self.end - self.begin)) if len(self.names) else 0.0

    def within(self, low: float, high: float) -> range:
        """Return the items that touch a stretch of the axis."""
        first = int(np.searchsorted(self.end, low, side="right"))
        last = int(np.searchsorted(self.begin, high, side="left"))
        return range(first, max(first, last))

    def at(self, place: float) -> int | None:
        """Return the item at a place, ``None`` in a gap or outside."""
        found = int(np.searchsorted(self.begin, place, side="right")) - 1
        return found if found >= 0 and place < self.end[found] else None

    def parent_of(self, finer: Spans) -> Ints:
        """Return for every item of a finer level the item of this level that holds it."""
        return np.searchsorted(self.first, finer.first, side="right") - 1


@dataclass(frozen=True, eq=False)
class Axis:
    """Columns or rows of the plane."""

    side: Side
    levels: tuple[Spans, Spans, Spans, Spans]
    length: float
    versions: tuple[Version, ...]
    schemas: tuple[Schema, ...]

    def spans(self, level: Level) -> Spans:
        """Return the items of a level."""
        return self.levels[level]

    @cached_property
    def position(self) -> dict[int, int]:
        """Attribute id -> position along the axis."""
        return {id_: at for at, id_ in enumerate(self.levels[Level.ATTRIBUTE].ids.tolist())}

    @cached_property
    def version_position(self) -> dict[int, int]:
        """Version id -> position among the versions."""
        return {id_: at for at, id_ in enumerate(self.levels[Level.VERSION].ids.tolist())}

    @cached_property
    def version_of(self) -> Ints:
        """Attribute position -> position of its version."""
        return self.levels[Level.VERSION].parent_of(self.levels[Level.ATTRIBUTE])

    def begin(self, position: int) -> float:
        """Where an attribute begins, in units."""
        return float(self.levels[Level.ATTRIBUTE].begin[position])


def group_of(name: str) -> str:
    """Return the dotted prefix of a schema name, empty when there is none."""
    return name.rpartition(".")[0]


def columns_of(tree: Tree) -> Axis:
    """Lay out the extraction tree: schemas by group and name, every version, oldest first."""
    ordered = sorted(tree.schemas(), key=lambda schema: (group_of(schema.name), schema.name))
    return lay_out(Side.EXTRACTION, [(schema, tree.versions(schema.id)) for schema in ordered])


def rows_of(tree: Tree) -> Axis:
    """Lay out the CDM tree: of each entity the versions that may hold blocks (its policy decides)."""
    pairs = []
    for entity in sorted(tree.schemas(), key=lambda entity: (group_of(entity.name), entity.id)):
        versions = tree.versions(entity.id)
        pairs.append((entity, versions if entity.setting("policy") == "parallel" else versions[-1:]))
    return lay_out(Side.CDM, pairs)


def lay_out(side: Side, pairs: Sequence[tuple[Schema, Sequence[Version]]]) -> Axis:
    """Place schemas and their versions along an axis, in the order given."""
    kept = [(schema, [v for v in versions if v.attributes]) for schema, versions in pairs]
    kept = [(schema, versions) for schema, versions in kept if versions]
    versions = [version for _, own in kept for version in own]
    widths = np.array([len(version.attributes) for version in versions], np.int64)
    offset = _version_offsets(kept)
    last = np.cumsum(widths)
    first = last - widths
    begin = first + offset
    groups = [(name, [schema for schema, _ in own]) for name, own in groupby(kept, key=lambda p: group_of(p[0].name))]
    per_schema = [len(own) for _, own in kept]
    attribute_at = np.arange(int(last[-1]) if len(last) else 0, dtype=np.int64)
    attribute_begin: Floats = np.repeat(offset, widths) + attribute_at.astype(np.float64)
    attributes = [attribute for version in versions for attribute in version.attributes]
    levels = (
        Spans(
            attribute_at,
            attribute_at + 1,
            attribute_begin,
            attribute_begin + 1,
            tuple(a.path for a in attributes),
            _ids(a.id for a in attributes),
        ),
        Spans(first, last, begin, begin + widths, tuple(v.label for v in versions), _ids(v.id for v in versions)),
        _joined(first, last, begin, widths, per_schema, [s.name for s, _ in kept], [s.id for s, _ in kept]),
        _joined(first, last, begin, widths, _per_group(kept), [g for g, _ in groups], list(range(len(groups)))),
    )
    length = float(levels[Level.VERSION].end[-1]) if versions else 0.0
    return Axis(side, levels, length, tuple(versions), tuple(schema for schema, _ in kept))


def _ids(values: Iterable[int]) -> Ints:
    return np.array(list(values), np.int64)


def _version_offsets(kept: Sequence[tuple[Schema, Sequence[Version]]]) -> Floats:
    """Sum the gaps that stand before every version."""
    gaps: list[float] = []
    before = ""
    for schema, own in kept:
        is_new_group = group_of(schema.name) != before
        gaps.append(0.0 if not gaps else GAP_AFTER_GROUP if is_new_group else GAP_AFTER_SCHEMA)
        gaps += [GAP_AFTER_VERSION] * (len(own) - 1)
        before = group_of(schema.name)
    return np.cumsum(np.array(gaps, np.float64))


def _per_group(kept: Sequence[tuple[Schema, Sequence[Version]]]) -> list[int]:
    return [sum(len(own) for _, own in pairs) for _, pairs in groupby(kept, key=lambda p: group_of(p[0].name))]


def _joined(
    first: Ints, last: Ints, begin: Floats, widths: Ints, counts: Sequence[int], names: Sequence[str], ids: list[int]
) -> Spans:
    """Join runs of versions to the items of a coarser level."""
    ends = np.cumsum(np.array(counts, np.int64))
    starts = ends - np.array(counts, np.int64)
    if not len(ends):
        return Spans(first, last, begin, begin, (), np.array([], np.int64))
    return Spans(
        first[starts],
        last[ends - 1],
        begin[starts],
        (begin + widths)[ends - 1],
        tuple(names),
        np.array(ids, np.int64),
    )
