"""Work that a cancelled run waits for no longer."""

from __future__ import annotations

import queue
import threading

import pytest

from metl_gui.engine.abandoning import unless_cancelled
from metl_gui.errors import RunCancelled

_LONGEST = 30.0


def _never(_is_over: threading.Event) -> None:
    raise AssertionError("nobody cancelled")


def test_what_the_work_returns_comes_back() -> None:
    assert unless_cancelled(lambda: 7, threading.Event(), _never) == 7


def test_what_the_work_raises_comes_back_also_where_it_looks_like_a_wait_that_was_too_long() -> None:
    def work() -> None:
        raise TimeoutError("of the work")

    with pytest.raises(TimeoutError, match="of the work"):
        unless_cancelled(work, threading.Event(), _never)


def test_a_cancelled_run_waits_no_longer_and_its_work_is_ended_until_it_is_over() -> None:
    is_cancelled, may_end = threading.Event(), threading.Event()
    ended: queue.Queue[threading.Event] = queue.Queue()

    def work() -> None:
        is_cancelled.set()
        may_end.wait(_LONGEST)

    with pytest.raises(RunCancelled):
        unless_cancelled(work, is_cancelled, ended.put)
    is_over = ended.get(timeout=_LONGEST)
    assert not is_over.is_set()
    may_end.set()
    assert is_over.wait(_LONGEST)


def test_the_end_is_asked_for_also_before_the_work_has_begun_in_earnest() -> None:
    """A job that is submitted after the run was cancelled must not run to its end."""
    is_cancelled = threading.Event()
    is_cancelled.set()
    is_asked, is_ended = threading.Event(), threading.Event()

    def work() -> None:
        is_asked.wait(_LONGEST)
        is_ended.wait(_LONGEST)

    def end(is_over: threading.Event) -> None:
        is_asked.set()
        while not is_over.wait(0.01):
            is_ended.set()

    with pytest.raises(RunCancelled):
        unless_cancelled(work, is_cancelled, end)
    assert is_ended.wait(_LONGEST)
