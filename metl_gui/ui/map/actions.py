"""The actions and gestures of the Map page, for the table of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metl_gui.ui.actions import ActionRow
from metl_gui.ui.conditions import all_of, can_edit, node_selected, nodes_on_both_sides, on_page
from metl_gui.ui.matrix.arrangement import Order

if TYPE_CHECKING:
    from metl_gui.ui.window import Window


_ON_MAP = on_page(0)


def _something_chosen(window: Window) -> bool:
    current = window.selection.current
    return current.element is not None or current.cells is not None


def _order_row(id_: str, order: Order) -> ActionRow:
    return ActionRow(
        id_,
        "View > Order of rows and columns",
        order.value[0].upper() + order.value[1:],
        does=lambda w: w.map.planes.order(order),
        is_checked=lambda w: w.map.planes.arrangement.order is order,
        radio="order",
    )


ROWS = (
    ActionRow(
        "clear_element",
        "Edit",
        "Clear the selected elements",
        "Del",
        lambda w: w.map.mapper.clear(),
        all_of(can_edit, _ON_MAP, _something_chosen),
    ),
    ActionRow(
        "back",
        "View > Go",
        "Back to the place before",
        "Alt+Left",
        lambda w: w.on_map().matrix.go_back(),
    ),
    ActionRow("forward", "View > Go", "Forward again", "Alt+Right", lambda w: w.on_map().matrix.go_forward()),
    ActionRow("up_a_level", "View", "Up a level", "Backspace", lambda w: w.map.matrix.go_up(), scope="matrix"),
    ActionRow("go_to", "View > Go", "Go to…", "Ctrl+G", lambda w: w.on_map().going.ask_where()),
    ActionRow("add_bookmark", "View > Go", "Bookmark this place…", "Ctrl+D", lambda w: w.on_map().going.ask_name()),
    _order_row("order_tree", Order.TREE),
    _order_row("order_name", Order.NAME),
    _order_row("order_first_mapping", Order.FIRST_MAPPING),
    ActionRow(
        "relevance",
        "View",
        "Only what is mapped or waits",
        does=lambda w: w.map.planes.show_relevant(not w.map.planes.arrangement.is_relevant_only),
        is_checked=lambda w: w.map.planes.arrangement.is_relevant_only,
    ),
    ActionRow(
        "show_everything",
        "View",
        "Show everything, or hide it again",
        "H",
        lambda w: w.map.planes.switch_everything(),
        scope="matrix",
    ),
    ActionRow(
        "copy_block", "Edit", "Copy the block or rectangle", "Ctrl+C", lambda w: w.map.clipboard.copy(), scope="matrix"
    ),
    ActionRow(
        "paste_block",
        "Edit",
        "Paste a block or a table",
        "Ctrl+V",
        lambda w: w.map.clipboard.paste(),
        can_edit,
        scope="matrix",
    ),
    ActionRow(
        "map_chosen",
        "Mapping",
        "Map what is chosen",
        "Ctrl+M",
        lambda w: w.map.mapper.map_chosen(),
        all_of(can_edit, _ON_MAP, nodes_on_both_sides),
    ),
    ActionRow(
        "map_by_name",
        "Mapping",
        "Map what is chosen by name",
        "",
        lambda w: w.map.mapper.map_by_name(),
        all_of(can_edit, _ON_MAP, nodes_on_both_sides),
    ),
    ActionRow(
        "map_by_position",
        "Mapping",
        "Map what is chosen by position",
        "",
        lambda w: w.map.mapper.map_by_position(),
        all_of(can_edit, _ON_MAP, nodes_on_both_sides),
    ),
    ActionRow(
        "unmap_chosen",
        "Mapping",
        "Unmap what is chosen",
        "Ctrl+R",
        lambda w: w.map.mapper.unmap_chosen(),
        all_of(can_edit, _ON_MAP, node_selected),
    ),
    ActionRow("hint_drag", "View", "Pan the matrix", "Drag, middle drag, Space+drag", scope="matrix"),
    ActionRow("hint_wheel", "View", "Zoom columns and rows, about the pointer", "Wheel, +, -", scope="matrix"),
    ActionRow("hint_wheel_x", "View", "Zoom columns only", "Shift+wheel", scope="matrix"),
    ActionRow("hint_wheel_y", "View", "Zoom rows only", "Ctrl+Shift+wheel", scope="matrix"),
    ActionRow("hint_trackpad", "View", "Pan and zoom on a trackpad", "Scroll, pinch", scope="matrix"),
    ActionRow("hint_drill", "View", "Drill into a tile", "Double click, Enter", scope="matrix"),
    ActionRow("hint_arrows", "View", "Move the cursor, by blocks", "Arrows, Ctrl+arrows", scope="matrix"),
    ActionRow(
        "hint_rectangle", "Edit", "Select a rectangle of cells", "Shift+drag, Shift+click, Shift+arrows", scope="matrix"
    ),
    ActionRow("hint_space", "Mapping", "Set or clear the element", "Space or click", scope="matrix"),
    ActionRow("hint_alt", "Mapping", "Only select the cell", "Alt+click", scope="matrix"),
    ActionRow("hint_run", "Mapping", "Map a run of cells", "Ctrl+drag", scope="matrix"),
    ActionRow("hint_taken", "Mapping", "Where an end is taken: replace, swap, leave it", "R, S, Esc", scope="matrix"),
    ActionRow("hint_block", "Mapping", "Open the block editor", "Double click on a header or frame", scope="matrix"),
    ActionRow("hint_drop", "Mapping", "Map a field to where it is dropped", "Drag from a tree", scope="matrix"),
)
