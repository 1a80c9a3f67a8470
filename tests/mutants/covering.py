"""Which tests run a line, and how long they take, as ``tests.coverage_per_room --contexts`` recorded it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from coverage import CoverageData

from tests.coverage_per_room.__main__ import durations_beside
from tests.helpers.own_package import OwnPackage
from tests.mutants.mutations import Mutation

_UNKNOWN_SECONDS = 1e6
"""Tests that did not pass, or of which nothing is known, come last, and are left out by any limit."""


class Covering:
    """What the tests of a project run.

    Args:
        package: whose lines.
        contexts: the recorded file.
    """

    def __init__(self, package: OwnPackage, contexts: Path) -> None:
        data = CoverageData(str(contexts))
        data.read()
        self._ran: dict[Path, dict[int, set[str]]] = {}
        for path in data.measured_files():
            module = package.relative(path)
            if module is not None:
                known = self._ran.setdefault(module, {})
                for line, tests in data.contexts_by_lineno(path).items():
                    known.setdefault(line, set()).update(tests)
        self._seconds: dict[str, float] = json.loads(durations_beside(contexts).read_text(encoding="utf-8"))

    def runs(self, mutation: Mutation) -> bool:
        """Say whether what a mutation changes ran at all."""
        ran = self._ran.get(mutation.module, {})
        return any(line in ran for line in (mutation.line, *mutation.statement))

    def tests_of(self, mutation: Mutation) -> list[str]:
        """Return the tests that run what a mutation changes, the fastest first.

        What runs when the module is loaded ran in one test only, whichever was the first; there it is all tests that
        run anything of the module.
        """
        ran = self._ran.get(mutation.module, {})
        if mutation.is_import_time:
            return self._ordered(set().union(*ran.values()))
        own = ran.get(mutation.line, set()) - {""}
        return self._ordered(own or set().union(*(ran.get(line, set()) for line in mutation.statement)))

    def seconds(self, test: str) -> float:
        """Return how long a test took when it was recorded."""
        return self._seconds.get(test, _UNKNOWN_SECONDS)

    def within(self, tests: Iterable[str], seconds: float) -> list[str]:
        """Return the first of some tests that together take no longer than a limit; one alone may take double."""
        chosen: list[str] = []
        left = seconds
        for test in tests:
            own = self.seconds(test)
            if own > left and (chosen or own > 2 * seconds):
                break
            chosen.append(test)
            left -= own
        return chosen

    def _ordered(self, tests: set[str]) -> list[str]:
        return sorted(tests - {""}, key=lambda test: (self.seconds(test), test))
