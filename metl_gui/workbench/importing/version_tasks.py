"""Version tasks: from what a run set aside to a version that somebody imports, after which the records are replayed.

Values stay in the error store; what the project keeps of them are forms, and none of masked columns.
Source: docs/architecture/model.md, "States, publishing, being out of step"; docs/guide/change.md, "Publishing";
docs/reference/json.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, TaskRunner, Watch, run_inline
from metl_gui.core.project.masks import hidden_sources
from metl_gui.core.project.reader_result import ReaderResult
from metl_gui.core.project.version_tasks import (
    SimilarSchema,
    VersionTask,
    Waiting,
    is_known,
    nearest_version,
    similar_schema,
    with_known_types,
    without_masked,
)
from metl_gui.core.runs.kafka import is_kafka
from metl_gui.core.runs.records import SetAsideRecord
from metl_gui.core.runs.report import RunReport
from metl_gui.core.trees.declarations import VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.engine.sources.error_store import ErrorStore
from metl_gui.errors import EditError, RunError
from metl_gui.formats.hidden_values import HIDDEN
from metl_gui.registry.messages.unknown_versions import UnknownVersions
from metl_gui.values import Value
from metl_gui.workbench.importing.schema_import import ImportResult, add_reading
from metl_gui.workbench.masked_messages import Masks
from metl_gui.workbench.profiles.saved_profiles import kafka_servers
from metl_gui.workbench.review.assignments import checked_name
from metl_gui.workbench.session import EditOrigin, Workbench

REASONS = ("unknown_version", "unknown_schema")
"""What is set aside for want of a version."""

_STEP = 20_000
_MOST_LOOKED_AT = 5_000
_NAMED = 10
_row = msgspec.json.Decoder(SetAsideRecord).decode


class TaskEntry(Value):
    """A version task as people see it.

    Args:
        task: the task.
        is_new_schema: no schema of the project answers to its name.
        new_attributes, gone_attributes: against the nearest version of its schema.
        continues: the known schema that a schema without a name in the project most likely continues, after the table
            was renamed.
    """

    task: VersionTask
    is_new_schema: bool
    new_attributes: tuple[str, ...]
    gone_attributes: tuple[str, ...]
    continues: SimilarSchema | None

    def as_json(self) -> dict[str, Any]:
        """Return one of ``version_tasks`` of ``metl review --list``."""
        task = self.task
        return {
            "schema": task.schema,
            "seen": task.seen,
            "records": task.records,
            "id": task.id,
            "is_new_schema": self.is_new_schema,
            "attributes": [
                {"path": one.path, "type": one.type, "filled": sample.filled, "patterns": list(sample.patterns)}
                for one, sample in zip(task.declaration.attributes, task.samples, strict=False)
            ],
            "new_attributes": list(self.new_attributes),
            "gone_attributes": list(self.gone_attributes),
            "continues": None
            if self.continues is None
            else {"schema": self.continues.name, "score": self.continues.score},
            "errors": list(waiting_stores(task)),
        }


def version_tasks(workbench: Workbench) -> tuple[VersionTask, ...]:
    """Return the tasks that stand: not dismissed, and of versions that the trees do not have by now; oldest first.

    Cost: a look at the versions of the schemas of the tasks.
    """
    document = workbench.document
    tasks = workbench.kept.version_tasks.all()
    return tuple(task for task in tasks if task.dismissed_by is None and not is_known(document, task))


def entries(workbench: Workbench) -> tuple[TaskEntry, ...]:
    """Return the tasks that stand, with what is new in each and which schema it may continue."""
    return tuple(entry_of(workbench.document, task) for task in version_tasks(workbench))


def entry_of(document: Document, task: VersionTask) -> TaskEntry:
    """Compare a task with what the trees have."""
    nearest = nearest_version(document, task)
    own = frozenset(attribute.path for attribute in nearest.attributes) if nearest is not None else frozenset()
    new = tuple(one.path for one in task.declaration.attributes if nearest is not None and one.path not in own)
    gone = tuple(one.path for one in nearest.attributes if one.path not in task.paths) if nearest is not None else ()
    continued = similar_schema(document, task.schema, task.paths) if nearest is None else None
    return TaskEntry(task, nearest is None, new, gone, continued)


def collect_tasks(
    workbench: Workbench,
    errors: str | Path,
    run_id: str,
    report: RunReport | None = None,
    watch: Watch = UNWATCHED,
    aside: TaskRunner = run_inline,
) -> tuple[VersionTask, ...]:
    """Inspect what a run set aside for want of a version, and keep a task for each version it shows.

    Needs no editing lease, as runs do not. The same run looked at again changes nothing.

    Args:
        workbench: the opened project.
        errors: the run's error store, or error topic.
        run_id: its id.
        report: its report, where at hand; tells mode and source.
        watch: progress and cancel.
        aside: where records are read; a window has a process for it.

    Returns:
        The tasks that stand now and wait for records of this run.

    Raises:
        RunError: the error store is gone or damaged.
    """
    mode, source = (report.mode, report.source) if report is not None else ("test", "")
    wait = Waiting(str(errors), run_id, mode, source, 0)
    seen = aside(partial(_seen, wait), watch)
    document = workbench.document
    kept = [replace(task, samples=without_masked(task.samples, hidden_sources(document, task.schema))) for task in seen]
    if kept:
        workbench.kept.version_tasks.collect(kept, workbench.stamp())
    return tuple(task for task in version_tasks(workbench) if any(one.run_id == run_id for one in task.waits))


def accept_task(
    workbench: Workbench,
    task_id: int,
    door: EditOrigin = EditOrigin.COMMAND,
    continues: str = "",
    label: str = "",
) -> ImportResult:
    """Import the version of a task and run the automated update; the records that wait can be replayed then.

    Args:
        workbench: the project, open for editing.
        task_id: the task.
        door: where the gesture was made.
        continues: the schema that messages of another name are a version of: it gets that name as an alias, in the
            same undo group.
        label: what the version is called; by default its own label, or the next number.

    Raises:
        EditError: there is no such task or schema, the label is none, or the version is refused.
    """
    task = task_of(workbench, task_id)
    declaration = _declared(workbench.document, task, continues, checked_name(label))
    done = add_reading(workbench, Side.EXTRACTION, ReaderResult((declaration,)), door)
    if done.refused:
        raise EditError(
            f"The version of {task.schema} was not added.",
            done.refused[0].reason,
            "Give it another label, or import its schema from a file.",
        )
    return done


def _declared(document: Document, task: VersionTask, continues: str, label: str) -> VersionDeclaration:
    """Return what is imported for a task: under the name it belongs to, with the types that are known of it.

    Raises:
        EditError: there is no schema of that name.
    """
    declaration = replace(task.declaration, label=label or task.declaration.label)
    if continues:
        schema = document.extraction.named(continues)
        if schema is None:
            hint = "Name a schema of the project that this continues."
            raise EditError(f"There is no schema {continues}.", hint=hint)
        aliases = tuple(dict.fromkeys((task.schema, *declaration.aliases)))
        declaration = replace(declaration, name=schema.name, aliases=aliases)
    nearest = nearest_version(document, replace(task, schema=declaration.name))
    return declaration if nearest is None else with_known_types(declaration, nearest)


def dismiss_task(workbench: Workbench, task_id: int) -> bool:
    """Take a task off the list until other members are seen; its records stay where they wait.

    Raises:
        EditError: there is no such task.
    """
    return workbench.kept.version_tasks.dismiss(task_of(workbench, task_id).id, workbench.stamp())


def task_of(workbench: Workbench, task_id: int) -> VersionTask:
    """Find a task that stands.

    Raises:
        EditError: there is none.
    """
    tasks = version_tasks(workbench)
    found = next((task for task in tasks if task.id == task_id), None)
    if found is None:
        known = ", ".join(str(task.id) for task in tasks[:_NAMED]) or "none"
        known += f" and {len(tasks) - _NAMED:,} more" if len(tasks) > _NAMED else ""
        raise EditError(
            f"There is no version task {task_id}.", f"Tasks that stand: {known}.", "metl review --list names them."
        )
    return found


def waiting_stores(task: VersionTask) -> tuple[str, ...]:
    """Return the error stores that a task's records wait in and that are still there, the newest first."""
    stores = dict.fromkeys(wait.errors for wait in reversed(task.waits))
    return tuple(errors for errors in stores if is_kafka(errors) or Path(errors).is_dir())


def sample_records(workbench: Workbench, task: VersionTask, count: int = 3) -> tuple[str, ...]:
    """Read some records of a task from its error store, with their masked values hidden; none when it is gone.

    Only the first thousands that wait there are looked at, whatever they are of.
    """
    masks = Masks(workbench.document, task.schema if workbench.document.extraction.named(task.schema) else None)
    found: list[str] = []
    for errors in waiting_stores(task):
        try:
            for row in islice(_rows(errors), _MOST_LOOKED_AT):
                if len(found) >= count:
                    return tuple(found)
                if _is_of(row, task):
                    hidden = masks.incoming(row.incoming)
                    found.append(HIDDEN if hidden is None else hidden.decode(errors="backslashreplace"))
        except RunError:
            continue
    return tuple(found)


def _is_of(row: SetAsideRecord, task: VersionTask) -> bool:
    """Whether a record is of a task, by the version that it shows alone."""
    looked = UnknownVersions()
    looked.add(row.incoming, row.schema, row.detail)
    shown = looked.tasks(Waiting("", "", "", "", 0), "")
    return any(one.schema == task.schema and one.paths <= task.paths for one in shown)


def _seen(wait: Waiting, watch: Watch) -> list[VersionTask]:
    """Read what a run set aside for want of a version; touches no project."""
    gathered, count = UnknownVersions(), 0
    for count, row in enumerate(_rows(wait.errors), 1):
        if count % _STEP == 0:
            watch.step(f"{count:,} records looked at that no version fits")
        gathered.add(row.incoming, row.schema, row.detail)
    watch.tell(f"{count:,} records looked at that no version fits", count, count)
    return gathered.tasks(wait, f"messages that run {wait.run_id} set aside")


def _rows(errors: str) -> Iterator[SetAsideRecord]:
    """Yield what one run set aside for want of a version, or what the newest part of an error topic holds of it.

    Raises:
        RunError: the store is gone or damaged, or its servers do not answer.
    """
    if is_kafka(errors):
        from metl_gui.engine.tasks.error_topic import rows_of_topic

        yield from rows_of_topic(kafka_servers(errors), errors, REASONS)
    else:
        yield from _rows_of_folder(Path(errors))


def _rows_of_folder(errors: Path) -> Iterator[SetAsideRecord]:
    if not any((errors / f"reason={reason}").is_dir() for reason in REASONS):
        return
    store = ErrorStore.at(errors)
    for part in store.parts(errors.resolve().relative_to(store.root)):
        if part.reason not in REASONS:
            continue
        path = store.root / part.name
        try:
            with path.open("rb") as lines:
                yield from map(_row, lines)
        except (OSError, msgspec.MsgspecError) as error:
            raise RunError(
                "The error store is damaged.", f"{path}: {error}.", "Look at that file, or run the source again."
            ) from error
