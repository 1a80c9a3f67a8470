"""The actions and gestures of the block editor and of the trees, for the table of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metl_gui.ui.actions import ActionRow
from metl_gui.ui.conditions import has_project, nodes_on_both_sides

if TYPE_CHECKING:
    from metl_gui.ui.window import Window


def _shows_versions(window: Window) -> bool:
    return window.map.block.tools.versions.isChecked()


def _switch_versions(window: Window) -> None:
    window.show_page(0)
    window.map.open_block()
    window.map.block.show_versions(not _shows_versions(window))


def _open_block(window: Window) -> None:
    window.show_page(0)
    window.map.open_block()


ROWS = (
    ActionRow(
        "open_block",
        "Mapping",
        "Open the block editor",
        "Ctrl+B",
        _open_block,
        nodes_on_both_sides,
    ),
    ActionRow(
        "previous_block", "Mapping", "Previous block", "Alt+Up", lambda w: w.map.block.step(-1), nodes_on_both_sides
    ),
    ActionRow("next_block", "Mapping", "Next block", "Alt+Down", lambda w: w.map.block.step(1), nodes_on_both_sides),
    ActionRow(
        "block_versions",
        "Mapping",
        "Versions of the block",
        "Ctrl+Shift+B",
        _switch_versions,
        nodes_on_both_sides,
        is_checked=_shows_versions,
    ),
    ActionRow(
        "fold_sources",
        "View > Panels",
        "Fold the extraction tree",
        "Ctrl+[",
        lambda w: w.map.folding.toggle(0),
        has_project,
        is_checked=lambda w: w.map.folding.is_folded(0),
    ),
    ActionRow(
        "fold_targets",
        "View > Panels",
        "Fold the canonical model",
        "Ctrl+]",
        lambda w: w.map.folding.toggle(1),
        has_project,
        is_checked=lambda w: w.map.folding.is_folded(1),
    ),
    ActionRow("hint_line", "Mapping", "Map in the block editor", "Drag from list to list", scope="block editor"),
    ActionRow(
        "hint_connect",
        "Mapping",
        "Begin and end a line from the keyboard, give it up",
        "Enter, Enter, Esc",
        scope="block editor",
    ),
    ActionRow("hint_pair", "Mapping", "Set or clear the element of both current rows", "Space", scope="block editor"),
    ActionRow("hint_side", "Mapping", "Change the list", "Left, Right, Tab", scope="block editor"),
    ActionRow(
        "hint_several",
        "Edit",
        "Choose several fields of a tree",
        "Shift+click, Ctrl+click, Shift+arrows, Ctrl+A",
        scope="trees",
    ),
)
