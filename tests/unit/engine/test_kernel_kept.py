"""A worker keeps the kernel of a plan between tasks and runs, and counts what goes when the state changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from metl_gui.core.runs.run_spec import PlanState
from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.streaming.batch_source import BatchSource
from metl_gui.engine.streaming.checkpoint import Checkpoint
from metl_gui.engine.streaming.ledger import BatchPlan
from metl_gui.engine.tasks import task as tasks
from metl_gui.engine.tasks.task import TaskAttempt, TaskOrder, kernel_for
from tests.helpers.event_files import EventMaker, order_plan
from tests.helpers.run_specs import run_spec

_COLUMN_SETS = 3


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Begin and end without a kernel, and say that each has compiled some column sets."""
    monkeypatch.setattr(Kernel, "column_sets", _COLUMN_SETS)
    monkeypatch.setattr(build, "build_in_background", lambda: None)
    tasks._kernels.clear()
    yield
    tasks._kernels.clear()


def order_of(folder: Path, run_id: str, state: int, publication: int = 0) -> TaskOrder:
    plan = folder / f"{state}.json"
    plan.write_bytes(order_plan(state, "h"))
    return TaskOrder(
        run=run_spec(run_id=run_id, mode="production", publication=publication),
        plan=str(plan),
        messages=None,
        errors=str(folder),
        samples=str(folder),
        has_samples=False,
        progress=str(folder / "progress"),
    )


def kernel_of(order: TaskOrder) -> Kernel:
    return kernel_for(order, Path(order.plan).read_bytes)


def evictions(order: TaskOrder) -> int:
    task = TaskAttempt(order, kernel_of(order), 0, 0)
    raws = list(EventMaker().lines(20))
    task.map(Records.of(raws, "f"))
    task.map(Records.of(raws, "f"))
    return task.end().tally.kernel.evictions


def test_runs_with_the_same_plan_share_a_kernel_and_another_state_takes_its_place(tmp_path: Path) -> None:
    first = kernel_of(order_of(tmp_path, "a", 7))
    assert kernel_of(order_of(tmp_path, "b", 7)) is first
    assert kernel_of(order_of(tmp_path, "b", 8)) is not first
    assert len(tasks._kernels) == 1


def test_a_state_that_is_published_again_is_mapped_by_a_kernel_that_says_so(tmp_path: Path) -> None:
    said = []
    for publication in (0, 3, 4):
        kernel = kernel_of(order_of(tmp_path, "a", 7, publication))
        outcome = kernel.map(Records.of(list(EventMaker().lines(1)), "f"))
        said.append({json.loads(message)["source"]["publication"] for message in outcome.messages()})
    assert said == [{None}, {3}, {4}]


def test_column_sets_that_go_when_the_state_changes_are_counted_once(tmp_path: Path) -> None:
    assert evictions(order_of(tmp_path, "a", 7)) == 0
    assert evictions(order_of(tmp_path, "a", 8)) == _COLUMN_SETS
    assert evictions(order_of(tmp_path, "a", 8)) == 0


def test_a_batch_is_mapped_under_the_publication_that_it_was_planned_with(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "checkpoint")
    checkpoint.plans.mkdir(parents=True)
    use = checkpoint.use_plan(PlanState(state=7, hash="h", plan=order_plan(7, "h"), publication=3))
    source = BatchSource(checkpoint, order_of(tmp_path, "a", 7, 9), cast(Any, None), 0, None)
    order = source.order_of(BatchPlan(number=1, plan=use, files=[], tasks=[], known={}, bytes_planned=0))
    assert (order.run.mapping.publication, Path(order.plan).name) == (3, use.file)
