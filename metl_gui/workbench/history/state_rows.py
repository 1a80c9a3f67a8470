"""The history as a person remembers it: an edit and its undo are one row, and so is everything of one import.

A state with weight (named, published, run, exported) is never hidden inside a row: it may only be its newest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from msgspec.structs import replace

from metl_gui.core.edits.titles import group_title
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.workbench.history.states import PastState, StateFilter, StatePage, states_page, walk_states
from metl_gui.workbench.session import Workbench

_READ_AT_ONCE = 400


def rows_page(
    workbench: Workbench, wanted: StateFilter, limit: int, below: int | None = None, watch: Watch = UNWATCHED
) -> StatePage:
    """Find the newest rows; with a filter each state is a row, so that none that is looked for hides in another.

    Args:
        workbench, wanted, limit, below, watch: as of ``states_page``.
    """
    if not wanted.is_empty:
        return states_page(workbench, wanted, limit, below, watch)
    found: list[PastState] = []
    for row in folded(walk_states(workbench, below, _READ_AT_ONCE, watch)):
        if len(found) == limit:
            return StatePage(tuple(found), found[-1].before + 1)
        found.append(row)
    return StatePage(tuple(found), None)


@dataclass(slots=True)
class _OpenUndo:
    """An undo whose edit has not come yet.

    Args:
        row: the undo.
        wanted: the undo group that it takes back.
        between: what came between both, of which nothing remains.
    """

    row: PastState
    wanted: int
    between: list[PastState]


def folded(states: Iterable[PastState]) -> Iterator[PastState]:
    """Fold states into rows, both newest first.

    A row has the number, the person and the moment of its newest state, and what it stands for in ``folded``.
    """
    waiting: list[_OpenUndo] = []
    for gesture in _gestures(states):
        row = gesture
        if row.undoes is not None:
            waiting.append(_OpenUndo(row, row.undoes, []))
            continue
        while waiting and _is_taken_back(row, waiting[-1]):
            row = _joined(waiting.pop(), row)
        if waiting and row.is_undone and not row.weights:
            waiting[-1].between.append(row)
            continue
        yield from _left(waiting)
        yield row
    yield from _left(waiting)


def _left(waiting: list[_OpenUndo]) -> Iterator[PastState]:
    """Yield undos whose edits do not stand right below them as they are."""
    yield from chain.from_iterable((each.row, *each.between) for each in waiting)
    waiting.clear()


def _is_taken_back(row: PastState, undo: _OpenUndo) -> bool:
    is_whole = row.is_undone or row.before < row.group <= row.state
    return row.group == undo.wanted and is_whole and not row.weights


def _joined(undo: _OpenUndo, row: PastState) -> PastState:
    parts = tuple(chain.from_iterable(each.folded or (each,) for each in (undo.row, *undo.between, row)))
    states = sum(part.states for part in parts)
    return replace(undo.row, title=row.title, undoes=None, states=states, folded=parts, is_undone=not row.is_undone)


def _gestures(states: Iterable[PastState]) -> Iterator[PastState]:
    """Join the states of one undo group that stand below one another."""
    held: list[PastState] = []
    for state in states:
        if held and (state.group != held[-1].group or state.weights):
            yield _gesture(held)
            held = []
        held.append(state)
    if held:
        yield _gesture(held)


def _gesture(states: list[PastState]) -> PastState:
    newest, oldest = states[0], states[-1]
    if newest is oldest:
        return newest
    title = group_title(oldest.title, [state.title for state in states])
    return replace(newest, title=title, states=sum(state.states for state in states), folded=tuple(states))
