"""Attributes of entities about which the review list does not ask again what the tables of a warehouse make of them.

The setting ``warehouse_settled`` of an entity lists paths; what has the lineage of an attribute of that path is settled
too, in every version. A new attribute in it is one that no table shall take; one without a source, one whose column
stays. Source: docs/guide/warehouse.md, "When attributes come and go".
"""

from __future__ import annotations

from collections.abc import Iterable

from metl_gui.core.trees.nodes import Schema
from metl_gui.core.trees.paths import join_list, split_list
from metl_gui.core.trees.trees import ReadableTree

SETTLED = "warehouse_settled"
"""Name of the setting."""


def settled_lineages(tree: ReadableTree, entity: Schema) -> frozenset[int]:
    """Return the lineages that are settled in an entity; costs nothing where none is."""
    paths = frozenset(_paths(entity))
    versions = tree.versions(entity.id) if paths else ()
    return frozenset(one.lineage for version in versions for one in version.attributes if one.path in paths)


def settled_with(entity: Schema, paths: Iterable[str]) -> str:
    """Return the value of the setting after some more attributes are settled."""
    return join_list(sorted({*_paths(entity), *paths}))


def _paths(entity: Schema) -> list[str]:
    return list(filter(None, split_list(entity.setting(SETTLED))))
