"""Merge edited versions into the columns of a tree, without an object for what was left alone.

Cost: some passes over the columns and one object for each edited version.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from metl_gui.core.trees import trees
from metl_gui.core.trees.columns import joined_rows, picked
from metl_gui.core.trees.nodes import Schema, Version
from metl_gui.core.trees.trees import TextTable, TreeBase
from metl_gui.core.trees.version_facts import as_columns, version_columns


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
    start, at = joined_rows(base.start, kept, extra.start, order)
    rows = _RowsOf(base, extra)
    return TreeBase(
        schemas=schemas,
        version_id=version_id[order],
        schema_id=np.concatenate([base.schema_id[kept], extra.schema_id])[order],
        facts=as_columns(base.facts).picked(kept).joined(version_columns(extra.facts)).picked(order),
        start=start,
        id=picked(base.id, extra.id, at),
        lineage=picked(base.lineage, extra.lineage, at),
        path=picked(base.path, rows.texts[extra.path], at),
        doc=picked(base.doc, rows.texts[extra.doc], at),
        type=picked(base.type, rows.types[extra.type], at),
        optional=picked(base.optional, extra.optional, at),
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
