"""The trees: the model under Qt's own tester, the search box, marks and counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QModelIndex, QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QAbstractItemModelTester, QTest
from pytestqt.qtbot import QtBot

from metl_gui.core.changes.draft import Edit, perform
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.revert import Revert
from metl_gui.core.edits.versions import AddVersion, RemoveVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.filters import FilterResult
from metl_gui.core.search.query import parse
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.project.document import DocumentChange
from metl_gui.ui.project.notes import NOTHING
from metl_gui.ui.project.selection import NodeRef
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.marks import MarkShape
from metl_gui.ui.trees import contents
from metl_gui.ui.trees.model import FACTS_ROLE, ROOT, TreeModel
from metl_gui.ui.trees.node import RowFacts
from metl_gui.ui.trees.view import _paint_words, found_parts
from metl_gui.ui.widgets.pill import pill_width
from metl_gui.workbench.session import Workbench
from tests.qt.random_documents import some_document

pytestmark = pytest.mark.usefixtures("qapp")


def rows(model: TreeModel, parent: QModelIndex | None = None) -> list[str]:
    parent = parent if parent is not None else QModelIndex()
    found: list[str] = []
    for row in range(model.rowCount(parent)):
        index = model.index(row, 0, parent)
        found.append(str(index.data()))
        found += rows(model, index)
    return found


def facts(index: QModelIndex) -> RowFacts:
    found = index.data(FACTS_ROLE)
    assert isinstance(found, RowFacts)
    return found


def test_the_model_keeps_qts_rules_through_edits_and_their_undoing() -> None:
    document = some_document()
    model = TreeModel(Side.EXTRACTION)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show_document(document)
    before = rows(model)
    schema = document.extraction.schemas()[0]
    declaration = VersionDeclaration(schema.name, (AttributeDeclaration("only", "string"),))
    edits: list[Edit] = [
        AddVersion(Side.EXTRACTION, declaration),
        RemoveVersion(Side.EXTRACTION, schema.version_ids[0]),
        AddVersion(Side.EXTRACTION, VersionDeclaration("fx.new.table", (AttributeDeclaration("id", "int64"),))),
    ]
    done = []
    for edit in edits:
        transition = perform(document, edit)
        model.follow(DocumentChange(document, transition.after))
        document = transition.after
        done.append(transition)
        assert rows(model) == _fresh_rows(document)
    for transition in reversed(done):
        after = perform(document, Revert(transition.change, transition.title)).after
        model.follow(DocumentChange(document, after))
        document = after
    assert rows(model) == before
    del tester


def _fresh_rows(document: Document) -> list[str]:
    model = TreeModel(Side.EXTRACTION)
    model.show_document(document)
    return rows(model)


def test_the_model_keeps_qts_rules_when_it_is_filtered() -> None:
    model = TreeModel(Side.CDM)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show_document(some_document())
    everything = rows(model)
    model.filter(parse("type:int64"))
    assert 0 < len(rows(model)) < len(everything)
    model.filter(parse(""))
    assert rows(model) == everything
    del tester


def test_children_are_made_only_when_they_are_asked_for() -> None:
    model = TreeModel(Side.EXTRACTION)
    model.show_document(some_document())
    assert model.rowCount() == 5
    assert list(model._children) == [ROOT]


def test_a_filter_keeps_the_parents_of_what_passes() -> None:
    model = TreeModel(Side.EXTRACTION)
    model.show_document(some_document())
    model.filter(parse("orders order"))
    assert rows(model)[:2] == ["payments", "orders"]
    assert "customers" not in rows(model)


def test_only_unmapped_attributes_pass_is_unmapped() -> None:
    document = some_document()
    model = TreeModel(Side.EXTRACTION)
    model.show_document(document)
    model.filter(parse("is:unmapped"))
    schema = document.extraction.schemas()[0]
    newest = document.extraction.newest(schema.id)
    assert newest is not None
    mapped = {e.p for block in document.matrix.column_set(newest.id) for e in block.elements}
    shown = model.index_of(NodeRef(schema.id, newest.id))
    paths = {str(model.index(row, 0, shown).data()) for row in range(model.rowCount(shown))}
    assert paths == {a.path for a in newest.attributes if a.id not in mapped}


def test_an_attribute_is_marked_as_mapped_once_an_element_is_set() -> None:
    document = some_document()
    model = TreeModel(Side.EXTRACTION)
    model.show_document(document)
    schema = document.extraction.schemas()[0]
    version = document.extraction.version(schema.version_ids[0])
    taken = {e.p for block in document.matrix.column_set(version.id) for e in block.elements}
    source = next(a for a in version.attributes if a.id not in taken)
    target_version = next(
        w
        for e in document.cdm.schemas()
        for w in document.cdm.versions(e.id)
        if document.matrix.block(version.id, w.id) is None
    )
    place = NodeRef(schema.id, version.id, source.id)
    assert facts(model.index_of(place)).mark is MarkShape.HOLLOW
    edit = SetElements((version.id, target_version.id), (Element(target_version.attributes[0].id, source.id),))
    model.follow(DocumentChange(document, perform(document, edit).after))
    assert facts(model.index_of(place)).mark is MarkShape.MAPPED


def test_the_tree_names_how_many_elements_a_version_lost(window: Window) -> None:
    model = window.map.sources.model
    key = window.project.review_items()[0].key
    version = window.project.value.extraction.version(key[0])
    lost = sum(len(b.open_losses) for b in window.project.value.matrix.column_set(version.id))
    assert facts(model.index_of(NodeRef(version.schema_id, version.id))).pill == (f"{lost} lost", "review")


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("text", ["", "is:unmapped", "id", "changed:new"])
def test_edits_change_a_filtered_tree_to_what_a_fresh_one_shows(text: str, side: Side) -> None:
    """Sets elements, adds an entity version (its attributes change their parent) and undoes everything."""
    document = some_document().merged()
    model = TreeModel(side)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show_document(document)
    model.filter(parse(text))
    before = rows(model)
    entity = document.cdm.schemas()[0]
    newest = document.cdm.newest(entity.id)
    assert newest is not None
    paths = (*(AttributeDeclaration(a.path, a.type) for a in newest.attributes[1:]), AttributeDeclaration("x", "int64"))
    blocks = [block for block in document.matrix.blocks() if len(block.elements) > 1][:3]
    edits: list[Edit] = [SetElements(block.key, zeros=block.elements[:1]) for block in blocks]
    edits += [AddVersion(Side.CDM, VersionDeclaration(entity.name, paths))]
    done = []
    for edit in edits:
        transition = perform(document, edit)
        keys = tuple(change.key for change in transition.change.blocks)
        model.follow(DocumentChange(document, transition.after, keys))
        document = transition.after
        done.append(transition)
        assert rows(model) == _filtered_rows(document, side, text)
    for transition in reversed(done):
        undone = perform(document, Revert(transition.change, transition.title))
        model.follow(DocumentChange(document, undone.after, tuple(change.key for change in undone.change.blocks)))
        document = undone.after
        assert rows(model) == _filtered_rows(document, side, text)
    assert rows(model) == before
    del tester


def _filtered_rows(document: Document, side: Side, text: str) -> list[str]:
    model = TreeModel(side)
    model.show_document(document)
    model.filter(parse(text))
    return rows(model)


def test_a_large_tree_is_read_and_filtered_between_the_events_of_the_window(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = some_document()
    expected = _filtered_rows(document, Side.EXTRACTION, "id")
    monkeypatch.setattr(contents, "_AT_ONCE_ATTRIBUTES", 1)
    model = TreeModel(Side.EXTRACTION)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    with qtbot.waitSignal(model.filled):
        model.show_document(document)
        assert model.rowCount() == 0
    assert model.rowCount() == 5
    with qtbot.waitSignal(model.filled):
        model.filter(parse("amount"))
        model.filter(parse("id"))
    assert rows(model) == expected
    del tester


def test_a_large_tree_says_that_it_is_read_and_how_much_there_is(
    window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "_AT_ONCE_ATTRIBUTES", 0)
    panel, whole = window.map.sources, len(window.project.value.extraction.schemas())
    told: list[tuple[int, int]] = []
    panel.counted.connect(told.append)
    with qtbot.waitSignal(panel.model.filled):
        window.project.opened.emit(window.project.workbench)
        assert panel.model.is_being_read
        assert (told[-1], panel.note.text(), panel.note.isVisible()) == ((whole, whole), "Reading…", True)
    qtbot.waitUntil(lambda: not panel.note.isVisible())
    assert not panel.model.is_being_read


def test_a_large_tree_that_is_read_again_keeps_its_rows_meanwhile(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = some_document()
    monkeypatch.setattr(contents, "_AT_ONCE_ATTRIBUTES", 1)
    model = TreeModel(Side.EXTRACTION)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    with qtbot.waitSignal(model.filled):
        model.show_document(document)
    before = rows(model)
    resets: list[object] = []
    model.modelReset.connect(lambda: resets.append(None))
    newest = document.extraction.schemas()[0]
    after = perform(document.merged(), RemoveVersion(Side.EXTRACTION, newest.version_ids[0])).after
    with qtbot.waitSignal(model.followed):
        model.follow(DocumentChange(document, after))
        assert rows(model) == before
    assert rows(model) == _fresh_rows_of(qtbot, after)
    assert not resets
    with qtbot.waitSignal(model.filled):
        model.follow(DocumentChange(after, document))
        model.filter(parse("amount"))
    assert 0 < len(rows(model)) < len(before)
    del tester


def _fresh_rows_of(qtbot: QtBot, document: Document) -> list[str]:
    model = TreeModel(Side.EXTRACTION)
    with qtbot.waitSignal(model.filled):
        model.show_document(document)
    return rows(model)


def test_groups_are_named_without_what_all_of_them_begin_with() -> None:
    document = Document()
    for name in ("org.shop.eu.orders", "org.shop.us.orders", "org.shop.eu.old.orders"):
        declaration = VersionDeclaration(name, (AttributeDeclaration("id", "int64"),))
        document = perform(document, AddVersion(Side.EXTRACTION, declaration)).after
    model = TreeModel(Side.EXTRACTION)
    model.show_document(document)
    assert [str(model.index(row, 0).data()) for row in range(model.rowCount())] == ["eu", "eu.old", "us"]


def test_only_some_rows_are_opened_by_themselves() -> None:
    model = TreeModel(Side.EXTRACTION)
    model.show_document(some_document())
    model.filter(parse("id"))
    few, many = model.first_open(10), model.first_open(10_000)
    assert len(few) < 10 < len(many)
    assert [str(index.data()) for index in few] == [str(index.data()) for index in many[: len(few)]]


def test_the_funnel_tells_the_matrix_what_passes_until_it_is_switched_off(window: Window) -> None:
    panel = window.map.sources
    told: list[FilterResult | None] = []
    panel.narrowed.connect(told.append)
    panel.filter_now("in:person")
    assert not told
    QTest.mouseClick(panel.funnel, Qt.MouseButton.LeftButton)
    schema = window.project.value.extraction.named("fx.customers.person")
    assert schema is not None
    result = told[-1]
    assert result is not None
    assert result.schemas.tolist() == [schema.id]
    assert result.versions.tolist() == sorted(schema.version_ids)
    assert result.words == f"1 of {len(window.project.value.extraction.schemas())} schemas"
    QTest.mouseClick(panel.funnel, Qt.MouseButton.LeftButton)
    assert told[-1] is None


def test_a_filter_leaves_the_selection_as_it_is(window: Window) -> None:
    chosen = window.selection.current
    window.map.sources.filter_now("no such attribute anywhere")
    assert window.map.sources.model.rowCount() == 0
    assert window.selection.current == chosen


def test_another_project_begins_unfiltered_and_the_first_one_keeps_its_filter(
    window: Window, tmp_path: Path, qtbot: QtBot
) -> None:
    panel, first = window.map.sources, window.project.workbench
    assert first is not None
    path = first.path
    panel.filter_now("in:person")
    QTest.mouseClick(panel.funnel, Qt.MouseButton.LeftButton)
    content = window.map.matrix.content
    assert content is not None
    assert content.columns.is_partial
    other = Workbench.create(tmp_path / "other.metl")
    other.do(
        AddVersion(Side.EXTRACTION, VersionDeclaration("shop.orders", (AttributeDeclaration("id", "string"),), "1"))
    )
    window.show_project(other)
    assert panel.box.text() == ""
    assert not panel.funnel.isChecked()
    assert "orders" in rows(panel.model)
    window.show_project(Workbench.open(path))
    assert panel.box.text() == "in:person"
    qtbot.waitUntil(lambda: panel.model.shown_count[0] == 1)
    content = window.map.matrix.content
    assert content is not None
    assert not content.columns.is_partial


@pytest.mark.parametrize(
    ("name", "sought", "found"),
    [
        ("customer_id", ("cust", "id"), ["[cust]", "omer_", "[id]"]),
        ("CustomerId", ("cust",), ["[Cust]", "omerId"]),
        ("aaaa", ("aa",), ["[aaaa]"]),
        ("amount", (), ["amount"]),
        ("amount", ("",), ["amount"]),
        ("İstanbul", ("i",), ["İstanbul"]),  # its small form has a letter more
        ("", ("a",), []),
    ],
)
def test_letters_that_a_filter_asked_for_are_told_from_the_others(
    name: str, sought: tuple[str, ...], found: list[str]
) -> None:
    assert [f"[{text}]" if is_found else text for text, is_found in found_parts(name, sought)] == found


def test_found_letters_stand_out_in_the_rows_and_esc_shows_everything_again(window: Window) -> None:
    panel = window.map.sources
    panel.filter_now("person")
    assert panel.view.rows.sought == ("person",)
    shown = panel.view.viewport().grab().toImage()
    panel.view.rows.sought = ()
    assert panel.view.viewport().grab().toImage() != shown
    for taker in (panel.box, panel.view):
        panel.filter_now("person")
        taker.setFocus()
        QTest.keyClick(taker, Qt.Key.Key_Escape)
        assert panel.box.text() == ""
        assert panel.view.rows.sought == ()
    assert panel.model.shown_count[0] == panel.model.shown_count[1]


@pytest.mark.usefixtures("dressed")
def test_a_pill_goes_before_it_takes_the_room_of_a_name() -> None:
    def painted(width: int, facts: RowFacts) -> QImage:
        image = QImage(width, 24, QImage.Format.Format_ARGB32)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        _paint_words(painter, QRectF(image.rect()), facts, NOTHING, is_selected=False)
        painter.end()
        return image

    bare = RowFacts("fx.payments.chargebacks")
    with_pill = replace(bare, pill=("3 lost", "review"))
    name = themes.text_width(bare.name, themes.scaled(1.0))
    for room in range(20, 200, 6):
        width = round(name) + room
        is_shown = painted(width, with_pill) != painted(width, bare)
        assert is_shown == (room > pill_width("3 lost") + 14), room
