"""What owners bring to the table of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metl_gui.ui.actions import ActionRow
from metl_gui.ui.conditions import all_of, can_edit, node_selected

if TYPE_CHECKING:
    from metl_gui.ui.window import Window


def _attribute_chosen(window: Window) -> bool:
    return window.owners.chosen is not None


ROWS = (
    ActionRow(
        "new_entity",
        "Schema",
        "New entity…",
        "Ctrl+Shift+N",
        lambda w: w.owners.new_entity(),
        can_edit,
    ),
    ActionRow(
        "new_entity_version",
        "Schema",
        "New version of an entity…",
        "Ctrl+Shift+E",
        lambda w: w.owners.new_version(),
        can_edit,
    ),
    ActionRow(
        "same_as",
        "Schema",
        "Same as…",
        "Ctrl+L",
        lambda w: w.owners.same_as(),
        all_of(can_edit, _attribute_chosen),
    ),
    ActionRow(
        "not_same_as",
        "Schema",
        "Not the same as…",
        "Ctrl+Shift+L",
        lambda w: w.owners.not_same_as(),
        all_of(can_edit, _attribute_chosen),
    ),
    ActionRow("comment", "Schema", "Comment…", "Ctrl+K", lambda w: w.owners.comment(), node_selected),
    ActionRow(
        "mask",
        "Schema",
        "Mask the values",
        "Ctrl+Shift+K",
        lambda w: w.owners.mask(),
        all_of(can_edit, _attribute_chosen),
        is_checked=lambda w: w.owners.is_chosen_masked,
    ),
    ActionRow("gaps", "View", "Gaps", "Ctrl+Shift+G", lambda w: w.owners.show_gaps()),
)
