"""Who is to decide on a review item: a note beside the states, kept by (schema, entity, first version of the loss)."""

from __future__ import annotations

from typing import TypeAlias

from metl_gui.values import Value

AssignmentKey: TypeAlias = tuple[int, int, int]
"""(schema id, entity id, id of the schema version where the loss began)."""


class Assignment(Value):
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
