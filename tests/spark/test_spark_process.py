"""Runs of the engine on a real Spark: what is written, what is counted, and every way in which a run can end."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest

from metl_gui.core.runs.events import EngineEvent, RunFailed, RunFinished, RunProgressed, RunStarted, RunStopped
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.runs.run_folder import RunFolder
from metl_gui.errors import RunCancelled, RunError
from metl_gui.workbench.samples.run_records import first_results, first_set_aside
from tests.spark.conftest import LONG, SpecOf, order_record


def _source(folder: Path, count: int, name: str = "source/x.jsonl") -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(order_record(n) + b"\n" for n in range(count)))
    return path


def _left(folder: Path) -> list[str]:
    """What stands in a test's folder, its sources and the record of the run aside."""
    record = {"run", "run/spec.json", "run/events.jsonl"}
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    return sorted(name for name in names if not name.startswith("source") and name not in record)


def _lines(folder: Path) -> list[bytes]:
    return [line for part in sorted(folder.rglob("*.jsonl")) for line in part.read_bytes().splitlines()]


def test_every_record_is_sent_set_aside_or_skipped_and_the_report_says_so(
    spark: SparkProcess, spec_of: SpecOf, tmp_path: Path
) -> None:
    path = _source(tmp_path, 5000)
    with path.open("ab") as file:
        file.write(b'{"broken":\nnull\n\xff\xfe\n')
    (path.parent / "more.json.gz").write_bytes(
        gzip.compress(b"[" + order_record(5000) + b"," + order_record(5001) + b"]")
    )
    events: list[EngineEvent] = []
    spec = spec_of(path.parent)
    report = spark.run(spec, events.append)
    assert (report.read, report.mapped, report.set_aside, report.skipped) == (5005, 5002, 2, 1)
    assert report.by_entity == {"order": 5002, "remark": 5002}
    assert report.from_unreviewed == {"remark": 5002}
    assert report.by_reason == {"malformed": 2}
    assert report.by_skip == {"tombstone": 1}
    assert (report.run_id, report.state, report.hash, report.spark) == (spec.run_id, 7, "abc", "local[2]")
    orders = [json.loads(line) for line in _lines(tmp_path / "out" / "order")]
    assert sorted(message["payload"]["order_id"] for message in orders) == list(range(5002))
    assert report.bytes_out == sum(map(len, _lines(tmp_path / "out")))
    assert report.bytes_in == sum(map(len, path.read_bytes().splitlines())) + 2 * len(order_record(5000))
    assert {r.incoming for r in first_set_aside(tmp_path / "errors", 9)} == {b'{"broken":', b"\xff\xfe"}
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunFinished)
    assert RunFolder(Path(spec.policy.folder)).report() == report


def test_order_is_kept_within_a_file_over_all_its_ranges(spark: SparkProcess, spec_of: SpecOf, tmp_path: Path) -> None:
    path = _source(tmp_path, 20_000)
    assert path.stat().st_size > 2 << 20
    report = spark.run(spec_of(path))
    assert len(list((tmp_path / "out" / "order").iterdir())) > 1
    numbers = [json.loads(line)["payload"]["order_id"] for line in _lines(tmp_path / "out" / "order")]
    assert numbers == list(range(20_000))
    assert report.records_per_second > 0


def test_samples_show_records_beside_everything_they_became(
    spark: SparkProcess, spec_of: SpecOf, tmp_path: Path
) -> None:
    spec = spec_of(_source(tmp_path, 100), samples=10)
    spark.run(spec)
    first, *others = first_results(spec.samples_folder, 50)
    assert first.incoming == order_record(0)
    assert first.place == "x.jsonl@0"
    assert [sent.entity for sent in first.outgoing] == ["order", "remark"]
    assert bytes(first.outgoing[0].message) == _lines(tmp_path / "out" / "order")[0]
    assert len(others) == 9


def test_a_limit_reads_no_record_more(spark: SparkProcess, spec_of: SpecOf, tmp_path: Path) -> None:
    report = spark.run(spec_of(_source(tmp_path, 20_000), limit=123))
    assert report.read == 123


def test_noop_sends_nowhere_and_counts_the_same(spark: SparkProcess, spec_of: SpecOf, tmp_path: Path) -> None:
    report = spark.run(spec_of(_source(tmp_path, 10), "noop"))
    assert (report.messages_out, report.outputs) == (20, "")
    assert not (tmp_path / "out").exists()


def test_two_runs_at_once_are_refused(spark: SparkProcess, spec_of: SpecOf, tmp_path: Path) -> None:
    source = _source(tmp_path, 10)

    def again(_event: EngineEvent) -> None:
        with pytest.raises(RunError, match="going on already"):
            spark.run(spec_of(source))

    spark.run(spec_of(source), again)


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        (lambda folder: (folder / "source.gz").write_bytes(gzip.compress(os.urandom(5000))[:2000]), "source.gz"),
        (lambda folder: (folder / "source.gz").mkdir(), "empty"),
        (lambda _folder: None, "does not exist"),
    ],
)
def test_a_bad_source_fails_the_run_in_words_and_leaves_nothing(
    spark: SparkProcess, spec_of: SpecOf, tmp_path: Path, prepare: object, said: str
) -> None:
    assert callable(prepare)
    prepare(tmp_path)
    events: list[EngineEvent] = []
    with pytest.raises(RunError) as caught:
        spark.run(spec_of(tmp_path / "source.gz"), events.append)
    assert said in str(caught.value)
    assert caught.value.hint
    assert "Traceback" not in str(caught.value)
    assert isinstance(events[-1], RunFailed)
    assert _left(tmp_path) == []


def test_a_file_that_shrinks_during_the_run_fails_it_by_name(
    spark: SparkProcess, spec_of: SpecOf, long_source: Path, tmp_path: Path
) -> None:
    path = tmp_path / "source" / "x.jsonl"
    path.parent.mkdir()
    shutil.copyfile(long_source, path)

    def shrink(event: EngineEvent) -> None:
        if isinstance(event, RunStarted):
            os.truncate(path, 1000)

    with pytest.raises(RunError, match="became shorter") as caught:
        spark.run(spec_of(path), shrink)
    assert "x.jsonl" in caught.value.text
    assert _left(tmp_path) == []


def test_a_file_that_grows_during_the_run_is_read_to_its_old_end_and_reported(
    spark: SparkProcess, spec_of: SpecOf, tmp_path: Path
) -> None:
    path = _source(tmp_path, 50_000)

    def grow(event: EngineEvent) -> None:
        if isinstance(event, RunStarted):
            with path.open("ab") as file:
                file.write(order_record(1) + b"\n")

    report = spark.run(spec_of(path), grow)
    assert report.read == 50_000
    assert any("x.jsonl grew" in problem for problem in report.problems)


def test_cancel_in_the_middle_leaves_nothing_and_the_session_goes_on(
    slow_spark: SparkProcess, spec_of: SpecOf, long_source: Path, tmp_path: Path
) -> None:
    # Not while the session still warms up: then a cancel in time may take the process.
    first = spec_of(_source(tmp_path, 10, "source/first.jsonl"), "noop", folder=str(tmp_path / "source" / "run"))
    assert slow_spark.run(first).read == 10
    host = slow_spark.process_id
    asked: list[bool] = []
    events: list[EngineEvent] = []

    def cancel_in_the_middle(event: EngineEvent) -> None:
        events.append(event)
        if isinstance(event, RunProgressed) and event.tally.read and not asked:
            asked.append(True)
            slow_spark.cancel()

    with pytest.raises(RunCancelled):
        slow_spark.run(spec_of(long_source), cancel_in_the_middle)
    assert isinstance(events[-1], RunStopped)
    assert max(event.tally.read for event in events if isinstance(event, RunProgressed)) < LONG
    assert _left(tmp_path) == []
    assert slow_spark.run(spec_of(_source(tmp_path, 10))).read == 10
    assert slow_spark.process_id == host
