"""Mapping tables that others made: which of their columns is what, guessed from titles and from what a project has."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path

from metl_gui.core.matrix.document import Document
from metl_gui.core.project.table_columns import TableColumns, TableHead, guess_columns
from metl_gui.core.trees.nodes import Side
from metl_gui.registry.tables.foreign_table import LEAST_COLUMNS, read_head
from metl_gui.registry.tables.mapping_table import COLUMNS
from metl_gui.values import Value


class ForeignTable(Value):
    """A table of another shape.

    Args:
        path: the file.
        head: its titles and first rows.
        guess: what its columns are likely to be.
    """

    path: Path
    head: TableHead
    guess: TableColumns


def foreign_head(path: Path) -> TableHead | None:
    """Return the head of a table that has not the columns of a mapping table, but enough of them to be one.

    Raises:
        SchemaError: it is no table, or has too few columns once those of one title are left out.
    """
    head = read_head(path)
    return None if head.is_mapping or len(head.titles) < LEAST_COLUMNS or not head.rows else head


def foreign_table(path: Path, document: Document) -> ForeignTable | None:
    """Guess what the columns of a table of another shape are; ``None`` for one that is read as it is, or is none.

    Raises:
        SchemaError: it is no table.
    """
    head = foreign_head(path)
    return None if head is None else ForeignTable(path, head, guess_columns(head, _known(document, head)))


def _known(document: Document, head: TableHead) -> dict[str, AbstractSet[str]]:
    """Return what the project has of the names in the first rows: schemas, and the labels and paths of these."""
    cells = {cell for row in head.rows for cell in row}
    known: dict[str, AbstractSet[str]] = {}
    for side, (name, version, attribute) in zip(Side, (COLUMNS[:3], COLUMNS[3:]), strict=True):
        tree = document.tree(side)
        named: Mapping[str, int] = {cell: found.id for cell in cells if (found := tree.named(cell)) is not None}
        versions = [each for id_ in set(named.values()) for each in tree.versions(id_)]
        known[name] = named.keys()
        known[version] = {each.label for each in versions}
        known[attribute] = {a.path for each in versions for a in each.attributes}
    return known
