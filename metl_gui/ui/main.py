"""The program ``metl-gui``: opens the window, on a project when one is named."""

from __future__ import annotations

import argparse
import builtins
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui import __version__
from metl_gui.errors import SetupError, UserError
from metl_gui.threads import keep_libraries_from_threads

if TYPE_CHECKING:
    from PySide6.QtCore import QtMsgType

_HINT = "Run metl doctor --fix, which names and installs the system libraries that Qt needs."


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window and return the program's exit code.

    Args:
        argv: the arguments after the program's name; by default those of this process, which is its own then.
    """
    if argv is None:
        keep_libraries_from_threads()
    arguments = _parser().parse_args(argv)
    from metl_gui.workbench.user_folders import close_to_others

    close_to_others()
    from metl_gui.workbench.links.link import is_link

    project = Path(arguments.project) if arguments.project is not None else None
    try:
        if arguments.screenshot is not None:
            return picture(project, arguments.screenshot)
        if arguments.project is not None and is_link(arguments.project):
            return run(link=arguments.project)
        return run(project, arguments.run, arguments.live)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 1


def run(project: Path | None = None, source: str = "", shows_live: bool = False, link: str = "") -> int:
    """Open the window and stay until it is closed.

    Args:
        project: the project to open.
        source: messages to map as soon as it is open.
        shows_live: show the production run that goes on as soon as it is open.
        link: a link to follow, in place of a project.

    Raises:
        SetupError: there is no display, or Qt cannot be loaded.
    """
    check_display()
    gc.disable()  # what is loaded stays: to look for garbage among it meanwhile takes a tenth of the start
    try:
        load_qt()
        from PySide6.QtCore import qInstallMessageHandler
        from PySide6.QtWidgets import QApplication

        from metl_gui.ui.project.settings import ViewSettings, stored_settings
        from metl_gui.ui.shell.window import Window
        from metl_gui.ui.theming import theme as themes
        from metl_gui.ui.theming.controller import choose_theme
    except ImportError as error:
        raise SetupError("The window cannot be loaded.", f"{error}.", _HINT) from error
    qInstallMessageHandler(_last_words)
    app = QApplication(["metl-gui"])
    qInstallMessageHandler(None)
    app.setApplicationName("metl-gui")
    app.setApplicationDisplayName("METL Workbench")
    settings = stored_settings()
    choose_theme(app, ViewSettings(settings))
    window = Window(settings)
    themes.dress(app)
    if not window.isMaximized():
        window.resize(window.size().boundedTo(window.screen().availableSize()))
    window.show()
    gc.enable()
    gc.freeze()  # the program and a project stay: to look for garbage among them again and again costs frames
    window.project.opened.connect(lambda _workbench: gc.freeze())
    if link:
        window.links.open(link)
    elif project is not None:
        window.projects.open_path(project, source, shows_live)
    else:
        window.projects.open_last()
    return int(app.exec())


def load_qt() -> None:
    """Load Qt, and keep Python's own way to load modules.

    PySide's way reads the source of every module, a quarter of the time that the window's take: it looks for those that
    want Qt's names spelled otherwise (``from __feature__ import``). There is none here.
    """
    own = builtins.__import__
    try:
        import_module("PySide6.QtCore")
    finally:
        builtins.__import__ = own


def _last_words(kind: QtMsgType, _context: object, text: str) -> None:
    """Put Qt's reason for ending the process into a sentence with a hint; it cannot be caught otherwise."""
    if kind.name != "QtFatalMsg":
        sys.stderr.write(f"{text}\n")
        return
    reason = " ".join(text.split())
    sys.stderr.write(f"{SetupError('The window cannot be opened.', reason, _HINT)}\n")
    sys.stderr.flush()
    os._exit(1)


def picture(project: Path | None, target: Path) -> int:
    """Save a picture of the window on a project, without a display.

    Raises:
        SetupError: Qt cannot be loaded.
        ProjectError: the project cannot be opened, or the picture cannot be written.
    """
    if project is None:
        raise SetupError("There is nothing to take a picture of.", hint="Name a project too.")
    try:
        from metl_gui.ui.shell.screenshot import take_screenshot
    except ImportError as error:
        raise SetupError("The window cannot be loaded.", f"{error}.", _HINT) from error
    take_screenshot(project, target)
    return 0


def check_display() -> None:
    """Refuse to start Qt where it would end the process.

    Raises:
        SetupError: no display, or a library without which Qt's plugin cannot be loaded.
    """
    platform = os.environ.get("QT_QPA_PLATFORM", "")
    if platform.startswith(("offscreen", "minimal", "vnc")) or sys.platform in ("win32", "darwin"):
        return
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise SetupError(
            "There is no display to open a window on.",
            "Neither DISPLAY nor WAYLAND_DISPLAY is set.",
            "Use metl on the command line, or set QT_QPA_PLATFORM=offscreen to run without a screen.",
        )
    import ctypes.util  # loads what starts processes

    if os.environ.get("DISPLAY") and ctypes.util.find_library("xcb-cursor") is None:
        raise SetupError("The window cannot be opened.", "The library xcb-cursor is missing.", _HINT)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="metl-gui", description="Open METL Workbench.")
    parser.add_argument("project", nargs="?", help="a project file (.metl) to open, or a link to a place (metl://...)")
    parser.add_argument("--run", metavar="SOURCE", default="", help="start a test run of a file, folder or pattern")
    parser.add_argument("--live", action="store_true", help="show the production run that goes on")
    parser.add_argument("--screenshot", type=Path, metavar="FILE", help="save a picture of the window and end")
    parser.add_argument("--version", action="version", version=f"metl-gui {__version__}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
