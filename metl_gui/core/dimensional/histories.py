"""The history of an entity: the columns in which its messages are kept, in types that hold their values exactly.

A column is an attribute of all versions of the entity, by its lineage. Its type comes from the canonical model alone,
so that no change of a warehouse model changes a history.

Source: docs/reference/warehouse-model.md, "Types".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import msgspec

from metl_gui.core.trees.logical_types import DECIMAL, DECIMALS, Meaning, time_type
from metl_gui.core.trees.paths import split

if TYPE_CHECKING:
    # What is asked of a run names histories; whoever reads that needs no documents.
    from metl_gui.core.matrix.document import Document
    from metl_gui.core.trees.nodes import Attribute, Schema, Version

TYPES = ("integer", "float", "boolean", "date", "time", "timestamp", "instant", "text", "json")
"""Types of columns, beside ``decimal(precision,scale)`` and ``text(length)``."""

DECIMAL_DIGITS = 38
_MOST_LETTERS = 60
"""PostgreSQL takes 63 bytes for a name; a number may come behind."""

ROW_KEY = "row_key"
"""The column of every history that tells rows apart."""

_UNFIT = re.compile(r"[^a-z0-9_]+")


class HistoryColumn(msgspec.Struct, frozen=True):
    """One attribute of an entity.

    Args:
        name: of the column.
        path: of the attribute in the newest version that has it.
        type: see ``TYPES``.
        paths: by label of the version, the path that it has there.
    """

    name: str
    path: str
    type: str
    paths: dict[str, str] = {}


class EntityHistory(msgspec.Struct, frozen=True):
    """The history of one entity.

    Args:
        entity: its name.
        key: paths of its key in the newest version, empty for none.
        columns: one an attribute.
        hashed: names of the columns that hold hashes of masked values, with ``ROW_KEY`` for the keys of rows.
    """

    entity: str
    key: tuple[str, ...] = ()
    columns: tuple[HistoryColumn, ...] = ()
    hashed: tuple[str, ...] = ()

    @property
    def is_key_hashed(self) -> bool:
        """Return whether rows are told apart by hashes of their keys."""
        return ROW_KEY in self.hashed

    def at_path(self, path: str) -> HistoryColumn | None:
        """Return the column of an attribute by any of its paths, that of the newest version first."""
        found = next((one for one in self.columns if one.path == path), None)
        return found or next((one for one in self.columns if path in one.paths.values()), None)


def entity_histories(document: Document, entities: Collection[str] | None = None) -> tuple[EntityHistory, ...]:
    """Return the histories of entities that something is mapped to, in their order.

    Args:
        document: the state.
        entities: only these, whether mapped or not; ``None`` for all that are mapped.

    Cost: in proportion to these entities; to all, it is not slower than reading each block once.
    """
    found = []
    for entity in document.cdm.schemas():
        if entity.name in entities if entities is not None else _is_mapped(document, entity):
            versions = [document.cdm.version(id_) for id_ in entity.version_ids]
            found.append(EntityHistory(entity.name, versions[-1].key or (), tuple(_columns(versions))))
    return tuple(found)


def _is_mapped(document: Document, entity: Schema) -> bool:
    """Return whether something is mapped to an entity; its newest versions are asked first."""
    matrix = document.matrix
    keys = (key for id_ in reversed(entity.version_ids) for key in matrix.row_keys(id_))
    return any((block := matrix.block(*key)) is not None and block.elements for key in keys)


def _columns(versions: list[Version]) -> Iterator[HistoryColumn]:
    """Yield a column for each lineage, those of the newest version first and in its order."""
    lineages = dict.fromkeys(one.lineage for version in reversed(versions) for one in version.attributes)
    taken: set[str] = set()
    for lineage in lineages:
        by_label: dict[str, Attribute] = {}
        for version in versions:
            found = version.of_lineage(lineage)
            if found is not None:
                by_label[version.label] = found
        newest = list(by_label.values())[-1]
        types = {column_type(one) for one in by_label.values()}
        name = _free_name(column_name(newest.path), taken)
        taken.add(name)
        type_ = types.pop() if len(types) == 1 else "text"
        yield HistoryColumn(name, newest.path, type_, {label: one.path for label, one in by_label.items()})


def column_name(path: str) -> str:
    """Return a name for the column of a path that every database takes without quotes."""
    name = _UNFIT.sub("_", "_".join(split(path)).lower()).strip("_") or "column"
    return (name if name[0].isalpha() else f"c_{name}")[:_MOST_LETTERS]


def _free_name(name: str, taken: Collection[str]) -> str:
    number, free = 2, name
    while free in taken or free in RESERVED:
        free = f"{name}_{number}"
        number += 1
    return free


RESERVED = frozenset(
    (
        *("schema", "row_key", "order_key", "op", "publication", "schema_version", "entity_version", "committed_at"),
        *("seen_at", "position_log", "position_partition", "position_offset", "snapshot", "old_key", "absent", "batch"),
    )
)
"""Columns of every history that are no attributes."""


def column_type(attribute: Attribute) -> str:
    """Return the type of the column that holds every value of an attribute exactly."""
    if attribute.logical in DECIMALS:
        is_exact = attribute.logical == DECIMAL and attribute.scale is not None
        if is_exact and attribute.scale is not None and 0 <= attribute.scale <= DECIMAL_DIGITS:
            return f"decimal({DECIMAL_DIGITS},{attribute.scale})"
        return "text"
    time = time_type(attribute.type, attribute.logical)
    if time is not None and time.stored_in:
        return _TIMES.get(time.says, "integer")
    return _PLAIN.get(attribute.type, "json")


_TIMES = {Meaning.DATE: "date", Meaning.LOCAL_TIME: "timestamp", Meaning.INSTANT: "instant"}
_PLAIN = {
    **dict.fromkeys(("integer", "int8", "int16", "int32", "int64"), "integer"),
    **dict.fromkeys(("float", "double"), "float"),
    "boolean": "boolean",
    **dict.fromkeys(("string", "number", "bytes"), "text"),
}
"""By plain type; a ``number`` is kept as its digits."""
