"""A moved struct on the review page: one answer for all of it, one step to take it back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.addresses import element_names, find_block
from metl_gui.workbench.session import Workbench
from tests.qt.conftest import activate

FIELDS = ("city", "street", "zip", "country", "phone")
BLOCK = "shop.orders@2:customer@1"


def moved_struct(path: Path) -> Workbench:
    """Make a project in which version 2 of a schema calls ``billing`` ``invoice`` and drops ``legacy``."""
    workbench = Workbench.create(path)
    targets = ("number", *(f"address.{name}" for name in FIELDS), "old_number")
    first = ("id", *(f"billing.{name}" for name in FIELDS), "legacy")
    for side, name, label, paths in (
        (Side.CDM, "customer", "1", targets),
        (Side.EXTRACTION, "shop.orders", "1", first),
    ):
        attributes = tuple(AttributeDeclaration(path, "string") for path in paths)
        workbench.do(AddVersion(side, VersionDeclaration(name, attributes, label)))
    key = find_block(workbench.document, "shop.orders@1:customer@1")
    sources = workbench.document.extraction.version(key[0]).attributes
    ends = workbench.document.cdm.version(key[1]).attributes
    workbench.do(SetElements(key, tuple(Element(q.id, p.id) for q, p in zip(ends, sources, strict=True))))
    second = tuple(AttributeDeclaration(path, "string") for path in ("id", *(f"invoice.{name}" for name in FIELDS)))
    workbench.do(AddVersion(Side.EXTRACTION, VersionDeclaration("shop.orders", second, "2")))
    return workbench


@pytest.fixture
def moved(make_window: Callable[[], Window], tmp_path: Path) -> Window:
    window = make_window()
    window.show_project(moved_struct(tmp_path / "moved.metl"))
    window.show_page(1)
    return window


def elements(window: Window) -> set[tuple[str, str]]:
    document = window.project.value
    block = document.matrix.block(*find_block(document, BLOCK))
    assert block is not None
    return {(name.from_path, name.to_path) for name in element_names(document, block)}


def test_a_moved_struct_is_accepted_by_one_press_and_taken_back_by_one_undo(moved: Window) -> None:
    (card,) = moved.review.detail.groups.cards
    assert card.group.reason == "5 lost attributes: billing is invoice now"
    before = elements(moved)
    QTest.mouseClick(card.button, Qt.MouseButton.LeftButton)
    assert elements(moved) == {("id", "number"), *((f"invoice.{name}", f"address.{name}") for name in FIELDS)}
    assert [each.facts.lost for each in moved.review.cards] == ["legacy"]
    assert not moved.review.detail.groups.isVisible()
    assert moved.project.undo_title == "Rename 5 lost attributes: billing is invoice now"
    moved.project.undo()
    assert elements(moved) == before
    assert len(moved.review.detail.groups.cards) == 1


def test_the_group_is_reached_by_keyboard_and_says_what_it_does(moved: Window) -> None:
    (card,) = moved.review.detail.groups.cards
    assert card.button in moved.review.detail.focus_chain()
    assert card.button.text() == "All 5 were renamed"
    card.button.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(card.button, Qt.Key.Key_Space)
    assert ("invoice.zip", "address.zip") in elements(moved)


def test_a_pair_that_is_refused_leaves_its_group(moved: Window) -> None:
    first = moved.review.cards[0]
    first.refuse_button.click()
    (card,) = moved.review.detail.groups.cards
    assert len(card.group.proposals) == 4
    assert first.facts.lost not in [proposal.lost for _, proposal in card.group.proposals]


def offered(window: Window) -> set[str]:
    """Names of the attributes that the block editor offers as new names."""
    block = window.map.block
    assert block.key is not None
    version = window.project.value.extraction.version(block.key[0])
    links = [link for link in block.lists._links if link.words.startswith("rename?")]
    return {attribute.path for link in links if (attribute := version.attribute(link.element.p)) is not None}


def test_the_block_editor_offers_no_refused_rename_until_it_is_allowed_again(moved: Window) -> None:
    told: list[Callable[[], object] | None] = []
    moved.review.tell = lambda _text, _action, back: told.append(back)
    moved.review.cards[0].refuse_button.click()
    moved.show_page(0)
    assert offered(moved) == {f"invoice.{name}" for name in FIELDS[1:]}
    moved.show_page(1)
    assert told[-1] is not None
    told[-1]()
    moved.show_page(0)
    assert offered(moved) == {f"invoice.{name}" for name in FIELDS}


def test_the_key_beside_the_button_accepts_the_group_from_the_list_and_from_a_card(moved: Window) -> None:
    (card,) = moved.review.detail.groups.cards
    assert card.button.key == "Shift+R"
    before = elements(moved)
    activate(moved)
    for view in (moved.review.list.view, moved.review.cards[0]):
        view.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(view, Qt.Key.Key_R, Qt.KeyboardModifier.ShiftModifier)
        assert ("invoice.zip", "address.zip") in elements(moved)
        moved.project.undo()
        assert elements(moved) == before
