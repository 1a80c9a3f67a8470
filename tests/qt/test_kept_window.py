"""A window with the settings of an earlier version stands as it was left, and shows the runs of its project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QApplication

from metl_gui.ui.shell.window import Window
from metl_gui.workbench.session import Workbench
from tests.compatibility.answers import lacking
from tests.compatibility.installed import Installed
from tests.compatibility.looks import look_of


def test_a_window_with_kept_settings_has_docks_columns_keys_and_recent_projects_as_they_were_left(
    kept: Installed, make_window: Callable[[], Window], tmp_path: Path
) -> None:
    (tmp_path / "view.ini").write_bytes(kept.filled_in((kept.kept / "window.ini").read_bytes()))
    window = make_window()
    window.show_project(Workbench.open(kept.project))
    QApplication.processEvents()
    assert list(lacking(kept.json("window.json"), look_of(window))) == []


def test_the_history_of_a_window_lists_and_shows_every_run_of_a_kept_project(
    kept: Installed, make_window: Callable[[], Window]
) -> None:
    window = make_window()
    window.show_project(Workbench.open(kept.project))
    window.show_page(2)
    history = window.run_page.setup.history
    listed = kept.json("answers/runs.json")["runs"]
    rows = {history.model.row_of(run["run_id"]) for run in listed}
    assert rows == set(range(history.model.rowCount()))
    for run in listed:
        history.view.setCurrentIndex(history.model.index_of(run["run_id"]))
        QApplication.processEvents()
        shown = window.run_page.report or {}
        assert (shown["run_id"], shown["read"]) == (run["run_id"], run["report"]["read"])
