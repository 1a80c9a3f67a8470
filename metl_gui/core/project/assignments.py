"""Who is to decide on a review item: a note beside the states, kept by (schema, entity, first version of the loss)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

AssignmentKey: TypeAlias = tuple[int, int, int]
"""(schema id, entity id, id of the schema version where the loss began)."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """A review item that somebody is to decide.

    Args:
        key: the item.
        assignee: who is to decide.
        who, when_ms: who said so, and when (milliseconds since 1970).
    """

    key: AssignmentKey
    assignee: str
    who: str = ""
    when_ms: int = 0
