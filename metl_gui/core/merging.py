"""Merge what was edited into the columns of a tree or matrix, without an object for what was left alone.

Cost: some passes over the columns and one object for each edited part. Long copies are made in pieces, so that a merge
in one thread does not keep the others waiting.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from metl_gui.core import matrix as matrices
from metl_gui.core import trees
from metl_gui.core.blocks import Block, BlockKey
from metl_gui.core.matrix import DpmBase
from metl_gui.core.nodes import Schema, Version
from metl_gui.core.ranges import Longs, Places, laid_out, starts_of
from metl_gui.core.trees import TextTable, TreeBase
from metl_gui.core.version_facts import as_columns, version_columns

Scalar = TypeVar("Scalar", bound=np.generic)
_AT_ONCE = 1 << 20


def spliced_tree(
    base: TreeBase, schemas: dict[int, Schema], edited: Collection[int], added: Iterable[Version]
) -> TreeBase:
    """Put versions in place of others.

    Args:
        base: the columns.
        schemas: all schemas of the result, by id.
        edited: ids of versions whose columns go.
        added: versions that come.
    """
    extra = trees.base_of((), added)
    kept = np.flatnonzero(~np.isin(base.version_id, np.array(sorted(edited), np.int32)))
    version_id = np.concatenate([base.version_id[kept], extra.version_id])
    order = np.argsort(version_id, kind="stable")
    start, at = _joined_rows(base.start, kept, extra.start, order)
    rows = _RowsOf(base, extra)
    return TreeBase(
        schemas=schemas,
        version_id=version_id[order],
        schema_id=np.concatenate([base.schema_id[kept], extra.schema_id])[order],
        facts=as_columns(base.facts).taken(kept).joined(version_columns(extra.facts)).taken(order),
        start=start,
        id=_taken(base.id, extra.id, at),
        lineage=_taken(base.lineage, extra.lineage, at),
        path=_taken(base.path, rows.texts[extra.path], at),
        doc=_taken(base.doc, rows.texts[extra.doc], at),
        type=_taken(base.type, rows.types[extra.type], at),
        optional=_taken(base.optional, extra.optional, at),
        texts=rows.joined_texts,
        types=rows.joined_types,
    )


class _RowsOf:
    """Where the texts and types of some added versions stand behind those of a base."""

    def __init__(self, base: TreeBase, extra: TreeBase) -> None:
        known = len(base.texts.offsets) - 1
        self.texts = (np.arange(len(extra.texts.offsets) - 1) + known - 1).astype(np.int32)
        self.texts[0] = 0  # the empty text is the first of every table
        blob = base.texts.blob + extra.texts.blob
        offsets = np.concatenate([base.texts.offsets, extra.texts.offsets[2:] + len(base.texts.blob)])
        self.joined_texts = TextTable(blob, offsets)
        types = {kind: row for row, kind in enumerate(base.types)}
        self.types = np.array([types.setdefault(kind, len(types)) for kind in extra.types], np.int32)
        self.joined_types = tuple(types)


def spliced_matrix(base: DpmBase, edited: Mapping[BlockKey, Block | None]) -> DpmBase:
    """Put blocks in place of others; ``None`` removes one."""
    extra = matrices.base_of(block for block in edited.values() if block is not None)
    found = [base.find(key) for key in edited]
    is_kept = np.ones(len(base.version), np.bool_)
    is_kept[[row for row in found if row >= 0]] = False
    kept = np.flatnonzero(is_kept)
    version = np.concatenate([base.version[kept], extra.version])
    entity_version = np.concatenate([base.entity_version[kept], extra.entity_version])
    order = np.lexsort((entity_version, version))
    start, at = _joined_rows(base.start, kept, extra.start, order)
    people = {name: row for row, name in enumerate(base.people)}
    who = np.array([people.setdefault(name, len(people)) for name in extra.people], np.int32)

    def column(of_base: NDArray[Scalar], of_extra: NDArray[Scalar]) -> NDArray[Scalar]:
        return np.concatenate([of_base[kept], of_extra])[order]

    return DpmBase(
        version[order],
        entity_version[order],
        start,
        _taken(base.q, extra.q, at),
        _taken(base.p, extra.p, at),
        column(base.status, extra.status),
        column(base.verdict, extra.verdict),
        column(base.came_version, extra.came_version),
        column(base.came_entity_version, extra.came_entity_version),
        column(base.who, who[extra.who]),
        column(base.when_ms, extra.when_ms),
        tuple(people),
        {key: block for key, block in base.records.items() if key not in edited} | extra.records,
    )


def _joined_rows(start: Longs, kept: Longs, extra_start: Longs, order: Longs) -> tuple[Longs, Places]:
    """Starts of the parts in their new order, and for each of their rows its place in both columns laid end to end."""
    lengths = np.concatenate([np.diff(start)[kept], np.diff(extra_start)])[order]
    firsts = np.concatenate([start[:-1][kept], extra_start[:-1] + start[-1]])[order]
    return starts_of(lengths), laid_out(firsts, lengths)


def _taken(of_base: NDArray[Any], of_extra: NDArray[Any], at: Places) -> NDArray[Any]:
    both = np.concatenate([of_base, of_extra])
    out = np.empty(len(at), of_base.dtype)
    for low in range(0, len(at), _AT_ONCE):
        out[low : low + _AT_ONCE] = both[at[low : low + _AT_ONCE]]
    return out
