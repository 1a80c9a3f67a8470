"""The window as a screen reader meets it: a program of its own on an accessibility bus, with a keyboard on its input.

Qt speaks to screen readers from any platform that hands out its bridge; of those that come with it only the ones that
need a display server do. What the program runs on, ``offscreen``, gets the same bridge by the table of its virtual
functions, so that everything from the widgets to the bus is what people have.

Run by ``tests.qt.screen_reader_user``: ``python -m tests.qt.screen_reader_program PROJECT``. Each line of its input is
a key to press, ``Ctrl+Z``, or a text to type, between quotation marks.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Any

from PySide6 import QtGui
from PySide6.QtCore import QCoreApplication, QSettings, QSocketNotifier, Qt
from PySide6.QtWidgets import QApplication

from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import theme as themes
from tests.qt.screen import press_keys, type_text

_SIZE = ctypes.sizeof(ctypes.c_void_p)
_SLOTS, _ROOM = 64, 4096
_PART = 2 * _SIZE
"""Where in the bridge that begins which a platform hands out."""


class Bridge:
    """Qt's bridge to the accessibility bus, handed out by a platform that has none; it must outlive the application."""

    def __init__(self) -> None:
        library = ctypes.CDLL(str(Path(QtGui.__file__).parent / "Qt" / "lib" / "libQt6Gui.so.6"))
        own = ctypes.cast(library["_ZNK20QPlatformIntegration13accessibilityEv"], ctypes.c_void_p).value
        platform = ctypes.c_void_p.in_dll(library, "_ZN22QGuiApplicationPrivate20platform_integrationE").value
        assert platform is not None
        table = ctypes.c_void_p.from_address(platform)
        assert table.value is not None
        slots = (ctypes.c_void_p * _SLOTS).from_address(table.value - 2 * _SIZE)
        at = next(number for number in range(2, _SLOTS) if slots[number] == own)
        self._room = ctypes.create_string_buffer(_ROOM)
        here = ctypes.addressof(self._room)
        self._given = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda _platform: here + _PART)
        self._slots = (ctypes.c_void_p * _SLOTS)(*slots)
        self._slots[at] = ctypes.cast(self._given, ctypes.c_void_p).value
        table.value = ctypes.addressof(self._slots) + 2 * _SIZE
        make = library["_ZN20QSpiAccessibleBridgeC1Ev"]
        make.argtypes, make.restype = [ctypes.c_void_p], None
        make(here)


def say(words: str) -> None:
    """Tell who reads the output."""
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def main(project: str) -> int:
    """Show the window until the input ends."""
    QCoreApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeMenuBar)
    application = QApplication(sys.argv[:1])
    bridge = Bridge()
    themes.choose(application, themes.load("light"))
    kept = Path(os.environ["XDG_CONFIG_HOME"]) / "view.ini"
    window = Window(QSettings(str(kept), QSettings.Format.IniFormat), Jobs(), warms_up=False)
    themes.dress(application)
    window.resize(1600, 1000)
    window.show()
    window.activateWindow()
    if project:
        window.projects.open_path(Path(project))
    else:
        window.projects.open_last()

    def fail(*error: Any) -> None:
        sys.__excepthook__(*error)
        os._exit(1)

    sys.excepthook = fail

    def read() -> None:
        line = sys.stdin.readline()
        if line:
            line = line.rstrip("\n")
            type_text(line[1:-1]) if line.startswith('"') else press_keys(line)
            say("done")
        else:
            window.close()
            application.quit()

    keyboard = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read)
    keyboard.activated.connect(read)
    say("shown")
    code = application.exec()
    del bridge
    return code


if __name__ == "__main__":
    os._exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
