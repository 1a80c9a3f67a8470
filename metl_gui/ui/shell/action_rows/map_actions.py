"""Rows of the action table for the Map page: its actions and gestures, the block editor, the trees, the matrix.

The rows of the matrix say what tiles are tinted by, and lead to the next block that waits or the next difference.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from metl_gui.core.edits.version_scope import VersionScope
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.actions.table import EditCondition
from metl_gui.ui.matrix.layout.content import SortOrder
from metl_gui.ui.matrix.painting.paint_context import Overlay, Sign, Tinting
from metl_gui.ui.shell.action_rows.conditions import (
    Condition,
    WindowRow,
    all_of,
    can_edit,
    has_project,
    node_selected,
    nodes_on_both_sides,
    on_page,
    something_waits,
)

if TYPE_CHECKING:
    from metl_gui.ui.project.selection import NodeRef
    from metl_gui.ui.shell.window import Window


_ON_MAP = on_page(0)


def _something_chosen(window: Window) -> bool:
    current = window.selection.current
    return current.element is not None or current.cells is not None


def _order_row(id_: str, order: SortOrder) -> WindowRow:
    return WindowRow(
        id_,
        "View > Order of rows and columns",
        order.value[0].upper() + order.value[1:],
        does=lambda w: w.map.planes.order(order),
        is_checked=lambda w: w.map.planes.arrangement.order is order,
        radio="order",
    )


def _scope_row(id_: str, scope: VersionScope) -> WindowRow:
    return WindowRow(
        id_,
        "Mapping > Other versions",
        f"Edits hold for {scope.value}",
        does=lambda w: w.map.edits.choose(scope),
        is_checked=lambda w: w.map.edits.scope is scope,
        radio="scope",
    )


def _band_row(id_: str, text: str, key: str, side: Side, *, pins: bool = False) -> WindowRow:
    """Make the row that folds, or pins, what is chosen of a tree."""

    def turn(window: Window) -> None:
        planes = window.map.planes
        (planes.pin if pins else planes.fold)(side, window.map.chosen_on_axis(side))

    def is_so(window: Window) -> bool:
        planes = window.map.planes
        return _are_chosen(window, side, planes.pinned(side) if pins else planes.folded(side))

    when = _chosen_of(side)
    return WindowRow(id_, "View > Fold and pin", text, key, turn, when, is_checked=is_so, scope="matrix")


def _are_chosen(window: Window, side: Side, nodes: frozenset[NodeRef]) -> bool:
    """Whether all that is chosen of a tree is among some nodes; of many chosen ones this is asked again and again."""
    chosen = window.map.chosen_on_axis(side) if nodes else frozenset()
    return bool(chosen) and chosen <= nodes


def _chosen_of(side: Side) -> Condition:
    return lambda window: has_project(window) and window.selection.current.on(side) is not None


MAP_ROWS = (
    WindowRow(
        "clear_element",
        "Edit",
        "Clear the selected elements",
        "Del",
        lambda w: w.map.mapper.clear(),
        all_of(can_edit, _ON_MAP, _something_chosen),
    ),
    WindowRow(
        "back",
        "View > Go",
        "Back to the place before",
        "Alt+Left",
        lambda w: w.on_map().sides.worked_in.go_back(),
    ),
    WindowRow("forward", "View > Go", "Forward again", "Alt+Right", lambda w: w.on_map().sides.worked_in.go_forward()),
    WindowRow(
        "up_a_level", "View > Go", "Up a level", "Backspace", lambda w: w.map.sides.worked_in.go_up(), scope="matrix"
    ),
    WindowRow("go_to", "View > Go", "Go to…", "Ctrl+G", lambda w: w.on_map().going.ask_where()),
    WindowRow("add_bookmark", "View > Go", "Bookmark this place…", "Ctrl+D", lambda w: w.on_map().going.ask_name()),
    _order_row("order_tree", SortOrder.TREE),
    _order_row("order_name", SortOrder.NAME),
    _order_row("order_first_mapping", SortOrder.FIRST_MAPPING),
    WindowRow(
        "relevance",
        "View",
        "Only what is mapped or waits",
        does=lambda w: w.map.planes.show_relevant(not w.map.planes.arrangement.is_relevant_only),
        is_checked=lambda w: w.map.planes.arrangement.is_relevant_only,
    ),
    WindowRow(
        "show_everything",
        "View",
        "Show everything, or hide it again",
        "H",
        lambda w: w.map.planes.switch_everything(),
        scope="matrix",
    ),
    _band_row("fold_column", "Fold the chosen columns", "X", Side.EXTRACTION),
    _band_row("fold_row", "Fold the chosen rows", "Y", Side.CDM),
    _band_row("pin_column", "Pin the chosen columns", "Shift+X", Side.EXTRACTION, pins=True),
    _band_row("pin_row", "Pin the chosen rows", "Shift+Y", Side.CDM, pins=True),
    WindowRow(
        "unfold_all", "View > Fold and pin", "Unfold and unpin everything", does=lambda w: w.map.planes.unfold_all()
    ),
    WindowRow(
        "two_views",
        "View",
        "Two views side by side",
        "Ctrl+\\",
        lambda w: w.on_map().sides.show(not w.map.sides.is_shown),
        has_project,
        is_checked=lambda w: w.map.sides.is_shown,
    ),
    WindowRow(
        "copy_block", "Edit", "Copy the block or rectangle", "Ctrl+C", lambda w: w.map.clipboard.copy(), scope="matrix"
    ),
    WindowRow(
        "paste_block",
        "Edit",
        "Paste a block or a table",
        "Ctrl+V",
        lambda w: w.map.clipboard.paste(),
        can_edit,
        scope="matrix",
    ),
    WindowRow(
        "map_chosen",
        "Mapping",
        "Map what is chosen",
        "Ctrl+M",
        lambda w: w.map.mapper.map_chosen(),
        all_of(can_edit, _ON_MAP, nodes_on_both_sides),
    ),
    WindowRow(
        "map_by_name",
        "Mapping",
        "Map what is chosen by name",
        "",
        lambda w: w.map.mapper.map_by_name(),
        all_of(can_edit, _ON_MAP, nodes_on_both_sides),
    ),
    WindowRow(
        "map_by_position",
        "Mapping",
        "Map what is chosen by position",
        "",
        lambda w: w.map.mapper.map_by_position(),
        all_of(can_edit, _ON_MAP, nodes_on_both_sides),
    ),
    WindowRow(
        "unmap_chosen",
        "Mapping",
        "Unmap what is chosen",
        "Ctrl+R",
        lambda w: w.map.mapper.unmap_chosen(),
        all_of(can_edit, _ON_MAP, node_selected),
    ),
    WindowRow(
        "apply_to_all",
        "Mapping > Other versions",
        "Apply the block to all versions not mapped",
        "",
        lambda w: w.map.mapper.apply_to_others(),
        all_of(can_edit, _ON_MAP, nodes_on_both_sides),
    ),
    WindowRow(
        "map_like_before",
        "Mapping > Other versions",
        "Map like the version before",
        "",
        lambda w: w.map.mapper.map_like_before(),
        all_of(can_edit, _ON_MAP, nodes_on_both_sides),
    ),
    WindowRow(
        "map_like_others",
        "Mapping > Other versions",
        "Map versions not mapped like others of their schemas",
        "",
        lambda w: w.map.edits.map_like_others(),
        all_of(can_edit, _ON_MAP),
    ),
    _scope_row("scope_all", VersionScope.ALL),
    _scope_row("scope_later", VersionScope.LATER),
    _scope_row("scope_this", VersionScope.THIS),
    WindowRow(
        "scope_entity_versions",
        "Mapping > Other versions",
        "Edits hold for other versions of an entity, too",
        does=lambda w: w.map.edits.switch_entity_versions(),
        is_checked=lambda w: w.map.edits.entity_versions_too,
    ),
    WindowRow(
        "switch_scope",
        "Mapping > Other versions",
        "Switch which versions edits hold for",
        "V",
        lambda w: w.map.edits.switch(),
        can_edit,
        scope="matrix",
    ),
    WindowRow("hint_drag", "View", "Pan the matrix", "Drag, middle drag, Space+drag", scope="matrix"),
    WindowRow("hint_wheel", "View", "Zoom columns and rows, about the pointer", "Wheel, +, -", scope="matrix"),
    WindowRow("hint_wheel_x", "View", "Zoom columns only", "Shift+wheel", scope="matrix"),
    WindowRow("hint_wheel_y", "View", "Zoom rows only", "Ctrl+Shift+wheel", scope="matrix"),
    WindowRow("hint_trackpad", "View", "Pan and zoom on a trackpad", "Scroll, pinch", scope="matrix"),
    WindowRow("hint_drill", "View", "Drill into a tile", "Double click, Enter", scope="matrix"),
    WindowRow("hint_arrows", "View", "Move the cursor, by blocks", "Arrows, Ctrl+arrows", scope="matrix"),
    WindowRow(
        "hint_rectangle", "Edit", "Select a rectangle of cells", "Shift+drag, Shift+click, Shift+arrows", scope="matrix"
    ),
    WindowRow("hint_space", "Mapping", "Set or clear the element", "Space or click", scope="matrix"),
    WindowRow("hint_alt", "Mapping", "Only select the cell", "Alt+click", scope="matrix"),
    WindowRow("hint_run", "Mapping", "Map a run of cells", "Ctrl+drag", scope="matrix"),
    WindowRow("hint_taken", "Mapping", "Where an end is taken: replace, swap, leave it", "R, S, Esc", scope="matrix"),
    WindowRow("hint_block", "Mapping", "Open the block editor", "Double click on a header or frame", scope="matrix"),
    WindowRow(
        "hint_header",
        "View",
        "Select, fold, pin what a header names",
        "Click on it, its triangle, its pin",
        scope="matrix",
    ),
    WindowRow(
        "hint_map",
        "View",
        "Move by the overview map, see everything, have it larger",
        "Drag in it, double click, drag its corner",
        scope="matrix",
    ),
    WindowRow("hint_drop", "Mapping", "Map a field to where it is dropped", "Drag from a tree", scope="matrix"),
)


def _shows_versions(window: Window) -> bool:
    return window.map.block.tools.versions.isChecked()


def _switch_versions(window: Window) -> None:
    window.show_page(0)
    window.map.open_block()
    window.map.block.show_versions(not _shows_versions(window))


def _open_block(window: Window) -> None:
    window.show_page(0)
    window.map.open_block()


BLOCK_ROWS = (
    WindowRow(
        "open_block",
        "Mapping",
        "Open the block editor",
        "Ctrl+B",
        _open_block,
        nodes_on_both_sides,
    ),
    WindowRow(
        "previous_block", "Mapping", "Previous block", "Alt+Up", lambda w: w.map.block.step(-1), nodes_on_both_sides
    ),
    WindowRow("next_block", "Mapping", "Next block", "Alt+Down", lambda w: w.map.block.step(1), nodes_on_both_sides),
    WindowRow(
        "block_versions",
        "Mapping",
        "Versions of the block",
        "Ctrl+Shift+B",
        _switch_versions,
        nodes_on_both_sides,
        is_checked=_shows_versions,
    ),
    WindowRow(
        "fold_sources",
        "View > Panels",
        "Fold the extraction tree",
        "Ctrl+[",
        lambda w: w.map.folding.toggle(0),
        has_project,
        is_checked=lambda w: w.map.folding.is_folded(0),
    ),
    WindowRow(
        "fold_targets",
        "View > Panels",
        "Fold the canonical model",
        "Ctrl+]",
        lambda w: w.map.folding.toggle(1),
        has_project,
        is_checked=lambda w: w.map.folding.is_folded(1),
    ),
    WindowRow("hint_line", "Mapping", "Map in the block editor", "Drag from list to list", scope="block editor"),
    WindowRow(
        "hint_connect",
        "Mapping",
        "Begin and end a line from the keyboard, give it up",
        "Enter, Enter, Esc",
        scope="block editor",
    ),
    WindowRow("hint_pair", "Mapping", "Set or clear the element of both current rows", "Space", scope="block editor"),
    WindowRow("hint_side", "Mapping", "Change the list", "Left, Right, Tab", scope="block editor"),
    WindowRow(
        "hint_several",
        "Edit",
        "Choose several fields of a tree",
        "Shift+click, Ctrl+click, Shift+arrows, Ctrl+A",
        scope="trees",
    ),
)


def choose_overlay(window: Window, overlay: Overlay) -> None:
    """Tint tiles and blocks by an overlay."""
    window.map.sides.tint_by(Tinting(overlay, int(time.time() * 1000)))
    window.actions_table.refresh()


def _overlay_row(id_: str, overlay: Overlay) -> WindowRow:
    return WindowRow(
        id_,
        "View > Overlay",
        overlay.value,
        does=lambda w: choose_overlay(w, overlay),
        is_checked=lambda w: w.map.matrix.tiles.tinting.overlay is overlay,
        radio="overlay",
    )


@EditCondition
def _something_differs(window: Window) -> bool:
    return bool(window.map.matrix.sight.difference)


MATRIX_ROWS = (
    _overlay_row("overlay_none", Overlay.NONE),
    _overlay_row("overlay_status", Overlay.STATUS),
    _overlay_row("overlay_age", Overlay.AGE),
    _overlay_row("overlay_reviewer", Overlay.REVIEWER),
    _overlay_row("overlay_coverage", Overlay.COVERAGE),
    WindowRow(
        "next_waiting",
        "View > Go",
        "Next block that waits",
        "N",
        lambda w: w.map.sides.worked_in.go_to_next(Sign.REVIEW),
        something_waits,
        scope="matrix",
    ),
    WindowRow(
        "next_difference",
        "View > Go",
        "Next difference",
        "D",
        lambda w: w.map.sides.worked_in.go_to_next(Sign.CAME, Sign.WENT),
        _something_differs,
        scope="matrix",
    ),
    WindowRow("hint_ghost", "Mapping", "Open the card of a lost element", "Click on its ghost", scope="matrix"),
    WindowRow("hint_legend", "View", "Go to the next such thing", "Click in the legend", scope="matrix"),
)
