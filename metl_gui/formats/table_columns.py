"""Columns of a table whose rows are read as a whole, and what the schema of their topic says of them."""

from __future__ import annotations

from enum import StrEnum

from metl_gui.values import Value


class Form(StrEnum):
    """How a database is asked for a column's text."""

    TEXT = "text"
    """As it prints it."""
    NUMBER = "number"
    """As a number without a currency."""
    JSON = "json"
    """As JSON."""


class TableColumn(Value):
    """One column.

    Args:
        name: in the table.
        native: its type in PostgreSQL, as ``pg_type.typname``: ``int4``, ``_text`` for an array of texts; of a domain
            the type below it.
        type, logical, scale, optional: of the attribute (``trees.nodes.Attribute``).
    """

    name: str
    native: str
    type: str
    logical: str = ""
    scale: int | None = None
    optional: bool = True

    @property
    def form(self) -> Form:
        """How the database is asked for it."""
        if self.native == "money":
            return Form.NUMBER
        return Form.JSON if self.native == "hstore" or self.native.startswith("_") else Form.TEXT
