"""Clients that a process keeps between two uses: connecting takes longer than a small batch.

They are kept for less than a minute, and only those that came to the end of what they were used for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

_Client = TypeVar("_Client")
_KEPT_SECONDS = 45.0


class KeptClients(Generic[_Client]):
    """Some clients of one kind.

    Args:
        close: ends one.
        most: how many are kept.
    """

    def __init__(self, close: Callable[[_Client], None], most: int) -> None:
        self._close = close
        self._most = most
        self._kept: list[tuple[Hashable, float, _Client]] = []
        self._changing = threading.Lock()

    def take(self, key: Hashable) -> _Client | None:
        """Return a client that was kept under a key; it is the caller's from now on."""
        with self._changing:
            self._drop_old()
            for at, (own, _, client) in enumerate(self._kept):
                if own == key:
                    del self._kept[at]
                    return client
        return None

    def keep(self, key: Hashable, client: _Client) -> None:
        """Keep a client for the next use; the oldest goes when there are too many."""
        with self._changing:
            self._kept.append((key, time.monotonic(), client))
            self._drop_old()

    def let_go(self) -> None:
        """End all of them."""
        with self._changing:
            while self._kept:
                self._close(self._kept.pop()[2])

    def _drop_old(self) -> None:
        end = time.monotonic() - _KEPT_SECONDS
        while self._kept and (len(self._kept) > self._most or self._kept[0][1] < end):
            self._close(self._kept.pop(0)[2])
