"""What the lists bring to the table of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.actions import ActionRow
from metl_gui.ui.conditions import Condition, has_project

if TYPE_CHECKING:
    from metl_gui.ui.window import Window


def _chosen_in(side: Side) -> Condition:
    def holds(window: Window) -> bool:
        return has_project(window) and window.selection.current.on(side) is not None

    return holds


def _filter_tree(window: Window, side: Side) -> None:
    window.show_page(0)
    panel = window.map.sources if side is Side.EXTRACTION else window.map.targets
    panel.box.setFocus(Qt.FocusReason.ShortcutFocusReason)
    panel.box.selectAll()


ROWS = (
    ActionRow(
        "filter_sources",
        "Edit",
        "Filter the extraction tree",
        "Ctrl+Shift+F",
        lambda window: _filter_tree(window, Side.EXTRACTION),
    ),
    ActionRow(
        "filter_targets",
        "Edit",
        "Filter the canonical model tree",
        "Ctrl+Alt+F",
        lambda window: _filter_tree(window, Side.CDM),
    ),
    ActionRow(
        "mapping_list",
        "View",
        "Mapping list",
        "Ctrl+T",
        lambda window: window.show_lists().show_mapping(),
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
