"""The Spark application of a lane: one of its own, which tries tasks again and leaves others room."""

from __future__ import annotations

import os
import re

import msgspec

from metl_gui.core.runs.target import Target, TargetKind

TRIES = 4
"""How often Spark starts a task again by itself; the lane starts the whole job again beyond that."""

CORES = 2
"""What a lane takes of a standalone cluster where its profile says nothing: without a limit it would take all of it."""

_THREADS = re.compile(r"local\[(\d+)")
_CORES = "spark.cores.max"
_SETTINGS = {
    # A second attempt beside the first would only fence it.
    "spark.speculation": "false",
    "spark.task.maxFailures": str(TRIES),
}


def lane_target(target: Target) -> Target:
    """Return the target of a lane's session; what a profile sets stays as it is."""
    match target.kind:
        case TargetKind.LOCAL:
            found = _THREADS.match(target.master)
            threads = int(found[1]) if found else os.cpu_count() or 1
            return msgspec.structs.replace(target, master=f"local[{threads},{TRIES}]")
        case TargetKind.CLUSTER:
            standalone = {_CORES: str(CORES)} if target.master.startswith("spark://") else {}
            settings = {**_SETTINGS, **standalone, **dict(target.settings)}
            return msgspec.structs.replace(target, settings=tuple(settings.items()))
        case TargetKind.CONNECT:
            return target
