"""Map one file as a task does, and say what it took: ``python -m tests.helpers.map_file FILE LIMIT``."""

from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path
from typing import Any

from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.sources.batches import read_batches
from metl_gui.engine.sources.files import FileRange, list_files
from tests.helpers.plans import FATES, plan_of

PLAN: dict[str, Any] = {
    "schemas": [
        {
            "name": "s",
            "versions": [
                {
                    "label": "1",
                    "paths": ["id", "a"],
                    "key": ["id"],
                    "blocks": [{"entity": "e", "entity_version": "1", "targets": [["id", "i"], ["a", "a"]]}],
                }
            ],
        }
    ]
}


def memory_mib(name: str) -> int:
    """Return a figure of this process's memory, ``VmHWM`` for the most it ever had."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) // 1024


def main() -> None:
    """Map and print one JSON document."""
    path, limit_bytes = sys.argv[1], int(sys.argv[2])
    kernel = Kernel(plan_of(PLAN))
    before = memory_mib("VmHWM")
    (file,) = list_files(path).files
    fates: list[str] = []
    reasons: list[str] = []
    sums: list[int] = []
    for batch in read_batches([file], [FileRange(0, 0, file.size_bytes)], limit_bytes=limit_bytes):
        outcome = kernel.map(batch.records)
        fates += [FATES[fate] for fate in outcome.fates]
        reasons += [aside.reason for aside in outcome.set_aside]
        # Of the payload alone, so that a test need not know the rest of the message.
        for start, stop in zip(outcome.starts.tolist(), outcome.stops.tolist(), strict=True):
            text = outcome.text[start:stop]
            payload = bytes(text[:1000]).index(b'"payload":') + len(b'"payload":')
            sums.append(zlib.crc32(text[payload:-1]))
    found = {"fates": fates, "reasons": reasons, "sums": sums, "taken_mib": memory_mib("VmHWM") - before}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
