"""Indexes and grants: what a model declares of tables, and what people added to them, through rebuilds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from metl_gui.core.warehouse_model import Column, Dates, Junk, Model, Periodic, Reference
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.databases.target import TargetError
from metl_gui.warehouse.loader import Loader
from metl_gui.warehouse.plans.index_plan import indexes
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import ModelError, TableShapes
from metl_gui.warehouse.plans.statements import name
from tests.unit.warehouse.conftest import new_schema
from tests.unit.warehouse.orders import DAYS, OWNER, STATUS, load_orders, order, order_fact
from tests.unit.warehouse.test_attribute_changes import every, load, thing
from tests.unit.warehouse.worlds import ORDER, PERSON, parse, person_dimension

Login = dict[str, Any]
Columns = tuple[tuple[str, ...], ...]
FLAGS = Junk(name="flags", of="order", columns=("status",))
RUSH = Column(name="rush", path="rush")
DAILY = Periodic(name="order_day", of="order", every="day", columns=("fee",))
ON_DAY = Reference(dimension="day", on="event_time")
OTHER = Dates(name="other", first="2026-01-01", last="2026-01-02")
"""Days that nothing refers to."""
MESSAGES = [order(1, "c", fee=1, status="new", rush="y"), order(2, "c", no=2, fee=1, status="done", rush="n")]


def tables(role: str = "", of_person: Columns = (), of_order: Columns = ()) -> TableShapes:
    """Return tables that a role may read, of which the dimension has indexes, and the fact others."""
    granted = (f"select to {role}",) if role else ()
    person = person_dimension(grants=granted, indexes=of_person)
    fact = order_fact(grants=granted, indexes=of_order, degenerate=(STATUS, RUSH), references=(ON_DAY,))
    return shapes(Model(name="world", tables=(person, fact, FLAGS, DAILY, DAYS, OTHER)), [PERSON, ORDER], parse)


class Server:
    """A schema of a server, and who looks at it."""

    def __init__(self, login: Login) -> None:
        self.login, self.schema = login, new_schema()
        self.owner = psycopg.connect(**login, autocommit=True)

    def open(self) -> PostgreSql:
        return PostgreSql(self.login, self.schema, "the warehouse")

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self.owner.execute(query.encode(), values).fetchall()

    def run(self, statement: str) -> None:
        self.owner.execute(statement.replace("SCHEMA.", f"{name(self.schema)}.").encode())

    def readable(self, role: str) -> set[str]:
        """Return the tables and views that a role may read."""
        query = """SELECT c.relname FROM pg_class c WHERE c.relnamespace = %s::regnamespace AND c.relkind IN ('r', 'v')
            AND has_schema_privilege(%s, c.relnamespace, 'USAGE') AND has_table_privilege(%s, c.oid, 'SELECT')"""
        return {table for (table,) in self.rows(query, name(self.schema), role, role)}

    def indexes(self) -> set[str]:
        return {found for (found,) in self.rows("SELECT indexname FROM pg_indexes WHERE schemaname = %s", self.schema)}


@pytest.fixture
def server(login: Login) -> Iterator[Server]:
    found = Server(login)
    with found.owner:
        yield found


@pytest.fixture
def role(server: Server) -> Iterator[str]:
    """A role that is there for one test."""
    made = f"Reader of {server.schema}"
    server.run(f"CREATE ROLE {name(made)}")
    yield made
    server.run(f"DROP OWNED BY {name(made)}")
    server.run(f"DROP ROLE {name(made)}")


MADE = {"person", "person_current", "person_now", "order", "flags", "order_day", "day"}


@pytest.mark.live
@pytest.mark.xdist_group("live")
def test_a_declared_role_may_read_tables_and_their_views_before_and_after_a_rebuild(
    server: Server, role: str, tmp_path: Path
) -> None:
    with server.open() as target:
        load_orders(target, tmp_path, tables(role), [MESSAGES])
        assert server.readable(role) == MADE
        Loader(target, tables(role), OWNER).rebuild()
        assert server.readable(role) == MADE
        Loader(target, tables(), OWNER).rebuild()
        assert server.readable(role) == set()


@pytest.mark.live
@pytest.mark.xdist_group("live")
def test_a_role_that_went_later_keeps_no_audit_from_being_made(server: Server, tmp_path: Path) -> None:
    made = f"Leaver of {server.schema}"
    server.run(f"CREATE ROLE {name(made)}")
    with server.open() as target:
        load_orders(target, tmp_path, tables(made), [MESSAGES])
        server.run(f"DROP OWNED BY {name(made)}")
        server.run(f"DROP ROLE {name(made)}")
        assert audit(target, tables(made), OWNER) == ()
        with pytest.raises(TargetError, match="Leaver of"):
            load_orders(target, tmp_path, tables(made), [MESSAGES])


@pytest.mark.live
@pytest.mark.xdist_group("live")
def test_a_role_that_is_missing_is_named_before_anything_is_loaded(server: Server, tmp_path: Path) -> None:
    with server.open() as target:
        with pytest.raises(TargetError, match="Nobody of"):
            load_orders(target, tmp_path, tables(f"Nobody of {server.schema}"), [MESSAGES])
        assert not target.has_table("metl_loads")
        target.check_roles([])
        load_orders(target, tmp_path, tables("public"), [MESSAGES])


@pytest.mark.live
@pytest.mark.xdist_group("live")
def test_what_people_added_to_tables_outlives_a_rebuild(server: Server, role: str, tmp_path: Path) -> None:
    with server.open() as target:
        load_orders(target, tmp_path, tables(), [MESSAGES])
        server.run(f'GRANT SELECT, UPDATE ON SCHEMA."order" TO {name(role)}')
        server.run(f"GRANT SELECT (flags_key) ON SCHEMA.flags TO {name(role)}")
        server.run(f"GRANT SELECT ON SCHEMA.person_now TO {name(role)}")
        server.run("COMMENT ON COLUMN SCHEMA.person.city IS 'where she''s living'")
        server.run("COMMENT ON TABLE SCHEMA.person IS 'guests'")
        server.run('CREATE INDEX by_rush ON SCHEMA."order" (rush DESC) WHERE fee > 0')
        server.run("CREATE INDEX by_mood ON SCHEMA.person (mood)")
        server.run(f"GRANT USAGE ON SCHEMA {name(server.schema)} TO {name(role)}")
        Loader(target, tables(), OWNER).rebuild()
        assert server.readable(role) == {"order", "person_now"}
        updates = "SELECT has_table_privilege(%s, %s, 'UPDATE'), has_column_privilege(%s, %s, 'flags_key', 'SELECT')"
        flags, orders = name(server.schema, "flags"), name(server.schema, "order")
        assert server.rows(updates, role, orders, role, flags) == [(True, True)]
        comments = "SELECT description FROM pg_description WHERE objoid = %s::regclass ORDER BY objsubid"
        assert server.rows(comments, name(server.schema, "person")) == [("guests",), ("where she's living",)]
        assert {"by_rush", "by_mood"} <= server.indexes()
        # A column that is gone takes along what was added to it.
        city = (Column(name="city", path="city", history=2),)
        person = person_dimension(columns=city)
        fewer = shapes(Model(name="world", tables=(person, order_fact())), [PERSON, ORDER], parse)
        Loader(target, fewer, OWNER).rebuild()
        assert not {"by_rush", "by_mood"} & server.indexes()
        assert server.rows(comments, name(server.schema, "person")) == [("guests",), ("where she's living",)]


@pytest.mark.live
@pytest.mark.xdist_group("live")
def test_views_that_people_made_of_tables_outlive_a_rebuild_as_they_were(
    server: Server, role: str, tmp_path: Path
) -> None:
    other = f"{server.schema}_reports"
    with server.open() as target:
        load_orders(target, tmp_path, tables(), [MESSAGES])
        server.run(f"CREATE SCHEMA {name(other)}")
        server.run('CREATE VIEW SCHEMA.paid WITH (security_barrier=true) AS SELECT no, fee FROM SCHEMA."order"')
        server.run(f"CREATE MATERIALIZED VIEW {name(other)}.sums AS SELECT SUM(fee) AS fee FROM SCHEMA.paid")
        server.run(f"CREATE UNIQUE INDEX only_one ON {name(other)}.sums (fee)")
        server.run(f"CREATE VIEW {name(other)}.later AS SELECT * FROM {name(other)}.sums, SCHEMA.person_now")
        server.run(f"CREATE MATERIALIZED VIEW {name(other)}.empty AS SELECT * FROM SCHEMA.person WITH NO DATA")
        server.run(f"COMMENT ON MATERIALIZED VIEW {name(other)}.sums IS 'all that was paid'")
        server.run("COMMENT ON COLUMN SCHEMA.paid.fee IS 'in francs'")
        server.run(f"GRANT SELECT ON SCHEMA.paid TO {name(role)}")
        server.run(f"ALTER VIEW {name(other)}.later OWNER TO {name(role)}")
        looked_at = """SELECT c.oid::regclass::text, c.relkind, c.reloptions, c.relispopulated, c.relacl::text,
            pg_get_userbyid(c.relowner), pg_get_viewdef(c.oid), obj_description(c.oid), col_description(c.oid, 2),
            (SELECT array_agg(pg_get_indexdef(indexrelid)) FROM pg_index WHERE indrelid = c.oid)
            FROM pg_class AS c WHERE c.relkind IN ('v', 'm')
              AND c.relnamespace IN (%s::regnamespace, %s::regnamespace) ORDER BY 1"""
        before = server.rows(looked_at, name(server.schema), name(other))
        assert len(before) == 6
        Loader(target, tables(), OWNER).rebuild()
        assert server.rows(looked_at, name(server.schema), name(other)) == before
        assert server.rows(f"SELECT fee FROM {name(other)}.sums") == [(2,)]
        assert audit(target, tables(), OWNER) == ()


@pytest.mark.live
@pytest.mark.xdist_group("live")
def test_a_view_that_a_rebuild_would_break_is_named_and_nothing_is_changed(server: Server, tmp_path: Path) -> None:
    with server.open() as target:
        load_orders(target, tmp_path, tables(), [MESSAGES])
        server.run("CREATE VIEW SCHEMA.moods AS SELECT mood FROM SCHEMA.person")
        city = (Column(name="city", path="city", history=2),)
        fewer = Model(name="world", tables=(person_dimension(columns=city), order_fact()))
        with pytest.raises(TargetError, match="moods") as refused:
            Loader(target, shapes(fewer, [PERSON, ORDER], parse), OWNER).rebuild()
        assert "does not fit" in refused.value.title
        assert server.rows(
            "SELECT COUNT(*) FROM pg_views WHERE viewname = %s AND schemaname = %s", "moods", server.schema
        ) == [(1,)]
        assert audit(target, tables(), OWNER) == ()


@pytest.mark.live
@pytest.mark.xdist_group("live")
def test_a_view_that_could_not_be_made_as_it_was_is_left_where_it_is(server: Server, tmp_path: Path) -> None:
    with server.open() as target:
        load_orders(target, tmp_path, tables(), [MESSAGES])
        server.run('CREATE VIEW SCHEMA.paid AS SELECT no, fee FROM SCHEMA."order"')
        server.run("ALTER VIEW SCHEMA.paid ALTER COLUMN fee SET DEFAULT 1")
        with pytest.raises(TargetError, match="paid") as refused:
            Loader(target, tables(), OWNER).rebuild()
        assert "depend on" in refused.value.title
        assert audit(target, tables(), OWNER) == ()


@pytest.mark.live
@pytest.mark.xdist_group("live")
def test_views_of_others_stay_where_they_are_while_a_table_gets_a_column(server: Server, tmp_path: Path) -> None:
    loader, other = f"Loader of {server.schema}", f"{server.schema}_reports"
    server.run(f"CREATE ROLE {name(loader)} LOGIN PASSWORD 'loads'")
    server.run(f"GRANT CREATE ON DATABASE {name(server.login['dbname'])} TO {name(loader)}")
    login = {**server.login, "user": loader, "password": "loads"}
    with PostgreSql(login, server.schema, "the warehouse") as target:
        load(target, tmp_path, every("mood"), "before", [thing(1, 1, mood="x")])
        target.run("CREATE VIEW moods AS SELECT mood FROM thing")
        server.run(f"CREATE SCHEMA {name(other)}")
        server.run(f"CREATE VIEW {name(other)}.theirs AS SELECT * FROM SCHEMA.moods")
        target.run("CREATE VIEW ours AS SELECT id FROM thing_now")
        load(target, tmp_path, every("hue", "mood"), "after", [thing(2, 1, hue="red")])
        assert target.rows("SELECT id, hue, mood FROM thing_now WHERE id = 1") == [(1, "red", "x")]
        assert target.rows("SELECT id FROM ours WHERE id IS NOT NULL") == [(1,)]
    assert sorted(server.rows(f"SELECT mood FROM {name(other)}.theirs WHERE mood IS NOT NULL")) == [("x",)]
    server.run(f"DROP SCHEMA {name(other)} CASCADE")
    server.run(f"DROP OWNED BY {name(loader)} CASCADE")
    server.run(f"DROP ROLE {name(loader)}")


@pytest.mark.live
@pytest.mark.xdist_group("live")
def test_declared_indexes_are_made_and_go_with_their_declaration(server: Server, tmp_path: Path) -> None:
    declared = tables(of_person=(("valid_from", "valid_to"), ("city", "first_known")), of_order=(("fee",),))
    wanted = {"person_valid_from_valid_to_index", "person_city_index", "person_first_known_index", "order_fee_index"}
    long = order(1, "c", fee=1, status="x" * 100_000, rush="y" * 100_000)
    with server.open() as target:
        load_orders(target, tmp_path, declared, [[long]])
        assert wanted <= server.indexes()
        Loader(target, declared, OWNER).rebuild()
        assert wanted <= server.indexes()
        Loader(target, tables(), OWNER).rebuild()
        assert not wanted & server.indexes()


def test_a_file_without_roles_is_loaded_by_a_model_that_has_some(tmp_path: Path) -> None:
    with DuckDb(tmp_path / "w.duckdb") as target:
        load_orders(target, tmp_path, tables("nobody", of_order=(("fee",),)), [MESSAGES])
        Loader(target, tables("nobody"), OWNER).rebuild()


def test_an_index_of_a_column_that_is_not_there_is_refused_whatever_its_capitals_are() -> None:
    assert indexes(tables(of_order=(("FEE",),)))[-1].columns == ("fee",)
    with pytest.raises(ModelError, match="rash"):
        indexes(tables(of_order=(("rash",),)))
