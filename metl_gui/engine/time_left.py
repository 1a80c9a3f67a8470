"""How long a run still takes, from the bytes that are behind and how fast they went lately.

Units: seconds of a clock that only grows; the time of day may jump.
"""

from __future__ import annotations

from collections import deque

_WINDOW_SECONDS = 20.0
_LEAST_SECONDS = 1.0


class TimeLeft:
    """Tells the time left of one run."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def after(self, seconds: float, bytes_read: int, bytes_left: int) -> float | None:
        """Return about how many seconds are left; None while too little is known.

        Args:
            seconds: since the run began.
            bytes_read: what is behind; it may fall when a task is done again.
            bytes_left: what is in front.
        """
        self._seen.append((seconds, bytes_read))
        while len(self._seen) > 2 and self._seen[1][0] <= seconds - _WINDOW_SECONDS:
            self._seen.popleft()
        if bytes_left <= 0:
            return 0.0
        since, read = self._seen[0]
        if seconds - since < _LEAST_SECONDS or bytes_read <= read:
            return None
        return round(bytes_left * (seconds - since) / (bytes_read - read), 1)
