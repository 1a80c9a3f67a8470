"""What a person is asked before production is started, and what the status bar says while it goes on."""

from __future__ import annotations

import os
from collections.abc import Sequence

import msgspec

from metl_gui.engine.events import LaneProgressed, decode_event
from metl_gui.engine.kafka.servers import is_kafka
from metl_gui.errors import RunError
from metl_gui.store.repositories.states import NamedState
from metl_gui.ui.moments import on
from metl_gui.ui.run.run_words import source_words, state_words
from metl_gui.workbench.production import LiveRun, report_so_far
from metl_gui.workbench.running import RunRequest

_LOOKED_AT_BYTES = 256 << 10
_FORMATS = {"jsonl": "JSON lines", "parquet": "Parquet"}


def question_about(request: RunRequest, live: NamedState) -> tuple[str, str]:
    """Return title and text of the question: with what, from where, to where, how long."""
    who = f" by {live.published_who}" if live.published_who else ""
    when = f", {on(live.published_ms)}" if live.published_ms is not None else ""
    blocks = "every block, what nobody has confirmed too" if request.include_unconfirmed else "confirmed blocks only"
    if request.lane == "fast":
        until = "It goes on until somebody stops it" + (
            ", with this state whatever is published meanwhile."
            if request.freeze
            else ", and takes what is published meanwhile between two transactions."
        )
    elif not request.follow:
        until = "It ends when the source is read."
    elif request.freeze:
        until = "It goes on until somebody stops it, with this state whatever is published meanwhile."
    else:
        until = "It goes on until somebody stops it, and takes what is published meanwhile between two batches."
    lines = (
        f"It maps with {state_words(live.name, live.state)}, published{who}{when}: {blocks}.",
        f"From {request.source}",
        _to(request),
        f"On {request.spark}",
        f"{until} It is a process of its own: closing this window does not stop it.",
    )
    return "Start a production run?", "\n".join(lines)


def _to(request: RunRequest) -> str:
    """Say where messages go, and how often a reader sees each of them."""
    if not is_kafka(request.sink):
        dates = ", in folders by date" if request.by_date else ""
        return f"To {request.sink}, as {_FORMATS[request.format]}{dates}"
    often = "exactly once for consumers that read committed" if request.lane == "fast" else "at least once"
    aside = f"; set aside into {request.errors}" if request.errors else ""
    return f"To {request.sink}, {often}{aside}"


def live_words(live: Sequence[LiveRun]) -> tuple[str, str]:
    """Say which production runs go on, and with which states; and below it one line for each.

    Returns:
        Words of the status bar, and their tooltip; both empty where none goes on.
    """
    if not live:
        return "", ""
    states = [_state_now(run) for run in live]
    newest = f"published state {max(states):,}"
    words = f"Production live · {newest}" if len(live) == 1 else f"{len(live)} production runs live · {newest}"
    lines = (f"{source_words(run.order.spec.source)}: state {state:,}" for run, state in zip(live, states, strict=True))
    return words, "\n".join(lines)


def _state_now(run: LiveRun) -> int:
    """Return the state of the last batch or transactions, or what the run began with."""
    if run.order.spec.lane == "fast":
        return _state_told(run)  # its counts are with Kafka, and nobody waits for that here
    try:
        return report_so_far(run.order).state
    except RunError:
        return run.order.spec.state


def _state_told(run: LiveRun) -> int:
    """Return the state that a lane told last."""
    try:
        with (run.folder / "events.jsonl").open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - _LOOKED_AT_BYTES, 0))
            lines = file.read().splitlines()
    except OSError:
        return run.order.spec.state
    for line in reversed(lines):
        try:
            event = decode_event(line)
        except msgspec.MsgspecError:
            continue  # the first may be cut, the last may not be whole yet
        if isinstance(event, LaneProgressed):
            return event.state
    return run.order.spec.state
