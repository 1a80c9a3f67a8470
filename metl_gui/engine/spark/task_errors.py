"""Carry an error of ours from a task through Spark's own exceptions, and put Spark's into words."""

from __future__ import annotations

import base64
import errno
import re

import msgspec

from metl_gui.engine.spark.worker_check import from_spark
from metl_gui.errors import RunError, UserError, in_utf8

DISK_FULL = "A disk is full."
SPARK_FAILED = "Spark could not finish the run."
"""The title of a failure that Spark explains, and none of ours."""

_FULL = re.compile(r"(?:No space left on device|Disk quota exceeded)(?:: '([^'\n]*)')?")
_JAVAS = re.compile(r"\A(?:: |Caused by: )")
"""What stands before Java's errors: of the one that was met, and of those behind it."""
_CARRIED = re.compile(r"metl-run-error:([A-Za-z0-9+/=]+):")


class TaskError(Exception):
    """An error of ours, packed into text so that it survives the way through the JVM."""

    def __init__(self, error: UserError) -> None:
        facts = msgspec.json.encode([in_utf8(text) for text in (error.title, error.text, error.hint)])
        super().__init__(f"metl-run-error:{base64.b64encode(facts).decode()}:")


def run_error(error: BaseException) -> RunError:
    """Turn what Spark raised into a run error: the one of ours that it carries, or its line that says most."""
    text = str(error)
    found = _CARRIED.search(text)
    if found:
        title, detail, hint = msgspec.json.decode(base64.b64decode(found.group(1)), type=tuple[str, str, str])
        return RunError(title, detail, hint)
    full = _FULL.search(text)
    if full:
        return _disk_full(full.group(1) or "", _telling_line(text))
    explained = from_spark(text)
    if explained is not None:
        return explained
    return RunError(
        SPARK_FAILED,
        _telling_line(text),
        "Nothing was written. Run it again; if it fails in the same way, report this sentence.",
    )


def folder_error(error: OSError) -> RunError:
    """Return why a file of a run cannot be written or read."""
    place = in_utf8(str(error.filename or ""))
    why = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _disk_full(place, f"{why}.")
    hint = "Nothing was written. Look whether its folder and disk are writable, then run it again."
    return RunError("A file of the run cannot be written.", f"{place}: {why}." if place else f"{why}.", hint)


def _disk_full(place: str, otherwise: str) -> RunError:
    return RunError(
        DISK_FULL,
        f"There is no room for {place}." if place else otherwise,
        "Nothing was written. Free some space there, then run it again.",
    )


def _telling_line(text: str) -> str:
    """Pick the line that says most: the last error of a traceback, of Python's or of Java's, else the first line."""
    lines = [_JAVAS.sub("", line.strip()) for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"[\w.]*(?:Error|Exception)\b", line)]
    return (errors[-1] if errors else lines[0] if lines else "It gave no reason.")[:500]
