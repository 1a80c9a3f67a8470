"""What the history brings to the table of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metl_gui.ui.actions import ActionRow
from metl_gui.ui.conditions import all_of, has_project, looks_back, may_write, node_selected

if TYPE_CHECKING:
    from metl_gui.ui.window import Window


def _one_meant(window: Window) -> bool:
    return window.history.meant is not None


def _has_states(window: Window) -> bool:
    return window.history.looking.newest > 0


ROWS = (
    ActionRow("history", "View > History", "Show the history", "Ctrl+H", lambda w: w.history.show()),
    ActionRow(
        "why", "View > History", "Why is this mapped?", "Ctrl+Shift+Y", lambda w: w.history.show_why(), node_selected
    ),
    ActionRow(
        "time_slider",
        "View > History",
        "Time slider",
        "Ctrl+Shift+H",
        lambda w: w.history.show_strip(w.history.strip.isHidden()),
        is_checked=lambda w: not w.history.strip.isHidden(),
    ),
    ActionRow(
        "older_state",
        "View > History",
        "One state back",
        "Alt+PgUp",
        lambda w: w.history.step(-1),
        all_of(has_project, _has_states),
    ),
    ActionRow("newer_state", "View > History", "One state on", "Alt+PgDown", lambda w: w.history.step(1), looks_back),
    ActionRow(
        "back_to_now", "View > History", "Back to now", "Alt+Home", lambda w: w.history.looking.come_back(), looks_back
    ),
    ActionRow(
        "compare_with_now",
        "View > History",
        "Compare this state with now",
        "",
        lambda w: w.history.compare_with_now(),
        all_of(has_project, _one_meant),
    ),
    ActionRow(
        "undo_state",
        "Edit",
        "Undo this state…",
        "",
        lambda w: w.history.ask_and_undo(),
        all_of(may_write, _one_meant),
    ),
    ActionRow(
        "compare_with_live", "View > History", "Compare with what is live", "", lambda w: w.history.compare_with_live()
    ),
    ActionRow(
        "compare_with_file",
        "View > History",
        "Compare with another file…",
        "",
        lambda w: w.history.ask_and_compare_file(),
        has_project,
    ),
    ActionRow(
        "publish",
        "Run",
        "Publish this state…",
        "Ctrl+Shift+U",
        lambda w: w.history.ask_and_publish(),
        may_write,
    ),
    ActionRow("hint_states", "View", "Look at a state; choose two to compare them", "Click, Enter; Ctrl+click"),
    ActionRow("hint_marks", "View", "On the time slider: from mark to mark", "Ctrl+Left, Ctrl+Right"),
)
