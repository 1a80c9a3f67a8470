"""Messages that runs wrote, in an order that does not depend on the run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

_SINCE_0_2 = re.compile(
    r',"committed_at_ms":(?:null|-?\d+),"snapshot":(?:null|true|false),"old_key":(?:null|\{.*?\}),'
    r'"publication":(?:null|\d+)(?=\},"payload":)'
)


def as_in_0_1(message: str) -> str:
    """Return a message as 0.1 wrote it, byte for byte: without what its source says since; others stay as they are."""
    return _SINCE_0_2.sub("", message, count=1)


def messages_in(folder: Path) -> list[str]:
    """Return all messages of a folder of JSON lines, byte for byte, each behind the folder that it lies in; sorted."""
    return sorted(
        f"{path.parent.relative_to(folder).as_posix()} {line}"
        for path in _parts(folder)
        for line in path.read_text("utf-8").split("\n")
        if line
    )


def _parts(folder: Path) -> Iterator[Path]:
    """Yield the files that are in place; a run may be at work on hidden ones."""
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        yield from (Path(place, name) for name in files if name.endswith(".jsonl") and not name.startswith("."))
