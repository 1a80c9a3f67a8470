"""The actions of the Warehouse page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metl_gui.ui.context.app_context import PAGES
from metl_gui.ui.shell.action_rows.conditions import WindowRow, all_of, can_edit, can_run, has_project

if TYPE_CHECKING:
    from metl_gui.ui.shell.window import Window

_MENU = "Tools > Warehouse"


def _has_model(window: Window) -> bool:
    return has_project(window) and bool(window.project.value.models)


def _can_load(window: Window) -> bool:
    return _has_model(window) and window.warehouse.page.load.load.isEnabled()


def _can_audit(window: Window) -> bool:
    return _has_model(window) and window.warehouse.page.load.audit.isEnabled()


def _load(window: Window) -> None:
    window.show_page(PAGES.index("Warehouse"))
    window.warehouse.load()


def _plan(window: Window) -> None:
    window.show_page(PAGES.index("Warehouse"))
    window.warehouse.plan()


def _audit(window: Window) -> None:
    window.show_page(PAGES.index("Warehouse"))
    window.warehouse.audit()


def _rebuild(window: Window) -> None:
    window.show_page(PAGES.index("Warehouse"))
    window.warehouse.rebuild()


def _choose_key(window: Window) -> None:
    window.show_page(PAGES.index("Warehouse"))
    window.warehouse.page.timeline_dock.show()
    window.warehouse.page.timeline_dock.raise_()
    window.warehouse.timelines.choose_key()


def _shows_dimension(window: Window) -> bool:
    return _has_model(window) and window.warehouse.page.timeline.choose.isEnabled()


def _choose_fact(window: Window) -> None:
    window.show_page(PAGES.index("Warehouse"))
    window.warehouse.timelines.reasons.choose_fact()


def _shows_fact(window: Window) -> bool:
    return _has_model(window) and window.warehouse.page.timeline.fact.isEnabled()


def _missing(window: Window) -> None:
    window.show_page(PAGES.index("Warehouse"))
    window.warehouse.timelines.show_missing()


WAREHOUSE_ROWS = (
    WindowRow("propose_model", _MENU, "Propose a warehouse model", does=lambda w: w.warehouse.propose(), when=can_edit),
    WindowRow("import_model", _MENU, "Import a warehouse model…", does=lambda w: w.warehouse.bring(), when=can_edit),
    WindowRow(
        "export_model", _MENU, "Export the warehouse model…", does=lambda w: w.warehouse.export(), when=_has_model
    ),
    WindowRow("load_warehouse", _MENU, "Load the warehouse", does=_load, when=all_of(can_run, _can_load)),
    WindowRow("plan_load", _MENU, "Plan a load", does=_plan, when=all_of(can_run, _can_load)),
    WindowRow("audit_warehouse", _MENU, "Audit the warehouse", does=_audit, when=_can_audit),
    WindowRow("rebuild_warehouse", _MENU, "Rebuild the warehouse", does=_rebuild, when=_can_audit),
    WindowRow("key_timeline", _MENU, "Timeline of a key…", does=_choose_key, when=_shows_dimension),
    WindowRow("fact_reason", _MENU, "Why a fact is so…", does=_choose_fact, when=_shows_fact),
    WindowRow("missing_members", _MENU, "Members that are missing…", does=_missing, when=_can_audit),
    WindowRow(
        "warehouse_dictionary",
        _MENU,
        "Write the dictionary of the warehouse…",
        does=lambda w: w.warehouse.write_dictionary(),
        when=_has_model,
    ),
    WindowRow("warehouse_sql", _MENU, "SQL of the plan", does=lambda w: w.warehouse.show_sql(), when=_has_model),
    WindowRow("hint_star_go", "Tools", "Go from box to box of the star", "Arrows", scope="star diagram"),
    WindowRow("hint_star_move", "Tools", "Move a box of the star", "Shift+arrows, drag", scope="star diagram"),
    WindowRow("hint_star_zoom", "Tools", "Zoom, fit the star", "Wheel, +, -, F", scope="star diagram"),
    WindowRow("hint_star_accept", "Tools", "Accept a proposed table", "Enter, double click", scope="star diagram"),
)
