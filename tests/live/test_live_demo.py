"""The live demo: the rows of its tables are those in its topics at the end, and nothing outlives who started it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from metl_gui.engine.kernel.compiled import build
from metl_gui.workbench.components.guard import children_of, stat_of
from metl_gui.workbench.components.jars import find_maven
from metl_gui.workbench.components.kafka import KAFKA_JARS
from metl_gui.workbench.components.postgres import find_programs
from metl_gui.workbench.live_process import read_facts
from metl_gui.workbench.places import cache_folder
from tests.live.conftest import need
from tests.live.test_components import until

pytestmark = pytest.mark.live

# Of two releases the one that needs a decision; and it is killed where it would end all in order.
_DEMO = """
import sys, time
from metl_gui.cli import live_demo, main
from metl_gui.workbench.live_demo import story

story.RELEASES = story.RELEASES[1:]
told = live_demo._told

def stay(*arguments):
    told(*arguments)
    time.sleep(600)

live_demo._told = stay
sys.exit(main.main(["demo", "--live", "--json"]))
"""


@pytest.fixture
def own_folders(tmp_path: Path) -> dict[str, str]:
    """An environment whose projects and runs lie in the test's own folders; jars and machine code are everybody's."""
    cache = tmp_path / "cache" / cache_folder().name
    cache.mkdir(parents=True)
    shared = cache_folder() / "components"
    shared.mkdir(parents=True, exist_ok=True)
    (cache / "components").symlink_to(shared)
    made = build.folder()
    own = {"XDG_CACHE_HOME": str(cache.parent), "XDG_DATA_HOME": str(tmp_path / "data")}
    return {**os.environ, **own, "METL_KERNEL_CACHE": str(made.parent if made is not None else tmp_path)}


@pytest.fixture
def demo(own_folders: dict[str, str], tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    need(find_programs, *(() if KAFKA_JARS.is_fetched else (find_maven,)))
    with (
        (tmp_path / "notes").open("w") as notes,
        subprocess.Popen(
            [sys.executable, "-c", _DEMO], env=own_folders, stdout=subprocess.PIPE, stderr=notes, text=True
        ) as program,
    ):
        yield program
        program.kill()


def test_a_release_that_renames_a_column_is_met_without_a_loss_and_all_servers_end_with_a_killed_demo(
    demo: subprocess.Popen[str], tmp_path: Path
) -> None:
    assert demo.stdout is not None
    lines: list[str] = []
    while not lines or lines[-1] not in {"}\n", ""}:
        lines.append(demo.stdout.readline())
    notes = (tmp_path / "notes").read_text()
    assert lines[-1], notes
    told = json.loads("".join(lines))
    assert "shop.crm.customer@2:customer@1.0.0 lost email" in notes
    (replayed,) = told["replays"]
    assert replayed["mapped"] >= 3
    assert (replayed["set_aside"], replayed["state"]) == (0, told["state"])
    assert set(told["rows"]) == {"customer", "order", "order_line", "payment"}
    assert all(rows["tables"] == rows["topic"] > 0 for rows in told["rows"].values())

    (facts,) = [read_facts(path.parent) for path in tmp_path.rglob("process.json")]
    assert facts is not None
    assert facts.lives
    lane = facts.holder.process_id
    started = [*children_of(demo.pid), lane, *children_of(lane)]
    os.kill(demo.pid, signal.SIGKILL)
    until(lambda: not any(stat_of(process_id) for process_id in started))
