"""The command that shows the program at work: ``demo``."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import DONE, Commands
from metl_gui.cli.output import Output
from metl_gui.cli.reviews import review_lines
from metl_gui.cli.run_lines import report_lines
from metl_gui.cli.schemas import import_lines

if TYPE_CHECKING:
    from metl_gui.workbench.demo import PreparedDemo

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
        from metl_gui.cli.live_demo import run_live_demo

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
    from metl_gui.workbench.demo import prepare_demo

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
    from metl_gui.workbench.demo import run_demo

    with out.watching() as watch:
        done = run_demo(watch=watch)
        watch.step("Drawing the window")
        picture = _screenshot(done.project, done.run.folder / "window.png", out)
    if picture is not None:
        done = done.with_screenshot(picture)
    lines = [f"Project: {done.project}", *import_lines(done.imported, done.project), "", *review_lines(done.review), ""]
    lines += report_lines(done.run.report)
    lines.append(f"Screenshot: {picture or 'none'}")
    out.result(done.as_json(), lines)
    return DONE


def _prepared_lines(prepared: PreparedDemo) -> list[str]:
    lines = [f"Project: {prepared.folder.project}", *import_lines(prepared.imported, prepared.folder.project), ""]
    return [*lines, *review_lines(prepared.review), "", "The window opens and starts a test run."]


def _screenshot(project: Path, target: Path, out: Output) -> Path | None:
    """Let the window draw itself without a display; the demo goes on when it cannot."""
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
