"""What loads have staged: held while a load lives, and removed by the next one when it was killed.

A run that stages is over before its load begins, so its own lock says nothing of the load. The lock of a load lies in
the cache, one file a load, and the system lets go of it whenever and however its process ends.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from metl_gui.core.progress import Watch
from metl_gui.core.runs.kafka import is_kafka
from metl_gui.core.runs.run_spec import KeptSpec, RunSpec
from metl_gui.engine.runs.folder_lock import SUFFIX, RunLock, owner_of_run, run_of_dead
from metl_gui.own_files import make_folder
from metl_gui.warehouse.part_check import StagedPartError
from metl_gui.workbench.user_folders import loads_folder, run_folder

_Value = TypeVar("_Value")
AGAIN = "A part that was staged had changed before it was loaded: all was staged again."
_log = logging.getLogger(__name__)


@contextmanager
def held_load(project_id: str, spec: RunSpec, notes: tuple[str, ...] = ()) -> Iterator[RunSpec]:
    """Hold what a run stages for a load until the load is over, and remove what killed loads had staged before.

    Args:
        project_id: of the project.
        spec: the run.
        notes: for its report.

    Yields:
        The run, with the notes, and those on what was removed.
    """
    folder = loads_folder(project_id)
    notes = (*spec.policy.notes, *notes, *remove_killed_loads(project_id))
    lock: RunLock | None = None
    try:
        make_folder(folder)
        lock = RunLock(folder / f"{spec.run_id}{SUFFIX}", spec.run_id)
    except OSError as error:  # the run itself says what is wrong with the cache
        _log.warning("what load %s stages would stay after a kill: %s", spec.run_id, error)
    try:
        yield msgspec.structs.replace(spec, policy=msgspec.structs.replace(spec.policy, notes=notes))
    finally:
        if lock is not None:
            lock.release()
            lock.path.unlink(missing_ok=True)


def staged_again(load: Callable[[tuple[str, ...]], _Value], watch: Watch) -> _Value:
    """Stage and load; once more where a staged part is not what its task wrote.

    Args:
        load: stages and loads; is given notes for the report of its run.
        watch: told that it begins anew.

    Raises:
        StagedPartError: it is so again; nothing of the load is kept.
    """
    try:
        return load(())
    except StagedPartError as error:
        _log.warning("staged again: %s", error)
        watch.step("Staging again: a part has changed since it was staged")
    return load((AGAIN,))


@contextmanager
def without_errors_of_damaged(spec: RunSpec) -> Iterator[None]:
    """Drop what a run set aside where a part that it staged is damaged; whoever stages again sets it aside anew."""
    try:
        yield
    except StagedPartError:
        if not is_kafka(spec.sink.errors):
            shutil.rmtree(spec.errors_folder, ignore_errors=True)  # the run made it: it refuses one with data
        raise


def remove_killed_loads(project_id: str) -> tuple[str, ...]:
    """Remove what loads of a project had staged whose processes are gone; those that live are not touched.

    Returns:
        What was removed, in words.
    """
    try:
        owners = sorted(loads_folder(project_id).glob(f"*{SUFFIX}"))
    except OSError as error:
        _log.debug("killed loads are not looked for: %s", error)
        return ()
    return tuple(line for owner in owners for line in _removed(project_id, owner))


def _removed(project_id: str, owner: Path) -> Iterator[str]:
    run_id = run_of_dead(owner)
    if run_id is None:
        return
    folder = run_folder(project_id, run_id)
    spark = owner_of_run(folder)
    if spark.exists() and run_of_dead(spark) is None:
        return  # the Spark of a killed program takes a moment to end
    gone = [place for place in _staged(folder, run_id) if place.exists()]
    for place in gone:
        shutil.rmtree(place, ignore_errors=True)
    if not any(place.exists() for place in gone):
        with contextlib.suppress(OSError):
            owner.unlink()
        if gone:
            yield f"What load {run_id} had staged was removed: it was killed before it had ended."


def _staged(folder: Path, run_id: str) -> Iterator[Path]:
    """Yield the folders that a run staged in and keeps its progress in, as far as they are its own."""
    try:
        spec = msgspec.json.decode((folder / "spec.json").read_bytes(), type=KeptSpec)
    except (OSError, msgspec.MsgspecError):
        return
    own = Path(spec.sink).parent if Path(spec.sink).parent.name == f"metl-{run_id}" else folder
    for text in (spec.sink, spec.checkpoint) if spec.format == "stage" else ():
        place = Path(text)
        if text and place != folder and (place.is_relative_to(own) or place.is_relative_to(folder)):
            yield place
