"""The actions of the Run page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metl_gui.ui.actions import ActionRow
from metl_gui.ui.conditions import all_of, can_run

if TYPE_CHECKING:
    from metl_gui.ui.window import Window


def _something_is_live(window: Window) -> bool:
    return window.history.live.state is not None


def _something_waits_for_replay(window: Window) -> bool:
    return window.run_page.aside.replay.isEnabled()


ROWS = (
    ActionRow(
        "run_production",
        "Run",
        "Production run over files",
        does=lambda w: w.run_commands.run_production(),
        when=all_of(can_run, _something_is_live),
    ),
    ActionRow(
        "replay",
        "Run",
        "Replay what was set aside",
        "Ctrl+F5",
        does=lambda w: w.run_commands.replay(),
        when=all_of(can_run, _something_waits_for_replay),
    ),
)
