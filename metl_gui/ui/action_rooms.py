"""Which rooms bring rows to the table of actions."""

from __future__ import annotations

from metl_gui.ui import actions
from metl_gui.ui.actions import ActionRow

ROOMS: tuple[tuple[ActionRow, ...], ...] = (actions.TABLE,)
"""The rows of every room, the shell's first."""


def all_rows() -> tuple[ActionRow, ...]:
    """Return the whole table."""
    return tuple(row for rows in ROOMS for row in rows)
