"""Values that know which message brought them, through everything that is done to them.

They are equal where the values are, so the rows that follow from them are those that follow from the values alone.

Source: docs/reference/warehouse-model.md, "From messages to versions".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from metl_gui.core.dimensional.rows.late_messages import DECLARED, Columns
from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.dimensional.rows.row_states import Values


class Traced:
    """A value and what brought it.

    Args:
        value: of an attribute, or of a column that is made of attributes.
        brought_by: by attribute, the message that it came with.
    """

    __slots__ = ("brought_by", "value")

    def __init__(self, value: Any, brought_by: Mapping[str, Message]) -> None:
        self.value, self.brought_by = value, brought_by

    def __eq__(self, other: object) -> bool:
        return bool(self.value == (other.value if isinstance(other, Traced) else other))

    def __hash__(self) -> int:
        return hash(self.value)


def traced(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return messages whose values know them; nulls have no bringer, as they are told apart by being none."""
    found = []
    for one in messages:
        values = {
            name: value if value is None or name == DECLARED else Traced(value, {name: one})
            for name, value in one.values.items()
        }
        found.append(msgspec.structs.replace(one, values=values))
    return tuple(found)


def traced_columns(columns: Columns, uses: Mapping[str, Sequence[str]]) -> Columns:
    """Return what makes columns that know what brought the attributes which they are made of.

    Args:
        columns: makes them from plain values.
        uses: by column, the attributes in it.
    """

    def made(times: Sequence[Values]) -> Sequence[Values]:
        plain = columns([{name: plain_value(value) for name, value in one.items()} for one in times])
        return [
            {column: Traced(value, _bringers(one, uses.get(column, ()))) for column, value in row.items()}
            for one, row in zip(times, plain, strict=True)
        ]

    return made


def _bringers(values: Values, used: Sequence[str]) -> dict[str, Message]:
    found: dict[str, Message] = {}
    for name in used:
        value = values.get(name)
        if isinstance(value, Traced):
            found |= value.brought_by
    return found


def plain_value(value: Any) -> Any:
    """Return the value alone."""
    return value.value if isinstance(value, Traced) else value
