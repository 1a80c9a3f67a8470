"""One fast lane from its start to its report, inside the host: Spark keeps its tasks, this tells of them and ends them.

Nothing here is needed for what tasks do. Where this dies, what was committed stays, and whoever goes on with the run
goes on behind it.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from metl_gui.core.runs.events import EngineEvent, LaneTroubled, MembersChanged, RunStarted
from metl_gui.core.runs.lanes import MemberFigures
from metl_gui.core.runs.report import RunReport
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.checks.destinations import refuse_feedback
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
from metl_gui.engine.runs.run_folder import RunFolder
from metl_gui.engine.spark.task_errors import run_error
from metl_gui.engine.spark.worker_check import check_packages
from metl_gui.errors import RunError, RunKilledError

if TYPE_CHECKING:
    from metl_gui.engine.sessions.runtime import Runtime

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


class LaneRun:
    """One fast lane.

    Args:
        runtime: the session it runs on.
        spec: what to do.
        emit: takes the events of the run, from more than one thread.
        is_cancelled: set by whoever wants it to end.
    """

    def __init__(
        self, runtime: Runtime, spec: RunSpec, emit: Callable[[EngineEvent], None], is_cancelled: threading.Event
    ) -> None:
        self.runtime = runtime
        self.spec = spec
        self.emit = emit
        self.is_cancelled = is_cancelled
        self.started = time.monotonic()
        self.token = secrets.token_hex(8)
        self._troubles: dict[str, str] = {}
        self._problems: list[str] = []
        self._members: tuple[MemberFigures, ...] = ()
        self._looked = 0.0

    def run(self) -> RunReport:
        """Run until somebody stops it, and return the report; without ``follow`` until what was there is mapped.

        Raises:
            RunError: the run cannot start or cannot go on.
        """
        refuse_feedback(self.spec)
        self._problems += check_packages(self.runtime.workers, is_with_kafka=True)
        with contextlib.closing(LaneStart(self.spec)) as start:
            try:
                report = self._done(start)
            finally:
                if self.spec.policy.mode == "test" and not self.spec.source.group:
                    # Nobody goes on with a test, and its group was its own.
                    drop_topic(start.servers, lane_topic(start.group))
        RunFolder(Path(self.spec.policy.folder)).write_report(report)
        return report

    def _done(self, start: LaneStart) -> RunReport:
        RunFolder(Path(self.spec.policy.folder)).create(self.spec)
        self._problems += start.notes
        order = start.order(self.runtime, self.token)
        words = LaneTopic(start.servers, order.lane_topic)
        watch = CoordinationWatch(start.servers, self.spec.mapping.matrix) if self.spec.mapping.matrix else None
        try:
            words.say(start_key(self.spec.run_id), self.token.encode(), _START_SECONDS)
            self.emit(RunStarted(self.spec.run_id, len(start.partitions), 0))
            self._driven(start, LaneJob(self.runtime, order, start.tasks(self.runtime)), words, watch)
        finally:
            words.close()
            if watch is not None:
                watch.close()
        return self._report()

    def _driven(self, start: LaneStart, job: LaneJob, words: LaneTopic, watch: CoordinationWatch | None) -> None:
        """Keep the job going until the lane ends, and tell how far it is."""
        course = LaneProgress(self.spec.run_id, start.committed, self.spec.mapping.state, self.started)
        ends = None if self.spec.source.follow else start.ends()
        starts, read = 0, 0
        try:
            while True:
                is_stopped = self.is_cancelled.wait(_TELL_SECONDS)
                self._tell(course)
                self._hear(words)
                self._tell_members(watch)
                if is_stopped or _is_through(start, ends) or (job.is_over.is_set() and job.fault is None):
                    break
                if job.is_over.is_set():
                    starts, read = (starts + 1 if course.read == read else 0), course.read
                    self._raise_fault(job, starts)
                    job = LaneJob(self.runtime, job.order, job.tasks)
        finally:
            self._end(job, words)
        self._tell(course)
        self._hear(words)

    def _tell(self, course: LaneProgress) -> None:
        """Tell how far the lane is; servers that are away are a trouble that passes."""
        try:
            course.tell(self.emit)
            self._trouble("driver", "")
        except RunError as error:
            self._trouble("driver", f"{error.title} {error.text} The lane goes on once they answer; nothing is lost.")

    def _hear(self, words: LaneTopic) -> None:
        """Hear what tasks say of themselves.

        Raises:
            RunError: one of them cannot go on.
        """
        for key, text in words.under(trouble_key(self.spec.run_id)).items():
            trouble = _read(text, Trouble)
            if trouble is not None and trouble.token == self.token:
                self._trouble(key, trouble.text)
        for text in words.under(failed_key(self.spec.run_id)).values():
            failure = _read(text, Failure)
            if failure is not None and failure.token == self.token:
                raise RunError(failure.title, failure.text, failure.hint)

    def _trouble(self, whose: str, text: str) -> None:
        """Tell of a trouble once, and keep it for the report."""
        if text and self._troubles.get(whose) != text and text not in self._troubles.values():
            self.emit(LaneTroubled(self.spec.run_id, text))
            if text not in self._problems:
                self._problems = [*self._problems, text][-_MOST_PROBLEMS:]
        self._troubles[whose] = text

    def _tell_members(self, watch: CoordinationWatch | None) -> None:
        now = time.monotonic()
        if watch is None or now - self._looked < _MEMBERS_SECONDS:
            return
        self._looked = now
        members = watch.members()
        if [_lasting(one) for one in members] != [_lasting(one) for one in self._members]:
            self.emit(MembersChanged(self.spec.run_id, members))
        self._members = members

    def _raise_fault(self, job: LaneJob, starts: int) -> None:
        """Say that the job is started again, unless that is of no use.

        Raises:
            RunError: Spark is gone, or the job fails whenever it starts.
        """
        if self.runtime.has_died():
            raise RunKilledError(
                "Spark ended in the middle of the lane.",
                "Its session is gone. What was committed stays, and nothing is sent twice.",
                "Go on with metl runs PROJECT --resume: it goes on where the last transaction ended.",
            ) from job.fault
        fault = run_error(job.fault) if job.fault is not None else RunError("The tasks of the lane ended.")
        if starts >= _STARTS:
            raise RunError(
                fault.title, fault.text, fault.hint.replace("Nothing was written.", "What was committed stays.")
            ) from job.fault
        _log.warning("the tasks of the lane are started again: %s", fault)
        self._trouble("spark", f"Spark lost tasks of the lane and starts them again: {fault.text or fault.title}")

    def _end(self, job: LaneJob, words: LaneTopic) -> None:
        """Have the tasks end behind their transactions, and end those of tasks that could not."""
        if not job.is_over.is_set():
            try:
                words.say(stop_key(self.spec.run_id), self.token.encode(), _SAY_SECONDS)
            except RunError as error:
                _log.warning("the tasks cannot be told to end: %s", error)
                job.end(0.0)
                return
            job.end(STOP_SECONDS)
        abort_stale_transactions(job.order, job.tasks)

    def _report(self) -> RunReport:
        """Read the report out of what was committed.

        Raises:
            RunError: the servers do not answer for a long time.
        """
        end = time.monotonic() + (_REPORT_SECONDS if not self.is_cancelled.is_set() else 0.0)
        while True:
            try:
                return lane_report(
                    self.spec,
                    self.runtime.target.shown,
                    is_stopped=self.is_cancelled.is_set(),
                    seconds=time.monotonic() - self.started,
                    problems=tuple(self._problems),
                )
            except RunError:
                # Servers that refuse answer at once: they are not asked without a rest.
                if time.monotonic() > end or self.is_cancelled.wait(_TELL_SECONDS):
                    raise


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
