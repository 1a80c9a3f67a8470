"""Follow a production run on the command line, and say what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metl_gui.cli.commands import AT_FAULT, DONE, FOUND
from metl_gui.cli.outcomes import CANCELLED
from metl_gui.cli.output import Output
from metl_gui.cli.run_lines import report_lines
from metl_gui.errors import BugError

if TYPE_CHECKING:
    from metl_gui.engine.report import RunReport
    from metl_gui.workbench.production import LiveRun


def attached(run: LiveRun, out: Output, *, is_stopped_by_interrupt: bool) -> RunReport | None:
    """Show the progress of a run until its end and return its report.

    Args:
        run: the run.
        out: where progress is shown.
        is_stopped_by_interrupt: Ctrl-C ends the run in order; else it ends only this.

    Returns:
        ``None`` when only the following ended.
    """
    from metl_gui.engine.events import (
        EngineEvent,
        LaneProgressed,
        LaneTroubled,
        RunFailed,
        SourceTroubled,
        StateChanged,
    )
    from metl_gui.workbench.production import follow_events, stop_run
    from metl_gui.workbench.running import tell

    with out.watching() as watch:
        is_asked, state = False, run.order.spec.state

        def take(event: EngineEvent) -> None:
            nonlocal state
            tell(watch, event)
            if isinstance(event, SourceTroubled | LaneTroubled):
                out.note(event.text)
            elif isinstance(event, LaneProgressed) and event.state != state:
                state = event.state
                out.note(f"The lane maps with state {state} now.")
            elif isinstance(event, StateChanged):
                out.note(f"State {event.state} was published; from batch {event.batch} on it is mapped with.")
            elif isinstance(event, RunFailed):
                out.note(f"{event.title} {event.text}".rstrip())

        def is_over() -> bool:
            nonlocal is_asked
            if watch.is_cancelled and is_stopped_by_interrupt and not is_asked:
                is_asked = True
                stop_run(run, 0)
            return watch.is_cancelled and not is_stopped_by_interrupt

        return follow_events(run, take, is_over)


def told(report: RunReport | None, out: Output, *, is_strict: bool = False, is_interrupted: bool = False) -> int:
    """Print the report of a run that is over and return the exit code."""
    if report is None:
        raise BugError("a production run has ended and there is no report of it")
    out.result(report.as_json(), list(report_lines(report)))
    if report.failure:
        out.note(f"error: {report.failure}")
        return AT_FAULT
    if is_interrupted:
        return CANCELLED
    return FOUND if is_strict and report.set_aside else DONE
