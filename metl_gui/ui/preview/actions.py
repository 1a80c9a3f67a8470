"""What the preview brings to the table of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metl_gui.ui.actions import ActionRow
from metl_gui.ui.conditions import all_of, has_project, may_write

if TYPE_CHECKING:
    from metl_gui.ui.window import Window


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


ROWS = (
    ActionRow("preview", "View", "Preview of a message", "Ctrl+Alt+P", _show, has_project),
    ActionRow(
        "next_sample",
        "View > Samples",
        "Next sample",
        "Alt+.",
        lambda w: _step(w, 1),
        _has_samples,
    ),
    ActionRow(
        "previous_sample",
        "View > Samples",
        "Previous sample",
        "Alt+,",
        lambda w: _step(w, -1),
        _has_samples,
    ),
    ActionRow(
        "choose_sample",
        "View > Samples",
        "Choose a sample…",
        "Ctrl+Alt+O",
        lambda w: w.preview.choose(),
        _has_samples,
    ),
    ActionRow("paste_message", "View > Samples", "Paste a message…", "Ctrl+Alt+M", _paste, has_project),
    ActionRow(
        "whole_sample",
        "View > Samples",
        "Whole records",
        "Ctrl+Alt+W",
        _switch_whole,
        has_project,
        is_checked=lambda w: w.preview.panel.tools.whole.isChecked(),
    ),
    ActionRow(
        "sample_values",
        "View > Samples",
        "Values beside attributes",
        "Ctrl+Alt+D",
        lambda w: w.preview.switch_values(),
        has_project,
        is_checked=lambda w: w.settings.shows_values,
    ),
    ActionRow(
        "include_samples",
        "View > Samples",
        "Include samples of the schema in the project…",
        does=lambda w: w.preview.switch_included(),
        when=all_of(may_write, _schema_chosen),
        is_checked=lambda w: w.preview.is_included,
    ),
    ActionRow(
        "forget_samples", "View > Samples", "Forget samples…", does=lambda w: w.preview.forget(), when=has_project
    ),
    ActionRow(
        "hint_spot", "View", "Select the attribute of a value in the preview", "Enter, click", scope="block editor"
    ),
)
