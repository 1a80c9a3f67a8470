"""The program ``metl-gui``: opens the window, on a project when one is named."""

from __future__ import annotations

import argparse
import ctypes.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from metl_gui import __version__
from metl_gui.errors import SetupError

_HINT = "Run metl doctor --fix, which names and installs the system libraries that Qt needs."


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window and return the program's exit code.

    Args:
        argv: the arguments after the program's name; by default those of this process.
    """
    arguments = _parser().parse_args(argv)
    try:
        return run(arguments.project)
    except SetupError as error:
        sys.stderr.write(f"{error}\n")
        return 1


def run(project: Path | None) -> int:
    """Open the window and stay until it is closed.

    Raises:
        SetupError: there is no display, or Qt cannot be loaded.
    """
    check_display()
    try:
        from PySide6.QtCore import QSettings
        from PySide6.QtWidgets import QApplication

        from metl_gui.ui import theme as themes
        from metl_gui.ui.window import Window, open_path
    except ImportError as error:
        raise SetupError("The window cannot be loaded.", f"{error}.", _HINT) from error
    app = QApplication(["metl-gui"])
    app.setApplicationName("metl-gui")
    app.setApplicationDisplayName("METL Workbench")
    settings = QSettings(QSettings.Format.IniFormat, QSettings.Scope.UserScope, "metl-gui", "metl-gui")
    name = str(settings.value("theme", "")) or themes.system_theme_name()
    themes.apply(app, themes.load(name))
    window = Window(settings)
    window.show()
    if project is not None:
        open_path(window, project)
    return int(app.exec())


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
    if os.environ.get("DISPLAY") and ctypes.util.find_library("xcb-cursor") is None:
        raise SetupError("The window cannot be opened.", "The library xcb-cursor is missing.", _HINT)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="metl-gui", description="Open METL Workbench.")
    parser.add_argument("project", nargs="?", type=Path, help="a project file (.metl) to open")
    parser.add_argument("--version", action="version", version=f"metl-gui {__version__}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
