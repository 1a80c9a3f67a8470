"""What was settled since a moment, from the newest states of the log back to it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, time

from metl_gui.core.review.settled import PastEdit, SettledBlocks
from metl_gui.store.log import LoggedEdit
from metl_gui.workbench.progress import UNWATCHED, Watch
from metl_gui.workbench.session import Workbench

_READ_AT_ONCE = 200


def midnight_ms(now_ms: int) -> int:
    """Return when the day of a moment began, as the clock on the wall has it, in milliseconds since 1970."""
    day = datetime.fromtimestamp(now_ms / 1000).astimezone()
    return int(datetime.combine(day.date(), time.min).astimezone().timestamp() * 1000)


def settled_since(
    workbench: Workbench, since_ms: int, known: SettledBlocks | None = None, watch: Watch = UNWATCHED
) -> SettledBlocks:
    """Return what was settled since a moment.

    Cost: the states made since then, or since the newest one that is known already.

    Args:
        workbench: the opened project.
        since_ms: the moment.
        known: what was found before; the same moment and an earlier state of the same project.
        watch: cancel.

    Raises:
        ProjectError: the log was compacted meanwhile.
        RunCancelled: it was stopped.
    """
    newest = workbench.document.state
    start = known if known is not None and known.since_ms == since_ms and known.state <= newest else None
    found = start if start is not None else SettledBlocks(since_ms)
    after = found.after(_edits(workbench, found.state, since_ms, watch))
    return replace(after, state=max(after.state, newest))


def _edits(workbench: Workbench, above: int, since_ms: int, watch: Watch) -> list[PastEdit]:
    """Read the edits of states above one, no older than a moment, the oldest first."""
    wanted: list[LoggedEdit] = []
    below: int | None = None
    while True:
        watch.step("Reading what was settled")
        page = workbench.log(_READ_AT_ONCE, below)
        fresh = [each for each in page if each.state > above and each.when_ms >= since_ms]
        wanted += fresh
        if len(page) < _READ_AT_ONCE or len(fresh) < len(page):
            break
        below = page[-1].state
    edits: list[PastEdit] = []
    for each in reversed(wanted):
        watch.step("Reading what was settled")
        change = workbench.change_between(each.state - each.states, each.state)
        edits.append(PastEdit(each.state, each.title, each.who, each.when_ms, change.blocks))
    return edits
