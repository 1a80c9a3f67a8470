"""What comes of a command, in words, and commands whose plan may be too long to work out between two events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from metl_gui.ui.jobs import Jobs, Outcome

T = TypeVar("T")


@dataclass(frozen=True)
class Said:
    """What came of a command.

    Args:
        text: in words.
        action: words of what else one may want, empty for nothing.
        callback: what that does.
        is_good: whether something was done.
    """

    text: str
    action: str = ""
    callback: Callable[[], object] | None = None
    is_good: bool = True


def work_out(jobs: Jobs | None, title: str, work: Callable[[], T], done: Callable[[T], object]) -> None:
    """Work something out: as a job where there is one to do it, else at once."""
    if jobs is None:
        done(work())
        return

    def ended(outcome: Outcome[T]) -> None:
        if outcome.value is not None:
            done(outcome.value)

    jobs.start(title, lambda _watch: work(), ended)
