"""Runs a piece of Python in a process of its own that may take little memory and little time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

MOST_BYTES = 2 << 30
"""Addresses, not memory: libraries alone take half a gigabyte of them."""

_BEGINNING = f"""\
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, ({MOST_BYTES}, {MOST_BYTES}))
from metl_gui.errors import ProjectError
from metl_gui.store.project_file import ProjectFile
path = Path(sys.argv[1])
"""


def outcome(path: Path, statements: str, seconds: float = 120) -> str:
    """Run statements that open the project ``path``; what they print, and a traceback if there was one.

    Args:
        path: the project.
        statements: with all the above at hand.
        seconds: after which it is killed, and the test fails.
    """
    command = [sys.executable, "-c", _BEGINNING + statements, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    return done.stdout + done.stderr
