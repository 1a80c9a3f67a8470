from __future__ import annotations

import contextlib
import io
import os
import signal

import pytest

from metl_gui.cli.output import Output, ProgressBar, bar
from metl_gui.core.progress import Progress
from metl_gui.errors import RunCancelled


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_bar_shows_part_text_and_counts() -> None:
    assert bar(Progress("Reading", 5, 10)) == "[############............]  50% Reading 5/10"
    assert bar(Progress("Reading", 1500)) == "Reading 1,500"
    assert bar(Progress("Starting")) == "Starting"


def test_a_shorter_bar_leaves_nothing_of_the_longer_one_on_the_terminal() -> None:
    stream, clock = Terminal(), Clock()
    shown = ProgressBar(stream, clock)
    shown.show(Progress("a long piece of work", 1, 10))
    clock.now += 1
    shown.show(Progress("short"))
    last = stream.getvalue().rpartition("\r")[2]
    assert last.rstrip() == "short"
    assert len(last) == len(bar(Progress("a long piece of work", 1, 10)))


def test_outside_a_terminal_a_line_comes_now_and_then_and_never_a_carriage_return() -> None:
    stream, clock = io.StringIO(), Clock()
    shown = ProgressBar(stream, clock)
    for done in range(100):
        shown.show(Progress("Mapping", done, 100))
        clock.now += 0.125
    lines = stream.getvalue().splitlines()
    assert lines == ["Mapping 0/100", "Mapping 40/100", "Mapping 80/100"]
    assert "\r" not in stream.getvalue()


def test_outside_a_terminal_each_kind_of_work_is_announced_at_once_and_only_once() -> None:
    stream, clock = io.StringIO(), Clock()
    shown = ProgressBar(stream, clock)
    for text in ("Reading a.json", "Reading b.json", "Compiling the matrix", "Waiting for Spark"):
        shown.show(Progress(text))
    shown.show(Progress("Mapping", 0, 9))
    assert stream.getvalue().splitlines() == ["Reading a.json", "Compiling the matrix", "Waiting for Spark"]


def test_the_first_interrupt_stops_work_at_its_next_step() -> None:
    out = Output(as_json=False, stdout=io.StringIO(), stderr=io.StringIO())
    before = signal.getsignal(signal.SIGINT)
    with out.watching() as watch:
        watch.step("first")
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(RunCancelled, match="second"):
            watch.step("second")
    assert signal.getsignal(signal.SIGINT) is before


def test_a_program_that_was_interrupted_puts_things_in_order_whatever_else_is_pressed() -> None:
    out = Output(as_json=False, stdout=io.StringIO(), stderr=io.StringIO(), ends_process=True)
    before = signal.getsignal(signal.SIGINT)
    ended = []
    try:
        with contextlib.suppress(KeyboardInterrupt), out.watching():
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            ended.append("was not broken off")
        os.kill(os.getpid(), signal.SIGINT)
        ended.append("in order")
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended == ["in order"]


def test_a_program_that_noticed_the_first_interrupt_is_not_broken_off_by_the_second() -> None:
    out = Output(as_json=False, stdout=io.StringIO(), stderr=io.StringIO(), ends_process=True)
    before = signal.getsignal(signal.SIGINT)
    ended = []
    try:
        with out.watching() as watch:
            os.kill(os.getpid(), signal.SIGINT)
            with pytest.raises(RunCancelled):
                watch.step("next")
            os.kill(os.getpid(), signal.SIGINT)
            ended.append("in order")
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended == ["in order"]


def test_a_program_that_nobody_interrupted_hears_ctrl_c_as_before() -> None:
    out = Output(as_json=False, stdout=io.StringIO(), stderr=io.StringIO(), ends_process=True)
    before = signal.getsignal(signal.SIGINT)
    with out.watching():
        pass
    assert signal.getsignal(signal.SIGINT) is before


def test_the_second_interrupt_breaks_off_work_that_takes_no_steps() -> None:
    out = Output(as_json=False, stdout=io.StringIO(), stderr=io.StringIO())
    with out.watching():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
