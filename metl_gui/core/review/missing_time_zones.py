"""Schemas whose local times feed attributes that are instants, and that do not state where those times hold.

A typed sink sets such records aside. Nothing is kept of it: the list is read off the trees, the settings and the
matrix of a state, so stating a zone, or that there is none, takes a schema off, and undo puts it back.

Cost: a few operations on whole columns; objects are made of what is found only. Source:
docs/reference/typed-columns.md, "Conversions".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.matrix.document import Document
from metl_gui.core.project.time_zones import TIME_ZONE
from metl_gui.core.trees.logical_types import LOGICAL_TYPES, Conversion, Meaning, conversion, time_type
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.tree_columns import TreeColumns, columns_of
from metl_gui.values import Value

Ints = NDArray[np.int32]


class MappedLocalTime(Value, order=True):
    """A local time that is wanted as an instant, in whatever versions.

    Args:
        path: of the attribute of the schema.
        entity: the business entity.
        target: the path of its attribute.
    """

    path: str
    entity: str
    target: str


class MissingTimeZone(Value):
    """A schema that states no time zone and needs one.

    Args:
        schema_id, schema: its id and name.
        attributes: what needs it, sorted.
    """

    schema_id: int
    schema: str
    attributes: tuple[MappedLocalTime, ...]

    @property
    def local_times(self) -> int:
        """How many attributes of the schema need it; one may feed several."""
        return len({one.path for one in self.attributes})

    def as_json(self) -> dict[str, Any]:
        """Return one of ``missing_time_zones`` of ``metl review --list``."""
        attributes = [{"from": one.path, "entity": one.entity, "to": one.target} for one in self.attributes]
        return {"schema": self.schema, "attributes": attributes}


def missing_time_zones(document: Document) -> tuple[MissingTimeZone, ...]:
    """List the schemas that need a time zone and state nothing about it, by name."""
    targets = _times(document, Side.CDM, Meaning.INSTANT)
    sources = _times(document, Side.EXTRACTION, Meaning.LOCAL_TIME) if len(targets.ids) else targets
    if not len(sources.ids):
        return ()
    at_source, at_target = _pairs(document, sources, targets)
    needs_zone = _BY_ZONE[sources.type[at_source], targets.type[at_target]]
    at_source, at_target = at_source[needs_zone], at_target[needs_zone]
    found: dict[int, set[MappedLocalTime]] = {}
    rows = np.stack([sources.schema[at_source], sources.path[at_source], targets.schema[at_target]], axis=1)
    rows, first = np.unique(np.column_stack([rows, targets.path[at_target]]), axis=0, return_index=True)
    for (schema_id, _, entity_id, _), s, t in zip(
        rows.tolist(), at_source[first].tolist(), at_target[first].tolist(), strict=True
    ):
        entity = document.cdm.schema(entity_id).name
        found.setdefault(schema_id, set()).add(MappedLocalTime(sources.text(s), entity, targets.text(t)))
    missing = (
        MissingTimeZone(id_, schema.name, tuple(sorted(attributes)))
        for id_, attributes in found.items()
        if not (schema := document.extraction.schema(id_)).setting(TIME_ZONE)
    )
    return tuple(sorted(missing, key=lambda one: one.schema))


_BY_ZONE = np.array([[conversion(one, two) is Conversion.BY_ZONE for two in LOGICAL_TYPES] for one in LOGICAL_TYPES])
"""Whether a time of one logical type needs a zone to become one of another; bool, by their places in the table."""


class _Times(Value, eq=False):
    """The attributes of a tree that say times of one meaning.

    Shape: of n, ``ids`` sorted. ``schema``: ids of schemas. ``part`` and ``path``: the part of the tree, and the row of
    its texts. ``type``: places in ``LOGICAL_TYPES``.
    """

    tree: TreeColumns
    ids: Ints
    schema: Ints
    part: Ints
    path: Ints
    type: Ints

    def text(self, at: int) -> str:
        """Return the path of one of them."""
        return self.tree.parts[self.part[at]].columns.base.texts[self.path[at]]


def _times(document: Document, side: Side, says: Meaning) -> _Times:
    tree = columns_of(document.tree(side))
    parts: list[Ints] = [np.zeros((5, 0), np.int32)]
    for number, part in enumerate(tree.parts):
        base = part.columns.base
        types = np.array([_place(facts.type, facts.logical, says) for facts in base.types], np.int32)
        at = np.flatnonzero(types[base.type] >= 0) if len(types) else np.zeros(0, np.intp)
        version = np.searchsorted(base.start, at, side="right") - 1
        if part.is_here is not None:
            at, version = at[part.is_here[version]], version[part.is_here[version]]
        numbers = np.full(len(at), number, np.int32)
        parts.append(np.stack([base.id[at], base.schema_id[version], numbers, base.path[at], types[base.type[at]]]))
    found = np.concatenate(parts, axis=1)
    return _Times(tree, *found[:, np.argsort(found[0], kind="stable")])


def _place(type_: str, logical: str, says: Meaning) -> int:
    """Return the place of a type among the logical types, -1 where it says no time of this meaning."""
    found = time_type(type_, logical)
    return LOGICAL_TYPES.index(found) if found is not None and found.says is says else -1


def _pairs(document: Document, sources: _Times, targets: _Times) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the elements between two sets of attributes, as places in these."""
    matrix = document.matrix
    base, edited = matrix.base, dict(matrix.edited())
    is_target = np.zeros(document.ids(Side.CDM).attribute + 1, np.bool_)
    is_target[targets.ids] = True
    at = np.flatnonzero(is_target[base.q])
    at = at[np.isin(base.p[at], sources.ids)]
    gone = [row for key in edited if (row := base.find(key)) >= 0]
    at = at[~np.isin(np.searchsorted(base.start, at, side="right") - 1, gone)]
    added = [element for block in edited.values() if block is not None for element in block.elements]
    p = np.concatenate([base.p[at], np.array([element.p for element in added], np.int32)])
    q = np.concatenate([base.q[at], np.array([element.q for element in added], np.int32)])
    is_one = np.isin(p, sources.ids) & np.isin(q, targets.ids)
    return np.searchsorted(sources.ids, p[is_one]), np.searchsorted(targets.ids, q[is_one])
