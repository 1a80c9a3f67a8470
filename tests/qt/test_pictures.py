"""Every panel is grabbed to a PNG in the test's folder, so that people can look at it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.actions.shortcut_sheet import KeysDialog, KeySheet
from metl_gui.ui.drop.sheet import DroppedPart, DropSheet, parts_of
from metl_gui.ui.palette.dialog import Glossary, Palette
from metl_gui.ui.project.selection import Selected, place_of_version
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.importing.dropped_files import FoundTable, RecognizedFiles


def dropped(window: Window) -> tuple[DroppedPart, ...]:
    path = Path("mapping.csv")
    found = RecognizedFiles(projects=(path,), tables=(FoundTable(path, 3, 1),), messages=(path,), message_source="cdc")
    return parts_of(found, window.project.value, "", has_project=True)


def noticed(window: Window) -> QWidget:
    window.notify("1 version added. 2 decisions wait.", "Review now", lambda: None, is_good=False)
    return window.notice


PANELS = {
    "matrix": lambda w: w.map.matrix,
    "extraction tree": lambda w: w.map.sources,
    "cdm tree": lambda w: w.map.targets,
    "block": lambda w: w.map.block,
    "review list": lambda w: w.review.list,
    "before": lambda w: w.review.before,
    "after": lambda w: w.review.after,
    "card": lambda w: w.review.cards[0],
    "run setup": lambda w: w.run_page.setup,
    "figures": lambda w: w.run_page.figures,
    "chart": lambda w: w.run_page.chart,
    "messages": lambda w: w.run_page.messages,
    "star diagram": lambda w: w.warehouse.page.star,
    "columns of a table": lambda w: w.warehouse.page.table,
    "loads of a warehouse": lambda w: w.warehouse.page.load,
    "head bar": lambda w: w.head,
    "status bar": lambda w: w.status,
    "start page": lambda w: w.start,
    "opening page": lambda w: w.opening_page,
    "palette": lambda w: Palette(w.commands.palette_entries(), (), w),
    "keys": lambda w: KeySheet(w.actions_table.keymap, w),
    "change keys": lambda w: KeysDialog(w.actions_table.keymap, w),
    "glossary": lambda w: Glossary("", w),
    "dropped files": lambda w: DropSheet(dropped(w), ["x.bin: It is empty."], w),
    "notice": noticed,
}
PAGES = {
    **dict.fromkeys(("review list", "before", "after", "card"), 1),
    **dict.fromkeys(("run setup", "figures", "chart", "messages"), 2),
    **dict.fromkeys(("star diagram", "columns of a table", "loads of a warehouse"), 3),
}


def colours(image: QImage) -> set[int]:
    return {image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)}


def test_every_panel_paints_something_and_can_be_grabbed(window: Window, tmp_path: Path) -> None:
    item = window.project.review_items()[0]
    document, (v, w) = window.project.value, item.key
    window.selection.choose(
        Selected(place_of_version(document, Side.EXTRACTION, v), place_of_version(document, Side.CDM, w))
    )
    for name, panel_of in PANELS.items():
        window.show_page(PAGES.get(name, 0))
        QApplication.processEvents()
        panel: QWidget = panel_of(window)
        path = tmp_path / f"{name}.png"
        assert panel.grab().save(str(path)), name
        assert len(colours(QImage(str(path)))) > 3, name


@pytest.mark.parametrize("page", [0, 1, 2, 3])
def test_the_window_keeps_its_smallest_size_on_every_page(window: Window, page: int) -> None:
    window.show_page(page)
    for size in ((1600, 1000), (1280, 800), (1100, 700)):
        window.resize(*size)
        image = window.grab().toImage()
        assert (image.width(), image.height()) == size
