"""Who may read tables of PostgreSQL, and what people have added to tables that a rebuild makes anew.

Source: docs/guide/warehouse.md, "In PostgreSQL".
"""

from __future__ import annotations

from collections.abc import Sequence

from metl_gui.core.dimensional.models.grants import PUBLIC
from metl_gui.warehouse.plans.access_plan import Grant
from metl_gui.warehouse.plans.dialects import fitted
from metl_gui.warehouse.plans.statements import name

_GRANTEE = "CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END"
_AGAIN = "CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END"
_TABLES = "pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
_LISTED = "n.nspname = $1 AND c.relname = ANY($2)"

MISSING_ROLES = "SELECT r FROM unnest($1::text[]) AS r WHERE NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = r)"
"""Which of some roles there are none of."""

READABLE = f"""SELECT c.relname, COALESCE(pg_get_userbyid(NULLIF(a.grantee, 0))::text, '{PUBLIC}')
    FROM {_TABLES}, aclexplode(c.relacl) AS a WHERE {_LISTED} AND a.privilege_type = 'SELECT'"""
"""Tables and the roles that may read them."""

KEPT = (
    f"""SELECT format('GRANT %s ON TABLE %I.%I TO %s%s', a.privilege_type, n.nspname, c.relname, {_GRANTEE}, {_AGAIN})
    FROM {_TABLES}, aclexplode(c.relacl) AS a WHERE {_LISTED} AND a.grantee <> c.relowner
      AND NOT (a.privilege_type = 'SELECT' AND c.relname || ' ' ||
        COALESCE(pg_get_userbyid(NULLIF(a.grantee, 0))::text, '{PUBLIC}') = ANY($3))""",
    f"""SELECT format('GRANT %s (%I) ON TABLE %I.%I TO %s%s', a.privilege_type, t.attname, n.nspname, c.relname,
      {_GRANTEE}, {_AGAIN})
    FROM {_TABLES} JOIN pg_attribute AS t ON t.attrelid = c.oid, aclexplode(t.attacl) AS a
    WHERE {_LISTED} AND cardinality($3::text[]) >= 0""",
    f"""SELECT format('COMMENT ON %s %I.%I IS %L', CASE c.relkind WHEN 'v' THEN 'VIEW'
      WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END, n.nspname,
      c.relname, d.description)
    FROM {_TABLES} JOIN pg_description AS d ON d.objoid = c.oid AND d.classoid = 'pg_class'::regclass
    WHERE {_LISTED} AND d.objsubid = 0 AND cardinality($3::text[]) >= 0""",
    f"""SELECT format('COMMENT ON COLUMN %I.%I.%I IS %L', n.nspname, c.relname, t.attname, d.description)
    FROM {_TABLES} JOIN pg_description AS d ON d.objoid = c.oid AND d.classoid = 'pg_class'::regclass
      JOIN pg_attribute AS t ON t.attrelid = c.oid AND t.attnum = d.objsubid
    WHERE {_LISTED} AND d.objsubid > 0 AND cardinality($3::text[]) >= 0""",
)
"""Statements that make again what people did to tables; grants that the model declares are left out."""

INDEXES = f"""SELECT c.relname, x.relname, pg_get_indexdef(i.indexrelid), COALESCE(array_agg(t.attname::text
      ORDER BY k.place) FILTER (WHERE t.attname IS NOT NULL), '{{}}')
    FROM {_TABLES} JOIN pg_index AS i ON i.indrelid = c.oid JOIN pg_class AS x ON x.oid = i.indexrelid
    CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k (number, place)
    LEFT JOIN pg_attribute AS t ON t.attrelid = c.oid AND t.attnum = k.number AND k.number > 0
    WHERE {_LISTED} GROUP BY c.relname, x.relname, i.indexrelid"""
"""The indexes of tables: table, name, the statement that makes it, and its columns."""

GONE = ("42703", "42P01", "42704")
"""States of errors that say that a column, a table or a role is no longer there."""


def missing_grants(wanted: Sequence[Grant], readable: Sequence[tuple[str, str]], schema: str) -> list[str]:
    """Return the statements for grants that are not there yet, and for the schema that they need.

    Args:
        wanted: that are declared.
        readable: tables with the roles that may read them.
        schema: of the warehouse.
    """
    known = set(readable)
    new = [one for one in wanted if (fitted(one.table), _known_as(one.role)) not in known]
    roles = dict.fromkeys(_quoted(one.role) for one in new)
    return [
        *(f"GRANT USAGE ON SCHEMA {name(schema)} TO {role}" for role in roles),
        *(f"GRANT SELECT ON TABLE {name(schema, fitted(one.table))} TO {_quoted(one.role)}" for one in new),
    ]


def declared_grants(wanted: Sequence[Grant]) -> list[str]:
    """Return grants as ``KEPT`` tells them from those of people."""
    return [f"{fitted(one.table)} {_known_as(one.role)}" for one in wanted]


def _known_as(role: str) -> str:
    return PUBLIC if role.lower() == PUBLIC else role


def _quoted(role: str) -> str:
    return "PUBLIC" if role.lower() == PUBLIC else name(role)
