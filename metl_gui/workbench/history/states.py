"""The states of a project: what each one did, going back and forth between them, and finding one.

``history``, ``show``, ``undo``, ``redo`` and ``compact`` are the commands on states. ``states_page`` and ``timeline``
are for people who look for one: page by page, filtered, with what gives a state weight.

Order: newest first; the timeline oldest first. Source: docs/guide/change.md, "History"; docs/reference/project-file.md,
"States".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from itertools import takewhile

import msgspec

from metl_gui.core.changes.draft import Transition
from metl_gui.core.edits.titles import past_tense
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.review.items import review_items
from metl_gui.store.edit_log import LoggedEdit
from metl_gui.values import Value
from metl_gui.workbench.json_results import JsonResult
from metl_gui.workbench.session import Workbench


class HistoryEntry(JsonResult):
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


class History(JsonResult):
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


class StepResult(JsonResult):
    """What undo or redo did."""

    state: int
    title: str
    needs_review: int


class CompactResult(JsonResult):
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


class StateSummary(JsonResult):
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
    """Undo the newest group of edits by a person, from any door.

    Raises:
        EditError: there is none, or what it touched was changed since.
    """
    return _step(workbench, workbench.undo)


def undo_state(workbench: Workbench, state: int) -> StepResult:
    """Undo what made a state, with everything of the same gesture or command, from anywhere in the history.

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
        ProjectLockedError: the project is open read only.
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


_READ_AT_ONCE, _FEW = 1_000, 20


class Weight(StrEnum):
    """What makes a state one that people come back to."""

    NAMED = "named"
    PUBLISHED = "published"
    RUN = "run"
    EXPORTED = "exported"


class PastState(Value):
    """One state.

    Args:
        state, title, who, when_ms: the edit that made it.
        door: ``window`` or ``command``.
        group: its undo group, named by the group's first state.
        name: what a person called it, empty where nobody did.
        is_published: whether production may use it.
        runs: how many runs used it.
        is_exported: whether it was exported.
        states: how many states it stands for, more than 1 where the log was compacted.
        is_cut: its undo group cannot be taken back any more, because the log was compacted.
        undoes: the undo group that it takes back.
        folded: the states that a row stands for, newest first, where these are several; see ``state_rows``.
        is_undone: nothing remains of them, as the last takes the first back.
    """

    state: int
    title: str
    who: str
    when_ms: int
    door: str
    group: int
    name: str = ""
    is_published: bool = False
    runs: int = 0
    is_exported: bool = False
    states: int = 1
    is_cut: bool = False
    undoes: int | None = None
    folded: tuple[PastState, ...] = ()
    is_undone: bool = False

    @property
    def done(self) -> str:
        """What was done, in the past tense."""
        return f"{past_tense(self.title)}{', then undone' if self.is_undone else ''}"

    @property
    def before(self) -> int:
        """The number of the state before it that can be looked at."""
        return self.state - self.states

    @property
    def weights(self) -> frozenset[Weight]:
        """What gives it weight."""
        held = {
            Weight.NAMED: bool(self.name),
            Weight.PUBLISHED: self.is_published,
            Weight.RUN: self.runs > 0,
            Weight.EXPORTED: self.is_exported,
        }
        return frozenset(weight for weight, is_so in held.items() if is_so)


class StateFilter(Value):
    """Which states are looked for; an empty one finds all.

    Args:
        words: each must stand in the title, the name, the number or the person.
        who: each must stand in the person.
        weights: it must have each of them.
    """

    words: tuple[str, ...] = ()
    who: tuple[str, ...] = ()
    weights: frozenset[Weight] = frozenset()

    @classmethod
    def of(cls, text: str) -> StateFilter:
        """Read what was typed: words, ``who:name``, ``is:named``, ``is:published``, ``is:run``, ``is:exported``."""
        words: list[str] = []
        who: list[str] = []
        weights: set[Weight] = set()
        for part in text.casefold().split():
            prefix, sign, rest = part.partition(":")
            if prefix == "who" and sign:
                who += [rest] if rest else []
            elif prefix == "is" and rest in list(Weight):
                weights.add(Weight(rest))
            else:
                words.append(part)
        return cls(tuple(words), tuple(who), frozenset(weights))

    @property
    def is_empty(self) -> bool:
        """Whether it finds all."""
        return self == StateFilter()

    def passes(self, state: PastState) -> bool:
        """Whether it finds a state."""
        who = state.who.casefold()
        told = f"{state.title}\n{state.done}\n{state.name}\n{state.state}\n{state.who}".casefold()
        return (
            self.weights <= state.weights
            and all(part in who for part in self.who)
            and all(word in told for word in self.words)
        )


class StatePage(Value):
    """Some states in a row.

    Args:
        states: newest first.
        below: where the next page begins, ``None`` when there is none.
    """

    states: tuple[PastState, ...]
    below: int | None


class Timeline(Value, eq=False):
    """All states that can be looked at, oldest first.

    Args:
        states: their numbers.
        weighty: those with a weight.
    """

    states: tuple[int, ...] = ()
    weighty: tuple[PastState, ...] = msgspec.field(default=())


def states_page(
    workbench: Workbench, wanted: StateFilter, limit: int, below: int | None = None, watch: Watch = UNWATCHED
) -> StatePage:
    """Find the newest states that pass a filter.

    Args:
        workbench: the open project.
        wanted: the filter.
        limit: how many are wanted.
        below: only states with smaller numbers.
        watch: cancel.
    """
    found: list[PastState] = []
    for state in walk_states(workbench, below, limit + 1 if wanted.is_empty else _READ_AT_ONCE, watch):
        if wanted.passes(state):
            if len(found) == limit:
                return StatePage(tuple(found), found[-1].state)
            found.append(state)
    return StatePage(tuple(found), None)


def find_state(workbench: Workbench, state: int) -> PastState | None:
    """Return one state, ``None`` where it is not there."""
    found = next(iter(workbench.log(1, state + 1)), None)
    if found is None or found.state != state:
        return None
    return _past(found, workbench.kept.runs.by_state(), workbench.kept.states.exported())


def together(workbench: Workbench, state: PastState) -> int:
    """Count the states that were made by one gesture or command with a state, that one included.

    Cost: linear in their number, at least a page of the log.
    """
    wide = _READ_AT_ONCE
    while True:
        count = sum(each.group == state.group for each in workbench.log(wide, state.group + wide))
        if count < wide:
            return count
        wide *= 4


def timeline(workbench: Workbench, known: Timeline | None = None, watch: Watch = UNWATCHED) -> Timeline:
    """Return all states that can be looked at; linear in their number, or in that of the new ones.

    Args:
        workbench: the open project.
        known: what was read before, where nothing but newer states is looked for.
        watch: cancel.
    """
    newest = known.states[-1] if known is not None and known.states else 0
    at_once = _READ_AT_ONCE if not newest else _FEW
    fresh = list(takewhile(lambda each: each.state > newest, walk_states(workbench, None, at_once, watch)))[::-1]
    before = known if known is not None and newest else Timeline()
    return Timeline(
        (*before.states, *(each.state for each in fresh)),
        (*before.weighty, *(each for each in fresh if each.weights)),
    )


def walk_states(workbench: Workbench, below: int | None, at_once: int, watch: Watch) -> Iterator[PastState]:
    """Yield all states below one, newest first; so many are read at once."""
    runs, exported = workbench.kept.runs.by_state(), workbench.kept.states.exported()
    while True:
        watch.step("Reading the history")
        logged = workbench.log(at_once, below)
        yield from (_past(each, runs, exported) for each in logged)
        if len(logged) < at_once:
            return
        below = logged[-1].state


def _past(logged: LoggedEdit, runs: Mapping[int, tuple[str, ...]], exported: frozenset[int]) -> PastState:
    return PastState(
        logged.state,
        logged.title,
        logged.who,
        logged.when_ms,
        logged.door,
        logged.group,
        logged.name,
        logged.is_published,
        len(runs.get(logged.state, ())),
        logged.state in exported,
        logged.states,
        logged.is_cut,
        logged.undoes,
    )
