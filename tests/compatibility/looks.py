"""How a window looks, as far as its settings decide it, in words that do not depend on fonts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QComboBox, QDockWidget, QHeaderView, QMainWindow, QMenu, QTreeView

from metl_gui.ui.shell.window import Window

RESIZED = 0
"""A column of the mapping list."""


def look_of(window: Window) -> dict[str, Any]:
    """Describe a window; the page in front is the one that it was left on."""
    front = window.stack.currentIndex()
    actions = window.actions_table
    docks: dict[str, dict[str, Any]] = {}
    for page in range(3):
        window.show_page(page)
        QApplication.processEvents()
        docks.update(_docks(window.stack.currentWidget()))
    window.show_page(front)
    recent = actions.menu("File > Open recent")
    return {
        "page": front,
        "docks": docks,
        "columns": _columns(window.lists.mapping.view.horizontalHeader()),
        "recent": [name for name, _ in _entries(recent)],
        "targets": _offered(window.run_page.setup.target.box),
        "themes": [name for name, is_on in _entries(actions.menu("View > Theme")) if is_on],
        "sizes": [name for name, is_on in _entries(actions.menu("View > Size")) if is_on],
        "keys": {id_: actions[id_].shortcut().toString() for id_ in ("publish", "mapping_list")},
        "shown": {id_: actions[id_].isChecked() for id_ in ("time_slider", "sample_values")},
        "selected": window.status.place.text(),
        "filters": [window.map.sources.box.text(), window.map.targets.box.text()],
        "open rows": [_open_rows(window.map.sources.view), _open_rows(window.map.targets.view)],
        "bookmarks": window.map.going.bookmarks.names(),
        "name": window.settings.who,
        "last project": Path(window.settings.last_open or "").name,
        "last export": [Path(text).name for text in window.settings.last_export],
        "watched elsewhere": window.settings.watched("another-project"),
        "recent actions": window.settings.recent_actions,
    }


def _docks(page: object) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(page, QMainWindow):
        for dock in page.findChildren(QDockWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
            look = {
                "area": page.dockWidgetArea(dock).name,
                "is floating": dock.isFloating(),
                "is hidden": dock.isHidden(),
                "beside": sorted(other.objectName() for other in page.tabifiedDockWidgets(dock)),
            }
            yield dock.objectName(), look


def _columns(header: QHeaderView) -> list[str]:
    """Name the columns that are shown, in their order, and the width of the one that was resized."""
    model = header.model()
    order = [header.logicalIndex(at) for at in range(header.count())]
    shown = [at for at in order if not header.isSectionHidden(at)]
    names = [str(model.headerData(at, Qt.Orientation.Horizontal)) for at in shown]
    return [*names, f"{header.sectionSize(RESIZED)} px"]


def _entries(menu: QMenu) -> list[tuple[str, bool]]:
    menu.aboutToShow.emit()
    return [(action.text(), action.isChecked()) for action in menu.actions()]


def _offered(box: QComboBox) -> list[str]:
    return [box.itemText(at) for at in range(box.count())]


def _open_rows(view: QTreeView) -> list[str]:
    model = view.model()
    rows = [model.index(row, 0) for row in range(model.rowCount())]
    return [str(row.data()) for row in rows if view.isExpanded(row)]
