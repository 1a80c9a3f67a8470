"""Ctrl+C while something is put in order that would be left behind half done."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from metl_gui.engine.execution.client import uninterrupted


@pytest.fixture(autouse=True)
def _own_handler() -> Iterator[None]:
    """Have Ctrl+C raise, as in a program, and put back what pytest had."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def work_amid_ctrl_c(done: list[str]) -> None:
    with uninterrupted():
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        done.append("all of it")


def test_ctrl_c_comes_when_the_work_is_done_and_once() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        work_amid_ctrl_c(done)
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_work_that_fails_puts_the_handler_back() -> None:
    with pytest.raises(ValueError, match="x"), uninterrupted():
        raise ValueError("x")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_thread_leaves_signals_alone() -> None:
    seen = []

    def work() -> None:
        with uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
