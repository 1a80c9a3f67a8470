"""Sample messages in the user's cache: one file for each schema of a project, read as if anybody had written it.

Whatever is damaged, too old or too large counts as not there: these are copies for looking at, which may go at any
time. Source: docs/reference/environment.md, "Folders".
"""

from __future__ import annotations

import base64
import contextlib
import logging
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from metl_gui.core.project.project_data import MOST_INCLUDED, MOST_INCLUDED_BYTES
from metl_gui.own_files import atomic_write, make_folder
from metl_gui.workbench.user_folders import KEPT_SECONDS, kept_samples_folder

_log = logging.getLogger(__name__)
MOST_SAMPLE_BYTES = 256 << 10
"""Longer records are not kept as samples."""

MOST_OF_SCHEMA, MOST_FILE_BYTES = MOST_INCLUDED, MOST_INCLUDED_BYTES
"""What of a file is read, and no more is written."""

_LONGEST_LINE = 2 * MOST_SAMPLE_BYTES
_SUFFIX = ".jsonl"
_AHEAD_MS = 24 * 3600 * 1000


class KeptSample(msgspec.Struct, frozen=True, omit_defaults=True):
    """One sample message as it is kept.

    Args:
        when_ms: when it was kept (milliseconds since 1970).
        source: what it came with, a file or a run, for people.
        place: its position.
        op: of its change.
        shape: tells rows with other members, or other types of them, apart.
        version: label of the version that it was of, empty for none that was known.
        raw, raw_base64: its exact bytes, as text where it is text.
    """

    when_ms: int
    source: str = ""
    place: str = ""
    op: str = ""
    shape: str = ""
    version: str = ""
    raw: str | None = None
    raw_base64: str | None = None

    @classmethod
    def of(cls, raw: bytes, **facts: str | int) -> KeptSample:
        """Make a sample of exact bytes."""
        try:
            return msgspec.convert({**facts, "raw": raw.decode()}, cls)
        except UnicodeDecodeError:
            return msgspec.convert({**facts, "raw_base64": base64.b64encode(raw).decode()}, cls)

    @property
    def incoming(self) -> bytes:
        """Its exact bytes.

        Raises:
            ValueError: they were tampered with.
        """
        if self.raw_base64 is not None:
            return base64.b64decode(self.raw_base64, validate=True)
        return (self.raw or "").encode()


_SAMPLE = msgspec.json.Decoder(KeptSample)


class SampleCache:
    """The kept samples of one project.

    Args:
        project_id: the project.
    """

    def __init__(self, project_id: str) -> None:
        self.folder = kept_samples_folder(project_id)

    def read(self, schema_id: int) -> tuple[KeptSample, ...]:
        """Read the samples of a schema that are not too old, as far as they can be read."""
        try:
            with self._file(schema_id).open("rb") as file:
                text = file.read(MOST_FILE_BYTES)
        except OSError:
            return ()
        return decode_samples(text)

    def mark(self, schema_id: int) -> tuple[int, int]:
        """Return what tells one content of a file from another."""
        try:
            found = self._file(schema_id).stat()
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_size

    def write(self, schema_id: int, samples: Iterable[KeptSample]) -> bool:
        """Keep these samples of a schema and no others; whether that could be done."""
        path = self._file(schema_id)
        try:
            make_folder(self.folder)
            atomic_write(path, encode_samples(samples))
        except OSError as error:
            _log.warning("samples cannot be kept in %s: %s", path, error)
            return False
        return True

    def schemas(self) -> tuple[int, ...]:
        """Return the ids of the schemas that have a file."""
        try:
            names = [path.stem for path in self.folder.iterdir() if path.suffix == _SUFFIX]
        except OSError:
            return ()
        return tuple(sorted(int(name) for name in names if name.isascii() and name.isdigit() and len(name) < 19))

    def forget(self) -> int:
        """Remove all samples of the project; of how many schemas there were some."""
        found = len(self.schemas())
        shutil.rmtree(self.folder, ignore_errors=True)
        return found

    def _file(self, schema_id: int) -> Path:
        return self.folder / f"{schema_id}{_SUFFIX}"


def decode_samples(text: bytes, are_kept_long: bool = False) -> tuple[KeptSample, ...]:
    """Read samples line by line, without what is damaged, too old or too large.

    Args:
        text: the lines.
        are_kept_long: they do not grow too old, as somebody included them in a project.
    """
    now_ms = time.time_ns() // 1_000_000
    return tuple(_sound(text, 0 if are_kept_long else now_ms - KEPT_SECONDS * 1000, now_ms + _AHEAD_MS))


def _sound(text: bytes, oldest_ms: int, newest_ms: int) -> Iterator[KeptSample]:
    count = 0
    for line in text.split(b"\n"):
        if not line or len(line) > _LONGEST_LINE:
            continue
        try:
            sample = _SAMPLE.decode(line)
            size = len(sample.incoming)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            continue
        if 0 < size <= MOST_SAMPLE_BYTES and oldest_ms <= sample.when_ms <= newest_ms:
            yield sample
            count += 1
            if count == MOST_OF_SCHEMA:
                return


def encode_samples(samples: Iterable[KeptSample]) -> bytes:
    """Write samples one a line, as many as a file may hold."""
    lines: list[bytes] = []
    size = 0
    for sample in samples:
        line = msgspec.json.encode(sample) + b"\n"
        size += len(line)
        if size > MOST_FILE_BYTES:
            break
        lines.append(line)
    return b"".join(lines)


def forget_old_samples(kept_seconds: float = KEPT_SECONDS) -> int:
    """Remove the samples of all projects that nobody has added any to since the limit; how many files went."""
    oldest = time.time() - kept_seconds
    gone = 0
    for path in kept_samples_folder("any").parent.glob(f"*/*{_SUFFIX}"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()
                gone += 1
    return gone
