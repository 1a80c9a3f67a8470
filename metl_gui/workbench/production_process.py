"""The process of one production run: ``python -m metl_gui.workbench.production_process FOLDER``.

It owns its Spark, takes newly published states, hears who wants it to stop, and puts its report into the project. Who
started it may be gone: nothing here needs them.
"""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType

import msgspec

from metl_gui.core.progress import UNWATCHED, run_inline
from metl_gui.core.runs.report import RunReport
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.checks.destinations import refuse_shared_places
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.lanes.target import lane_target
from metl_gui.engine.runs.run_folder import RunFolder
from metl_gui.engine.spark.task_errors import SPARK_FAILED
from metl_gui.engine.streaming.checkpoint import Checkpoint
from metl_gui.errors import MetlError, RunCancelled, RunError, UserError
from metl_gui.store.lease import LeaseHolder
from metl_gui.store.project_file import ProjectFile
from metl_gui.store.sqlite.connection import number_of
from metl_gui.workbench.importing.version_tasks import REASONS
from metl_gui.workbench.lanes.control import announce_pinned
from metl_gui.workbench.profiles.saved_profiles import find_target
from metl_gui.workbench.runs.mapping_run import PRODUCTION, looked_into, pin, servers_of
from metl_gui.workbench.runs.production import PLAN, ProductionOrder, read_order, report_so_far
from metl_gui.workbench.session import Workbench, person
from metl_gui.workbench.user_folders import HEARTBEAT_SECONDS, STOP, ProcessFacts, ProcessPhase, write_facts

_log = logging.getLogger(__name__)
_LOOK_SECONDS = 0.1
_PUBLISHED_SECONDS = 1.0
_VERSIONS_SECONDS = 30.0
_VERSIONS_PART = 50
_TRIES = 3
"""How often a batch is tried again that Spark, or a worker of it, did not survive."""


class Production:
    """The run of this process.

    Args:
        folder: the run folder.
        order: what was asked.
        plan: the published state, compiled.
    """

    def __init__(self, folder: Path, order: ProductionOrder, plan: bytes) -> None:
        self.folder = folder
        self.order = order
        self.plan = plan
        self.is_stopping = threading.Event()
        self.is_over = threading.Event()
        self.facts = ProcessFacts(run_id=order.spec.run_id, holder=LeaseHolder.here(person()))
        self._say = threading.Lock()

    def run(self) -> None:
        """Do everything, and leave the report."""
        self._tell(ProcessPhase.STARTING)
        duties = [self._beat, self._hear, self._look_for_versions]
        if self.order.follows_published:
            duties.append(self._take_published)
        threads = [threading.Thread(target=duty, name=duty.__name__, daemon=True) for duty in duties]
        for thread in threads:
            thread.start()
        try:
            report = self._report()
            RunFolder(self.folder).write_report(report)
            _into_project(self.order, report)
        finally:
            self.is_over.set()
            for thread in threads:
                thread.join()
            self._tell(ProcessPhase.ENDED)

    def stop(self, _number: int = 0, _frame: FrameType | None = None) -> None:
        """End in order, between two batches."""
        self.is_stopping.set()

    def _report(self) -> RunReport:
        """Run until the end, starting Spark anew where it dies, and say what became of it."""
        try:
            target = find_target(self.order.target)
            with SparkProcess(lane_target(target) if self.is_lane else target) as spark:
                return self._run_on(spark)
        except RunCancelled:
            return msgspec.structs.replace(report_so_far(self.order), is_stopped=True)
        except UserError as error:
            _log.error("the run ended before its time: %s", error)
            return msgspec.structs.replace(report_so_far(self.order), is_stopped=True, failure=str(error))

    def _run_on(self, spark: SparkProcess) -> RunReport:
        spec = self.order.spec
        # The order is a file, so secrets are looked up here.
        servers = servers_of(spec.source.address, spec.sink.address, spec.sink.errors)
        mapping = msgspec.structs.replace(spec.mapping, plan=self.plan)
        spec = msgspec.structs.replace(spec, mapping=mapping, servers=servers)
        self._tell(ProcessPhase.RUNNING)
        cancelling = threading.Thread(target=self._cancel_when_asked, args=(spark,), name="cancel", daemon=True)
        cancelling.start()
        failures, behind = 0, -1
        while True:
            try:
                return spark.run(self._with_newest(spec))
            except RunError as error:
                done = self._done()
                failures = failures + 1 if done == behind else 1
                behind = done
                is_sparks = error.title == SPARK_FAILED or _has_ended(spark)
                if self.is_stopping.is_set() or failures > _TRIES or not is_sparks:
                    raise
                what = "record" if self.is_lane else "batch"
                _log.warning("%s It goes on after %s %s of the run", error, what, done)

    @property
    def is_lane(self) -> bool:
        """Whether this run is a fast lane, whose tasks agree with all others of the matrix on the state."""
        return self.order.spec.is_lane

    def _done(self) -> int:
        """Return how much is behind: batches, or records of a lane."""
        report = report_so_far(self.order)
        return report.read if self.is_lane else report.batches

    def _with_newest(self, spec: RunSpec) -> RunSpec:
        """Resume the state that was taken last; a lane takes up what is agreed on by itself."""
        if self.is_lane:
            return spec
        checkpoint = Checkpoint(Path(spec.policy.checkpoint))
        use = checkpoint.plan_in_use()
        if (
            use is None
            or not self.order.follows_published
            or use.state == spec.mapping.state
            or use.state < spec.mapping.state
        ):
            return spec
        plan = (checkpoint.plans / use.file).read_bytes()
        mapping = msgspec.structs.replace(
            spec.mapping, plan=plan, state=use.state, hash=use.hash, publication=use.publication
        )
        return msgspec.structs.replace(spec, mapping=mapping)

    def _cancel_when_asked(self, spark: SparkProcess) -> None:
        while not self.is_over.is_set():
            if self.is_stopping.wait(_LOOK_SECONDS):
                spark.cancel()
                self.is_over.wait(_LOOK_SECONDS)

    def _beat(self) -> None:
        while not self.is_over.wait(HEARTBEAT_SECONDS):
            self._tell(self.facts.phase)

    def _hear(self) -> None:
        """Check whether somebody on another computer, or one who may not send signals, wants this to end."""
        while not self.is_over.wait(_LOOK_SECONDS):
            if (self.folder / STOP).exists():
                self.is_stopping.set()

    def _take_published(self) -> None:
        state, told = self.order.spec.mapping.state, ""
        project, sound = Path(self.order.project), None
        while not self.is_over.wait(_PUBLISHED_SECONDS):
            try:
                found = number_of(project)
                live = _live_state(project, is_sound=found == sound)
                sound = found
                if live is not None and live != state:
                    self._use(live)
                    state = live
                told = ""
            except (MetlError, OSError) as error:  # the project may be moved, or on a disk that is away
                if told != str(error):  # once, not each second for as long as it is away
                    told = str(error)
                    _log.warning("newly published states cannot be looked for: %s", error)

    def _use(self, state: int) -> None:
        with Workbench.open(Path(self.order.project), for_editing=False) as workbench:
            pinned = pin(workbench, PRODUCTION, state, self.order.include_unconfirmed)
        try:
            refuse_shared_places(msgspec.structs.replace(self.order.spec, mapping=pinned.mapping))
        except RunError as error:
            self._leave(state, error)
            return
        if self.is_lane:
            announce_pinned(self.order.spec, pinned)
            return
        Checkpoint(Path(self.order.spec.policy.checkpoint)).use_plan(pinned.mapping)
        _log.info("state %s was published; batches that are planned from now on map with it", state)

    def _leave(self, state: int, error: RunError) -> None:
        """Stay with the state that is in use, and say why."""
        words = f"State {state} is not taken up. {error}"
        _log.warning("%s", words)
        if not self.is_lane:
            Checkpoint(Path(self.order.spec.policy.checkpoint)).add_problem(words)

    def _look_for_versions(self) -> None:
        """Open tasks for versions that nobody has imported while the run goes on, which may be for months."""
        pause, known = _VERSIONS_SECONDS, 0
        while not self.is_over.wait(pause):
            began = time.monotonic()
            try:
                report = report_so_far(self.order)
                waiting = sum(report.by_reason.get(reason, 0) for reason in REASONS)
                if waiting > known:
                    with Workbench.open(Path(self.order.project), for_editing=False) as workbench:
                        looked_into(workbench, report, UNWATCHED, run_inline)
                    known = waiting
            except (MetlError, OSError) as error:
                _log.warning("versions that nobody has imported cannot be looked for: %s", error)
            # All that waits is read each time; that stays a small part of the work.
            pause = max(_VERSIONS_SECONDS, _VERSIONS_PART * (time.monotonic() - began))

    def _tell(self, phase: ProcessPhase) -> None:
        with self._say:
            try:
                self.facts = write_facts(self.folder, msgspec.structs.replace(self.facts, phase=phase))
            except OSError as error:
                _log.warning("the heartbeat cannot be written: %s", error)


def _live_state(project: Path, *, is_sound: bool) -> int | None:
    with ProjectFile.open(project, for_editing=False, is_sound=is_sound) as opened:
        return opened.kept.states.live()


def _has_ended(spark: SparkProcess) -> bool:
    """Whether the process of Spark is gone, or goes in a moment."""
    end = time.monotonic() + 5
    while time.monotonic() < end:
        if not spark.is_ready:
            return True
        time.sleep(_LOOK_SECONDS)
    return False


def _into_project(order: ProductionOrder, report: RunReport) -> None:
    """Put the report into the project; where that cannot be done now, whoever opens it next does it."""
    from metl_gui.workbench.runs.history import collect

    try:
        with Workbench.open(Path(order.project), for_editing=False) as workbench:
            collect(workbench, order, report)
    except (MetlError, OSError) as error:
        _log.warning("the report of %s is not in its project yet: %s", report.run_id, error)


def main(arguments: list[str]) -> None:
    """Run what the order in a folder asks."""
    folder = Path(arguments[0])
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    order = read_order(folder)
    if order is None:
        raise SystemExit(f"{folder} holds no order of a production run")
    production = Production(folder, order, (folder / PLAN).read_bytes())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, production.stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the terminal of whoever started this is nothing to it
    production.run()


if __name__ == "__main__":
    main(sys.argv[1:])
