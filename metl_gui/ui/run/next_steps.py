"""What a person does about records that were set aside, reason by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from metl_gui.engine.results import SetAsideRecord

ADD, REVIEW, SHOW = "add", "review", "show"
_PLACES = 20


@dataclass(frozen=True)
class NextStep:
    """What to do about one reason.

    Args:
        kind: ``ADD`` a version, ``REVIEW`` a block, or ``SHOW`` the records.
        words: of the link.
    """

    kind: str
    words: str


_STEPS = {
    "unknown_version": NextStep(ADD, "Add version"),
    "unknown_schema": NextStep(ADD, "Import schema"),
    "block_needs_review": NextStep(REVIEW, "Review"),
}
_SHOW = NextStep(SHOW, "Show")


def next_step(reason: str) -> NextStep:
    """Return what to do about a reason."""
    return _STEPS.get(reason, _SHOW)


def where(records: Sequence[SetAsideRecord]) -> str:
    """Say where records of one reason come from, by the first of them: schema and version, or the file."""
    named = Counter(_place(record) for record in records[:_PLACES])
    if not named:
        return ""
    first = named.most_common(1)[0][0]
    return first if len(named) == 1 else f"{first} and others"


def _place(record: SetAsideRecord) -> str:
    if record.schema:
        return f"{record.schema} {record.version}" if record.version else record.schema
    position = record.position or ""
    return position.rpartition("@")[0] or position.partition("/")[0]
