"""Which rooms bring rows to the table of actions."""

from __future__ import annotations

from metl_gui.ui import actions
from metl_gui.ui.actions import ActionRow
from metl_gui.ui.block import actions as block_actions
from metl_gui.ui.configuring import actions as setting_actions
from metl_gui.ui.history import actions as history_actions
from metl_gui.ui.map import actions as map_actions
from metl_gui.ui.matrix import actions as matrix_actions
from metl_gui.ui.owners import actions as owner_actions
from metl_gui.ui.preview import actions as preview_actions
from metl_gui.ui.review import actions as review_actions
from metl_gui.ui.run import actions as run_actions
from metl_gui.ui.search import actions as search_actions
from metl_gui.ui.suggest import actions as suggest_actions

ROOMS: tuple[tuple[ActionRow, ...], ...] = (
    actions.TABLE,
    map_actions.ROWS,
    matrix_actions.ROWS,
    block_actions.ROWS,
    search_actions.ROWS,
    owner_actions.ROWS,
    suggest_actions.ROWS,
    preview_actions.ROWS,
    review_actions.ROWS,
    run_actions.ROWS,
    history_actions.ROWS,
    setting_actions.ROWS,
)
"""The rows of every room, the shell's first."""


def all_rows() -> tuple[ActionRow, ...]:
    """Return the whole table."""
    return tuple(row for rows in ROOMS for row in rows)
