"""Two runs side by side: what they read, what became of it, how full each attribute is, and what was set aside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from metl_gui.engine.report import RunReport
from metl_gui.workbench.past_run import PastRun


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of two runs.

    Args:
        name: what it is.
        a, b: of the first and of the second run; ``None`` where a run has none.
    """

    name: str
    a: float | None
    b: float | None

    @property
    def change(self) -> float | None:
        """How much more the second has, ``None`` where one has none."""
        return None if self.a is None or self.b is None else self.b - self.a

    @property
    def differs(self) -> bool:
        """Whether they are not the same."""
        return self.a != self.b


@dataclass(frozen=True, slots=True)
class FillRate:
    """How often an attribute is filled in the messages of an entity version, in two runs.

    Args:
        entity: ``entity@version``.
        path: the CDM attribute.
        filled_a, filled_b: messages in which it is not null.
        messages_a, messages_b: messages of the entity, of all its versions.
    """

    entity: str
    path: str
    filled_a: int
    filled_b: int
    messages_a: int
    messages_b: int

    @property
    def rate_a(self) -> float | None:
        """Share of the first run's messages, ``None`` where it has none of the entity."""
        return self.filled_a / self.messages_a if self.messages_a else None

    @property
    def rate_b(self) -> float | None:
        """Share of the second run's messages, ``None`` where it has none of the entity."""
        return self.filled_b / self.messages_b if self.messages_b else None

    @property
    def change(self) -> float:
        """By how much the share grew; an entity without messages counts as never filled."""
        return (self.rate_b or 0.0) - (self.rate_a or 0.0)


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two runs compared.

    Args:
        a, b: the runs.
        rows: what was read and what became of it, with bytes and rates.
        by_entity, by_reason, by_skip, by_version: messages, set-aside records, skipped ones and records, by name.
        fill_rates: of every attribute that one of them filled, those that changed most first.
    """

    a: PastRun
    b: PastRun
    rows: tuple[Figure, ...]
    by_entity: tuple[Figure, ...]
    by_reason: tuple[Figure, ...]
    by_skip: tuple[Figure, ...]
    by_version: tuple[Figure, ...]
    fill_rates: tuple[FillRate, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl runs --compare``."""
        document: dict[str, Any] = {"a": self.a.as_json(), "b": self.b.as_json()}
        for part in ("rows", "by_entity", "by_reason", "by_skip", "by_version"):
            document[part] = [{"name": f.name, "a": f.a, "b": f.b, "change": f.change} for f in getattr(self, part)]
        document["fill_rates"] = [
            {
                "entity": each.entity,
                "path": each.path,
                "filled_a": each.filled_a,
                "filled_b": each.filled_b,
                "rate_a": each.rate_a,
                "rate_b": each.rate_b,
            }
            for each in self.fill_rates
        ]
        return document


_ROWS: tuple[tuple[str, Callable[[RunReport], float]], ...] = (
    ("read", lambda r: r.read),
    ("mapped", lambda r: r.mapped),
    ("filtered", lambda r: r.filtered),
    ("set aside", lambda r: r.set_aside),
    ("skipped", lambda r: r.skipped),
    ("messages", lambda r: r.messages_out),
    ("bytes in", lambda r: r.bytes_in),
    ("bytes out", lambda r: r.bytes_out),
    ("seconds", lambda r: r.seconds),
    ("records a second", lambda r: r.records_per_second),
    ("kernel ns a record", lambda r: round(r.kernel.mean_ns, 1)),
)


def compare_runs(a: PastRun, b: PastRun) -> RunComparison:
    """Compare two runs.

    Order: rows as a report has them; named figures by name; fill rates by how much they changed, then by name.
    """
    first, second = a.report, b.report
    return RunComparison(
        a,
        b,
        tuple(Figure(name, of(first), of(second)) for name, of in _ROWS),
        _figures(first.by_entity, second.by_entity),
        _figures(first.by_reason, second.by_reason),
        _figures(first.by_skip, second.by_skip),
        _figures(first.by_version, second.by_version),
        tuple(sorted(_fill_rates(first, second), key=lambda each: (-abs(each.change), each.entity, each.path))),
    )


def _figures(a: Mapping[str, int], b: Mapping[str, int]) -> tuple[Figure, ...]:
    return tuple(Figure(name, a.get(name, 0), b.get(name, 0)) for name in sorted(a.keys() | b.keys()))


def _fill_rates(a: RunReport, b: RunReport) -> Iterator[FillRate]:
    for entity in sorted(a.by_attribute.keys() | b.by_attribute.keys()):
        in_a, in_b = a.by_attribute.get(entity, {}), b.by_attribute.get(entity, {})
        name = entity.rpartition("@")[0]
        for path in sorted(in_a.keys() | in_b.keys()):
            yield FillRate(
                entity, path, in_a.get(path, 0), in_b.get(path, 0), a.by_entity.get(name, 0), b.by_entity.get(name, 0)
            )
