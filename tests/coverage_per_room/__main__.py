"""Say how much of each room the tests run: ``python -m tests.coverage_per_room [--json] [pytest's arguments]``.

The whole suite, with the contexts that ``tests.mutants`` needs, and kept as the baseline of a version::

    python -m tests.coverage_per_room --contexts artifacts/contexts --record 0.1.1 -q -p no:randomly -n 2 tests

What coverage.py's tracer costs about doubles the time of the tests. Tests that wait for a fixed time may fail of it;
the exit code is pytest's.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.coverage_per_room.measuring import RoomCoverage, count, run_tests
from tests.helpers.baselines import record
from tests.helpers.own_package import ROOT, OwnPackage


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and return pytest's exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.coverage_per_room", description="Coverage of each room.")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--contexts", type=Path, metavar="FILE", help="keep there which test ran each line")
    parser.add_argument("--record", metavar="NAME", help="keep the result under this name")
    parser.add_argument("--root", type=Path, default=ROOT, help="the project (default: this one)")
    chosen, others = parser.parse_known_args(arguments)
    package = OwnPackage.of(chosen.root.resolve())
    with tempfile.TemporaryDirectory(prefix="coverage-") as name:
        folder = Path(name)
        durations = folder / "durations.json" if chosen.contexts else None
        code, data = run_tests(package, folder, others, durations=durations)
        rooms = count(package, data)
        if chosen.contexts:
            chosen.contexts.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(data, chosen.contexts)
            shutil.copy(folder / "durations.json", durations_beside(chosen.contexts))
    found = {"tests": " ".join(others), "exit_code": code, "rooms": [room.as_json() for room in rooms]}
    print(json.dumps(found, indent=1) if chosen.json else table(rooms))
    if chosen.record:
        record(chosen.record, "coverage", {"rooms": found}, package)
    return code


def table(rooms: Sequence[RoomCoverage]) -> str:
    """Write the rooms as a table, with their sum."""
    total = RoomCoverage("all", sum(room.statements for room in rooms), sum(room.covered for room in rooms))
    lines = [
        f"{room.room:<16}{room.statements:>11,}{room.covered:>11,}{room.percent:>8.2f} %" for room in [*rooms, total]
    ]
    return "\n".join([f"{'room':<16}{'statements':>11}{'covered':>11}{'percent':>10}", *lines])


def durations_beside(contexts: Path) -> Path:
    """Return the file for how long each test took, beside the one of the contexts."""
    return contexts.with_name(f"{contexts.name}.durations.json")


if __name__ == "__main__":
    sys.exit(main())
