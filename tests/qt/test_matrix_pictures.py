"""Pictures of the matrix in files: what they hold, how large they may be, and the way to them through the window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QFileDialog

from metl_gui.core.trees.schema_names import name_in_group
from metl_gui.errors import ProjectError
from metl_gui.ui.exports.picture import PictureDialog, fits, sheets_of, size_words
from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.layout.camera import Camera
from metl_gui.ui.matrix.layout.content import Arrangement, content_of
from metl_gui.ui.matrix.layout.sort_and_filter import arranged
from metl_gui.ui.matrix.painting.paint_context import NO_TINTING, PaintContext, Sign
from metl_gui.ui.matrix.picture import MOST_PX, PictureSpec, refuse_if_too_large, save, whole
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import theme as themes
from tests.benchmarks.sizes import DESIGN, STRETCH, Size, build
from tests.benchmarks.ui_path import STEPS, TIMED, record, recorded
from tests.qt.random_documents import some_document
from tests.qt.test_matrix_painting import painted

CONTENT = content_of(some_document())


@pytest.mark.usefixtures("dressed")
@pytest.mark.parametrize("level", [Level.ATTRIBUTE, Level.VERSION, Level.SCHEMA, Level.GROUP])
def test_a_picture_of_everything_shows_the_chosen_level_of_the_columns(level: Level, tmp_path: Path) -> None:
    sheet = whole(CONTENT, level, themes.load("light"))
    assert PaintContext(CONTENT, sheet.camera, sheet.size, 1.0, sheet.theme).levels[0] is level
    image = QImage(str(save(sheet, tmp_path / "matrix.png")))
    scale = 2 if max(sheet.width, sheet.height) * 2 <= MOST_PX else 1
    assert (image.width(), image.height()) == (sheet.width * scale, sheet.height * scale)
    right, bottom = sheet.camera.on_screen(CONTENT.columns.length, CONTENT.rows.length)
    assert right <= sheet.size[0]
    assert bottom <= sheet.size[1]


@pytest.mark.usefixtures("dressed")
def test_a_drawing_keeps_names_and_counts_as_words(tmp_path: Path) -> None:
    text = save(whole(CONTENT, Level.SCHEMA, themes.load("light")), tmp_path / "matrix.svg").read_text("utf-8")
    names = {name_in_group(CONTENT.columns.name(Level.SCHEMA, at)) for at in range(12)}
    assert all(f">{name}<" in text for name in names)
    most = max(tile.elements for tile in CONTENT.counts(Level.SCHEMA, Level.VERSION).within(range(12), range(6)))
    assert f">{most}<" in text


@pytest.mark.usefixtures("dressed")
def test_a_picture_that_is_too_large_is_refused_with_its_size_and_what_to_choose() -> None:
    sheet = whole(content_of(build(DESIGN)), Level.ATTRIBUTE, themes.load("light"))
    assert not fits(sheet)
    assert "too many" in size_words(sheet)
    with pytest.raises(ProjectError) as refused:
        refuse_if_too_large(sheet, is_vector=False)
    assert f"{sheet.width:,} x {sheet.height:,}" in str(refused.value)
    assert "coarser level" in refused.value.hint
    with pytest.raises(ProjectError, match="tiles"):
        refuse_if_too_large(sheet, is_vector=True)


@pytest.mark.usefixtures("dressed")
def test_a_picture_that_cannot_be_written_is_told_by_name(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="nowhere"):
        save(whole(CONTENT, Level.SCHEMA, themes.load("light")), tmp_path / "nowhere" / "matrix.png")


@pytest.mark.usefixtures("dressed")
def test_only_levels_that_the_matrix_has_can_be_chosen() -> None:
    seen = PictureSpec(CONTENT, Camera(), (400, 300), themes.load("light"))
    words = [each for each, _ in sheets_of(CONTENT, seen, seen.theme, NO_TINTING)]
    assert len(words) == 1 + len({*CONTENT.columns.levels, *CONTENT.rows.levels} - {Level.OUTER_GROUP})


def test_the_menu_writes_what_is_on_the_screen_and_says_where(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "seen"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), "Drawing (*.svg)"))

    def accept() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, PictureDialog)
        button = next(b for b in dialog.buttons.buttons() if b is not _cancel(dialog))
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    QTimer.singleShot(0, accept)
    window.actions_table["export_picture"].trigger()
    assert target.with_suffix(".svg").read_text("utf-8").startswith("<?xml")


def _cancel(dialog: PictureDialog) -> object:
    return dialog.buttons.button(QDialogButtonBox.StandardButton.Cancel)


@pytest.mark.parametrize(("id_", "words"), [("overlay_status", "Status of blocks"), ("overlay_none", "No overlay")])
def test_an_overlay_of_the_view_menu_tints_the_matrix_and_is_marked(window: Window, id_: str, words: str) -> None:
    before = window.map.matrix.grab().toImage()
    action = window.actions_table[id_]
    action.trigger()
    assert action.text() == words
    assert action.isChecked()
    assert window.map.matrix.tiles.tinting.overlay.value == words
    assert (window.map.matrix.grab().toImage() == before) is (id_ == "overlay_none")


@pytest.mark.usefixtures("dressed")
def test_what_is_left_out_is_marked_by_dots_and_explained() -> None:
    part = arranged(CONTENT.document, Arrangement(is_relevant_only=True))
    assert part.columns.is_partial
    look = PaintContext(part, Camera(-0.4, -0.4, 27, 25), (1400, 800), 1.0, themes.load("light"))
    assert Sign.HIDDEN in painted(look)[1]
    everything = PaintContext(CONTENT, look.camera, look.size, 1.0, look.theme)
    assert Sign.HIDDEN not in painted(everything)[1]


@pytest.mark.parametrize("size", [DESIGN, STRETCH], ids=["10^9", "10^12"])
def test_the_recorded_path_of_the_benchmark_is_what_its_function_generates(size: Size) -> None:
    steps = recorded(size)
    assert steps == record(size)
    assert sum(step.kind in TIMED for step in steps) == STEPS
