"""What settings bring to the table of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.actions import ActionRow
from metl_gui.ui.conditions import all_of, always, can_edit, has_project

if TYPE_CHECKING:
    from metl_gui.ui.window import Window


def _source_chosen(window: Window) -> bool:
    return window.selection.current.source is not None


def _target_chosen(window: Window) -> bool:
    return window.selection.current.target is not None


ROWS = (
    ActionRow(
        "schema_settings",
        "Schema",
        "Settings of the chosen schemas…",
        "Ctrl+Alt+S",
        lambda w: w.configuring.ask_of(Side.EXTRACTION),
        all_of(can_edit, _source_chosen),
    ),
    ActionRow(
        "entity_settings",
        "Schema",
        "Settings of the chosen entities…",
        "Ctrl+Alt+E",
        lambda w: w.configuring.ask_of(Side.CDM),
        all_of(can_edit, _target_chosen),
    ),
    ActionRow(
        "project_settings",
        "File",
        "Project settings…",
        "Ctrl+,",
        lambda w: w.configuring.ask_of_project(),
        has_project,
    ),
    ActionRow(
        "run.profiles",
        "Run",
        "Connections…",
        "Ctrl+Alt+C",
        lambda w: w.configuring.show_profiles(),
        always,
    ),
    ActionRow(
        "next_for_second",
        "Mapping",
        "Next block that a second person must confirm",
        "",
        lambda w: w.second.go_on(),
        lambda w: w.second.count > 0,
    ),
)
