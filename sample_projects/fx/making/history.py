"""What a table is and how it changes: columns, and the steps that one ALTER TABLE each makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from making.dice import Dice

Maker: TypeAlias = Callable[[Dice], str]


@dataclass(frozen=True)
class Column:
    """One column: its name, its type with constraints, and what throws its values."""

    name: str
    type: str
    maker: Maker
    external: bool = False
    """Whether large values go out of line uncompressed (so that they are left out of updates)."""


@dataclass(frozen=True)
class Add:
    """ADD COLUMN."""

    column: Column

    def sql(self) -> str:
        """Return the clause."""
        return f'ADD COLUMN "{self.column.name}" {self.column.type}'

    def apply(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """Return the columns afterwards."""
        return (*columns, self.column)


@dataclass(frozen=True)
class Drop:
    """DROP COLUMN."""

    name: str

    def sql(self) -> str:
        """Return the clause."""
        return f'DROP COLUMN "{self.name}"'

    def apply(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """Return the columns afterwards."""
        return tuple(column for column in columns if column.name != self.name)


@dataclass(frozen=True)
class Rename:
    """RENAME COLUMN."""

    old: str
    new: str

    def sql(self) -> str:
        """Return the clause."""
        return f'RENAME COLUMN "{self.old}" TO "{self.new}"'

    def apply(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """Return the columns afterwards."""
        return tuple(replace(column, name=self.new) if column.name == self.old else column for column in columns)


@dataclass(frozen=True)
class Retype:
    """ALTER COLUMN ... TYPE, with new values where the old ones do not fit."""

    name: str
    type: str
    using: str = ""
    maker: Maker | None = None

    def sql(self) -> str:
        """Return the clause."""
        return f'ALTER COLUMN "{self.name}" TYPE {self.type}' + (f" USING {self.using}" if self.using else "")

    def apply(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """Return the columns afterwards."""
        return tuple(
            replace(column, type=self.type, maker=self.maker or column.maker) if column.name == self.name else column
            for column in columns
        )


Step: TypeAlias = Add | Drop | Rename | Retype


@dataclass(frozen=True)
class Table:
    """A table of one service, its first version, and the steps to each later one.

    Args:
        name: table name; its schema is the service.
        columns: the columns of version 1.
        key: names of the key columns in version 1, none for a table without key.
        steps: for each later version, the steps that make it, run in one transaction.
        rows: rows that are there before the engine starts.
        changes: changes over all phases together.
        full: whether the table has REPLICA IDENTITY FULL.
        truncated_at: the phases that end with a TRUNCATE.
        key_changes_at: the phases in which a row gets another key.
        time_zone: where its columns of the type ``timestamp`` hold, empty where it has none.
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    steps: tuple[tuple[Step, ...], ...]
    rows: int
    changes: int
    full: bool = False
    truncated_at: tuple[int, ...] = ()
    key_changes_at: tuple[int, ...] = ()
    time_zone: str = ""

    def columns_at(self, version: int) -> tuple[Column, ...]:
        """Return the columns of a version, counted from 1."""
        columns = self.columns
        for steps in self.steps[: version - 1]:
            for step in steps:
                columns = step.apply(columns)
        return columns

    def key_at(self, version: int) -> tuple[str, ...]:
        """Return the names of the key columns at a version."""
        key = self.key
        for steps in self.steps[: version - 1]:
            for step in steps:
                if isinstance(step, Rename):
                    key = tuple(step.new if name == step.old else name for name in key)
        return key

    @property
    def versions(self) -> int:
        """How many versions the table has in the end."""
        return len(self.steps) + 1


@dataclass(frozen=True)
class Service:
    """One service with a database of its own.

    Args:
        name: of the service, its database and its PostgreSQL schema.
        decimals: how its connector writes decimals in JSON, NUMERIC or BASE64.
        tables: the tables.
    """

    name: str
    decimals: str
    tables: tuple[Table, ...] = field(default=())

    @property
    def phases(self) -> int:
        """How many deployments its history has."""
        return max(table.versions for table in self.tables)
