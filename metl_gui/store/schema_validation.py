"""The shape of a project file: which tables, indexes and views a file of each version has, and that it has no others.

A file comes from anywhere. A view in the place of a table runs what its maker likes whenever it is read, and so does a
trigger whenever something is written, so nothing is asked of a file before its shape is known to be one of ours.
Source: sqlite.org, "Defense Against The Dark Arts".
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias

from metl_gui.errors import ProjectError
from metl_gui.store import tables
from metl_gui.store.sqlite.failures import damaged

Shape: TypeAlias = Mapping[str, frozenset[str]]
"""By name: the statements, in normal form, that one table, index or view may have been made by."""

_WORDS = re.compile(r"(?P<left>--[^\n]*|/\*.*?\*/|\s+)|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\w+|.", re.DOTALL)
_MADE = re.compile(r"CREATE (TABLE|INDEX|VIEW) (\w+)(?: ON (\w+))?")
_LONGEST_STATEMENT = 4_096
"""Characters; several times the longest of ours. A longer one is not looked into."""

_MOST_NAMED = 5
_LONGEST_SHOWN = 60

_SEQUENCE = "CREATE TABLE sqlite_sequence(name,seq)"
"""What SQLite itself makes beside the first table with ``AUTOINCREMENT``."""

_VERSIONS_PACKED_LATER = "attributes BLOB NOT NULL DEFAULT x'',"
_VERSIONS_PACKED = "attributes BLOB NOT NULL, -- packed by store.attribute_packs"
"""The one difference between a file that was migrated from version 3 or before, and one that was made later."""

_BEFORE_8 = """
CREATE TABLE schemas (
    side TEXT NOT NULL CHECK (side IN ('extraction', 'cdm')),
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    aliases TEXT NOT NULL,
    settings TEXT NOT NULL,
    succeeds TEXT NOT NULL,
    PRIMARY KEY (side, id)
) STRICT;
"""

_BEFORE_6 = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    state INTEGER,
    when_ms INTEGER NOT NULL,
    report TEXT NOT NULL,
    events TEXT NOT NULL
) STRICT;
"""
_NEW_IN_6 = ("profiles", "included_samples", "wire_schemas")

_BEFORE_5 = """
CREATE TABLE edits (
    state INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    who TEXT NOT NULL,
    when_ms INTEGER NOT NULL,
    door TEXT NOT NULL,
    undo_group INTEGER NOT NULL,
    undoes INTEGER,
    depth INTEGER NOT NULL,
    original INTEGER NOT NULL,
    change TEXT NOT NULL -- JSON of core.draft.Change
) STRICT;

CREATE VIEW undo_steps AS
SELECT
    edits.state, edits.undo_group, edits.who, edits.when_ms, edits.door, edits.depth, original.title,
    (SELECT count(*) FROM edits AS member WHERE member.undo_group = edits.undo_group) AS states,
    (SELECT count(*) FROM edits AS member WHERE member.undo_group = edits.original) AS original_states,
    EXISTS (SELECT 1 FROM edits AS later WHERE later.undoes = edits.undo_group) AS is_taken_back
FROM edits JOIN edits AS original ON original.state = edits.original;

CREATE TABLE states (
    state INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    who TEXT NOT NULL,
    when_ms INTEGER NOT NULL,
    published_who TEXT,
    published_ms INTEGER
) STRICT;

CREATE TABLE refused_proposals (
    schema_id INTEGER NOT NULL,
    lost TEXT NOT NULL,
    candidate TEXT NOT NULL,
    who TEXT NOT NULL,
    when_ms INTEGER NOT NULL,
    PRIMARY KEY (schema_id, lost, candidate)
) STRICT;
"""
_NEW_IN_5 = (
    *("project_settings", "assignments", "version_tasks", "pending_imports", "pending_versions"),
    *("publications", "refused_renames", "exported_states"),
)

_BEFORE_4 = """
CREATE TABLE versions (
    side TEXT NOT NULL CHECK (side IN ('extraction', 'cdm')),
    id INTEGER NOT NULL,
    schema_id INTEGER NOT NULL,
    place INTEGER NOT NULL,
    labels TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    key TEXT,
    inferred INTEGER NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (side, id)
) STRICT;

CREATE TABLE attributes (
    side TEXT NOT NULL CHECK (side IN ('extraction', 'cdm')),
    version_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    id INTEGER NOT NULL,
    path TEXT NOT NULL,
    type TEXT NOT NULL,
    lineage INTEGER NOT NULL,
    logical TEXT NOT NULL,
    scale INTEGER,
    optional INTEGER NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (side, version_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE blocks (
    version INTEGER NOT NULL,
    entity_version INTEGER NOT NULL,
    status TEXT NOT NULL,
    verdict TEXT NOT NULL,
    came_version INTEGER,
    came_entity_version INTEGER,
    losses TEXT,
    waits TEXT,
    retired TEXT,
    postponed INTEGER NOT NULL,
    who TEXT NOT NULL,
    when_ms INTEGER NOT NULL,
    comment TEXT NOT NULL,
    PRIMARY KEY (version, entity_version)
) STRICT, WITHOUT ROWID;
"""
_NEW_IN_4 = ("texts", "types", "types_by_name", "people", "block_details")


def statements_of(version: int) -> dict[str, str]:
    """Return what makes a file of a version, by the name of what each statement makes, in an order that does it."""
    found = _by_name(tables.STATEMENTS)
    older = (
        (8, _BEFORE_8, ()),
        (7, "", ("warehouse_models",)),
        (6, _BEFORE_6, _NEW_IN_6),
        (5, _BEFORE_5, _NEW_IN_5),
        (4, _BEFORE_4, _NEW_IN_4),
        (3, "", ("comments",)),
        (2, "", ("refused_suggestions",)),
    )
    for later, before, new in older:
        if version < later:
            found |= _by_name(before)
            found = {name: statement for name, statement in found.items() if name not in new}
    return found


@cache
def shape_of(version: int) -> Shape:
    """Return the shape of a file of a version, whether it was made so or migrated."""
    known = {name: frozenset({normal_form(statement)}) for name, statement in statements_of(version).items()}
    if version >= 4:
        migrated = statements_of(version)["versions"].replace(_VERSIONS_PACKED, _VERSIONS_PACKED_LATER)
        known["versions"] |= {normal_form(migrated)}
    if version >= 3:
        known["sqlite_sequence"] = frozenset({normal_form(_SEQUENCE)})
    return known


def require_shape(connection: sqlite3.Connection, path: Path, shape: Shape) -> None:
    """Refuse a file that has anything which this program does not make, or has not all that it makes.

    Raises:
        ProjectError: names what is strange or missing.
    """
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
    strange, there = [], set()
    for kind, name, table, sql in rows:
        if sql is None and kind == "index" and str(name).startswith("sqlite_autoindex_"):
            continue  # what SQLite makes for a key of a table, which is looked at itself
        if _is_known(shape, kind, name, table, sql):
            there.add(name)
        else:
            strange.append(f"the {kind} {_shown(name)}")
    if strange:
        raise _foreign(path, strange)
    if missing := [name for name in shape if name not in there]:
        raise damaged(path, f"It has no {_listed([_shown(name) for name in missing])}")


def require_soundness(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file whose pages do not form the trees that they should; linear in the file.

    A damaged page would be noticed only when it is met, by an edit perhaps. And pages that lie in several trees, or in
    one several times, hold rows without end.

    Raises:
        ProjectError: says what is wrong first.
    """
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise damaged(path, _shown(" ".join(found.split())))


def normal_form(sql: str) -> str:
    """Write a statement with one space between its words, and without comments."""
    return " ".join(word[0] for word in _WORDS.finditer(sql) if word["left"] is None)


def _by_name(text: str) -> dict[str, str]:
    return {made[2]: statement for statement in tables.parts(text) if (made := _MADE.search(statement))}


def _is_known(shape: Shape, kind: str, name: str, table: str, sql: str | None) -> bool:
    if sql is None or len(sql) > _LONGEST_STATEMENT:
        return False
    form = normal_form(sql)
    made = _MADE.match(form)
    is_named_so = made is not None and (kind, name, table) == (made[1].lower(), made[2], made[3] or made[2])
    return is_named_so and form in shape.get(name, ())


def _shown(name: object) -> str:
    text = str(name)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _foreign(path: Path, strange: list[str]) -> ProjectError:
    return ProjectError(
        f"{path.name} holds what METL Workbench does not make.",
        f"Strange in it: {_listed(strange)}. Nothing else of it was read.",
        "Ask who sent it, or copy a backup over it. What another program added can be taken out with sqlite3.",
    )
