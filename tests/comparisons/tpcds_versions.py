"""Load the tables of TPC-DS that hold versions from their changes: ``python -m tests.comparisons.tpcds_versions``.

Each version of a member becomes a change that says since when it holds. The log of the source has the newest state
first, changes arrive shuffled in batches, and some arrive twice. What was loaded must be what was generated.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.dimensional.loads.staged_parts import StagedPart
from metl_gui.core.warehouse_model import Column, Dimension, Model
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.target_model import Owner
from tests.comparisons.environment import environment, environment_option
from tests.comparisons.staging import history_of, staged
from tests.unit.warehouse.worlds import parse

PINNED = ("duckdb==1.5.5", "duckdb-extension-tpcds==1.5.5")
BATCHES = 5


class Versioned(msgspec.Struct, frozen=True):
    """A table that holds versions.

    Args:
        table: its name.
        prefix: of its columns.
        key: column of the business key.
    """

    table: str
    prefix: str
    key: str

    def changes(self, path: Path) -> str:
        """Return the query for the changes: a start that the generator left out follows from the version before."""
        start, end, number = f"{self.prefix}_rec_start_date", f"{self.prefix}_rec_end_date", self.number
        of_member = f"(PARTITION BY {self.key} ORDER BY {number})"
        since = f"COALESCE({start}, LAG({end}) OVER {of_member} + 1, (SELECT MIN({start}) FROM '{path}'))"
        listed = f"* EXCLUDE ({start}, {end}, {number}), CAST({since} AS TIMESTAMP) AT TIME ZONE 'UTC' AS since"
        return f"SELECT {listed}, 1000000 - {number} AS place FROM '{path}'"

    @property
    def number(self) -> str:
        """Return the column of the generator's surrogate key."""
        return self.key.removesuffix("_id") + "_sk"


TABLES = (
    Versioned("item", "i", "i_item_id"),
    Versioned("store", "s", "s_store_id"),
    Versioned("call_center", "cc", "cc_call_center_id"),
    Versioned("web_site", "web", "web_site_id"),
    Versioned("web_page", "wp", "wp_web_page_id"),
)


class Outcome(msgspec.Struct, frozen=True):
    """What became of a table.

    Args:
        table: its name.
        members, versions: that were generated.
        messages: that were loaded, those that came twice among them.
        differing: versions that only one side has.
        seconds: that all loads took.
    """

    table: str
    members: int
    versions: int
    messages: int
    differing: int
    seconds: float


def loaded(one: Versioned, source: Path, folder: Path) -> Outcome:
    """Load the changes of a table, and compare with what was generated.

    Args:
        one: the table.
        source: its generated rows.
        folder: for the target and staged parts.
    """
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"CREATE TABLE changes AS {one.changes(source)}")
        history = history_of(connection, one.table, [one.key], "changes", without=("place",))
        parts = staged(connection, history, "changes", folder, order="place", batches=BATCHES)
        columns = [column.name for column in history.columns if column.name != "since"]
        ends = f"LEAD(since) OVER (PARTITION BY {one.key} ORDER BY since)"
        right = connection.execute(f"SELECT {', '.join(columns)}, since, {ends} FROM changes").fetchall()
    began = time.perf_counter()
    found = _versions(one, history, parts, folder / f"{one.table}.duckdb")
    taken = time.perf_counter() - began
    differing = len(set(map(_comparable, right)) ^ set(map(_comparable, found))) + abs(len(right) - len(found))
    members = len({row[columns.index(one.key)] for row in right})
    return Outcome(one.table, members, len(right), sum(part.rows for part in parts), differing, taken)


def _versions(one: Versioned, history: EntityHistory, parts: Sequence[StagedPart], file: Path) -> list[tuple[Any, ...]]:
    """Return the versions after a load for each part."""
    columns = [column.name for column in history.columns if column.name != "since"]
    kept = tuple(Column(name=column, path=column, history=2) for column in columns if column != one.key)
    dimension = Dimension(name=one.table, entity=one.table, columns=kept, valid_at="since")
    tables = shapes(Model(name="tpcds", tables=(dimension,)), [history], parse)
    with DuckDb(file) as target:
        for number, part in enumerate(parts):
            load_parts(target, tables, [part], f"load {number}", Owner(project="tpcds", mode="test"))
        query = f'SELECT {", ".join(columns)}, first_known, valid_to FROM "{one.table}" WHERE {one.table}_key > 0'
        return target.rows(query)


def _comparable(row: Sequence[Any]) -> tuple[str, ...]:
    """Return a row whose numbers are equal where their values are: ours keep integers as decimals."""
    return tuple("" if value is None else str(value) for value in row)


def outcomes(programs: Path, scale: float) -> Iterator[Outcome]:
    """Generate, and yield what became of each table."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        script = Path(__file__).parent / "generators" / "tpcds.py"
        subprocess.run([programs / "python", script, folder, str(scale)], check=True)
        for one in TABLES:
            yield loaded(one, folder / f"{one.table}.parquet", folder)


def main() -> int:
    """Print what became of each table; 1 where something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.comparisons.tpcds_versions", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="of the generator (default: 1, 18,000 items)")
    environment_option(parser, "tpcds")
    arguments = parser.parse_args()
    differing = 0
    for one in outcomes(environment(arguments.environment, PINNED), arguments.scale):
        counts = f"{one.members:,} members, {one.versions:,} versions, {one.messages:,} messages in {BATCHES} loads"
        print(f"{one.table}: {counts}; {one.differing:,} differ; {one.seconds:.1f} s")
        differing += one.differing
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
