"""What the guard of servers can tell of their processes."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from metl_gui.stack.guard import is_stopped

_BUSY = """
import threading

def spin():
    while True:
        pass

for _ in range(4):
    threading.Thread(target=spin).start()
print(flush=True)
"""


def test_a_process_is_stopped_once_all_its_threads_stand_still_or_it_is_gone() -> None:
    with subprocess.Popen([sys.executable, "-c", _BUSY], stdout=subprocess.PIPE) as busy:
        assert busy.stdout is not None
        busy.stdout.readline()
        assert not is_stopped(busy.pid)
        busy.send_signal(signal.SIGSTOP)
        while not is_stopped(busy.pid):
            time.sleep(0.001)
        facts = Path(f"/proc/{busy.pid}/stat")
        before = facts.read_text()
        time.sleep(0.05)
        assert facts.read_text() == before  # its processor time among the rest
        busy.kill()
        busy.wait()
        assert is_stopped(busy.pid)
