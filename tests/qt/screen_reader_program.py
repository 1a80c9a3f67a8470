"""The program as people start it, but that no Spark starts behind the window, and that an error ends it.

Run by ``tests.qt.screen_reader_user``: ``python -m tests.qt.screen_reader_program PROJECT``.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Any

from metl_gui.ui import main
from metl_gui.ui.shell import window


def fail(*error: Any) -> None:
    """Tell an error, and end."""
    sys.__excepthook__(*error)
    os._exit(1)


if __name__ == "__main__":
    sys.excepthook = fail
    window.Window = partial(window.Window, warms_up=False)  # type: ignore[assignment,misc]  # in its place
    os._exit(main.main())
