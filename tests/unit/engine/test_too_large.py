"""Records beyond the limit: whole in the error store, never whole in memory, and mapped again with a larger limit."""

from __future__ import annotations

import base64
import gzip
import io
import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastavro
import pytest

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.core.runs.limits import LIMIT_BYTES
from metl_gui.engine.kafka.topic_messages import Outgoings
from metl_gui.engine.kafka.topic_orders import TopicOrder
from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.sinks.topic_sink import refusals, without_refused
from metl_gui.engine.sources.batches import read_batches
from metl_gui.engine.sources.error_records import read_set_aside
from metl_gui.engine.sources.error_store import ErrorStore, ReplaySource
from metl_gui.engine.sources.files import FileRange, SourceFile, cut_ranges, list_files
from metl_gui.engine.sources.large_records import LargeReaders
from metl_gui.engine.spark.task_errors import TaskError, run_error
from metl_gui.engine.tasks.task import TaskAttempt, TaskOrder, TaskOutcome
from metl_gui.workbench.samples.run_records import first_set_aside
from tests.helpers.run_specs import run_spec

_ROOT = Path(__file__).parents[3]
PLAN = Plan(
    7,
    "abc",
    (
        SchemaPlan(
            "shop.public.orders",
            (VersionPlan("1", "", ("id", "note"), blocks=(BlockPlan("order", "1", (("note", "note"),)),)),),
        ),
    ),
)


def record(note: str) -> bytes:
    source = '"source":{"connector":"postgresql","name":"shop","schema":"public","table":"orders","lsn":5}'
    return (
        f'{{"before":null,"after":{{"id":1,"note":{json.dumps(note, ensure_ascii=False)}}},{source},"op":"c"}}'.encode()
    )


def order_in(folder: Path, limit_bytes: int) -> TaskOrder:
    for name in ("messages", "errors", "samples"):
        (folder / name).mkdir(parents=True)
    return TaskOrder(
        run=run_spec(max_record_bytes=limit_bytes),
        plan="",
        messages=str(folder / "messages"),
        errors=str(folder / "errors"),
        samples=str(folder / "samples"),
        has_samples=False,
        progress=str(folder / "none"),
    )


Read = Callable[..., Any]


def task_of(folder: Path, files: list[SourceFile], ranges: list[FileRange], limit: int, read: Read) -> TaskOutcome:
    order = order_in(folder, limit)
    task = TaskAttempt(order, Kernel(PLAN), 0, 0)
    with LargeReaders(files) as large:
        for batch in read(files, ranges, None, limit):
            task.map(batch.records, large.of(batch))
    return task.end()


def run(folder: Path, source: Path, limit_bytes: int) -> TaskOutcome:
    files, tasks = cut_ranges(list_files(str(source)))
    return task_of(folder, files, [piece for task in tasks for piece in task], limit_bytes, read_batches)


def replay(folder: Path, errors: Path, limit_bytes: int) -> TaskOutcome:
    source = ReplaySource(ErrorStore.at(errors, ["too_large"]), "r2", "test", False, False)
    files, tasks = source.cut(None, 1)
    return task_of(folder, files, [piece for task in tasks for piece in task], limit_bytes, read_set_aside)


def rows_in(folder: Path) -> list[dict[str, Any]]:
    parts = (folder / "errors" / "reason=too_large").glob("*")
    return [json.loads(line) for part in parts for line in part.read_bytes().splitlines()]


def raw_of(row: dict[str, Any]) -> bytes:
    return base64.b64decode(row["raw_base64"]) if "raw_base64" in row else row["raw"].encode()


LARGE = [
    record('é"\\\u2028\x01' * 3000),
    b'{"broken ' + bytes(range(128, 256)) * 200 + b'"}',
    record("x" * 3_000_000),
    b"[" * 20_000,
]
SMALL = [record(f"n{number}") for number in range(3)]


def mixed() -> list[bytes]:
    found = [*SMALL, LARGE[0], SMALL[0], LARGE[1], LARGE[2], SMALL[1], LARGE[3]]
    random.Random(4).shuffle(found)
    return found


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("limit", [1000, 5000, 20_000])
def test_a_large_record_is_in_the_error_store_whole_and_exact(
    tmp_path: Path, pack: Callable[[bytes], bytes], limit: int
) -> None:
    records = mixed()
    text = b"\r\n".join(records)
    (tmp_path / "s").write_bytes(pack(text))
    outcome = run(tmp_path / "run", tmp_path / "s", limit)
    large = [raw for raw in records if len(raw) > limit]
    assert outcome.tally.by_reason["too_large"] == len(large)
    assert (outcome.tally.read, outcome.tally.bytes_in) == (len(records), sum(map(len, records)))
    rows = rows_in(tmp_path / "run")
    assert [raw_of(row) for row in rows] == large
    assert [row["size_bytes"] for row in rows] == [len(raw) for raw in large]
    assert [int(row["position"].removeprefix("s@")) for row in rows] == [text.index(raw) for raw in large]
    assert all(f"{limit:,}" in row["detail"] for row in rows)


def test_a_large_value_of_an_array_is_kept_too(tmp_path: Path) -> None:
    values = [SMALL[0], LARGE[0], SMALL[1], LARGE[2], SMALL[2]]
    (tmp_path / "s").write_bytes(b"[" + b",\n ".join(values) + b"]")
    assert run(tmp_path / "run", tmp_path / "s", 9000).tally.mapped == 3
    assert [raw_of(row) for row in rows_in(tmp_path / "run")] == [LARGE[0], LARGE[2]]


_AVRO = {
    "type": "record",
    "name": "shop.Note",
    "fields": [{"name": "id", "type": "int"}, {"name": "note", "type": "bytes"}],
}
_NOTES = [(number, bytes([97 + number]) * size) for number, size in enumerate((5, 50_000, 7, 1_000_000, 300_000, 3))]


def avro_file(codec: str) -> bytes:
    stream = io.BytesIO()
    rows = [{"id": number, "note": note} for number, note in _NOTES]
    fastavro.writer(stream, _AVRO, rows, codec=codec, sync_interval=400_000)
    return stream.getvalue()


@pytest.mark.parametrize("codec", ["null", "deflate", "gzip around it"])
def test_a_large_record_of_an_avro_file_is_in_the_error_store_as_the_kernel_was_given_it(
    tmp_path: Path, codec: str
) -> None:
    content = gzip.compress(avro_file("null")) if codec.startswith("gzip") else avro_file(codec)
    (tmp_path / "s").write_bytes(content)
    outcome = run(tmp_path / "run", tmp_path / "s", 10_000)
    assert (outcome.tally.read, outcome.tally.by_reason["too_large"]) == (len(_NOTES), 3)
    files, (pieces,) = cut_ranges(list_files(str(tmp_path / "s")))
    whole = [
        (batch.records.position(at), raw)
        for batch in read_batches(files, pieces)
        for at, raw in enumerate(batch.records)
    ]
    large = [(place, raw) for place, raw in whole if len(raw) > 10_000]
    rows = rows_in(tmp_path / "run")
    assert [(row["position"], raw_of(row)) for row in rows] == large
    assert [row["size_bytes"] for row in rows] == [len(raw) for _, raw in large]
    again = replay(tmp_path / "again", tmp_path / "run" / "errors", LIMIT_BYTES)
    assert (again.tally.read, again.tally.by_reason.get("too_large", 0)) == (3, 0)


@pytest.mark.parametrize("limit", [0, 5])
def test_a_limit_below_the_mark_of_avro_records_sets_each_aside_whole(tmp_path: Path, limit: int) -> None:
    (tmp_path / "s").write_bytes(avro_file("null"))
    assert run(tmp_path / "run", tmp_path / "s", limit).tally.by_reason == {"too_large": len(_NOTES)}
    assert sum(len(raw_of(row)) for row in rows_in(tmp_path / "run")) > sum(len(note) for _, note in _NOTES)


@pytest.mark.parametrize("other", ["shorter", "other bytes", "no Avro"])
def test_an_avro_file_that_is_rewritten_between_is_refused_by_name(tmp_path: Path, other: str) -> None:
    source = tmp_path / "s"
    content = avro_file("null")
    source.write_bytes(content)
    files, tasks = cut_ranges(list_files(str(source)))
    task = TaskAttempt(order_in(tmp_path / "run", 10_000), Kernel(PLAN), 0, 0)
    ways = {"shorter": content[:60_000], "other bytes": content.replace(b"b" * 50_000, b"z" * 50_000)}
    with LargeReaders(files) as large:
        (batch,) = read_batches(files, tasks[0], None, 10_000)
        source.write_bytes(ways.get(other, b"y" * len(content)))
        with pytest.raises(TaskError) as caught:
            task.map(batch.records, large.of(batch))
    error = run_error(caught.value)
    assert "during the run" in error.title
    assert str(source) in error.text


def test_a_replay_with_a_larger_limit_maps_what_was_too_large_at_its_first_position(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(b"\n".join([LARGE[2], SMALL[0], LARGE[0]]))
    run(tmp_path / "run", tmp_path / "s", 1000)
    again = replay(tmp_path / "again", tmp_path / "run" / "errors", LIMIT_BYTES)
    assert (again.tally.read, again.tally.mapped, again.tally.set_aside) == (2, 2, 0)
    whole = run(tmp_path / "whole", tmp_path / "s", LIMIT_BYTES)
    assert whole.tally.mapped == 3

    def sent(folder: str) -> dict[str, bytes]:
        (part,) = (tmp_path / folder / "messages" / "order").iterdir()
        return {json.loads(line)["source"]["position"]: line for line in part.read_bytes().splitlines()}

    assert sent("again") == {
        place: line for place, line in sent("whole").items() if not place.endswith(f"@{len(LARGE[2]) + 1}")
    }


def test_a_replay_that_still_takes_no_more_hands_the_record_on_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(b"\n".join(LARGE[:3]))
    run(tmp_path / "run", tmp_path / "s", 1000)
    first = rows_in(tmp_path / "run")
    once = replay(tmp_path / "once", tmp_path / "run" / "errors", 2000)
    twice = replay(tmp_path / "twice", tmp_path / "once" / "errors", 1_000_000)
    assert (once.tally.by_reason, twice.tally.by_reason["too_large"]) == ({"too_large": 3}, 1)
    same = ("position", "size_bytes")
    for before, after in zip(first, rows_in(tmp_path / "once"), strict=True):
        assert [before[name] for name in same] == [after[name] for name in same]
        assert raw_of(before) == raw_of(after)
    assert [raw_of(row) for row in rows_in(tmp_path / "twice")] == [LARGE[2]]


def test_a_record_of_which_a_store_has_only_the_beginning_is_never_mapped_as_if_it_were_whole(tmp_path: Path) -> None:
    folder = tmp_path / "e" / "reason=too_large"
    folder.mkdir(parents=True)
    detail = "the record has 100 bytes, of which the first 2 are kept here"
    row = {"reason": "too_large", "detail": detail, "state": 7, "position": "f@0", "raw": "{}"}
    (folder / "part-000000-0.jsonl").write_text(json.dumps(row) + "\n")
    again = replay(tmp_path / "again", tmp_path / "e", LIMIT_BYTES)
    assert (again.tally.mapped, again.tally.by_reason) == (0, {"too_large": 1})


def test_a_source_that_is_rewritten_between_is_refused_by_name(tmp_path: Path) -> None:
    source = tmp_path / "s"
    source.write_bytes(LARGE[2])
    files, tasks = cut_ranges(list_files(str(source)))
    task = TaskAttempt(order_in(tmp_path / "run", 1000), Kernel(PLAN), 0, 0)
    with LargeReaders(files) as large:
        (batch,) = read_batches(files, tasks[0], None, 1000)
        source.write_bytes(b"y" * len(LARGE[2]))
        with pytest.raises(TaskError) as caught:
            task.map(batch.records, large.of(batch))
    error = run_error(caught.value)
    assert "was changed during the run" in error.title
    assert str(source) in error.text


_BOUNDED = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.unit.engine.test_too_large import run
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[4]), int(sys.argv[4])))
outcome = run(Path(sys.argv[2]), Path(sys.argv[3]), 1 << 20)
assert outcome.tally.by_reason == {"too_large": 2}, outcome.tally
"""


def test_records_of_100_mb_pass_through_a_process_that_has_not_that_much_memory_left(tmp_path: Path) -> None:
    source = tmp_path / "s"
    with source.open("wb") as file:
        for letter in (b"x", b"\xff"):
            file.write(b'{"a":"')
            for _ in range(100):
                file.write(letter * 1_000_000)
            file.write(b'"}\n')
    command = [sys.executable, "-c", _BOUNDED, str(_ROOT), str(tmp_path / "run"), str(source)]
    # What importing takes, and 80 MB: less than one of the records.
    imported = "import resource, tests.unit.engine.test_too_large;"
    size = f"{imported} print(int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize())"
    done = subprocess.run([sys.executable, "-c", size], cwd=_ROOT, capture_output=True, text=True, check=True)
    subprocess.run([*command, str(int(done.stdout) + 80_000_000)], cwd=_ROOT, check=True)
    (part,) = (tmp_path / "run" / "errors" / "reason=too_large").iterdir()
    with part.open("rb") as lines:
        sizes = [len(line) for line in lines]
    assert sizes[0] > 100_000_000
    assert sizes[1] > 133_000_000


@pytest.mark.parametrize("note", ["x", "é", "😀", '"\\', "\x01"], ids=["x", "2 bytes", "4 bytes", "escaped", "control"])
def test_a_window_is_shown_the_beginning_of_a_large_record(tmp_path: Path, note: str) -> None:
    large = b'{"a":"' + (note * 1_500_000).encode() + b'"}'
    (tmp_path / "s").write_bytes(b"\n".join([large, SMALL[0] + b"x" * 2000]))
    run(tmp_path / "run", tmp_path / "s", 1000)
    first, second = first_set_aside(tmp_path / "run" / "errors", 10)
    assert large.startswith(first.incoming)
    assert 100_000 < len(first.incoming) < 1 << 20
    assert second.incoming == SMALL[0] + b"x" * 2000


def test_a_window_is_shown_the_beginning_of_large_bytes_too(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(b"\xff" * 3_000_000)
    run(tmp_path / "run", tmp_path / "s", 1000)
    (row,) = first_set_aside(tmp_path / "run" / "errors", 10)
    assert row.incoming == b"\xff" * len(row.incoming)
    assert 500_000 < len(row.incoming) < 1 << 20


def test_a_record_of_which_a_topic_takes_no_message_leaves_those_of_another_record_at_its_place() -> None:
    place = {"topic": "shop.public.orders", "partition": 0, "offset": 5}
    records = [json.dumps({**place, "value": json.loads(record(note))}).encode() for note in ("x" * 5_000, "small")]
    outcome = Kernel(PLAN).map(Records.of(records, "f"))
    sent = Outgoings("metl.{entity}", 7).of(outcome)
    order = TopicOrder(
        servers=KafkaServers(bootstrap="127.0.0.1:1"), topic="metl.{entity}", limits={"metl.order": 2_000}
    )
    refused = refusals(order, outcome, sent)
    assert list(refused) == [0]
    (left,) = without_refused(outcome, sent, refused)
    assert b"small" in (left.value or b"")
