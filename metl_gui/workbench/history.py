"""The states of a project, what each one did, and going back and forth between them.

Source: contract.md §1 (``metl history``, ``undo``, ``redo``), dmm.md §9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from metl_gui.core.changes.draft import Transition
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.review.items import review_items
from metl_gui.workbench.documents import Written
from metl_gui.workbench.progress import UNWATCHED, Watch
from metl_gui.workbench.session import Workbench


@dataclass(frozen=True, slots=True)
class HistoryEntry(Written):
    """One state.

    Args:
        state: its number.
        title: the edit that made it.
        who: the person.
        when: moment as ISO 8601 text in UTC.
        named: the name that a person gave it, ``None`` when none did.
        published: whether production may use it.
        door: ``window`` or ``command``.
        group: the undo group it belongs to, named by its first state.
        runs: ids of the runs that mapped with it, newest first.
        exported: whether it was exported.
        states: how many states it stands for, more than 1 where earlier ones were merged into it.
    """

    state: int
    title: str
    who: str
    when: str
    named: str | None
    published: bool
    door: str
    group: int
    runs: tuple[str, ...] = ()
    exported: bool = False
    states: int = 1


@dataclass(frozen=True, slots=True)
class History(Written):
    """The states of a project, newest first.

    Args:
        state: the current state.
        states: what made each.
        undo, redo: title of what undo and redo would do now, ``None`` when there is nothing.
    """

    state: int
    states: tuple[HistoryEntry, ...]
    undo: str | None
    redo: str | None


@dataclass(frozen=True, slots=True)
class StepResult(Written):
    """What undo or redo did."""

    state: int
    title: str
    needs_review: int


@dataclass(frozen=True, slots=True)
class CompactResult(Written):
    """What compaction did.

    Args:
        state: the current state.
        merged: how many entries of the log were merged into later ones.
        left: how many there are now.
        before_bytes, after_bytes: size of the project file.
    """

    state: int
    merged: int
    left: int
    before_bytes: int
    after_bytes: int


@dataclass(frozen=True, slots=True)
class StateSummary(Written):
    """One state in numbers.

    Args:
        state: its number.
        title: the edit that made it, empty for the empty project.
        schemas, entities, versions, entity_versions: nodes of the trees.
        blocks, elements: of the matrix.
        needs_review: decisions that wait in it.
        hash: of its content.
    """

    state: int
    title: str
    schemas: int
    versions: int
    entities: int
    entity_versions: int
    blocks: int
    elements: int
    needs_review: int
    hash: str


def history(workbench: Workbench, limit: int | None = None, below: int | None = None) -> History:
    """Read the states, newest first.

    Args:
        workbench: the opened project.
        limit: how many at most.
        below: only states with smaller numbers, for the next page.
    """
    runs = workbench.kept.runs.by_state()
    exported = workbench.kept.states.exported()
    entries = tuple(
        HistoryEntry(
            e.state,
            e.title,
            e.who,
            moment(e.when_ms),
            e.name or None,
            e.is_published,
            e.door,
            e.group,
            runs.get(e.state, ()),
            e.state in exported,
            e.states,
        )
        for e in workbench.log(limit, below)
    )
    return History(workbench.document.state, entries, workbench.undo_title(), workbench.redo_title())


def undo(workbench: Workbench) -> StepResult:
    """Take back the newest group of edits by a person, from any door.

    Raises:
        EditError: there is none, or what it touched was changed since.
    """
    return _step(workbench, workbench.undo)


def undo_state(workbench: Workbench, state: int) -> StepResult:
    """Take back what made a state, with everything of the same gesture or command, from anywhere in the history.

    Raises:
        EditError: what it touched was changed since, it is taken back already, or the log was compacted over it.
        ProjectError: there is no such state.
    """
    return _step(workbench, lambda: workbench.undo_state(state))


def redo(workbench: Workbench) -> StepResult:
    """Bring the newest undone group of edits again.

    Raises:
        EditError: there is none, or what it touched was changed since.
    """
    return _step(workbench, workbench.redo)


def compact(workbench: Workbench, watch: Watch = UNWATCHED) -> CompactResult:
    """Merge the log between the states that are kept, and give the room back to the disk.

    Each step is one transaction, so it can be stopped, or killed, at any moment and goes on another time.

    Raises:
        ProjectHeldError: the project is open read only.
        RunCancelled: it was stopped; what is merged so far stays merged.
    """
    before = workbench.path.stat().st_size
    gone = 0
    while more := workbench.compact():
        gone += more
        watch.step(f"Compacting the log, {gone:,} entries merged")
    if gone:
        workbench.give_room_back()
    left = len(workbench.log())
    return CompactResult(workbench.document.state, gone, left, before, workbench.path.stat().st_size)


def show(workbench: Workbench, state: int | None = None) -> StateSummary:
    """Summarise a state, the current one by default.

    Raises:
        ProjectError: there is no such state.
    """
    document = workbench.at_state(state)
    logged = workbench.log(1, document.state + 1) if document.state else []
    schemas, entities = document.extraction.schemas(), document.cdm.schemas()
    return StateSummary(
        document.state,
        logged[0].title if logged else "",
        len(schemas),
        sum(len(schema.version_ids) for schema in schemas),
        len(entities),
        sum(len(entity.version_ids) for entity in entities),
        document.matrix.block_count,
        document.matrix.ones,
        len(review_items(document)),
        state_hash(document),
    )


def moment(when_ms: int) -> str:
    """Write a moment in milliseconds since 1970 as ISO 8601 text in UTC."""
    return datetime.fromtimestamp(when_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _step(workbench: Workbench, move: Callable[[], Transition]) -> StepResult:
    transition = move()
    return StepResult(workbench.document.state, transition.title, len(review_items(workbench.document)))
