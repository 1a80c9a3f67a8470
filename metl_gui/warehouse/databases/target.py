"""What loads and audits need of a database that holds a warehouse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, Self

from metl_gui.errors import UserError
from metl_gui.warehouse.plans.access_plan import Declared, Grant
from metl_gui.warehouse.plans.index_plan import Index
from metl_gui.warehouse.plans.statements import Step


class TargetError(UserError):
    """A target cannot be opened or written."""


class ConnectionLostError(TargetError):
    """The connection was lost within a transaction, of which nothing stands."""


class CommitUnknownError(TargetError):
    """The connection was lost while a transaction was committed: whether it stands must be looked up."""


class WarehouseTarget(Protocol):
    """A connection to a database that holds a warehouse.

    Statements are given in the dialect in which plans are written, with ``?`` for values.
    """

    @property
    def title(self) -> str:
        """Return what people call it."""
        ...

    def __enter__(self) -> Self:
        """Return itself."""
        ...

    def __exit__(self, *_: object) -> None:
        """Let go of the database."""
        ...

    def close(self) -> None:
        """Let go of the database."""
        ...

    def reopen(self) -> None:
        """Connect anew, and wait until a transaction that was lost on the way has ended."""
        ...

    def run(self, statement: str, values: Sequence[object] = ()) -> int:
        """Run a statement and return how many rows it changed."""
        ...

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        ...

    def step(self, step: Step) -> int:
        """Run a step and return how many rows it changed."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Run what follows as one, while no other load writes: all of it stands, or nothing."""
        ...

    def has_table(self, table: str) -> bool:
        """Return whether there is a table."""
        ...

    def columns(self, table: str) -> dict[str, str]:
        """Return the columns of a table in order, with their types as plans write them; none where there is none."""
        ...

    def retype(self, table: str, column: str, type_: str, value: str) -> None:
        """Give a column another type.

        Args:
            table: its table, of which no view takes the column.
            column: its name.
            type_: as plans write it.
            value: the expression for its values in that type.
        """
        ...

    def read_parts(
        self,
        table: str,
        paths: Sequence[str],
        columns: Sequence[tuple[str, str]],
        heads: Mapping[str, str] | None = None,
    ) -> None:
        """Make a temporary table of staged Parquet parts; columns that a part does not have are empty.

        Args:
            table: its name.
            paths: of the parts.
            columns: names and types of the table.
            heads: by column, what comes before each of its texts.
        """
        ...

    def unfit(self, columns: Sequence[str]) -> dict[str, str]:
        """Return conditions, by column of text, that a value has something in it which the database cannot hold."""
        ...

    def index(self, wanted: Sequence[Index]) -> None:
        """Make the indexes that are missing, where the database gains by them."""
        ...

    def check_roles(self, roles: Sequence[str]) -> None:
        """Refuse roles that there are none of, where the database has roles."""
        ...

    def grant(self, wanted: Sequence[Grant]) -> None:
        """Let roles read tables that they may not read yet, where the database has roles."""
        ...

    def additions(self, known: Declared) -> tuple[str, ...]:
        """Return the statements that make again what people added to tables, where the database can tell."""
        ...

    def add_again(self, statements: Sequence[str]) -> None:
        """Make again what people added to tables, where its columns are still there."""
        ...

    def set_views_aside(self, known: Declared) -> tuple[tuple[str, str], ...]:
        """Drop the views that people made of tables, where these stand in the way of tables that change.

        Returns:
            What makes them again, each statement with the name of what it is about.
        """
        ...

    def make_views(self, statements: Sequence[tuple[str, str]]) -> None:
        """Make again the views that were set aside.

        Raises:
            TargetError: one does not fit the tables any more.
        """
        ...


def has_columns(target: WarehouseTarget, table: str, *columns: str) -> bool:
    """Return whether there is a table, and has some columns."""
    known = target.columns(table)
    return bool(known) and all(column in known for column in columns)
