"""Kill production runs at random moments, go on with them, and compare: ``python -m tests.kill_runs --rounds 20``.

Each round kills one of the run's processes: itself, the host of its Spark, the JVM or a Python worker. When they are
over the run is finished, and its outputs must be those of a run that nobody disturbed, message by message.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path

from metl_gui.workbench.demo.sample import fresh_copy
from metl_gui.workbench.runs.mapping_run import run_mapping
from metl_gui.workbench.runs.production import LiveRun, follow_events, resume_production, start_production
from metl_gui.workbench.session import Workbench
from tests.helpers.killing import committed, end_everything, kill_after_a_batch, places, wait_for
from tests.helpers.run_requests import run_request

_VICTIMS = ("production", "host", "jvm", "worker")


def main(rounds: int, seed: int, folder: Path) -> int:
    """Do everything; 0 when nothing was lost or doubled."""
    os.environ["XDG_DATA_HOME"], os.environ["XDG_CACHE_HOME"] = str(folder / "data"), str(folder / "cache")
    sample = fresh_copy()
    source = folder / "source"
    source.mkdir()
    for copy in range(rounds):
        for path in sample.messages.glob("*.jsonl"):
            shutil.copy(path, source / f"{copy}-{path.name}")
    chance = random.Random(seed)
    with Workbench.open(sample.project) as workbench:
        request = run_request(str(source), str(folder / "out"), batch_bytes=1_000_000)
        run = start_production(workbench, request)
        try:
            for round_ in range(rounds):
                what = chance.choice(_VICTIMS)
                kill_after_a_batch(run, what, chance)
                print(f"round {round_}: killed the {what} after batch {committed(run)}", flush=True)  # noqa: T201
                run = _goes_on(workbench, run, what)
            report = follow_events(run, lambda _event: None)
        finally:
            end_everything(run)
        whole = run_mapping(workbench, run_request(str(source), str(folder / "whole"), mode="production")).report
    is_same = report is not None and places(folder / "out") == places(folder / "whole") and report.read == whole.read
    print(f"{whole.read} records, {whole.messages_out} messages: {'the same' if is_same else report}")  # noqa: T201
    return 0 if is_same else 1


def _goes_on(workbench: Workbench, run: LiveRun, what: str) -> LiveRun:
    if what != "production":
        return run
    wait_for(lambda: not run.is_alive)
    return resume_production(workbench, run.run_id)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    asked = parser.parse_args()
    print(f"seed {asked.seed}")  # noqa: T201
    with tempfile.TemporaryDirectory(prefix="metl-kills-") as made:
        sys.exit(main(asked.rounds, asked.seed, Path(made)))
