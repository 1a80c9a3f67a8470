"""Topics on the Run page: chosen from a list or by a pattern, written to, shown before they are made."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from metl_gui.core.matrix.document import Document
from metl_gui.core.runs.kafka import TopicPlan
from metl_gui.ui.jobs.jobs import JobOutcome, SynchronousJobs
from metl_gui.ui.kafka.sink_dialog import NewTopicsDialog, SinkDialog, TopicSinkChoice
from metl_gui.ui.kafka.source_dialog import SourceDialog, TopicSourceChoice
from metl_gui.ui.run.setup import ModeSwitch
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs as asking
from metl_gui.workbench.runs.mapping_run import PRODUCTION
from metl_gui.workbench.runs.topics import ShownMessage, TopicContents, TopicInfo
from tests.helpers.run_requests import run_request

from .screen import words_in

_SERVERS = "kafka://127.0.0.1:9"
_THERE = tuple(TopicInfo(f"shop.public.{name}", at + 1) for at, name in enumerate(("carts", "customers", "orders")))


@pytest.fixture
def source(dressed: QApplication, qtbot: QtBot) -> SourceDialog:
    """Return a dialog that has heard which topics there are; nobody was asked."""
    dialog = SourceDialog(SynchronousJobs(dressed), Document, TopicSourceChoice("", ""))
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.servers.line.setText("127.0.0.1:9")
    dialog._list(JobOutcome((_SERVERS, _THERE)))
    return dialog


def test_topics_found_by_search_stay_chosen_while_others_are_searched(source: SourceDialog) -> None:
    assert source.source is None
    for search in ("orders", "carts"):
        source.line.setText(search)
        assert [each.name for each in source.table.rows.rows] == [f"shop.public.{search}"]
        source.table.setFocus()
        source.table.setCurrentIndex(source.table.rows.index(0, 0))
        QTest.keyClick(source.table, Qt.Key.Key_Space)
    found: list[TopicSourceChoice] = []
    source.chosen.connect(found.append)
    assert source.take.text() == "Read 2 topics"
    source.take.click()
    assert found == [TopicSourceChoice(f"{_SERVERS}/shop.public.orders,shop.public.carts", "earliest")]


def test_a_pattern_says_while_it_is_written_how_many_topics_it_fits_whole(source: SourceDialog) -> None:
    source.ways[1].click()
    counts = []
    for pattern in ("c", r"shop\.public\.c.*", r".*\.orders"):
        source.line.setText(pattern)
        counts.append(source.count.text())
    assert counts == [
        "0 of 3 topics fit, 0 partitions",
        "2 of 3 topics fit, 3 partitions",
        "1 of 3 topics fit, 3 partitions",
    ]
    assert source.source == TopicSourceChoice(rf"{_SERVERS}/^.*\.orders", "earliest")
    source.line.setText("(")
    assert source.count.text().startswith("✗ The pattern is no regular expression.")


def test_a_start_that_cannot_be_read_keeps_the_dialog_open_and_says_why(source: SourceDialog) -> None:
    source.table.rows.choose(["shop.public.orders"])
    source.start.choice.setCurrentIndex(2)
    source.start.line.setText("soon")
    assert not source.take.isEnabled()
    assert "✗" in source.start.fault.text()
    source.start.line.setText("2026-11-22T05:00:00Z")
    assert source.source == TopicSourceChoice(f"{_SERVERS}/shop.public.orders", "2026-11-22T05:00:00Z")


def test_what_lies_in_a_topic_is_shown_with_keys_and_tombstones(source: SourceDialog) -> None:
    messages = (
        ShownMessage("shop.public.orders/2/7", 0, '{"id":7}', "", "tombstone"),
        ShownMessage("shop.public.orders/0/3", 0, '{"id":3}', '{"op":"c"}', "text"),
    )
    source.look.show_outcome(JobOutcome(TopicContents("shop.public.orders", 3, 11, messages)))
    assert [row[0].words for row in source.look.model.rows] == ["2/7", "0/3"]
    assert source.look.model.rows[0][2].words == "tombstone"
    source.look.table.selectRow(1)
    assert source.look.whole.toPlainText() == '{"op":"c"}'
    assert source.look.facts.text() == "3 partitions, 11 offsets"


def test_a_chosen_address_is_shown_again_as_it_was_chosen(dressed: QApplication, qtbot: QtBot) -> None:
    now = TopicSourceChoice(r"kafka://127.0.0.1:9/^shop\..*", "latest")
    dialog = SourceDialog(SynchronousJobs(dressed), Document, now)
    qtbot.addWidget(dialog)
    assert (dialog.ways[1].isChecked(), dialog.line.text()) == (True, r"shop\..*")
    assert dialog.source == now


def test_a_sink_names_a_topic_for_each_entity_and_says_which_are_missing(dressed: QApplication, qtbot: QtBot) -> None:
    dialog = SinkDialog(SynchronousJobs(dressed), ("Order", "customer"), TopicSinkChoice(""))
    qtbot.addWidget(dialog)
    assert not dialog.take.isEnabled()
    dialog.servers.line.setText("127.0.0.1:9")
    dialog.pattern.setText("cdm.{entity}")
    dialog._list(JobOutcome((TopicInfo("cdm.order", 6),)))
    rows = [[cell.words for cell in row] for row in dialog.model.rows]
    assert rows == [
        ["cdm.order", "Order", "6 partitions"],
        ["cdm.customer", "customer", "not there yet"],
        ["metl.errors", "what is set aside", "not there yet"],
    ]
    assert dialog.facts.text().startswith("1 of 3 topics are there.")
    assert dialog.sink == TopicSinkChoice("kafka://127.0.0.1:9/cdm.{entity}", "kafka://127.0.0.1:9/metl.errors")
    dialog.errors.setText("aside.{entity}")
    assert not dialog.take.isEnabled()
    dialog.errors.setText("")
    dialog.pattern.setText("one,two")
    assert not dialog.take.isEnabled()


def test_topics_to_be_made_keep_their_settings_and_take_the_partitions_that_are_chosen(qtbot: QtBot) -> None:
    plans = (
        TopicPlan("cdm.order", 1, 1, (), "messages of the mapping"),
        TopicPlan("metl.errors", 1, 1, (("retention.ms", "5"),), "records that are set aside"),
    )
    dialog = NewTopicsDialog(plans, "127.0.0.1:9")
    qtbot.addWidget(dialog)
    agreed: list[tuple[TopicPlan, ...]] = []
    dialog.agreed.connect(agreed.append)
    dialog.partitions.setCurrentIndex(dialog.partitions.findData(6))
    assert [row[1].words for row in dialog.model.rows] == ["6", "1"]
    dialog.make.click()
    assert [(plan.name, plan.partitions) for plan in agreed[0]] == [("cdm.order", 6), ("metl.errors", 1)]


# on the page


@pytest.fixture
def topics(window: Window) -> Window:
    """Return a window whose fields lead from topics to topics."""
    window.show_page(2)
    places = window.run_page.setup.places
    places.take_source(TopicSourceChoice("kafka://127.0.0.1:9/shop.orders", "latest"))
    places.take_sink(TopicSinkChoice("kafka://127.0.0.1:9/cdm.{entity}", "kafka://127.0.0.1:9/cdm.errors", True))
    return window


def published_mode(window: Window) -> ModeSwitch:
    mode = window.run_page.setup.mode
    assert mode.live is not None
    mode.choose(PRODUCTION)
    QApplication.processEvents()
    return mode


def test_topics_to_topics_in_production_is_a_fast_lane_unless_batches_are_chosen(topics: Window) -> None:
    setup = topics.run_page.setup
    mode = published_mode(topics)
    assert mode.lane.isVisible()
    assert not mode.follow.isVisible()
    mode.lane.wait.setValue(2.5)
    expected = run_request(
        "kafka://127.0.0.1:9/shop.orders",
        "kafka://127.0.0.1:9/cdm.{entity}",
        mode=PRODUCTION,
        errors="kafka://127.0.0.1:9/cdm.errors",
        follow=True,
        lane="fast",
        start="latest",
        has_tombstones=True,
        wait_seconds=2.5,
    )
    assert setup.request == expected
    assert "Exactly once" in mode.lane.words.text()
    mode.lane.choose("batch")
    request = setup.request
    assert (request.policy.lane, request.source.follow, request.mapping.wait_seconds) == ("batch", False, 0.0)
    assert "At least once" in mode.lane.words.text()
    assert mode.follow.isVisible()


def test_a_fast_lane_without_an_error_topic_is_refused_with_the_way_to_one(
    topics: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(asking, "tell", lambda error, *_: told.append(f"{error.title} {error.hint}"))
    topics.run_page.setup.places.take_sink(TopicSinkChoice("kafka://127.0.0.1:9/cdm.{entity}"))
    published_mode(topics)
    topics.run_page.run_chosen()
    assert len(told) == 1
    assert told[0].startswith("A fast lane needs a topic for what it sets aside. Name an error topic")


def test_a_folder_leaves_nothing_of_topics_in_what_is_asked(topics: Window) -> None:
    setup = topics.run_page.setup
    published_mode(topics)
    setup.sink.setText("/out")
    setup.source.setText("/in")
    assert setup.request == run_request("/in", "/out", mode=PRODUCTION)
    assert not setup.mode.lane.isVisible()
    assert setup.format.isVisible()


def test_the_test_key_reads_the_topics_and_writes_nothing_where_production_writes(topics: Window) -> None:
    published_mode(topics)
    asked = topics.run_page.setup.test_request
    assert asked == run_request("kafka://127.0.0.1:9/shop.orders", start="latest")


def test_the_page_says_below_each_address_what_it_leaves_open(topics: Window) -> None:
    places = topics.run_page.setup.places
    assert places.source_facts.text() == "from now on"
    assert places.sink_facts.text() == "a tombstone after each delete · set aside into cdm.errors"
    assert "Choose topics to read" in words_in(places)


@pytest.mark.parametrize(
    ("action", "title"), [("choose_topics", "Topics to read"), ("choose_sink_topics", "Topics to write")]
)
def test_a_key_opens_the_choice_of_topics(window: Window, action: str, title: str) -> None:
    titles: Callable[[], list[str]] = lambda: [  # noqa: E731 - asked twice
        each.windowTitle() for each in QApplication.topLevelWidgets() if each.isVisible()
    ]
    assert title not in titles()
    window.actions_table[action].trigger()
    assert title in titles()
    dialogs = [each for each in QApplication.topLevelWidgets() if each.windowTitle() == title]
    dialogs[0].close()
