"""The report of a run: what was read, what became of each record (docs/reference/report.md), and how the kernel did.

``KernelFigures`` has the time per message over batches, and the compiled column sets. Figures of tasks add up to those
of a run. Source: METL paper §7 (transformations, time of a mapping, size and use of the cache, evictions when the state
changes).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from metl_gui.core.runs.kafka import is_kafka
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.errors import BugError

STEPS = 8
"""Buckets of the histogram for each doubling of the time: neighbours differ by 9 %."""

Unit: TypeAlias = Literal["bytes", "records"]
"""What a source is measured in: files in bytes, topics in records."""


class KernelFigures(msgspec.Struct, kw_only=True):
    """What kernels did, counted over batches.

    Args:
        batches, records: how many were mapped.
        nanoseconds: time in the kernel.
        histogram: batches by time per record, in steps of an eighth of a doubling (``bucket_of``).
        column_sets: compiled column sets that the fullest kernel holds.
        hits: records mapped by a column set compiled before. misses: those that the reference decided.
        evictions: compiled column sets that were dropped, because the state changed or room was wanted.
        is_compiled: machine code was at work in at least one batch.
    """

    batches: int = 0
    records: int = 0
    nanoseconds: int = 0
    histogram: dict[int, int] = {}
    column_sets: int = 0
    hits: int = 0
    misses: int = 0
    evictions: int = 0
    is_compiled: bool = False

    def note(self, records: int, nanoseconds: int) -> None:
        """Count one batch; an empty one has no time per record."""
        if not records:
            return
        self.batches += 1
        self.records += records
        self.nanoseconds += nanoseconds
        bucket = bucket_of(nanoseconds / records)
        self.histogram[bucket] = self.histogram.get(bucket, 0) + 1

    def add(self, other: KernelFigures) -> None:
        """Add the figures of another task."""
        self.batches += other.batches
        self.records += other.records
        self.nanoseconds += other.nanoseconds
        self.histogram = dict(Counter(self.histogram) + Counter(other.histogram))
        self.column_sets = max(self.column_sets, other.column_sets)
        self.hits += other.hits
        self.misses += other.misses
        self.evictions += other.evictions
        self.is_compiled = self.is_compiled or other.is_compiled

    @property
    def mean_ns(self) -> float:
        """Nanoseconds a record, 0 before the first."""
        return self.nanoseconds / self.records if self.records else 0.0

    @property
    def hit_rate(self) -> float:
        """Share of records mapped by a column set compiled before, from 0 to 1."""
        looked_up = self.hits + self.misses
        return self.hits / looked_up if looked_up else 0.0

    def quantile_ns(self, share: float) -> float:
        """Return the time a record below which a share of the batches lies, to about 5 %; 0 before the first."""
        return quantile(self.histogram, share)


def bucket_of(nanoseconds: float) -> int:
    """Return the bucket of a time."""
    return math.floor(math.log2(max(nanoseconds, 1.0)) * STEPS)


def quantile(histogram: Mapping[int, int], share: float) -> float:
    """Return the middle of the bucket in which a quantile lies, in nanoseconds; 0 for an empty histogram."""
    left = share * sum(histogram.values())
    for bucket in sorted(histogram):
        left -= histogram[bucket]
        if left <= 0:
            return float(2 ** ((bucket + 0.5) / STEPS))
    return 0.0


class Tally(msgspec.Struct, kw_only=True):
    """What was counted so far; one a task, added up for the run.

    Each record is in exactly one of ``mapped``, ``filtered``, ``error_records`` and ``skipped``. ``by_version`` counts
    those whose version was told, whatever became of them, by ``schema@version``; ``by_attribute`` the messages in which
    a mapped attribute of ``entity@version`` is not null, by its CDM path.

    Units:
        bytes_in: bytes of the records read. bytes_out: bytes of the messages sent. Line ends are not counted.
    """

    read: int = 0
    mapped: int = 0
    filtered: int = 0
    set_aside: int = 0
    skipped: int = 0
    messages_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    from_unreviewed: dict[str, int] = {}
    by_entity: dict[str, int] = {}
    by_reason: dict[str, int] = {}
    by_skip: dict[str, int] = {}
    by_version: dict[str, int] = {}
    by_attribute: dict[str, dict[str, int]] = {}
    kernel: KernelFigures = msgspec.field(default_factory=KernelFigures)

    def add(self, other: Tally) -> None:
        """Add what another task counted."""
        for name in self.__struct_fields__:
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, int):
                setattr(self, name, mine + theirs)
            elif isinstance(mine, KernelFigures):
                mine.add(theirs)
            elif name == "by_attribute":
                self.by_attribute = {
                    entity: _added(mine.get(entity, {}), theirs.get(entity, {})) for entity in mine | theirs
                }
            else:
                setattr(self, name, _added(mine, theirs))


def _added(mine: Mapping[str, int], theirs: Mapping[str, int]) -> dict[str, int]:
    # A lane adds up after every few records; two counters take ten times as long.
    total = dict(mine)
    for name, count in theirs.items():
        total[name] = total.get(name, 0) + count
    return total


class RunReport(msgspec.Struct, frozen=True, kw_only=True):
    """The report of one finished run.

    Args:
        source: what was read.
        is_replay: it was an error store, and what was read had been set aside before.
        outputs: the folder (or topic pattern) that the messages went to, empty for ``noop``.
        errors: the folder of the error store, empty when nothing was set aside.
        problems: what a person should know although the run finished (a file that grew, files left out).
        batches: how many batches are in place, 0 for a run that was done all at once.
        states: every state that it mapped with, in the order of use, where there is more than one.
        checkpoint: the folder from which it can go on.
        is_stopped: somebody stopped it, or it died; what its batches put in place is counted.
        failure: why it ended before its time, empty when it did not.
        outcome: how it ended where it did not reach its end and cannot go on; what was counted until then is counted.
        format: how the messages were written there.
    """

    run_id: str
    mode: str
    spark: str
    state: int
    hash: str
    seconds: float
    read: int
    mapped: int
    filtered: int
    set_aside: int
    skipped: int
    messages_out: int
    from_unreviewed: dict[str, int]
    bytes_in: int
    bytes_out: int
    by_entity: dict[str, int]
    by_reason: dict[str, int]
    by_skip: dict[str, int]
    records_per_second: float
    by_version: dict[str, int] = {}
    by_attribute: dict[str, dict[str, int]] = {}
    kernel: KernelFigures = msgspec.field(default_factory=KernelFigures)
    outputs: str = ""
    errors: str = ""
    problems: tuple[str, ...] = ()
    source: str = ""
    is_replay: bool = False
    batches: int = 0
    states: tuple[int, ...] = ()
    checkpoint: str = ""
    is_stopped: bool = False
    failure: str = ""
    outcome: Literal["", "cancelled", "killed"] = ""
    format: str = "jsonl"

    def as_json(self) -> dict[str, Any]:
        """Return the document of docs/reference/report.md with ``outputs`` and ``errors``."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document


def report_of(spec: RunSpec, target: str, tally: Tally, seconds: float, problems: tuple[str, ...] = ()) -> RunReport:
    """Report what was asked of a run and what was counted; whoever did the run puts in what it knows besides.

    Args:
        spec: the run.
        target: where Spark ran, as people read it.
        tally: what was counted.
        seconds: how long it took.
        problems: what a person should know, after the notes of the run itself.
    """
    return RunReport(
        run_id=spec.run_id,
        mode=spec.policy.mode,
        spark=target,
        state=spec.mapping.state,
        hash=spec.mapping.hash,
        seconds=round(seconds, 3),
        records_per_second=round(tally.read / seconds, 1) if seconds else 0.0,
        outputs=spec.sink.address if is_kafka(spec.sink.address) else "",
        errors=spec.sink.errors if tally.set_aside and is_kafka(spec.sink.errors) else "",
        problems=(*spec.policy.notes, *problems),
        source=spec.source.address,
        is_replay=spec.is_replay,
        format=spec.sink.format,
        **{name: getattr(tally, name) for name in Tally.__struct_fields__},
    )


def check_sums(tally: Tally) -> None:
    """Prove that every record is counted once and every part adds up to its whole.

    Raises:
        BugError: a sum is off; then no report is written.
    """
    sums = {
        "read": (tally.read, tally.mapped + tally.filtered + tally.set_aside + tally.skipped),
        "messages_out": (tally.messages_out, sum(tally.by_entity.values())),
        "set_aside": (tally.set_aside, sum(tally.by_reason.values())),
        "skipped": (tally.skipped, sum(tally.by_skip.values())),
    }
    wrong = [f"{name} is {whole}, its parts make {parts}" for name, (whole, parts) in sums.items() if whole != parts]
    if wrong:
        raise BugError(f"the counts of the run do not add up: {'; '.join(wrong)}")
