"""A second process that opens a project file for editing, says so and waits to be told to close or to be killed.

Run as ``python -m tests.unit.store.other_process PATH WHO``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from metl_gui.store.project_file import ProjectFile

if __name__ == "__main__":
    with ProjectFile.open(Path(sys.argv[1]), for_editing=True, who=sys.argv[2]):
        sys.stdout.write("open\n")
        sys.stdout.flush()
        sys.stdin.readline()
