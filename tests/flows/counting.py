"""What a flow consists of: functions and modules, in all processes and by kind of process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from tests.flows.tracing import Call


@dataclass(frozen=True)
class Flow:
    """What was called on the way from an event to its effect.

    Args:
        name: of the flow.
        phases: what was called, by the name of the phase.
    """

    name: str
    phases: Mapping[str, AbstractSet[Call]]

    def as_json(self, *, names: bool = False) -> dict[str, object]:
        """Return the counts for the JSON document.

        Args:
            names: list the functions too.
        """
        return {"flow": self.name, **{phase: _counts(calls, names) for phase, calls in self.phases.items()}}

    def lines(self, *, names: bool = False) -> Iterator[str]:
        """Write the counts as lines of a table, and the functions below where they are wanted."""
        for phase, calls in self.phases.items():
            yield _line(f"{self.name}, {phase}", calls)
            for process in sorted({call.process for call in calls}):
                own = {call for call in calls if call.process == process}
                yield _line(f"  in {process}", own)
                if names:
                    yield from (f"    {call.module} {call.function}:{call.line}" for call in sorted(own))


def functions(calls: AbstractSet[Call]) -> set[tuple[str, str, int]]:
    """Return the distinct functions, whatever process called them."""
    return {(call.module, call.function, call.line) for call in calls}


def modules(calls: AbstractSet[Call]) -> set[str]:
    """Return the modules in which they lie."""
    return {call.module for call in calls}


def _counts(calls: AbstractSet[Call], names: bool) -> dict[str, object]:
    counts: dict[str, object] = _both(calls)
    processes = sorted({call.process for call in calls})
    counts["by_process"] = {
        process: _both({call for call in calls if call.process == process}) for process in processes
    }
    if names:
        counts["names"] = [f"{call.process}: {call.module} {call.function}:{call.line}" for call in sorted(calls)]
    return counts


def _both(calls: AbstractSet[Call]) -> dict[str, object]:
    return {"functions": len(functions(calls)), "modules": len(modules(calls))}


def _line(title: str, calls: AbstractSet[Call]) -> str:
    return f"{title:<44}{len(functions(calls)):>6} functions{len(modules(calls)):>6} modules"
