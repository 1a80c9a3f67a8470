"""Targets of warehouses: a file of DuckDB, and a schema of a PostgreSQL server that all tests of a process share."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from metl_gui.errors import SetupError
from metl_gui.stack.postgres import OWNER, PostgresServer, find_programs
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.databases.target import WarehouseTarget

NewTarget = Callable[[Path], WarehouseTarget]
"""Opens a target that nothing was loaded into, by a folder that it may write in; it is closed with the test."""

SERVER = (pytest.mark.live, pytest.mark.xdist_group("live"))


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server with a database named ``shop``, empty at first."""
    try:
        find_programs()
    except SetupError as error:
        pytest.skip(str(error))
    with PostgresServer() as server:
        yield server


@pytest.fixture
def login(postgres: PostgresServer) -> dict[str, Any]:
    """The words of libpq for the owner of the database."""
    place = {"host": "127.0.0.1", "port": postgres.port, "dbname": postgres.database}
    return {**place, "user": OWNER, "password": postgres.password}


@pytest.fixture(params=["duckdb", pytest.param("postgresql", marks=SERVER)])
def new_target(request: pytest.FixtureRequest) -> Iterator[NewTarget]:
    """Each kind of target in turn."""
    with contextlib.ExitStack() as opened:
        if request.param == "duckdb":
            numbers = itertools.count()
            yield lambda folder: opened.enter_context(DuckDb(folder / f"{next(numbers)}.duckdb"))
        else:
            words = request.getfixturevalue("login")
            yield lambda _folder: opened.enter_context(PostgreSql(words, new_schema(), "the warehouse"))


def new_duckdb() -> DuckDb:
    """Return a target in memory, for many small worlds: they cost their statements, and no file."""
    target = DuckDb(Path(":memory:"))
    target.run("SET threads = 1")
    return target


_NUMBERS = itertools.count()


def new_schema() -> str:
    """Return a name that no schema has, as tests share a database."""
    return f"Wide {next(_NUMBERS)}"
