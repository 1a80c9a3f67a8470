"""Sources that are broken, hostile or change while they are read, on a real Spark."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from metl_gui.core.runs.events import EngineEvent, RunProgressed
from metl_gui.core.runs.report import RunReport
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.errors import RunError
from metl_gui.workbench.samples.run_records import first_set_aside
from tests.spark.conftest import SpecOf, order_record

_LINE_BYTES = 200_000_000
_MOST_MEMORY_KB = 500_000
RECORDS = b"".join(order_record(n) + b"\n" for n in range(100))


def no_traces(folder: Path) -> bool:
    return not any(path.name in {"out", "errors"} or path.suffix == ".partial" for path in folder.iterdir())


def kept(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for part in folder.rglob("*.jsonl") for line in part.read_text().splitlines()]


def peak_memory_kb(process_id: int) -> int:
    """The most memory that any Python worker below a process ever had."""
    most = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            status = (entry / "status").read_text()
        except OSError:
            continue
        if parent == process_id:
            is_worker = b"pyspark" in (entry / "cmdline").read_bytes() and "Name:\tjava" not in status
            own = int(status.partition("VmHWM:")[2].split()[0]) if is_worker and "VmHWM:" in status else 0
            most = max(most, own, peak_memory_kb(int(entry.name)))
    return most


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(RECORDS)[:-9],
        gzip.compress(RECORDS) + b"garbage",
        b"\x1f\x8b" + b"\0" * 50,
        b"BZh9" + b"x" * 50,
        b"\x28\xb5\x2f\xfd" + b"x" * 50,
    ],
    ids=["cut gzip", "gzip with garbage", "broken gzip", "broken bzip2", "broken zstd"],
)
def test_a_damaged_packed_file_fails_the_run_by_name_and_nothing_stays(
    spark: SparkProcess, spec_of: SpecOf, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "good.jsonl").write_bytes(RECORDS)
    (tmp_path / "source" / "bad.gz").write_bytes(content)
    with pytest.raises(RunError, match=r"bad\.gz") as caught:
        spark.run(spec_of(tmp_path / "source"))
    assert "cut off or damaged" in caught.value.title
    assert caught.value.hint
    assert no_traces(tmp_path)


def test_a_source_of_empty_files_is_a_run_of_no_records(spark: SparkProcess, spec_of: SpecOf, tmp_path: Path) -> None:
    (tmp_path / "source.jsonl").write_bytes(b"")
    report = spark.run(spec_of(tmp_path / "source.jsonl"))
    assert (report.read, report.messages_out) == (0, 0)


def test_each_bad_record_is_set_aside_exactly_and_its_neighbours_are_mapped(
    spark: SparkProcess, spec_of: SpecOf, tmp_path: Path
) -> None:
    bad = (
        b'{"a":"\xc3\x28"}',
        b"\xff\xfe{}",
        b"\0\0",
        b"nonsense",
        b'{"before":null',
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 70 + b"1" + b"}" * 70,
    )
    (tmp_path / "source.jsonl").write_bytes(RECORDS + b"".join(line + b"\n" + RECORDS for line in bad))
    report = spark.run(spec_of(tmp_path / "source.jsonl"))
    assert report.by_reason == {"malformed": len(bad)}
    assert (report.read, report.mapped) == (100 * (len(bad) + 1) + len(bad), 100 * (len(bad) + 1))
    assert {row["raw"].encode() for row in kept(tmp_path / "errors") if "raw" in row} == set(bad[2:])


def huge_line(path: Path) -> None:
    with path.open("wb") as file:
        file.write(RECORDS + b'{"before":null,"after":{"note":"')
        for _ in range(_LINE_BYTES // 1_000_000):
            file.write(b"x" * 1_000_000)
        file.write(b'"}}\n' + RECORDS)


def huge_array(path: Path) -> None:
    with path.open("wb") as file:
        for _ in range(_LINE_BYTES // 1_000_000):
            file.write(b"[" * 1_000_000)


def huge_packed(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b'{"before":"')
        for _ in range(_LINE_BYTES // 1_000_000):
            file.write(b"x" * 1_000_000)


@pytest.mark.parametrize(
    ("write", "mapped"), [(huge_line, 200), (huge_array, 0), (huge_packed, 0)], ids=["line", "brackets", "packed"]
)
def test_a_record_of_200_mb_is_set_aside_whole_in_bounded_memory(
    spark: SparkProcess, spec_of: SpecOf, tmp_path: Path, write: Callable[[Path], None], mapped: int
) -> None:
    write(tmp_path / "source.json")
    report = spark.run(spec_of(tmp_path / "source.json"))
    assert report.by_reason == {"too_large": 1}
    assert (report.read, report.mapped) == (mapped + 1, mapped)
    (aside,) = first_set_aside(tmp_path / "errors", 2)
    (part,) = (tmp_path / "errors" / "reason=too_large").iterdir()
    assert part.stat().st_size > _LINE_BYTES
    assert int(aside.detail.split()[3].replace(",", "")) >= _LINE_BYTES - 1
    assert spark.process_id is not None
    peak = peak_memory_kb(spark.process_id)
    assert 0 < peak < _MOST_MEMORY_KB, peak


def run_while(spark: SparkProcess, spec_of: SpecOf, source: Path, act: Callable[[], object]) -> RunReport:
    """Run, and do something to the source once records are counted."""
    done: list[bool] = []

    def seen(event: EngineEvent) -> None:
        if isinstance(event, RunProgressed) and not done:
            done.append(True)
            act()

    return spark.run(spec_of(source), seen)


@pytest.fixture
def long_source(tmp_path: Path) -> Path:
    path = tmp_path / "source.jsonl"
    path.write_bytes(RECORDS * 4000)
    return path


def test_a_source_that_shrinks_fails_the_run_by_name(spark: SparkProcess, spec_of: SpecOf, long_source: Path) -> None:
    with pytest.raises(RunError, match="became shorter") as caught:
        run_while(spark, spec_of, long_source, lambda: long_source.write_bytes(RECORDS))
    assert str(long_source) in caught.value.text
    assert no_traces(long_source.parent)


def test_a_source_that_is_deleted_fails_the_run_by_name(
    spark: SparkProcess, spec_of: SpecOf, long_source: Path
) -> None:
    with pytest.raises(RunError, match="cannot be read") as caught:
        run_while(spark, spec_of, long_source, long_source.unlink)
    assert str(long_source) in caught.value.text
    assert no_traces(long_source.parent)


def test_what_a_source_grows_by_is_told_and_not_read(spark: SparkProcess, spec_of: SpecOf, long_source: Path) -> None:
    def grow() -> None:
        with long_source.open("ab") as file:
            file.write(RECORDS)

    report = run_while(spark, spec_of, long_source, grow)
    assert report.read == 400_000
    assert any("grew by" in problem for problem in report.problems)
