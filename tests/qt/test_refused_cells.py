"""Crosses on cells whose sampled values typed columns refuse, where the types say nothing of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.exports.picture import sheet_on_screen
from metl_gui.ui.matrix.layout.content import ElementFlag
from metl_gui.ui.matrix.layout.elements import places_of, refused_marks
from metl_gui.ui.matrix.painting.paint_context import Sign
from metl_gui.ui.matrix.picture import save
from metl_gui.ui.matrix.scene import next_thing
from metl_gui.ui.project.selection import Selected, place_of_version
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.samples.kept_samples import keep_samples
from metl_gui.workbench.session import Workbench
from tests.qt.matrix_hand import at_cell

SCHEMA = "fx.lines"


@pytest.fixture
def typed(make_window: Callable[[], Window], tmp_path: Path) -> Window:
    """A window on a schema of unknown types, with samples of which two are no numbers."""
    workbench = Workbench.create(tmp_path / "lines.metl")
    for side, name, types in (
        (Side.CDM, "line", ("int64", "int32")),
        (Side.EXTRACTION, SCHEMA, ("int64", "unknown")),
    ):
        attributes = tuple(map(AttributeDeclaration, ("id", "amount"), types))
        workbench.do(AddVersion(side, VersionDeclaration(name, attributes, "1", source="lines.json")))
    source, target = workbench.document.extraction.version(1), workbench.document.cdm.version(1)
    ones = tuple(Element(q.id, p.id) for p, q in zip(source.attributes, target.attributes, strict=True))
    workbench.do(SetElements((1, 1), ones=ones))
    path = tmp_path / "messages.jsonl"
    values: tuple[object, ...] = (1, "2 CHF", 3, "4 CHF")
    rows = ({"id": at, "amount": value} for at, value in enumerate(values))
    records = ({"topic": SCHEMA, "value": {"op": "c", "after": row, "source": {"table": "lines"}}} for row in rows)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    keep_samples(workbench, str(path))
    window = make_window()
    window.show_project(workbench)
    window.map.refused._timer.stop()  # tests say when it looks
    return window


def amount(window: Window) -> tuple[BlockKey, Element]:
    block = window.project.value.matrix.block(1, 1)
    assert block is not None
    return block.key, block.elements[1]


def test_a_cell_of_refused_values_gets_a_cross_and_its_tooltip_says_how_many_and_of_what_kind(typed: Window) -> None:
    key, element = amount(typed)
    at_cell(typed, key, element)
    QApplication.processEvents()
    matrix = typed.map.matrix
    typed.map.refused.look()
    QApplication.processEvents()
    matrix.grab()
    assert matrix.sight.refused == {(key, element)}
    assert Sign.MAY_REFUSE in matrix.tiles.signs
    document = typed.project.value
    ends = Selected(
        place_of_version(document, Side.EXTRACTION, key[0], element.p),
        place_of_version(document, Side.CDM, key[1], element.q),
    )
    assert "typed columns refuse 2 of 4 sampled values: texts, not " in matrix.tip(ends)
    assert "CHF" not in matrix.tip(ends).partition("typed columns")[2]


def test_only_the_refused_cell_is_crossed_and_the_others_keep_their_marks(typed: Window) -> None:
    typed.map.refused.look()
    matrix = typed.map.matrix
    content = matrix.content
    assert content is not None
    found = content.elements_within(range(len(content.columns.runs)), range(len(content.rows.runs)))
    marks = refused_marks(found, places_of(content, matrix.sight.refused))
    assert (found.mark.tolist(), marks.tolist()) == ([0, 0], [0, int(ElementFlag.MAY_REFUSE)])
    assert places_of(content, {((9, 1), Element(1, 1)), ((1, 1), Element(99, 1))}).tolist() == []


def test_the_cross_goes_with_the_element_and_comes_back_with_undo(typed: Window, qtbot: QtBot) -> None:
    key, element = amount(typed)
    typed.map.refused.look()
    typed.project.do(SetElements(key, zeros=(element,)))
    qtbot.waitUntil(lambda: not typed.map.refused.found)
    assert typed.map.matrix.sight.refused == frozenset()
    typed.project.undo()
    qtbot.waitUntil(lambda: bool(typed.map.refused.found))
    assert typed.map.matrix.sight.refused == {(key, element)}


def test_the_lists_of_the_block_show_the_cross_and_say_what_is_refused(typed: Window) -> None:
    key, element = amount(typed)
    at_cell(typed, key, element)
    QApplication.processEvents()
    listed = typed.map.block.lists.left
    other = next(row.id for row in listed.rows.rows if row.id != element.p)

    def said(attribute: int) -> str:
        return str(listed.rows.index_of(attribute).data(Qt.ItemDataRole.AccessibleTextRole))

    def picture(attribute: int) -> QImage:
        return listed.grab(listed.visualRect(listed.rows.index_of(attribute))).toImage()

    before, plain = picture(element.p), picture(other)
    assert "refuse" not in said(element.p)
    typed.map.refused.look()
    QApplication.processEvents()
    assert "typed columns refuse 2 of 4 sampled values: texts, not " in said(element.p)
    assert "refuse" not in said(other)
    assert picture(element.p) != before
    assert picture(other) == plain


def test_the_legend_leads_to_a_block_of_refused_values(typed: Window) -> None:
    assert next_thing(typed.map.matrix.sight, Sign.MAY_REFUSE) is None
    typed.map.refused.look()
    found = next_thing(typed.map.matrix.sight, Sign.MAY_REFUSE)
    assert found is not None
    assert found.block == (1, 1)


def test_samples_that_are_forgotten_take_their_crosses_with_them(typed: Window, qtbot: QtBot) -> None:
    typed.map.refused.look()
    assert typed.map.refused.found
    path = typed.project.workbench.path if typed.project.workbench is not None else Path()
    typed.projects.close()
    assert typed.map.refused.found == {}
    typed.show_project(Workbench.open(path))
    qtbot.waitUntil(lambda: bool(typed.map.refused.found))


def test_a_picture_that_is_exported_has_the_crosses_of_the_screen(typed: Window, tmp_path: Path) -> None:
    key, element = amount(typed)
    at_cell(typed, key, element)
    matrix = typed.map.matrix
    content = matrix.content
    assert content is not None
    plain = save(sheet_on_screen(content, matrix), tmp_path / "plain.png").read_bytes()
    typed.map.refused.look()
    crossed = replace(sheet_on_screen(content, matrix), refused=matrix.tiles.refused)
    assert save(crossed, tmp_path / "crossed.png").read_bytes() != plain
