"""Lists without rows, in an empty project: none of them draws a bar to scroll by."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractItemView, QApplication, QDockWidget

from metl_gui.ui.context.app_context import PAGES
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.session import Workbench


def with_bars(view: QAbstractItemView) -> bool:
    return any(bar.isVisible() for bar in (view.verticalScrollBar(), view.horizontalScrollBar()))


@pytest.mark.parametrize("size", [(1600, 1000), (1100, 700)])
def test_an_empty_list_draws_no_bar(make_window: Callable[[], Window], tmp_path: Path, size: tuple[int, int]) -> None:
    window = make_window()
    window.show_project(Workbench.create(tmp_path / "empty.metl", who="Ada"))
    window.resize(*size)
    seen: set[str] = set()
    for page in range(len(PAGES)):
        window.show_page(page)
        front = window.stack.currentWidget()
        assert front is not None
        for dock in front.findChildren(QDockWidget):
            dock.show()
            dock.raise_()
            QApplication.processEvents()
            views = [view for view in front.findChildren(QAbstractItemView) if view.isVisible()]
            empty = [view for view in views if view.model() is not None and not view.model().rowCount()]
            assert [view.accessibleName() for view in empty if with_bars(view)] == []
            seen.update(view.accessibleName() for view in empty)
    assert {"Mapping list", "Answers of the reverse search", "Messages by entity"} <= seen


def test_the_bar_is_back_with_the_first_row(window: Window) -> None:
    window.show_lists().show_mapping()
    view = window.lists.mapping.view
    window.lists.mapping.filter_now("nothing is called so")
    QApplication.processEvents()
    assert (view.model().rowCount(), view.horizontalScrollBar().isVisible()) == (0, False)
    window.lists.mapping.filter_now("")
    QApplication.processEvents()
    assert view.model().rowCount() > 0
    assert view.horizontalScrollBar().maximum() == 0 or view.horizontalScrollBar().isVisible()
