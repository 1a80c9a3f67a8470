"""What a task of a lane maps with: kernels by state, and messages on their way through one into topics.

A kernel of a new state is made, and tried on the newest records, before the state is taken up; so taking it up costs
nothing between two transactions.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from metl_gui.core.runs.report import Tally
from metl_gui.core.runs.run_spec import PlanState
from metl_gui.engine.kafka.records import records_of
from metl_gui.engine.kafka.topic_messages import Outgoing, Outgoings, set_aside_message
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.kernel.message_records import MessageRecords
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.lanes.order import LaneOrder
from metl_gui.engine.lanes.partition_state import PartitionState, Version
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.sinks.topic_sink import fitting, refusals, without_refused
from metl_gui.engine.tasks.refused_records import counted, set_refused_aside

if TYPE_CHECKING:
    from confluent_kafka import Message

UNKNOWN = "unknown_version"
_TRIED = 200
_KEPT = 3


class MappedMessages(NamedTuple):
    """What became of some messages of a partition.

    Args:
        messages: those that were mapped; what waits behind them is held by the share.
        tally: what was counted.
        outgoing: what goes into topics.
    """

    messages: list[Message]
    tally: Tally
    outgoing: list[Outgoing]


class _ErrorReason(msgspec.Struct):
    schema: str | None = None
    detail: str = ""


_why = msgspec.json.Decoder(_ErrorReason).decode


class StateMapper:
    """Maps with one state.

    Args:
        order: the lane's.
        taken: the state.
    """

    def __init__(self, order: LaneOrder, taken: PlanState) -> None:
        self.order = order
        self.state, self.hash = taken.state, taken.hash
        self.kernel = Kernel(plans.decode(taken.plan), order.run.policy.mode, publication=taken.publication)
        self.kernel.use_compiled()
        self._outgoings = Outgoings(order.sink.topic, taken.state, has_tombstones=order.sink.has_tombstones)
        self._error_bytes = order.errors.limits.get(order.errors.topic, 0)
        self._evictions = 0

    def map(self, share: PartitionState, messages: list[Message]) -> MappedMessages:
        """Map the next messages of a partition, up to the first that has to wait."""
        records = records_of(messages, self.order.run.source.max_record_bytes, share.topic)
        outcome, nanoseconds = self._timed(records)
        if self.order.run.mapping.wait_seconds > 0 and outcome.set_aside:
            found = _first_unknown(outcome, share)
            if found is not None:
                at, version = found
                share.hold(messages[at:], version)
                messages = messages[:at]
                outcome, nanoseconds = self._timed(records.first(at))
        tally, sent = counted(outcome), self._outgoings.of(outcome)
        refused = refusals(self.order.sink, outcome, sent)
        rows = [*outcome.set_aside, *set_refused_aside(tally, refused, self.kernel, records)]
        outgoing = without_refused(outcome, sent, refused)
        outgoing += [
            fitting(set_aside_message(self.order.errors.topic, row, messages[row.record]), self._error_bytes)
            for row in rows
        ]
        self._note_figures(tally, outcome, nanoseconds)
        return MappedMessages(messages, tally, outgoing)

    def _timed(self, records: MessageRecords) -> tuple[MappedBatch, int]:
        started = time.perf_counter_ns()
        return self.kernel.map(records), time.perf_counter_ns() - started

    def _note_figures(self, tally: Tally, outcome: MappedBatch, nanoseconds: int) -> None:
        figures, kernel, records = tally.kernel, self.kernel, len(outcome.fates)
        figures.note(records, nanoseconds)
        figures.hits, figures.misses = outcome.hits, records - outcome.hits
        figures.column_sets, figures.is_compiled = kernel.column_sets, kernel.is_compiled
        figures.evictions, self._evictions = kernel.evictions - self._evictions, kernel.evictions


class StateMappers:
    """The mappers of a task by state.

    Args:
        order: the lane's.
        started_with: the first state.
    """

    def __init__(self, order: LaneOrder, started_with: PlanState) -> None:
        build.build_in_background()
        self.order = order
        self.current = StateMapper(order, started_with)
        self._prepared: dict[str, StateMapper] = {}
        self._newest: list[Message] = []

    def map(self, share: PartitionState, messages: list[Message]) -> MappedMessages:
        """Map the next messages of a partition."""
        if len(messages) > len(self._newest) // 2:
            self._newest = messages[-_TRIED:]
        return self.current.map(share, messages)

    def prepare(self, taken: PlanState) -> None:
        """Make what mapping with a state needs; from any thread."""
        if taken.hash == self.current.hash and taken.state == self.current.state:
            return
        mapper = StateMapper(self.order, taken)
        newest = self._newest
        if newest:
            mapper.kernel.map(records_of(newest, self.order.run.source.max_record_bytes))
        self._prepared[taken.hash] = mapper
        while len(self._prepared) > _KEPT:
            self._prepared.pop(next(iter(self._prepared)))

    def activate(self, taken: PlanState) -> None:
        """Map with a state from now on."""
        found = self._prepared.pop(taken.hash, None)
        if found is None or found.state != taken.state:
            found = StateMapper(self.order, taken)
        self.current = found


def _first_unknown(outcome: MappedBatch, share: PartitionState) -> tuple[int, Version] | None:
    """Return the first record of a version that is worth waiting for."""
    for row in outcome.set_aside:
        if row.reason == UNKNOWN:
            why = _why(row.text)
            version = why.schema or "", why.detail
            if version not in share.given_up:
                return row.record, version
    return None
