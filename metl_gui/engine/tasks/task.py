"""What one task does on an executor: map the records it is given, write the parts, and return what it counted.

What tasks are told of topics is where messages and set-aside records go (``with_topics``).
"""

from __future__ import annotations

import base64
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from metl_gui.core.dimensional.rows.replays import CoveredRange
from metl_gui.core.runs.kafka import parse_address
from metl_gui.core.runs.limits import TOO_LARGE
from metl_gui.core.runs.records import MappedRecord, SentMessage
from metl_gui.core.runs.report import KernelFigures, Tally
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.kafka.topic_orders import TopicOrder
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.kernel.message_records import RecordBatch
from metl_gui.engine.kernel.outcomes import MappedBatch, SetAside, hidden_row
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.runs.progress import ATTRIBUTES_NOTED, ProgressNotes
from metl_gui.engine.sinks.jsonl import JsonlParts, JsonlSink
from metl_gui.engine.sinks.parquet import ParquetSink
from metl_gui.engine.sinks.sink import Sink
from metl_gui.engine.sources.files import CHUNK_BYTES, COLUMN_CHUNK_BYTES
from metl_gui.engine.sources.large_records import LargeRecords, write_row
from metl_gui.engine.staging.part_marks import PartMark, marks_of
from metl_gui.engine.staging.read_places import ReadPlaces
from metl_gui.engine.staging.sink import StageSink
from metl_gui.engine.tasks.refused_records import RunningCounts, briefly_counted, counted, set_refused_aside

if TYPE_CHECKING:
    from confluent_kafka import Message

    from metl_gui.engine.sinks.topic_sink import ErrorTopic


class TaskOutcome(msgspec.Struct, frozen=True):
    """What one successful task attempt counted, wrote and covered, and what a person should know of what it read.

    Parts that are staged have their marks.
    """

    tally: Tally
    written: list[str]
    notes: list[str] = []
    covered: list[CoveredRange] = []
    marks: dict[str, PartMark] = {}


class TaskOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What every task of a run is told, with paths that all executors share.

    Args:
        run: what was asked, as tasks are told it (``RunSpec.for_tasks``).
        plan: the file that holds the plan, named by what is in it; a worker keeps the kernel of it between tasks.
        messages, errors, samples: the partial folders; no messages for ``noop``.
        has_samples: samples are kept.
        progress: the file for progress notes.
        topics, error_topic: where messages and set-aside records go instead of folders; they hold secrets.
        logs: how positions in a warehouse call files, by their names.
    """

    run: RunSpec
    plan: str
    messages: str | None
    errors: str
    samples: str
    has_samples: bool = True
    progress: str
    topics: TopicOrder | None = None
    error_topic: TopicOrder | None = None
    logs: dict[str, str] = {}


_kernels: dict[str, Kernel] = {}
"""The kernel of the last plan that this worker process served; building one costs more than a task."""

_dropped: dict[str, int] = {}
"""By kernel: how many compiled column sets went when it took the place of the one before."""


def kernel_for(order: TaskOrder, plan: Callable[[], bytes]) -> Kernel:
    """Return the kernel of a plan, built on first use in this process; runs with the same plan share it."""
    key = _key_of(order)
    if key not in _kernels:
        _dropped[key] = sum(kernel.column_sets for kernel in _kernels.values())
        _kernels.clear()
        build.build_in_background()
        run = order.run
        _kernels[key] = Kernel(
            plans.decode(plan()), run.policy.mode, is_replay=run.is_replay, publication=run.mapping.publication
        )
    return _kernels[key]


def _key_of(order: TaskOrder) -> str:
    # A file of a plan is named by what is in it.
    return f"{order.run.policy.mode} {order.run.is_replay} {order.run.mapping.publication} {order.plan}"


class Sampler:
    """Chooses in a task which records are kept beside their messages: the first ones of each entity.

    Args:
        wanted: how many an entity.
    """

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self._taken: Counter[str] = Counter()

    def has_enough(self, entities: Iterable[str]) -> bool:
        """Return whether nothing more is wanted of these entities."""
        return all(self._taken[entity] >= self.wanted for entity in entities)

    def take(self, position: str, raw: bytes, sent: list[tuple[str, bytes]]) -> bytes | None:
        """Return the line to keep of a record and its (entity, message)s, None when there is enough of them."""
        if self.has_enough(entity for entity, _ in sent):
            return None
        self._taken.update(entity for entity, _ in sent)
        outgoing = tuple(SentMessage(entity, msgspec.Raw(text)) for entity, text in sent)
        try:
            return msgspec.json.encode(MappedRecord(position, outgoing, raw=raw.decode()))
        except UnicodeDecodeError:
            return msgspec.json.encode(MappedRecord(position, outgoing, raw_base64=base64.b64encode(raw).decode()))


class SetAsideOutput:
    """Where what a task sets aside goes: parts of an error store, or a topic.

    Args:
        order: the run's.
        state: number of the state.
        name: begins the names of the parts.
    """

    def __init__(self, order: TaskOrder, state: int, name: str) -> None:
        self.order = order
        self.state = state
        self.errors = JsonlParts(Path(order.errors), name)
        self.topic = _error_topic(order)
        names = order.run.sink.hidden
        self.hidden = None if names is msgspec.UNSET else frozenset(names)

    def put(
        self, row: SetAside, records: RecordBatch, large: LargeRecords | None, messages: Sequence[Message | None]
    ) -> None:
        """Set a record of a batch aside; see ``TaskAttempt.map``."""
        if self.hidden is not None:
            raw = b"" if row.reason == TOO_LARGE else records.raw(row.record)
            row = hidden_row(row, raw, self.hidden)
            self.errors.append((f"reason={row.reason}",), (row.text + b"\n",))
        elif self.topic is not None:
            message = messages[row.record] if messages else None
            if message is not None:
                self.topic.put(row, message)
            else:
                self.topic.put_record(row, records.raw(row.record), records.size(row.record))
        elif row.reason == TOO_LARGE and large is not None:
            limit = self.order.run.source.max_record_bytes
            write = partial(write_row, self.state, records, row.record, limit, large)
            self.errors.write_long((f"reason={TOO_LARGE}",), write)
        else:
            self.errors.append((f"reason={row.reason}",), (row.text + b"\n",))

    def close(self) -> list[str]:
        """Write what is left and return the paths of all parts."""
        if self.topic is not None:
            self.topic.close()
        return self.errors.close()


class TaskAttempt:
    """One attempt of one task.

    Args:
        order: the run's.
        kernel: maps batches.
        number, attempt: name the parts, which keep the order of the source.

    Attributes:
        chunk_bytes: so much of a file makes one batch.
    """

    def __init__(self, order: TaskOrder, kernel: Kernel, number: int, attempt: int) -> None:
        self.order = order
        self.kernel = kernel
        self.counts = RunningCounts()
        name = f"part-{number:06d}-{attempt}"
        self.sink = _sink(order, kernel.plan, name)
        makes_columns = isinstance(self.sink, ParquetSink | StageSink)
        self.chunk_bytes = COLUMN_CHUNK_BYTES if makes_columns else CHUNK_BYTES
        self.errors = SetAsideOutput(order, kernel.plan.state, name)
        self.samples = JsonlParts(Path(order.samples), name)
        self.notes = ProgressNotes(order.progress, number, attempt)
        self.sampler = Sampler(order.run.policy.samples if order.has_samples else 0)
        self.evictions = kernel.evictions - _dropped.pop(_key_of(order), 0)
        self.places = ReadPlaces() if isinstance(self.sink, StageSink) and not order.run.is_replay else None

    @property
    def tally(self) -> Tally:
        """What was counted so far."""
        return self.counts.total()

    def map(
        self, records: RecordBatch, large: LargeRecords | None = None, messages: Sequence[Message | None] = ()
    ) -> None:
        """Map one batch and write what it became.

        Args:
            records: the batch.
            large: gives those whole of which the batch has only the beginning.
            messages: the messages of Kafka that the records were, where they were such.
        """
        started = time.perf_counter_ns()
        outcome = self.kernel.map(records)
        elapsed_ns = time.perf_counter_ns() - started
        refused = self.sink.append(outcome) if self.sink else {}
        tally = counted(outcome) if refused else briefly_counted(outcome)
        self._note_figures(tally.kernel, outcome, elapsed_ns)
        for row in outcome.set_aside:
            self.errors.put(row, records, large, messages)
        if not self.sampler.has_enough(tally.by_entity):
            self._sample(outcome, records, refused)
        for row in set_refused_aside(tally, refused, self.kernel, records):
            self.errors.put(row, records, None, messages)
        if self.places is not None:
            self.places.note(records)
        if refused:
            self.counts.add(tally)
        else:
            self.counts.add_mapped(tally, outcome)
        if self.notes.is_due():
            self.notes.note(self.counts.note(ATTRIBUTES_NOTED))

    def end(self, notes: Sequence[str] = ()) -> TaskOutcome:
        """Write what is left and return what was counted, with notes on what was read."""
        errors = self.errors.close()
        parts = self.sink.close() if self.sink else []
        written = [*parts, *errors, *self.samples.close()]
        tally = self.tally
        self.notes.note(tally, is_done=True)
        marks = marks_of(parts) if isinstance(self.sink, StageSink) else {}
        covered = self.places.ranges() if self.places is not None else []
        return TaskOutcome(tally, written, list(notes), covered, marks)

    def _note_figures(self, figures: KernelFigures, outcome: MappedBatch, nanoseconds: int) -> None:
        kernel, records = self.kernel, len(outcome.fates)
        figures.note(records, nanoseconds)
        figures.hits, figures.misses = outcome.hits, records - outcome.hits
        figures.column_sets, figures.is_compiled = kernel.column_sets, kernel.is_compiled
        figures.evictions, self.evictions = kernel.evictions - self.evictions, kernel.evictions

    def _sample(self, outcome: MappedBatch, records: RecordBatch, refused: Collection[int]) -> None:
        wanted = [n for n, name in enumerate(outcome.entity_names) if not self.sampler.has_enough([name])]
        for record in np.unique(outcome.records[np.isin(outcome.entities, wanted)]).tolist():
            of_it = range(*np.searchsorted(outcome.records, (record, record + 1)).tolist())
            entities = [outcome.entity(at) for at in of_it]
            if record in refused or self.sampler.has_enough(entities):
                continue
            sent = [(entity, outcome.message(at)) for entity, at in zip(entities, of_it, strict=True)]
            line = self.sampler.take(records.position(record), records.raw(record), sent)
            if line is not None:
                self.samples.append((), (line + b"\n",))


def _error_topic(order: TaskOrder) -> ErrorTopic | None:
    """Return where set-aside records go when that is a topic; clients of Kafka are loaded only then."""
    if order.error_topic is None:
        return None
    from metl_gui.engine.sinks.topic_sink import ErrorTopic

    return ErrorTopic(order.error_topic, is_replay=order.run.is_replay)


def _sink(order: TaskOrder, plan: Plan, name: str) -> Sink | None:
    if order.topics is not None:
        from metl_gui.engine.sinks.topic_sink import TopicSink

        return TopicSink(order.topics, plan.state)
    if not order.messages:
        return None
    folder, how = Path(order.messages), order.run.sink
    if how.format == "parquet":
        return ParquetSink(folder, name, plan, by_date=how.by_date)
    if how.format == "stage":
        return StageSink(folder, name, plan, how.histories or (), logs=order.logs, mask_key=order.run.mask_key)
    return JsonlSink(folder, name, by_date=how.by_date)


def with_topics(order: TaskOrder, spec: RunSpec) -> TaskOrder:
    """Name the topics of a run in the order of its tasks; asks their servers what they take.

    Raises:
        RunError: an address cannot be read, or settings will not do.
    """
    sink, errors = spec.servers_of("sink"), spec.servers_of("errors")
    if sink is None and errors is None:
        return order
    from metl_gui.engine.checks.destinations import entities_of
    from metl_gui.engine.kafka.topics import topic_order

    if sink is not None:
        entities = entities_of(spec.mapping.plan) if spec.mapping.plan else frozenset()
        topics = topic_order(sink, parse_address(spec.sink.address), entities, has_tombstones=spec.sink.has_tombstones)
        order = msgspec.structs.replace(order, messages=None, topics=topics)
    if errors is not None:
        order = msgspec.structs.replace(order, error_topic=topic_order(errors, parse_address(spec.sink.errors), ()))
    return order
