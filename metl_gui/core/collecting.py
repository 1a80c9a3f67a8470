"""What newly seen versions make of the version tasks that stand already.

Source: dmm.md §8 (one task for each schema and shape).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from metl_gui.core.version_tasks import VersionTask, Waiting, groups_of, joined, seen_of


@dataclass(frozen=True, slots=True)
class CollectedTasks:
    """How the tasks of a project change.

    Args:
        kept: tasks that are new (id 0) or other than before.
        removed: ids of tasks that have become part of another one.
    """

    kept: tuple[VersionTask, ...]
    removed: tuple[int, ...] = ()


def collect(standing: Sequence[VersionTask], seen: Iterable[VersionTask]) -> CollectedTasks:
    """Put versions that a run has seen to the tasks that stand.

    Args:
        standing: the tasks of the project, dismissed ones included.
        seen: what the run has seen, ids 0, each with one place where its records wait.
    """
    by_schema: dict[str, list[VersionTask]] = {}
    for task in seen:
        by_schema.setdefault(task.schema, []).append(task)
    kept: list[VersionTask] = []
    removed: list[int] = []
    for schema, fresh in by_schema.items():
        runs = {wait.run_id for task in fresh for wait in task.waits}
        there = [_without_runs(task, runs) for task in standing if task.schema == schema]
        for group in _grouped([*there, *fresh]):
            merged, gone = _merged(group)
            if merged is not None:
                kept.append(merged)
            removed.extend(gone)
    return CollectedTasks(tuple(kept), tuple(removed))


def _without_runs(task: VersionTask, runs: set[str]) -> VersionTask:
    """Forget what runs have shown before they are looked at again."""
    return replace(task, waits=tuple(wait for wait in task.waits if wait.run_id not in runs))


def _grouped(tasks: list[VersionTask]) -> Iterable[list[VersionTask]]:
    """Part the tasks of a schema by the version they are of: declared ones by what tells them, rows by their shapes."""
    declared: dict[str, list[VersionTask]] = {}
    for task in tasks:
        if not task.declaration.inferred:
            declared.setdefault(task.seen, []).append(task)
    yield from declared.values()
    inferred = [task for task in tasks if task.declaration.inferred]
    for group in groups_of([task.declaration.attributes for task in inferred]):
        yield [inferred[at] for at in sorted(group)]


def _merged(group: list[VersionTask]) -> tuple[VersionTask | None, list[int]]:
    """Make one task of a group: the oldest of those that stand, or a new one; None when nothing new was seen of it."""
    fresh = [task for task in group if task.id == 0]
    standing = sorted((task for task in group if task.id), key=lambda task: task.id)
    if not fresh:
        return None, []
    home = standing[0] if standing else fresh[0]
    declaration = home.declaration
    if declaration.inferred:
        declaration = replace(declaration, attributes=joined([task.declaration.attributes for task in group]))
    waits: tuple[Waiting, ...] = ()
    for task in group:
        waits = with_waits(waits, task.waits)
    is_more = any(not task.paths <= home.paths for task in fresh)
    merged = replace(
        home,
        seen=home.seen if home.id else seen_of(declaration),
        declaration=declaration,
        samples=fresh[-1].samples if len(fresh) == 1 else _widest(fresh).samples,
        waits=waits,
        dismissed_by=None if is_more else home.dismissed_by,
    )
    return merged, [task.id for task in standing[1:]]


def _widest(tasks: Sequence[VersionTask]) -> VersionTask:
    return max(tasks, key=lambda task: len(task.samples))


def with_waits(before: tuple[Waiting, ...], more: tuple[Waiting, ...]) -> tuple[Waiting, ...]:
    """Put places to others.

    A run stands for an earlier one of its mode over the same source, and for those in the error store that it has read:
    what it could not map waits in its own store now.
    """
    found = list(before)
    for wait in more:
        same_run = [one for one in found if one.run_id == wait.run_id and one.errors == wait.errors]
        found = [one for one in found if not _is_superseded(one, wait)]
        records = wait.records + sum(one.records for one in same_run)
        found.append(replace(wait, records=records))
    return tuple(found)


def _is_superseded(one: Waiting, by: Waiting) -> bool:
    return one.mode == by.mode and by.source in (one.source, one.errors)
