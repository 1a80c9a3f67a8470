"""Run ``metl run`` over millions of events as a user does: ``python -m tests.large_run --events 5000000``.

The events are counted while they are made, with plain Python; the report must say the same. The memory of the Python
workers is looked at while it runs: it must not grow with what was read.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.mapping.table import import_mapping
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.session import Workbench
from tests.helpers.event_files import SCHEMA, make
from tests.helpers.killing import below, command_of

_ROWS = (
    ("id", "order", "order_id"),
    ("amount", "order", "money.amount"),
    ("status", "order", "status"),
    ("note", "remark", "text"),
)


def make_project(path: Path) -> None:
    """Make a project that maps the events as ``event_files.order_plan`` does, confirmed and published."""
    with Workbench.create(path) as workbench:
        for side, name, paths in (
            (Side.EXTRACTION, SCHEMA, ("id", "amount", "note", "status")),
            (Side.CDM, "order", ("order_id", "money.amount", "status")),
            (Side.CDM, "remark", ("text",)),
        ):
            attributes = tuple(AttributeDeclaration(path, "string", optional=True) for path in paths)
            key = ("id",) if side is Side.EXTRACTION else None
            workbench.do(AddVersion(side, VersionDeclaration(name, attributes, "1", key=key)))
        table = path.with_suffix(".csv")
        lines = (f"{SCHEMA},1,{source},{entity},1,{target}" for source, entity, target in _ROWS)
        head = "schema,schema_version,attribute,entity,entity_version,cdm_attribute"
        table.write_text("\n".join((head, *lines)) + "\n")
        import_mapping(workbench, table)
        publish(workbench)


class Memory:
    """Looks at the memory of Python workers below a process, twice a second.

    Units: MiB.
    """

    def __init__(self, process_id: int) -> None:
        self.process_id = process_id
        self.seen: list[tuple[float, float]] = []
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def end(self) -> None:
        """Look no more."""
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        started = time.monotonic()
        while not self._is_over.wait(0.5):
            workers = [each for each in below(self.process_id) if "pyspark" in command_of(each)]
            largest = max((_resident(each) for each in workers), default=0.0)
            if largest:
                self.seen.append((time.monotonic() - started, largest))


def _resident(process_id: int) -> float:
    try:
        return int(Path(f"/proc/{process_id}/statm").read_text().split()[1]) * 4096 / (1 << 20)
    except (OSError, IndexError):
        return 0.0


def main(arguments: list[str]) -> int:
    """Make, run, compare; 0 when every count is exact."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=5_000_000)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("more", nargs="*", help="further arguments of metl run, after --")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="metl-large-") as made:
        folder = Path(made)
        make_project(folder / "p.metl")
        expected = make(folder / "events", asked.events, asked.files)
        command = [sys.executable, "-m", "metl_gui.cli.main", "run", str(folder / "p.metl"), "--json"]
        command += ["--source", str(folder / "events"), "--sink", str(folder / "out"), *asked.more]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        memory = Memory(process.pid)
        said, _ = process.communicate()
        memory.end()
        if process.returncode:
            return process.returncode
        report = json.loads(said)
        differences = expected.differences(SimpleNamespace(**report))
        lines = sum(_lines(part) for part in (folder / "out").rglob("*.jsonl"))
        _tell(report, memory, differences, lines)
    return 1 if differences or lines != report["messages_out"] else 0


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


def _tell(report: dict[str, object], memory: Memory, differences: object, lines: int) -> None:
    names = ("read", "mapped", "filtered", "set_aside", "skipped", "messages_out", "seconds", "records_per_second")
    print({name: report[name] for name in names}, f"lines written: {lines}")  # noqa: T201
    print("differences:", differences or "none")  # noqa: T201
    parts = [memory.seen[at * len(memory.seen) // 8] for at in range(8)] if len(memory.seen) > 8 else memory.seen
    print("largest worker, MiB:", ", ".join(f"{size:.0f} at {at:.0f} s" for at, size in parts))  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
