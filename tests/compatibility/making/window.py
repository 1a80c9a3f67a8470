"""A window that somebody arranged, and what its settings then hold.

    python -m tests.compatibility.making.window PROJECT SETTINGS LOOK

A process of its own, because a window of Qt asks for its surroundings before anything else.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QApplication

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.jobs.jobs import SynchronousJobs
from metl_gui.ui.project.selection import Selected, place_of_version
from metl_gui.ui.registries.controller import Watched
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import theme as themes
from metl_gui.workbench.session import Workbench
from tests.compatibility.looks import RESIZED, look_of
from tests.compatibility.making.project import ORDERS


def main(project: Path, settings: Path, look: Path) -> None:
    """Arrange a window, close it, and describe the next one."""
    application = QApplication([])
    themes.apply(application, themes.load("light"))
    window = _opened(project, settings)
    _arrange(window, project)
    window.close()
    again = _opened(project, settings)
    look.write_text(json.dumps(look_of(again), indent=1) + "\n", "utf-8")
    again.close()


def _opened(project: Path, settings: Path) -> Window:
    window = Window(QSettings(str(settings), QSettings.Format.IniFormat), SynchronousJobs(), warms_up=False)
    window.resize(1600, 1000)
    window.show()
    window.show_project(Workbench.open(project))
    QApplication.processEvents()
    return window


def _arrange(window: Window, project: Path) -> None:
    kept = window.settings
    kept.keys = {"publish": "Ctrl+Alt+P", "mapping_list": ""}
    kept.who = "Ada Example"
    for name in ("elsewhere.metl", "older.metl", project.name):
        kept.remember_project(project.with_name(name))
    for id_ in ("publish", "undo", "mapping_list"):
        kept.remember_action(id_)
    kept.remember_export("csv", project.with_name("exports"))
    kept.save_watched("another-project", [Watched("@registry", Side.CDM).as_json()])
    window.run_page.targets.remember("spark://cluster.example:7077")
    window.run_page.targets.remember("sc://connect.example:15002")
    for id_ in ("theme_dark", "size_110", "time_slider", "sample_values", "mapping_list"):
        window.actions_table[id_].trigger()
    QApplication.processEvents()
    for page in (1, 2, 0):
        window.show_page(page)
        QApplication.processEvents()
    window.map.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, window.map.target_dock)
    window.map.block_dock.setFloating(True)
    window.preview.dock.hide()
    header = window.lists.mapping.view.horizontalHeader()
    header.moveSection(0, 2)
    header.resizeSection(RESIZED, 177)
    window.lists.mapping.column_menu().actions()[1].trigger()
    document = window.project.value
    orders = document.extraction.named(ORDERS)
    if orders is None:
        raise SystemExit(f"the project has no {ORDERS} any more")
    version = document.extraction.version(orders.version_ids[-1])
    place = place_of_version(document, Side.EXTRACTION, version.id, version.attributes[0].id)
    window.selection.choose(Selected(place))
    window.map.sources.filter_now("payments")
    window.map.targets.view.expand(window.map.targets.view.model().index(0, 0))
    plane = window.map.matrix.place()
    if plane is not None:
        window.map.going.bookmarks.add("Orders", plane)
    QApplication.processEvents()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
