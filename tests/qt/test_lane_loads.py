"""Loading existing rows in the window: looked at first, begun when a person agrees, and given up."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from metl_gui.core.progress import Watch
from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.core.runs.lanes import LoadProgress
from metl_gui.engine.lanes.loads import LoadOrder
from metl_gui.errors import RunError
from metl_gui.ui.jobs.jobs import SynchronousJobs
from metl_gui.ui.lanes import load_dialog
from metl_gui.ui.lanes.load_dialog import LoadDialog, newest_words, stopped_words
from metl_gui.ui.lanes.panel import PartitionPanel
from metl_gui.ui.run import lane_commands
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.lanes.control import Lane
from metl_gui.workbench.lanes.initial_load import Loadable, LoadPlan, LoadRequest, TableLoad
from metl_gui.workbench.profiles.saved_profiles import Profile, save_profile
from metl_gui.workbench.session import Workbench
from tests.qt.recorded_lanes import keep_lane, lane_progress, partition_at

pytestmark = pytest.mark.usefixtures("dressed")

ORDERS, PEOPLE = "fx.payments.orders", "fx.customers.person"
HALF = LoadProgress(id="l1", changes=ORDERS, rows=2_000, done=300)
SIGNALS = {"signal": "public.signals", "topic": "kafka:signals"}
THROUGH = LoadProgress(id="l0", changes=PEOPLE, rows=50, done=50, is_done=True, ended_ms=1_700_000_000_000)


@pytest.fixture
def workbench(tmp_path: Path) -> Iterator[Workbench]:
    with Workbench.create(tmp_path / "p.metl", who="Ada") as made:
        yield made


def lane_of(workbench: Workbench) -> Lane:
    """Make a lane that goes on in a process of its own: this one."""
    run = keep_lane(workbench, "20261122-050000-aaaaaa", os.getpid())
    return Lane(run, "g", KafkaServers(bootstrap="h:1"), None)


class Looked:
    """Stands where servers are asked what a load would do, and keeps what it was asked and what began."""

    def __init__(self) -> None:
        self.requests: list[LoadRequest] = []
        self.begun: list[str] = []

    def __call__(self, _workbench: Workbench, lane: Lane, request: LoadRequest, _watch: Watch) -> LoadPlan:
        self.requests.append(request)
        tables = tuple(TableLoad(topic.partition(".")[2], topic, 2, 2_000, 50) for topic in request.tables)
        return LoadPlan(lane, tables, self._begin, "The rows are read.")

    def _begin(self, table: TableLoad, _watch: Watch) -> Sequence[LoadOrder]:
        self.begun.append(table.table)
        return ()


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Looked:
    made = Looked()
    monkeypatch.setattr(load_dialog, "plan_load", made)
    return made


def dialog_of(workbench: Workbench, qtbot: QtBot, *tables: Loadable) -> LoadDialog:
    lane, tables = lane_of(workbench), tables or (Loadable(ORDERS), Loadable(PEOPLE))
    dialog = LoadDialog(SynchronousJobs(), workbench, lane, tables)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def database_line(dialog: LoadDialog) -> QLineEdit:
    line = dialog.database.lineEdit()
    assert line is not None
    return line


def cells(dialog: LoadDialog) -> list[tuple[str, ...]]:
    return [row.cells for row in dialog.table.rows.rows]


def test_by_keys_a_load_is_looked_at_before_it_is_agreed_to_and_another_choice_asks_for_another_look(
    workbench: Workbench, looked: Looked, qtbot: QtBot
) -> None:
    dialog = dialog_of(workbench, qtbot)
    assert not dialog.do.isEnabled()
    QTest.keyClick(dialog.table, Qt.Key.Key_Space)
    line = database_line(dialog)
    QTest.keyClicks(line, "postgresql://h/shop")
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert looked.requests == [LoadRequest((ORDERS,), "postgresql", "postgresql://h/shop")]
    assert cells(dialog) == [("not loaded yet", "2,000", "50"), ("not loaded yet", "", "")]
    assert dialog.words.text().startswith("About 2,000 rows of 1 table. 50 rows compared")
    assert dialog.do.text() == "Load about 2,000 rows"
    QTest.keyClick(dialog.table, Qt.Key.Key_Down)
    QTest.keyClick(dialog.table, Qt.Key.Key_Space)
    assert not dialog.do.isEnabled()
    assert cells(dialog) == [("not loaded yet", "", ""), ("not loaded yet", "", "")]
    agreed: list[LoadPlan] = []
    dialog.agreed.connect(agreed.append)
    dialog.look.click()
    QTest.keyClick(dialog.do, Qt.Key.Key_Space)
    assert [table.topic for table in agreed[0].tables] == [ORDERS, PEOPLE]
    assert not looked.begun


def test_a_way_asks_for_what_it_needs_and_looks_once_it_has_that(workbench: Workbench, qtbot: QtBot) -> None:
    dialog = dialog_of(workbench, qtbot)
    dialog.table.rows.choose([ORDERS])
    lines = {"database": database_line(dialog), "slot": dialog.slot, "signal": dialog.signal}
    seen: dict[str, tuple[str, ...]] = {}
    enough: list[tuple[str, tuple[str, ...]]] = []
    for way, button in dialog.ways.items():
        button.click()
        seen[way] = tuple(name for name, line in lines.items() if line.isVisible())
        for fields in ((), ("database",), ("signal",), ("topic",), ("database", "signal")):
            lines["database"].setText("@shop" if "database" in fields else "")
            lines["signal"].setText(next((SIGNALS[name] for name in fields if name in SIGNALS), ""))
            if dialog.look.isEnabled():
                enough.append((way, fields))
    assert seen == {"postgresql": ("database", "slot"), "debezium": ("database", "signal"), "beginning": ()}
    assert [fields for way, fields in enough if way == "postgresql"] == [("database",), ("database", "signal")]
    assert [fields for way, fields in enough if way == "debezium"] == [("topic",), ("database", "signal")]
    assert len([way for way, _ in enough if way == "beginning"]) == 5


def test_a_refusal_says_why_and_leaves_nothing_to_agree_to(
    workbench: Workbench, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> LoadPlan:
        raise RunError("The records are not JSON.", "They are Avro.", "Have the connector send the rows.")

    monkeypatch.setattr(load_dialog, "plan_load", refuse)
    dialog = dialog_of(workbench, qtbot)
    dialog.table.rows.choose([ORDERS])
    dialog.ways["beginning"].click()
    dialog.look.click()
    assert dialog.words.text() == "✗ The records are not JSON.\nThey are Avro.\nHave the connector send the rows."
    assert not dialog.do.isEnabled()


def test_a_table_whose_load_goes_on_can_only_be_given_up(workbench: Workbench, qtbot: QtBot) -> None:
    dialog = dialog_of(workbench, qtbot, Loadable(ORDERS, HALF), Loadable(PEOPLE, THROUGH))
    assert [row[0] for row in cells(dialog)] == ["goes on: 300 of 2,000 rows", newest_words(THROUGH)]
    given_up: list[Sequence[str]] = []
    dialog.given_up.connect(given_up.append)
    dialog.ways["beginning"].click()
    dialog.table.rows.choose([PEOPLE])
    assert (dialog.give_up.isVisible(), dialog.look.isEnabled()) == (False, True)
    dialog.table.rows.choose([ORDERS])
    assert (dialog.give_up.isVisible(), dialog.look.isEnabled()) == (True, False)
    dialog.give_up.click()
    assert given_up == [(ORDERS,)]


def test_connections_to_databases_are_offered_and_the_first_is_chosen(workbench: Workbench, qtbot: QtBot) -> None:
    save_profile(Profile(name="shop", target="postgresql://h/shop"))
    assert dialog_of(workbench, qtbot).database.currentText() == "@shop"


def test_the_lane_view_begins_what_was_agreed_to_and_says_what_became_of_it(
    window: Window, looked: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert window.project.workbench is not None
    lane = lane_of(window.project.workbench)
    for module in (lane_commands, lane_commands):
        monkeypatch.setattr(module, "find_lane", lambda *_: lane)
    monkeypatch.setattr(lane_commands, "loadables", lambda _lane: (Loadable(ORDERS),))
    window.run_page.production.look()
    window.show_page(2)
    window.run_page.show_live()
    window.actions_table["lane_load"].trigger()
    (dialog,) = window.findChildren(LoadDialog)
    assert list(dialog.table.rows.chosen) == [ORDERS]
    dialog.ways["beginning"].click()
    dialog.look.click()
    dialog.do.click()
    assert looked.begun == ["payments.orders"]
    said = window.notice.words.text()
    assert said == "The connector was asked for the rows of payments.orders; they come among the changes."


def test_rows_that_are_being_loaded_stand_among_the_partitions_by_the_topic_of_their_table(qtbot: QtBot) -> None:
    panel = PartitionPanel()
    qtbot.addWidget(panel)
    parts = (partition_at(1, 3), partition_at(1, 3, topic=f"metl.load.a1b2c3d4.{ORDERS}"))
    panel.show_progress(lane_progress("r", 1, partitions=parts))
    assert [row[0].words for row in panel.model.rows] == [f"{ORDERS}/0", f"{ORDERS}/0 · existing rows"]


def test_whoever_stops_waiting_for_a_load_hears_whether_the_lane_goes_on_with_it(workbench: Workbench) -> None:
    plan = LoadPlan(lane_of(workbench), (TableLoad("payments.orders", ORDERS, 2),), Looked()._begin)
    assert stopped_words(plan, (HALF, THROUGH)) == (
        f"The lane goes on with {ORDERS} (300 of 2,000 rows); to stop that too, give the load up."
    )
    assert stopped_words(plan, (THROUGH,)) == "The load was stopped before the lane was told of it."
