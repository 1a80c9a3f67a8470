"""Where the records of a dump stood: which offsets of which partitions a run has read, where records say so themselves.

Positions of messages are then those of topics, not of the file, and what was read of a topic is found record by record.

Cost: one look at the members of each record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import msgspec
from msgspec import UNSET, Raw, UnsetType

from metl_gui.core.dimensional.rows.replays import CoveredRange
from metl_gui.engine.kernel.message_records import RecordBatch
from metl_gui.engine.kernel.records import Records
from metl_gui.formats.record_wrapper import BARE

MOST_RANGES = 1000
"""A dump with more gaps than this is a choice of records, and covers nothing."""


class _Place(msgspec.Struct, frozen=True, gc=False):
    """The members of a wrapper that say where its record stood, and those that no wrapper has."""

    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    op: Raw | UnsetType = UNSET
    before: Raw | UnsetType = UNSET
    after: Raw | UnsetType = UNSET
    payload: Raw | UnsetType = UNSET


_place = msgspec.json.Decoder(_Place).decode


class ReadPlaces:
    """Collects where the records of a task stood."""

    def __init__(self) -> None:
        self._offsets: dict[tuple[str, int], list[int]] = defaultdict(list)

    def note(self, records: RecordBatch) -> None:
        """Take in a batch; messages of topics need not be asked."""
        if not isinstance(records, Records):
            return
        for raw in records:
            if raw.startswith(BARE):
                continue
            try:
                found = _place(raw)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                continue
            if found.topic and found.partition is not None and found.offset is not None and _is_wrapper(found):
                self._offsets[found.topic, found.partition].append(found.offset)

    def ranges(self) -> list[CoveredRange]:
        """Return what was read."""
        return joined(
            CoveredRange(topic, partition, offset, offset + 1)
            for (topic, partition), offsets in self._offsets.items()
            for offset in offsets
        )


def joined(ranges: Iterable[CoveredRange]) -> list[CoveredRange]:
    """Return ranges with those made one that touch or overlap."""
    found: list[CoveredRange] = []
    for one in sorted(ranges, key=lambda r: (r.log, r.partition, r.first)):
        last = found[-1] if found else None
        if last and (last.log, last.partition) == (one.log, one.partition) and one.first <= last.behind:
            found[-1] = msgspec.structs.replace(last, behind=max(last.behind, one.behind))
        else:
            found.append(one)
    return found


def _is_wrapper(found: _Place) -> bool:
    return all(member is UNSET for member in (found.op, found.before, found.after, found.payload))
