"""How long work tells how far it is, and how it is asked to stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

from metl_gui.errors import RunCancelled

T = TypeVar("T")


class Progress(NamedTuple):
    """How far a piece of work is. It is a tuple, as the help of commands loads it and nothing from elsewhere.

    Args:
        text: what is being done, for people.
        done: steps done.
        total: steps in all, ``None`` while nobody knows.
    """

    text: str
    done: int = 0
    total: int | None = None


class Watch:
    """Follows one piece of long work: is told its progress and may stop it between two steps.

    Args:
        tell: called with every ``Progress``, on the thread that works.
        is_cancelled: asked at every step; once it says yes, the work ends in ``RunCancelled``.
    """

    def __init__(
        self, tell: Callable[[Progress], None] | None = None, is_cancelled: Callable[[], bool] | None = None
    ) -> None:
        self._tell = tell
        self._is_cancelled = is_cancelled

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody asked to stop."""
        return self._is_cancelled is not None and self._is_cancelled()

    def step(self, text: str, done: int = 0, total: int | None = None) -> None:
        """Tell the progress, or stop.

        Raises:
            RunCancelled: somebody asked to stop; what was committed so far stays.
        """
        if self.is_cancelled:
            raise RunCancelled(f"Stopped while: {text}")
        self.tell(text, done, total)

    def tell(self, text: str, done: int = 0, total: int | None = None) -> None:
        """Tell the progress where the work cannot be stopped, or is stopped in another way."""
        if self._tell is not None:
            self._tell(Progress(text, done, total))


UNWATCHED = Watch()
"""For callers that neither look nor stop."""


class TaskRunner(Protocol):
    """Does a piece of work somewhere and waits for it."""

    def __call__(self, task: Callable[[Watch], T], watch: Watch = ...) -> T:
        """Do a task that touches no project and return what it returns."""


def run_inline(task: Callable[[Watch], T], watch: Watch = UNWATCHED) -> T:
    """Do a task where it is called."""
    return task(watch)
