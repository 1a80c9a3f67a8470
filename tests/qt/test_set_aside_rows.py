"""Every row of what was set aside leads to its cell, its decision or its setting, or says why nothing does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from metl_gui.core.matrix.document import Document
from metl_gui.core.runs.records import SetAsideRecord
from metl_gui.ui.messages.set_aside import HIDDEN_VALUE, lead_words, next_step, reason_words, without_value
from metl_gui.ui.project.selection import NodeRef
from metl_gui.ui.settings_dialogs.schema_dialog import SchemaSettingsDialog
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.links.set_aside import REASONS, reason_title
from metl_gui.workbench.session import Workbench
from tests.qt.held_jobs import HeldJobs

ORDERS = "fx.payments.orders"
_DETAILS = {
    "ambiguous_version": "the versions 3, 4 fit; 4 maps amount to payment@2.0.0 amount, and 3 does not",
    "type_mismatch": "payment@2.0.0 amount takes a decimal with 2 places, and not 1.234",
    "block_needs_review": f"{ORDERS}@5:payment@2.0.0 needs review",
}


def record_of(reason: str, schema: str | None = ORDERS, position: str = "orders.jsonl@7") -> SetAsideRecord:
    return SetAsideRecord(reason, _DETAILS.get(reason, ""), 4, schema, "4", position, raw="{}")


def press_lead(window: Window, record: SetAsideRecord) -> str:
    """Show a record, press the link beside it, and return what the link was called."""
    window.show_page(2)
    panel = window.run_page.messages
    panel.records = [record]
    panel.refresh()
    words = panel.lead.text()
    QTest.mouseClick(panel.lead, Qt.MouseButton.LeftButton)
    return words


def node(document: Document) -> NodeRef:
    schema = document.extraction.named(ORDERS)
    assert schema is not None
    version = document.extraction.labelled(schema.id, "4")
    assert version is not None
    return NodeRef(schema.id, version.id)


@pytest.mark.parametrize(
    ("reason", "lead", "says"),
    [
        ("malformed", "Go to schema", "must write proper JSON"),
        ("undecodable", "Set framing", "framed"),
        ("unknown_schema", "Import schema", "Replay what waits for it"),
        ("unknown_version", "Add version", "Replay what waits for it"),
        ("no_key", "Set key", "key of the schema"),
        ("too_large", "Go to schema", "larger limit"),
        ("too_late", "Go to schema", "rebuild the warehouse"),
    ],
)
def test_what_no_cell_decides_leads_to_its_schema_with_what_to_do(
    window: Window, reason: str, lead: str, says: str
) -> None:
    assert press_lead(window, record_of(reason)) == lead
    assert window.page == 0
    assert window.selection.current.source == node(window.project.value)
    assert says in window.notice.words.text()


@pytest.mark.parametrize(("reason", "lead"), [("type_mismatch", "Go to cell"), ("ambiguous_version", "Go to cells")])
def test_what_a_cell_decides_leads_to_it(window: Window, reason: str, lead: str) -> None:
    assert press_lead(window, record_of(reason)) == lead
    assert window.page == 0
    assert window.selection.current.element is not None


def test_a_held_record_leads_to_the_item_that_it_waits_for_and_not_to_the_first(window: Window) -> None:
    document = window.project.value
    keys = [item.key for item in window.project.review_items()]
    assert len(keys) > 1
    for key in reversed(keys):
        version, entity = document.extraction.version(key[0]), document.cdm.version(key[1])
        names = (
            f"{document.extraction.schema(version.schema_id).name}@{version.label}",
            f"{document.cdm.schema(entity.schema_id).name}@{entity.label}",
        )
        detail = f"{':'.join(names)} needs review"
        record = SetAsideRecord("block_needs_review", detail, 4, ORDERS, "5", "orders.jsonl@7", raw="{}")
        assert press_lead(window, record) == "Review"
        assert window.page == 1
        assert window.review.list.current is not None
        assert window.review.list.current.key == key


def test_a_record_without_a_key_leads_on_to_the_settings_of_its_schema(window: Window) -> None:
    press_lead(window, record_of("no_key"))
    window.notice.action.click()
    dialog = next(each for each in window.findChildren(SchemaSettingsDialog) if each.isVisible())
    assert dialog.windowTitle() == "Settings of schema"
    assert window.selection.current.source == node(window.project.value)
    dialog.close()


def test_a_record_of_no_schema_says_why_nothing_in_the_project_mends_it(window: Window) -> None:
    record = record_of("malformed", None, "/elsewhere/captured.jsonl@3")
    assert press_lead(window, record) == "What to do"
    assert window.page == 2
    assert "must write proper JSON" in window.notice.words.text()


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_has_words_and_a_step_of_its_own(window: Window, reason: str) -> None:
    assert reason_words(reason) != reason.replace("_", " ").capitalize() + "."
    assert reason_title(reason) not in ("", reason)
    assert "_" not in reason_title(reason)
    assert next_step(reason).words != "Show"
    assert lead_words(window.project.value, record_of(reason))


def shows_set_aside(window: Window, folder: Path, reason: str) -> None:
    """Show a run that set a record aside."""
    store = folder / f"reason={reason}"
    store.mkdir(parents=True)
    row = {"reason": reason, "detail": _DETAILS[reason], "schema": ORDERS, "version": "4"}
    (store / "part-0.jsonl").write_text(json.dumps(row | {"position": "orders.jsonl@7", "raw": "{}"}) + "\n")
    window.show_page(2)
    window.run_page.report = {"errors": str(folder), "run_id": "r1", "mode": "test"}
    window.run_page.messages.show_run(folder.parent, str(folder))


def test_the_step_of_a_reason_goes_where_its_first_record_is_mended_and_shows_its_records(
    window: Window, tmp_path: Path
) -> None:
    shows_set_aside(window, tmp_path / "errors", "type_mismatch")
    window.run_page.aside.step_wanted.emit("type_mismatch")
    assert window.page == 0
    assert window.selection.current.element is not None
    assert [each.position for each in window.run_page.messages.records] == ["orders.jsonl@7"]  # type: ignore[union-attr]


def test_records_that_are_read_too_late_lead_nowhere_in_the_next_project(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = HeldJobs()
    monkeypatch.setattr(window.run_commands._looking, "_jobs", jobs)
    shows_set_aside(window, tmp_path / "errors", "block_needs_review")
    window.run_page.aside.step_wanted.emit("block_needs_review")
    window.show_project(Workbench.create(tmp_path / "next.metl"))
    page, words = window.page, window.notice.words.text()
    jobs.release()
    assert (window.page, window.notice.words.text()) == (page, words)


@pytest.mark.parametrize("goes_on", [False, True], ids=["nothing", "live"])
def test_records_that_are_read_too_late_are_not_shown_of_another_run(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, goes_on: bool
) -> None:
    jobs, panel = HeldJobs(), window.run_page.messages
    monkeypatch.setattr(panel._reading, "_jobs", jobs)
    shows_set_aside(window, tmp_path / "errors", "type_mismatch")
    panel.show_reason("type_mismatch")
    if goes_on:
        window.show_page(0)  # where nobody looks at it, nothing newer is read
        panel.show_live(tmp_path)
    else:
        panel.show_run(None)
    jobs.release()
    assert not panel.records


def test_a_value_that_looks_like_what_is_said_of_it_is_left_out_as_a_whole() -> None:
    told = "payment@1 amount takes a number, and not "
    assert without_value(f'{told}"secret@1 x takes y, and not z"') == told + HIDDEN_VALUE
