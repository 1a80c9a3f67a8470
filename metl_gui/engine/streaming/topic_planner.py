"""Plan batches of topics: list the partitions, share a batch out among those with something new, cut it into tasks.

A batch is bounded by bytes, guessed from how long records were in the batch before. Partitions and topics that appear
while a stream runs are read from their beginning. Servers that do not answer while it runs are waited for.

Units: places are offsets, so lengths count records here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import msgspec

from metl_gui.core.runs.kafka import KafkaAddress, KafkaServers, parse_address, parse_start
from metl_gui.core.runs.run_spec import SourceSpec
from metl_gui.engine.kafka.consumer import OffsetRange
from metl_gui.engine.kafka.offsets import ListedPartition, Lister, gone, start_offsets
from metl_gui.engine.sources.source import partition_of
from metl_gui.engine.sources.topic_source import cut_partitions
from metl_gui.engine.streaming.batch_records import BatchLog
from metl_gui.engine.streaming.checkpoint import Checkpoint, PlanInUse, SourceStatus
from metl_gui.engine.streaming.ledger import BatchPlan, KnownPartition, Ledger
from metl_gui.engine.streaming.planner import SMALL_BATCH_BYTES, SMALL_BATCH_SECONDS, TopicSourceSpec
from metl_gui.errors import RunError, in_utf8

LIST_SECONDS = 0.1
"""How long a listing in which nothing was new is good for; one costs some milliseconds."""

AWAY_SECONDS = 1.0
_FIRST_RECORD_BYTES = 10_000
"""How long records are taken to be before the first batch, which is small for that."""


class TopicPlanner:
    """Plans the batches of one stream, in the process that Spark keeps for it.

    Args:
        checkpoint: of the stream.
        source: topics, where they are read from, and about how much of them a batch reads at most.
        topics: how they are reached and read.
        cores: how many tasks run at once.
        clock: seconds, ever growing.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        source: SourceSpec,
        topics: TopicSourceSpec,
        cores: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.checkpoint = checkpoint
        self.source = source
        self.topics = topics
        self.cores = cores
        self.clock = clock
        self.ledger = Ledger(checkpoint.ledger)
        self.lister = Lister(topics.servers, parse_address(source.address), is_strict=False)
        self.fixed: Sequence[ListedPartition] | None = None
        self._records = BatchLog(checkpoint)
        self._told = set(checkpoint.problem_texts())
        self._is_away = False
        self._idle_until = 0.0
        self._planned_at = -SMALL_BATCH_SECONDS

    def fix(self) -> None:
        """List the topics for the last time: what comes from now on is not read.

        Raises:
            RunError: servers do not answer or refuse.
        """
        self.fixed = self._listed()

    def next_batch(self, after: int) -> int:
        """Return the number of the batch after one, planning it if it is not planned yet; the same when none is due.

        Raises:
            RunError: where partitions begin cannot be told.
        """
        if self.ledger.newest > after:
            return after + 1
        now = self.clock()
        if now < self._idle_until:
            return after
        listed = self.fixed if self.fixed is not None else self._listed_if_there()
        use = self.checkpoint.plan_in_use()
        if listed is None or use is None:
            self._idle_until = now + AWAY_SECONDS
            return after
        wanted = shared_out(self._new(listed), self._room())
        if wanted and self._is_due(wanted, now):
            self._write(listed, wanted, after, use)
            self._planned_at = now
            return self.ledger.newest
        self._idle_until = now + LIST_SECONDS
        self._tell(listed)
        return after

    def _listed(self) -> tuple[ListedPartition, ...]:
        """List the partitions; those that are there when the stream begins begin where a person said."""
        listed = self.lister.listed()
        if not self.ledger.is_begun:
            starts, notes = start_offsets(self.lister, listed, parse_start(self.source.start))
            for note in notes:
                self._say(note)
            self.ledger.begin(
                {one.name: KnownPartition(one.topic_id, starts[one.topic, one.partition], one.end) for one in listed}
            )
        for name in self.ledger.partitions.keys() - {one.name for one in listed}:
            self._missed(name, self.ledger.partitions[name])
        return listed

    def _listed_if_there(self) -> tuple[ListedPartition, ...] | None:
        """List the partitions, or wait for servers that do not answer: a stream outlives them."""
        try:
            listed = self._listed()
        except RunError as error:
            if not self._is_away:
                self._is_away = True
                self._say(f"{_now()}: {error.title} {error.text} The run waits for them.")
            return None
        if self._is_away:
            self._is_away = False
            self._say(f"{_now()}: the Kafka servers answer again.")
        return listed

    def _missed(self, name: str, known: KnownPartition) -> None:
        if known.read_to < known.end:
            self._say(
                f"{name} went before its last {known.end - known.read_to:,} offsets were read. They are lost to this "
                "run; what comes under the same name again is read from its beginning."
            )

    def _new(self, listed: Sequence[ListedPartition]) -> list[OffsetRange]:
        """Return what is new in each partition."""
        found: list[OffsetRange] = []
        for one in listed:
            known = self.ledger.partitions.get(one.name)
            start = one.begin
            if known is not None and known.topic_id and one.topic_id and known.topic_id != one.topic_id:
                self._say(f"{one.name} was deleted and made again ({one.topic_id}); it is read from its beginning.")
            elif known is not None and known.read_to < one.begin:
                self._say(gone(one.name, known.read_to, one.begin))
            elif known is not None:
                start = known.read_to
            if start > one.end:
                self._say(
                    f"{one.name} ends at offset {one.end:,}, before what was read of it ({start:,}): its servers lost "
                    "records. It is read on from there when it has grown again."
                )
            found.append(OffsetRange(one.topic, one.partition, start, max(one.end, start)))
        return [one for one in found if one.start < one.stop]

    def _mean_bytes(self) -> float:
        newest = self._records.newest()
        if newest is None or not newest.run_tally.read:
            return _FIRST_RECORD_BYTES
        return max(newest.run_tally.bytes_in / newest.run_tally.read, 1.0)

    def _room(self) -> int:
        return max(int(self.source.batch_bytes / self._mean_bytes()), 1)

    def _is_due(self, wanted: Sequence[OffsetRange], now: float) -> bool:
        if self.topics.is_hurried or self.fixed is not None:
            return True
        size = sum(one.stop - one.start for one in wanted) * self._mean_bytes()
        return size >= min(SMALL_BATCH_BYTES, self.source.batch_bytes) or now - self._planned_at >= SMALL_BATCH_SECONDS

    def _write(
        self, listed: Sequence[ListedPartition], wanted: Sequence[OffsetRange], after: int, use: PlanInUse
    ) -> None:
        files, tasks = cut_partitions(wanted, self.cores, is_ordered=self.topics.is_ordered)
        facts = {one.name: one for one in listed}
        names = {f"{one.topic}/{one.partition}": one for one in wanted}
        plan = BatchPlan(
            number=self.ledger.newest + 1,
            plan=use,
            files=files,
            tasks=tasks,
            known={},
            partitions={
                name: KnownPartition(facts[name].topic_id, one.stop, facts[name].end) for name, one in names.items()
            },
            bytes_planned=self.ledger.bytes_planned + sum(one.stop - one.start for one in wanted),
        )
        try:
            self.ledger.add(plan, committed=after)
        except FileExistsError:
            # Planned by a process that was killed meanwhile; its plan is as good as this one.
            self.ledger = Ledger(self.checkpoint.ledger)
        self._tell(listed)

    def _tell(self, listed: Sequence[ListedPartition]) -> None:
        self.checkpoint.write_status(
            SourceStatus(
                files=len(listed),
                bytes_total=sum(one.end - one.begin for one in listed),
                bytes_waiting=sum(one.stop - one.start for one in self._new(listed)),
                batch=self.ledger.newest,
                bytes_planned=self.ledger.bytes_planned,
            )
        )

    def _say(self, text: str) -> None:
        text = in_utf8(text)
        if text not in self._told:
            self._told.add(text)
            self.checkpoint.add_problem(text)


def shared_out(wanted: Sequence[OffsetRange], room: int) -> list[OffsetRange]:
    """Share a batch out among partitions: each gets as much as the others, and what it does not need goes to them.

    Args:
        wanted: what is new in each.
        room: how many records the batch takes; each partition gets one at least.
    """
    left = max(room, len(wanted))
    shares: dict[int, int] = {}
    by_length = sorted(range(len(wanted)), key=lambda at: wanted[at].stop - wanted[at].start)
    for done, at in enumerate(by_length):
        shares[at] = min(wanted[at].stop - wanted[at].start, left // (len(wanted) - done))
        left -= shares[at]
    return [one._replace(stop=one.start + shares[at]) for at, one in enumerate(wanted)]


def mend_topics(checkpoint: Checkpoint, servers: KafkaServers, committed: int) -> None:
    """Leave out, before a stream goes on, what it can never read: partitions that went.

    What was planned of them and is not in place is taken out of its batch. A person reads which partitions they are.

    Args:
        checkpoint: of the stream.
        servers: where its topics are.
        committed: the newest batch that is in place.

    Raises:
        RunError: the servers do not answer or refuse.
    """
    ledger = Ledger(checkpoint.ledger)
    planned = [ledger.batch(number) for number in range(committed + 1, ledger.newest + 1)]
    missing = Lister(servers, KafkaAddress()).missing(partition_of(file) for plan in planned for file in plan.files)
    told = set(checkpoint.problem_texts())
    for plan in planned:
        lost = {index for index, file in enumerate(plan.files) if partition_of(file) in missing}
        if not lost:
            continue
        for index in sorted(lost):
            size = sum(part.stop - part.start for task in plan.tasks for part in task if part.file == index)
            text = in_utf8(
                f"{plan.files[index].name} went before {size:,} offsets of it were read. They are lost to this run; "
                "what comes under the same name again is read from its beginning."
            )
            if text not in told:
                checkpoint.add_problem(text)
        tasks = [[part for part in task if part.file not in lost] for task in plan.tasks]
        ledger.replace(msgspec.structs.replace(plan, tasks=[task for task in tasks if task]))


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
