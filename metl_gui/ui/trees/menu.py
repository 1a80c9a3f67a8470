"""What can be done with a node of a tree: rows of the action table by name, as far as they are there and make sense."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.selection import Place

_MAPPING = ("map_chosen", "map_by_name", "map_by_position", "unmap_chosen")
_LOOKING = ("open_block", "block_versions", "suggestions", "what_feeds", "where_goes", "progression", "why")
_SAYING = ("same_as", "not_same_as", "comment", "mask")
_VERSION = ("new_entity_version", "remove_version")
_SETTINGS = {"schema_settings": Side.EXTRACTION, "entity_settings": Side.CDM}
_SECTIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "schema": (_MAPPING, _LOOKING, ("comment", *_SETTINGS), ("new_entity_version",)),
    "version": (_MAPPING, _LOOKING, ("comment", *_SETTINGS), _VERSION),
    "attribute": (_MAPPING, _LOOKING, _SAYING),
}


def node_menu(owner: QWidget, side: Side, place: Place) -> QMenu | None:
    """Make the menu of a node, ``None`` when nothing can be done with it.

    Args:
        owner: the widget that asks; the actions are found above it, in the window.
        side: the tree.
        place: the node.
    """
    kind = "schema" if place.version is None else "version" if place.attribute is None else "attribute"
    menu = QMenu(owner)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for section in _SECTIONS[kind]:
        names = [name for name in section if _SETTINGS.get(name, side) is side]
        actions = [a for name in names if (a := action_named(owner, name)) is not None and a.isEnabled()]
        if actions and not menu.isEmpty():
            menu.addSeparator()
        menu.addActions(actions)
    if menu.isEmpty():
        menu.deleteLater()
        return None
    menu.setAccessibleName("Extraction" if side is Side.EXTRACTION else "Canonical model")
    return menu


def action_named(owner: QWidget, name: str) -> QAction | None:
    """Find an action of the window that a widget belongs to, also while its panel floats in a window of its own."""
    topmost: QWidget = owner
    while (above := topmost.parentWidget()) is not None:
        topmost = above
    found: QAction | None = topmost.findChild(QAction, name)
    return found
