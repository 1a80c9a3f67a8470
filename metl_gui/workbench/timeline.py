"""The states of a project as people look for them: page by page, filtered, with what gives a state weight.

Order: newest first; the timeline oldest first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import takewhile

from metl_gui.store.log import LoggedEdit
from metl_gui.workbench.progress import UNWATCHED, Watch
from metl_gui.workbench.session import Workbench

_READ_AT_ONCE, _FEW = 1_000, 20


class Weight(StrEnum):
    """What makes a state one that people come back to."""

    NAMED = "named"
    PUBLISHED = "published"
    RUN = "run"
    EXPORTED = "exported"


@dataclass(frozen=True, slots=True)
class PastState:
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


@dataclass(frozen=True, slots=True)
class StateFilter:
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
        told = f"{state.title}\n{state.name}\n{state.state}\n{state.who}".casefold()
        return (
            self.weights <= state.weights
            and all(part in who for part in self.who)
            and all(word in told for word in self.words)
        )


@dataclass(frozen=True, slots=True)
class StatePage:
    """Some states in a row.

    Args:
        states: newest first.
        below: where the next page begins, ``None`` when there is none.
    """

    states: tuple[PastState, ...]
    below: int | None


@dataclass(frozen=True, eq=False)
class Timeline:
    """All states that can be looked at, oldest first.

    Args:
        states: their numbers.
        weighty: those with a weight.
    """

    states: tuple[int, ...] = ()
    weighty: tuple[PastState, ...] = field(default=())


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
    for state in _walk(workbench, below, limit + 1 if wanted.is_empty else _READ_AT_ONCE, watch):
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
    fresh = list(takewhile(lambda each: each.state > newest, _walk(workbench, None, at_once, watch)))[::-1]
    before = known if known is not None and newest else Timeline()
    return Timeline(
        (*before.states, *(each.state for each in fresh)),
        (*before.weighty, *(each for each in fresh if each.weights)),
    )


def _walk(workbench: Workbench, below: int | None, at_once: int, watch: Watch) -> Iterator[PastState]:
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
    )
