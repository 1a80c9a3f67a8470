"""What the lists bring to the table of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metl_gui.core.nodes import Side
from metl_gui.ui.actions import ActionRow
from metl_gui.ui.conditions import Condition, has_project

if TYPE_CHECKING:
    from metl_gui.ui.window import Window


def _chosen_in(side: Side) -> Condition:
    def holds(window: Window) -> bool:
        return has_project(window) and window.selection.current.on(side) is not None

    return holds


ROWS = (
    ActionRow(
        "mapping_list",
        "View",
        "Mapping list",
        "Ctrl+T",
        lambda window: window.show_lists().show_mapping(),
        begins_section=True,
    ),
    ActionRow(
        "what_feeds",
        "View",
        "What feeds this (reverse search)",
        "Ctrl+Shift+R",
        lambda window: window.show_lists().show_reverse(),
        _chosen_in(Side.CDM),
    ),
    ActionRow(
        "where_goes",
        "View",
        "Where this goes (forward search)",
        "Ctrl+Shift+D",
        lambda window: window.show_lists().show_forward(),
        _chosen_in(Side.EXTRACTION),
    ),
    ActionRow(
        "progression",
        "View",
        "How its versions changed (version progression)",
        "Ctrl+Shift+V",
        lambda window: window.show_lists().show_progression(),
        _chosen_in(Side.EXTRACTION),
    ),
)
