"""The rows that the matrix brings to the table of actions: what tiles are tinted by, and the way to the next thing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from metl_gui.ui.actions import ActionRow
from metl_gui.ui.conditions import something_waits
from metl_gui.ui.matrix.look import Sign
from metl_gui.ui.matrix.tinting import Overlay, Tinting

if TYPE_CHECKING:
    from metl_gui.ui.window import Window


def choose_overlay(window: Window, overlay: Overlay) -> None:
    """Tint tiles and blocks by an overlay."""
    window.map.matrix.panes.tint_by(Tinting(overlay, int(time.time() * 1000)))
    window.actions_table.refresh()


def _overlay_row(id_: str, overlay: Overlay) -> ActionRow:
    return ActionRow(
        id_,
        "View > Overlay",
        overlay.value,
        does=lambda w: choose_overlay(w, overlay),
        is_checked=lambda w: w.map.matrix.tiles.tinting.overlay is overlay,
        radio="overlay",
    )


ROWS = (
    _overlay_row("overlay_none", Overlay.NONE),
    _overlay_row("overlay_status", Overlay.STATUS),
    _overlay_row("overlay_age", Overlay.AGE),
    _overlay_row("overlay_reviewer", Overlay.REVIEWER),
    _overlay_row("overlay_coverage", Overlay.COVERAGE),
    ActionRow(
        "next_waiting",
        "View",
        "Next block that waits",
        "N",
        lambda w: w.map.matrix.go_to_next(Sign.REVIEW),
        something_waits,
        scope="matrix",
    ),
    ActionRow(
        "next_difference",
        "View",
        "Next difference",
        "D",
        lambda w: w.map.matrix.go_to_next(Sign.CAME, Sign.WENT),
        lambda w: bool(w.map.matrix.sight.difference),
        scope="matrix",
    ),
    ActionRow("hint_ghost", "Mapping", "Open the card of a lost element", "Click on its ghost", scope="matrix"),
    ActionRow("hint_legend", "View", "Go to the next such thing", "Click in the legend", scope="matrix"),
)
