"""A process that writes into the tables of the soak at a rate: ``python -m tests.soak.load``.

It does not make up for the time in which the database is away. Its password is in the environment.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import psycopg

from tests.soak.tables import SHARES, tables

_STEP_SECONDS = 0.1
_REST_SECONDS = 0.2
_MOST_BEHIND_SECONDS = 2.0
_ROOT = Path(__file__).resolve().parents[2]


class Load(msgspec.Struct, frozen=True):
    """What is written.

    Args:
        url: the database.
        rate: changed rows a second, in all tables together.
    """

    url: str
    rate: float


def start(load: Load) -> subprocess.Popen[bytes]:
    """Start the process; it ends when it is told to by SIGTERM, behind a transaction."""
    environment = {**os.environ, "SOAK_LOAD": msgspec.json.encode(load).decode()}
    return subprocess.Popen([sys.executable, "-m", "tests.soak.load"], cwd=_ROOT, env=environment)


class Writer:
    """Writes until it is told to end."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.is_ending = False
        self._parent = os.getppid()

    def end(self, *_: object) -> None:
        """End behind the transaction that goes on."""
        self.is_ending = True

    @property
    def _goes_on(self) -> bool:
        """Whether nobody told it to end, and whoever started it is there."""
        return not self.is_ending and os.getppid() == self._parent

    def run(self) -> None:
        """Write, and come back to a database that was away."""
        while self._goes_on:
            with contextlib.suppress(psycopg.OperationalError):
                self._written()
            time.sleep(_REST_SECONDS)

    def _written(self) -> None:
        names = tables()
        calls = " + ".join(f"{table.function}(%(inserts)s, %(updates)s, %(deletes)s)" for table in names)
        with psycopg.connect(self.load.url, autocommit=True, prepare_threshold=2) as connection:
            began, done = time.monotonic(), 0.0
            while self._goes_on:
                due = (time.monotonic() - began) * self.load.rate - done
                if due < self.load.rate * _STEP_SECONDS:
                    time.sleep(_STEP_SECONDS / 4)
                    continue
                most = self.load.rate * _MOST_BEHIND_SECONDS
                done += max(0.0, due - most)
                each = min(due, most) / len(names)
                shares = {name: max(1, round(each * share)) for name, share in SHARES.items()}
                try:
                    row = connection.execute(f"SELECT {calls}".encode(), shares).fetchone()
                except (psycopg.errors.UndefinedColumn, psycopg.errors.LockNotAvailable):
                    continue  # a release came in between
                done += row[0] if row is not None else 0


if __name__ == "__main__":
    writer = Writer(msgspec.json.decode(os.environ["SOAK_LOAD"], type=Load))
    signal.signal(signal.SIGTERM, writer.end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; whoever started this tells it to end
    writer.run()
