"""A program that edits, names, publishes, exports and compacts without end and is killed while it does.

Run as ``python -m tests.unit.store.compacting_writer``; speaks like ``tests.unit.store.writer``. Further lines:
``trying publish STATE``, ``published STATE``, ``trying compact`` and ``compacted``.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import NoReturn

from metl_gui.core.changes.draft import EditContext
from metl_gui.store.edit_log import RetentionPolicy
from metl_gui.store.project_file import ProjectFile
from tests.helpers.world import World
from tests.unit.store.contents import digest
from tests.unit.store.writer import next_transition, say, serve

EDITS_PER_OPENING = 12
STAMP = EditContext("writer", 1)


def edit_without_end(path: Path) -> NoReturn:
    """Open, edit, publish, compact, close and open again until killed."""
    random = Random()
    while True:
        with ProjectFile.open(path, for_editing=True, who="writer") as project:
            world = World()
            world.document = project.document()
            for _ in range(EDITS_PER_OPENING):
                transition = next_transition(world, random)
                state = transition.after.state
                say(f"try {state} {digest(transition.after, with_counters=False)}")
                project.commit(transition)
                say(f"done {state}")
                if random.random() < 0.3:
                    say(f"trying publish {state}")
                    project.kept.states.publish(state, f"release {state}", STAMP)
                    say(f"published {state}")
                if random.random() < 0.3:
                    say("trying compact")
                    project.compact(RetentionPolicy(edits=3, days=0, at_once=random.choice([3, 2_000])))
                    say("compacted")


if __name__ == "__main__":
    serve(edit_without_end)
