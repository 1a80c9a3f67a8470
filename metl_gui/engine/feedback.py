"""Refuse a run that would read what it writes: with ``--follow`` it would never end, else the next run reads it."""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import os
from pathlib import Path

from metl_gui.engine.kafka.servers import is_kafka
from metl_gui.engine.runs import NOOP, RunSpec
from metl_gui.engine.sources.files import fixed_part
from metl_gui.errors import RunError


def refuse_feedback(spec: RunSpec) -> None:
    """Look whether messages, set-aside records and the checkpoint lie where the source is not read.

    Raises:
        RunError: one of them lies in the source; the error names both.
    """
    if spec.replay is not None or not spec.source or is_kafka(spec.source):
        return  # topics are looked at in kafka.checks
    sink = "" if spec.sink == NOOP or is_kafka(spec.sink) else spec.sink
    errors = "" if is_kafka(spec.errors) else spec.errors
    is_read = False
    for what, place in (("output", sink), ("--errors", errors), ("--checkpoint", spec.checkpoint)):
        with contextlib.suppress(RuntimeError):  # the home folder of somebody unknown: refused elsewhere, by its name
            is_read = bool(place) and _is_read(spec.source, place)
        if is_read:
            raise RunError(
                f"The {what} folder lies in the source.",
                f"{place} is below {spec.source}, so what the run writes there would be read again.",
                "Give a folder beside the source, or one whose name begins with a dot or an underscore.",
            )


def _is_read(source: str, place: str) -> bool:
    """Whether files that appear in a place would belong to a source; hidden folders never do."""
    path = Path(source).expanduser()
    is_pattern = glob.has_magic(source) and not path.exists()
    root = Path(os.path.realpath(fixed_part(path) if is_pattern else path))
    written = Path(os.path.realpath(Path(place).expanduser()))
    if not written.is_relative_to(root) or (root.exists() and not root.is_dir()):
        return False
    parts = written.relative_to(root).parts
    if any(part.startswith((".", "_")) for part in parts):
        return False
    return not is_pattern or _matches(parts, path.parts[len(fixed_part(path).parts) :])


def _matches(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Whether a pattern leads to a folder, into it, or to one above it, which is read with all that is below."""
    for part, wanted in zip(parts, pattern, strict=False):
        if wanted == "**":
            return True
        if not fnmatch.fnmatchcase(part, wanted):
            return False
    return True
