"""Counts of a batch after its sink refused some records: whole or not at all, and every sum as before.

What the kernel counted of a refused record is taken back, and the record is set aside. The kernel counts a batch in
one; what it counted of a few records is found by mapping these again, which costs only where something is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from metl_gui.core.runs.report import Tally
from metl_gui.engine.kernel.message_records import RecordBatch
from metl_gui.engine.kernel.numbered_counts import CountSum
from metl_gui.engine.kernel.outcomes import MappedBatch, SetAside, by_attribute, error_row
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.sinks.sink import RejectedRecord
from metl_gui.errors import RecordError


def briefly_counted(outcome: MappedBatch) -> Tally:
    """Return the counts of a batch without those of versions and attributes, which may be many."""
    return msgspec.convert(outcome.brief_counts(), Tally)


def counted(outcome: MappedBatch) -> Tally:
    """Return the counts of a batch."""
    return msgspec.convert(outcome.counts(), Tally)


class RunningCounts:
    """The counts of batches so far; those of versions and attributes stay numbers until somebody asks."""

    def __init__(self) -> None:
        self._tally = Tally()
        self._numbered = CountSum()

    def add(self, tally: Tally) -> None:
        """Add the counts of a batch, all with names."""
        self._tally.add(tally)

    def add_mapped(self, tally: Tally, outcome: MappedBatch) -> None:
        """Add the brief counts of a batch, and those of versions and attributes as it has them."""
        self._tally.add(tally)
        self._numbered.add_named(outcome.named_versions, outcome.named_filled)
        self._numbered.add(outcome.numbered)

    def total(self) -> Tally:
        """Return what was counted so far."""
        numbered = self._numbered
        total = Tally(by_version=dict(numbered.by_version()), by_attribute=by_attribute(numbered.filled()))
        total.add(self._tally)
        return total

    def note(self, most: int) -> Tally:
        """Return what was counted so far, without versions, and without attributes where more may be named.

        Args:
            most: attributes that are named.
        """
        is_wide = self._numbered.most_attributes > most
        found = Tally(by_attribute={} if is_wide else by_attribute(self._numbered.filled()))
        found.add(self._tally)
        return found


def set_refused_aside(
    tally: Tally, refused: Mapping[int, RejectedRecord], kernel: Kernel, records: RecordBatch
) -> list[SetAside]:
    """Take refused records out of the counts of their batch and set them aside.

    Args:
        tally: the counts, which are changed.
        refused: by number in the batch.
        kernel: what mapped them.
        records: the batch.

    Returns:
        Their rows of the error store, in the order of the batch.
    """
    if not refused:
        return []
    numbers = sorted(refused)
    _take_back(tally, counted(kernel.map(records.chosen(numbers))))
    tally.set_aside += len(numbers)
    tally.by_reason = dict(Counter(tally.by_reason) + Counter(refusal.reason for refusal in refused.values()))
    return [_row(number, refused[number], kernel.plan.state, records) for number in numbers]


def _take_back(tally: Tally, refused: Tally) -> None:
    tally.mapped -= refused.mapped
    tally.messages_out -= refused.messages_out
    tally.bytes_out -= refused.bytes_out
    tally.by_entity = _without(tally.by_entity, refused.by_entity)
    tally.from_unreviewed = _without(tally.from_unreviewed, refused.from_unreviewed)
    tally.by_attribute = {
        entity: left
        for entity, paths in tally.by_attribute.items()
        if (left := _without(paths, refused.by_attribute.get(entity, {})))
    }


def _without(counts: Mapping[str, int], taken: Mapping[str, int]) -> dict[str, int]:
    left = {name: count - taken.get(name, 0) for name, count in counts.items()}
    return {name: count for name, count in left.items() if count}


def _row(number: int, refusal: RejectedRecord, state: int, records: RecordBatch) -> SetAside:
    error = RecordError(refusal.reason, refusal.detail)
    place = refusal.schema, refusal.version, refusal.position
    return SetAside(number, error.reason, error_row(error, state, place, records.raw(number)))
