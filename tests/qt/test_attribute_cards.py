"""Attributes that came or went, as cards at the head of the review list and in the panel of a table."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.entities import ChangeEntity
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.edits.warehouse import SetModel
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.core.warehouse_model import Fact, Model
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets.choice import Chooser
from metl_gui.workbench.warehouse.table_rows import with_table
from tests.qt.conftest import activate

LEFT = Qt.MouseButton.LeftButton
NEW = ("tier", "score")


def change(window: Window, *, more: tuple[str, ...] = (), less: tuple[str, ...] = ()) -> None:
    """Give the customer a version with attributes more or less, fed by a schema of theirs."""
    project = window.project
    entity = project.value.cdm.named("customer")
    assert entity is not None
    newest = project.value.cdm.version(entity.version_ids[-1])
    kept = [
        AttributeDeclaration(a.path, a.type, a.logical, optional=a.optional, doc=a.doc, equivalent_to=(a.path,))
        for a in newest.attributes
        if a.path not in less
    ]
    assert project.do(ChangeEntity(entity.id, (*kept, *(AttributeDeclaration(path, "string") for path in more))))
    if not more:
        return
    declared = tuple(AttributeDeclaration(path, "string") for path in more)
    assert project.do(AddVersion(Side.EXTRACTION, VersionDeclaration("crm", declared)))
    entity, schema = project.value.cdm.named("customer"), project.value.extraction.named("crm")
    assert entity is not None
    assert schema is not None
    source = project.value.extraction.version(schema.version_ids[-1])
    target = project.value.cdm.version(entity.version_ids[-1])
    pairs = [(target.at_path(path), source.at_path(path)) for path in more]
    elements = tuple(Element(q.id, p.id) for q, p in pairs if q is not None and p is not None)
    assert project.do(SetElements((source.id, target.id), elements))


def columns(window: Window) -> list[str]:
    (model,) = window.project.value.models
    return [one.path or one.expression for one in model.dimensions[0].columns if not isinstance(one, str)]


def words(window: Window) -> str:
    return " ".join(label.text() for label in window.review.list.findChildren(QLabel) if label.isVisible())


@pytest.fixture
def reviewed(window: Window) -> Window:
    """A window on the Review page."""
    activate(window)
    window.show_page(1)
    return window


@pytest.fixture
def grown(reviewed: Window) -> Window:
    """The window once the customer has two attributes that no table takes."""
    change(reviewed, more=NEW)
    return reviewed


def test_nothing_is_asked_of_the_sample(reviewed: Window) -> None:
    assert reviewed.review.list.new_attributes.shown == ()
    assert reviewed.review.list.lost_attributes.shown == ()


def test_new_attributes_are_added_to_the_table_of_their_entity_as_one_step(grown: Window) -> None:
    strip, before = grown.review.list.new_attributes, columns(grown)
    (one,) = strip.shown
    assert (one.entity, one.tables, one.paths) == ("customer", ("customer",), NEW)
    assert "2 new attributes in no table of the warehouse fx · tier, score" in words(grown)
    assert strip.buttons[0].text() == "Add to customer"
    strip.buttons[0].setFocus()
    QTest.keyClick(strip.buttons[0], Qt.Key.Key_Space)
    assert columns(grown) == [*before, *NEW]
    assert "customer takes tier, score; in targets with their next rebuild." in grown.notice.words.text()
    assert not strip.isVisible()
    grown.project.undo()
    assert columns(grown) == before
    assert strip.isVisible()


def test_what_is_not_wanted_is_not_asked_for_again_until_that_is_undone(grown: Window) -> None:
    strip, before = grown.review.list.new_attributes, columns(grown)
    QTest.mouseClick(strip.buttons[1], LEFT)
    assert not strip.isVisible()
    assert "tier, score of customer stay out." in grown.notice.words.text()
    grown.show_page(0)
    grown.show_page(1)
    assert strip.shown == ()
    assert columns(grown) == before
    grown.project.undo()
    assert len(strip.shown) == 1


def test_of_several_tables_one_is_chosen(grown: Window) -> None:
    (model,) = grown.project.value.models
    more = Model(
        name=model.name, tables=(*model.tables, Fact(name="visits", entity="customer")), entities=model.entities
    )
    assert grown.project.do(SetModel(more))
    strip = grown.review.list.new_attributes
    assert strip.buttons[0].text() == "Add to a table…"
    strip.buttons[0].click()
    chooser = next(each for each in grown.findChildren(Chooser) if each.isVisible())
    QTest.keyClicks(chooser.box, "visits")
    QTest.keyClick(chooser.box, Qt.Key.Key_Return)
    visits = grown.project.value.models[0].table("visits")
    assert isinstance(visits, Fact)
    assert [one.path for one in visits.degenerate] == list(NEW)
    assert strip.shown == ()


def test_an_attribute_that_no_block_maps_is_told_with_its_columns_which_stay_or_go(grown: Window) -> None:
    QTest.mouseClick(grown.review.list.new_attributes.buttons[0], LEFT)
    with_both = columns(grown)
    change(grown, less=("tier",))
    strip = grown.review.list.lost_attributes
    assert [(one.entity, one.path) for one in strip.shown] == [("customer", "tier")]
    assert "no block maps it any more · customer.tier stays, null for what follows" in words(grown)
    assert [button.text() for button in strip.buttons] == ["Keep it so", "Remove the column"]
    QTest.mouseClick(strip.buttons[0], LEFT)
    assert (strip.shown, columns(grown)) == ((), with_both)
    grown.project.undo()
    QTest.mouseClick(strip.buttons[1], LEFT)
    assert (strip.shown, columns(grown)) == ((), [path for path in with_both if path != "tier"])


def test_what_is_not_wanted_is_not_counted_as_new_in_the_panel_and_still_listed(grown: Window) -> None:
    QTest.mouseClick(grown.review.list.new_attributes.buttons[1], LEFT)
    before = columns(grown)
    grown.actions_table["warehouse_page"].trigger()
    page = grown.warehouse.page
    page.show_table("customer")
    assert page.table.add.count == ""
    page.table.add.click()
    chooser = next(each for each in grown.findChildren(Chooser) if each.isVisible())
    QTest.keyClicks(chooser.box, "tier")
    QTest.keyClick(chooser.box, Qt.Key.Key_Return)
    assert columns(grown) == [*before, "tier"]


def test_while_only_reading_is_possible_the_cards_show_and_do_nothing(grown: Window) -> None:
    state = grown.project.value.state
    (model,) = grown.project.value.models
    assert grown.project.do(SetModel(with_table(model, "account_day", None)))
    grown.project.look_at(state)
    strip = grown.review.list.new_attributes
    assert len(strip.shown) == 1
    assert not any(button.isEnabled() for button in strip.buttons)
