"""Screens that nobody sees: an X server that draws into memory."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

SERVER = "Xvfb"


@contextmanager
def virtual_display(size: str = "1920x1200x24") -> Iterator[str]:
    """Start an X server without a screen on a free number, and return what ``DISPLAY`` is to say.

    Args:
        size: of the screen, in pixels and bits of a colour.
    """
    command = [SERVER, "-displayfd", "1", "-screen", "0", size, "-nolisten", "tcp"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            yield f":{server.stdout.readline().strip()}"
        finally:
            server.terminate()
