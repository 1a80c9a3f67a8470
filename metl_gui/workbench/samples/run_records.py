"""Look at what a run wrote: records beside the messages they became, and what was set aside."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator
from glob import escape
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from metl_gui.core.runs.records import MappedRecord, SetAsideRecord
from metl_gui.engine.sources.large_records import cut_row

_TAIL_BYTES = 1 << 18
_SHOWN_BYTES = 1 << 20
_MAPPED = msgspec.json.Decoder(MappedRecord)
_SET_ASIDE = msgspec.json.Decoder(SetAsideRecord)
_Record = TypeVar("_Record")


def first_results(samples: Path, count: int, entity: str = "", place: str = "") -> list[MappedRecord]:
    """Read the first records that became messages.

    Args:
        samples: the folder of samples of a finished run (``RunSpec.samples_folder``).
        count: how many records.
        entity: only records that became a message of this entity; all when empty.
        place: only the record of this place; all when empty.

    Order: as the run read them.
    """
    of_place = (r for r in results(samples) if not place or r.place == place)
    wanted = (r for r in of_place if not entity or any(sent.entity == entity for sent in r.outgoing))
    return list(itertools.islice(wanted, count))


def results(samples: Path) -> Iterator[MappedRecord]:
    """Yield the records that became messages, as the run read them; lines that are none are passed over."""
    return _decoded(_MAPPED, _lines_of(samples))


def newest_result(folder: Path) -> MappedRecord | None:
    """Read the record that a run kept last, wherever in its folder it keeps them until it is over; or ``None``."""
    places = [*folder.glob(".samples*"), folder / "samples"]
    return next((record for place in places if (record := _newest_of(place)) is not None), None)


def _newest_of(samples: Path) -> MappedRecord | None:
    parts = sorted(samples.glob("part-*.jsonl"), key=lambda part: part.stat().st_mtime_ns)
    for part in reversed(parts):
        with part.open("rb") as lines:
            lines.seek(max(part.stat().st_size - _TAIL_BYTES, 0))
            whole = [line for line in lines.read().split(b"\n")[:-1] if line.startswith(b"{") and line.endswith(b"}")]
        for line in reversed(whole):
            try:
                return _MAPPED.decode(line)
            except msgspec.MsgspecError:
                continue  # the end of a line that is longer than what was read
    return None


def first_set_aside(errors: Path, count: int, reason: str = "", place: str = "") -> list[SetAsideRecord]:
    """Read the first records of the error store; of a very long one the beginning. Lines that are none are passed over.

    Args:
        errors: the error store.
        count: how many records.
        reason: only those of this reason; of all in turn when empty.
        place: only the record of this position; all when empty.
    """
    pattern = f"reason={escape(reason)}" if reason else "reason=*"
    folders: list[Iterator[Any]] = [_beginnings_of(folder) for folder in sorted(errors.glob(pattern))]
    in_turn = (line for row in itertools.zip_longest(*folders) for line in row if line is not None)
    records = (r for r in _decoded(_SET_ASIDE, in_turn) if not place or r.position == place)
    return list(itertools.islice(records, count))


def _decoded(decoder: msgspec.json.Decoder[_Record], lines: Iterable[bytes]) -> Iterator[_Record]:
    for line in lines:
        with contextlib.suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
            yield decoder.decode(line)


def _beginnings_of(folder: Path) -> Iterator[bytes]:
    """Yield the rows of an error store; one that is too long to be looked at ends early, and is a whole row still."""
    for part in sorted(folder.glob("part-*.jsonl")):
        with part.open("rb") as lines:
            while line := lines.readline(_SHOWN_BYTES):
                yield line if line.endswith(b"\n") else cut_row(line)
                while line and not line.endswith(b"\n"):
                    line = lines.readline(_SHOWN_BYTES)


def _lines_of(folder: Path) -> Iterator[bytes]:
    for part in sorted(folder.glob("part-*.jsonl")):
        with part.open("rb") as lines:
            yield from lines
