"""Marks of staged parts: how many rows and which bytes a task wrote, as its driver hears of it.

A warehouse takes up what tasks said they wrote, and nothing else: parts lie on disks that others write to, and between
a task and a load there may be a crash.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
import pyarrow.parquet as pq

from metl_gui.own_files import checksum_of, write_file

MARKS = "marks.json"


class PartMark(msgspec.Struct, frozen=True):
    """What a task wrote into a part.

    Args:
        rows: how many.
        checksum: CRC-32 of its bytes.
    """

    rows: int
    checksum: int


def marks_of(paths: Iterable[str]) -> dict[str, PartMark]:
    """Return the marks of parts that were just written, by their paths."""
    return {path: PartMark(pq.read_metadata(path).num_rows, checksum_of(path)) for path in paths}


def keep_marks(folder: Path, marks: Mapping[str, PartMark]) -> str:
    """Write the marks of a run beside its parts, and return the path; parts are known by their entity and name."""
    path = folder / MARKS
    write_file(path, msgspec.json.encode({place_of(part): mark for part, mark in marks.items()}))
    return str(path)


def kept_marks(folder: Path) -> dict[str, PartMark]:
    """Return the marks that a run wrote, by ``place_of``."""
    path = folder / MARKS
    return msgspec.json.decode(path.read_bytes(), type=dict[str, PartMark]) if path.exists() else {}


def place_of(part: str) -> str:
    """Return the folder and the name of a part, which stay when it is moved."""
    return "/".join(Path(part).parts[-2:])
