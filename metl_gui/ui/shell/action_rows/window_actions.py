"""Rows of the action table for the shell itself: files, undo, pages, imports, settings, themes, help."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.actions.table import EditCondition, always
from metl_gui.ui.shell.action_rows.conditions import (
    WindowRow,
    all_of,
    can_begin,
    can_edit,
    can_redo,
    can_run,
    can_undo,
    has_project,
    is_running,
    may_write,
    something_waits,
    version_selected,
)
from metl_gui.ui.shell.layout import cycle_focus
from metl_gui.ui.theming.controller import SCALES

if TYPE_CHECKING:
    from metl_gui.ui.shell.window import Window


def _titled(verb: str, at: int) -> Callable[[Window], str]:
    def words(window: Window) -> str:
        title = window.facts.titles[at]
        return f"{verb} “{title}”" if title else verb

    return words


def _theme_row(name: str, words: str) -> WindowRow:
    return WindowRow(
        f"theme_{name or 'system'}",
        "View > Theme",
        words,
        does=lambda w: w.dressing.choose(name),
        when=always,
        is_checked=lambda w: w.settings.theme == name,
        radio="theme",
    )


def _size_row(percent: int) -> WindowRow:
    return WindowRow(
        f"size_{percent}",
        "View > Size",
        f"{percent} %",
        does=lambda w: w.dressing.scale_to(percent),
        when=always,
        begins_section=percent == SCALES[0],
        is_checked=lambda w: w.settings.scale == percent,
        radio="size",
    )


TABLE = (
    WindowRow("new", "File", "New project…", "Ctrl+N", lambda w: w.commands.new_project(), always),
    WindowRow("open", "File", "Open project…", "Ctrl+O", lambda w: w.commands.ask_and_open(), always),
    WindowRow("sample", "File", "Open the sample project", "", lambda w: w.commands.open_sample(), always),
    WindowRow(
        "import_registry",
        "File",
        "Import from a registry…",
        "Ctrl+Shift+I",
        lambda w: w.registries.browse(),
        can_begin,
    ),
    WindowRow("paste_files", "File", "Look at copied files", "Ctrl+Alt+V", lambda w: w.drops.paste(), always),
    WindowRow("name_state", "File", "Name this state…", "Ctrl+S", lambda w: w.commands.name_state(), may_write),
    WindowRow("save_copy", "File", "Save a copy as…", does=lambda w: w.commands.save_copy()),
    WindowRow("export", "File", "Export the matrix…", does=lambda w: w.commands.ask_and_export()),
    WindowRow(
        "export_picture",
        "File",
        "Export a picture of the matrix…",
        does=lambda w: w.commands.export_picture(),
    ),
    WindowRow("close", "File", "Close project", "Ctrl+W", lambda w: w.commands.close_project()),
    WindowRow("quit", "File", "Quit", "Ctrl+Q", lambda w: w.close(), always),
    WindowRow("undo", "Edit", "Undo", "Ctrl+Z", lambda w: w.project.undo(), can_undo, says=_titled("Undo", 0)),
    WindowRow("redo", "Edit", "Redo", "Ctrl+Shift+Z", lambda w: w.project.redo(), can_redo, says=_titled("Redo", 1)),
    WindowRow("copy_link", "Edit", "Copy link", "Ctrl+Shift+C", lambda w: w.links.copy()),
    WindowRow("open_link", "File", "Open the copied link", "Ctrl+Shift+O", lambda w: w.links.open_copied(), always),
    WindowRow("find", "Edit", "Search everywhere", "Ctrl+F", lambda w: w.find_everywhere()),
    WindowRow("map_page", "View", "Map", "Ctrl+1", lambda w: w.show_page(0)),
    WindowRow("review_page", "View", "Review", "Ctrl+2", lambda w: w.show_page(1)),
    WindowRow("run_page", "View", "Run", "Ctrl+3", lambda w: w.show_page(2)),
    WindowRow("warehouse_page", "View", "Warehouse", "Ctrl+4", lambda w: w.show_page(3)),
    WindowRow("fit", "View", "Fit the whole matrix", "F", lambda w: w.map.sides.worked_in.fit(), scope="matrix"),
    WindowRow(
        "fit_selection",
        "View",
        "Fit the selection",
        "Z",
        lambda w: w.map.sides.worked_in.fit_selection(),
        scope="matrix",
    ),
    WindowRow("next_panel", "View > Panels", "Next panel", "F6", lambda w: cycle_focus(w, 1), always),
    WindowRow("previous_panel", "View > Panels", "Panel before", "Shift+F6", lambda w: cycle_focus(w, -1), always),
    _theme_row("", "As the system has it"),
    _theme_row("light", "Light theme"),
    _theme_row("dark", "Dark theme"),
    WindowRow(
        "larger", "View > Size", "Everything larger", "Ctrl++", lambda w: w.dressing.step(1), always, also="Ctrl+="
    ),
    WindowRow("smaller", "View > Size", "Everything smaller", "Ctrl+-", lambda w: w.dressing.step(-1), always),
    WindowRow("normal_size", "View > Size", "Normal size", "Ctrl+0", lambda w: w.dressing.scale_to(100), always),
    *(_size_row(percent) for percent in SCALES),
    WindowRow(
        "import_schema",
        "Schema",
        "Import extraction schemas…",
        "Ctrl+I",
        lambda w: w.imports.ask_and_import(Side.EXTRACTION),
        can_edit,
    ),
    WindowRow(
        "import_folder",
        "Schema",
        "Import a folder of extraction schemas…",
        does=lambda w: w.imports.ask_and_import_folder(),
        when=can_edit,
    ),
    WindowRow(
        "import_cdm",
        "Schema",
        "Import the canonical model…",
        does=lambda w: w.imports.ask_and_import(Side.CDM),
        when=can_edit,
    ),
    WindowRow("try_schemas", "Schema", "Only try schemas…", does=lambda w: w.drops.trials.ask_and_try()),
    WindowRow(
        "resume_import",
        "Schema",
        "Go on with the interrupted import",
        does=lambda w: w.imports.resume(),
        when=all_of(can_edit, lambda w: w.imports.interrupted.is_there),
    ),
    WindowRow(
        "forget_import",
        "Schema",
        "Forget the interrupted import",
        does=lambda w: w.imports.interrupted.forget(),
        when=all_of(can_edit, lambda w: w.imports.interrupted.is_there),
    ),
    WindowRow(
        "remove_version",
        "Schema",
        "Remove the selected version…",
        does=lambda w: w.commands.remove_version(),
        when=all_of(can_edit, version_selected),
    ),
    WindowRow(
        "import_csv",
        "Mapping",
        "Import a mapping table…",
        does=lambda w: w.imports.ask_and_import_table(),
        when=can_edit,
    ),
    WindowRow(
        "confirm",
        "Mapping",
        "Confirm the new block",
        "Ctrl+Return",
        lambda w: w.on_review(w.review.confirm),
        all_of(can_edit, something_waits),
    ),
    WindowRow(
        "next_item",
        "Mapping",
        "Next decision",
        "N",
        lambda w: w.on_review(w.review.list.next),
        something_waits,
        scope="review list",
    ),
    WindowRow(
        "later",
        "Mapping",
        "Decide later",
        "L",
        lambda w: w.on_review(w.review.postpone),
        all_of(can_edit, something_waits),
        scope="review list",
    ),
    WindowRow(
        "retire",
        "Mapping",
        "Retire the block…",
        does=lambda w: w.on_review(w.review.retire),
        when=all_of(can_edit, something_waits),
    ),
    WindowRow(
        "confirm_same",
        "Mapping > Many at once",
        "Confirm all that are smaller…",
        does=lambda w: w.commands.confirm_smaller(),
        when=all_of(can_edit, something_waits),
    ),
    WindowRow("run", "Run", "Test run", "F5", lambda w: w.run(), can_run),
    WindowRow("stop", "Run", "Stop the run", "Shift+F5", lambda w: w.run_page.stop(), is_running),
    WindowRow("choose_source", "Run", "Choose the messages…", does=lambda w: w.choose_source()),
    WindowRow("palette", "Tools", "Do anything…", "Ctrl+Shift+P", lambda w: w.commands.show_palette(), always),
    WindowRow("change_keys", "Tools", "Keys…", "", lambda w: w.commands.change_keys(), always),
    WindowRow("shortcuts", "Help", "Keys", "F1", lambda w: w.commands.show_keys(), always, also="?"),
    WindowRow("notices", "Help", "Last notices…", "", lambda w: w.notices.show_last(), always),
    WindowRow("glossary", "Help", "Glossary", "", lambda w: w.commands.show_glossary(), always),
    WindowRow("first_steps", "Help", "First steps", "", lambda w: w.first_steps.show_again(), always),
    WindowRow("about", "Help", "About METL Workbench", does=lambda w: w.commands.show_about(), when=always),
    WindowRow("hint_enter", "Mapping", "Take the first answer of the card in focus", "Enter", scope="review list"),
)


def _source_chosen(window: Window) -> bool:
    return window.selection.current.source is not None


def _target_chosen(window: Window) -> bool:
    return window.selection.current.target is not None


@EditCondition
def _second_is_awaited(window: Window) -> bool:
    return window.second.count > 0


SETTING_ROWS = (
    WindowRow(
        "schema_settings",
        "Schema",
        "Settings of the chosen schemas…",
        "Ctrl+Alt+S",
        lambda w: w.configuring.ask_of(Side.EXTRACTION),
        all_of(can_edit, _source_chosen),
    ),
    WindowRow(
        "entity_settings",
        "Schema",
        "Settings of the chosen entities…",
        "Ctrl+Alt+E",
        lambda w: w.configuring.ask_of(Side.CDM),
        all_of(can_edit, _target_chosen),
    ),
    WindowRow(
        "project_settings",
        "File",
        "Project settings…",
        "Ctrl+,",
        lambda w: w.configuring.ask_of_project(),
        has_project,
    ),
    WindowRow(
        "run.profiles",
        "Run",
        "Connections…",
        "Ctrl+Alt+C",
        lambda w: w.configuring.show_profiles(),
        always,
    ),
    WindowRow(
        "next_for_second",
        "Mapping",
        "Next block that a second person must confirm",
        "",
        lambda w: w.second.go_on(),
        _second_is_awaited,
    ),
)
