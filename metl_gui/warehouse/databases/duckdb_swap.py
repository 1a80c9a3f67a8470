"""A DuckDB file that people read all the time: a load writes a copy beside it, which then takes its place.

Readers keep what they have opened, and find the new file when they open it again. Meanwhile the file is open for
reading here too, so that nobody can write it and lose that by the exchange.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from metl_gui.file_locks import lock
from metl_gui.warehouse.databases.duckdb_target import DuckDb, connected
from metl_gui.warehouse.databases.target import TargetError

LOCK_WAIT = 10.0
"""Seconds for which a load waits for another that exchanges a file of the same folder."""


class SwappedDuckDb(DuckDb):
    """A connection to a copy of the file of a warehouse; what was committed takes the place of the file at the end.

    Args:
        path: of the file, made where there is none.

    Raises:
        TargetError: another process writes the file or a copy of it, or has left changes beside it.
    """

    def __init__(self, path: Path) -> None:
        self.whole, self._is_changed = path.resolve(), False
        self._held = ExitStack()
        try:
            copy = self._copied()
            super().__init__(copy)
        except BaseException:
            self._held.close()
            raise

    @property
    def title(self) -> str:
        """Return the name of the file that people know."""
        return self.whole.name

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run what follows as one: all of it stands in the copy, or nothing."""
        with super().transaction():
            yield
        # Closing says nothing of a log that it cannot bring in; the exchange would lose what stands there.
        self.run("CHECKPOINT")
        self._is_changed = True

    def close(self) -> None:
        """Put the copy in the place of the file where something was committed, else drop it."""
        super().close()
        with self._held:
            if self._is_changed:
                # The copy is on the disk before the name is its own: a power cut leaves one file or the other.
                with self.path.open("rb") as written:
                    os.fsync(written.fileno())
                self.path.replace(self.whole)
            for left in (self.path, self.path.with_name(f"{self.path.name}.wal")):
                left.unlink(missing_ok=True)

    def reopen(self) -> None:
        """Open the copy again."""
        self._connection.close()
        self._connection = self._connected()

    def _copied(self) -> Path:
        """Return the copy; the folder is locked against others who would make one, as it needs no file that stays.

        Raises:
            TargetError: see the class.
        """
        copy = self.whole.with_name(f"{self.whole.name}.next")
        left = self.whole.with_name(f"{self.whole.name}.wal")
        try:
            folder = os.open(self.whole.parent, os.O_RDONLY)
            self._held.callback(os.close, folder)
            lock(folder, seconds=LOCK_WAIT)
            for path in (copy, copy.with_name(f"{copy.name}.wal")):
                path.unlink(missing_ok=True)
            if self.whole.exists():
                self._held.callback(connected(self.whole, is_read_only=True).close)
                if left.exists():
                    text = f"{left.name} has changes that its last writer did not bring into {self.whole.name}."
                    raise TargetError("The warehouse was not closed", text, "Load once without the exchange.")
                copy.touch(mode=0o600)  # nobody reads the copy who may not read the file
                shutil.copyfile(self.whole, copy)
                shutil.copymode(self.whole, copy)
        except BlockingIOError as error:
            text = f"Another load writes a copy of a warehouse in {self.whole.parent}."
            raise TargetError("The warehouse is being exchanged", text, "Wait until it has ended.") from error
        except OSError as error:
            with suppress(OSError):
                copy.unlink(missing_ok=True)
            text = f"{copy}: {error.strerror or error}."
            raise TargetError("The warehouse cannot be copied", text, "Make room, or name another file.") from error
        return copy
