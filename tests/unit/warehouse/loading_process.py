"""Load small batches into a DuckDB file, one after the other, until somebody ends the process."""

from __future__ import annotations

import sys
from pathlib import Path

from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.plans.statements import Step
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse.worlds import endless_batch, model_of, part, person_dimension, visit_fact


def main(folder: Path, first: int) -> None:
    """Load batch after batch; each step and each load that is done is told on a line."""
    _, tables = model_of(person_dimension(), visit_fact())

    def tell(step: Step, _rows: int) -> None:
        sys.stdout.write(f"{step.title}\n")
        sys.stdout.flush()

    for number in range(first, first + 1000):
        persons, visits = endless_batch(number)
        parts = [part(folder, "person", persons), part(folder, "visit", visits)]
        with DuckDb(folder / "w.duckdb") as target:
            load_parts(target, tables, parts, f"load {number}", Owner(project="world", mode="test"), tell)
        sys.stdout.write(f"done {number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
