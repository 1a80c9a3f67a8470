"""The tables of the soak: what is written into them, how that is counted, and what releases change about them.

Everything is written by functions in the database, one a table. In the same transaction they add what they changed to
``soak.ledger``, so the counts there are those of what is committed, whatever is killed. ``change`` numbers the inserts
and updates of a table, and no id comes again after its delete, so a change can be told from every other one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

PREFIX = "soak"
"""What the topics begin with."""
SHARES = {"inserts": 0.5, "updates": 0.42, "deletes": 0.08}
"""What becomes of a table's part of the rate."""
SPARES = 8
"""How many attributes of an entity wait for columns that releases add."""
_SPARE_VALUE = "CASE WHEN {c} % 5 = 0 THEN NULL ELSE '{name} ' || {c} END"


@dataclass(frozen=True, slots=True)
class Column:
    """A column as it is now.

    Args:
        type: as PostgreSQL writes it.
        value: what is written, of the id ``{n}`` and the number of the change ``{c}``.
        attribute: what it is mapped to.
        is_spare: releases may rename and drop it.
    """

    type: str
    value: str
    attribute: str
    is_spare: bool = False


@dataclass(frozen=True, slots=True)
class Release:
    """What a release does to a table.

    Args:
        table: its name.
        kind: ``add``, ``rename`` or ``drop``.
        before, after: names of the column; empty where it is not.
        attribute: what it is mapped to.
        sql: does it, and goes over to writing the table as it is then.
        is_new: the table was never like that before, so that its messages show a new version.
    """

    table: str
    kind: str
    before: str
    after: str
    attribute: str
    sql: str
    is_new: bool

    @property
    def says(self) -> str:
        """What it does, in words."""
        match self.kind:
            case "add":
                return f"{self.table} gets the column {self.after}"
            case "rename":
                return f"{self.table} has {self.after} where {self.before} was"
            case _:
                return f"{self.table} loses the column {self.before}"


@dataclass(slots=True)
class Table:
    """One table.

    Args:
        name: with its schema.
        entity: what its rows become.
        first: its ids begin behind this, so that tables of one entity share none.
        columns: those besides ``id`` and ``change``, by name.
    """

    name: str
    entity: str
    first: int
    columns: dict[str, Column]
    _spares: count[int] = field(default_factory=lambda: count(1))
    _known: set[tuple[str, ...]] = field(default_factory=set)

    @property
    def topic(self) -> str:
        """Where Debezium writes its changes."""
        return f"{PREFIX}.{self.name}"

    @property
    def attributes(self) -> dict[str, str]:
        """What each of its columns is mapped to."""
        return {"id": "id", "change": "change"} | {name: one.attribute for name, one in self.columns.items()}

    @property
    def function(self) -> str:
        """What writes it."""
        return f"soak.write_{self.name.replace('.', '_')}"

    def made(self) -> str:
        """Return the SQL that makes it."""
        columns = "".join(f", {name} {one.type}" for name, one in self.columns.items())
        schema = self.name.partition(".")[0]
        return (
            f"CREATE SCHEMA IF NOT EXISTS {schema};"
            f"CREATE TABLE {self.name} (id bigint PRIMARY KEY, change bigint NOT NULL{columns}) WITH (fillfactor = 70);"
            f"INSERT INTO soak.ledger (name) VALUES ('{self.name}');{self.written()}"
        )

    def written(self) -> str:
        """Return the SQL of the function that writes it as it is now; it returns how many rows it changed."""
        names = ", ".join(["id", "change", *self.columns])
        new = ", ".join(one.value.format(n="n", c="c", name=name) for name, one in self.columns.items())
        sets = "".join(
            f", {name} = {one.value.format(n='t.id', c='(base + t.id - lo)', name=name)}"
            for name, one in self.columns.items()
        )
        return _FUNCTION.format(
            function=self.function, table=self.name, first=self.first, names=names, new=new, sets=sets
        )

    def release(self, number: int, kind: str) -> Release:
        """Return a release, and take the table for released; without a spare column one is added instead."""
        self._known.add(tuple(self.columns))
        spares = [name for name, one in self.columns.items() if one.is_spare]
        if kind == "add" or not spares:
            name, attribute = f"x{number}", f"extra_{next(self._spares)}"
            self.columns[name] = Column("text", _SPARE_VALUE, attribute, is_spare=True)
            return self._released("add", "", name, attribute, f"ADD COLUMN {name} text")
        before = spares[-1]
        column = self.columns.pop(before)
        if kind == "drop":
            return self._released(kind, before, "", column.attribute, f"DROP COLUMN {before}")
        after = f"{before.partition('_')[0]}_{number}"
        self.columns[after] = column
        return self._released(kind, before, after, column.attribute, f"RENAME COLUMN {before} TO {after}")

    def _released(self, kind: str, before: str, after: str, attribute: str, action: str) -> Release:
        sql = f"BEGIN; LOCK TABLE soak.ledger; ALTER TABLE {self.name} {action};{self.written()} COMMIT;"
        return Release(self.name, kind, before, after, attribute, sql, tuple(self.columns) not in self._known)


LEDGER = """
CREATE SCHEMA soak;
CREATE TABLE soak.ledger (
    name text PRIMARY KEY, ids bigint NOT NULL DEFAULT 0, changes bigint NOT NULL DEFAULT 0,
    inserted bigint NOT NULL DEFAULT 0, updated bigint NOT NULL DEFAULT 0, deleted bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);
"""
_FUNCTION = """
CREATE OR REPLACE FUNCTION {function}(inserts bigint, updates bigint, deletes bigint) RETURNS bigint
LANGUAGE plpgsql AS $soak$
DECLARE
    known soak.ledger; base bigint; lo bigint; updated_rows bigint; deleted_rows bigint;
BEGIN
    SELECT * INTO STRICT known FROM soak.ledger WHERE name = '{table}' FOR UPDATE;
    INSERT INTO {table} ({names})
        SELECT n, c, {new} FROM (
            SELECT {first} + known.ids + i AS n, known.changes + i AS c FROM generate_series(1, inserts) i
        ) made;
    -- More often rows that are new than old ones.
    lo := {first} + 1 + floor((known.ids + inserts) * (1 - random() ^ 2));
    base := known.changes + inserts + 1;
    UPDATE {table} t SET change = base + t.id - lo{sets} WHERE id BETWEEN lo AND lo + updates - 1;
    GET DIAGNOSTICS updated_rows = ROW_COUNT;
    lo := {first} + 1 + floor((known.ids + inserts) * random());
    DELETE FROM {table} WHERE id BETWEEN lo AND lo + deletes - 1;
    GET DIAGNOSTICS deleted_rows = ROW_COUNT;
    UPDATE soak.ledger SET
        ids = ids + inserts, changes = changes + inserts + updates,
        inserted = inserted + inserts, updated = updated + updated_rows, deleted = deleted + deleted_rows
    WHERE name = '{table}';
    RETURN inserts + updated_rows + deleted_rows;
END $soak$;
"""


def tables() -> tuple[Table, ...]:
    """Return the tables as they are at first: four, of which two become one entity."""
    note = Column("text", _SPARE_VALUE, "note", is_spare=True)
    name = Column("text NOT NULL", "'name ' || {n}", "name")
    amount = Column("numeric(12,2) NOT NULL", "({c} % 1000000) / 100.0", "amount")
    return (
        Table(
            "crm.person",
            "party",
            0,
            {"name": name, "email": Column("text", "{n} || '@example.org'", "email"), "note": note},
        ),
        Table(
            "crm.company",
            "party",
            1 << 40,
            {"name": name, "mailbox": Column("text", "'office@' || {n}", "email"), "note": note},
        ),
        Table(
            "sales.orders",
            "order",
            0,
            {
                "customer": Column("bigint", "1 + {n} % 1000", "party"),
                "amount": amount,
                "state": Column("text", "(ARRAY['new', 'paid', 'sent'])[1 + {c} % 3]", "status"),
                "placed": Column("timestamptz", "'2026-01-01Z'::timestamptz + {c} * interval '1 second'", "placed"),
                "note": note,
            },
        ),
        Table(
            "billing.payment",
            "payment",
            0,
            {"order_id": Column("bigint", "{n}", "order"), "amount": amount, "note": note},
        ),
    )
