"""Locks on what is open."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from metl_gui.file_locks import lock


def test_a_file_is_locked_until_it_is_closed(tmp_path: Path) -> None:
    with (tmp_path / "a").open("wb") as second:
        with (tmp_path / "a").open("wb") as first:
            lock(first)
            with pytest.raises(BlockingIOError):
                lock(second)
            with pytest.raises(BlockingIOError):
                lock(second, is_shared=True, if_supported=True)
        lock(second)


def test_those_who_share_a_folder_keep_away_who_wants_it_alone(tmp_path: Path) -> None:
    numbers = [os.open(tmp_path, os.O_RDONLY) for _ in range(3)]
    try:
        lock(numbers[0], is_shared=True)
        lock(numbers[1], is_shared=True)
        with pytest.raises(BlockingIOError):
            lock(numbers[2])
    finally:
        for number in numbers:
            os.close(number)


def test_who_waits_gets_the_lock_when_its_holder_lets_go(tmp_path: Path) -> None:
    first = (tmp_path / "a").open("wb")
    lock(first)
    with (tmp_path / "a").open("wb") as second:
        lock(second, seconds=60, waiting=first.close)
        with (tmp_path / "a").open("wb") as third, pytest.raises(BlockingIOError):
            lock(third)


def test_a_wait_ends_with_what_is_raised_meanwhile(tmp_path: Path) -> None:
    def cancelled() -> None:
        raise InterruptedError

    with (tmp_path / "a").open("wb") as first, (tmp_path / "a").open("wb") as second:
        lock(first)
        with pytest.raises(InterruptedError):
            lock(second, seconds=float("inf"), waiting=cancelled)


def test_a_file_system_without_locks_is_an_error_only_where_one_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(_file: object, _how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", unknown)
    with (tmp_path / "a").open("wb") as file:
        lock(file, if_supported=True, seconds=60)
        with pytest.raises(OSError, match="No locks"):
            lock(file)
