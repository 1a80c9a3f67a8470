"""The newest document, read whole: both trees, and the dense set from the compact one (A4)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TypeAlias

from metl_gui.core.document import Document, Ids
from metl_gui.core.nodes import Side
from metl_gui.store.block_rows import read_matrix
from metl_gui.store.tree_rows import read_tree

Told: TypeAlias = Callable[[int, int], None]
"""Follows reading: (versions read, versions in all)."""


def told_nobody(_done: int, _total: int) -> None:
    """Follow nothing."""


def read_document(connection: sqlite3.Connection, state: int, told: Told) -> Document:
    """Read the newest document.

    Args:
        connection: to the file.
        state: its number.
        told: called with (versions read, versions in all); what it raises ends the reading.
    """
    total = int(connection.execute("SELECT count(*) FROM versions").fetchone()[0])
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        told(done, total)

    trees = {side: read_tree(connection, side, count) for side in Side}
    rows = connection.execute("SELECT side, schema, version, attribute, lineage FROM next_ids")
    ids = {Side(side): Ids(*numbers) for side, *numbers in rows}
    matrix = read_matrix(connection, trees[Side.EXTRACTION], trees[Side.CDM])
    return Document(state, trees[Side.EXTRACTION], trees[Side.CDM], matrix, ids[Side.EXTRACTION], ids[Side.CDM])
