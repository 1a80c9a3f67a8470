"""Packed rows: the attributes of a version and the blocks of a group as one blob each, and interned texts.

Texts, types and people are written once and named by number in the blobs; none is ever deleted. An attribute is five
little-endian 32-bit integers, read as columns. What is known of the blocks of one schema and entity version has a row
of fixed size for each version.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from itertools import starmap
from struct import Struct
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.matrix.blocks import Block, Status, Verdict
from metl_gui.core.trees.nodes import Attribute
from metl_gui.core.trees.trees import TextTable, TypeFacts

Rows: TypeAlias = NDArray[np.int32]
_NOBODY = 0
_SPARE = 1_000
"""Numbers are given one after the other and never taken back; so many may be missing all the same."""


class Interned:
    """Numbers of texts, types and people within one transaction; what is new is added.

    Args:
        connection: in a transaction that writes.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._texts: dict[str, int] = {}
        self._types: dict[TypeFacts, int] = {}
        self._people: dict[str, int] = {"": _NOBODY}

    def text(self, text: str) -> int:
        """Return the number of a path or a documentation."""
        if text not in self._texts:
            find, add = "SELECT id FROM texts WHERE text = ?", "INSERT INTO texts (text) VALUES (?)"
            self._texts[text] = self._id(find, add, (text,))
        return self._texts[text]

    def type(self, type_: str, logical: str, scale: int | None) -> int:
        """Return the number of a type."""
        facts = TypeFacts(type_, logical, scale)
        if facts not in self._types:
            find = "SELECT id FROM types WHERE type = ? AND logical = ? AND scale IS ?"
            add = "INSERT INTO types (type, logical, scale) VALUES (?, ?, ?)"
            self._types[facts] = self._id(find, add, (type_, logical, scale))
        return self._types[facts]

    def person(self, name: str) -> int:
        """Return the number of a person, 0 for nobody."""
        if name not in self._people:
            find, add = "SELECT id FROM people WHERE name = ?", "INSERT INTO people (name) VALUES (?)"
            self._people[name] = self._id(find, add, (name,))
        return self._people[name]

    def _id(self, find: str, add: str, values: tuple[object, ...]) -> int:
        row = self._connection.execute(find, values).fetchone()
        found = row[0] if row is not None else self._connection.execute(add, values).lastrowid
        return int(found or 0)


def read_texts(connection: sqlite3.Connection) -> tuple[TextTable, Rows]:
    """Read every text, and the row of each number in what is returned; row 0 is the empty text."""
    rows = connection.execute("SELECT id, text FROM texts WHERE text <> '' ORDER BY id").fetchall()
    empty = connection.execute("SELECT id FROM texts WHERE text = '' AND id >= 0").fetchone()
    row_of = _rows_of([id_ for id_, _ in rows], 1, max(0, *(empty or (0,))))
    if empty is not None:
        row_of[empty[0]] = 0
    return TextTable.of(["", *(text for _, text in rows)]), row_of


def read_types(connection: sqlite3.Connection) -> tuple[tuple[TypeFacts, ...], Rows]:
    """Read every type, and the row of each number in what is returned."""
    rows = connection.execute("SELECT id, type, logical, scale FROM types ORDER BY id").fetchall()
    return tuple(TypeFacts(*facts) for _, *facts in rows), _rows_of([row[0] for row in rows], 0)


def read_people(connection: sqlite3.Connection) -> tuple[tuple[str, ...], Rows]:
    """Read every person, and the row of each number in what is returned; row 0 is nobody."""
    rows = connection.execute("SELECT id, name FROM people ORDER BY id").fetchall()
    row_of = _rows_of([row[0] for row in rows], 1)
    row_of[_NOBODY] = 0
    return ("", *(name for _, name in rows)), row_of


def rows_for(row_of: Rows, numbers: NDArray[np.integer], what: str) -> Rows:
    """Translate numbers to rows.

    Raises:
        ValueError: a number that stands for nothing.
    """
    if len(numbers) and (int(numbers.min()) < 0 or int(numbers.max()) >= len(row_of)):
        raise ValueError(f"a {what} that is not there")
    found: Rows = row_of[numbers]
    if len(found) and int(found.min()) < 0:
        raise ValueError(f"a {what} that is not there")
    return found


def _rows_of(ids: list[int], first: int, least: int = 0) -> Rows:
    most = max([least, *ids[-1:]])
    if most > 2 * len(ids) + _SPARE or min([0, *ids[:1]]) < 0:
        raise ValueError("numbers that were never given")
    row_of = np.full(most + 1, -1, np.int32)
    row_of[ids] = np.arange(first, first + len(ids))
    return row_of


FIELDS = 5
"""Id, lineage, text of the path, text of the documentation, and twice the type plus one when it is optional."""

SIZE_BYTES = 4 * FIELDS


def pack_attributes(attributes: Iterable[Attribute], interned: Interned) -> bytes:
    """Write the attributes of one version, in source order."""
    rows = [
        (a.id, a.lineage, interned.text(a.path), interned.text(a.doc), _type(a, interned) * 2 + a.optional)
        for a in attributes
    ]
    return np.array(rows, "<i4").tobytes()


def unpack_attributes(packs: bytes) -> NDArray[np.int32]:
    """Read the joined blobs of many versions.

    Shape: (number of attributes, ``FIELDS``).
    """
    return np.frombuffer(packs, "<i4").reshape(-1, FIELDS)


def _type(attribute: Attribute, interned: Interned) -> int:
    return interned.type(attribute.type, attribute.logical, attribute.scale)


RECORD = np.dtype(
    [
        ("version", "<i4"),
        ("came_version", "<i4"),
        ("came_entity_version", "<i4"),
        ("who", "<i4"),
        ("when_ms", "<i8"),
        ("status", "u1"),
        ("verdict", "u1"),
        ("flags", "<u2"),
    ]
)
"""One block; the entity version stands in its row, ``who`` is the number of a person, 0 in ``came_*`` means none."""

_RECORD = Struct("<iiiiqBBH")
"""The same for one block after the other."""

UNCONFIRMED = 1
"""The flag of a block that needs review and whose elements nobody has confirmed."""

STATUSES = (Status.UNCONFIRMED, Status.CONFIRMED, Status.NEEDS_REVIEW, Status.RETIRED)
VERDICTS = (Verdict.SAME, Verdict.SMALLER, Verdict.EMPTIED, Verdict.FIRST)
"""What the codes in a file mean; their order never changes, new ones are added at the end."""

_STATUS_CODE = {status: code for code, status in enumerate(STATUSES)}
_VERDICT_CODE = {verdict: code for code, verdict in enumerate(VERDICTS)}


def pack_blocks(blocks: Iterable[Block], interned: Interned) -> bytes:
    """Write the blocks of one group, by version id."""
    rows = []
    for block in sorted(blocks, key=lambda block: block.version):
        came_version, came_entity_version = block.came_from or (0, 0)
        codes = _STATUS_CODE[block.status], _VERDICT_CODE[block.verdict], UNCONFIRMED * block.unconfirmed
        who = interned.person(block.who)
        rows.append((block.version, came_version, came_entity_version, who, block.when_ms, *codes))
    return b"".join(starmap(_RECORD.pack, rows))


def unpack_blocks(packs: bytes) -> NDArray[Any]:
    """Read the joined blobs of many groups.

    Shape: one ``RECORD`` for each block.

    Raises:
        ValueError: half a record, or a code that means nothing.
    """
    found = np.frombuffer(packs, RECORD)
    if len(found) and (int(found["status"].max()) >= len(STATUSES) or int(found["verdict"].max()) >= len(VERDICTS)):
        raise ValueError("a status or verdict of a block that means nothing")
    return found
