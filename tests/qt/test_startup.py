"""What the window needs before it can be shown: what only some work asks for is loaded with that work."""

from __future__ import annotations

import subprocess
import sys

_LATER = (
    "scipy",
    "pandas",
    "pyarrow",
    "rapidfuzz",
    "sqlite_utils",
    "yaml",
    "pyqtgraph",
    "pyspark",
    "confluent_kafka",
    "PySide6.QtSvg",
    "metl_gui.core.merge",
    "metl_gui.ui.exports",
    "metl_gui.ui.settings_dialogs.profiles_dialog",
    "metl_gui.ui.settings_dialogs.project_dialog",
    "metl_gui.ui.actions.shortcut_sheet",
)


def test_the_window_is_loaded_without_what_only_later_work_asks_for() -> None:
    script = (
        "import sys, metl_gui.ui.main, metl_gui.ui.shell.window, metl_gui.ui.theming.controller\n"
        f"print([name for name in {_LATER!r} if name in sys.modules], 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] True"


def test_no_module_of_the_window_is_read_as_text_when_it_is_loaded() -> None:
    script = (
        "import builtins, linecache\n"
        "from metl_gui.ui.main import load_qt\n"
        "load_qt()\n"
        "import PySide6.QtCore, metl_gui.ui.shell.window\n"
        "print(builtins.__import__.__name__, [name for name in linecache.cache if 'metl_gui' in name])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["__import__", "[]"]
