"""Whether anybody answers where Spark is to run, asked before anything is started."""

from __future__ import annotations

import socket
from collections.abc import Iterable

from metl_gui.core.runs.target import Target, TargetKind, parse_target
from metl_gui.errors import RunError

_ANSWER_SECONDS = 3.0


def check_target(target: Target | str) -> None:
    """Refuse a Spark target that cannot be served, before anything is started.

    Raises:
        RunError: it is unknown, or nobody answers there.
    """
    known = parse_target(target) if isinstance(target, str) else target
    if not known.places:
        return
    refusals = [refusal for host, port in known.places if (refusal := _refusal(host, port))]
    if len(refusals) < len(known.places):
        return
    what = "server" if known.kind is TargetKind.CONNECT else "master"
    raise RunError(
        f"The Spark {what} does not answer.",
        f"{known.shown}: {refusals[0]}.",
        f"Check the address and whether the {what} runs, or use local[*] to run on this computer.",
    )


def answers(places: Iterable[tuple[str, int]]) -> bool:
    """Whether any of these servers takes connections."""
    return any(not _refusal(host, port) for host, port in places)


def _refusal(host: str, port: int) -> str:
    """Explain why nobody answers at a place; nothing when somebody does."""
    try:
        socket.create_connection((host, port), timeout=_ANSWER_SECONDS).close()
    except (OSError, OverflowError, UnicodeError) as error:
        return str(getattr(error, "strerror", None) or error)
    return ""
