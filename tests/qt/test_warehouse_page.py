"""The Warehouse page: the star of a model, the columns of a table, what is proposed, and loads."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QAbstractItemModel, QPoint, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QComboBox, QFileDialog

from metl_gui.core.dimensional.loads.key_history import KeyHistory, KeyMessage
from metl_gui.core.dimensional.loads.load_report import LoadReport, TableCounts
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.edits.warehouse import RemoveModel
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.core.warehouse_model import Dimension, Fact, Model, NotNull
from metl_gui.errors import RunError
from metl_gui.ui.shell.window import Window
from metl_gui.ui.warehouse.columns import TableRowChange
from metl_gui.ui.warehouse.sql_dialog import SqlDialog
from metl_gui.ui.widgets.choice import Chooser
from metl_gui.warehouse.audit import Finding
from metl_gui.workbench.loads import key_histories, warehouse_loads
from metl_gui.workbench.warehouse.table_rows import RowMember
from tests.qt.conftest import activate


@pytest.fixture
def shown(window: Window) -> Window:
    """Return a window with the page in front, on the model of the sample."""
    activate(window)
    window.actions_table["warehouse_page"].trigger()
    return window


def model_of(window: Window) -> Model:
    (model,) = window.project.value.models
    return model


def table_of(window: Window, name: str) -> Any:
    found = model_of(window).table(name)
    assert found is not None
    return found


def row(window: Window, name: str) -> int:
    return [one.name for one in window.warehouse.page.table.model.rows].index(name)


def cell(window: Window, name: str, column: int) -> str:
    model = window.warehouse.page.table.model
    return str(model.data(model.index(row(window, name), column)))


# the star


def test_the_star_has_entities_left_of_tables_and_says_as_of_when_references_hold(shown: Window) -> None:
    star = shown.warehouse.page.star
    assert star.hasFocus()
    assert star.box_rect("entity:payment").right() < star.box_rect("table:customer").left()
    words = {(line.start, line.end): line.words for line in star.star.lines}
    assert words["table:payment", "table:customer"] == "payer · as of event"
    assert words["table:account", "table:customer"] == "owner · durable key"
    assert words["table:payment", "table:date"] == "booked · Europe/Berlin"


def test_arrows_go_from_table_to_table_and_the_columns_follow(shown: Window) -> None:
    page = shown.warehouse.page
    page.show_table("customer")
    QTest.keyClick(page.star, Qt.Key.Key_Down)
    assert (page.star.current, page.shown) == ("table:account", "account")
    assert cell(shown, "iban", 2) == "iban"
    assert "dimension account" in page.star.accessibleDescription()


def test_a_click_on_an_entity_shows_the_table_that_is_made_of_it(shown: Window) -> None:
    page = shown.warehouse.page
    at = page.star.box_rect("entity:payment").center().toPoint()
    QTest.mouseClick(page.star, Qt.MouseButton.LeftButton, pos=at)
    assert page.shown == "payment"


def test_a_box_stays_where_it_was_put_when_the_project_is_shown_again(shown: Window) -> None:
    star = shown.warehouse.page.star
    start = star.box_rect("table:date").center().toPoint()
    QTest.mousePress(star, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(star, start + QPoint(40, 60))
    QTest.mouseMove(star, start + QPoint(80, 120))
    QTest.mouseRelease(star, Qt.MouseButton.LeftButton, pos=start + QPoint(80, 120))
    put = star.moved["table:date"]
    QTest.keyClick(star, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert star.moved["table:date"] == (put[0] + 12, put[1])
    workbench = shown.project.workbench
    assert workbench is not None
    kept = shown.settings.diagram(workbench.project_id)
    assert kept == {"table:date": [put[0] + 12, put[1]]}
    star.show_star(star.star, {})
    shown.warehouse.refresh()
    assert star.moved["table:date"] == (put[0] + 12, put[1])


def test_keys_zoom_and_fit_the_star(shown: Window) -> None:
    star = shown.warehouse.page.star
    before = star.box_rect("table:payment").width()
    QTest.keyClick(star, Qt.Key.Key_Plus)
    assert star.box_rect("table:payment").width() > before
    QTest.keyClick(star, Qt.Key.Key_F)
    assert star.box_rect("table:payment").width() == pytest.approx(before)


# no model


@pytest.fixture
def without(shown: Window) -> Window:
    """Return the window after its model was removed."""
    assert shown.project.do(RemoveModel("fx"))
    return shown


def test_without_a_model_the_page_offers_to_propose_one_and_undo_takes_it_back(without: Window) -> None:
    panel = without.warehouse.page.panel
    assert panel.currentWidget() is panel.empty
    without.show_page(3)
    assert panel.empty.propose.hasFocus()
    panel.empty.propose.click()
    assert {type(table) for table in model_of(without).tables} >= {Dimension, Fact}
    assert panel.currentWidget() is not panel.empty
    without.actions_table["undo"].trigger()
    assert without.project.value.models == ()
    assert panel.currentWidget() is panel.empty


def test_a_model_goes_out_to_a_file_and_comes_back_from_it(
    shown: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, model = tmp_path / "out.yaml", model_of(shown)
    for name in ("getSaveFileName", "getOpenFileName"):
        monkeypatch.setattr(QFileDialog, name, lambda *_: (str(path), ""))
    shown.warehouse.page.panel.line.export.click()
    assert shown.project.do(RemoveModel("fx"))
    shown.warehouse.page.panel.empty.bring.click()
    assert model_of(shown) == model


def test_a_file_with_mistakes_is_refused_in_words_and_changes_nothing(
    shown: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, before = tmp_path / "bad.yaml", shown.project.value
    path.write_text("warehouse: fx\ntables: [{cube: x}]\n")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    shown.actions_table["import_model"].trigger()
    assert "Line 2" in shown.notice.words.text()
    assert shown.project.value is before


# columns


def test_the_history_of_a_column_is_chosen_by_words_and_undone(shown: Window) -> None:
    page = shown.warehouse.page
    page.show_table("customer")
    view, at = page.table.view, page.table.model.index(row(shown, "segment"), 4)
    assert cell(shown, "segment", 4) == "1 · last value everywhere"
    view.setFocus()
    view.setCurrentIndex(at)
    QTest.keyClick(view, Qt.Key.Key_Return)
    box = view.findChild(QComboBox)
    assert box is not None
    box.setCurrentIndex(2)
    box.activated.emit(2)
    assert [one.history for one in table_of(shown, "customer").columns] == [2, 2, 2]
    assert cell(shown, "segment", 4) == "2 · a version each"
    shown.actions_table["undo"].trigger()
    assert cell(shown, "segment", 4) == "1 · last value everywhere"


@pytest.mark.parametrize(
    ("column", "text", "member", "value"),
    [
        (0, "surname", "name", "surname"),
        (2, "name.given", "path", "name.given"),
        (2, "upper(name.family)", "expression", "upper(name.family)"),
        (3, "text(40)", "type", "text(40)"),
        (5, "not_null", "tests", (NotNull(),)),
    ],
)
def test_what_is_written_into_a_cell_is_in_the_model(
    shown: Window, column: int, text: str, member: str, value: object
) -> None:
    page = shown.warehouse.page
    page.show_table("customer")
    model: QAbstractItemModel = page.table.model
    assert model.setData(model.index(1, column), text)
    assert getattr(table_of(shown, "customer").columns[0], member) == value


def test_a_test_that_is_none_is_refused_in_words(shown: Window) -> None:
    page = shown.warehouse.page
    page.show_table("customer")
    before = shown.project.value
    page.table.model.changed.emit(TableRowChange(page.table.model.rows[1], RowMember.TESTS, "positive"))
    assert "no test" in shown.notice.words.text()
    assert shown.project.value is before


def test_a_problem_stands_in_the_row_that_it_is_about_and_at_its_box(shown: Window) -> None:
    page = shown.warehouse.page
    page.show_table("customer")
    page.table.model.setData(page.table.model.index(row(shown, "country"), 2), "lower(nothing)")
    assert "nothing" in cell(shown, "country", 6)
    assert cell(shown, "family_name", 6) == ""
    assert page.star.star.boxes["table:customer"].problem == "error"
    page.show_table("date")
    page.panel.line.problems.click()
    assert page.shown == "customer"


def test_columns_come_from_a_list_and_go_with_delete(shown: Window) -> None:
    page = shown.warehouse.page
    page.show_table("customer")
    page.table.add.click()
    chooser = next(each for each in shown.findChildren(Chooser) if each.isVisible())
    QTest.keyClicks(chooser.box, "email")
    QTest.keyClick(chooser.box, Qt.Key.Key_Return)
    assert table_of(shown, "customer").columns[-1].path == "email"
    page.table.view.setFocus()
    page.table.view.setCurrentIndex(page.table.model.index(row(shown, "email"), 0))
    QTest.keyClick(page.table.view, Qt.Key.Key_Delete)
    assert [one.name for one in table_of(shown, "customer").columns] == ["family_name", "country", "segment"]


def test_what_the_newest_version_of_an_entity_brings_is_counted_and_offered_first(shown: Window) -> None:
    page, cdm = shown.warehouse.page, shown.project.value.cdm
    page.show_table("customer")
    assert page.table.add.count == ""
    known = cdm.named("customer")
    assert known is not None
    before = cdm.version(known.version_ids[-1])
    attributes = tuple(AttributeDeclaration(one.path, one.type) for one in before.attributes)
    more = AttributeDeclaration("nick", "string"), AttributeDeclaration("rank", "integer")
    declared = VersionDeclaration("customer", (*attributes, *more), "9.0.0", key=before.key)
    shown.project.do(AddVersion(Side.CDM, declared))
    assert page.table.add.count == ""  # nothing is mapped to them
    document = shown.project.value
    version = document.cdm.version(document.cdm.schema(known.id).version_ids[-1])
    targets = [version.at_path(path) for path in ("nick", "rank")]
    block = next(one for one in document.matrix.row_set(version.id) if len(one.elements) > 2)
    sources = document.extraction.version(block.version).attributes
    free = [one.id for one in sources if one.id not in {element.p for element in block.elements}]
    assert len(free) > 1
    ones = tuple(Element(q.id, p) for q, p in zip(targets, free, strict=False) if q is not None)
    shown.project.do(SetElements(block.key, ones))
    assert page.table.add.count == "2 new"
    note = "New in the newest version of customer, and in no table: nick, rank."
    assert note in [one.message for one in page.problems]
    assert page.panel.line.problems.text() == f"{len(page.problems)} notes"
    assert page.star.star.boxes["table:customer"].problem == ""
    page.table.add.click()
    chooser = next(each for each in shown.findChildren(Chooser) if each.isVisible())
    QTest.keyClick(chooser.box, Qt.Key.Key_Return)
    assert table_of(shown, "customer").columns[-1].path == "nick"
    assert page.table.add.count == ""


def test_the_rows_of_a_table_keep_the_rules_of_item_models(shown: Window) -> None:
    page = shown.warehouse.page
    tester = QAbstractItemModelTester(page.table.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    for name in ("customer", "payment", "date", "account_day", "rate"):
        page.show_table(name)
    page.show_table("payment")
    page.table.remove_table.click()
    shown.actions_table["undo"].trigger()
    del tester


# what is proposed


def is_ghost(window: Window, name: str) -> bool:
    return window.warehouse.page.star.star.boxes[f"table:{name}"].is_ghost


def test_a_proposed_table_is_a_ghost_until_it_is_accepted(shown: Window) -> None:
    page = shown.warehouse.page
    assert is_ghost(shown, "refund")
    page.star.choose("table:refund")
    page.star.setFocus()
    QTest.keyClick(page.star, Qt.Key.Key_Return)
    assert isinstance(table_of(shown, "refund"), Fact)
    assert not is_ghost(shown, "refund")
    assert page.shown == "refund"
    shown.actions_table["undo"].trigger()
    assert is_ghost(shown, "refund")


def test_a_proposed_table_brings_those_that_it_refers_to(shown: Window) -> None:
    page = shown.warehouse.page
    for name in ("account_day", "account", "payment"):
        page.show_table(name)
        page.table.remove_table.click()
    page.show_table("payment")
    assert page.table.accept.text().startswith("Accept payment")
    page.table.accept.click()
    assert model_of(shown).table("payment") is not None
    references = {one.dimension for one in table_of(shown, "payment").references}
    assert references <= {one.name for one in model_of(shown).tables}


# loads


Loads = Callable[..., Any]


def loading(monkeypatch: pytest.MonkeyPatch, name: str, answer: Loads) -> list[tuple[Any, ...]]:
    asked: list[tuple[Any, ...]] = []

    def call(*arguments: Any, **_named: Any) -> Any:
        asked.append(arguments)
        return answer()

    monkeypatch.setattr(warehouse_loads, name, call)
    return asked


def test_a_load_says_what_became_of_each_table(shown: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {"customer": TableCounts(inserted=4, updated=3, closed=2, removed=1)}
    report = LoadReport(load="l", messages=9, appended=6, repeated=2, set_aside=1, tables=counts)
    asked = loading(monkeypatch, "load_warehouse", lambda: SimpleNamespace(load=report))
    panel = shown.warehouse.page.load
    panel.source.setText("cdc")
    panel.target.setText("x.duckdb")
    panel.load.click()
    (_, request, target, model, *_), *_ = asked
    assert (request.source.address, target, model) == ("cdc", "duckdb:x.duckdb", "fx")
    assert panel.words.text() == "9 messages: 6 appended, 2 repeated, 1 set aside."
    (row, _) = panel.found.rows[0]
    assert (row.title, row.facts) == ("customer", "4 inserted, 3 updated (2 closed), 1 removed")
    QTest.keyClick(panel.results, Qt.Key.Key_Down)
    QTest.keyClick(panel.results, Qt.Key.Key_Return)
    assert shown.warehouse.page.shown == "customer"
    assert not shown.is_busy
    assert panel.load.isEnabled()


def test_a_load_that_fails_says_why_within_the_page(shown: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RunError("There is nothing to read.", hint="Name another folder.")

    loading(monkeypatch, "load_warehouse", fail)
    shown.actions_table["load_warehouse"].trigger()
    panel = shown.warehouse.page.load
    assert (panel.pill.text(), panel.words.text()) == ("failed", "There is nothing to read. Name another folder.")


def test_a_plan_says_what_a_load_would_do_and_loads_nothing(shown: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    report = LoadReport(load="l", messages=1, appended=1, tables={"customer": TableCounts(inserted=1)})
    asked: list[dict[str, Any]] = []

    def load(*_: Any, **named: Any) -> Any:
        asked.append(named)
        return SimpleNamespace(load=report)

    monkeypatch.setattr(warehouse_loads, "load_warehouse", load)
    panel = shown.warehouse.page.load
    panel.plan.click()
    panel.load.click()
    assert [named["is_dry"] for named in asked] == [True, False]
    shown.actions_table["plan_load"].trigger()
    assert panel.words.text().startswith("Nothing was written. 1 message: 1 appended")
    assert panel.pill.text() == "planned"


def test_messages_that_exist_are_loaded_as_such(shown: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = loading(monkeypatch, "load_warehouse", lambda: SimpleNamespace(load=LoadReport(load="l")))
    panel = shown.warehouse.page.load
    panel.holds.setCurrentIndex(1)
    panel.load.click()
    assert asked[0][1].source.holds == "messages"


def test_an_audit_shows_what_is_wrong_or_that_all_is_right(shown: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = shown.warehouse.page.load
    finding = Finding(table="payment", rule="rows come from messages", rows=2, shown=("7",))
    loading(monkeypatch, "audit_warehouse", lambda: SimpleNamespace(problems=(finding,)))
    panel.audit.click()
    assert panel.pill.text() == "1 problem"
    (row, _) = panel.found.rows[0]
    assert (row.title, row.facts, row.pill) == ("rows come from messages", "payment · 7", "2")
    loading(monkeypatch, "audit_warehouse", lambda: SimpleNamespace(problems=()))
    panel.audit.click()
    assert panel.pill.text() == "is right"
    assert not panel.results.isVisible()


def test_the_sql_of_the_plan_can_be_read_and_not_changed(shown: Window) -> None:
    shown.warehouse.page.panel.line.sql.click()
    dialog = next(each for each in shown.findChildren(SqlDialog) if each.isVisible())
    assert dialog.text.isReadOnly()
    assert "INSERT" in dialog.text.toPlainText().upper()
    dialog.close_button.click()


# the timeline of a key


def test_a_key_is_chosen_and_its_messages_and_versions_are_read_by_arrows(
    shown: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = [datetime(2026, 1, day, tzinfo=UTC) for day in (1, 3, 2)]
    messages = tuple(
        KeyMessage(schema="s", row="r", op="u", holds_from=moment, is_void=False, values=(("city", "Ulm"),))
        for moment in moments
    )
    history = KeyHistory(table="customer", key=("7",), messages=messages)
    monkeypatch.setattr(key_histories, "dimension_keys", lambda *_: (("6",), ("7",)))
    asked: list[tuple[Any, ...]] = []

    def read(*arguments: Any) -> KeyHistory:
        asked.append(arguments)
        return history

    monkeypatch.setattr(key_histories, "dimension_key_history", read)
    page = shown.warehouse.page
    page.show_table("customer")
    shown.actions_table["key_timeline"].trigger()
    chooser = next(each for each in shown.findChildren(Chooser) if each.isVisible())
    QTest.keyClicks(chooser.box, "7")
    QTest.keyClick(chooser.box, Qt.Key.Key_Return)
    assert asked[0][2:4] == ("customer", ("7",))
    assert page.timeline.title.text() == "customer 7"
    view = page.timeline.view
    for _ in range(3):
        QTest.keyClick(view, Qt.Key.Key_Right)
    assert page.timeline.words.text() == "Message 3 of s: update, 2026-01-02 00:00:00. city Ulm"
    assert view.item_rect(2).center().x() < view.item_rect(1).center().x()
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=view.item_rect(0).center().toPoint())
    assert page.timeline.words.text().startswith("Message 1")
    assert not page.timeline.grab().toImage().isNull()


def test_a_key_of_a_target_that_is_not_there_is_refused_and_makes_no_file(shown: Window, tmp_path: Path) -> None:
    page = shown.warehouse.page
    page.load.target.setText(f"duckdb:{tmp_path / 'none.duckdb'}")
    page.show_table("customer")
    page.timeline.choose.click()
    assert "Nothing was loaded" in shown.notice.words.text()
    assert not (tmp_path / "none.duckdb").exists()
    page.show_table("payment")
    assert not page.timeline.choose.isEnabled()
