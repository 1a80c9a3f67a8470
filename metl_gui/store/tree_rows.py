"""The rows of schemas and versions of both trees: written by change, read whole."""

from __future__ import annotations

import sqlite3

import msgspec

from metl_gui.core.document import Document
from metl_gui.core.draft import SchemaChange, Transition, VersionChange
from metl_gui.core.nodes import Schema, Side, Version
from metl_gui.core.trees import Tree, base_of
from metl_gui.store.attribute_rows import with_attributes, write_attributes

_ADD_SCHEMA = "INSERT OR REPLACE INTO schemas (side, id, name, aliases, settings, succeeds) VALUES (?, ?, ?, ?, ?, ?)"
_ADD_VERSION = (
    "INSERT OR REPLACE INTO versions (side, id, schema_id, place, labels, fingerprint, key, inferred, source)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_READ_VERSIONS = (
    "SELECT id, schema_id, labels, fingerprint, key, inferred, source FROM versions WHERE side = ? ORDER BY place"
)
_texts = msgspec.json.Decoder(tuple[str, ...])
_text_pairs = msgspec.json.Decoder(tuple[tuple[str, str], ...])
_id_pairs = msgspec.json.Decoder(tuple[tuple[int, int], ...])


def write_trees(connection: sqlite3.Connection, transition: Transition) -> None:
    """Write what an edit changed in the trees and the next ids."""
    after = transition.after
    for version in transition.change.versions:
        _write_version(connection, after, version)
    for schema in transition.change.schemas:
        _write_schema(connection, schema)
    for side in Side:
        if after.ids(side) != transition.before.ids(side):
            ids = after.ids(side)
            connection.execute(
                "UPDATE next_ids SET schema = ?, version = ?, attribute = ?, lineage = ? WHERE side = ?",
                (ids.schema, ids.version, ids.attribute, ids.lineage, side.value),
            )


def read_tree(connection: sqlite3.Connection, side: Side) -> Tree:
    """Read one tree.

    Raises:
        ValueError: a version without its schema, or attributes without their version.
    """
    placed = [_version(*row) for row in connection.execute(_READ_VERSIONS, (side.value,))]
    ids: dict[int, list[int]] = {}
    for version in placed:
        ids.setdefault(version.schema_id, []).append(version.id)
    schemas = _read_schemas(connection, side, ids)
    if ids:
        raise ValueError("versions of a schema that is not there")
    return Tree(with_attributes(connection, side, base_of(schemas, placed)))


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _write_schema(connection: sqlite3.Connection, change: SchemaChange) -> None:
    side, schema = change.side.value, change.after
    if schema is None:
        connection.execute("DELETE FROM schemas WHERE side = ? AND id = ?", (side, change.id))
        return
    lists = _json(schema.aliases), _json(schema.settings), _json(schema.succeeds)
    connection.execute(_ADD_SCHEMA, (side, schema.id, schema.name, *lists))
    before = change.before.version_ids if change.before else ()
    if before != schema.version_ids:
        connection.executemany(
            "UPDATE versions SET place = ? WHERE side = ? AND id = ?",
            [(place, side, id_) for place, id_ in enumerate(schema.version_ids) if before[place : place + 1] != (id_,)],
        )


def _write_version(connection: sqlite3.Connection, after: Document, change: VersionChange) -> None:
    side, version = change.side.value, change.after
    if version is None:
        connection.execute("DELETE FROM versions WHERE side = ? AND id = ?", (side, change.id))
    else:
        place = after.tree(change.side).schema(version.schema_id).version_ids.index(version.id)
        key = None if version.key is None else _json(version.key)
        facts = _json(version.labels), version.fingerprint, key, int(version.inferred), version.source
        connection.execute(_ADD_VERSION, (side, version.id, version.schema_id, place, *facts))
    attributes = version.attributes if version else ()
    if attributes != (change.before.attributes if change.before else ()):
        write_attributes(connection, change.side, change.id, attributes)


def _read_schemas(connection: sqlite3.Connection, side: Side, version_ids: dict[int, list[int]]) -> list[Schema]:
    """Read the schemas, each taking its versions out of ``version_ids``."""
    rows = connection.execute("SELECT id, name, aliases, settings, succeeds FROM schemas WHERE side = ?", (side.value,))
    schemas = []
    for id_, name, aliases, settings, succeeds in rows:
        lists = _texts.decode(aliases), _text_pairs.decode(settings), _id_pairs.decode(succeeds)
        schemas.append(Schema(id_, name, tuple(version_ids.pop(id_, ())), *lists))
    return schemas


def _version(
    id_: int, schema_id: int, labels: str, fingerprint: str, key: str | None, inferred: int, source: str
) -> Version:
    """Make a version whose attributes are read apart."""
    names = _texts.decode(labels)
    if not names:
        raise ValueError("a version without a label")
    paths = None if key is None else _texts.decode(key)
    return Version(id_, schema_id, names, (), fingerprint, paths, bool(inferred), source)
