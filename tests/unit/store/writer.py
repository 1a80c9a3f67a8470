"""A program that edits a project file without end and is killed while it does.

Run as ``python -m tests.unit.store.writer``. It imports everything once and then, for each line ``PATH`` on standard
input, forks a process that opens the file and edits; so each of them is a process of its own that starts quickly. Lines
on standard output: ``pid N``, ``open STATE DIGEST`` when the file was read, ``try STATE DIGEST`` before each commit,
``done STATE`` after it, ``end SIGNAL`` when the process is gone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NoReturn

from metl_gui.core.changes.draft import Transition
from metl_gui.store.project_file import ProjectFile
from tests.helpers.histories import KINDS, step
from tests.helpers.world import World
from tests.unit.store.contents import digest

EDITS_PER_OPENING = 12


def say(line: str) -> None:
    """Write one line in one call, so that a kill leaves it out or leaves it whole."""
    os.write(1, f"{line}\n".encode())


def next_transition(world: World, random: Random) -> Transition:
    """Make a random edit that is accepted and changes something."""
    before = world.document
    while world.document is before:
        step(world, random.choice(KINDS), random.randrange(1 << 30))
    return world.log[-1]


def edit_without_end(path: Path) -> NoReturn:
    """Open, edit, close and open again until killed."""
    random = Random()
    while True:
        with ProjectFile.open(path, for_editing=True, who="writer") as project:
            world = World()
            world.document = project.document()
            say(f"open {world.document.state} {digest(world.document)}")
            for _ in range(EDITS_PER_OPENING):
                transition = next_transition(world, random)
                say(f"try {transition.after.state} {digest(transition.after)}")
                project.commit(transition)
                say(f"done {transition.after.state}")


def serve(edit: Callable[[Path], NoReturn] = edit_without_end) -> None:
    """Fork a writer for each path that is asked for, one after the other."""
    for line in sys.stdin:
        process_id = os.fork()
        if process_id == 0:
            say(f"pid {os.getpid()}")
            edit(Path(line.rstrip("\n")))
        _, status = os.waitpid(process_id, 0)
        say(f"end {os.WTERMSIG(status)}")


if __name__ == "__main__":
    serve()
