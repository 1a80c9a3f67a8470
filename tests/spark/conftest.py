"""What the tests of this folder share: plans, specs, sources, a small disk, and a session that may be killed."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan
from metl_gui.engine.runs.run_folder import new_run_id
from tests.helpers.run_specs import run_spec

SpecOf = Callable[..., RunSpec]

PATHS = ("id", "amount", "note")
LONG = 400_000
"""Records of ``long_source``."""
_ROOM_KB = 256
_UNMOUNT_SECONDS = 30.0


@pytest.fixture(scope="session")
def killable_spark() -> Iterator[SparkProcess]:
    """What ``slow_spark`` is for one test after the other."""
    process = SparkProcess("local[2]")
    yield process
    process.stop()


@pytest.fixture
def slow_spark(killable_spark: SparkProcess, monkeypatch: pytest.MonkeyPatch) -> SparkProcess:
    """A Spark process without machine code, for runs that must last until somebody acts; it may be killed.

    The next test has it started anew then, or goes on with what the one before left alive.
    """
    monkeypatch.setenv("METL_KERNEL_CACHE", "/dev/null/nowhere")
    return killable_spark.start()


@pytest.fixture(scope="session")
def long_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records that keep two cores busy for some seconds; a test that changes the file takes a copy."""
    path = tmp_path_factory.mktemp("long") / "source.jsonl"
    path.write_bytes(b"".join(order_record(number) + b"\n" for number in range(LONG)))
    return path


@pytest.fixture(scope="session")
def order_plan() -> bytes:
    """One schema that feeds two entities."""
    order = BlockPlan("order", "1", (("id", "order_id"), ("amount", "money.amount")))
    remark = BlockPlan("remark", "1", (("id", "about"), ("note", "text")), is_unreviewed=True)
    version = VersionPlan("1", "", PATHS, key=("id",), blocks=(order, remark), is_inferred=True)
    return plans.encode(Plan(7, "abc", (SchemaPlan("shop.public.orders", (version,)),)))


@pytest.fixture
def spec_of(tmp_path: Path, order_plan: bytes) -> SpecOf:
    """Make specs whose folders lie in the test's own."""

    def make(source: Path | str, sink: str = "", **others: object) -> RunSpec:
        facts = {"folder": str(tmp_path / "run"), "errors": str(tmp_path / "errors"), "state": 7, "hash": "abc"}
        return run_spec(
            run_id=new_run_id(),
            plan=order_plan,
            source=str(source),
            sink=sink or str(tmp_path / "out"),
            **(facts | others),
        )

    return make


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a quarter of a megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={_ROOM_KB}k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode != 0:
        pytest.skip("only root may mount the small disk that this test fills or locks")
    yield folder
    end = time.monotonic() + _UNMOUNT_SECONDS
    # What Spark lets go of is closed a moment later.
    while subprocess.run(["umount", str(folder)], check=False, capture_output=True).returncode != 0:
        assert time.monotonic() < end, "somebody still uses the small disk"
        time.sleep(0.1)


def order_record(number: int) -> bytes:
    """A create of the table ``orders``, as Debezium writes it."""
    return (
        b'{"before":null,"after":{"id":%d,"amount":%d.50,"note":"n%d"},"source":{"connector":"postgresql",'
        b'"name":"shop","schema":"public","table":"orders","lsn":%d},"op":"c","ts_ms":1}'
    ) % (number, number, number, number)
