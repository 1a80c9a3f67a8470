"""The one table of actions; menus, buttons, palette, keys and the shortcut sheet are built from it.

How to add one. A row says all of it: where it stands, what people read, its key, what it does and when it makes sense.

    ActionRow(
        "map_by_name", "Mapping", "Map the chosen fields by name", "Ctrl+M",
        does=lambda window: window.map.map_by_name(),
        when=all_of(can_edit, nodes_on_both_sides),
    )

- A row stands in the tuple of its subject: in ``map_page``, ``map_docks``, ``review_page`` or ``run_page``; those of
  the settings in ``SETTING_ROWS`` and those of the shell in ``TABLE``, both below. ``ROOMS`` of ``menus`` lists all
  tuples, ``ORDER`` there says where a row stands within its menu.
- ``does`` gets the window. It is one call of a method; work that can take 50 ms is a job (``window.jobs``).
- ``when`` is a condition of ``conditions``, or one of your own: a cheap question about the window. It is asked again
  after every change of project, document, selection or page. When your own state changes, call
  ``window.actions_table.refresh()``.
- A sub-menu is written ``"View > Overlay"``; ``ORDER`` says where it stands, and its rows too unless they stand in the
  order of their tuple; then ``begins_section`` draws a line above one. ``actions_table.add_live_menu`` makes it one
  that is filled whenever it opens.
- A row with ``is_checked`` has a check mark; with the same ``radio`` it is one of several choices. The mark is what
  ``is_checked`` returns, not what was clicked: ``does`` changes the state, the row follows.
- ``says`` replaces the text by what is so now (``Undo “Map payer_id”``).
- ``scope`` is the view whose key it is: ``window``, or ``matrix`` or ``review list`` for keys of one letter. Those
  belong to the view with the focus, so they never reach a text field or a tree.
- A row without ``does`` is a gesture or a key that its view reads itself: it is on the sheet and in no menu.
- View > Panels needs no rows: it lists the docks of the page in front.

``window.notify("words", "Review now", callback)`` shows what came of it, without taking the focus.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.exports.picture import export_picture
from metl_gui.ui.shell.conditions import (
    Condition,
    all_of,
    always,
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


MENUS = ("File", "Edit", "View", "Schema", "Mapping", "Run", "Tools", "Help")
SCOPES = ("window", "matrix", "review list", "block editor", "trees")


@dataclass(frozen=True)
class ActionRow:
    """One action.

    Args:
        id: its name in code.
        menu: the menu it stands in, ``View > Overlay`` for a sub-menu.
        text: what people read.
        shortcut: its keys by default, empty for none.
        does: what it does, given the window; ``None`` for a gesture or key that its view reads itself.
        when: whether it makes sense now.
        begins_section: whether a line stands above it in a sub-menu that ``menus`` does not arrange.
        is_checked: whether its mark is set; ``None`` for no mark.
        radio: name of the choice that it is one of.
        says: its words as things are now; ``None`` for ``text``.
        scope: the view whose focus its key needs.
        also: a second key of the table; a person's own keys stand for both.
    """

    id: str
    menu: str
    text: str
    shortcut: str = ""
    does: Callable[[Window], object] | None = None
    when: Condition = has_project
    begins_section: bool = False
    is_checked: Condition | None = None
    radio: str = ""
    says: Callable[[Window], str] | None = None
    scope: str = "window"
    also: str = ""

    @property
    def is_hint(self) -> bool:
        """Whether it is on the sheet only."""
        return self.does is None

    @property
    def words(self) -> str:
        """The text as it stands in lists, without the mark of a dialog that follows."""
        return self.text.removesuffix("…")


def _titled(verb: str, at: int) -> Callable[[Window], str]:
    def words(window: Window) -> str:
        title = window.facts.titles[at]
        return f"{verb} “{title}”" if title else verb

    return words


def _theme_row(name: str, words: str) -> ActionRow:
    return ActionRow(
        f"theme_{name or 'system'}",
        "View > Theme",
        words,
        does=lambda w: w.dressing.choose(name),
        when=always,
        is_checked=lambda w: w.settings.theme == name,
        radio="theme",
    )


def _size_row(percent: int) -> ActionRow:
    return ActionRow(
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
    ActionRow("new", "File", "New project…", "Ctrl+N", lambda w: w.commands.new_project(), always),
    ActionRow("open", "File", "Open project…", "Ctrl+O", lambda w: w.commands.ask_and_open(), always),
    ActionRow("sample", "File", "Open the sample project", "", lambda w: w.commands.open_sample(), always),
    ActionRow(
        "import_registry",
        "File",
        "Import from a registry…",
        "Ctrl+Shift+I",
        lambda w: w.registries.browse(),
        can_begin,
    ),
    ActionRow("paste_files", "File", "Look at copied files", "Ctrl+Alt+V", lambda w: w.drops.paste(), always),
    ActionRow("name_state", "File", "Name this state…", "Ctrl+S", lambda w: w.commands.name_state(), may_write),
    ActionRow("save_copy", "File", "Save a copy as…", does=lambda w: w.commands.save_copy()),
    ActionRow("export", "File", "Export the matrix…", does=lambda w: w.commands.ask_and_export()),
    ActionRow("export_picture", "File", "Export a picture of the matrix…", does=export_picture),
    ActionRow("close", "File", "Close project", "Ctrl+W", lambda w: w.commands.close_project()),
    ActionRow("quit", "File", "Quit", "Ctrl+Q", lambda w: w.close(), always),
    ActionRow("undo", "Edit", "Undo", "Ctrl+Z", lambda w: w.project.undo(), can_undo, says=_titled("Undo", 0)),
    ActionRow("redo", "Edit", "Redo", "Ctrl+Shift+Z", lambda w: w.project.redo(), can_redo, says=_titled("Redo", 1)),
    ActionRow("find", "Edit", "Search everywhere", "Ctrl+F", lambda w: w.find_everywhere()),
    ActionRow("map_page", "View", "Map", "Ctrl+1", lambda w: w.show_page(0)),
    ActionRow("review_page", "View", "Review", "Ctrl+2", lambda w: w.show_page(1)),
    ActionRow("run_page", "View", "Run", "Ctrl+3", lambda w: w.show_page(2)),
    ActionRow("fit", "View", "Fit the whole matrix", "F", lambda w: w.map.matrix.fit(), scope="matrix"),
    ActionRow(
        "fit_selection", "View", "Fit the selection", "Z", lambda w: w.map.matrix.fit_selection(), scope="matrix"
    ),
    ActionRow("next_panel", "View > Panels", "Next panel", "F6", lambda w: cycle_focus(w, 1), always),
    ActionRow("previous_panel", "View > Panels", "Panel before", "Shift+F6", lambda w: cycle_focus(w, -1), always),
    _theme_row("", "As the system has it"),
    _theme_row("light", "Light theme"),
    _theme_row("dark", "Dark theme"),
    ActionRow(
        "larger", "View > Size", "Everything larger", "Ctrl++", lambda w: w.dressing.step(1), always, also="Ctrl+="
    ),
    ActionRow("smaller", "View > Size", "Everything smaller", "Ctrl+-", lambda w: w.dressing.step(-1), always),
    ActionRow("normal_size", "View > Size", "Normal size", "Ctrl+0", lambda w: w.dressing.scale_to(100), always),
    *(_size_row(percent) for percent in SCALES),
    ActionRow(
        "import_schema",
        "Schema",
        "Import extraction schemas…",
        "Ctrl+I",
        lambda w: w.commands.ask_and_import(Side.EXTRACTION),
        can_edit,
    ),
    ActionRow(
        "import_folder",
        "Schema",
        "Import a folder of extraction schemas…",
        does=lambda w: w.commands.ask_and_import_folder(),
        when=can_edit,
    ),
    ActionRow(
        "import_cdm",
        "Schema",
        "Import the canonical model…",
        does=lambda w: w.commands.ask_and_import(Side.CDM),
        when=can_edit,
    ),
    ActionRow("try_schemas", "Schema", "Only try schemas…", does=lambda w: w.drops.trials.ask_and_try()),
    ActionRow(
        "resume_import",
        "Schema",
        "Go on with the interrupted import",
        does=lambda w: w.commands.resume_imports(),
        when=all_of(can_edit, lambda w: w.interrupted.is_there),
    ),
    ActionRow(
        "forget_import",
        "Schema",
        "Forget the interrupted import",
        does=lambda w: w.interrupted.forget(),
        when=all_of(can_edit, lambda w: w.interrupted.is_there),
    ),
    ActionRow(
        "remove_version",
        "Schema",
        "Remove the selected version…",
        does=lambda w: w.commands.remove_version(),
        when=all_of(can_edit, version_selected),
    ),
    ActionRow(
        "import_csv",
        "Mapping",
        "Import a mapping table…",
        does=lambda w: w.commands.ask_and_import_table(),
        when=can_edit,
    ),
    ActionRow(
        "confirm",
        "Mapping",
        "Confirm the new block",
        "Ctrl+Return",
        lambda w: w.on_review(w.review.confirm),
        all_of(can_edit, something_waits),
    ),
    ActionRow(
        "next_item",
        "Mapping",
        "Next decision",
        "N",
        lambda w: w.on_review(w.review.list.next),
        something_waits,
        scope="review list",
    ),
    ActionRow(
        "later",
        "Mapping",
        "Decide later",
        "L",
        lambda w: w.on_review(w.review.postpone),
        all_of(can_edit, something_waits),
        scope="review list",
    ),
    ActionRow(
        "retire",
        "Mapping",
        "Retire the block…",
        does=lambda w: w.on_review(w.review.retire),
        when=all_of(can_edit, something_waits),
    ),
    ActionRow(
        "confirm_same",
        "Mapping > Many at once",
        "Confirm all that are smaller…",
        does=lambda w: w.commands.confirm_smaller(),
        when=all_of(can_edit, something_waits),
    ),
    ActionRow("run", "Run", "Test run", "F5", lambda w: w.run(), can_run),
    ActionRow("stop", "Run", "Stop the run", "Shift+F5", lambda w: w.run_page.stop(), is_running),
    ActionRow("choose_source", "Run", "Choose the messages…", does=lambda w: w.choose_source()),
    ActionRow("palette", "Tools", "Do anything…", "Ctrl+Shift+P", lambda w: w.commands.show_palette(), always),
    ActionRow("change_keys", "Tools", "Keys…", "", lambda w: w.commands.change_keys(), always),
    ActionRow("shortcuts", "Help", "Keys", "F1", lambda w: w.commands.show_keys(), always, also="?"),
    ActionRow("glossary", "Help", "Glossary", "", lambda w: w.commands.show_glossary(), always),
    ActionRow("about", "Help", "About METL Workbench", does=lambda w: w.commands.show_about(), when=always),
    ActionRow("hint_enter", "Mapping", "Take the first answer of the card in focus", "Enter", scope="review list"),
)


def _source_chosen(window: Window) -> bool:
    return window.selection.current.source is not None


def _target_chosen(window: Window) -> bool:
    return window.selection.current.target is not None


SETTING_ROWS = (
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
