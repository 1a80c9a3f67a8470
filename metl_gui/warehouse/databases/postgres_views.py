"""Views that people made of the tables of a warehouse in PostgreSQL, which stand in the way of a table that changes.

A view whose triggers, rules or defaults people added is left where it is: it could not be made again as it was. So is
one in a schema where the login may make none, or that only lives as long as somebody's session.

Source: docs/guide/warehouse.md, "In PostgreSQL".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from metl_gui.warehouse.databases.postgres_access import INDEXES, KEPT
from metl_gui.warehouse.plans.statements import name

Fetch: TypeAlias = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]

_VIEWS = """WITH RECURSIVE found (oid, depth) AS (
      SELECT c.oid, 0 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relname = ANY($2)
      UNION
      SELECT r.ev_class, f.depth + 1 FROM found AS f
      JOIN pg_depend AS d ON d.refobjid = f.oid AND d.refclassid = 'pg_class'::regclass
        AND d.classid = 'pg_rewrite'::regclass
      JOIN pg_rewrite AS r ON r.oid = d.objid AND r.ev_class <> f.oid)
    SELECT n.nspname, c.relname, c.relkind = 'm', NULLIF(pg_get_userbyid(c.relowner), current_user),
      COALESCE(' WITH (' || array_to_string(c.reloptions, ', ') || ')', '') || ' AS ' ||
        rtrim(pg_get_viewdef(c.oid), ';') || CASE WHEN c.relispopulated THEN '' ELSE ' WITH NO DATA' END
    FROM (SELECT oid, MAX(depth) AS depth FROM found GROUP BY oid) AS f JOIN pg_class AS c ON c.oid = f.oid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('v', 'm') AND NOT (n.nspname = $1 AND c.relname = ANY($2))
      AND c.relpersistence <> 't' AND has_schema_privilege(n.oid, 'CREATE')
      AND NOT EXISTS (SELECT 1 FROM pg_trigger AS t WHERE t.tgrelid = c.oid)
      AND NOT EXISTS (SELECT 1 FROM pg_rewrite AS r WHERE r.ev_class = c.oid AND r.rulename <> '_RETURN')
      AND NOT EXISTS (SELECT 1 FROM pg_attrdef AS a WHERE a.adrelid = c.oid)
    ORDER BY f.depth, n.nspname, c.relname"""
"""Views of tables and of views of these, each behind those that it is made of."""


class View(NamedTuple):
    """A view that people made.

    Args:
        schema, name: of it.
        is_materialized: it holds rows.
        owner: whose it is; ``None`` for who asks.
        definition: what stands behind its name where it is made.
    """

    schema: str
    name: str
    is_materialized: bool
    owner: str | None
    definition: str

    @property
    def title(self) -> str:
        """Return its name with its schema."""
        return f"{self.schema}.{self.name}"

    @property
    def dropped(self) -> str:
        """Return the statement that drops it."""
        return f"DROP {self._said}"

    @property
    def made(self) -> str:
        """Return the statement that makes it."""
        return f"CREATE {self._said}{self.definition}"

    @property
    def given(self) -> str | None:
        """Return the statement that gives it to whom it belongs."""
        return f"ALTER {self._said} OWNER TO {name(self.owner)}" if self.owner is not None else None

    @property
    def _said(self) -> str:
        return f"{'MATERIALIZED VIEW' if self.is_materialized else 'VIEW'} {name(self.schema, self.name)}"


def views_of(fetch: Fetch, schema: str, tables: Sequence[str]) -> list[View]:
    """Return the views that people made of tables, each behind those that it is made of.

    Args:
        fetch: asks the database.
        schema: of the tables.
        tables: their names as the database has them, with those of the views that are ours.
    """
    return [View(*row) for row in fetch(_VIEWS, [schema, list(tables)])]


def making(fetch: Fetch, views: Sequence[View]) -> Iterator[tuple[str, str]]:
    """Yield the statements that make views again, as they stand now: with rows, indexes, comments, grants and owners.

    Yields:
        What the statement is about, and the statement.
    """
    yield from ((one.title, one.made) for one in views)
    for schema in dict.fromkeys(one.schema for one in views):
        listed = [schema, [one.name for one in views if one.schema == schema]]
        yield from ((f"{schema}.{view}", made) for view, _, made, _ in fetch(INDEXES, listed))
        yield from ((f"a view of {schema}", row[0]) for query in KEPT for row in fetch(query, [*listed, []]))
    yield from ((one.title, one.given) for one in views if one.given is not None)
