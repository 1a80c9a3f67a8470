"""How repositories reach the project file: a session to read it, to edit it, or to append to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias

from metl_gui.values import Value

Session: TypeAlias = Callable[[], AbstractContextManager[sqlite3.Connection]]
"""Opens the project file for reading, or for one transaction."""


class Sessions(Value):
    """The sessions of one open project file.

    Args:
        reading: reads a consistent snapshot.
        editing: one transaction of the editor, who needs the lease.
        appending: one transaction that needs no lease.
    """

    reading: Session
    editing: Session
    appending: Session

    @classmethod
    def within(cls, connection: sqlite3.Connection) -> Sessions:
        """Take part in a transaction that is open already."""

        def same() -> nullcontext[sqlite3.Connection]:
            return nullcontext(connection)

        return cls(same, same, same)
