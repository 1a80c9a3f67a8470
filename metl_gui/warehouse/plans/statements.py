"""Steps of a plan: statements as expressions, which become text in the dialect of a database only when they are run.

Columns that plans add to those of messages begin with an underscore, with which no column of a history begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

import msgspec
import sqlglot
from sqlglot import exp

from metl_gui.warehouse.plans.dialects import FIRST, POSTGRES, SORT_KEY, written

WRITTEN_IN = "duckdb"
"""The dialect in which plans are written; they keep to what ``dialects`` has words for in those of all targets."""

Does: TypeAlias = Literal["prepare", "insert", "update", "remove"]


class Step(msgspec.Struct, frozen=True):
    """One statement of a plan.

    Args:
        title: what it does, for people.
        statement: text in the dialect ``WRITTEN_IN``.
        table: the table that it changes; empty for one of the load's own.
        does: what becomes of the rows that it counts.
        made: what its rows go into, where a later step needs to know whether there are any.
        needs: what such a step made; where that was nothing, this one is left out, or does what is said next.
        otherwise: the statement that does the same where that was nothing; empty where it would change nothing.
        near: columns of the query of an insert: rows that are equal in them are read together later, and are to lie
            near each other where a database keeps rows in order of arrival.
        is_changed: rows of the table that it makes are changed later, few columns of each; a database that writes a
            changed row anew is to have room for it beside the one that was there.
        unlike: columns of the table that it makes whose texts hardly repeat; a database that packs columns is to pack
            them as running text.
    """

    title: str
    statement: str
    table: str = ""
    does: Does = "prepare"
    made: str = ""
    needs: str = ""
    otherwise: str = ""
    near: tuple[str, ...] = ()
    is_changed: bool = False
    unlike: tuple[str, ...] = ()

    def without_needed(self) -> Step | None:
        """Return what is done where what it needs was made of nothing; ``None`` where nothing is to be done."""
        return msgspec.structs.replace(self, statement=self.otherwise) if self.otherwise else None

    def sql(self, dialect: str) -> str:
        """Return its text in the dialect of a database."""
        return self.statement if dialect == WRITTEN_IN else in_dialect(self._for(dialect), dialect)

    def readable(self, dialect: str) -> str:
        """Return its text in the dialect of a database as people read it."""
        return written(parsed(self._for(dialect)), dialect, is_pretty=True)

    def _for(self, dialect: str) -> str:
        """Return it with what one database wants: PostgreSQL keeps rows in order of arrival, and indexes places.

        Rows that are to lie near each other are inserted there by the hashes of their values, which are sorted in a
        fraction of the time that texts take. The lowest bits come first: they tell the place in an index of hashes, so
        that places are visited about one after the other. A changed row that finds room beside the one that was there
        needs no new entry in indexes, if no column of any changed.
        """
        if dialect != POSTGRES:
            return self.statement
        if self.is_changed:
            return f"{self.statement} WITH (fillfactor = {_FILLED_PERCENT})"
        hashes = [f"HASHTEXT({name(column)})" for column in self.near]
        order = ", ".join([*(f"{one} & {_LOW_BITS}" for one in hashes), *hashes])
        return f"{self.statement} ORDER BY {order}" if order else self.statement


_FILLED_PERCENT = 85
"""How full a page is made by inserts where its rows change later."""

_LOW_BITS = 2**16 - 1


@lru_cache(maxsize=4096)
def in_dialect(statement: str, dialect: str) -> str:
    """Return a statement in the dialect of a database."""
    return written(parsed(statement), dialect)


def parsed(statement: str) -> exp.Expr:
    """Return the expression of a statement."""
    return sqlglot.parse_one(statement, read=WRITTEN_IN)


SO_FAR = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
"""The rows of a window up to the one that is looked at."""


def name(*parts: str) -> str:
    """Return an identifier in quotes, qualified by the parts before the last."""
    return ".".join(map(_quoted, parts))


@lru_cache(maxsize=4096)
def _quoted(part: str) -> str:
    return exp.to_identifier(part, quoted=True).sql(dialect=WRITTEN_IN)


def names(columns: Iterable[str], of: str = "") -> str:
    """Return identifiers with commas between, each behind the alias of its table."""
    return ", ".join(name(*([of] if of else []), column) for column in columns)


def text(value: str) -> str:
    """Return a literal."""
    return exp.Literal.string(value).sql(dialect=WRITTEN_IN, copy=False)


def retype_column(table: str, column: str, type_: str, value: str) -> str:
    """Return the statement that gives a column another type, in which an expression gives its values."""
    return f"ALTER TABLE {name(table)} ALTER COLUMN {name(column)} SET DATA TYPE {type_} USING {value}"


def first_of(value: str, order: Sequence[str], where: str = "") -> str:
    """Return the aggregate for the first value in an order.

    Args:
        value: expression for it.
        order: expressions, of which ``DESC`` follows those that count from the last; nulls come last of all.
        where: condition of what is looked at; empty for everything.
    """
    condition = f" FILTER (WHERE {where})" if where else ""
    places = (
        one.removesuffix(" DESC") + (", 'DESC NULLS LAST'" if one.endswith(" DESC") else ", 'ASC NULLS LAST'")
        for one in order
    )
    return f"{FIRST}({value}, {SORT_KEY}({', '.join(places)})){condition}"


def joined(columns: Sequence[str], one: str, other: str) -> str:
    """Return the condition that two tables agree in columns that hold no null."""
    return " AND ".join(f"{name(one, column)} = {name(other, column)}" for column in columns)


def differ(columns: Sequence[str], one: str, other: str) -> str:
    """Return the condition that two tables differ in some column, where null equals null."""
    return " OR ".join(f"{name(one, column)} IS DISTINCT FROM {name(other, column)}" for column in columns) or "FALSE"


def temporary(table: str, query: str, title: str, needs: str = "", otherwise: str = "") -> Step:
    """Return the step that keeps the rows of a query for the steps that follow.

    Args:
        table: its name.
        query: for the rows.
        title: as of the step.
        needs: as of the step; without ``otherwise`` only for a table that no step reads but those which need it.
        otherwise: the query for the rows where what it needs was made of nothing.
    """
    return _kept("TABLE", table, query, title, needs, otherwise, made=table)


def viewed(table: str, query: str, title: str, needs: str = "", otherwise: str = "") -> Step:
    """Return the step that lets those that follow read the rows of a query, which nobody needs the number of.

    Args:
        table: its name, which is never that of a table of ``temporary``.
        query: for the rows; what it reads stays as it is while somebody reads them.
        title: as of the step.
        needs: as of the step, with ``otherwise`` alone: who reads the rows has to find some.
        otherwise: as of ``temporary``.
    """
    return _kept("VIEW", table, query, title, needs, otherwise)


def _kept(what: str, table: str, query: str, title: str, needs: str, otherwise: str, made: str = "") -> Step:
    create = f"CREATE OR REPLACE TEMPORARY {what} {name(table)} AS "
    return Step(title, create + query, made=made, needs=needs, otherwise=otherwise and create + otherwise)
