"""The menus as people read them: what stands together, in which order, with a line between sections.

Rooms say in their rows which menu an action belongs to; only here one sees them all. ``> Name`` is a sub-menu. What is
not named here stands at the end of its menu, in the order in which the rooms bring it.
"""

from __future__ import annotations

SUB_MENU = "> "

ORDER: dict[str, tuple[tuple[str, ...], ...]] = {
    "File": (
        ("new", "open", "> Open recent", "sample", "import_registry", "paste_files"),
        ("name_state", "save_copy", "project_settings"),
        ("export", "export_picture"),
        ("close", "quit"),
    ),
    "Edit": (
        ("undo", "redo", "undo_state"),
        ("copy_block", "paste_block", "clear_element"),
        ("find", "filter_sources", "filter_targets"),
    ),
    "View": (
        ("map_page", "review_page", "run_page"),
        ("fit", "fit_selection", "up_a_level", "> Go"),
        ("next_waiting", "next_difference", "review_in_matrix"),
        ("relevance", "show_everything", "> Order of rows and columns", "> Overlay"),
        ("mapping_list", "what_feeds", "where_goes", "progression", "gaps"),
        ("preview", "> Samples"),
        ("> History", "> Panels", "> Theme", "> Size"),
    ),
    "View > Go": (("back", "forward"), ("go_to", "add_bookmark", "> Bookmarks")),
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
        ("new_entity", "new_entity_version", "remove_version"),
        ("same_as", "not_same_as", "comment", "mask"),
        ("schema_settings", "entity_settings"),
    ),
    "Mapping": (
        ("map_chosen", "map_by_name", "map_by_position", "unmap_chosen"),
        ("open_block", "previous_block", "next_block", "block_versions"),
        ("suggestions", "next_suggestion", "refuse_suggestion", "accept_sure", "refused_suggestions"),
        ("> Answer", "confirm", "retire", "next_item", "later", "assign_item", "> Many at once", "next_for_second"),
        ("import_csv", "send_sheet", "read_sheet"),
    ),
    "Mapping > Many at once": (("confirm_shown", "confirm_same", "later_shown", "assign_shown"),),
    "Run": (
        ("run", "stop", "choose_source", "choose_topics", "choose_sink_topics"),
        ("run_production", "replay"),
        ("live_run", "run_lane", "> Lane", "run_details", "run_speed", "compare_runs", "pause_chart", "copy_chart"),
        ("run.profiles",),
        ("publish",),
    ),
}
"""Sections of ids by the path of their menu."""
