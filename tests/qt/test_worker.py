"""The worker process does tasks, tells their progress, and can be stopped or die without harm."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from metl_gui.core.progress import Progress, Watch
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import BugError, RunCancelled, SchemaError
from metl_gui.ui.jobs.worker import Worker
from metl_gui.workbench.importing.schema_import import import_sources
from metl_gui.workbench.session import Workbench


def process_id(_watch: Watch) -> int:
    return os.getpid()


def count(steps: int, watch: Watch) -> int:
    for done in range(steps):
        watch.step("Counting", done, steps)
    return steps


def refuse(_watch: Watch) -> None:
    raise SchemaError("It cannot be read.", "Line 3.", "Mend it.")


def stumble(_watch: Watch) -> None:
    raise ZeroDivisionError


def die(_watch: Watch) -> None:
    os._exit(3)


def tell_and_wait(watch: Watch) -> None:
    watch.step("Waiting")
    time.sleep(600)


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.stop()


def test_a_task_is_done_in_another_process_which_stays_for_the_next(worker: Worker) -> None:
    worker.warm_up()
    first, second = worker.call(process_id), worker.call(process_id)
    assert first == second != os.getpid()


def test_progress_reaches_who_watches(worker: Worker) -> None:
    told: list[Progress] = []
    assert worker.call(partial(count, 3), Watch(told.append)) == 3
    assert told == [Progress("Counting", done, 3) for done in range(3)]


def test_an_error_comes_back_with_its_text_and_hint(worker: Worker) -> None:
    with pytest.raises(SchemaError) as caught:
        worker.call(refuse)
    assert (caught.value.text, caught.value.hint) == ("Line 3.", "Mend it.")
    with pytest.raises(BugError, match="ZeroDivisionError"):
        worker.call(stumble)


def test_a_worker_that_dies_is_told_and_replaced(worker: Worker) -> None:
    with pytest.raises(BugError, match="ended before its task was done"):
        worker.call(die)
    assert worker.call(partial(count, 1)) == 1


def test_a_cancel_ends_a_task_that_never_looks(worker: Worker) -> None:
    cancelled = threading.Event()
    with pytest.raises(RunCancelled):
        worker.call(tell_and_wait, Watch(lambda _progress: cancelled.set(), cancelled.is_set))
    assert worker.call(partial(count, 1)) == 1


def test_stopping_ends_a_task_that_goes_on_in_another_thread(worker: Worker) -> None:
    begun = threading.Event()
    ended: list[str] = []

    def work() -> None:
        try:
            worker.call(tell_and_wait, Watch(lambda _progress: begun.set()))
        except BugError as error:
            ended.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(60)
    worker.warm_up()  # returns at once although the task never ends
    worker.stop()
    thread.join(60)
    assert ended == ["the worker process ended before its task was done"]


def test_an_import_that_reads_in_the_worker_adds_what_it_adds_without(worker: Worker, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    schema = '{"title": "order", "type": "object", "properties": {"id": {"type": "integer"}}}'
    (folder / "order.json").write_text(schema)
    (folder / "broken.json").write_text("{")
    with Workbench.create(tmp_path / "a.metl") as a, Workbench.create(tmp_path / "b.metl") as b:
        here = import_sources(a, Side.CDM, [folder])
        aside = import_sources(b, Side.CDM, [folder], aside=worker.call)
    assert aside == here
    assert [version.name for version in aside.added] == ["order"]
    assert len(aside.refused) == 1
