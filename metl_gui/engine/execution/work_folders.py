"""Where the tasks of a run read and write: on this computer, or in folders that the workers of a cluster share with it.

A run writes into folders beside the real ones. Where a worker does not see such a folder (the user's cache, say), its
part is written below the folder of the messages, which every worker must see, and brought home when the run is over.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from metl_gui.core.runs.events import WorkerFacts
from metl_gui.core.runs.kafka import is_kafka
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.runs.staged_outputs import Staging
from metl_gui.engine.sessions.runtime import Runtime
from metl_gui.engine.sources.files import SourceFile
from metl_gui.engine.spark.worker_check import WorkerCheck, check_files, check_packages
from metl_gui.engine.spark.worker_facts import MARK
from metl_gui.errors import RunError
from metl_gui.own_files import is_closed, make_below
from metl_gui.values import Value

_MOST_LOOKED_AT = 64
_AWAY = "_away"


class WorkPlaces(Value):
    """The folders that tasks are told.

    Args:
        messages, errors, samples: where their parts go; no messages for ``noop``.
        progress: the file for progress notes.
        away: which of these folders belongs where, when it is over.
        notes: what a person should know of the workers.
        has_samples: records can be kept beside their messages, for people to look at.
    """

    messages: Path | None
    errors: Path
    samples: Path
    progress: Path
    away: tuple[tuple[Path, Path], ...] = ()
    notes: tuple[str, ...] = ()
    has_samples: bool = True

    def bring_home(self, written: Iterable[str]) -> list[str]:
        """Move what was written elsewhere to where it belongs, and return where everything is.

        Raises:
            OSError: there is no room for it, or the folder is gone.
        """
        return [self._home(Path(path)) for path in written]

    def _home(self, path: Path) -> str:
        for there, home in self.away:
            if path.is_relative_to(there):
                place = home / path.relative_to(there)
                make_below(home, place.parent.relative_to(home).parts)
                shutil.move(path, place)
                if is_closed(home):
                    with contextlib.suppress(OSError):  # of another user, whom the folder keeps out
                        place.chmod(0o600)
                return str(place)
        return str(path)


def work_places(
    runtime: Runtime, spec: RunSpec, staging: Staging, files: Sequence[SourceFile], progress: Path
) -> WorkPlaces:
    """Decide where the tasks of a run write; the staging is prepared.

    Args:
        runtime: the session; its workers are asked what they see.
        spec: the run.
        staging: its outputs.
        files: what it reads.
        progress: the file for notes where everything is on this computer.

    Raises:
        RunError: a worker does not see the source, or no folder to write to.
    """
    folders = tuple(f for f in (staging.messages_partial, staging.errors_partial, staging.samples_partial) if f)
    if runtime.target.is_local:
        return WorkPlaces(staging.messages_partial, staging.errors_partial, staging.samples_partial, progress)
    for folder in folders:
        (folder / MARK).write_text(spec.run_id)
    facts = runtime.check_workers(WorkerCheck(_some_of(files), tuple(map(str, folders)), spec.run_id))
    notes = check_packages(facts, is_with_kafka=bool(spec.servers))
    check_files(facts, spec.source.address)
    unseen = {folder: refusal for folder in folders if (refusal := _refusal(facts, folder))}
    shared = staging.messages_partial or staging.errors_partial
    if shared in unseen and is_kafka(spec.sink.address) and is_kafka(spec.sink.errors):
        kept = "The workers share no folder with this computer: nothing is kept to look at, and progress is told late."
        own = staging.errors_partial, staging.samples_partial, progress
        return WorkPlaces(None, *own, notes=(*notes, kept), has_samples=False)
    if shared in unseen:
        place, what = (staging.out, "output folder") if staging.messages_partial else (staging.errors, "error store")
        raise _unseen(unseen[shared], str(place), what)
    away = tuple((shared / f"{_AWAY}-{at}", folder) for at, folder in enumerate(folders) if folder in unseen)
    for there, _ in away:
        there.mkdir()
    moved = {home: there for there, home in away}
    errors, samples = (moved.get(home, home) for home in (staging.errors_partial, staging.samples_partial))
    return WorkPlaces(staging.messages_partial, errors, samples, _notes_file(shared), away, notes)


def _notes_file(shared: Path) -> Path:
    """Name the file for progress notes in a folder that all see; the outputs leave it behind when they are moved."""
    return shared / ".progress.jsonl"


def _some_of(files: Sequence[SourceFile]) -> tuple[tuple[str, int], ...]:
    """Choose files from the first to the last, evenly; a worker that sees these sees the others."""
    step = max(1, -(-len(files) // _MOST_LOOKED_AT))
    chosen = [*files[::step], *files[-1:]]
    return tuple(dict.fromkeys((file.path, file.size_bytes) for file in chosen))


def _refusal(facts: Sequence[WorkerFacts], folder: Path) -> tuple[WorkerFacts, str] | None:
    return next(((worker, why) for worker in facts if (why := worker.folders.get(str(folder)))), None)


def _unseen(refusal: tuple[WorkerFacts, str], place: str, what: str) -> RunError:
    worker, why = refusal
    way = "Choose" if what == "output folder" else "Name with --errors"
    return RunError(
        f"A worker cannot write to the {what}.",
        f"{worker.host} (user {worker.user}), beside {place}: {why}. Nothing was written.",
        f"{way} a folder on storage that all workers and this computer share under the same path, and that the user "
        "whom Spark runs as may write to.",
    )
