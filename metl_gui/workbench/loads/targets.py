"""Targets of a warehouse as people write them: ``duckdb:PATH``."""

from __future__ import annotations

from pathlib import Path

from metl_gui.errors import RunError

SINK = "warehouse:"
"""Begins a sink that is a target."""


def duckdb_path(target: str) -> Path:
    """Return the file of a target.

    Raises:
        RunError: it is no target, or of a kind that loads do not know.
    """
    kind, _, path = target.removeprefix(SINK).partition(":")
    if kind == "duckdb" and path:
        return Path(path).expanduser()
    raise RunError(f"{target} is no target of a warehouse.", hint="Give duckdb:FILE.duckdb.")
