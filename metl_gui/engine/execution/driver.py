"""How any run goes, from its checks to its report; what differs is a strategy.

There are three: all at once (``execution.once``), in batches (``streaming.strategy``), and in Kafka transactions by
tasks that stay (``lanes.strategy``).
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from metl_gui.core.runs.events import RunStarted
from metl_gui.core.runs.report import RunReport
from metl_gui.engine.checks.destinations import refuse_feedback
from metl_gui.engine.sessions.run_context import RunContext
from metl_gui.errors import RunError


class Strategy(Protocol):
    """A way of doing one run, in the order of its methods."""

    run: RunContext

    def opened(self) -> AbstractContextManager[RunStarted]:
        """Check what was asked, make the run folder, and hold what the run needs while the block lasts.

        What must not be there when the block fails goes at its end.

        Raises:
            RunError: the run cannot start, or failed in the block.
        """
        ...

    def start(self) -> None:
        """Let the work begin."""
        ...

    def poll(self) -> bool:
        """Wait a moment, tell how far the work is, and say whether there is more to wait for.

        Raises:
            RunError: it cannot go on.
        """
        ...

    def stop(self) -> None:
        """End the work where it still goes on."""
        ...

    def finish(self) -> RunReport:
        """Return why it ended before its time, or put in place what is to be put there, and report.

        Raises:
            RunError: it failed.
            RunCancelled: it was cancelled, and nothing of it stays.
            BugError: the counts do not add up.
        """
        ...


def drive(strategy: Strategy) -> RunReport:
    """Do a run and return its report.

    Raises:
        RunError: it cannot start or cannot go on.
        RunCancelled: it was cancelled, and nothing of it stays.
        BugError: the counts do not add up.
    """
    run = strategy.run
    refuse_feedback(run.spec)
    with strategy.opened() as started:
        run.emit(started)
        strategy.start()
        try:
            while not run.is_cancelled.is_set() and strategy.poll():
                pass
        finally:
            strategy.stop()
        report = strategy.finish()
    _keep(run, report)
    return report


def _keep(run: RunContext, report: RunReport) -> None:
    try:
        run.folder.write_report(report)
    except OSError as error:
        raise RunError(
            "The report of the run cannot be written.",
            f"{run.folder.path}: {error.strerror or error}. What the run put in place stays.",
            "Free space there or mend its permissions; the outputs need not be made again.",
        ) from error
