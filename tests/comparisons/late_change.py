"""Compare what loaders make of a change that comes late: ``python -m tests.comparisons.late_change``.

A member lived in Kiel from January, in Ulm from February and in Bonn from March; that he moved to Ulm is heard last.
The other loaders run in an environment of their own, which the first call makes, in the versions of ``PINNED``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import msgspec

from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Column, Model
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.target_model import Owner
from tests.comparisons.environment import environment, environment_option
from tests.unit.warehouse.worlds import PERSON, parse, part, person_dimension

PINNED = ("pygrametl==2.9", "dbt-core==1.12.0", "dbt-duckdb==1.11.1", "dlt[duckdb]==1.31.0", "duckdb==2.0.1")
CONTENDERS = {
    "pygrametl 2.9, SlowlyChangingDimension": "pygrametl_scd",
    "dbt-duckdb 1.11.1, timestamp snapshot": "dbt_snapshot",
    "dlt 1.31.0, scd2": "dlt_scd2",
}
OURS = "METL"

Change: TypeAlias = dict[str, str | int]
"""A message: the member's id, his city, and the day since when he lives there."""
Batch: TypeAlias = list[Change]
Version: TypeAlias = tuple[str, str, str | None]
"""City, first day and day of the end of a version, ``None`` while it is open."""

_KIEL: Change = {"id": 1, "city": "Kiel", "since": "2026-01-01"}
_ULM: Change = {"id": 1, "city": "Ulm", "since": "2026-02-01"}
_BONN: Change = {"id": 1, "city": "Bonn", "since": "2026-03-01"}
CASES: dict[str, list[Batch]] = {
    "the change of February comes last": [[_KIEL], [_BONN], [_ULM]],
    "it comes last, in the batch of March": [[_KIEL], [_BONN, _ULM]],
    "all in order, then all once more": [[_KIEL], [_ULM], [_BONN], [_KIEL], [_ULM], [_BONN]],
}
RIGHT: tuple[Version, ...] = (
    ("Kiel", "2026-01-01", "2026-02-01"),
    ("Ulm", "2026-02-01", "2026-03-01"),
    ("Bonn", "2026-03-01", None),
)
FACT = "2026-02-15"
"""When a fact happened whose member is looked up."""


class Outcome(msgspec.Struct, frozen=True):
    """What one loader made of one case.

    Args:
        loader, case: their names.
        versions: of the member, in the order of the loader.
    """

    loader: str
    case: str
    versions: tuple[Version, ...]

    @property
    def wrong(self) -> int:
        """Return how many versions are there and should not be, or should be and are not."""
        found, right = Counter(self.versions), Counter(RIGHT)
        return ((found - right) + (right - found)).total()

    @property
    def current(self) -> tuple[str, ...]:
        """Return the cities of the versions that are open."""
        return tuple(city for city, _, until in self.versions if until is None)

    @property
    def of_fact(self) -> tuple[str, ...]:
        """Return the cities of the versions that a fact of February finds."""
        return tuple(city for city, since, until in self.versions if since <= FACT and (until is None or until > FACT))


def ours(batches: Sequence[Batch]) -> tuple[Version, ...]:
    """Return the versions that our loads make, each batch one load."""
    dimension = person_dimension(columns=(Column(name="city", path="city", history=2),), valid_at="since")
    tables = shapes(Model(name="late", tables=(dimension,)), [PERSON], parse)
    query = "SELECT city, first_known, valid_to FROM person WHERE person_key > 0 ORDER BY version_number"
    with tempfile.TemporaryDirectory() as place, DuckDb(Path(place) / "late.duckdb") as target:
        for number, batch in enumerate(batches):
            staged = part(Path(place), "person", [_message(change) for change in batch])
            load_parts(target, tables, [staged], f"load {number}", Owner(project="late", mode="test"))
        return tuple(
            (city, f"{since:%Y-%m-%d}", until and f"{until:%Y-%m-%d}") for city, since, until in target.rows(query)
        )


def _message(change: Change) -> Message:
    """Return a change as the source's log has it: in the order in which it was heard."""
    heard = (_KIEL, _BONN, _ULM).index(change)
    since = datetime.fromisoformat(str(change["since"])).replace(tzinfo=UTC)
    time = datetime(2026, 4, 1 + heard, tzinfo=UTC)
    values = {**change, "since": since}
    return Message("s", '{"id":1}', f"{heard:04}", "u", values, committed_at=time, seen_at=time)


def theirs(python: Path, script: str, batches: Sequence[Batch]) -> tuple[Version, ...]:
    """Return the versions that another loader makes.

    Raises:
        subprocess.CalledProcessError: it failed; what it said is in it.
    """
    path = Path(__file__).parent / "contenders" / f"{script}.py"
    done = subprocess.run([python, path], input=json.dumps(batches), capture_output=True, text=True, check=True)
    return tuple((city, since, until) for city, since, until in json.loads(done.stdout))


def outcomes(python: Path) -> Iterator[Outcome]:
    """Yield what each loader makes of each case."""
    loaders: dict[str, Callable[[Sequence[Batch]], tuple[Version, ...]]] = {OURS: ours}
    for name, script in CONTENDERS.items():
        loaders[name] = lambda batches, script=script: theirs(python, script, batches)  # type: ignore[misc]
    for case, batches in CASES.items():
        for name, load in loaders.items():
            yield Outcome(name, case, load(batches))


def table(found: Sequence[Outcome]) -> Iterator[str]:
    """Yield the lines of a table of Markdown."""
    yield "| case | loader | versions | wrong | current | a fact of 15 February finds |"
    yield "|---|---|---|---|---|---|"
    for one in found:
        spans = ", ".join(
            f"{city} [{since[:7]}, {until[:7] if until else 'open'})" for city, since, until in one.versions
        )
        words = (one.case, one.loader, spans, str(one.wrong), _listed(one.current), _listed(one.of_fact))
        yield f"| {' | '.join(words)} |"


def _listed(cities: Sequence[str]) -> str:
    return " and ".join(cities) or "none"


def main() -> int:
    """Print the table; 1 where ours is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.comparisons.late_change", description=__doc__)
    environment_option(parser, "loaders")
    programs = environment(parser.parse_args().environment, PINNED)
    found = list(outcomes(programs / "python"))
    print("\n".join(table(found)))
    return int(any(one.wrong for one in found if one.loader == OURS))


if __name__ == "__main__":
    sys.exit(main())
