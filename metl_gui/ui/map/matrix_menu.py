"""The menus of a view of the matrix: of what is selected there, of a ghost, and of the overview map."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.view import MatrixView, MenuRequest
from metl_gui.ui.trees.node import actions_menu

_SELECTED = (
    ("map_chosen", "unmap_chosen", "clear_element", "apply_to_all"),
    ("open_block", "block_versions", "fit_selection"),
    ("what_feeds", "where_goes", "progression", "why", "cell_messages", "copy_link"),
    ("copy_block", "paste_block", "comment"),
)
_GHOST = (("open_block", "block_versions", "fit_selection"), ("why", "copy_link", "comment"))
_OVERVIEW = (("fit", "fit_selection", "up_a_level"), ("two_views", "relevance", "show_everything"))
_FOLDING = {Side.EXTRACTION: ("fold_column", "pin_column"), Side.CDM: ("fold_row", "pin_row")}
_BESIDE_CARDS = (
    ("open_block", "block_versions"),
    ("what_feeds", "where_goes", "progression", "why", "copy_link", "comment"),
)
"""What makes sense where the matrix stands beside the cards of a decision."""


def show_matrix_menu(
    view: MatrixView,
    wish: MenuRequest,
    own: Sequence[tuple[str, Callable[[], object]]] = (),
    is_beside_cards: bool = False,
) -> None:
    """Show the menu that was asked for.

    Args:
        view: the matrix that was clicked in.
        wish: where, and of what.
        own: what this view does itself, above the actions of the window.
        is_beside_cards: whether it stands on the Review page.
    """
    lost = wish.lost
    if lost is not None:
        own = [("Open its card", lambda: view.loss_picked.emit(lost)), *own]
    elif wish.is_on_map and view.panes.map_width is not None:
        own = [("Put the map back into the corner", view.dock_map), *own]
    sections = _OVERVIEW if wish.is_on_map else _GHOST if lost is not None else _SELECTED
    if wish.header is not None and not is_beside_cards:
        sections = (_FOLDING[wish.header], *sections)
    menu = actions_menu(view, _BESIDE_CARDS if is_beside_cards else sections, own)
    if menu is not None:
        menu.setAccessibleName("Matrix")
        menu.popup(wish.at)
