"""Run one benchmark: ``python -m tests.benchmarks NAME [--json] [--quick]``.

A benchmark is a module of this package with a function ``cases(rounds, quick)`` that yields ``harness.Case`` values.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.benchmarks.harness import QUICK_ROUNDS, ROUNDS, Case, machine

_NOT_BENCHMARKS = {"__init__", "__main__", "harness"}


def names() -> list[str]:
    """List the benchmarks of this package."""
    modules = (path for path in Path(__file__).parent.glob("*.py") if path.stem not in _NOT_BENCHMARKS)
    return sorted(path.stem for path in modules if "\ndef cases(" in path.read_text(encoding="utf-8"))


def main() -> int:
    """Run the benchmark named on the command line; 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description="Measure ours and the baseline.")
    parser.add_argument("name", choices=names())
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and smaller sizes: under a minute")
    arguments = parser.parse_args()
    module = importlib.import_module(f"tests.benchmarks.{arguments.name}")
    found: list[Case] = []
    for case in module.cases(QUICK_ROUNDS if arguments.quick else ROUNDS, arguments.quick):
        found.append(case)
        print(line(case), file=sys.stderr if arguments.json else sys.stdout, flush=True)
    if arguments.json:
        print(document(arguments.name, found))
    return int(any(case.meets is False for case in found))


def document(name: str, cases: Iterable[Case]) -> str:
    """Write the JSON document of ``--json`` (docs/how-fast.md)."""
    content = {"benchmark": name, "machine": machine(), "cases": [case.as_json() for case in cases]}
    return json.dumps(content, indent=1)


def line(case: Case) -> str:
    """Write one case as a line of the table."""
    baseline = "" if case.baseline is None else f"  baseline {case.baseline:,.3f}"
    ratio = "" if case.ratio is None else f"  ratio {case.ratio:.2f} ({case.low:.2f} to {case.high:.2f})"
    target = "" if case.target is None else f"  target {case.target:g} {'met' if case.meets else 'MISSED'}"
    return f"{case.case:<58} {case.ours:,.3f} {case.unit}{baseline}{ratio}{target}  {case.note}".rstrip()


if __name__ == "__main__":
    sys.exit(main())
