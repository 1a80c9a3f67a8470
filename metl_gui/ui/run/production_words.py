"""What a person is asked before production is started."""

from __future__ import annotations

from metl_gui.store.states import NamedState
from metl_gui.ui.moments import on
from metl_gui.ui.run.run_words import state_words
from metl_gui.workbench.running import RunRequest

_FORMATS = {"jsonl": "JSON lines", "parquet": "Parquet"}


def question_about(request: RunRequest, live: NamedState) -> tuple[str, str]:
    """Return title and text of the question: with what, from where, to where, how long."""
    who = f" by {live.published_who}" if live.published_who else ""
    when = f", {on(live.published_ms)}" if live.published_ms is not None else ""
    blocks = "every block, what nobody has confirmed too" if request.include_unconfirmed else "confirmed blocks only"
    dates = ", in folders by date" if request.by_date else ""
    if not request.follow:
        until = "It ends when the source is read."
    elif request.freeze:
        until = "It goes on until somebody stops it, with this state whatever is published meanwhile."
    else:
        until = "It goes on until somebody stops it, and takes what is published meanwhile between two batches."
    lines = (
        f"It maps with {state_words(live.name, live.state)}, published{who}{when}: {blocks}.",
        f"From {request.source}",
        f"To {request.sink}, as {_FORMATS[request.format]}{dates}",
        f"On {request.spark}",
        f"{until} It is a process of its own: closing this window does not stop it.",
    )
    return "Start a production run?", "\n".join(lines)
