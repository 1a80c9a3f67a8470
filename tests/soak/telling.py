"""What the soak says: on the screen and in a file."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path


class Teller:
    """Says lines, each with the time since the beginning.

    Args:
        path: a file that gets them too; ``None`` for none.
    """

    def __init__(self, path: Path | None) -> None:
        self.began = time.monotonic()
        self._path = path
        self._lock = threading.Lock()

    def say(self, text: str) -> None:
        """Say something."""
        minutes, seconds = divmod(int(time.monotonic() - self.began), 60)
        line = f"{minutes:3}:{seconds:02}  {text}\n"
        with self._lock:
            sys.stdout.write(line)
            sys.stdout.flush()
            if self._path is not None:
                with self._path.open("a", encoding="utf-8") as log:
                    log.write(line)
