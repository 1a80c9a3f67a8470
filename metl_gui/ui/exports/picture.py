"""Pictures of the matrix written from the window: asked for by a dialog, painted in a job.

A picture shows what is on the screen, or all of the matrix at a level; the dialog gives the size of each, then asks for
the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QLabel,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from metl_gui.ui.jobs.jobs import JobOutcome
from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.layout.content import PlaneContent
from metl_gui.ui.matrix.painting.paint_context import Tinting
from metl_gui.ui.matrix.picture import MOST_PX, PictureSpec, ratio_of, save, whole
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.theme import Theme
from metl_gui.ui.widgets import dialogs

if TYPE_CHECKING:
    from metl_gui.ui.shell.window import Window


_LEVELS = (
    (Level.GROUP, "The whole matrix, groups"),
    (Level.SCHEMA, "The whole matrix, schemas and entities"),
    (Level.VERSION, "The whole matrix, versions"),
    (Level.ATTRIBUTE, "The whole matrix, single cells"),
)


class PictureDialog(QDialog):
    """One choice, then a file name.

    Args:
        sheets: what there is to choose from, with its words; what is on the screen comes first.
    """

    def __init__(self, sheets: Sequence[tuple[str, PictureSpec]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export a picture")
        self._sheets = [sheet for _, sheet in sheets]
        self.choices = QButtonGroup(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 18, 20, 16)
        layout.setSpacing(8)
        for number, (words, sheet) in enumerate(sheets):
            button = QRadioButton(f"{words}: {size_words(sheet)}")
            button.setEnabled(fits(sheet))
            self.choices.addButton(button, number)
            layout.addWidget(button)
        self.choices.button(0).setChecked(True)
        note = QLabel(f"PNG or SVG, by the file's name. A side may have {MOST_PX:,} pixels.")
        note.setProperty("kind", "dim")
        note.setWordWrap(True)
        layout.addWidget(note)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        save = self.buttons.addButton("Choose the file…", QDialogButtonBox.ButtonRole.AcceptRole)
        save.setProperty("kind", "primary")
        save.setDefault(True)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout.addWidget(self.buttons)

    @property
    def sheet(self) -> PictureSpec:
        """What was chosen."""
        return self._sheets[self.choices.checkedId()]


def sheets_of(
    content: PlaneContent, seen: PictureSpec, theme: Theme, tinting: Tinting
) -> list[tuple[str, PictureSpec]]:
    """Return what a picture can show; levels that one axis or the other has."""
    known = {*content.columns.levels, *content.rows.levels}
    levels = [(words, whole(content, level, theme, tinting)) for level, words in _LEVELS if level in known]
    return [("What is on the screen", seen), *levels]


def fits(sheet: PictureSpec) -> bool:
    """Whether a picture is not too large."""
    return max(sheet.width, sheet.height) <= MOST_PX


def size_words(sheet: PictureSpec) -> str:
    """Tell the size of a picture, or that it is too large."""
    if not fits(sheet):
        return f"{sheet.width:,} x {sheet.height:,} pixels are too many"
    ratio = ratio_of(sheet)
    return f"{round(sheet.width * ratio):,} x {round(sheet.height * ratio):,} pixels"


def ask_for_file(folder: Path, parent: QWidget | None = None) -> Path | None:
    """Ask where the picture goes, ``None`` when nobody wants it any more."""
    kinds = "Picture (*.png);;Drawing (*.svg)"
    name, kind = QFileDialog.getSaveFileName(parent, "Export a picture", str(folder / "matrix.png"), kinds)
    if not name:
        return None
    path = Path(name)
    return path if path.suffix else path.with_suffix(".svg" if "svg" in kind else ".png")


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


def sheet_on_screen(window: Window) -> PictureSpec:
    """Return what the matrix shows now as a picture to write."""
    matrix = window.map.matrix
    assert matrix.content is not None  # noqa: S101 - the action needs an open project
    frame = matrix.frame
    return PictureSpec(
        matrix.content, matrix.sight.snapped, (frame.width, frame.height), themes.current(), matrix.tiles.tinting
    )


def write_picture(window: Window, sheet: PictureSpec, path: Path) -> None:
    """Write a picture as a job, and say where it is."""

    def done(outcome: JobOutcome[Path]) -> None:
        if outcome.error is not None:
            dialogs.tell(outcome.error, window)
        elif outcome.value is not None:
            window.notify(f"The picture is {outcome.value}.")

    window.jobs.start("Painting the picture", lambda _watch: save(sheet, path), done)
