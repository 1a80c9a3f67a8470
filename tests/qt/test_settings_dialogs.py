"""Settings in the window: of chosen schemas and entities as one undo step, of the project, and the second person."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element, Status
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Schema, Side
from metl_gui.ui.project.selection import NodeRef, Selected, place_of_version
from metl_gui.ui.settings_dialogs.project_dialog import ProjectSettingsDialog
from metl_gui.ui.settings_dialogs.schema_dialog import SchemaSettingsDialog
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.settings import project_settings

from .conftest import activate

CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
LEFT = Qt.MouseButton.LeftButton


def schema(window: Window, name: str, side: Side = Side.EXTRACTION) -> Schema:
    found = window.project.value.tree(side).named(name)
    assert found is not None
    return found


def ask_schema(window: Window, *names: str) -> SchemaSettingsDialog:
    """Choose schemas and press the key of their settings."""
    places = tuple(NodeRef(schema(window, name).id) for name in names)
    window.selection.choose(Selected(places[0], sources=places if len(places) > 1 else ()))
    activate(window)
    QTest.keyClick(window, Qt.Key.Key_S, CTRL | ALT)
    return visible(window)


def visible(window: Window) -> SchemaSettingsDialog:
    QApplication.processEvents()
    return next(dialog for dialog in window.findChildren(SchemaSettingsDialog) if dialog.isVisible())


def set_it(dialog: SchemaSettingsDialog) -> None:
    QTest.keyClick(dialog, Qt.Key.Key_Return, CTRL)
    QApplication.processEvents()


def test_a_setting_is_set_by_keyboard_and_undone(window: Window) -> None:
    name = "fx.payments.orders"
    dialog = ask_schema(window, name)
    ask = dialog.editors["ask"].choice
    assert ask is not None
    ask.setFocus()
    QTest.keyClick(ask, Qt.Key.Key_Down)
    line = dialog.editors["version_field"].line
    assert line is not None
    line.setFocus()
    QTest.keyClicks(line, "meta.version")
    set_it(dialog)
    set_now = {"ask": "always", "time_zone": "UTC", "version_field": "meta.version"}
    assert dict(schema(window, name).settings) == set_now
    window.project.undo()
    assert dict(schema(window, name).settings) == {"time_zone": "UTC"}


def test_several_schemas_get_a_setting_in_one_undo_step_and_keep_what_nobody_touched(window: Window) -> None:
    first, second = "fx.payments.orders", "fx.payments.refunds"
    dialog = ask_schema(window, first)
    placeholder = dialog.editors["placeholder"].line
    assert placeholder is not None
    QTest.keyClicks(placeholder, "n/a")
    set_it(dialog)
    dialog = ask_schema(window, first, second)
    placeholder = dialog.editors["placeholder"].line
    meanwhile = dialog.editors["meanwhile"].choice
    assert placeholder is not None
    assert meanwhile is not None
    assert placeholder.text() == ""
    assert placeholder.placeholderText() == "— not the same in all —"
    QTest.keyClick(meanwhile, Qt.Key.Key_Down)
    set_it(dialog)
    assert window.facts.titles[0] == "Set meanwhile = map what is left for 2 schemas"
    settings = [dict(schema(window, name).settings) for name in (first, second)]
    both = {"meanwhile": "map what is left"}
    assert settings == [both | {"placeholder": "n/a", "time_zone": "UTC"}, both]
    window.project.undo()
    assert dict(schema(window, second).settings) == {}


def test_a_key_of_an_unknown_attribute_is_refused_in_the_dialog(window: Window) -> None:
    dialog = ask_schema(window, "fx.payments.orders")
    line = dialog.editors["key"].line
    assert line is not None
    QTest.keyClicks(line, "customer_idd")
    set_it(dialog)
    assert dialog.isVisible()
    assert "No version has an attribute customer_idd." in dialog.preview.words.text()
    assert "customer_id" in dialog.preview.words.text()
    assert not dialog.do.isEnabled()
    dialog.reject()


def test_a_key_whose_name_has_a_comma_is_offered_and_set_with_the_comma_escaped(window: Window) -> None:
    name = "fx.payments.refunds"
    declared = VersionDeclaration(name, tuple(AttributeDeclaration(path, "string") for path in ("id", "Name, Vorname")))
    assert window.project.do(AddVersion(Side.EXTRACTION, declared))
    dialog = ask_schema(window, name)
    line = dialog.editors["key"].line
    assert line is not None
    offered = line.completer()
    assert offered is not None
    offered.setCompletionPrefix("Name")
    assert offered.currentCompletion() == "Name\\, Vorname"
    QTest.keyClicks(line, "id, Name\\, Vorname")
    set_it(dialog)
    assert schema(window, name).setting("key") == "id,Name\\, Vorname"


def test_a_time_zone_is_offered_by_name_and_an_unknown_one_refused(window: Window) -> None:
    name = "fx.payments.refunds"
    dialog = ask_schema(window, name)
    line = dialog.editors["time_zone"].line
    assert line is not None
    offered = line.completer()
    assert offered is not None
    offered.setCompletionPrefix("europe/be")
    assert offered.currentCompletion() == "Europe/Belfast"
    QTest.keyClicks(line, "Europe/Berln")
    set_it(dialog)
    assert dialog.isVisible()
    assert "Did you mean Europe/Berlin" in dialog.preview.words.text()
    QTest.keyClick(line, Qt.Key.Key_Backspace)
    QTest.keyClicks(line, "in")
    set_it(dialog)
    assert dict(schema(window, name).settings) == {"time_zone": "Europe/Berlin"}


def test_putting_a_value_back_sets_nothing(window: Window) -> None:
    dialog = ask_schema(window, "fx.payments.orders")
    ask = dialog.editors["ask"].choice
    assert ask is not None
    QTest.keyClick(ask, Qt.Key.Key_Down)
    QTest.keyClick(ask, Qt.Key.Key_Up)
    set_it(dialog)
    assert dialog.isVisible()
    assert "Nothing is changed yet." in dialog.preview.words.text()
    dialog.reject()


def ask_entity(window: Window, name: str) -> SchemaSettingsDialog:
    window.selection.choose(Selected(target=NodeRef(schema(window, name, Side.CDM).id)))
    activate(window)
    QTest.keyClick(window, Qt.Key.Key_E, CTRL | ALT)
    return visible(window)


def choose_policy(dialog: SchemaSettingsDialog, key: Qt.Key) -> None:
    choice = dialog.editors["policy"].choice
    assert choice is not None
    choice.setFocus()
    QTest.keyClick(choice, key)
    dialog.preview.work_out()


def test_switching_to_the_newest_version_only_names_the_blocks_that_go_first(window: Window) -> None:
    dialog = ask_entity(window, "payment")
    choose_policy(dialog, Qt.Key.Key_Down)
    set_it(dialog)
    entity = schema(window, "payment", Side.CDM)
    assert entity.setting("policy") == "parallel"
    document = window.project.value
    v = next(key[0] for key in document.matrix.row_keys(entity.version_ids[-1]))
    p = document.extraction.version(v).attributes[0].id
    old = document.cdm.version(entity.version_ids[0])
    assert window.project.do(SetElements((v, old.id), (Element(old.attributes[0].id, p),)))
    dialog = ask_entity(window, "payment")
    choose_policy(dialog, Qt.Key.Key_Up)
    assert [row.pill for row, _ in dialog.preview.model.rows] == ["goes"]
    assert not dialog.preview.view.isHidden()
    set_it(dialog)
    assert window.project.value.matrix.block(v, old.id) is None


def ask_project(window: Window) -> ProjectSettingsDialog:
    activate(window)
    QTest.keyClick(window, Qt.Key.Key_Comma, CTRL)
    QApplication.processEvents()
    return next(dialog for dialog in window.findChildren(ProjectSettingsDialog) if dialog.isVisible())


def need_second(window: Window, name: str = "") -> None:
    dialog = ask_project(window)
    dialog.name.setText(name)
    dialog.confirms.setFocus()
    QTest.keyClick(dialog.confirms, Qt.Key.Key_Down)
    QTest.mouseClick(dialog.do, LEFT)


def test_the_name_that_somebody_gives_stands_at_their_edits_and_is_kept(window: Window) -> None:
    dialog = ask_project(window)
    assert dialog.name.placeholderText() == "Ada"
    QTest.keyClicks(dialog.name, "Ada L.")
    QTest.keyClick(dialog.name, Qt.Key.Key_Return)
    workbench = window.project.workbench
    assert workbench is not None
    block = next(b for b in window.project.value.matrix.blocks() if len(b.elements) > 1 and not b.losses)
    assert window.project.do(SetElements(block.key, zeros=block.elements[:1]))
    assert workbench.log(1)[0].who == "Ada L."
    assert window.settings.who == "Ada L."


def test_with_a_second_person_the_window_counts_what_waits_and_offers_no_own_confirmation(window: Window) -> None:
    workbench = window.project.workbench
    assert workbench is not None
    assert window.status.second.isHidden()
    need_second(window)
    assert project_settings(workbench).second_person_confirms
    block = next(
        b for b in window.project.value.matrix.blocks() if len(b.elements) > 1 and b.status is Status.CONFIRMED
    )
    assert window.project.do(SetElements(block.key, zeros=block.elements[:1]))
    assert window.status.second.text() == "1 waits for a second person"
    window.selection.choose(Selected())
    QTest.mouseClick(window.status.second, LEFT)
    assert window.selection.current.block == block.key
    panel = window.map.block
    assert panel.confirm.text() == "Waits for a second person"
    assert not panel.confirm.isEnabled()
    assert "Ada has part in this block" in panel.confirm.toolTip()
    need_name(window, "Grace")
    assert panel.confirm.text() == "Confirm the block"
    QTest.mouseClick(panel.confirm, LEFT)
    found = window.project.value.matrix.block(*block.key)
    assert found is not None
    assert found.status is Status.CONFIRMED
    assert window.status.second.isHidden()


def need_name(window: Window, name: str) -> None:
    """Sit down as another person."""
    dialog = ask_project(window)
    dialog.name.setText(name)
    QTest.mouseClick(dialog.do, LEFT)
    QApplication.processEvents()


def test_the_count_of_unconfirmed_blocks_is_not_shown_where_nobody_asks_for_a_second_person(window: Window) -> None:
    document = window.project.value
    block = next(b for b in document.matrix.blocks() if b.elements)
    source, target = (place_of_version(document, s, i) for s, i in zip(Side, block.key, strict=True))
    window.selection.choose(Selected(source, target))
    assert window.second.count == 0
    assert window.status.second.isHidden()
