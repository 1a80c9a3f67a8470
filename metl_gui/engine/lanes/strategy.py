"""A run in Kafka transactions, which is a fast lane: Spark keeps its tasks, this tells of them and ends them.

Nothing here is needed for what tasks do. Where this dies, what was committed stays, and whoever goes on with the run
goes on behind it.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

import msgspec

from metl_gui.core.runs.events import LaneTroubled, MembersChanged, RunStarted
from metl_gui.core.runs.lanes import MemberFigures
from metl_gui.core.runs.report import RunReport
from metl_gui.engine.lanes.coordination.coordinator import CoordinationWatch
from metl_gui.engine.lanes.job import LaneJob
from metl_gui.engine.lanes.order import (
    Failure,
    PartitionId,
    Trouble,
    failed_key,
    lane_topic,
    start_key,
    stop_key,
    trouble_key,
)
from metl_gui.engine.lanes.report import LaneProgress, lane_report
from metl_gui.engine.lanes.start import LaneStart
from metl_gui.engine.lanes.topic import LaneTopic, drop_topic
from metl_gui.engine.lanes.transactional_client import abort_stale_transactions
from metl_gui.engine.sessions.run_context import RunContext
from metl_gui.engine.spark.task_errors import run_error
from metl_gui.engine.spark.worker_check import check_packages
from metl_gui.errors import RunError, RunKilledError

if TYPE_CHECKING:
    pass

_log = logging.getLogger(__name__)
_Word = TypeVar("_Word", Trouble, Failure)
STOP_SECONDS = 5.0
"""How long tasks may take to end in order, behind a transaction; then Spark ends them."""

_TELL_SECONDS = 0.25
_MEMBERS_SECONDS = 1.0
_STARTS = 4
"""How often a job is started again that committed nothing."""

_SAY_SECONDS = 2.0
_START_SECONDS = 10.0
_REPORT_SECONDS = 60.0
_MOST_PROBLEMS = 50


class TransactionStrategy:
    """A run whose tasks stay, and commit what they send with how far they are; nothing is sent twice.

    It ends when somebody stops it; without ``follow`` when what was there is mapped.

    Args:
        run: the run.
    """

    def __init__(self, run: RunContext) -> None:
        self.run = run
        self.spec = run.spec
        self.token = secrets.token_hex(8)
        self._troubles: dict[str, str] = {}
        self._problems: list[str] = []
        self._members: tuple[MemberFigures, ...] = ()
        self._looked = 0.0
        self._starts = 0
        """How often the job was started since something was committed."""
        self._read = 0

    @contextlib.contextmanager
    def opened(self) -> Iterator[RunStarted]:
        """Agree on where the lane begins and with which state, and hold the topic in which tasks and host talk."""
        self._problems += check_packages(self.run.runtime.workers, is_with_kafka=True)
        with contextlib.closing(LaneStart(self.spec)) as self.lane:
            try:
                self.run.folder.create(self.spec)
                self._problems += self.lane.notes
                self.order = self.lane.order(self.run.runtime, self.token)
                with self._talking():
                    yield RunStarted(self.run.run_id, len(self.lane.partitions), 0)
            finally:
                if self.spec.policy.mode == "test" and not self.spec.source.group:
                    # Nobody goes on with a test, and its group was its own.
                    drop_topic(self.lane.servers, lane_topic(self.lane.group))

    @contextlib.contextmanager
    def _talking(self) -> Iterator[None]:
        matrix = self.spec.mapping.matrix
        self.words = LaneTopic(self.lane.servers, self.order.lane_topic)
        self.watch = CoordinationWatch(self.lane.servers, matrix) if matrix else None
        try:
            self.words.publish(start_key(self.run.run_id), self.token.encode(), _START_SECONDS)
            yield
        finally:
            self.words.close()
            if self.watch is not None:
                self.watch.close()

    def start(self) -> None:
        """Start the tasks."""
        state, started = self.spec.mapping.state, self.run.started
        self.progress = LaneProgress(self.run.run_id, self.lane.committed, state, started)
        self.ends = None if self.spec.source.follow else self.lane.ends()
        self.job = LaneJob(self.run.runtime, self.order, self.lane.tasks(self.run.runtime))

    def poll(self) -> bool:
        """Wait a moment, tell how far the lane is, and start its tasks again when Spark has lost them."""
        is_stopped = self.run.is_cancelled.wait(_TELL_SECONDS)
        self._tell()
        self._hear()
        self._tell_members()
        is_over = self.job.is_over.is_set()
        if is_stopped or _is_through(self.lane, self.ends) or (is_over and self.job.fault is None):
            return False
        if is_over:
            self._start_again()
        return True

    def stop(self) -> None:
        """Have the tasks end behind their transactions, and end those of tasks that could not."""
        if not self.job.is_over.is_set():
            try:
                self.words.publish(stop_key(self.run.run_id), self.token.encode(), _SAY_SECONDS)
            except RunError as error:
                _log.warning("the tasks cannot be told to end: %s", error)
                self.job.end_after(0.0)
                return
            self.job.end_after(STOP_SECONDS)
        abort_stale_transactions(self.job.order, self.job.tasks)

    def finish(self) -> RunReport:
        """Read the report out of what was committed.

        Raises:
            RunError: a task could not go on, or the servers do not answer for a long time.
        """
        self._tell()
        self._hear()
        is_stopped = self.run.is_cancelled.is_set()
        end = time.monotonic() + (0.0 if is_stopped else _REPORT_SECONDS)
        while True:
            try:
                return lane_report(
                    self.spec,
                    self.run.runtime.target.shown,
                    is_stopped=self.run.is_cancelled.is_set(),
                    seconds=self.run.seconds,
                    problems=tuple(self._problems),
                )
            except RunError:
                # Servers that refuse answer at once: they are not asked without a rest.
                if time.monotonic() > end or self.run.is_cancelled.wait(_TELL_SECONDS):
                    raise

    def _tell(self) -> None:
        """Tell how far the lane is; servers that are away are a trouble that passes."""
        try:
            self.progress.emit_progress(self.run.emit)
            self._trouble("driver", "")
        except RunError as error:
            self._trouble("driver", f"{error.title} {error.text} The lane goes on once they answer; nothing is lost.")

    def _hear(self) -> None:
        """Hear what tasks say of themselves.

        Raises:
            RunError: one of them cannot go on.
        """
        for key, text in self.words.under(trouble_key(self.run.run_id)).items():
            trouble = _read(text, Trouble)
            if trouble is not None and trouble.token == self.token:
                self._trouble(key, trouble.text)
        for text in self.words.under(failed_key(self.run.run_id)).values():
            failure = _read(text, Failure)
            if failure is not None and failure.token == self.token:
                raise RunError(failure.title, failure.text, failure.hint)

    def _trouble(self, whose: str, text: str) -> None:
        """Tell of a trouble once, and keep it for the report."""
        if text and self._troubles.get(whose) != text and text not in self._troubles.values():
            self.run.emit(LaneTroubled(self.run.run_id, text))
            if text not in self._problems:
                self._problems = [*self._problems, text][-_MOST_PROBLEMS:]
        self._troubles[whose] = text

    def _tell_members(self) -> None:
        now = time.monotonic()
        if self.watch is None or now - self._looked < _MEMBERS_SECONDS:
            return
        self._looked = now
        members = self.watch.members()
        if [_lasting(one) for one in members] != [_lasting(one) for one in self._members]:
            self.run.emit(MembersChanged(self.run.run_id, members))
        self._members = members

    def _start_again(self) -> None:
        """Start the tasks again and say so, unless that is of no use.

        Raises:
            RunError: Spark is gone, or the job fails whenever it starts.
        """
        job = self.job
        self._starts, self._read = (self._starts + 1 if self.progress.read == self._read else 0), self.progress.read
        if self.run.runtime.has_died():
            raise RunKilledError(
                "Spark ended in the middle of the lane.",
                "Its session is gone. What was committed stays, and nothing is sent twice.",
                "Go on with metl runs PROJECT --resume: it goes on where the last transaction ended.",
            ) from job.fault
        fault = run_error(job.fault) if job.fault is not None else RunError("The tasks of the lane ended.")
        if self._starts >= _STARTS:
            raise RunError(
                fault.title, fault.text, fault.hint.replace("Nothing was written.", "What was committed stays.")
            ) from job.fault
        _log.warning("the tasks of the lane are started again: %s", fault)
        self._trouble("spark", f"Spark lost tasks of the lane and starts them again: {fault.text or fault.title}")
        self.job = LaneJob(self.run.runtime, job.order, job.tasks)


def _is_through(start: LaneStart, ends: Mapping[PartitionId, int] | None) -> bool:
    """Whether everything is committed that was there when the lane started."""
    if ends is None:
        return False
    try:
        offsets = start.committed.offsets()
    except RunError:
        return False  # told by whoever tells how far it is
    return all(end == 0 or (place in offsets and offsets[place].offset >= end) for place, end in ends.items())


def _read(text: bytes, form: type[_Word]) -> _Word | None:
    """Read what a task says; None for what no task of ours wrote."""
    try:
        return msgspec.json.decode(text, type=form)
    except (msgspec.MsgspecError, RecursionError):
        return None


def _lasting(member: MemberFigures) -> MemberFigures:
    return msgspec.structs.replace(member, seconds_silent=0.0)
