"""What a client asks of the Spark process: one JSON line each."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.core.runs.target import Target


class StartSession(msgspec.Struct, frozen=True, tag=True, tag_field="command"):
    """Start the session; the first command, and on a pipe because a target may hold secrets."""

    target: Target


class StartRun(msgspec.Struct, frozen=True, tag=True, tag_field="command"):
    """Start a run."""

    spec: RunSpec


class CancelRun(msgspec.Struct, frozen=True, tag=True, tag_field="command"):
    """Cancel a run."""

    run_id: str


Command: TypeAlias = StartSession | StartRun | CancelRun
