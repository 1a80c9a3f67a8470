"""Why a version is as it is, asked in the timeline: its messages and cells, and the jump to a cell."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from metl_gui.core.runs.records import MappedRecord, SentMessage
from metl_gui.errors import RunError
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets.choice import ChoiceRow, Chooser
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.plans.shapes.table_shapes import MemberShape
from metl_gui.workbench.loads import row_reasons
from metl_gui.workbench.loads.key_histories import dimension_key_history
from metl_gui.workbench.loads.row_reasons import SourceCell, reason_lines, why_row
from metl_gui.workbench.settings import set_settings
from metl_gui.workbench.user_folders import run_folder
from tests.qt.conftest import activate
from tests.qt.loaded_targets import LOAD, PERSON, loaded_customer, loaded_payments
from tests.qt.recorded_runs import keep_recorded


@pytest.fixture
def target(window: Window, tmp_path: Path) -> str:
    """Return a target that holds one customer, mapped by version 2 of a schema of the sample."""
    return loaded_customer(window, tmp_path)


def test_enter_on_a_version_lists_its_messages_with_their_cells_and_leads_to_one(window: Window, target: str) -> None:
    activate(window)
    window.actions_table["warehouse_page"].trigger()
    page = window.warehouse.page
    page.load.target.setText(target)
    page.show_table("customer")
    page.timeline_dock.show()
    page.timeline_dock.raise_()
    window.warehouse.timelines.show_history(dimension_key_history(window.project.value, target, "customer", ("7",)))
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Return):
        QTest.keyClick(page.timeline.view, key)
    chooser = next(each for each in window.findChildren(Chooser) if each.isVisible())
    country = next(one for one in chooser._choices if one.section.startswith("country = CZ"))
    assert "people, partition 0, offset 4" in country.words.title
    assert isinstance(country.value, SourceCell)
    assert (country.value.source, country.value.target) == ("country", "address.country")
    assert not chooser.grab().toImage().isNull()
    chooser.chosen.emit(country.value)
    chooser.close()
    chosen = window.context.selection.current
    assert chosen.source is not None
    assert chosen.target is not None
    assert window.page == 0


@pytest.fixture
def payments(window: Window, tmp_path: Path) -> Window:
    """Return a window with a fact of a real target in front, and another one in that target."""
    activate(window)
    window.actions_table["warehouse_page"].trigger()
    page = window.warehouse.page
    page.load.target.setText(loaded_payments(window, tmp_path, ["C-7", "C-7"]))
    page.show_table("payment")
    return window


def open_chooser(window: Window) -> Chooser:
    (chooser,) = (each for each in window.findChildren(Chooser) if each.isVisible())
    return chooser


@pytest.mark.parametrize("typed", ["", "2", '{"payment_id": 2}'])
def test_a_fact_is_chosen_or_typed_and_says_what_brought_its_columns(payments: Window, typed: str) -> None:
    payments.actions_table["fact_reason"].trigger()
    chooser = open_chooser(payments)
    assert [one.value for one in chooser._choices] == [("1",), ("2",)]
    QTest.keyClicks(chooser.box, typed)
    QTest.keyClick(chooser.box, Qt.Key.Key_Return)
    told = open_chooser(payments)
    number = "2" if typed else "1"
    assert told.windowTitle() == f"Why payment {number} is so"
    amount = next(one for one in told._choices if one.section.startswith("amount = 12.50: "))
    assert f"orders, partition 1, offset 1{number}" in amount.words.title
    assert isinstance(amount.value, SourceCell)
    assert (amount.value.source, amount.value.target) == ("amount", "amount")
    told.chosen.emit(amount.value)
    told.close()
    assert payments.page == 0


@pytest.mark.parametrize(("typed", "words"), [("3", "no such fact"), ("1, 2", "no key of payment"), ("{", "no JSON")])
def test_what_is_typed_and_is_no_fact_is_refused_in_words(payments: Window, typed: str, words: str) -> None:
    payments.warehouse.page.timeline.fact.click()
    chooser = open_chooser(payments)
    QTest.keyClicks(chooser.box, typed)
    QTest.keyClick(chooser.box, Qt.Key.Key_Return)
    assert words in payments.notice.words.text()


def test_facts_are_asked_for_where_a_fact_is_shown_and_keys_where_a_dimension_is(payments: Window) -> None:
    timeline, reason = payments.warehouse.page.timeline, payments.actions_table["fact_reason"]
    for table, is_fact in (("payment", True), ("customer", False), ("date", False)):
        payments.warehouse.page.show_table(table)
        assert (timeline.fact.isHidden(), timeline.choose.isHidden()) == (not is_fact, is_fact)
        assert reason.isEnabled() == is_fact
        assert timeline.words.text().startswith("Facts have no versions") == is_fact


def test_an_inferred_member_leads_to_the_facts_that_refer_to_it(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    activate(window)
    window.actions_table["warehouse_page"].trigger()
    page = window.warehouse.page
    page.load.target.setText(loaded_payments(window, tmp_path, ["C-7", "C-9", "C-9", "C-9"]))
    page.timeline_dock.raise_()
    window.warehouse.timelines.show_rows("customer", [("9",)])
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Return):
        QTest.keyClick(page.timeline.view, key)
    told = open_chooser(window)
    assert told.windowTitle().startswith("customer 9 is inferred: no message brought it")
    cell, why, brought = told._choices
    assert {one.section for one in (cell, why)} == {"payment 2 refers to it by payer, as 2 more rows do"}
    assert "orders, partition 1, offset 12" in cell.words.title
    assert isinstance(cell.value, SourceCell)
    assert (cell.value.source, cell.value.target) == ("customer_id", "payer_id")
    assert brought.value == cell.value.message
    told.chosen.emit(why.value)
    told.close()
    assert open_chooser(window).windowTitle() == "Why payment 2 is so"
    workbench = window.project.workbench
    assert workbench is not None
    row = why_row(workbench, page.load.target_text, "customer", '{"customer_id": 9}')
    lines = list(reason_lines(row))
    assert lines[1] == "payment 2 refers to it by payer, as 2 more rows do"
    assert lines[2].startswith("  payer_id came with c of fx.payments.orders@4")
    (referring,) = row.as_json()["inferred_by"]
    assert (referring["table"], referring["key"], referring["rows"]) == ("payment", ["2"], 3)
    assert referring["cells"][0]["to"] == "payer_id"

    def hidden(_document: object, _shapes: object, shape: MemberShape) -> frozenset[str]:
        return frozenset({"payment_id"} if shape.table == "payment" else ())

    monkeypatch.setattr(row_reasons, "hidden_columns", hidden)
    (masked,) = why_row(workbench, page.load.target_text, "customer", '{"customer_id": 9}').as_json()["inferred_by"]
    assert (masked["key"], masked["cells"][0]["message"]["row_key"]) == (["•••"], "•••")


def message_row(window: Window) -> ChoiceRow:
    """Ask why a payment is so, and return the row for its message."""
    window.warehouse.timelines.reasons.explain("payment", ("2",))
    told = open_chooser(window)
    (found,) = (one for one in told._choices if one.section == "The messages themselves")
    assert LOAD in found.words.facts
    told.chosen.emit(found.value)
    told.close()
    return found


def keep_samples(window: Window, *places: str) -> Path:
    """Keep the run of the load, with records of some places."""
    workbench = window.project.workbench
    assert workbench is not None
    keep_recorded(workbench, LOAD)
    samples = run_folder(workbench.project_id, LOAD) / "samples"
    samples.mkdir(parents=True)
    sent = (SentMessage("payment", msgspec.Raw(b'{"entity":"payment","payload":{"payment_id":2}}')),)
    lines = (msgspec.json.encode(MappedRecord(place, sent, raw=f'{{"place": "{place}"}}')) for place in places)
    (samples / "part-000000-0.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    return samples.parent


@pytest.mark.parametrize("place", ["orders/1/12", "orders@12"])
def test_a_message_is_shown_in_the_run_that_brought_it(payments: Window, place: str) -> None:
    if "@" in place:
        target = payments.warehouse.page.load.target_text
        with DuckDb(Path(target.removeprefix("duckdb:"))) as opened:
            opened.run("UPDATE metl_history_payment SET position_partition = 0")
    keep_samples(payments, "orders/2/12", "orders/1/11", place, "orders/1/13")
    message_row(payments)
    assert payments.page == 2
    messages = payments.run_page.messages
    assert payments.run_page.past is not None
    assert payments.run_page.past.run_id == LOAD
    assert [one.place for one in messages.records if isinstance(one, MappedRecord)] == [place]
    assert place in messages.sides.before.toPlainText()
    messages.everything.click()
    assert len(messages.records) == 4


def test_a_run_that_keeps_other_records_is_shown_and_says_so(payments: Window) -> None:
    keep_samples(payments, "orders/1/11")
    message_row(payments)
    assert payments.page == 2
    assert payments.notice.words.text() == (
        f"Run {LOAD} brought the message, and keeps other records to look at, not this one."
    )


def test_a_message_whose_run_or_folder_is_gone_is_told_of_in_words(payments: Window) -> None:
    message_row(payments)
    assert payments.page == 3
    assert payments.notice.words.text() == (
        f"Load {LOAD} brought the message, and is no run that this project knows any more. It came from orders/1/12."
    )
    shutil.rmtree(keep_samples(payments, "orders/1/12"))
    message_row(payments)
    assert payments.page == 3
    assert "Its folder is gone, and what it kept with it." in payments.notice.words.text()


def test_a_decision_is_named_by_who_made_it_and_masked_values_stay_hidden(window: Window, target: str) -> None:
    workbench = window.project.workbench
    assert workbench is not None
    told = why_row(workbench, target, "customer", '{"customer_id": 7}')
    (cell,) = dict(told.cells)["country"]
    assert cell.decision is not None
    assert f"set by {cell.decision.who}" in cell.words
    assert "country = CZ: the value of this version" in list(reason_lines(told))
    assert told.as_json()["columns"][1]["cells"][0]["decision"]["state"] == cell.decision.state
    set_settings(workbench, PERSON, ["mask=country"])
    hidden = why_row(workbench, target, "customer", '{"customer_id": 7}')
    assert "CZ" not in " ".join(reason_lines(hidden))


@pytest.mark.parametrize(
    ("table", "key", "at_", "words"),
    [
        ("customer", "7", "", "has the parts customer_id"),
        ("customer", "{", "", "no JSON"),
        ("customer", '{"customer_id": 7}', "soon", "no time"),
        ("customer", '{"customer_id": 8}', "", "no customer 8"),
        ("date", '{"date_key": 8}', "", "no dimension and no fact"),
    ],
)
def test_what_names_no_row_is_refused_in_words(
    window: Window, target: str, table: str, key: str, at_: str, words: str
) -> None:
    workbench = window.project.workbench
    assert workbench is not None
    with pytest.raises(RunError, match=words):
        why_row(workbench, target, table, key, at_)
