"""Runs that last until somebody acts, and that tell early what they count."""

from __future__ import annotations

import gzip
from pathlib import Path

from metl_gui.core.runs.events import RunProgressed
from metl_gui.engine.runs.event_log import EventTail
from metl_gui.workbench.user_folders import runs_folder


def many_files(messages: Path, folder: Path, times: int) -> Path:
    """Make a folder with a file of messages so many times, packed: each is a task, which tells what it counted."""
    folder.mkdir()
    packed = gzip.compress(messages.read_bytes())
    for at in range(times):
        (folder / f"{at:03}.jsonl.gz").write_bytes(packed)
    return folder


def counted(project_id: str) -> int:
    """Return how many records the runs of a project have told of at most."""
    read = 0
    for path in runs_folder(project_id).glob("*/events.jsonl"):
        told = [event.tally.read for event in EventTail(path).read() if isinstance(event, RunProgressed)]
        read = max([read, *told])
    return read
