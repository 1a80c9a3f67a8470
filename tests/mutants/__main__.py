"""Say how many small faults in a room the tests notice: ``python -m tests.mutants --room core [--json]``.

Which test runs which line must have been recorded before (``tests.coverage_per_room --contexts``). The baseline of a
version, some hours on two cores::

    for room in core store engine.kernel; do
        python -m tests.mutants --room $room --count 100 --seed 1 --jobs 2 --record 0.1.1
    done

An earlier version lies in a folder of its own, which ``--root`` names; what was cut in two since is one where several
rooms are named, as ``--room core formats`` for what was core in 0.1.1.

Drawn are changes of lines that ran; what numba compiles is left out, as the fuzz of the kernels holds it
(``tests.fuzz``). A mutant is tried on the tests that run its line, the fastest first, as many as took twenty seconds
when they were recorded. A survivor may be equivalent to the program as it is, so the rate is a lower bound.

Of the libraries there are, mutmut makes its own copies of functions and tries all mutants of a function; cosmic-ray
runs one command for every mutant, whatever its line; mutatest draws by a seed among covered lines, but runs all tests
for each, changes neither texts nor statements, and was last released for Python 3.8. None both draws by a seed and
runs the tests of a line alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.helpers.baselines import record
from tests.helpers.own_package import ROOT, OwnPackage
from tests.mutants.covering import Covering
from tests.mutants.trials import LIMIT_SECONDS, Trial, Trials, draw, rate_of

CONTEXTS = ROOT / "artifacts" / "contexts"
_SHOWN_TESTS = 8


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw and try mutants; 0 whatever came of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="Kill rate of a room's mutants.")
    parser.add_argument("--room", required=True, nargs="+", help="as tests.coverage_per_room names it; several are one")
    parser.add_argument("--count", type=int, default=100, help="how many mutants (default: 100)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default: 1)")
    parser.add_argument("--data", type=Path, default=CONTEXTS, help="which test runs which line (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="how many mutants at once (default: 1)")
    parser.add_argument("--seconds", type=float, default=LIMIT_SECONDS, help="for the tests of a mutant (default: 60)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--record", metavar="NAME", help="keep the result under this name")
    parser.add_argument("--root", type=Path, default=ROOT, help="the project (default: this one)")
    chosen = parser.parse_args(arguments)
    package = OwnPackage.of(chosen.root.resolve())
    if unknown := set(chosen.room) - set(package.rooms):
        parser.error(f"there is no room {', '.join(sorted(unknown))}; there are {', '.join(package.rooms)}")
    room = "+".join(chosen.room)
    if not chosen.data.exists():
        parser.error(f"{chosen.data} is missing: run python -m tests.coverage_per_room --contexts {chosen.data}")
    covering = Covering(package, chosen.data)
    drawn = draw(package, covering, chosen.room, chosen.count, chosen.seed)
    telling = threading.Lock()

    def tell(trial: Trial) -> None:
        with telling:
            print(line(trial), file=sys.stderr, flush=True)

    trials = Trials(package, covering, chosen.jobs, chosen.seed, chosen.seconds).run(drawn, tell)
    found = {"room": room, "seed": chosen.seed, "seconds": chosen.seconds, **summary(trials)}
    if chosen.json:
        print(json.dumps({**found, "mutants": [trial.as_json() for trial in trials]}, indent=1))
    else:
        print("\n".join(report(room, trials)))
    if chosen.record:
        survivors = [f"{trial.as_json()['place']} {trial.mutation.title}" for trial in trials if _survived(trial)]
        record(chosen.record, "mutants", {room: {**found, "survivors": survivors}}, package)
    return 0


def summary(trials: Sequence[Trial]) -> dict[str, object]:
    """Count the outcomes, and work out the kill rate."""
    rate = rate_of(trials)
    low, high = rate.interval
    outcomes = Counter(trial.outcome for trial in trials)
    return {
        "drawn": len(trials),
        "outcomes": dict(sorted(outcomes.items())),
        "kill_rate": round(rate.value, 4),
        "interval_95": [round(low, 4), round(high, 4)],
    }


def report(room: str, trials: Sequence[Trial]) -> list[str]:
    """Write the kill rate of a room, and below it each survivor with the tests that did not notice it."""
    rate = rate_of(trials)
    low, high = rate.interval
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in Counter(t.outcome for t in trials).most_common())
    lines = [
        f"{room}: {rate.killed} of {rate.judged} killed, {rate.value:.1%} ({low:.1%} to {high:.1%}); {outcomes}",
    ]
    for trial in filter(_survived, trials):
        lines.append(line(trial))
        lines += (f"    {test}" for test in trial.tests[:_SHOWN_TESTS])
        if len(trial.tests) > _SHOWN_TESTS:
            lines.append(f"    and {len(trial.tests) - _SHOWN_TESTS} more (--json names all)")
    return lines


def line(trial: Trial) -> str:
    """Write one mutant and its outcome in a line."""
    mutation = trial.mutation
    tests = f"{len(trial.tests)} of {trial.covering} tests"
    killer = f", by {trial.killer}" if trial.killer else ""
    return f"{trial.outcome:<12}{mutation.module.as_posix()}:{mutation.line}  {mutation.title}  [{tests}{killer}]"


def _survived(trial: Trial) -> bool:
    return trial.outcome == "survived"


if __name__ == "__main__":
    sys.exit(main())
