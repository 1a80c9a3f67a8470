"""What suggestions bring to the table of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metl_gui.ui.actions import ActionRow
from metl_gui.ui.conditions import all_of, can_edit, nodes_on_both_sides

if TYPE_CHECKING:
    from metl_gui.ui.window import Window


def _something_current(window: Window) -> bool:
    return window.suggest.suggestions.current is not None


def _something_sure(window: Window) -> bool:
    return bool(window.suggest.suggestions.sure)


ROWS = (
    ActionRow(
        "suggestions",
        "Mapping",
        "Suggestions",
        "Ctrl+E",
        lambda w: w.show_suggestions().show(),
    ),
    ActionRow(
        "next_suggestion",
        "Mapping",
        "Next suggestion for this attribute",
        "Shift+Space",
        lambda w: w.suggest.suggestions.cycle(),
        nodes_on_both_sides,
        scope="matrix",
    ),
    ActionRow(
        "refuse_suggestion",
        "Mapping",
        "Refuse this suggestion",
        "Shift+Del",
        lambda w: w.suggest.suggestions.refuse_current(),
        all_of(can_edit, _something_current),
        scope="matrix",
    ),
    ActionRow(
        "accept_sure",
        "Mapping",
        "Accept all suggestions above 0.90",
        "",
        lambda w: w.suggest.suggestions.accept_all(),
        all_of(can_edit, _something_sure),
    ),
    ActionRow(
        "refused_suggestions",
        "Mapping",
        "Refused suggestions",
        "",
        lambda w: w.show_suggestions().show_refused(),
    ),
    ActionRow("hint_take_suggestion", "Mapping", "Accept the suggestion that is shown", "Enter", scope="matrix"),
    ActionRow("hint_leave_suggestions", "Mapping", "Dismiss the suggestions", "Esc", scope="matrix"),
)
