"""Where topics are read from when nothing says where an earlier run ended.

One of ``earliest``, ``latest``, a time in ISO 8601 (the first record at or after it), or ``topic/partition/offset``
with commas between; partitions that are not named begin at their beginning then.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from metl_gui.engine.kafka.listing import ListedPartition, Lister, Place
from metl_gui.errors import RunError, near_names

EARLIEST, LATEST = "earliest", "latest"
_OFFSET = re.compile(r"(?P<topic>[a-zA-Z0-9._-]{1,249})/(?P<partition>\d{1,9})/(?P<offset>\d{1,18})")
_HINT = "Write earliest, latest, a time like 2026-11-22T05:00:00Z, or topic/partition/offset with commas between."


class Start(msgspec.Struct, frozen=True):
    """Where partitions begin.

    Args:
        kind: ``earliest``, ``latest``, ``time`` or ``offsets``.
        time_ms: since 1970, of ``time``.
        offsets: by topic and partition, of ``offsets``.
    """

    kind: str = EARLIEST
    time_ms: int = 0
    offsets: dict[Place, int] = {}


def parse_start(text: str) -> Start:
    """Read where to begin as a person writes it.

    Raises:
        RunError: it cannot be read.
    """
    text = text.strip()
    if text.lower() in ("", EARLIEST, LATEST):
        return Start(text.lower() or EARLIEST)
    parts = [_OFFSET.fullmatch(part.strip()) for part in text.split(",")]
    if all(parts):
        found = {(part["topic"], int(part["partition"])): int(part["offset"]) for part in parts if part}
        return Start("offsets", offsets=found)
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        near = near_names(text, [EARLIEST, LATEST])
        raise RunError(f"{text[:100]} says of no topic where to begin.", hint=near or _HINT) from None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return Start("time", round(when.timestamp() * 1000))


def start_offsets(
    lister: Lister, partitions: Sequence[ListedPartition], start: Start
) -> tuple[dict[Place, int], tuple[str, ...]]:
    """Say at which offset each partition begins.

    Args:
        lister: asks for times.
        partitions: as listed.
        start: what was asked for.

    Returns:
        The offsets, and what a person should know of them.

    Raises:
        RunError: an offset is asked for that is not there yet, or a partition that is not there.
    """
    begins = {(one.topic, one.partition): one.begin for one in partitions}
    ends = {(one.topic, one.partition): one.end for one in partitions}
    if start.kind == LATEST:
        return ends, ()
    if start.kind == "time":
        found = lister.offsets(begins, start.time_ms)
        # Behind all records there is none at or after the time, which is told as -1.
        return {place: ends[place] if found.get(place, -1) < 0 else found[place] for place in begins}, ()
    if start.kind == "offsets":
        return _from_offsets(start, begins, ends)
    return begins, ()


def _from_offsets(
    start: Start, begins: dict[Place, int], ends: dict[Place, int]
) -> tuple[dict[Place, int], tuple[str, ...]]:
    told = []
    for (topic, partition), offset in start.offsets.items():
        place = topic, partition
        if place not in begins:
            raise RunError(f"{topic}/{partition} is not among what is read.", hint="Name partitions of the source.")
        if offset > ends[place]:
            raise RunError(
                f"{topic}/{partition} does not reach to offset {offset:,} yet.",
                f"It ends before offset {ends[place]:,}.",
                "Start at a lower offset, or at latest.",
            )
        if offset < begins[place]:
            told.append(gone(f"{topic}/{partition}", offset, begins[place]))
    return {place: max(start.offsets.get(place, begin), begin) for place, begin in begins.items()}, tuple(told)


def gone(name: str, wanted: int, begin: int) -> str:
    """Say that retention was faster than the run."""
    return (
        f"{name}: the records from offset {wanted:,} up to {begin:,} ({begin - wanted:,} offsets) were removed by the "
        "topic's retention before they were read; they are lost to this run."
    )
