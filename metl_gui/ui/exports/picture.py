"""Pictures of the matrix written from the window: asked for by a dialog, painted in a job.

A picture shows what is on the screen, or all of the matrix at a level; the dialog gives the size of each, then asks for
the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialogButtonBox,
    QFileDialog,
    QLabel,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from metl_gui.ui.context.app_context import AppContext
from metl_gui.ui.jobs.jobs import JobOutcome
from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.layout.content import PlaneContent
from metl_gui.ui.matrix.painting.paint_context import Tinting
from metl_gui.ui.matrix.picture import MOST_PX, PictureSpec, ratio_of, save, whole
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.theme import Theme
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.fitted_dialog import FittedDialog

_LEVELS = (
    (Level.GROUP, "The whole matrix, groups"),
    (Level.SCHEMA, "The whole matrix, schemas and entities"),
    (Level.VERSION, "The whole matrix, versions"),
    (Level.ATTRIBUTE, "The whole matrix, single cells"),
)


class PictureDialog(FittedDialog):
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


def export_picture(context: AppContext, matrix: MatrixView) -> None:
    """Ask what to show and where, and write the picture beside the window."""
    content = matrix.content
    if content is None:
        return
    seen = sheet_on_screen(content, matrix)
    dialog = PictureDialog(sheets_of(content, seen, seen.theme, seen.tinting), context.window)
    if dialog.exec() != PictureDialog.DialogCode.Accepted:
        return
    path = ask_for_file(context.project.folder, context.window)
    if path is not None:
        write_picture(context, replace(dialog.sheet, refused=matrix.tiles.refused), path)


def sheet_on_screen(content: PlaneContent, matrix: MatrixView) -> PictureSpec:
    """Return what the matrix shows now as a picture to write."""
    frame = matrix.frame
    return PictureSpec(
        content, matrix.sight.snapped, (frame.width, frame.height), themes.current(), matrix.tiles.tinting
    )


def write_picture(context: AppContext, sheet: PictureSpec, path: Path) -> None:
    """Write a picture as a job, and say where it is."""

    def done(outcome: JobOutcome[Path]) -> None:
        if outcome.error is not None:
            dialogs.tell(outcome.error, context.window)
        elif outcome.value is not None:
            context.notify(f"The picture is {outcome.value}.")

    context.jobs.start("Painting the picture", lambda _watch: save(sheet, path), done)
