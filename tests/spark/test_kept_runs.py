"""What runs of earlier versions left is gone on with: no record is missing, and none is there twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metl_gui.core.runs.report import RunReport, Tally
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.workbench.runs.mapping_run import run_mapping
from metl_gui.workbench.runs.production import find_run, follow_events, stop_run
from metl_gui.workbench.runs.replay import replay
from metl_gui.workbench.session import Workbench
from tests.compatibility.installed import Installed
from tests.compatibility.messages import as_in_0_1, messages_in
from tests.helpers.killing import end_everything, wait_for
from tests.helpers.run_requests import replay_request, run_request

COUNTS = ("read", "mapped", "filtered", "set_aside", "skipped", "messages_out", "by_entity", "by_reason", "by_skip")


@pytest.fixture
def workbench(kept: Installed) -> Iterator[Workbench]:
    with Workbench.open(kept.project) as opened:
        yield opened


def counts_of(report: RunReport | Tally) -> dict[str, object]:
    return {name: getattr(report, name) for name in COUNTS}


def report_then(kept: Installed, run: str) -> RunReport:
    """Return the report of a kept run."""
    run_id = kept.json("runs.json")[run]
    (found,) = (one for one in kept.json("answers/runs.json")["runs"] if one["run_id"] == run_id)
    return msgspec.convert(found["report"], RunReport, str_keys=True)


@pytest.mark.parametrize("run", ["test", "parquet"])
def test_the_records_of_a_kept_run_become_the_very_messages_or_rows_that_they_became_then(
    kept: Installed, workbench: Workbench, spark: SparkProcess, run: str
) -> None:
    then, again = report_then(kept, run), kept.root / "again"
    is_parquet = run == "parquet"
    request = run_request(
        str(kept.root / "source"),
        str(again),
        state=then.state,
        format="parquet" if is_parquet else "jsonl",
        by_date=is_parquet,
    )
    assert counts_of(run_mapping(workbench, request, spark).report) == counts_of(then)
    then_in = kept.root / "out" / run
    if is_parquet:
        assert tables_in(again) == tables_in(then_in)
    else:
        assert has_new_members(messages_in(again))
        assert messages_since(again) == messages_in(then_in)


def test_a_kept_checkpoint_is_gone_on_with_and_no_record_is_missing_or_mapped_twice(
    kept: Installed, workbench: Workbench, spark: SparkProcess
) -> None:
    before = messages_in(kept.root / "out" / "stream")
    request = run_request(
        str(kept.root / "source"),
        str(kept.root / "out" / "stream"),
        errors=str(kept.root / "stream-errors"),
        checkpoint=str(kept.root / "checkpoint"),
        state=report_then(kept, "test").state,
    )
    together = Tally()
    for part in (report_then(kept, "stream"), run_mapping(workbench, request, spark).report):
        together.add(Tally(**{name: getattr(part, name) for name in Tally.__struct_fields__}))
    now = messages_in(kept.root / "out" / "stream")
    assert counts_of(together) == counts_of(report_then(kept, "test"))
    assert [as_in_0_1(message) for message in now] == messages_in(kept.root / "out" / "test")
    assert 0 < len(before) < len(now)
    assert has_new_members((Counter(now) - Counter(before)).elements())
    assert not Counter(before) - Counter(now)


def test_a_kept_error_store_is_replayed_once_into_the_very_messages_that_it_became_then(
    kept: Installed, workbench: Workbench, spark: SparkProcess
) -> None:
    errors, sink = str(kept.root / "errors"), kept.root / "again"
    report = replay(workbench, replay_request(errors, str(sink), state=report_then(kept, "test").state), spark).report
    assert counts_of(report) == counts_of(report_then(kept, "replay"))
    assert has_new_members(messages_in(sink))
    assert messages_since(sink) == messages_in(kept.root / "out" / "replayed")
    again = replay(
        workbench, replay_request(errors, str(kept.root / "once-more"), state=report_then(kept, "test").state), spark
    ).report
    assert (again.read, again.messages_out) == (report.set_aside, 0)


def test_the_next_run_takes_away_what_a_kept_run_left_that_was_switched_off(
    kept: Installed, workbench: Workbench, spark: SparkProcess
) -> None:
    assert left_in(kept.root / "out")
    run_mapping(workbench, run_request(str(kept.root / "source"), str(kept.root / "out" / "again"), limit=1), spark)
    assert left_in(kept.root / "out") == []


@pytest.mark.slow
def test_a_kept_production_run_that_was_killed_goes_on_and_no_record_is_missing_or_mapped_twice(
    kept: Installed, workbench: Workbench
) -> None:
    found = find_run(workbench.project_id, kept.json("runs.json")["died"])
    kept.metl("runs", kept.project, "--resume", found.run_id, "--detach")
    try:
        whole = report_then(kept, "production").read  # the last records may become no message
        wait_for(lambda: bool(kept.metl("runs", kept.project, "--show", found.run_id)["report"]["read"] == whole), 0.5)
        stop_run(found, 60)
        report = follow_events(found, lambda _event: None)
    finally:
        end_everything(found)
    assert report is not None
    assert counts_of(report) == counts_of(report_then(kept, "production"))
    assert messages_since(kept.root / "out" / "died") == messages_in(kept.root / "out" / "production")


def left_in(folder: Path) -> list[str]:
    """Name what lies hidden in a folder since a run was switched off."""
    return sorted(path.name for path in folder.glob(".unfinished*"))


def has_new_members(messages: Iterable[str]) -> bool:
    """Say whether the sources of all messages say more than those of 0.1."""
    return all(as_in_0_1(message) != message for message in messages)


def messages_since(folder: Path) -> list[str]:
    """Return all messages of a folder as 0.1 wrote them, sorted."""
    return sorted(as_in_0_1(message) for message in messages_in(folder))


def as_table_of_0_1(table: pa.Table) -> pa.Table:
    """Return a table as 0.1 wrote it: without the columns and source members that came later, at the end."""
    at = table.schema.get_field_index("source")
    names = ["schema", "version", "position", "origin"]
    whole: Any = table["source"].combine_chunks()
    assert [field.name for field in whole.type][:4] == names
    # What came later stands behind what there was.
    later = [name for name in table.column_names if name in ("absent", "digits")]
    assert table.column_names[len(table.column_names) - len(later) :] == later
    table = table.drop_columns(later)
    return table.set_column(at, "source", pa.StructArray.from_arrays([whole.field(name) for name in names], names))


def tables_in(folder: Path) -> Counter[tuple[str, str, str]]:
    """Return all rows of a folder of Parquet as 0.1 wrote them, each with its entity, day and types of columns."""
    found: Counter[tuple[str, str, str]] = Counter()
    for path in folder.rglob("*.parquet"):
        table = as_table_of_0_1(pq.ParquetFile(path).read())
        types = str([(field.name, str(field.type)) for field in table.schema])
        found.update((path.parent.relative_to(folder).as_posix(), types, repr(row)) for row in table.to_pylist())
    return found
