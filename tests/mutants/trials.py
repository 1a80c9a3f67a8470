"""Draw mutants of a room and try each: do the tests of its line notice it?"""

from __future__ import annotations

import queue
import random
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Literal, TypeAlias

from tests.helpers.own_package import OwnPackage
from tests.mutants.covering import Covering
from tests.mutants.mutations import Mutation, mutations_of
from tests.mutants.scratch import Scratch, remaining

Outcome: TypeAlias = Literal["killed", "timed out", "survived", "not covered", "unknown"]
"""``timed out`` is killed too: the tests, which took a third of the limit at most, went on for all of it. ``not
covered``: the line ran, but in no test's time. ``unknown``: the tests take too long, or fail without the mutant too. A
mutant that ``survived`` may be equivalent, which nothing here can tell."""

LIMIT_SECONDS = 60.0
_PART_OF_LIMIT = 1 / 3
_Z = 1.959964


@dataclass(frozen=True)
class Trial:
    """What came of one mutant.

    Args:
        mutation: what was changed.
        outcome: of it.
        covering: how many tests run the line.
        tests: those that were run.
        killer: the test that failed.
    """

    mutation: Mutation
    outcome: Outcome
    covering: int = 0
    tests: tuple[str, ...] = ()
    killer: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the facts for the JSON document."""
        mutation = self.mutation
        return {
            "place": f"{mutation.module.as_posix()}:{mutation.line}",
            "mutation": mutation.title,
            "outcome": self.outcome,
            "covering_tests": self.covering,
            "tests": list(self.tests),
            "killer": self.killer,
        }


@dataclass(frozen=True)
class Rate:
    """How many of the mutants that could be judged were noticed, with the interval of Wilson at 95 %."""

    killed: int
    judged: int

    @property
    def value(self) -> float:
        """The part that was killed."""
        return self.killed / self.judged if self.judged else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The bounds between which the rate of all mutants of the room lies."""
        n, rate = self.judged, self.value
        if not n:
            return 0.0, 1.0
        middle, spread = rate + _Z**2 / (2 * n), _Z * sqrt(rate * (1 - rate) / n + _Z**2 / (4 * n**2))
        low, high = ((middle + sign * spread) / (1 + _Z**2 / n) for sign in (-1, 1))
        return max(low, 0.0), min(high, 1.0)


def rate_of(trials: Sequence[Trial]) -> Rate:
    """Return how many of some mutants were killed."""
    found = Counter(trial.outcome for trial in trials)
    killed = found["killed"] + found["timed out"]
    return Rate(killed, killed + found["survived"])


def draw(package: OwnPackage, covering: Covering, rooms: Iterable[str], count: int, seed: int) -> list[Mutation]:
    """Draw mutants of what ran of some rooms, each change as likely as any other.

    Args:
        package: of the rooms.
        covering: what ran.
        rooms: their names.
        count: how many at most.
        seed: of the draw.
    """
    found: list[Mutation] = []
    for module in sorted(module for room in rooms for module in package.rooms[room]):
        source = (package.folder / module).read_bytes()
        found += (one for one in mutations_of(module, source, package.jitted.get(module, ())) if covering.runs(one))
    random.Random(seed).shuffle(found)
    chosen: list[Mutation] = []
    for mutation in found:
        if len(chosen) == count:
            break
        if _is_program(mutation.applied((package.folder / mutation.module).read_bytes())):
            chosen.append(mutation)
    return chosen


def _is_program(source: bytes) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as comparing a number by "is"
        try:
            compile(source, "mutant", "exec", dont_inherit=True)
        except SyntaxError:
            return False
    return True


class Trials:
    """Tries mutants, several at once in copies of their own.

    Args:
        package: of the project.
        covering: which tests run what.
        jobs: how many at once.
        seed: of what the tests draw.
        seconds: how long the tests of one mutant may take.
    """

    def __init__(
        self, package: OwnPackage, covering: Covering, jobs: int, seed: int, seconds: float = LIMIT_SECONDS
    ) -> None:
        self.package = package
        self.covering = covering
        self.jobs = jobs
        self.seed = seed
        self.seconds = seconds
        self._free: queue.SimpleQueue[Scratch] = queue.SimpleQueue()
        self._is_clean: dict[str, bool] = {}
        self._checking = threading.Lock()

    def run(self, mutations: Sequence[Mutation], told: Callable[[Trial], None]) -> list[Trial]:
        """Try mutants, and return what came of each, in their order.

        Args:
            mutations: to be tried.
            told: hears of each as soon as it was tried.
        """

        def attempt(mutation: Mutation) -> Trial:
            trial = self._try(mutation)
            told(trial)
            return trial

        with self._copies(), ThreadPoolExecutor(self.jobs) as working:
            return list(working.map(attempt, mutations))

    @contextmanager
    def _copies(self) -> Iterator[None]:
        with ExitStack() as stack:
            for _ in range(self.jobs):
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True))
                scratch = Scratch(self.package, Path(folder), self.seed)
                stack.callback(scratch.close)
                self._free.put(scratch)
            yield

    def _try(self, mutation: Mutation) -> Trial:
        covering = self.covering.tests_of(mutation)
        if not covering:
            return Trial(mutation, "not covered")
        scratch = self._free.get()
        try:
            return self._try_in(scratch, mutation, covering)
        finally:
            self._free.put(scratch)

    def _try_in(self, scratch: Scratch, mutation: Mutation, covering: Sequence[str]) -> Trial:
        """Run the tests until one fails that does not fail without the mutant."""
        tests = self._usable(covering)
        end = time.monotonic() + self.seconds
        while tests:
            ending = scratch.run(tests, remaining(end), mutation)
            if ending.is_passed:
                return Trial(mutation, "survived", len(covering), tuple(tests))
            if ending.is_timed_out:
                is_quick = scratch.run(tests, self.seconds).is_passed
                return Trial(mutation, "timed out" if is_quick else "unknown", len(covering), tuple(tests))
            # Where no test came so far, the module cannot be loaded, which any test tells.
            killer = ending.failed if ending.failed in tests else tests[0]
            if self._passes(scratch, killer):
                return Trial(mutation, "killed", len(covering), tuple(tests), killer)
            tests = self._usable(tests)
        return Trial(mutation, "unknown", len(covering))

    def _usable(self, tests: Sequence[str]) -> list[str]:
        clean = [test for test in tests if self._is_clean.get(test, True)]
        return self.covering.within(clean, self.seconds * _PART_OF_LIMIT)

    def _passes(self, scratch: Scratch, test: str) -> bool:
        """Say whether a test passes without a mutant, in a copy of the project as it stands."""
        with self._checking:
            known = self._is_clean.get(test)
        if known is None:
            known = scratch.run([test], self.seconds).is_passed
            with self._checking:
                self._is_clean[test] = known
        return known
