"""Attributes that are never to be mapped, in the window: marked, taken back and listed by keys and mouse."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from metl_gui.core.edits.ignored import IgnoreAttributes
from metl_gui.core.project.masks import masked_lineages
from metl_gui.core.trees.nodes import IgnoredAttribute, Side
from metl_gui.ui.matrix.painting.ignored_lines import begins_of
from metl_gui.ui.matrix.painting.paint_context import Sign
from metl_gui.ui.owners.gap_panel import GapPanel
from metl_gui.ui.owners.ignore_dialog import IgnoreDialog
from metl_gui.ui.owners.todo_list import IGNORED, OPEN
from metl_gui.ui.project.notes import NodeNotes
from metl_gui.ui.project.selection import Selected
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming.marks import MarkShape
from metl_gui.ui.trees.model import FACTS_ROLE
from metl_gui.ui.trees.node import RowFacts, node_menu, tip_of
from metl_gui.ui.widgets.two_line_list import TwoLines
from tests.qt.test_owners import ORDERS, choose, place, wait_active

KEYS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


def marks(window: Window, side: Side = Side.EXTRACTION, name: str = ORDERS) -> tuple[IgnoredAttribute, ...]:
    schema = window.project.value.tree(side).named(name)
    assert schema is not None
    return schema.ignored


def dialog_of(window: Window, qtbot: QtBot) -> IgnoreDialog:
    """Press the keys, and return the dialog that opens."""
    QTest.keyClick(window, Qt.Key.Key_N, KEYS)
    dialog = next(each for each in window.findChildren(IgnoreDialog) if each.isVisible())
    wait_active(qtbot, dialog)
    dialog.preview.work_out()
    return dialog


def mark(window: Window, qtbot: QtBot, reason: str) -> None:
    """Mark what is chosen, by keys alone."""
    dialog = dialog_of(window, qtbot)
    QTest.keyClicks(dialog.reason, reason)
    QTest.keyClick(dialog.reason, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    back(window, qtbot)


def back(window: Window, qtbot: QtBot) -> None:
    """Return to the window, as the manager of a screen does where there is one."""
    window.activateWindow()
    wait_active(qtbot, window)


def facts(window: Window, label: str, path: str) -> RowFacts:
    model = window.map.sources.model
    found = model.index_of(place(window, Side.EXTRACTION, ORDERS, label, path)).data(FACTS_ROLE)
    assert isinstance(found, RowFacts)
    return found


def test_an_attribute_is_marked_with_a_reason_by_keys_and_opened_again_by_the_same_keys(
    window: Window, qtbot: QtBot
) -> None:
    wait_active(qtbot, window)
    choose(window, Side.EXTRACTION, ORDERS, "5", "risk_score")
    assert facts(window, "5", "risk_score").mark is MarkShape.HOLLOW
    dialog = dialog_of(window, qtbot)
    assert dialog.reason.hasFocus()
    assert not dialog.do.isEnabled()
    QTest.keyClicks(dialog.reason, "Only the fraud team reads it")
    assert dialog.do.isEnabled()
    QTest.keyClick(dialog.reason, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    (found,) = marks(window)
    assert (found.reason, found.who) == ("Only the fraud team reads it", "Ada")
    for label in ("4", "5"):
        assert facts(window, label, "risk_score").mark is MarkShape.IGNORED
    back(window, qtbot)
    QTest.keyClick(window, Qt.Key.Key_N, KEYS)
    assert marks(window) == ()
    window.project.undo()
    assert marks(window) == (found,)


def test_several_chosen_attributes_are_marked_as_one_step_and_a_mask_stays(window: Window, qtbot: QtBot) -> None:
    wait_active(qtbot, window)
    choose(window, Side.EXTRACTION, ORDERS, "5", "settled")
    window.owners.mask()
    places = tuple(place(window, Side.EXTRACTION, ORDERS, "5", path) for path in ("settled", "risk_score"))
    window.selection.choose(Selected().with_places(Side.EXTRACTION, places, places[0]))
    state = window.project.value.state
    mark(window, qtbot, "of no use")
    assert len(marks(window)) == 2
    assert window.project.value.state == state + 1
    schema = window.project.value.extraction.named(ORDERS)
    assert schema is not None
    assert len(masked_lineages(window.project.value.extraction, schema)) == 1
    window.project.undo()
    assert marks(window) == ()


def test_what_is_mapped_says_what_goes_before_it_is_marked(window: Window, qtbot: QtBot) -> None:
    wait_active(qtbot, window)
    choose(window, Side.EXTRACTION, ORDERS, "5", "amount")
    elements = window.project.value.matrix.ones
    dialog = dialog_of(window, qtbot)
    assert dialog.warning.text() == "It is mapped: 10 elements go in all versions."
    assert dialog.do.text() == "Clear 10 elements and never map"
    assert dialog.preview.words.text() == "10 blocks change: 10 elements part."
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert marks(window) == ()
    back(window, qtbot)
    mark(window, qtbot, "by mistake")
    assert window.project.value.matrix.ones == elements - 10
    assert len(marks(window)) == 1
    window.project.undo()
    assert window.project.value.matrix.ones == elements


def test_mapping_a_marked_attribute_takes_its_mark_away_and_undo_brings_both_back(window: Window, qtbot: QtBot) -> None:
    wait_active(qtbot, window)
    choose(window, Side.EXTRACTION, ORDERS, "5", "channel")
    mark(window, qtbot, "of no use")
    source = place(window, Side.EXTRACTION, ORDERS, "5", "channel")
    target = place(window, Side.CDM, "payment", "2.0.0", "channel")
    window.selection.choose(Selected(source, target))
    with qtbot.waitSignal(window.map.edits.said) as said:
        QTest.keyClick(window, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
    assert "channel is no longer marked as never to be mapped (of no use)." in said.args[0].text
    assert marks(window) == ()
    assert facts(window, "5", "channel").mark is not MarkShape.IGNORED
    window.project.undo()
    assert len(marks(window)) == 1


def test_the_tree_tells_why_and_filters_what_is_open_and_ignored(window: Window, qtbot: QtBot) -> None:
    wait_active(qtbot, window)
    choose(window, Side.EXTRACTION, ORDERS, "5", "risk_score")
    panel = window.map.sources
    QTest.keyClicks(panel.box, f"is:open in:{ORDERS}")
    qtbot.waitUntil(lambda: panel.model.passing() is not None)
    shown = panel.model.passing()
    assert shown is not None
    before = len(shown.attributes)
    wait_active(qtbot, window)
    mark(window, qtbot, "of no use")
    after = panel.model.passing()
    assert after is not None
    assert len(after.attributes) == before - 2
    where = place(window, Side.EXTRACTION, ORDERS, "5", "risk_score")
    note = NodeNotes(window.project, Side.EXTRACTION).of(where)
    tip = tip_of(window.project.value, Side.EXTRACTION, where, note)
    assert "never to be mapped: of no use (Ada, " in tip
    assert panel.model.progress_words(where.schema) == "5 of 8 required mapped, 3 open, 1 never to be mapped"
    menu = node_menu(panel, Side.EXTRACTION, where)
    assert menu is not None
    assert "never_map" in {action.objectName() for action in menu.actions()}


def test_the_matrix_draws_a_line_along_a_column_that_is_never_to_be_mapped(window: Window, qtbot: QtBot) -> None:
    wait_active(qtbot, window)
    matrix = window.map.matrix
    source = place(window, Side.EXTRACTION, ORDERS, "5", "risk_score")
    target = place(window, Side.CDM, "payment", "2.0.0", "amount")
    window.selection.choose(Selected(source, target))
    matrix.fit_selection()
    window.owner_docks.ignored.show_now()
    before = matrix.grab().toImage()
    schema = window.project.value.extraction.schema(source.schema)
    attribute = window.project.value.extraction.version(source.version or 0).attribute(source.attribute or 0)
    assert attribute is not None
    assert window.project.do(IgnoreAttributes(Side.EXTRACTION, schema.id, (attribute.lineage,), "of no use"))
    window.owner_docks.ignored.show_now()
    assert matrix.grab().toImage() != before
    content, ignored = matrix.sight.content, matrix.sight.ignored
    assert content is not None
    assert ignored is not None
    begins = begins_of(content.columns, ignored[0])
    position = content.columns.position_of(source.version or 0, source.attribute or 0)
    assert position is not None
    assert content.columns.begin(position) in begins.tolist()
    assert len(begins) == 2
    assert len(begins_of(content.rows, ignored[1])) == 0
    assert Sign.IGNORED in {sign for _, sign in matrix.panes.legend_entries}
    assert window.project.undo()
    window.owner_docks.ignored.show_now()
    matrix.grab()
    assert Sign.IGNORED not in {sign for _, sign in matrix.panes.legend_entries}


@pytest.fixture
def to_do(window: Window, qtbot: QtBot) -> GapPanel:
    """The list, with ``risk_score`` marked."""
    wait_active(qtbot, window)
    choose(window, Side.EXTRACTION, ORDERS, "5", "risk_score")
    mark(window, qtbot, "of no use")
    window.owners.show_gaps()
    panel = window.owner_docks.gaps
    panel.look()
    qtbot.waitUntil(lambda: panel.count > 0)
    return panel


def words(panel: GapPanel) -> list[TwoLines]:
    return [each for each, _ in panel.model.rows]


def test_the_list_has_what_is_open_with_suggestions_and_how_far_all_is(
    window: Window, to_do: GapPanel, qtbot: QtBot
) -> None:
    assert to_do.progress.text() == (
        "Schemas: 72 of 87 required mapped, 27 open, 1 never to be mapped · Entities: 13 of 13 required mapped, 2 open"
    )
    QTest.mouseClick(to_do.kinds[OPEN], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: any(each.pill.startswith("suggested") for each in words(to_do)))
    channel = next(each for each in words(to_do) if each.title == "channel")
    assert channel.pill == "suggested 0.99"
    assert "same name" in channel.facts
    assert len(to_do.model.rows) == 29
    row = next(at for at, each in enumerate(words(to_do)) if each.title == "limits")
    to_do.view.setCurrentIndex(to_do.model.index(row, 0))
    QTest.keyClick(to_do.view, Qt.Key.Key_Return)
    chosen = window.selection.current.source
    assert chosen is not None
    assert chosen.attribute is not None


def test_the_list_has_what_is_never_to_be_mapped_with_its_reason_and_follows_edits(
    window: Window, to_do: GapPanel, qtbot: QtBot
) -> None:
    QTest.mouseClick(to_do.kinds[IGNORED], Qt.MouseButton.LeftButton)
    (row,) = words(to_do)
    assert row.title == "risk_score"
    assert "of no use (Ada, " in row.facts
    to_do.view.setCurrentIndex(to_do.model.index(0, 0))
    QTest.keyClick(to_do.view, Qt.Key.Key_Return)
    with qtbot.waitSignal(to_do.told):
        QTest.keyClick(window, Qt.Key.Key_N, KEYS)
    QApplication.processEvents()
    assert marks(window) == ()
    assert not to_do.kinds[IGNORED].isVisible()
    assert to_do.kinds[OPEN].text() == "open 30"
