"""What runs of a project left when they were killed: put away before the next run, and told.

Nothing of a killed run was in place, so nothing is lost: its source is as it was, and running it again reads it again.
"""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from metl_gui.engine.runs import NOOP
from metl_gui.engine.sinks.leftovers import sweep, take_back
from metl_gui.engine.sinks.ownership import drop_lock, owner_of_run, run_of_dead
from metl_gui.workbench.places import runs_folder

_log = logging.getLogger(__name__)


class _Places(msgspec.Struct, frozen=True):
    """What the record of a run says of where it wrote."""

    sink: str
    errors: str = ""


def clear_killed_runs(project_id: str) -> tuple[str, ...]:
    """Remove what dead runs of a project left in their output folders; those of runs that live are not touched.

    Returns:
        What was removed, in words. Nothing where the folders cannot be looked into.
    """
    try:
        dead = [run for run in runs_folder(project_id).iterdir() if run_of_dead(owner_of_run(run))]
    except OSError as error:
        _log.debug("killed runs are not looked for: %s", error)
        return ()
    return tuple(line for run in dead for line in _cleared(run))


def _cleared(run: Path) -> tuple[str, ...]:
    try:
        places = msgspec.json.decode((run / "spec.json").read_bytes(), type=_Places)
        taken = take_back(run)
        named = [place for place in (places.sink, places.errors) if place not in ("", NOOP)]
        folders = [Path(place).expanduser().resolve() for place in named]
        said = sweep([run, *(folder.parent for folder in folders)])
        for folder in folders:
            drop_lock(folder, run.name)
    except (OSError, RuntimeError, msgspec.MsgspecError) as error:
        _log.warning("what the killed run %s left is not removed: %s", run, error)
        return ()
    owner_of_run(run).unlink(missing_ok=True)
    back = (f"{place} was taken back: run {run.name} was killed before its messages were in place." for place in taken)
    return (*back, *said)
