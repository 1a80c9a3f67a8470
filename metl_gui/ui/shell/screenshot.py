"""Pictures of the window on a project, taken without a screen: for the demo and for the documentation."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QSettings
from PySide6.QtWidgets import QApplication

from metl_gui.core.trees.nodes import Side
from metl_gui.errors import ProjectError
from metl_gui.own_files import is_own
from metl_gui.ui.context.app_context import PAGES
from metl_gui.ui.jobs.jobs import SynchronousJobs
from metl_gui.ui.matrix.layout.camera import Camera, tallest_cell, widest_cell
from metl_gui.ui.project.selection import Selected, place_of_version
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import theme as themes
from metl_gui.workbench.session import Workbench

SIZE = (1600, 1000)


def take_screenshot(project: Path, picture: Path, page: str = "Map", theme: str = "light") -> None:
    """Open a project read only and save a picture of one page.

    Without an application of its own yet, the process gets one that needs no display.

    Raises:
        ProjectError: the project cannot be opened, or the picture cannot be written.
    """
    with posed_window(project, theme) as window:
        window.show_page(PAGES.index(page))
        save_picture(window, picture)


@contextmanager
def posed_window(
    project: Path, theme: str, size: tuple[int, int] = SIZE, for_editing: bool = False
) -> Iterator[Window]:
    """Open a window on a project at the decision with most to say; its jobs end at once."""
    app = _application()
    themes.choose(app, themes.load(theme))
    with tempfile.TemporaryDirectory() as folder:
        settings = QSettings(str(Path(folder) / "view.ini"), QSettings.Format.IniFormat)
        window = Window(settings, SynchronousJobs(), warms_up=False)
        themes.dress(app)
        window.resize(*size)
        window.show()
        try:
            window.show_project(Workbench.open(project, for_editing))
            _settle()
            show_decision(window)
            yield window
        finally:
            window.close()
            window.deleteLater()
            _settle()


def show_decision(window: Window) -> None:
    """Select the decision with most to say and look at its cells; without any look at everything."""
    items = window.project.review_items()
    if not items:
        return
    item = max(items, key=lambda each: len(each.losses))
    document, (v, w) = window.project.value, item.key
    element = item.block.elements[0] if item.block.elements else None
    source = place_of_version(document, Side.EXTRACTION, v, element.p if element else None)
    target = place_of_version(document, Side.CDM, w, element.q if element else None)
    window.selection.choose(Selected(source, target))
    matrix = window.map.matrix
    frame = matrix.frame
    wide, tall = widest_cell(), tallest_cell()
    matrix.look(Camera(matrix.camera.left, matrix.camera.top, wide, tall).held(frame))
    if matrix.content is None:
        return
    columns, rows = matrix.content.columns, matrix.content.rows
    right, top = (columns.span_of_version(v) or (0.0, 0.0))[1], (rows.span_of_version(w) or (0.0, 0.0))[0]
    matrix.look(Camera(right - frame.width / wide + 0.8, top - 1.2, wide, tall).held(frame))


def save_picture(window: Window, picture: Path, prepare: Callable[[], object] | None = None) -> None:
    """Save what the window shows.

    Raises:
        ProjectError: the file cannot be written.
    """
    if prepare is not None:
        prepare()
    _settle()
    picture.parent.mkdir(parents=True, exist_ok=True)
    if not window.grab().save(str(picture)):
        raise ProjectError(f"The picture {picture} cannot be written.", hint="Choose another folder.")
    if is_own(picture):
        picture.chmod(0o600)


def _application() -> QApplication:
    found = QApplication.instance()
    if isinstance(found, QApplication):
        return found
    platform = [] if os.environ.get("QT_QPA_PLATFORM") else ["-platform", "offscreen"]
    return QApplication(["metl-gui", *platform])


def _settle() -> None:
    """Let layouts and deferred deletions happen."""
    for _ in range(3):
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
