"""The one table of actions: the rows of every part of the window, and the order of the menus.

A row says only which menu it belongs to; ``ORDER`` has the menus as people read them: what stands together, in which
order, with a line between sections. ``> Name`` is a sub-menu. What ``ORDER`` does not name stands at the end of its
menu, in the order of ``ROOMS``.

How to add one. A row says all of it: where it stands, what people read, its key, what it does and when it makes sense.

    WindowRow(
        "map_by_name", "Mapping", "Map the chosen fields by name", "Ctrl+M",
        does=lambda window: window.map.map_by_name(),
        when=all_of(can_edit, nodes_on_both_sides),
    )

- A row stands in the tuple of its subject: in ``map_actions``, ``map_dock_actions``, ``review_actions``,
  ``run_actions``, ``warehouse_actions`` or ``window_actions``. ``ROOMS`` below lists all tuples, ``ORDER`` says where a
  row stands within its menu.
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

from metl_gui.ui.shell.action_rows import (
    map_actions,
    map_dock_actions,
    review_actions,
    run_actions,
    warehouse_actions,
    window_actions,
)
from metl_gui.ui.shell.action_rows.conditions import WindowRow

ROOMS: tuple[tuple[WindowRow, ...], ...] = (
    window_actions.TABLE,
    map_actions.MAP_ROWS,
    map_actions.MATRIX_ROWS,
    map_actions.BLOCK_ROWS,
    map_dock_actions.LIST_ROWS,
    map_dock_actions.OWNER_ROWS,
    map_dock_actions.SUGGESTION_ROWS,
    map_dock_actions.PREVIEW_ROWS,
    review_actions.REVIEW_ROWS,
    run_actions.RUN_ROWS,
    warehouse_actions.WAREHOUSE_ROWS,
    review_actions.HISTORY_ROWS,
    window_actions.SETTING_ROWS,
)
"""The rows of every part of the window, the shell's first."""


def all_rows() -> tuple[WindowRow, ...]:
    """Return the whole table."""
    return tuple(row for rows in ROOMS for row in rows)


ORDER: dict[str, tuple[tuple[str, ...], ...]] = {
    "File": (
        ("new", "open", "> Open recent", "sample", "import_registry", "paste_files", "open_link"),
        ("name_state", "save_copy", "project_settings"),
        ("export", "export_picture"),
        ("close", "quit"),
    ),
    "Edit": (
        ("undo", "redo", "undo_state"),
        ("copy_block", "paste_block", "clear_element", "copy_link"),
        ("find", "filter_sources", "filter_targets"),
    ),
    "View": (
        ("map_page", "review_page", "run_page", "warehouse_page"),
        ("fit", "fit_selection", "two_views", "review_in_matrix", "> Go"),
        ("relevance", "show_everything", "> Fold and pin", "> Order of rows and columns", "> Overlay"),
        ("mapping_list", "what_feeds", "where_goes", "progression", "gaps"),
        ("preview", "> Samples"),
        ("> History", "> Panels", "> Theme", "> Size"),
    ),
    "View > Go": (
        ("back", "forward", "up_a_level"),
        ("go_to", "add_bookmark", "> Bookmarks"),
        ("next_waiting", "next_difference"),
    ),
    "View > Fold and pin": (("fold_column", "fold_row"), ("pin_column", "pin_row"), ("unfold_all",)),
    "View > Samples": (
        ("next_sample", "previous_sample", "choose_sample", "paste_message"),
        ("whole_sample", "sample_values"),
        ("include_samples", "forget_samples"),
    ),
    "View > History": (
        ("history", "why", "time_slider"),
        ("older_state", "newer_state", "back_to_now"),
        ("compare_with_now", "compare_with_live", "compare_with_file"),
    ),
    "Schema": (
        ("import_schema", "import_folder", "import_cdm", "try_schemas", "> Watch for new versions"),
        ("resume_import", "forget_import"),
        ("new_entity", "new_entity_like", "new_entity_version", "rename_attribute", "remove_version"),
        ("same_as", "not_same_as", "comment", "mask", "never_map"),
        ("schema_settings", "entity_settings"),
    ),
    "Mapping": (
        ("map_chosen", "map_by_name", "map_by_position", "unmap_chosen", "> Other versions"),
        ("open_block", "previous_block", "next_block", "block_versions"),
        (
            "suggestions",
            "project_suggestions",
            "next_suggestion",
            "refuse_suggestion",
            "accept_sure",
            "refused_suggestions",
        ),
        ("> Answer", "confirm", "retire", "next_item", "later", "assign_item", "> Many at once", "next_for_second"),
        ("import_csv", "send_sheet", "read_sheet"),
    ),
    "Mapping > Other versions": (
        ("scope_all", "scope_later", "scope_this", "switch_scope"),
        ("scope_entity_versions",),
        ("apply_to_all", "map_like_before", "map_like_others"),
    ),
    "Mapping > Many at once": (("confirm_shown", "confirm_same", "later_shown", "assign_shown"),),
    "Run": (
        ("run", "stop", "choose_source", "choose_topics", "choose_sink_topics"),
        ("run_production", "replay", "cell_messages"),
        ("live_run", "run_lane", "> Lane", "run_details", "run_speed", "compare_runs", "pause_chart", "copy_chart"),
        ("run.profiles",),
        ("publish",),
    ),
    "Tools": (("palette", "change_keys"), ("> Warehouse",)),
    "Tools > Warehouse": (
        ("propose_model", "import_model", "export_model"),
        ("load_warehouse", "plan_load", "audit_warehouse", "rebuild_warehouse"),
        ("key_timeline", "fact_reason", "missing_members", "warehouse_dictionary", "warehouse_sql"),
    ),
}
"""Sections of ids by the path of their menu."""
