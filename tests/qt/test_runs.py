"""A run in the window: rates, messages, the whole loop on the sample with a real Spark."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from metl_gui.core.edits.version_scope import VersionScope
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.runs.records import SetAsideRecord
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.jobs.jobs import JobOutcome
from metl_gui.ui.matrix.input.hit_test import Cell
from metl_gui.ui.messages.json_layout import indented
from metl_gui.ui.messages.pairs import readable, unwrapped
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.user_folders import runs_folder


def test_indenting_touches_no_digit_and_no_escape() -> None:
    text = '{"a":1.50,"b":[-0.0,18446744073709551616],"c":"x\\u00e9\\"{,:}","d":{},"e":[]}'
    laid_out = indented(text)
    assert "".join(laid_out.split()) == text
    assert '"a": 1.50,\n' in laid_out
    assert '"d": {}' in laid_out


def test_what_is_no_json_is_shown_all_the_same() -> None:
    assert readable(b"\xff{") == "\\xff{"
    assert unwrapped(b"not json") == ("", b"not json")


def test_a_record_that_wraps_its_message_shows_the_message() -> None:
    where, value = unwrapped(b'{"topic":"fx.t","key":null,"value":"{\\"id\\":1}"}')
    assert (where, value) == ("fx.t", b'{"id":1}')


def test_without_messages_a_run_says_what_to_choose(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def reply(title: str, text: str, *_: object) -> str:
        said.append(f"{title} {text}")
        return "close"

    monkeypatch.setattr(dialogs, "ask", reply)
    window.run_page.setup.source.clear()
    window.actions_table["run"].trigger()
    assert said == ["Nothing to map yet. No messages are chosen.\nChoose a file, a folder or topics under From."]
    assert not window.spark.is_running


def test_the_sample_offers_its_own_messages(window: Window, waiting_sample: SampleFolder) -> None:
    assert window.run_page.setup.request.source.address == str(waiting_sample.messages)


def confirm_smaller_blocks(window: Window) -> None:
    while window.project.review_items():
        window.review.confirm()


def set_one_element(window: Window) -> None:
    document = window.project.value
    for block in document.matrix.blocks():
        sources = document.extraction.version(block.version).attributes
        targets = document.cdm.version(block.entity_version).attributes
        free_p = [a.id for a in sources if a.id not in {e.p for e in block.elements}]
        free_q = [a.id for a in targets if a.id not in {e.q for e in block.elements}]
        if free_p and free_q and block.elements:
            window.map.matrix.toggle_wanted.emit(Cell(block.key, Element(free_q[0], free_p[0])))
            return


@pytest.mark.spark
def test_the_whole_loop_from_the_waiting_version_to_the_counts_of_a_run(
    threaded: Window, sample: SampleFolder, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["confirm", "confirm"])
    monkeypatch.setattr(dialogs, "ask", lambda *_: next(answers))
    window = threaded
    with qtbot.waitSignal(window.project.changed):
        window.imports.import_schemas(Side.EXTRACTION, [sample.waiting])
    qtbot.waitUntil(lambda: window.notice.action.text().startswith("Review"))
    QTest.mouseClick(window.notice.action, Qt.MouseButton.LeftButton)
    assert window.stack.currentWidget() is window.review
    assert len(window.project.review_items()) == 2
    confirm_smaller_blocks(window)
    assert window.project.review_items() == ()
    ones = window.project.value.matrix.ones
    window.map.edits.choose(VersionScope.THIS)
    set_one_element(window)
    assert window.project.value.matrix.ones == ones + 1
    outcomes: list[JobOutcome[object]] = []
    window.spark.ended.connect(outcomes.append)
    with qtbot.waitSignal(window.spark.ended):
        window.actions_table["run"].trigger()
        assert window.stack.currentWidget() is window.run_page
    assert outcomes[0].error is None
    report = window.run_page.report
    assert report is not None
    assert report["state"] == window.project.value.state
    assert report["read"] == report["mapped"] + report["filtered"] + report["set_aside"] + report["skipped"]
    assert window.run_page.figures.read.value.text() == f"{report['read']:,}"
    shown = {row.entity: row.messages for row in window.run_page.by_entity.rows}
    assert shown == report["by_entity"]
    messages = window.run_page.messages
    qtbot.waitUntil(lambda: messages.pair is not None)
    qtbot.waitUntil(lambda: [entry.is_live for entry in window.run_page.setup.history.model.rows] == [False])
    messages.show_reason("malformed")
    qtbot.waitUntil(lambda: isinstance(messages.record, SetAsideRecord))
    refused = window.run_page.messages.pair
    assert refused is not None
    assert refused.after_title == "set aside · no proper JSON"


@pytest.mark.spark
def test_a_run_that_is_cancelled_before_spark_is_there_ends_and_is_in_the_history(
    threaded: Window, qtbot: QtBot
) -> None:
    window = threaded
    assert window.project.workbench is not None
    folder = runs_folder(window.project.workbench.project_id)
    outcomes: list[JobOutcome[object]] = []
    window.spark.ended.connect(outcomes.append)
    window.actions_table["run"].trigger()
    assert window.run_page.setup.stop_button.isEnabled()
    qtbot.waitUntil(lambda: any(folder.glob("*/begun.json")))
    with qtbot.waitSignal(window.spark.ended):
        window.actions_table["stop"].trigger()
    assert outcomes[0].is_cancelled
    listed = window.run_page.setup.history.model
    qtbot.waitUntil(lambda: [entry.words.pill for entry in listed.rows] == ["cancelled"])
    assert listed.rows[0].words.facts.startswith("0 records until then")
    assert window.run_page.head.pill.text() == "cancelled"
    assert window.run_page.setup.run_button.isEnabled()
