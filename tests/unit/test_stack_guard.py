"""What the guard of servers can tell of their processes."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from metl_gui.stack.guard import is_stopped

_THREADS = 4

_BUSY = f"""
import mmap, struct, sys, threading

with open(sys.argv[1], "r+b") as file:
    counts = mmap.mmap(file.fileno(), 0)

def count(at):
    number = 0
    while True:
        number += 1
        struct.pack_into("Q", counts, at, number)

for thread in range({_THREADS}):
    threading.Thread(target=count, args=(8 * thread,)).start()
print(flush=True)
"""
"""Counts in a file, each thread in a place of its own: what its threads do is seen there, whatever the kernel books."""


def test_a_process_is_stopped_once_all_its_threads_stand_still_or_it_is_gone(tmp_path: Path) -> None:
    counts = tmp_path / "counts"
    counts.write_bytes(bytes(8 * _THREADS))
    with subprocess.Popen([sys.executable, "-c", _BUSY, counts], stdout=subprocess.PIPE) as busy:
        assert busy.stdout is not None
        busy.stdout.readline()
        assert not is_stopped(busy.pid)
        busy.send_signal(signal.SIGSTOP)
        while not is_stopped(busy.pid):
            time.sleep(0.001)
        before = counts.read_bytes()
        assert before.strip(b"\0")
        time.sleep(0.05)
        assert counts.read_bytes() == before
        busy.kill()
        busy.wait()
        assert is_stopped(busy.pid)
