"""The rows that the matrix brings to the table of actions: what tiles and blocks are tinted by."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from metl_gui.ui.actions import ActionRow
from metl_gui.ui.matrix.tinting import Overlay, Tinting

if TYPE_CHECKING:
    from metl_gui.ui.window import Window


def choose_overlay(window: Window, overlay: Overlay) -> None:
    """Tint tiles and blocks by an overlay."""
    window.map.matrix.panes.tint_by(Tinting(overlay, int(time.time() * 1000)))
    window.actions_table.refresh()


def _overlay_row(overlay: Overlay) -> ActionRow:
    return ActionRow(
        f"overlay_{overlay.name.lower()}",
        "View > Overlay",
        overlay.value,
        does=lambda w: choose_overlay(w, overlay),
        is_checked=lambda w: w.map.matrix.tiles.tinting.overlay is overlay,
        radio="overlay",
    )


ROWS = tuple(_overlay_row(overlay) for overlay in Overlay)
