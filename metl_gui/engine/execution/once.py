"""A run all at once: its outputs are there together when it is over, or none of them is."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

import msgspec

from metl_gui.core.dimensional.rows.replays import Coverage
from metl_gui.core.runs.events import RunProgressed, RunStarted
from metl_gui.core.runs.kafka import is_kafka
from metl_gui.core.runs.report import RunReport, Tally, Unit, check_sums, report_of
from metl_gui.engine.execution.work_folders import WorkPlaces, work_places
from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.runs.progress import INTERVAL_SECONDS, ProgressSum, TimeLeft
from metl_gui.engine.runs.staged_outputs import Staging
from metl_gui.engine.sessions.jobs import map_source
from metl_gui.engine.sessions.run_context import RunContext
from metl_gui.engine.sessions.runtime import ship
from metl_gui.engine.sources.run_source import source_of
from metl_gui.engine.sources.source import ReadPlan
from metl_gui.engine.spark.cancellation import LOOK_SECONDS, Background, unless_cancelled
from metl_gui.engine.spark.task_errors import run_error
from metl_gui.engine.staging.part_marks import keep_marks
from metl_gui.engine.staging.read_places import MOST_RANGES, joined
from metl_gui.engine.staging.sink import keep_coverage
from metl_gui.engine.tasks.task import TaskOrder, TaskOutcome, with_topics
from metl_gui.errors import RunError, UserError

_Result = TypeVar("_Result")


class OnceStrategy:
    """A run whose tasks map the whole source in one job of Spark, into folders that become the real ones at its end.

    Args:
        run: the run.
    """

    def __init__(self, run: RunContext) -> None:
        self.run = run
        self.spec = run.spec
        self.progress_path = run.runtime.folder / f"progress-{run.run_id}.jsonl"
        self._told = 0.0
        self._left = TimeLeft()

    @contextlib.contextmanager
    def opened(self) -> Iterator[RunStarted]:
        """List the source and make hidden folders for the outputs; when the block fails, nothing of it stays."""
        if self.spec.servers:
            from metl_gui.engine.checks.topic_checks import check_topics

            check_topics(self.spec)
        self.staging = Staging(self.spec)
        self.run.folder.create(self.spec)
        with source_of(self.spec, is_marked=self.spec.is_marked) as self.source:
            self.staging.prepare()
            try:
                yield self._listed()
            except BaseException:
                self.source.on_discard()
                self.staging.discard()
                raise
            finally:
                self.progress_path.unlink(missing_ok=True)

    def start(self) -> None:
        """Bring the plan to the tasks and let them begin."""
        runtime = self.run.runtime
        files = [] if self.source.topics else self.reading.files
        self.places = self._on_spark(lambda: work_places(runtime, self.spec, self.staging, files, self.progress_path))
        sizes = [sum(piece.stop - piece.start for piece in task) for task in self.reading.tasks]
        self.progress = ProgressSum(self.places.progress, sizes, self.unit)
        order = self._order(self.places)
        self.work = Background(lambda: self._in_group(lambda: map_source(runtime, self.reading, order)))

    def poll(self) -> bool:
        """Wait a moment for the tasks, and tell how far they are four times a second."""
        is_over = self.work.is_over.wait(LOOK_SECONDS)
        if self.run.seconds >= self._told + INTERVAL_SECONDS:
            self._tell()
        return not is_over

    def stop(self) -> None:
        """Have Spark end the tasks, without waiting for it."""
        self.work.end(partial(self.run.runtime.cancel_until, self.run.run_id))
        self._tell()

    def finish(self) -> RunReport:
        """Move what the tasks wrote into place, once the counts add up."""
        self.run.check_cancelled()
        with self._in_words():
            outcomes = self.work.result()
        tally = Tally()
        for outcome in outcomes:
            tally.add(outcome.tally)
        check_sums(tally)
        slow = build.why_not()
        problems = (
            *self.staging.notes,
            *self.places.notes,
            *self.source.problems(self.reading.files),
            *dict.fromkeys(note for outcome in outcomes for note in outcome.notes),
            *filter(None, [slow]),
        )
        self.source.before_commit(self.staging)
        written = self.places.bring_home(path for outcome in outcomes for path in outcome.written)
        self.staging.commit([*written, *self._marked(outcomes), *self._covered(outcomes)])
        self.source.after_commit()
        report = report_of(self.spec, self.run.runtime.target.shown, tally, self.run.seconds, problems)
        return msgspec.structs.replace(
            report,
            outputs=report.outputs or str(self.staging.out or ""),
            errors=report.errors or (str(self.staging.errors) if tally.set_aside else ""),
        )

    def _marked(self, outcomes: Sequence[TaskOutcome]) -> list[str]:
        """Write down what tasks said of their parts, where a warehouse will look at it."""
        folder, marks = self.staging.messages_partial, {path: m for one in outcomes for path, m in one.marks.items()}
        return [keep_marks(folder, marks)] if folder is not None and marks else []

    def _covered(self, outcomes: Sequence[TaskOutcome]) -> list[str]:
        """Write down what was read whole, where a warehouse will ask for it."""
        folder = self.staging.messages_partial
        if folder is None or not self.is_staged:
            return []
        ranges = joined(one for outcome in outcomes for one in outcome.covered)
        mapping = self.spec.mapping
        read = (*self.source.covered(), *(ranges if len(ranges) <= MOST_RANGES else ()))
        covered = read if self.spec.source.limit is None else ()
        coverage = Coverage(mapping.publication or mapping.state, covered, is_ordered=not self.spec.is_replay)
        return [keep_coverage(folder, coverage)]

    @property
    def is_staged(self) -> bool:
        """Whether changes become rows of histories."""
        return self.spec.sink.format == "stage" and self.spec.source.holds != "messages"

    @property
    def unit(self) -> Unit:
        """What the source is measured in."""
        return "bytes" if self.source.topics is None else "records"

    def _listed(self) -> RunStarted:
        """Cut the source into what tasks read."""
        self.run.check_cancelled()
        source, limit = self.source, self.spec.source.limit
        files, tasks = source.cut(limit, self._on_spark(lambda: self.run.runtime.parallelism))
        self.reading = ReadPlan(files, tasks, limit, source.is_error_store, source.topics, is_typed=source.is_typed)
        return RunStarted(self.run.run_id, source.files, source.bytes_total, self.unit)

    def _order(self, places: WorkPlaces) -> TaskOrder:
        order = TaskOrder(
            run=self.spec.for_tasks,
            plan=self._on_spark(lambda: ship(self.run.runtime, self.spec.mapping.plan)),
            messages=str(places.messages) if places.messages else None,
            errors=str(places.errors),
            samples=str(places.samples),
            has_samples=places.has_samples,
            progress=str(places.progress),
            logs=self.source.log_names() if self.is_staged else {},
        )
        with self._in_words():
            return with_topics(order, self.spec)

    def _tell(self) -> None:
        tally, bytes_read = self.progress.read()
        self._told = self.run.seconds
        left = self._left.after(self._told, bytes_read, self.source.bytes_total - bytes_read)
        self.run.emit(
            RunProgressed(
                self.run.run_id,
                round(self._told, 3),
                self.source.bytes_total,
                bytes_read,
                tally,
                seconds_left=left,
                unit=self.unit,
            )
        )

    def _on_spark(self, work: Callable[[], _Result]) -> _Result:
        """Have Spark do something, wait for no more than its run does, and say in words what fails."""
        end = partial(self.run.runtime.cancel_until, self.run.run_id)
        with self._in_words():
            return unless_cancelled(lambda: self._in_group(work), self.run.is_cancelled, end)

    def _in_group(self, work: Callable[[], _Result]) -> _Result:
        """Have Spark do something that can be cancelled."""
        self.run.runtime.begin_group(self.run.run_id)
        return work()

    @contextlib.contextmanager
    def _in_words(self) -> Iterator[None]:
        """Describe in words what Spark raises."""
        try:
            yield
        except UserError:
            raise
        except Exception as error:  # Spark's and py4j's errors have no base in common
            self.run.check_cancelled()
            if self.run.runtime.has_died():
                raise self._as_sent(self.run.runtime.died()) from error
            raise self._as_sent(run_error(error)) from error

    def _as_sent(self, error: RunError) -> RunError:
        """Put right what is said of folders, which are there whole or not at all, where messages go into topics."""
        if not is_kafka(self.spec.sink.address):
            return error
        stays = "What was sent stays in its topics, and is sent again by the next run."
        texts = (text.replace("Nothing was written.", stays) for text in (error.text, error.hint))
        return type(error)(error.title, *texts)
