"""The command that shows the program at work: ``demo``.

With ``--live``: real servers, a lane in production, and releases that it must meet.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import AT_FAULT, DONE, Commands
from metl_gui.cli.output import Output
from metl_gui.cli.reviews import review_lines
from metl_gui.cli.runs import report_lines
from metl_gui.cli.schemas import import_lines
from metl_gui.core.progress import Progress, Watch
from metl_gui.errors import RunCancelled, SetupError

if TYPE_CHECKING:
    import subprocess

    from metl_gui.workbench.demo.live_story import RowCounts, Story
    from metl_gui.workbench.demo.sample import PreparedDemo


_SCREENSHOT_SECONDS = 60
_OPENING_SECONDS = 15.0
"""A window that ends badly within this time has not opened."""


def register(commands: Commands) -> None:
    """Add ``demo``."""
    parser = commands.add(
        "demo",
        run_demo_command,
        "do the main job on the sample project, in the window",
        "Adds the schema version that waits, shows what needs review and starts a test run, on a fresh copy of the "
        "sample in your data folder. Without a display the same is done and the report printed.",
    )
    parser.add_argument("--no-window", action="store_true", help="print the report instead (so does --json)")
    parser.add_argument(
        "--live",
        action="store_true",
        help="on real servers that are started for it: PostgreSQL, Kafka, Connect with Debezium, a lane in production, "
        "and tables that are altered while records flow",
    )


def run_demo_command(arguments: argparse.Namespace, out: Output) -> int:
    """Show the main job in the window, or do it without one."""
    wants_window = not (arguments.no_window or out.as_json)
    if arguments.live:
        if wants_window and not has_display():
            out.note("There is no display here, so what happens is told instead of shown.")
        return run_live_demo(out, wants_window and has_display())
    if wants_window and not has_display():
        out.note("There is no display here, so the report is printed instead of the window opened.")
    elif wants_window and _shown_in_window(out):
        return DONE
    return _done_without_window(out)


def has_display() -> bool:
    """Whether a window could be opened here."""
    return sys.platform in {"darwin", "win32"} or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def _shown_in_window(out: Output) -> bool:
    """Open the prepared sample in the window and wait until it is closed; false when it does not open."""
    import subprocess

    from metl_gui.workbench.demo.sample import prepare_demo

    with out.watching() as watch:
        prepared = prepare_demo(watch)
    out.result({}, _prepared_lines(prepared))
    started = time.monotonic()
    run = ["--run", str(prepared.folder.messages)]
    ended = subprocess.run(window_command(prepared.folder.project, *run), check=False)
    if ended.returncode == 0 or time.monotonic() - started > _OPENING_SECONDS:
        return True
    out.note("The window did not open (metl doctor says what it lacks), so the report is printed instead.")
    return False


def _done_without_window(out: Output) -> int:
    from metl_gui.workbench.demo.sample import run_demo
    from metl_gui.workbench.loads.warehouse_loads import load_lines

    with out.watching() as watch:
        done = run_demo(watch=watch)
        watch.step("Drawing the window")
        picture = _screenshot(done.project, done.run.folder / "window.png", out)
    if picture is not None:
        done = done.with_screenshot(picture)
    lines = [f"Project: {done.project}", *import_lines(done.imported, done.project), "", *review_lines(done.review), ""]
    lines += report_lines(done.run.report)
    lines += ["", f"Warehouse: {done.warehouse}", *load_lines(done.load)]
    lines.append(f"Open it with: duckdb {shlex.quote(str(done.warehouse))}, or what else reads DuckDB")
    lines.append(f"Screenshot: {picture or 'none'}")
    out.result(done.as_json(), lines)
    return DONE


def _prepared_lines(prepared: PreparedDemo) -> list[str]:
    lines = [f"Project: {prepared.folder.project}", *import_lines(prepared.imported, prepared.folder.project), ""]
    return [*lines, *review_lines(prepared.review), "", "The window opens and starts a test run."]


def _screenshot(project: Path, target: Path, out: Output) -> Path | None:
    """Let the window draw itself without a display; the demo goes on when it cannot."""
    import subprocess

    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    command = window_command(project, "--screenshot", str(target))
    try:
        ended = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=_SCREENSHOT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        out.note(f"There is no screenshot: the window was not drawn within {_SCREENSHOT_SECONDS} seconds.")
        return None
    if ended.returncode == 0 and target.is_file():
        return target
    said = ended.stderr.strip().splitlines()
    out.note(f"There is no screenshot: {said[-1] if said else 'the window did not open'}")
    return None


def window_command(project: Path, *options: str) -> list[str]:
    """Return what opens the window on a project."""
    return [sys.executable, "-m", "metl_gui.ui.main", str(project), *options]


def run_live_demo(out: Output, has_window: bool) -> int:
    """Show the whole loop, in the window or told in text; everything that is started ends with it.

    Args:
        out: takes what happens, as it happens.
        has_window: open the window and let the person decide.
    """
    from metl_gui.workbench.demo.live_story import Story

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
    from metl_gui.workbench.live import missing_for_demo

    missing = missing_for_demo()
    if missing:
        raise SetupError(
            f"The live demo needs what is not here: {', '.join(check.name for check in missing)}.",
            " ".join(f"{check.name}: {check.found}. {check.hint}" for check in missing),
            "Run metl doctor --live --fix, which installs it or says how.",
        )


def _told(story: Story, out: Output) -> int:
    from metl_gui.workbench.demo.live_decisions import decide
    from metl_gui.workbench.demo.live_story import RELEASES

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


def _row_lines(rows: dict[str, RowCounts]) -> list[str]:
    lines = ["Rows counted in PostgreSQL, and as the messages in the topics leave them:"]
    lines += [
        f"  {name:<12} {each.in_tables:>6,} {each.in_topic:>6,}{'' if each.are_equal else '  DIFFERENT'}"
        for name, each in rows.items()
    ]
    return lines


def _shown(story: Story, out: Output) -> int:
    """Open the window on the lane and lead the person; ends when the window is closed."""
    from metl_gui.workbench.demo.live_decisions import lead

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
    import secrets
    import subprocess

    from metl_gui.workbench.live import GuardedProcess

    mark = secrets.token_hex(8)
    environment = {**os.environ, **GuardedProcess.environment(mark)}
    window = subprocess.Popen(window_command(project, "--live"), env=environment, start_new_session=True)
    guarded = GuardedProcess(window.pid, mark, signal.SIGTERM)
    guarded.begin()

    def close() -> None:
        guarded.end(is_alive=window.poll() is None)
        window.wait()
        guarded.release()

    stack.callback(close)
    return window
