"""Micro batches of typed columns by date, killed at any moment by SIGKILL and gone on with: each row once."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds

_ROOT = Path(__file__).parents[3]
_BATCHES = 3
_ROWS = 40
_GO_ON = f"""
import os, sys
from pathlib import Path
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.kernel.records import Records
from metl_gui.core.runs.report import Tally
from metl_gui.engine.sinks.parquet import ParquetSink
from metl_gui.engine.streaming.batch_records import PARTIAL, BatchRecord, BatchLog, drop_partials, moves_of, settle
from metl_gui.engine.streaming.checkpoint import Checkpoint
from tests.unit.engine.test_faults import PLAN
from tests.unit.engine.test_batch_kills import rows_of
base, stop_at = Path(sys.argv[1]), sys.argv[2]
out, checkpoint = base / "out", Checkpoint(base / "checkpoint")
checkpoint.batches.mkdir(parents=True, exist_ok=True)
kernel, count = Kernel(PLAN), 0
def step(event, arguments):
    global count
    if event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "open") and str(base) in str(arguments[0]):
        count += 1
        if str(count) == stop_at:
            os.kill(os.getpid(), 9)
sys.addaudithook(step)
records = BatchLog(checkpoint)
newest = records.newest()
if newest is not None:
    settle(newest)
drop_partials([out])
for number in range((newest.number if newest else 0) + 1, {_BATCHES} + 1):
    partial = out / PARTIAL / f"{{number:09d}}-{{os.getpid()}}"
    partial.mkdir(parents=True)
    sink = ParquetSink(partial, "part-000000-0", PLAN, by_date=True)
    sink.append(kernel.map(Records.of(rows_of(number), "f")))
    moves = moves_of(sink.close(), "stream", number)
    records.add(BatchRecord(number=number, run_id="r", state=7, hash="", seconds=0, tally=Tally(), moves=moves,
        run_tally=Tally(), run_batches=number, run_states=[7], run_seconds=0, bytes_read=0))
print(count)
"""


def rows_of(batch: int) -> list[bytes]:
    """The records of a batch, over four days."""
    source = '"source":{"connector":"postgresql","name":"shop","schema":"public","table":"orders"}'
    return [
        f'{{"after":{{"id":{batch * _ROWS + at}}},{source},"op":"c","ts_ms":{at % 4 * 86_400_000}}}'.encode()
        for at in range(_ROWS)
    ]


def go_on(base: Path, stop_at: int | str) -> int | None:
    """Repair and go on until the end or a kill; return how many things it did to the disk when it ended."""
    command = [sys.executable, "-c", _GO_ON, str(base), str(stop_at)]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return int(done.stdout) if done.returncode == 0 else None


def seen(base: Path) -> Counter[int]:
    """What a reader of the outputs finds at this moment; a file that is not whole cannot be read."""
    parts = [path for path in (base / "out").rglob("*.parquet") if not any(p.startswith(".") for p in path.parts)]
    if not parts:
        return Counter()
    table = ds.dataset([str(part) for part in parts]).to_table()
    payload = table["payload"].combine_chunks()
    return Counter(pa.compute.struct_field(payload, "id").to_pylist())


def test_batches_that_are_killed_anywhere_and_gone_on_with_are_in_place_once_and_always_whole(tmp_path: Path) -> None:
    steps = go_on(tmp_path / "all", "never")
    assert steps is not None
    whole = seen(tmp_path / "all")
    assert whole == Counter(range(_ROWS, (_BATCHES + 1) * _ROWS))
    chance = random.Random(17)
    kills = 0
    for way in range(3):
        base = tmp_path / str(way)
        while go_on(base, chance.randrange(1, steps)) is None:
            kills += 1
            assert seen(base) <= whole
            if kills % 4 == 3:
                break
        go_on(base, "never")
        assert seen(base) == whole
        assert not (base / "out" / ".metl-partial").exists() or not list(
            (base / "out" / ".metl-partial").rglob("*.parquet")
        )
    assert kills > 3
