"""The tables of a project file, and the steps from older versions to this one.

From version 3 to 4 attributes and block records go from rows of their own into packs (``pack_bulk_tables``).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from metl_gui.core.matrix.blocks import Block, Status, Verdict
from metl_gui.core.trees.nodes import Attribute
from metl_gui.store.rows.packed_rows import Interned, pack_attributes, pack_blocks
from metl_gui.store.sqlite.connection import APPLICATION_ID

if TYPE_CHECKING:
    from sqlite_utils import Database


VERSION = 8
"""The version this program writes (``PRAGMA user_version``)."""

_REFUSED_SUGGESTIONS = """
CREATE TABLE refused_suggestions (
    schema_id INTEGER NOT NULL,
    p_lineage INTEGER NOT NULL,
    entity_id INTEGER NOT NULL,
    q_lineage INTEGER NOT NULL,
    from_path TEXT NOT NULL,
    to_path TEXT NOT NULL,
    who TEXT NOT NULL,
    when_ms INTEGER NOT NULL,
    PRIMARY KEY (schema_id, p_lineage, entity_id, q_lineage)
) STRICT;
"""

_COMMENTS = """
CREATE TABLE comments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source_schema INTEGER NOT NULL, -- 0 stands for none, in each of the eight
    source_version INTEGER NOT NULL,
    source_attribute INTEGER NOT NULL,
    source_lineage INTEGER NOT NULL,
    target_schema INTEGER NOT NULL,
    target_version INTEGER NOT NULL,
    target_attribute INTEGER NOT NULL,
    target_lineage INTEGER NOT NULL,
    text TEXT NOT NULL,
    who TEXT NOT NULL,
    when_ms INTEGER NOT NULL
) STRICT;
"""

_DECISIONS = """
CREATE TABLE project_settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE assignments (
    schema_id INTEGER NOT NULL,
    entity_id INTEGER NOT NULL,
    version INTEGER NOT NULL, -- of the schema, where the loss began
    assignee TEXT NOT NULL,
    who TEXT NOT NULL,
    when_ms INTEGER NOT NULL,
    PRIMARY KEY (schema_id, entity_id, version)
) STRICT;

CREATE TABLE version_tasks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    schema TEXT NOT NULL, -- as the messages name it
    seen TEXT NOT NULL, -- what tells this version from others: label or fingerprint
    declaration TEXT NOT NULL, -- JSON of core.declarations.VersionDeclaration
    samples TEXT NOT NULL, -- JSON, how often values are there and their patterns, never values themselves
    waits TEXT NOT NULL, -- JSON, where how many records wait
    when_ms INTEGER NOT NULL, -- when it was seen first
    dismissed_by TEXT, -- null while it stands
    UNIQUE (schema, seen)
) STRICT;

CREATE TABLE pending_imports (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    side TEXT NOT NULL CHECK (side IN ('extraction', 'cdm')),
    door TEXT NOT NULL,
    undo_group INTEGER, -- null until its first version is added
    total INTEGER NOT NULL,
    who TEXT NOT NULL,
    when_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE pending_versions (
    import_id INTEGER NOT NULL REFERENCES pending_imports (id),
    place INTEGER NOT NULL, -- of the first of these versions among all of the import
    declarations BLOB NOT NULL, -- compressed JSON, a list of core.declarations.VersionDeclaration
    PRIMARY KEY (import_id, place)
) STRICT;

CREATE TABLE publications (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- the highest is live
    state INTEGER NOT NULL,
    who TEXT NOT NULL,
    when_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE refused_renames (
    side TEXT NOT NULL CHECK (side IN ('extraction', 'cdm')),
    schema_id INTEGER NOT NULL,
    lost TEXT NOT NULL,
    candidate TEXT NOT NULL,
    lost_lineage INTEGER NOT NULL, -- 0 for not known, in both
    candidate_lineage INTEGER NOT NULL,
    who TEXT NOT NULL,
    when_ms INTEGER NOT NULL,
    PRIMARY KEY (side, schema_id, lost, candidate)
) STRICT;

CREATE TABLE exported_states (
    state INTEGER PRIMARY KEY,
    when_ms INTEGER NOT NULL
) STRICT;
"""

_SAMPLES = """
CREATE TABLE profiles (
    schema_id INTEGER PRIMARY KEY,
    rows INTEGER NOT NULL,
    when_ms INTEGER NOT NULL,
    attributes TEXT NOT NULL -- JSON, no value of any message in it
) STRICT;

CREATE TABLE included_samples (
    schema_id INTEGER PRIMARY KEY,
    samples BLOB NOT NULL, -- JSON lines, deflated, masked values hidden
    who TEXT NOT NULL,
    when_ms INTEGER NOT NULL
) STRICT;
"""

_WIRE = """
CREATE TABLE wire_schemas (
    id TEXT NOT NULL, -- what messages call it
    schema TEXT NOT NULL,
    kind TEXT NOT NULL, -- avro or json
    fingerprint TEXT NOT NULL, -- of the version whose rows it writes, empty for none
    text BLOB NOT NULL, -- deflated
    when_ms INTEGER NOT NULL,
    PRIMARY KEY (id, schema)
) STRICT;
"""

_WAREHOUSE = """
CREATE TABLE warehouse_models (
    name TEXT PRIMARY KEY,
    model TEXT NOT NULL -- JSON of core.warehouse_model.Model
) STRICT;
"""

_PACKED = """
CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE types (id INTEGER PRIMARY KEY, type TEXT NOT NULL, logical TEXT NOT NULL, scale INTEGER) STRICT;
CREATE INDEX types_by_name ON types (type, logical);
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE blocks (
    schema_id INTEGER NOT NULL,
    entity_version INTEGER NOT NULL,
    records BLOB NOT NULL, -- packed by store.block_packs
    PRIMARY KEY (schema_id, entity_version)
) STRICT, WITHOUT ROWID;

CREATE TABLE block_details (
    version INTEGER NOT NULL,
    entity_version INTEGER NOT NULL,
    losses TEXT, -- JSON
    waits TEXT, -- JSON
    retired TEXT, -- JSON
    postponed INTEGER NOT NULL,
    comment TEXT NOT NULL,
    PRIMARY KEY (version, entity_version)
) STRICT, WITHOUT ROWID;
"""


_EDITS = """
CREATE TABLE edits (
    state INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    who TEXT NOT NULL,
    when_ms INTEGER NOT NULL,
    door TEXT NOT NULL,
    undo_group INTEGER NOT NULL, -- the first state of one gesture or command
    undoes INTEGER, -- the undo group that this one takes back
    depth INTEGER NOT NULL, -- 0 an edit, odd an undo, even a redo
    original INTEGER NOT NULL, -- the undo group of the edit at the start of undoes
    states INTEGER NOT NULL, -- how many states the change leads over, more than 1 where others were merged into it
    is_cut INTEGER NOT NULL, -- whether its undo group cannot be taken back any more
    change BLOB NOT NULL -- core.draft.Change, packed by store.change_packs
) STRICT;
CREATE INDEX edits_by_undo_group ON edits (undo_group);
CREATE INDEX edits_by_undoes ON edits (undoes) WHERE undoes IS NOT NULL;

CREATE VIEW undo_steps AS
SELECT
    edits.state, edits.undo_group, edits.who, edits.when_ms, edits.door, edits.depth, edits.is_cut,
    coalesce(original.title, edits.title) AS title,
    (SELECT count(*) FROM edits AS member WHERE member.undo_group = edits.undo_group) AS states,
    (SELECT count(*) FROM edits AS member WHERE member.undo_group = edits.original) AS original_states,
    EXISTS (SELECT 1 FROM edits AS later WHERE later.undoes = edits.undo_group) AS is_taken_back
FROM edits LEFT JOIN edits AS original ON original.state = edits.original;
"""


def _add_refused_suggestions(database: Database) -> None:
    database.execute(_REFUSED_SUGGESTIONS)


def _add_comments(database: Database) -> None:
    database.execute(_COMMENTS)


def _add_decisions(database: Database) -> None:
    for statement in parts(_DECISIONS):
        database.execute(statement)
    if "refused_proposals" in database.table_names():
        database.execute(
            "INSERT INTO refused_renames"
            " SELECT 'extraction', schema_id, lost, candidate, 0, 0, who, when_ms FROM refused_proposals"
        )
        database.execute("DROP TABLE refused_proposals")
    _pack_log(database)
    for column in ("published_who", "published_ms"):  # nothing ever wrote them
        database.execute(f"ALTER TABLE states DROP COLUMN {column}")


def _pack_log(database: Database) -> None:
    from metl_gui.store.rows.packed_changes import packed_text

    database.execute("DROP VIEW undo_steps")
    database.execute("ALTER TABLE edits RENAME TO old_edits")
    for index in ("edits_by_undo_group", "edits_by_undoes"):
        database.execute(f"DROP INDEX {index}")
    for statement in parts(_EDITS):
        database.execute(statement)
    database.conn.create_function("packed_change", 1, packed_text, deterministic=True)
    database.execute(
        "INSERT INTO edits SELECT state, title, who, when_ms, door, undo_group, undoes, depth, original, 1, 0,"
        " packed_change(change) FROM old_edits"
    )
    database.execute("DROP TABLE old_edits")


def _add_samples(database: Database) -> None:
    for statement in parts(_SAMPLES + _WIRE):
        database.execute(statement)
    database.execute("ALTER TABLE runs ADD COLUMN spec TEXT NOT NULL DEFAULT '{}'")


def _add_warehouse(database: Database) -> None:
    for statement in parts(_WAREHOUSE):
        database.execute(statement)


def _add_ignored(database: Database) -> None:
    database.execute("ALTER TABLE schemas ADD COLUMN ignored TEXT NOT NULL DEFAULT '[]'")


def parts(text: str) -> tuple[str, ...]:
    """Cut a text of statements into single ones."""
    return tuple(part for part in text.split(";") if part.strip())


def _pack(database: Database) -> None:

    pack_bulk_tables(database.conn, parts(_PACKED))


MIGRATIONS: dict[int, Callable[[Database], None]] = {
    1: _add_refused_suggestions,
    2: _add_comments,
    3: _pack,
    4: _add_decisions,
    5: _add_samples,
    6: _add_warehouse,
    7: _add_ignored,
}
"""By version: the step that makes it the next one. All run in the one transaction of the whole migration.

Tables without a rowid (dusb, blocks, block_details) are changed by ``ALTER TABLE``, not by ``transform``.
"""

_TABLES = """
CREATE TABLE project (
    id TEXT PRIMARY KEY,
    created_ms INTEGER NOT NULL,
    state INTEGER NOT NULL
) STRICT;

CREATE TABLE next_ids (
    side TEXT PRIMARY KEY CHECK (side IN ('extraction', 'cdm')),
    schema INTEGER NOT NULL,
    version INTEGER NOT NULL,
    attribute INTEGER NOT NULL,
    lineage INTEGER NOT NULL
) STRICT;

CREATE TABLE schemas (
    side TEXT NOT NULL CHECK (side IN ('extraction', 'cdm')),
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    aliases TEXT NOT NULL, -- JSON
    settings TEXT NOT NULL, -- JSON, pairs
    succeeds TEXT NOT NULL, -- JSON, pairs of lineages
    ignored TEXT NOT NULL DEFAULT '[]', -- JSON of core.trees.nodes.IgnoredAttribute
    PRIMARY KEY (side, id)
) STRICT;

CREATE TABLE versions (
    side TEXT NOT NULL CHECK (side IN ('extraction', 'cdm')),
    id INTEGER NOT NULL,
    schema_id INTEGER NOT NULL,
    place INTEGER NOT NULL, -- oldest first
    labels TEXT NOT NULL, -- JSON
    fingerprint TEXT NOT NULL,
    key TEXT, -- JSON, null when not known
    inferred INTEGER NOT NULL,
    source TEXT NOT NULL,
    attributes BLOB NOT NULL, -- packed by store.attribute_packs
    PRIMARY KEY (side, id)
) STRICT;

CREATE TABLE dusb (
    schema_id INTEGER NOT NULL,
    entity_version INTEGER NOT NULL,
    version INTEGER NOT NULL,
    elements BLOB NOT NULL, -- pairs q, p of little-endian 32-bit integers
    PRIMARY KEY (schema_id, entity_version, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE states (
    state INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    who TEXT NOT NULL,
    when_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    state INTEGER,
    when_ms INTEGER NOT NULL,
    report TEXT NOT NULL, -- JSON
    events TEXT NOT NULL, -- JSON
    spec TEXT NOT NULL DEFAULT '{}' -- JSON, what was asked, without the plan
) STRICT;
CREATE INDEX runs_by_time ON runs (when_ms);

CREATE TABLE lease (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    token TEXT NOT NULL,
    who TEXT NOT NULL,
    host TEXT NOT NULL,
    machine TEXT NOT NULL,
    process_id INTEGER NOT NULL,
    process_start TEXT NOT NULL,
    since_ms INTEGER NOT NULL,
    heartbeat_ms INTEGER NOT NULL
) STRICT;
"""

STATEMENTS = _TABLES + _EDITS + _PACKED + _REFUSED_SUGGESTIONS + _COMMENTS + _DECISIONS + _SAMPLES + _WIRE + _WAREHOUSE
"""What makes the tables of a file of this version."""


def utilities(connection: sqlite3.Connection) -> Database:
    """Give a connection the schema tools of sqlite-utils."""
    from sqlite_utils import Database

    return Database(connection, recursive_triggers=False, execute_plugins=False)


def make_tables(connection: sqlite3.Connection, project_id: str, now_ms: int) -> None:
    """Fill an empty file with the tables of a project at state 0."""
    database = utilities(connection)
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    with database.atomic():
        database.executescript(STATEMENTS)
        database.execute("INSERT INTO project VALUES (?, ?, 0)", (project_id, now_ms))
        for side in ("extraction", "cdm"):
            database.execute("INSERT INTO next_ids VALUES (?, 1, 1, 1, 1)", (side,))
        database.execute(f"PRAGMA user_version={VERSION}")


def file_version(connection: sqlite3.Connection) -> int:
    """Read the version of the tables."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables of an older version to this one; inside a transaction."""
    database = utilities(connection)
    for version in range(file_version(connection), VERSION):
        MIGRATIONS[version](database)
    database.execute(f"PRAGMA user_version={VERSION}")


_ATTRIBUTES = (
    "SELECT side, version_id, id, path, type, lineage, logical, scale, optional, doc FROM attributes"
    " ORDER BY side, version_id, position"
)
_BLOCKS = (
    "SELECT versions.schema_id, old.entity_version, old.version, old.status, old.verdict, old.came_version,"
    " old.came_entity_version, old.who, old.when_ms FROM old_blocks AS old"
    " JOIN versions ON versions.side = 'extraction' AND versions.id = old.version"
    " ORDER BY versions.schema_id, old.entity_version, old.version"
)
_DETAILS = (
    "INSERT INTO block_details SELECT version, entity_version, losses, waits, retired, postponed, comment"
    " FROM old_blocks WHERE coalesce(losses, waits, retired) IS NOT NULL OR postponed OR comment <> ''"
)


def pack_bulk_tables(connection: sqlite3.Connection, tables: tuple[str, ...]) -> None:
    """Pack what stood in the tables ``attributes`` and ``blocks``; inside a transaction.

    Args:
        connection: to the file.
        tables: the statements that make the new tables.
    """
    connection.execute("ALTER TABLE blocks RENAME TO old_blocks")
    for statement in tables:
        connection.execute(statement)
    interned = Interned(connection)
    connection.execute("ALTER TABLE versions ADD COLUMN attributes BLOB NOT NULL DEFAULT x''")
    for side, version_id, attributes in _versions(connection):
        connection.execute(
            "UPDATE versions SET attributes = ? WHERE side = ? AND id = ?",
            (pack_attributes(attributes, interned), side, version_id),
        )
    for group, blocks in _groups(connection):
        connection.execute("INSERT INTO blocks VALUES (?, ?, ?)", (*group, pack_blocks(blocks, interned)))
    connection.execute(_DETAILS)
    connection.execute("DROP TABLE attributes")
    connection.execute("DROP TABLE old_blocks")


def _versions(connection: sqlite3.Connection) -> Iterator[tuple[str, int, list[Attribute]]]:
    for (side, version_id), rows in groupby(connection.execute(_ATTRIBUTES), key=lambda row: row[:2]):
        yield side, version_id, [_attribute(*row[2:]) for row in rows]


def _attribute(
    id_: int, path: str, type_: str, lineage: int, logical: str, scale: int | None, optional: int, doc: str
) -> Attribute:
    return Attribute(id_, path, type_, lineage, logical, scale, bool(optional), doc)


def _groups(connection: sqlite3.Connection) -> Iterator[tuple[tuple[int, int], list[Block]]]:
    for group, rows in groupby(connection.execute(_BLOCKS), key=lambda row: row[:2]):
        yield group, [_block(*row[1:]) for row in rows]


def _block(
    entity_version: int, version: int, status: str, verdict: str, came_v: int | None, came_w: int | None, *stamp: Any
) -> Block:
    came = None if came_v is None or came_w is None else (came_v, came_w)
    return Block(version, entity_version, (), Status(status), Verdict(verdict), came, who=stamp[0], when_ms=stamp[1])
