"""The inner names of the program that the scenarios need; where something moves or is renamed, only this follows.

All else is done as a user does it: commands, files, the names and words that stand on the screen.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PySide6.QtCore import QPoint
    from PySide6.QtWidgets import QMainWindow

    from tests.qt.mouse_user import Mouse

KERNEL_BUILD = "metl_gui.engine.all_machine_code"
"""The module that makes the machine code."""
BROKER = ("tests.live_stack", "kafka")
"""The module that starts a broker, prints its address and stays until Ctrl+C; its arguments."""


def open_window(project: Path, settings: Path) -> QMainWindow:
    """Open the window on a project, as the program does; its worker process runs, Spark does not.

    Args:
        project: the project file.
        settings: the file of its settings.
    """
    from PySide6.QtCore import QSettings
    from PySide6.QtWidgets import QApplication

    from metl_gui.ui.jobs.jobs import Jobs
    from metl_gui.ui.shell.window import Window
    from metl_gui.ui.theming import theme

    app = QApplication.instance()
    if not isinstance(app, QApplication):
        raise TypeError("there must be an application first")
    theme.apply(app, theme.load("light"))
    window = Window(QSettings(str(settings), QSettings.Format.IniFormat), Jobs(), warms_up=False)
    window.resize(1600, 1000)
    window.show()
    window.projects.open_path(project)
    window.jobs.worker.warm_up()
    return window


def is_busy(window: Any) -> bool:
    """Say whether a window works at something aside."""
    return bool(window.jobs.running)


def user_of(window: Any, bot: Any) -> Mouse:
    """Return somebody with a mouse before a window.

    Args:
        window: which they see.
        bot: waits for them, by ``waitUntil``.
    """
    from tests.qt.mouse_user import Mouse

    return Mouse(window, bot)


def pointer_of(user: Mouse) -> QPoint:
    """Return where on the matrix somebody points who has searched for a cell."""
    return user._at
