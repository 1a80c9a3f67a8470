"""What a tree keeps: groups within groups, open rows through time and filters, how far it was scrolled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from metl_gui.core.changes.draft import perform
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.query import parse
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.layout.axis import Level, columns_of
from metl_gui.ui.project.document import DocumentChange
from metl_gui.ui.project.selection import NodeRef
from metl_gui.ui.shell.window import Window
from metl_gui.ui.trees.model import FACTS_ROLE, TreeModel
from metl_gui.workbench.session import Workbench
from tests.qt.conftest import activate

NESTED = ("shop.eu.orders", "shop.us.orders", "shop.stock", "bank.loans.loan", "web.clicks.page", "loose")


def with_schemas(document: Document, *names: str) -> Document:
    for name in names:
        declaration = VersionDeclaration(name, (AttributeDeclaration("id", "int64"),))
        document = perform(document, AddVersion(Side.EXTRACTION, declaration)).after
    return document


def shown(model: TreeModel, parent: QModelIndex | None = None) -> list[object]:
    """Return the names of groups and schemas, what a group holds as a list behind it."""
    found: list[object] = []
    above = QModelIndex() if parent is None else parent
    for row in range(model.rowCount(above)):
        index = model.index(row, 0, above)
        found.append(str(index.data()))
        if model.place(index) is None:
            found.append(shown(model, index))
    return found


def details(model: TreeModel) -> list[str]:
    """Return what groups at the top say of what they hold."""
    indexes = [model.index(row, 0) for row in range(model.rowCount())]
    return [index.data(FACTS_ROLE).detail for index in indexes if model.place(index) is None]


def test_groups_that_begin_alike_stand_below_one_as_on_the_axis_of_the_matrix() -> None:
    document = with_schemas(Document(), *NESTED)
    model = TreeModel(Side.EXTRACTION)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show_document(document)
    assert shown(model) == [
        "loose",
        "bank.loans",
        ["loan"],
        "shop",
        ["stock", "eu", ["orders"], "us", ["orders"]],
        "web.clicks",
        ["page"],
    ]
    axis = columns_of(document.extraction)
    outer = [axis.name(Level.OUTER_GROUP, at) for at in range(len(axis.spans(Level.OUTER_GROUP)))]
    assert [name for name in outer if name] == ["bank", "shop", "web"]
    for schema in document.extraction.schemas():
        place = NodeRef(schema.id)
        assert model.place(model.index_of(place)) == place
    assert details(model) == ["1 schema", "3 schemas", "1 schema"]
    model.filter(parse("in:us"))
    assert shown(model) == ["shop", ["us", ["orders"]]]
    assert details(model) == ["1 schema"]
    del tester


def test_groups_nest_as_soon_as_names_part_them_and_no_longer_when_they_do_not() -> None:
    flat = with_schemas(Document(), "shop.eu.orders", "shop.us.orders")
    model = TreeModel(Side.EXTRACTION)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show_document(flat)
    assert shown(model) == ["eu", ["orders"], "us", ["orders"]]
    parted = with_schemas(flat, "bank.loan")
    model.follow(DocumentChange(flat, parted, ()))
    assert shown(model) == ["bank", ["loan"], "shop", ["eu", ["orders"], "us", ["orders"]]]
    model.follow(DocumentChange(parted, flat, ()))
    assert shown(model) == ["eu", ["orders"], "us", ["orders"]]
    del tester


def newest_of(window: Window, name: str) -> NodeRef:
    schema = window.project.value.extraction.named(name)
    assert schema is not None
    return NodeRef(schema.id, schema.version_ids[-1])


def test_a_group_counts_what_waits_in_the_groups_that_it_holds(window: Window) -> None:
    model = window.map.sources.model
    before = {str(model.index(row, 0).data()): model.index(row, 0) for row in range(model.rowCount())}
    pill = before["payments"].data(FACTS_ROLE).pill
    assert pill == ("2", "review")
    for name in ("shop.stock", "bank.loan"):
        declaration = VersionDeclaration(name, (AttributeDeclaration("id", "int64"),))
        window.project.do(AddVersion(Side.EXTRACTION, declaration))
    found = {str(model.index(row, 0).data()): model.index(row, 0) for row in range(model.rowCount())}
    assert sorted(found) == ["bank", "fx", "shop"]
    assert found["fx"].data(FACTS_ROLE).pill == pill
    assert found["shop"].data(FACTS_ROLE).pill[0] == ""


def test_rows_that_an_earlier_state_lacks_are_open_again_when_one_comes_back(window: Window) -> None:
    activate(window)
    panel, place = window.map.sources, newest_of(window, "fx.payments.orders")
    schema = panel.model.index_of(NodeRef(place.schema))
    panel.view.setCurrentIndex(schema)
    QTest.keyClick(panel.view, Qt.Key.Key_Right)
    index = panel.model.index_of(place)
    panel.view.setCurrentIndex(index)
    QTest.keyClick(panel.view, Qt.Key.Key_Right)
    closed = panel.model.index_of(NodeRef(newest_of(window, "fx.ledger.entry").schema))
    assert panel.view.isExpanded(index)
    workbench = window.project.workbench
    assert isinstance(workbench, Workbench)
    window.history.looking.look_at(1)
    assert not window.project.value.extraction.has_version(place.version or 0)
    assert panel.model.place(panel.model.index_of(place)) != place
    QTest.keyClick(window, Qt.Key.Key_Home, Qt.KeyboardModifier.AltModifier)
    assert window.project.looks_back is None
    assert panel.view.isExpanded(panel.model.index_of(place))
    assert panel.view.isExpanded(panel.model.index_of(NodeRef(place.schema)))
    assert not panel.view.isExpanded(closed)


def test_rows_are_open_as_before_when_a_filter_is_cleared(window: Window) -> None:
    activate(window)
    panel, place = window.map.sources, newest_of(window, "fx.payments.orders")
    panel.view.expand(panel.model.index_of(NodeRef(place.schema)))
    panel.box.setFocus()
    panel.filter_now("in:ledger")
    assert panel.model.place(panel.model.index_of(place)) != place
    QTest.keyClick(panel.box, Qt.Key.Key_Escape)
    assert panel.view.isExpanded(panel.model.index_of(NodeRef(place.schema)))
    assert not panel.view.isExpanded(panel.model.index_of(newest_of(window, "fx.ledger.entry")))


def test_trees_are_scrolled_to_where_they_were_at_the_next_opening(
    window: Window, make_window: Callable[[], Window]
) -> None:
    activate(window)
    workbench = window.project.workbench
    assert isinstance(workbench, Workbench)
    path = workbench.path
    window.resize(1100, 700)
    QApplication.processEvents()
    for panel in (window.map.sources, window.map.targets):
        panel.view.setFocus()
        panel.view.setCurrentIndex(panel.model.index(0, 0))
        QTest.keyClick(panel.view, Qt.Key.Key_Asterisk)
        QApplication.processEvents()
        panel.view.verticalScrollBar().setValue(7 * panel.view.sizeHintForRow(0))
    tops = [panel.top_row for panel in (window.map.sources, window.map.targets)]
    assert tops == [7, 7]
    window.close()
    again = make_window()
    again.resize(1100, 700)
    again.commands.open(path)
    QApplication.processEvents()
    assert [panel.top_row for panel in (again.map.sources, again.map.targets)] == tops


def test_a_filtered_tree_is_scrolled_to_where_it_was_too(
    qtbot: QtBot, window: Window, make_window: Callable[[], Window]
) -> None:
    activate(window)
    workbench = window.project.workbench
    assert isinstance(workbench, Workbench)
    path = workbench.path
    panel = window.map.sources
    panel.filter_now("id")
    QApplication.processEvents()
    panel.view.verticalScrollBar().setValue(9 * panel.view.sizeHintForRow(0))
    assert panel.top_row == 9
    window.close()
    again = make_window()
    again.commands.open(path)
    qtbot.waitUntil(lambda: again.map.sources.is_filtered_by("id"))
    assert again.map.sources.top_row == 9


def test_a_filter_that_was_not_waited_for_scrolls_nothing_in_the_next_project(
    window: Window, make_window: Callable[[], Window], tmp_path: Path
) -> None:
    activate(window)
    workbench = window.project.workbench
    assert isinstance(workbench, Workbench)
    path, panel = workbench.path, window.map.sources
    with Workbench.create(tmp_path / "next.metl") as other:
        for at in range(40):
            other.do(AddVersion(Side.EXTRACTION, VersionDeclaration(f"s{at}", (AttributeDeclaration("id", "int64"),))))
    panel.filter_now("id")
    QApplication.processEvents()
    panel.view.verticalScrollBar().setValue(9 * panel.view.sizeHintForRow(0))
    window.close()
    again = make_window()
    again.commands.open(path)
    panel = again.map.sources
    assert panel.box.text() == "id"
    assert not panel.is_filtered_by("id"), "nobody has waited for it"
    again.commands.open(tmp_path / "next.metl")
    panel.filter_now("id")
    QApplication.processEvents()
    assert panel.is_filtered_by("id")
    assert panel.top_row == 0
