"""Rows of the action table for the docks of the Map page: lists and searches, owners, suggestions, preview."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.actions.table import EditCondition
from metl_gui.ui.shell.action_rows.conditions import (
    Condition,
    WindowRow,
    all_of,
    can_edit,
    has_project,
    may_write,
    node_selected,
    nodes_on_both_sides,
    on_page,
)

if TYPE_CHECKING:
    from metl_gui.ui.shell.window import Window


def _chosen_in(side: Side) -> Condition:
    def holds(window: Window) -> bool:
        return has_project(window) and window.selection.current.on(side) is not None

    return holds


def _cell_chosen(window: Window) -> bool:
    return has_project(window) and window.selection.current.element is not None


def _filter_tree(window: Window, side: Side) -> None:
    window.show_page(0)
    panel = window.map.sources if side is Side.EXTRACTION else window.map.targets
    window.map.folding.reveal(panel)
    panel.box.setFocus(Qt.FocusReason.ShortcutFocusReason)
    panel.box.selectAll()


LIST_ROWS = (
    WindowRow(
        "filter_sources",
        "Edit",
        "Filter the extraction tree",
        "Ctrl+Shift+F",
        lambda window: _filter_tree(window, Side.EXTRACTION),
    ),
    WindowRow(
        "filter_targets",
        "Edit",
        "Filter the canonical model tree",
        "Ctrl+Alt+F",
        lambda window: _filter_tree(window, Side.CDM),
    ),
    WindowRow(
        "mapping_list",
        "View",
        "Mapping list",
        "Ctrl+T",
        lambda window: window.show_lists().show_mapping(),
    ),
    WindowRow(
        "cell_messages",
        "Run",
        "Messages that used this cell",
        "Ctrl+Shift+M",
        lambda window: window.cell_messages.show(),
        _cell_chosen,
    ),
    WindowRow(
        "what_feeds",
        "View",
        "What feeds this (reverse search)",
        "Ctrl+Shift+R",
        lambda window: window.show_lists().show_reverse(),
        _chosen_in(Side.CDM),
    ),
    WindowRow(
        "where_goes",
        "View",
        "Where this goes (forward search)",
        "Ctrl+Shift+D",
        lambda window: window.show_lists().show_forward(),
        _chosen_in(Side.EXTRACTION),
    ),
    WindowRow(
        "progression",
        "View",
        "How its versions changed (version progression)",
        "Ctrl+Shift+V",
        lambda window: window.show_lists().show_progression(),
        _chosen_in(Side.EXTRACTION),
    ),
)


@EditCondition
def _something_current(window: Window) -> bool:
    return window.suggest.suggestions.current is not None


@EditCondition
def _something_sure(window: Window) -> bool:
    return bool(window.suggest.suggestions.sure)


SUGGESTION_ROWS = (
    WindowRow(
        "suggestions",
        "Mapping",
        "Suggestions",
        "Ctrl+E",
        lambda w: w.show_suggestions().show(),
    ),
    WindowRow(
        "project_suggestions",
        "Mapping",
        "Suggestions of the whole project",
        "Ctrl+Alt+A",
        lambda w: w.show_suggestions().show_project(),
    ),
    WindowRow(
        "next_suggestion",
        "Mapping",
        "Next suggestion for this attribute",
        "Shift+Space",
        lambda w: w.suggest.suggestions.cycle(),
        nodes_on_both_sides,
        scope="matrix",
    ),
    WindowRow(
        "refuse_suggestion",
        "Mapping",
        "Refuse this suggestion",
        "Shift+Del",
        lambda w: w.suggest.suggestions.refuse_current(),
        all_of(can_edit, _something_current),
        scope="matrix",
    ),
    WindowRow(
        "accept_sure",
        "Mapping",
        "Accept all suggestions above 0.90",
        "",
        lambda w: w.suggest.suggestions.accept_all(),
        all_of(can_edit, _something_sure),
    ),
    WindowRow(
        "refused_suggestions",
        "Mapping",
        "Refused suggestions",
        "",
        lambda w: w.show_suggestions().show_refused(),
    ),
    WindowRow("hint_take_suggestion", "Mapping", "Accept the suggestion that is shown", "Enter", scope="matrix"),
    WindowRow("hint_leave_suggestions", "Mapping", "Dismiss the suggestions", "Esc", scope="matrix"),
)


@EditCondition
def _has_samples(window: Window) -> bool:
    return len(window.preview.panel.samples) > 0


def _schema_chosen(window: Window) -> bool:
    return window.preview.schema is not None


def _on_map(window: Window) -> None:
    if window.stack.currentIndex() != 0:
        window.show_page(0)


def _show(window: Window) -> None:
    _on_map(window)
    window.preview.show()


def _step(window: Window, step: int) -> None:
    _on_map(window)
    window.preview.step(step)


def _paste(window: Window) -> None:
    _on_map(window)
    window.preview.paste()


def _switch_whole(window: Window) -> None:
    window.preview.panel.tools.whole.toggle()


PREVIEW_ROWS = (
    WindowRow("preview", "View", "Preview of a message", "Ctrl+Alt+P", _show, has_project),
    WindowRow(
        "next_sample",
        "View > Samples",
        "Next sample",
        "Alt+.",
        lambda w: _step(w, 1),
        _has_samples,
    ),
    WindowRow(
        "previous_sample",
        "View > Samples",
        "Previous sample",
        "Alt+,",
        lambda w: _step(w, -1),
        _has_samples,
    ),
    WindowRow(
        "choose_sample",
        "View > Samples",
        "Choose a sample…",
        "Ctrl+Alt+O",
        lambda w: w.preview.choose(),
        _has_samples,
    ),
    WindowRow("paste_message", "View > Samples", "Paste a message…", "Ctrl+Alt+M", _paste, has_project),
    WindowRow(
        "whole_sample",
        "View > Samples",
        "Whole records",
        "Ctrl+Alt+W",
        _switch_whole,
        has_project,
        is_checked=lambda w: w.preview.panel.tools.whole.isChecked(),
    ),
    WindowRow(
        "sample_values",
        "View > Samples",
        "Values beside attributes",
        "Ctrl+Alt+D",
        lambda w: w.preview.switch_values(),
        has_project,
        is_checked=lambda w: w.settings.shows_values,
    ),
    WindowRow(
        "include_samples",
        "View > Samples",
        "Include samples of the schema in the project…",
        does=lambda w: w.preview.switch_included(),
        when=all_of(may_write, _schema_chosen),
        is_checked=lambda w: w.preview.is_included,
    ),
    WindowRow(
        "forget_samples", "View > Samples", "Forget samples…", does=lambda w: w.preview.forget(), when=has_project
    ),
    WindowRow(
        "hint_spot", "View", "Select the attribute of a value in the preview", "Enter, click", scope="block editor"
    ),
)


def _attribute_chosen(window: Window) -> bool:
    return window.owners.chosen is not None


OWNER_ROWS = (
    WindowRow(
        "new_entity",
        "Schema",
        "New entity…",
        "Ctrl+Shift+N",
        lambda w: w.owners.new_entity(),
        can_edit,
    ),
    WindowRow(
        "new_entity_like",
        "Schema",
        "New entity like what is chosen…",
        "Ctrl+Alt+L",
        lambda w: w.owners.new_entity_like(),
        all_of(can_edit, _chosen_in(Side.EXTRACTION)),
    ),
    WindowRow(
        "new_entity_version",
        "Schema",
        "New version of an entity…",
        "Ctrl+Shift+E",
        lambda w: w.owners.new_version(),
        can_edit,
    ),
    WindowRow(
        "rename_attribute",
        "Schema",
        "Rename an entity or its attribute…",
        "F2",
        lambda w: w.map.rename_target(),
        all_of(can_edit, on_page(0), _chosen_in(Side.CDM)),
    ),
    WindowRow(
        "same_as",
        "Schema",
        "Same as…",
        "Ctrl+L",
        lambda w: w.owners.same_as(),
        all_of(can_edit, _attribute_chosen),
    ),
    WindowRow(
        "not_same_as",
        "Schema",
        "Not the same as…",
        "Ctrl+Shift+L",
        lambda w: w.owners.not_same_as(),
        all_of(can_edit, _attribute_chosen),
    ),
    WindowRow("comment", "Schema", "Comment…", "Ctrl+K", lambda w: w.owners.comment(), node_selected),
    WindowRow(
        "mask",
        "Schema",
        "Mask the values",
        "Ctrl+Shift+K",
        lambda w: w.owners.mask(),
        all_of(can_edit, _attribute_chosen),
        is_checked=lambda w: w.owners.is_chosen_masked,
    ),
    WindowRow(
        "never_map",
        "Schema",
        "Never map…",
        "Ctrl+Alt+N",
        lambda w: w.owners.never_map(),
        all_of(can_edit, _attribute_chosen),
        is_checked=lambda w: w.owners.is_chosen_ignored,
    ),
    WindowRow("gaps", "View", "To do", "Ctrl+Shift+G", lambda w: w.owners.show_gaps()),
)
