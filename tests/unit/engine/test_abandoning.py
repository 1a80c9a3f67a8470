"""Work that a cancelled run waits for no longer."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

import pytest

from metl_gui.engine.spark.cancellation import cancel_until_over, unless_cancelled
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


def test_spark_is_asked_again_until_the_work_is_over_also_where_it_refuses() -> None:
    is_over, given_up = threading.Event(), threading.Event()
    asked: list[int] = []

    def cancel() -> None:
        asked.append(1)
        if len(asked) == 3:
            is_over.set()
        raise OSError("not now")

    cancel_until_over(cancel, is_over, 0.001, given_up.set)
    assert len(asked) == 3
    assert not given_up.is_set()


class Patience:
    """Stands where a timer stands; its time is over when the test says so."""

    def __init__(self, _seconds: float, act: Callable[[], object]) -> None:
        self.act = act
        self.is_running = False
        self.daemon = False
        PATIENCES.append(self)

    def start(self) -> None:
        self.is_running = True

    def cancel(self) -> None:
        self.is_running = False

    def end(self) -> None:
        if self.is_running:
            self.act()


PATIENCES: list[Patience] = []


def test_spark_that_does_not_even_hear_is_given_up_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    is_asked, may_answer, is_heard = threading.Event(), threading.Event(), threading.Event()
    is_over = threading.Event()
    given_up: list[str] = []

    def cancel() -> None:
        if is_asked.is_set():
            is_heard.set()
        is_asked.set()
        may_answer.wait(_LONGEST)

    with monkeypatch.context() as patch:
        patch.setattr(threading, "Timer", Patience)
        arguments = (cancel, is_over, 0.001, lambda: given_up.append("given up"))
        cancelling = threading.Thread(target=cancel_until_over, args=arguments)
        cancelling.start()
        assert is_asked.wait(_LONGEST)
    (patience,) = PATIENCES
    patience.end()
    assert given_up == ["given up"]
    may_answer.set()
    assert is_heard.wait(_LONGEST)  # the work takes its time, and Spark hears what it is asked
    patience.end()
    assert given_up == ["given up"]
    is_over.set()
    cancelling.join(_LONGEST)
    assert not cancelling.is_alive()
