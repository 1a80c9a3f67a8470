"""What is kept with a project beside its states: it is no part of the history and is not undone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TypeAlias

from metl_gui.core.comments import Comment, Subject
from metl_gui.core.draft import Stamp
from metl_gui.core.suggest.refusal import Refusal
from metl_gui.store import comments, refusals

Session: TypeAlias = Callable[[], AbstractContextManager[sqlite3.Connection]]
"""Opens the project file for reading, or for one transaction of its editor."""


class Beside:
    """Comments, refusals and the like of one open project file; reached by ``ProjectFile.beside``.

    Everything that writes needs the editing lease.

    Args:
        reading: opens the file to read.
        editing: opens it to write.
    """

    def __init__(self, reading: Session, editing: Session) -> None:
        self._reading = reading
        self._editing = editing

    def refuse_proposal(self, schema_id: int, lost: str, candidate: str, stamp: Stamp) -> None:
        """Remember that a proposal was refused, so that it is not made again."""
        with self._editing() as connection:
            refusals.add_proposal(connection, schema_id, lost, candidate, stamp)

    def refused_proposals(self) -> frozenset[tuple[int, str, str]]:
        """Read the refused proposals: (schema id, lost path, candidate path)."""
        with self._reading() as connection:
            return refusals.read_proposals(connection)

    def refuse_suggestions(self, refused: Iterable[Refusal], stamp: Stamp) -> None:
        """Remember that suggestions were refused, so that they are not made again."""
        with self._editing() as connection:
            refusals.add(connection, refused, stamp)

    def restore_suggestions(self, restored: Iterable[Refusal]) -> None:
        """Forget refusals, so that the suggestions are made again."""
        with self._editing() as connection:
            refusals.remove(connection, restored)

    def refused_suggestions(self) -> tuple[Refusal, ...]:
        """Read the refused suggestions, the newest first."""
        with self._reading() as connection:
            return refusals.read(connection)

    def add_comment(self, subject: Subject, text: str, stamp: Stamp) -> int:
        """Write a comment down, and return its id."""
        with self._editing() as connection:
            return comments.add(connection, subject, text, stamp)

    def remove_comment(self, comment_id: int) -> bool:
        """Remove a comment; whether there was one."""
        with self._editing() as connection:
            return comments.remove(connection, comment_id)

    def comments(self) -> tuple[Comment, ...]:
        """Read the comments, the oldest first."""
        with self._reading() as connection:
            return comments.read(connection)
