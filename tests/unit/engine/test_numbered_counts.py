"""Counts that stay numbers over batches: under their names they are what every batch counted by itself, added up."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from metl_gui.core.runs.report import Tally
from metl_gui.engine.kernel.numbered_counts import CountSum
from metl_gui.engine.mapping.kernel import Choice, Kernel
from metl_gui.engine.tasks.refused_records import RunningCounts, briefly_counted, counted
from tests.helpers.plans import map_all
from tests.unit.engine.test_outcomes import PLAN, change

BATCHES = (("a", 3), (None, 4), ("b", 2), (None, 1), ("c", 5))


@pytest.mark.parametrize("choice", ["compiled", "reference"])
def test_what_tasks_add_up_is_what_the_batches_counted(choice: Choice) -> None:
    kernel = Kernel(PLAN, choice=choice, patience=0)
    running, wanted, seen = RunningCounts(), Tally(), []
    for name, count in BATCHES:
        outcome = map_all(kernel, [change(n, name) for n in range(count)])
        running.add_mapped(briefly_counted(outcome), outcome)
        wanted.add(counted(outcome))
        seen.append(running.total().by_attribute["one@1"]["no"])
    assert running.total() == wanted
    assert running.note(3) == msgspec.structs.replace(wanted, by_version={})
    assert running.note(2) == msgspec.structs.replace(wanted, by_version={}, by_attribute={})
    assert wanted.by_attribute == {"one@1": {"no": 15, "who.name": 10}, "two@7": {"title": 10}}
    assert (wanted.by_version, seen) == ({"s.a.t@1": 15}, [3, 7, 9, 10, 15])


def test_numbers_that_stand_for_something_else_after_everything_was_learned_anew_are_not_mixed_up() -> None:
    kernel = Kernel(PLAN, choice="compiled", patience=0)
    total, filled, versions = CountSum(), Counter[tuple[str, str, str]](), Counter[str]()
    names = []
    for name in ("a", None, "b"):
        outcome = map_all(kernel, [change(n, name) for n in range(4)])
        names.append(outcome.numbered.names)
        total.add_named(outcome.named_versions, outcome.named_filled)
        total.add(outcome.numbered)
        filled.update(outcome.filled)
        versions.update(outcome.by_version)
        assert kernel._machine.loaded is not None
        kernel._machine.loaded.tables.clear()
        kernel._gathering.forget_layouts()
    assert len(set(map(id, names))) == 3
    assert (total.filled(), total.by_version()) == (filled, versions)
    assert filled["one", "1", "no"] == versions["s.a.t@1"] == 12
