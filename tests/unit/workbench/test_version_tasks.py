"""From an error store to a task, an import and what is known of it afterwards, in a real project file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Verdict
from metl_gui.core.trees.nodes import Side
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.mapping.plan_compiler import compile_plan
from metl_gui.errors import EditError, ProjectLockedError
from metl_gui.workbench.importing.version_tasks import (
    accept_task,
    collect_tasks,
    dismiss_task,
    entries,
    sample_records,
    version_tasks,
    waiting_stores,
)
from metl_gui.workbench.mapping.table import import_mapping
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.settings import set_settings
from tests.helpers.world import declare

ORDERS = "shop.public.orders"


@pytest.fixture
def workbench(tmp_path: Path) -> Iterator[Workbench]:
    """A project with one mapped schema."""
    with Workbench.create(tmp_path / "shop.metl") as opened:
        opened.do(AddVersion(Side.EXTRACTION, declare(ORDERS, ["id", "amount", "mail"], "1")))
        opened.do(AddVersion(Side.CDM, declare("order", ["number", "total", "contact"], "1")))
        table = tmp_path / "mapping.csv"
        rows = [("id", "number"), ("amount", "total"), ("mail", "contact")]
        lines = [f"{ORDERS},1,{source},order,1,{target}" for source, target in rows]
        head = "schema,schema_version,attribute,entity,entity_version,cdm_attribute"
        table.write_text("\n".join([head, *lines]) + "\n")
        import_mapping(opened, table)
        yield opened


def change(table: str = "orders", **columns: Any) -> bytes:
    source = {"name": "shop", "schema": "public", "table": table, "lsn": 1}
    return json.dumps({"before": None, "after": columns, "source": source, "op": "c", "ts_ms": 1}).encode()


def run(workbench: Workbench, errors: Path, *raws: bytes) -> Path:
    """Set aside what no version of the project fits, as a run does."""
    outcome = Kernel(compile_plan(workbench.document)).map(Records.of(raws, "in.jsonl", range(len(raws))))
    for row in outcome.set_aside:
        folder = errors / f"reason={row.reason}"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "part-000000-0.jsonl").open("ab") as part:
            part.write(row.text + b"\n")
    return errors


def test_an_unknown_version_is_proposed_with_what_is_new_in_it_and_accepting_it_runs_the_update(
    workbench: Workbench, tmp_path: Path
) -> None:
    raws = [change(id=n, amount=1, channel="web") for n in range(30)]
    errors = run(workbench, tmp_path / "errors", *raws)
    (task,) = collect_tasks(workbench, errors, "r1")
    (entry,) = entries(workbench)
    assert (entry.new_attributes, entry.gone_attributes, entry.task.records) == (("channel",), ("mail",), 30)
    assert not entry.is_new_schema
    done = accept_task(workbench, task.id)
    assert (done.added[0].version, done.blocks[Verdict.SMALLER.value], done.needs_review) == ("2", 1, 1)
    assert version_tasks(workbench) == ()
    again = Kernel(compile_plan(workbench.document)).map(Records.of(raws, "in.jsonl", range(30)))
    assert again.counts()["mapped"] == 30


def test_a_version_read_off_rows_keeps_the_types_that_its_attributes_had_where_the_values_allow_it(
    workbench: Workbench, tmp_path: Path
) -> None:
    typed = ["id:int64", "amount:double", "mail", "on:int32", "flag:boolean", "code"]
    workbench.do(AddVersion(Side.EXTRACTION, declare(ORDERS, typed, "2")))
    row: dict[str, Any] = {"id": 1, "amount": 2, "mail": None, "on": "text now", "flag": True, "code": 7, "fresh": 1.5}
    (task,) = collect_tasks(workbench, run(workbench, tmp_path / "errors", change(**row)), "r1")
    accept_task(workbench, task.id)
    schema = workbench.document.extraction.named(ORDERS)
    assert schema is not None
    newest = workbench.document.extraction.newest(schema.id)
    assert newest is not None
    assert newest.inferred
    assert {a.path: a.type for a in newest.attributes} == {
        "id": "int64", "amount": "double", "mail": "string", "on": "string", "flag": "boolean", "code": "integer",
        "fresh": "number",
    }  # fmt: skip


def test_undoing_the_import_brings_the_task_back(workbench: Workbench, tmp_path: Path) -> None:
    (task,) = collect_tasks(workbench, run(workbench, tmp_path / "errors", change(id=1, more=2)), "r1")
    accept_task(workbench, task.id)
    workbench.undo()
    assert [one.id for one in version_tasks(workbench)] == [task.id]


def test_a_renamed_table_can_be_taken_as_a_version_of_the_schema_that_it_continues(
    workbench: Workbench, tmp_path: Path
) -> None:
    raws = [change("purchases", id=1, amount=1, mail="x", more=1)]
    (task,) = collect_tasks(workbench, run(workbench, tmp_path / "errors", *raws), "r1")
    (entry,) = entries(workbench)
    assert entry.is_new_schema
    assert entry.continues is not None
    assert entry.continues.name == ORDERS
    state = workbench.document.state
    done = accept_task(workbench, task.id, continues=ORDERS)
    assert [(version.name, version.version) for version in done.added] == [(ORDERS, "2")]
    schema = workbench.document.extraction.named("shop.public.purchases")
    assert schema is not None
    assert schema.name == ORDERS
    assert version_tasks(workbench) == ()
    workbench.undo()
    assert workbench.document.extraction.named("shop.public.purchases") is None
    assert workbench.document.state > state


def test_a_renamed_table_with_the_same_columns_needs_no_version_but_a_name(
    workbench: Workbench, tmp_path: Path
) -> None:
    (task,) = collect_tasks(
        workbench, run(workbench, tmp_path / "errors", change("purchases", id=1, amount=1, mail="x")), "r1"
    )
    done = accept_task(workbench, task.id, continues=ORDERS)
    assert done.added == ()
    assert workbench.document.extraction.named("shop.public.purchases") is not None
    assert version_tasks(workbench) == ()


def test_masked_values_leave_no_form_in_the_project_and_no_value_in_samples(
    workbench: Workbench, tmp_path: Path
) -> None:
    set_settings(workbench, ORDERS, ["mask=mail"])
    errors = run(workbench, tmp_path / "errors", change(id=1, amount=1, mail="mira@example.org", note="call 555"))
    (task,) = collect_tasks(workbench, errors, "r1")
    told = {one.path: one.patterns for one in task.samples}
    assert told["mail"] == ()
    assert told["note"] == ("aaaa 999",)
    (shown,) = sample_records(workbench, task)
    assert "mira" not in shown
    assert "call 555" in shown
    assert b"mira" not in workbench.path.read_bytes()


def test_samples_are_none_when_the_error_store_is_gone(workbench: Workbench, tmp_path: Path) -> None:
    errors = run(workbench, tmp_path / "errors", change(id=1, more=1))
    (task,) = collect_tasks(workbench, errors, "r1")
    errors.rename(tmp_path / "elsewhere")
    assert sample_records(workbench, task) == ()
    assert waiting_stores(task) == ()


def test_tasks_are_kept_by_a_run_of_a_project_that_another_one_edits(workbench: Workbench, tmp_path: Path) -> None:
    errors = run(workbench, tmp_path / "errors", change(id=1, more=1))
    with Workbench.open(workbench.path, for_editing=False) as reader:
        (task,) = collect_tasks(reader, errors, "r1")
        with pytest.raises(ProjectLockedError):
            dismiss_task(reader, task.id)
    assert [one.id for one in version_tasks(workbench)] == [task.id]


def test_a_dismissed_task_stays_away_after_the_next_run_and_the_reopening(workbench: Workbench, tmp_path: Path) -> None:
    errors = run(workbench, tmp_path / "errors", change(id=1, more=1))
    (task,) = collect_tasks(workbench, errors, "r1")
    assert dismiss_task(workbench, task.id)
    assert collect_tasks(workbench, errors, "r2") == ()
    with Workbench.open(workbench.path, for_editing=False) as reader:
        assert version_tasks(reader) == ()


def test_a_task_that_is_not_there_is_answered_with_those_that_are(workbench: Workbench, tmp_path: Path) -> None:
    (task,) = collect_tasks(workbench, run(workbench, tmp_path / "errors", change(id=1, more=1)), "r1")
    with pytest.raises(EditError, match=f"stand: {task.id}"):
        accept_task(workbench, 99)
    with pytest.raises(EditError, match="no schema nowhere"):
        accept_task(workbench, task.id, continues="nowhere")


def test_of_many_tasks_only_some_are_named_when_one_is_not_there(workbench: Workbench, tmp_path: Path) -> None:
    shapes = [change("orders", **{f"more_{at}": 1}) for at in range(12)]
    tasks = collect_tasks(workbench, run(workbench, tmp_path / "errors", *shapes), "r1")
    assert len(tasks) == 12
    with pytest.raises(EditError, match=r"stand: 1, 2, [0-9, ]*10 and 2 more\."):
        accept_task(workbench, 99)


def test_a_label_is_one_line_of_signs_that_can_be_seen(workbench: Workbench, tmp_path: Path) -> None:
    (task,) = collect_tasks(workbench, run(workbench, tmp_path / "errors", change(id=1, more=1)), "r1")
    for label in ("\u202e7", "x" * 201):
        with pytest.raises(EditError, match="name"):
            accept_task(workbench, task.id, label=label)
    assert accept_task(workbench, task.id, label=" 1\nb ").added[0].version == "1 b"


def test_a_label_that_is_taken_refuses_the_version_and_another_one_takes_it(
    workbench: Workbench, tmp_path: Path
) -> None:
    (task,) = collect_tasks(workbench, run(workbench, tmp_path / "errors", change(id=1, more=1)), "r1")
    with pytest.raises(EditError, match="version 1 is there already"):
        accept_task(workbench, task.id, label="1")
    assert accept_task(workbench, task.id, label="1b").added[0].version == "1b"
