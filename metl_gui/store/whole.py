"""The newest document, read whole: both trees, and the dense set from the compact one (A4)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import astuple
from typing import TypeAlias

from metl_gui.core.matrix.document import Document, Ids
from metl_gui.core.trees.nodes import Side
from metl_gui.store.block_rows import read_matrix
from metl_gui.store.tree_rows import read_tree

_MOST_IDS = 2**31 - 1
"""What columns of 32 bits hold."""

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
    # The condition makes it a query of many steps: a bare count is one, in which nothing can be cancelled.
    total = int(connection.execute("SELECT count(*) FROM versions WHERE id > 0").fetchone()[0])
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        told(done, total)

    trees = {side: read_tree(connection, side, count) for side in Side}
    rows = connection.execute("SELECT side, schema, version, attribute, lineage FROM next_ids")
    ids = {Side(side): Ids(*numbers) for side, *numbers in rows}
    if any(not 0 < number <= _MOST_IDS for each in ids.values() for number in astuple(each)):
        raise ValueError("next ids that can never be")
    matrix = read_matrix(connection, trees[Side.EXTRACTION], trees[Side.CDM])
    return Document(state, trees[Side.EXTRACTION], trees[Side.CDM], matrix, ids[Side.EXTRACTION], ids[Side.CDM])
