"""Records that are set aside by a load that holds no masked values: without these, and not mapped again as if whole."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.sources.error_records import read_set_aside
from metl_gui.engine.sources.error_store import ErrorStore, ReplaySource
from metl_gui.engine.tasks.staging_attempt import StagingAttempt
from metl_gui.engine.tasks.task import TaskAttempt, TaskOrder
from metl_gui.errors import RunError
from metl_gui.formats.hidden_values import HIDDEN
from metl_gui.workbench.samples.run_records import first_set_aside
from tests.unit.engine.test_message_staging import message
from tests.unit.engine.test_stage_sink import ORDER, plan_of
from tests.unit.engine.test_too_large import PLAN, order_in, record

NAME = "Klarname"


def hiding(folder: Path) -> TaskOrder:
    order = order_in(folder, 1 << 20)
    sink = msgspec.structs.replace(order.run.sink, hidden=(("note",), ("name",)), histories=(ORDER,))
    return msgspec.structs.replace(order, run=msgspec.structs.replace(order.run, sink=sink))


def kept(folder: Path) -> list[dict[str, str]]:
    parts = sorted((folder / "errors").rglob("*.jsonl"))
    texts = [path.read_text() for path in parts]
    assert NAME not in "".join(texts)
    return [json.loads(line) for text in texts for line in text.splitlines()]


def test_a_record_is_set_aside_without_its_masked_values_and_a_broken_one_with_nothing(tmp_path: Path) -> None:
    strange = record(NAME).replace(b'"table":"orders"', b'"table":"others"')
    task = TaskAttempt(hiding(tmp_path), Kernel(PLAN), 0, 0)
    task.map(Records.of([strange, b'{"note": "' + NAME.encode(), record(NAME)], "f"))
    assert task.end().tally.set_aside == 2
    broken, unknown = kept(tmp_path)
    assert (broken["reason"], broken["raw"], broken["detail"]) == ("malformed", "", "")
    assert (unknown["reason"], json.loads(unknown["raw"])["after"]) == ("unknown_schema", {"id": 1, "note": HIDDEN})
    assert unknown["position"].startswith("f@")
    assert [row.reason for row in first_set_aside(tmp_path / "errors", 5)] == ["malformed", "unknown_schema"]
    source = ReplaySource(ErrorStore.at(tmp_path / "errors"), "r2", "test", False, False)
    files, tasks = source.cut(None, 1)
    with pytest.raises(RunError, match="not whole") as refused:
        list(read_set_aside(files, [piece for task in tasks for piece in task]))
    assert "Load its source again" in refused.value.hint


def test_a_message_whose_value_does_not_fit_is_set_aside_without_it(tmp_path: Path) -> None:
    task = StagingAttempt(hiding(tmp_path), plan_of(), 0, 0)
    task.map(Records.of([message(payload={"id": NAME, "name": NAME}), message(payload={"id": 1})], "m"))
    assert task.end().tally.set_aside == 1
