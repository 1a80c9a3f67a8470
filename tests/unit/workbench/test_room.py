"""The walls of the room."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import metl_gui.workbench


def test_importing_every_module_of_the_workbench_loads_neither_a_screen_nor_spark() -> None:
    names = [found.name for found in pkgutil.walk_packages(metl_gui.workbench.__path__, "metl_gui.workbench.")]
    assert len(names) > 70
    script = (
        f"import importlib, sys\nfor name in {names!r}: importlib.import_module(name)\n"
        "heavy = ('PySide6', 'pyspark', 'pandas', 'scipy', 'pyqtgraph', 'sqlite_utils', 'jinja2')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
