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


def test_what_is_loaded_before_qt_is_most_of_the_rooms_below_and_nothing_of_qt() -> None:
    script = (
        "import sys, importlib\n"
        "from metl_gui.ui.main import _BEFORE_QT\n"
        "for name in _BEFORE_QT: importlib.import_module(name)\n"
        "before = {name for name in sys.modules if name.startswith('metl_gui.')}\n"
        "print('PySide6' in sys.modules)\n"
        "import metl_gui.ui.shell.window\n"
        "below = {n for n in sys.modules if n.startswith('metl_gui.') and not n.startswith('metl_gui.ui')}\n"
        "print(len(below & before) > 0.8 * len(below))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
