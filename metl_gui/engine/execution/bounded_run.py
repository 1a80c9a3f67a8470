"""One run from the listing of its source to its report, inside the host."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from metl_gui.core.runs.events import EngineEvent, RunProgressed, RunStarted
from metl_gui.core.runs.kafka import is_kafka
from metl_gui.core.runs.report import RunReport, Tally, Unit, check_sums
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.checks.destinations import refuse_feedback
from metl_gui.engine.execution.work_folders import WorkPlaces, work_places
from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.runs.progress import INTERVAL_SECONDS, ProgressSum, TimeLeft
from metl_gui.engine.runs.run_folder import RunFolder
from metl_gui.engine.runs.staging import Staging
from metl_gui.engine.sessions.runtime import Runtime, ship
from metl_gui.engine.sources.error_store import ErrorStore, ReplaySource, held
from metl_gui.engine.sources.files import SourceFile, list_files
from metl_gui.engine.sources.source import FileSource, ReadPlan, Source
from metl_gui.engine.spark.cancellation import unless_cancelled
from metl_gui.engine.spark.task_errors import run_error
from metl_gui.engine.tasks.task import TaskOrder, TaskOutcome, with_topics
from metl_gui.errors import RunCancelled, RunError, UserError

_Result = TypeVar("_Result")


class Execution:
    """One run.

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
        self.progress_path = runtime.folder / f"progress-{spec.run_id}.jsonl"

    def run(self) -> RunReport:
        """Do everything and return the report; on any failure nothing is left behind.

        Raises:
            RunError: the run cannot start or cannot go on.
            RunCancelled: it was cancelled.
            BugError: the counts do not add up.
        """
        refuse_feedback(self.spec)
        if self.spec.servers:
            from metl_gui.engine.checks.topic_checks import check_topics

            check_topics(self.spec)
        staging = Staging(self.spec)
        RunFolder(Path(self.spec.policy.folder)).create(self.spec)
        with _source_of(self.spec) as source:
            staging.prepare()
            try:
                report = self._mapped(source, staging)
            except BaseException:
                source.withdraw()
                staging.discard()
                raise
            finally:
                self.progress_path.unlink(missing_ok=True)
        RunFolder(Path(self.spec.policy.folder)).write_report(report)
        return report

    def _mapped(self, source: Source, staging: Staging) -> RunReport:
        self._check_cancelled()
        files, tasks = source.cut(self.spec.source.limit, self._on_spark(lambda: self.runtime.parallelism))
        reading = ReadPlan(files, tasks, self.spec.source.limit, source.is_error_store, source.topics)
        unit: Unit = "bytes" if source.topics is None else "records"
        self.emit(RunStarted(self.spec.run_id, source.files, source.bytes_total, unit))
        places = self._places(staging, [] if source.topics else files)
        sizes = [sum(piece.stop - piece.start for piece in task) for task in tasks]
        progress = ProgressSum(places.progress, sizes, unit)
        with _Watcher(self, progress, source.bytes_total):
            outcomes = self._collect(reading, places)
        self._check_cancelled()
        tally = Tally()
        for outcome in outcomes:
            tally.add(outcome.tally)
        check_sums(tally)
        slow = build.why_not()
        read = dict.fromkeys(note for outcome in outcomes for note in outcome.notes)
        problems = (
            *self.spec.policy.notes,
            *staging.notes,
            *places.notes,
            *source.problems(files),
            *read,
            *filter(None, [slow]),
        )
        source.promise(staging)
        staging.commit(places.bring_home(path for outcome in outcomes for path in outcome.written))
        source.keep()
        return self._report(tally, staging, problems)

    def _places(self, staging: Staging, files: list[SourceFile]) -> WorkPlaces:
        return self._on_spark(lambda: work_places(self.runtime, self.spec, staging, files, self.progress_path))

    def _collect(self, reading: ReadPlan, places: WorkPlaces) -> list[TaskOutcome]:
        order = TaskOrder(
            run=self.spec.for_tasks,
            plan=self._on_spark(lambda: ship(self.runtime, self.spec.mapping.plan)),
            messages=str(places.messages) if places.messages else None,
            errors=str(places.errors),
            samples=str(places.samples),
            has_samples=places.has_samples,
            progress=str(places.progress),
        )
        with self._in_words():
            order = with_topics(order, self.spec)
        outcomes = self._on_spark(lambda: self.runtime.outcomes(reading, order))
        return [msgspec.json.decode(outcome, type=TaskOutcome) for outcome in outcomes]

    def _on_spark(self, work: Callable[[], _Result]) -> _Result:
        """Have Spark do something, wait for no more than its run does, and say in words what fails."""

        def in_group() -> _Result:
            self.runtime.begin_group(self.spec.run_id)
            return work()

        with self._in_words():
            return unless_cancelled(in_group, self.is_cancelled, partial(self.runtime.cancel_until, self.spec.run_id))

    @contextlib.contextmanager
    def _in_words(self) -> Iterator[None]:
        """Say in words what Spark raises."""
        try:
            yield
        except UserError:
            raise
        except Exception as error:  # Spark's and py4j's errors have no base in common
            self._check_cancelled()
            if self.runtime.has_died():
                raise self._as_sent(self.runtime.died()) from error
            raise self._as_sent(run_error(error)) from error

    def _as_sent(self, error: RunError) -> RunError:
        """Put right what is said of folders, which are there whole or not at all, where messages go into topics."""
        if not is_kafka(self.spec.sink.address):
            return error
        stays = "What was sent stays in its topics, and is sent again by the next run."
        texts = (text.replace("Nothing was written.", stays) for text in (error.text, error.hint))
        return type(error)(error.title, *texts)

    def _check_cancelled(self) -> None:
        if self.is_cancelled.is_set():
            raise RunCancelled("the run was cancelled")

    def _report(self, tally: Tally, staging: Staging, problems: tuple[str, ...]) -> RunReport:
        seconds = time.monotonic() - self.started
        return RunReport(
            run_id=self.spec.run_id,
            mode=self.spec.policy.mode,
            spark=self.runtime.target.shown,
            state=self.spec.mapping.state,
            hash=self.spec.mapping.hash,
            seconds=round(seconds, 3),
            records_per_second=round(tally.read / seconds, 1) if seconds else 0.0,
            outputs=self.spec.sink.address if is_kafka(self.spec.sink.address) else str(staging.out or ""),
            errors=self._errors(staging) if tally.set_aside else "",
            problems=problems,
            source=self.spec.source.address,
            is_replay=self.spec.is_replay,
            format=self.spec.sink.format,
            **{name: getattr(tally, name) for name in Tally.__struct_fields__},
        )

    def _errors(self, staging: Staging) -> str:
        return self.spec.sink.errors if is_kafka(self.spec.sink.errors) else str(staging.errors)


class _Watcher:
    """Emits the progress of a run four times a second while its ``with`` block lasts."""

    def __init__(self, execution: Execution, progress: ProgressSum, bytes_total: int) -> None:
        self.execution = execution
        self.progress = progress
        self.bytes_total = bytes_total
        self.left = TimeLeft()
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._watch, name="progress")

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        self.thread.join()

    def _watch(self) -> None:
        while not self.is_over.wait(INTERVAL_SECONDS):
            self._emit()
        self._emit()

    def _emit(self) -> None:
        tally, bytes_read = self.progress.read()
        seconds = time.monotonic() - self.execution.started
        self.execution.emit(
            RunProgressed(
                self.execution.spec.run_id,
                round(seconds, 3),
                self.bytes_total,
                bytes_read,
                tally,
                seconds_left=self.left.after(seconds, bytes_read, self.bytes_total - bytes_read),
                unit=self.progress.unit,
            )
        )


@contextlib.contextmanager
def _source_of(spec: RunSpec) -> Iterator[Source]:
    """List what a run reads; an error store is held until the run is over.

    Raises:
        RunError: there is nothing to read, or another replay is at it.
    """
    if is_kafka(spec.source.address):
        from metl_gui.engine.sources.topic_source import ErrorTopicSource, TopicSource

        yield TopicSource(spec) if spec.source.replay is None else ErrorTopicSource(spec)
        return
    if spec.source.replay is None:
        yield FileSource(list_files(spec.source.address))
        return
    store = ErrorStore.at(spec.source.address, spec.source.replay.reasons, spec.source.max_record_bytes)
    with held(store, spec.is_marked):
        yield ReplaySource(store, spec.run_id, spec.policy.mode, spec.source.replay.is_again, spec.is_marked)
