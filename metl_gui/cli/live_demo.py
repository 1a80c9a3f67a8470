"""``metl demo --live``: real servers, a lane in production, and releases that it must meet."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import AT_FAULT, DONE
from metl_gui.cli.output import Output
from metl_gui.errors import RunCancelled, SetupError
from metl_gui.workbench.progress import Progress, Watch

if TYPE_CHECKING:
    from metl_gui.workbench.live_demo.story import Rows, Story


def run_live_demo(out: Output, has_window: bool) -> int:
    """Show the whole loop, in the window or told in text; everything that is started ends with it.

    Args:
        out: takes what happens, as it happens.
        has_window: open the window and let the person decide.
    """
    from metl_gui.workbench.live_demo.story import Story

    _refuse_missing()
    with ExitStack() as stack:
        # Left last, so that who is impatient while all ends breaks that off, and the guard ends the rest.
        watch = stack.enter_context(out.watching())
        story = Story(out.tell, watch, stack)
        story.begin()
        if has_window:
            return _shown(story, out)
        return _told(story, out)


def _refuse_missing() -> None:
    from metl_gui.workbench.components.requirements import missing_for_demo

    missing = missing_for_demo()
    if missing:
        raise SetupError(
            f"The live demo needs what is not here: {', '.join(check.name for check in missing)}.",
            " ".join(f"{check.name}: {check.found}. {check.hint}" for check in missing),
            "Run metl doctor --live --fix, which installs it or says how.",
        )


def _told(story: Story, out: Output) -> int:
    from metl_gui.workbench.live_demo.alone import decide
    from metl_gui.workbench.live_demo.story import RELEASES

    replays = [decide(story, release) for release in RELEASES]
    out.tell("The shop closes, and everything that it wrote is waited for.", "")
    rows = story.end()
    is_whole = all(each.are_equal for each in rows.values())
    document = {
        "project": str(story.path),
        "run_id": story.lane.run.run_id,
        "state": story.lane.state,
        "replays": [report.as_json() for report in replays],
        "rows": {name: {"tables": each.in_tables, "topic": each.in_topic} for name, each in rows.items()},
    }
    out.result(document, [*_row_lines(rows), f"All servers end now. The project stays: {story.path}"])
    return DONE if is_whole else AT_FAULT


def _row_lines(rows: dict[str, Rows]) -> list[str]:
    lines = ["Rows counted in PostgreSQL, and as the messages in the topics leave them:"]
    lines += [
        f"  {name:<12} {each.in_tables:>6,} {each.in_topic:>6,}{'' if each.are_equal else '  DIFFERENT'}"
        for name, each in rows.items()
    ]
    return lines


def _shown(story: Story, out: Output) -> int:
    """Open the window on the lane and lead the person; ends when the window is closed."""
    from metl_gui.workbench.live_demo.led import lead

    window = _open_window(story.path, story.stack)
    outer = story.watch
    story.watch = Watch(_tell_on(outer), lambda: outer.is_cancelled or window.poll() is not None)
    try:
        lead(story)
    except RunCancelled:
        if outer.is_cancelled:
            raise
    out.tell("The window is closed; all servers end now.", f"The project stays: {story.path}")
    if window.returncode not in {0, None}:
        raise SetupError("The window ended badly.", hint="Run metl doctor, or metl demo --live --no-window.")
    return DONE


def _tell_on(watch: Watch) -> Callable[[Progress], None]:
    return lambda progress: watch.tell(progress.text, progress.done, progress.total)


def _open_window(project: Path, stack: ExitStack) -> subprocess.Popen[bytes]:
    """Open the window on the lane; it ends with the demo, and the demo with it."""
    from metl_gui.cli.demo import window_command
    from metl_gui.workbench.components import guard, guarding

    mark = secrets.token_hex(8)
    window = subprocess.Popen(
        window_command(project, "--live"), env={**os.environ, guard.MARK: mark}, start_new_session=True
    )
    guarding.guard_process(window.pid, mark, signal.SIGTERM)

    def close() -> None:
        guard.end(window.pid if window.poll() is None else 0, mark, signal.SIGTERM)
        window.wait()
        guarding.release_process(window.pid)

    stack.callback(close)
    return window
