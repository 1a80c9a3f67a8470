"""The folder that a run leaves behind: what was asked, what happened, and its report."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from metl_gui.core.runs.report import RunReport
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.runs.event_log import bounded_lines
from metl_gui.errors import RunError
from metl_gui.own_files import atomic_write, make_folder, open_file, write_file

_MOST_EVENT_BYTES = 16 << 20


def new_run_id() -> str:
    """Make an id that sorts by time and is never used twice."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


class RunFolder:
    """The files that a run leaves: spec, events, report, samples, and by default the error store.

    Args:
        path: the folder, created when missing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def create(self, spec: RunSpec) -> None:
        """Make the folder and write down what was asked (without the plan, which the state stands for).

        Raises:
            RunError: the folder cannot be written.
        """
        try:
            make_folder(self.path)
            document = msgspec.to_builtins(spec.as_kept)
            write_file(self.path / "spec.json", msgspec.json.format(msgspec.json.encode(document)))
        except OSError as error:
            raise RunError(
                "The run folder cannot be written.",
                f"{self.path}: {error.strerror}.",
                "Free space there or mend its permissions, or name another cache folder in XDG_CACHE_HOME.",
            ) from error

    def append_event(self, line: bytes) -> None:
        """Add one encoded event to the record of the run, which stays bounded however long it runs."""
        path = self.path / "events.jsonl"
        with open_file(path, "ab") as events:
            events.write(line + b"\n")
            size = events.tell()
        if size > _MOST_EVENT_BYTES:
            lines = path.read_bytes().splitlines()
            atomic_write(path, b"".join(line + b"\n" for line in bounded_lines(lines, len(lines) // 3)))

    def write_report(self, report: RunReport) -> None:
        """Write the report, whole or not at all."""
        atomic_write(self.path / "report.json", msgspec.json.format(msgspec.json.encode(report.as_json())))

    def report(self) -> RunReport | None:
        """Read the report back; None when the run did not finish, or its file is damaged."""
        try:
            return msgspec.json.decode((self.path / "report.json").read_bytes(), type=RunReport)
        except (OSError, msgspec.MsgspecError, RecursionError):
            return None

    def events(self) -> Iterator[bytes]:
        """Read the encoded events of the run."""
        path = self.path / "events.jsonl"
        if path.is_file():
            yield from path.read_bytes().splitlines()
