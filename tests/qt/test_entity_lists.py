"""New entities from a list or a schema, and attributes that get another name in the tree."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from metl_gui.core.edits.entities import ChangeEntity, declared
from metl_gui.core.trees.declarations import AttributeDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.types import type_name
from metl_gui.ui.owners.entity_dialog import EntityDialog
from metl_gui.ui.project.selection import NodeRef, Selected, place_of_version
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.dialogs import QuestionDialog
from tests.qt.conftest import activate
from tests.qt.matrix_hand import CONTROL, LEFT, NONE, open_menu, take_entry

CONTROL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


def open_editor(qtbot: QtBot) -> EntityDialog:
    found = [each for each in QApplication.topLevelWidgets() if isinstance(each, EntityDialog) and each.isVisible()]
    (dialog,) = found
    qtbot.waitUntil(dialog.isActiveWindow)
    return dialog


def newest(window: Window, name: str) -> list[tuple[str, str]]:
    entity = window.project.value.cdm.named(name)
    assert entity is not None
    version = window.project.value.cdm.newest(entity.id)
    assert version is not None
    return [(a.path, type_name(a)) for a in version.attributes]


def test_a_new_entity_is_made_of_a_pasted_list_of_names_and_types(window: Window, qtbot: QtBot) -> None:
    activate(window)
    QTest.keyClick(window, Qt.Key.Key_N, CONTROL_SHIFT)
    dialog = open_editor(qtbot)
    QTest.keyClicks(dialog.name, "fee")
    QGuiApplication.clipboard().setText("id\tbigint\nname\tvarchar(20)\nplace\tgeography")
    dialog.view.setFocus()
    QTest.keyClick(dialog.view, Qt.Key.Key_V, CONTROL)
    assert "3 attributes pasted. Read as string: geography" in dialog.hint.text()
    QGuiApplication.clipboard().setText("name string\nkind uuid")
    QTest.mouseClick(dialog.paste_button, LEFT)
    assert "1 attribute pasted, 1 there already" in dialog.hint.text()
    dialog.preview.work_out()
    QTest.mouseClick(dialog.do, LEFT)
    assert sorted(newest(window, "fee")) == [("id", "int64"), ("kind", "uuid"), ("name", "string"), ("place", "string")]


def test_text_that_is_pasted_into_the_name_stays_there(window: Window, qtbot: QtBot) -> None:
    activate(window)
    QTest.keyClick(window, Qt.Key.Key_N, CONTROL_SHIFT)
    dialog = open_editor(qtbot)
    QGuiApplication.clipboard().setText("fee")
    QTest.keyClick(dialog.name, Qt.Key.Key_V, CONTROL)
    assert dialog.name.text() == "fee"
    assert not dialog.table.rows
    dialog.view.setFocus()
    QGuiApplication.clipboard().setText("  \n")
    QTest.keyClick(dialog.view, Qt.Key.Key_V, CONTROL)
    assert "The clipboard has no list" in dialog.hint.text()
    dialog.reject()


def test_a_new_entity_begins_with_the_attributes_of_the_schema_that_is_chosen(window: Window, qtbot: QtBot) -> None:
    activate(window)
    document = window.project.value
    schema = document.extraction.named("fx.rates.tick")
    assert schema is not None
    version = document.extraction.version(schema.version_ids[0])
    view, model = window.map.sources.view, window.map.sources.model
    window.selection.choose(Selected(NodeRef(schema.id, version.id)))
    menu = open_menu(view.viewport(), view.visualRect(model.index_of(NodeRef(schema.id, version.id))).center())
    take_entry(menu, "New entity like what is chosen…")
    dialog = open_editor(qtbot)
    assert dialog.name.text() == "tick"
    assert [row.path for row in dialog.table.rows] == [a.path for a in version.attributes]
    assert all(row.optional for row in dialog.table.rows)
    assert dialog.table.key == (version.key or ())
    dialog.preview.work_out()
    QTest.mouseClick(dialog.do, LEFT)
    assert newest(window, "tick") == [(a.path, type_name(a)) for a in version.attributes]


def test_of_a_schema_of_which_attributes_are_chosen_a_new_entity_begins_with_these(
    window: Window, qtbot: QtBot
) -> None:
    activate(window)
    document = window.project.value
    schema = document.extraction.named("fx.rates.tick")
    assert schema is not None
    version = document.extraction.version(schema.version_ids[-1])
    some = version.attributes[1:3]
    places = tuple(place_of_version(document, Side.EXTRACTION, version.id, a.id) for a in some)
    window.selection.choose(Selected().with_places(Side.EXTRACTION, places, places[0]))
    window.actions_table["new_entity_like"].trigger()
    dialog = open_editor(qtbot)
    assert [row.path for row in dialog.table.rows] == [a.path for a in some]
    assert not dialog.table.key
    dialog.reject()


def test_a_pasted_create_table_brings_its_key(window: Window, qtbot: QtBot) -> None:
    activate(window)
    QTest.keyClick(window, Qt.Key.Key_N, CONTROL_SHIFT)
    dialog = open_editor(qtbot)
    QTest.keyClicks(dialog.name, "pair")
    text = "create table pair (\n  a bigint,\n  b bigint,\n  c text,\n  primary key (b, a)\n)"
    QGuiApplication.clipboard().setText(text)
    QTest.mouseClick(dialog.paste_button, LEFT)
    dialog.preview.work_out()
    QTest.mouseClick(dialog.do, LEFT)
    entity = window.project.value.cdm.named("pair")
    assert entity is not None
    assert window.project.value.cdm.versions(entity.id)[-1].key == ("b", "a")


def choose(window: Window, path: str) -> NodeRef:
    """Choose an attribute of the newest version of payment in the tree."""
    document = window.project.value
    entity = document.cdm.named("payment")
    assert entity is not None
    version = document.cdm.version(entity.version_ids[-1])
    attribute = version.at_path(path)
    assert attribute is not None
    place = place_of_version(document, Side.CDM, version.id, attribute.id)
    panel = window.map.targets
    panel.view.setFocus()
    panel.view.setCurrentIndex(panel.model.index_of(place))
    return place


def written(window: Window) -> QLineEdit:
    (line,) = (each for each in window.map.targets.view.viewport().findChildren(QLineEdit) if each.isVisible())
    return line


def question() -> QuestionDialog:
    (found,) = (
        each for each in QApplication.topLevelWidgets() if isinstance(each, QuestionDialog) and each.isVisible()
    )
    return found


def test_f2_renames_an_attribute_of_an_entity_by_a_new_version_that_keeps_its_elements(window: Window) -> None:
    activate(window)
    window.show_page(0)
    place = choose(window, "amount")
    before = window.project.value
    QTest.keyClick(window.map.targets.view, Qt.Key.Key_F2)
    line = written(window)
    assert line.text() == "amount"
    line.selectAll()
    QTest.keyClicks(line, "total.amount")
    QTest.keyClick(line, Qt.Key.Key_Return)
    QApplication.processEvents()
    asked = question()
    assert asked.windowTitle() == "Make a new version of payment?"
    assert window.project.value is before, "nothing is done before it is answered"
    QTest.mouseClick(next(b for b in asked.buttons.values() if b.text().startswith("Make it")), LEFT, NONE)
    paths = [path for path, _ in newest(window, "payment")]
    assert "total.amount" in paths
    assert "amount" not in paths
    after = window.project.value
    lineage = before.cdm.version(place.version or 0).attribute(place.attribute or 0)
    entity = after.cdm.schema(place.schema)
    now = after.cdm.version(entity.version_ids[-1]).at_path("total.amount")
    assert lineage is not None
    assert now is not None
    assert now.lineage == lineage.lineage
    assert "amount is called total.amount in a new version of payment" in window.notice.words.text()
    assert after.matrix.ones >= before.matrix.ones
    window.project.undo()
    assert "amount" in [path for path, _ in newest(window, "payment")]


def ask_to_rename(window: Window) -> tuple[NodeRef, QuestionDialog]:
    """Give amount another name in the tree, and return the question that comes then."""
    activate(window)
    window.show_page(0)
    place = choose(window, "amount")
    QTest.keyClick(window.map.targets.view, Qt.Key.Key_F2)
    line = written(window)
    line.selectAll()
    QTest.keyClicks(line, "total")
    QTest.keyClick(line, Qt.Key.Key_Return)
    QApplication.processEvents()
    return place, question()


@pytest.mark.parametrize("way", ["key", "menu", "header"])
def test_f2_renames_an_entity_in_one_step_and_its_old_name_finds_it(window: Window, way: str) -> None:
    activate(window)
    window.show_page(0)
    before, panel = window.project.value, window.map.targets
    entity = before.cdm.named("ledger_entry")
    assert entity is not None
    panel.view.setFocus()
    panel.view.setCurrentIndex(panel.model.index_of(NodeRef(entity.id)))
    if way == "header":
        window.selection.choose(Selected(target=NodeRef(entity.id, entity.version_ids[-1])))
    if way == "menu":
        row = panel.view.visualRect(panel.view.currentIndex())
        take_entry(open_menu(panel.view.viewport(), row.center()), "Rename an entity or its attribute…")
    else:
        QTest.keyClick(panel.view, Qt.Key.Key_F2)
    line = written(window)
    assert (line.text(), line.accessibleName()) == ("ledger_entry", "New name of ledger_entry")
    line.selectAll()
    QTest.keyClicks(line, "booking")
    QTest.keyClick(line, Qt.Key.Key_Return)
    QApplication.processEvents()
    after = window.project.value
    assert after.state == before.state + 1
    for name in ("booking", "ledger_entry"):
        found = after.cdm.named(name)
        assert found is not None
        assert (found.id, found.name) == (entity.id, "booking")
    assert panel.view.currentIndex().data() == "booking"
    assert "ledger_entry is called booking, and is found by both names" in window.notice.words.text()
    assert "booking" in window.status.place.words
    panel.filter_now("ledger_entry")
    assert panel.model.place(panel.model.index_of(NodeRef(entity.id))) == NodeRef(entity.id)
    panel.filter_now("")
    QTest.mouseClick(window.notice.action, LEFT, NONE)
    assert window.project.value.cdm.schema(entity.id) == entity


def test_what_became_of_an_entity_while_a_name_was_asked_about_stays(window: Window) -> None:
    place, asked = ask_to_rename(window)
    version = window.project.value.cdm.newest(place.schema)
    assert version is not None
    told = tuple(replace(each, doc="of a payment") for each in declared(version))
    assert window.project.do(ChangeEntity(place.schema, told))
    QTest.mouseClick(next(b for b in asked.buttons.values() if b.text().startswith("Make it")), LEFT, NONE)
    after = window.project.value.cdm.newest(place.schema)
    assert after is not None
    assert "total" in [a.path for a in after.attributes]
    assert {a.doc for a in after.attributes} == {"of a payment"}


def test_a_name_is_not_given_where_its_version_is_not_the_newest_any_more(window: Window) -> None:
    place, asked = ask_to_rename(window)
    version = window.project.value.cdm.newest(place.schema)
    assert version is not None
    assert window.project.do(ChangeEntity(place.schema, (*declared(version), AttributeDeclaration("fresh", "string"))))
    before = newest(window, "payment")
    QTest.mouseClick(next(b for b in asked.buttons.values() if b.text().startswith("Make it")), LEFT, NONE)
    assert newest(window, "payment") == before
    assert "amount was not renamed" in window.notice.words.text()


def test_a_name_that_is_left_as_it_was_or_given_up_asks_nothing(window: Window) -> None:
    activate(window)
    window.show_page(0)
    choose(window, "amount")
    before, view = window.project.value, window.map.targets.view
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Escape):
        QTest.keyClick(view, Qt.Key.Key_F2)
        line = written(window)
        if key is Qt.Key.Key_Escape:
            QTest.keyClicks(line, "other")
        QTest.keyClick(line, key)
        QApplication.processEvents()
        assert not [
            each for each in QApplication.topLevelWidgets() if isinstance(each, QuestionDialog) and each.isVisible()
        ]
    assert window.project.value is before


def test_what_cannot_be_renamed_says_why(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(dialogs, "tell", lambda error, _parent: told.append(str(error)))
    activate(window)
    window.show_page(0)
    place = choose(window, "amount")
    panel = window.map.targets
    panel.view.setCurrentIndex(panel.model.index_of(NodeRef(place.schema)))
    QTest.keyClick(panel.view, Qt.Key.Key_F2)
    line = written(window)
    line.selectAll()
    QTest.keyClicks(line, "transfer")
    QTest.keyClick(line, Qt.Key.Key_Return)
    QApplication.processEvents()
    (said,) = told
    assert "The warehouse model fx keeps the messages of payment under this name" in said
    entity = window.project.value.cdm.schema(place.schema)
    assert entity.name == "payment"
    window.selection.choose(Selected(target=NodeRef(place.schema, entity.version_ids[0])))
    QTest.keyClick(panel.view, Qt.Key.Key_F2)
    assert "A version keeps its number" in window.notice.words.text()
    old = window.project.value.cdm.version(entity.version_ids[0])
    older = place_of_version(window.project.value, Side.CDM, old.id, old.attributes[0].id)
    window.selection.choose(Selected(target=older))
    QTest.keyClick(panel.view, Qt.Key.Key_F2)
    assert "An older version keeps its names" in window.notice.words.text()
    panel.filter_now("currency")
    window.selection.choose(Selected(target=place))
    QTest.keyClick(panel.view, Qt.Key.Key_F2)
    assert "The filter of the tree hides this attribute" in window.notice.words.text()
