"""The rows of both trees: written by change, read whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from itertools import groupby

import msgspec

from metl_gui.core.document import Document
from metl_gui.core.draft import SchemaChange, Transition, VersionChange
from metl_gui.core.nodes import Attribute, Schema, Side, Version
from metl_gui.core.trees import Tree

_ADD_SCHEMA = "INSERT OR REPLACE INTO schemas (side, id, name, aliases, settings, succeeds) VALUES (?, ?, ?, ?, ?, ?)"
_ADD_VERSION = (
    "INSERT OR REPLACE INTO versions (side, id, schema_id, place, labels, fingerprint, key, inferred, source)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_ADD_ATTRIBUTE = (
    "INSERT INTO attributes (side, version_id, position, id, path, type, lineage, logical, scale, optional, doc)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
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
    """Read one tree."""
    versions = list(_read_versions(connection, side))
    ids: dict[int, list[int]] = {}
    for _, version in sorted(versions, key=lambda placed: placed[0]):
        ids.setdefault(version.schema_id, []).append(version.id)
    rows = connection.execute("SELECT id, name, aliases, settings, succeeds FROM schemas WHERE side = ?", (side.value,))
    schemas = [
        Schema(
            id_,
            name,
            tuple(ids.get(id_, ())),
            _texts.decode(aliases),
            _text_pairs.decode(settings),
            _id_pairs.decode(succeeds),
        )
        for id_, name, aliases, settings, succeeds in rows
    ]
    return Tree.of(schemas, (version for _, version in versions))


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
        connection.execute("DELETE FROM attributes WHERE side = ? AND version_id = ?", (side, change.id))
        connection.executemany(_ADD_ATTRIBUTE, _attribute_rows(side, change.id, attributes))


def _attribute_rows(side: str, version_id: int, attributes: Iterable[Attribute]) -> Iterable[tuple[object, ...]]:
    for position, a in enumerate(attributes):
        facts = a.id, a.path, a.type, a.lineage, a.logical, a.scale, int(a.optional), a.doc
        yield side, version_id, position, *facts


def _read_versions(connection: sqlite3.Connection, side: Side) -> Iterable[tuple[int, Version]]:
    """Yield every version with its place in its schema."""
    attributes = _read_attributes(connection, side)
    rows = connection.execute(
        "SELECT id, schema_id, place, labels, fingerprint, key, inferred, source FROM versions WHERE side = ?",
        (side.value,),
    )
    for id_, schema_id, place, labels, fingerprint, key, inferred, source in rows:
        paths = None if key is None else _texts.decode(key)
        facts = fingerprint, paths, bool(inferred), source
        yield place, Version(id_, schema_id, _texts.decode(labels), attributes.get(id_, ()), *facts)


def _read_attributes(connection: sqlite3.Connection, side: Side) -> dict[int, tuple[Attribute, ...]]:
    rows = connection.execute(
        "SELECT version_id, id, path, type, lineage, logical, scale, optional, doc FROM attributes"
        " WHERE side = ? ORDER BY version_id, position",
        (side.value,),
    )
    return {
        version_id: tuple(
            Attribute(id_, path, type_, lineage, logical, scale, bool(optional), doc)
            for _, id_, path, type_, lineage, logical, scale, optional, doc in members
        )
        for version_id, members in groupby(rows, key=lambda row: row[0])
    }
