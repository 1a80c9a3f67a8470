"""A run in words: what it was, when, how long it took, how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from metl_gui.engine.kafka.servers import is_kafka, parse_address
from metl_gui.errors import RunError
from metl_gui.ui.run.amounts import duration
from metl_gui.workbench.running import PRODUCTION

DIED = (
    "Its process is gone: it was killed, or the computer was switched off. "
    "Nothing is lost: Go on begins where its last batch was put in place."
)
"""What became of a production run whose process died."""


def kind_words(report: Mapping[str, Any]) -> str:
    """Say what kind of run it was."""
    mode = str(report.get("mode", "test"))
    if report.get("is_replay"):
        return "Replay in production" if mode == PRODUCTION else "Replay"
    return mode.capitalize()


def title_words(report: Mapping[str, Any]) -> str:
    """Name a run: what kind, and of which state."""
    return f"{kind_words(report)} · state {report.get('state', 0):,}"


def source_words(source: str) -> str:
    """Name a source by the last part of its path; topics by the first of them, another address as it is."""
    if not is_kafka(source):
        return source if "://" in source else Path(source).name or source
    try:
        address = parse_address(source)
    except RunError:
        return source
    if address.pattern:
        return f"topics ^{address.pattern}"
    more = len(address.topics) - 1
    return f"{address.topics[0]} and {more} more" if more > 0 else address.topics[0] if address.topics else source


def moment_words(when_ms: int) -> str:
    """Say when, in as many words as a list has room for."""
    when = datetime.fromtimestamp(when_ms / 1000, UTC).astimezone()
    today = datetime.now(UTC).astimezone().date()
    return f"{when:%H:%M}" if when.date() == today else f"{when.day} {when:%b %H:%M}"


def state_words(name: str, state: int) -> str:
    """Name a state by its number, and its name where it has one."""
    return f"state {state:,} “{name}”" if name else f"state {state:,}"


def count_words(report: Mapping[str, Any]) -> str:
    """Say how much was read, and how long that took."""
    return f"{report.get('read', 0):,} records in {duration(float(report.get('seconds', 0)))}"


def counted_words(report: Mapping[str, Any]) -> str:
    """Say how much a run had counted until it was cancelled or killed, which is in no place."""
    return f"{report.get('read', 0):,} records counted until then"


def in_place_words(report: Mapping[str, Any]) -> str:
    """Say how much the batches of a run that died put in place; what it told beyond that is mapped again."""
    return f"{report.get('read', 0):,} records are in place"
