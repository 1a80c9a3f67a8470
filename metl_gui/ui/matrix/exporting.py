"""Writes a picture of the matrix from the window: asks what and where, and paints as a job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.ui import asking
from metl_gui.ui import theme as themes
from metl_gui.ui.jobs import Outcome
from metl_gui.ui.matrix.picture import Sheet, save
from metl_gui.ui.matrix.picture_dialog import PictureDialog, ask_for_file, sheets_of

if TYPE_CHECKING:
    from metl_gui.ui.window import Window


def export_picture(window: Window) -> None:
    """Ask what to show and where, and write the picture beside the window."""
    content = window.map.matrix.content
    if content is None:
        return
    seen = sheet_on_screen(window)
    dialog = PictureDialog(sheets_of(content, seen, seen.theme, seen.tinting), window)
    if dialog.exec() != PictureDialog.DialogCode.Accepted:
        return
    project = window.project.workbench
    path = ask_for_file(project.path.parent if project is not None else Path.home(), window)
    if path is not None:
        write_picture(window, dialog.sheet, path)


def sheet_on_screen(window: Window) -> Sheet:
    """Return what the matrix shows now as a picture to write."""
    matrix = window.map.matrix
    assert matrix.content is not None  # noqa: S101 - the action needs an open project
    frame = matrix.frame
    return Sheet(
        matrix.content, matrix.sight.snapped, (frame.width, frame.height), themes.current(), matrix.tiles.tinting
    )


def write_picture(window: Window, sheet: Sheet, path: Path) -> None:
    """Write a picture as a job, and say where it is."""

    def done(outcome: Outcome[Path]) -> None:
        if outcome.error is not None:
            asking.tell(outcome.error, window)
        elif outcome.value is not None:
            window.notify(f"The picture is {outcome.value}.")

    window.jobs.start("Painting the picture", lambda _watch: save(sheet, path), done)
