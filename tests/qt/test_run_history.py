"""The runs of a project on the Run page: listed, shown, those of the window followed, and compared two by two."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QTableView

from metl_gui.errors import RunError
from metl_gui.ui.jobs.jobs import JobOutcome, SynchronousJobs
from metl_gui.ui.run.head import VIEWS
from metl_gui.ui.run.history import RUN_ROLES, entry_of_past
from metl_gui.ui.run.progress import FollowedRun
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets.rows import RowsModel
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.links.set_aside import reason_title
from metl_gui.workbench.runs.mapping_run import RunRequest
from metl_gui.workbench.session import Workbench
from tests.helpers.run_requests import run_request
from tests.qt.conftest import end
from tests.qt.recorded_runs import course, keep_recorded, progress

ORDERS = "fx.payments.orders"


def click_run(window: Window, run_id: str, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    history = window.run_page.setup.history
    view = history.view
    spot = view.visualRect(history.model.index_of(run_id)).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, keys, spot)


def click_cell(table: QTableView, at: int, column: int) -> None:
    spot = table.visualRect(table.model().index(at, column)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=spot)


def words(table: QTableView) -> list[list[str]]:
    model = table.model()
    return [
        [str(model.index(at, column).data() or "") for column in range(model.columnCount())]
        for at in range(model.rowCount())
    ]


# the list


def test_every_run_is_listed_with_what_became_of_it(ran: Window) -> None:
    entries = ran.run_page.setup.history.model.rows
    assert [(entry.run_id, entry.words.pill) for entry in entries] == [
        ("r3", "failed"),
        ("r2", "7.5 s"),
        ("r1", "5.0 s"),
    ]
    assert entries[0].spoken.startswith("Production run, state ")
    assert entries[1].words.title == "Test · state 3"


def test_the_model_keeps_qts_rules_while_runs_come_change_and_go(ran: Window) -> None:
    model = RowsModel(RUN_ROLES)
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    entries = [entry_of_past(run) for run in ran.run_page.past_runs]
    for shown in ([], entries[1:], entries, entries[:1], entries[::-1], []):
        model.grow_rows(shown)
        assert model.rowCount() == len(shown)


def test_a_run_that_was_killed_says_that_its_counts_are_those_until_then_and_offers_no_messages(
    make_window: Callable[[], Window], sample: SampleFolder, tmp_path: Path
) -> None:
    with Workbench.open(sample.project) as workbench:
        keep_recorded(workbench, "r1", 20, outcome="cancelled", is_stopped=True)
        keep_recorded(workbench, "r2", 4, outcome="killed", is_stopped=True, failure="The program was killed.")
    window = make_window()
    window.show_project(Workbench.open(sample.project))
    window.show_page(2)
    page = window.run_page
    assert [entry.words.pill for entry in page.setup.history.model.rows] == ["killed", "cancelled"]
    assert page.setup.history.model.rows[1].words.facts.startswith("20,000 records until then · ")
    assert (page.head.pill.text(), page.failure.text.text()) == ("killed", "The program was killed.")
    assert page.head.facts.text().startswith("4,000 records counted until then · ")
    assert page.messages.pair is None
    assert window.grab().save(str(tmp_path / "killed.png"))
    click_run(window, "r1")
    assert (page.head.pill.text(), page.failure.isVisible()) == ("cancelled", False)


def test_a_click_shows_a_run_in_figures_chart_and_tables(ran: Window) -> None:
    page = ran.run_page
    click_run(ran, "r2")
    assert page.figures.read.value.text() == "30,000"
    assert page.chart.course.seconds == 7.5
    assert page.head.title.text() == "Test · state 3"
    assert page.head.pill.text() == "finished"
    assert [entity.entity for entity in page.by_entity.rows] == ["payment", "customer"]
    assert words(page.aside.table)[0][:1] == ["no version fits"]


def test_arrows_go_through_the_runs_and_each_is_shown(ran: Window) -> None:
    page = ran.run_page
    page.setup.history.view.setFocus()
    QTest.keyClick(page.setup.history.view, Qt.Key.Key_Down)
    assert (page.report or {})["run_id"] == "r2"
    QTest.keyClick(page.setup.history.view, Qt.Key.Key_Down)
    assert (page.report or {})["run_id"] == "r1"


def test_a_run_that_failed_says_why_within_the_page_and_offers_to_go_on(
    ran: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = ran.run_page
    click_run(ran, "r3")
    assert page.failure.isVisible()
    assert "disk is full" in page.failure.text.text()
    assert page.head.act.text() == "Go on"
    resumed: list[str] = []
    monkeypatch.setattr(page.production, "resume", lambda _workbench, run_id: resumed.append(run_id))
    QTest.mouseClick(page.head.act, Qt.MouseButton.LeftButton)
    assert resumed == ["r3"]


def test_figures_lead_to_what_they_count(ran: Window) -> None:
    page = ran.run_page
    click_run(ran, "r2")
    page.figures.aside.setFocus()
    QTest.keyClick(page.figures.aside, Qt.Key.Key_Space)
    assert QApplication.focusWidget() is page.aside.table
    assert page.messages.only_aside.isChecked()
    assert len(page.messages.records) == 5
    QTest.mouseClick(page.figures.mapped, Qt.MouseButton.LeftButton)
    assert QApplication.focusWidget() is page.by_entity.table
    QTest.mouseClick(page.figures.kernel, Qt.MouseButton.LeftButton)
    assert page.views.speed.isVisible()
    QTest.mouseClick(page.figures.rate, Qt.MouseButton.LeftButton)
    QTest.mouseClick(page.figures.read, Qt.MouseButton.LeftButton)
    page.show_details()
    assert words(page.views.details.version_table)[0][:2] == [f"{ORDERS} 4", "30,000"]


@pytest.mark.parametrize("view", ["Details", "Speed", "Compare"])
def test_tab_leads_from_the_choice_of_views_into_the_view_that_is_in_front(ran: Window, view: str) -> None:
    page = ran.run_page
    click_run(ran, "r2")
    click_run(ran, "r1", Qt.KeyboardModifier.ControlModifier)
    button = page.head.views[VIEWS.index(view)]
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    if view == "Compare":
        page.show_comparison()
    button.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(button, Qt.Key.Key_Tab)
    front, focus = page.views.currentWidget(), QApplication.focusWidget()
    assert front is not None
    assert focus is not None
    assert front.isAncestorOf(focus)
    QTest.keyClick(focus, Qt.Key.Key_Backtab)
    assert QApplication.focusWidget() is button


@pytest.mark.usefixtures("chosen")
def test_a_closed_window_leaves_none_of_its_menus_even_when_a_chart_was_shown(
    sample: SampleFolder, tmp_path: Path
) -> None:
    before = set(QApplication.topLevelWidgets())
    window = Window(QSettings(str(tmp_path / "own.ini"), QSettings.Format.IniFormat), SynchronousJobs(), warms_up=False)
    window.show()
    window.show_project(Workbench.open(sample.project))
    window.show_page(2)
    assert set(QApplication.topLevelWidgets()) > before
    end(window)
    assert set(QApplication.topLevelWidgets()) <= before


def test_the_share_of_required_attributes_leads_to_which_of_them_are_empty_and_to_the_attribute(ran: Window) -> None:
    page = ran.run_page
    QAbstractItemModelTester(page.views.details.filled, QAbstractItemModelTester.FailureReportingMode.Fatal)
    click_run(ran, "r2")
    share = words(page.by_entity.table)[0][2]
    assert share.endswith("%")
    click_cell(page.by_entity.table, 0, 2)
    assert page.views.details.isVisible()
    rows = words(page.views.details.filled_table)
    amount = next(at for at, cells in enumerate(rows) if cells[0] == "amount")
    assert rows[amount][2] == "300"
    page.views.details.filled_table.setCurrentIndex(page.views.details.filled.index(amount, 0))
    QTest.keyClick(page.views.details.filled_table, Qt.Key.Key_Return)
    assert ran.stack.currentWidget() is ran.map
    target = ran.selection.current.target
    assert target is not None
    version = ran.project.value.cdm.version(target.version or 0)
    found = version.attribute(target.attribute or 0)
    assert found is not None
    assert found.path == "amount"


def test_a_version_that_was_read_leads_to_the_map(ran: Window) -> None:
    page = ran.run_page
    page.show_details()
    click_cell(page.views.details.version_table, 0, 1)
    source = ran.selection.current.source
    assert source is not None
    assert ran.project.value.extraction.version(source.version or 0).label == "4"


# speed


def test_speed_says_how_long_a_message_took_and_shows_the_runs_before_it(ran: Window) -> None:
    page = ran.run_page
    click_run(ran, "r2")
    ran.actions_table["run_speed"].trigger()
    values = {name: label.text() for name, label in page.views.speed.values.items()}
    assert values["transformations"] == "30,000"
    assert values["mean"] == "0.41 µs"
    assert (values["column sets"], values["hit rate"], values["code"]) == ("7", "99.9 %", "compiled")
    assert sum(bar.value for bar in page.views.speed.batches.bars) == 30
    bars = page.views.speed.runs.bars
    assert [bar.key for bar in bars] == ["r1", "r2", "r3"]
    assert [bar.is_current for bar in bars] == [False, True, False]


def test_a_bar_leads_to_its_run_by_keys(ran: Window) -> None:
    page = ran.run_page
    click_run(ran, "r2")
    page.show_speed()
    page.views.speed.runs.setFocus()
    for _ in range(3):
        QTest.keyClick(page.views.speed.runs, Qt.Key.Key_Left)
    assert "p95" in page.views.speed.runs.accessibleDescription()
    QTest.keyClick(page.views.speed.runs, Qt.Key.Key_Return)
    assert (page.report or {})["run_id"] == "r1"
    assert page.body.isVisible()


# comparing


def test_two_runs_chosen_with_ctrl_are_compared_the_older_one_first(ran: Window) -> None:
    page = ran.run_page
    click_run(ran, "r2")
    click_run(ran, "r1", Qt.KeyboardModifier.ControlModifier)
    assert page.setup.history.compare.text() == "Compare these two"
    QTest.mouseClick(page.setup.history.compare, Qt.MouseButton.LeftButton)
    assert page.views.comparison.isVisible()
    read = words(page.views.comparison.tables["figure"])[0]
    assert read == ["read", "20,000", "30,000", "+50.0 %"]
    filled = words(page.views.comparison.tables["filled"])
    assert {cells[0] for cells in filled} == {"payment 2.0.0 payment_id", "payment 2.0.0 amount"}


def test_a_run_is_compared_with_the_next_one_that_is_clicked(ran: Window) -> None:
    page = ran.run_page
    click_run(ran, "r1")
    page.setup.history.compare.setFocus()
    QTest.keyClick(page.setup.history.compare, Qt.Key.Key_Space)
    assert page.setup.history.compare.text() == "Choose the other one"
    click_run(ran, "r2")
    comparison = page.views.comparison.comparison
    assert comparison is not None
    assert (comparison.a.run_id, comparison.b.run_id) == ("r1", "r2")
    QTest.mouseClick(page.views.comparison.swap, Qt.MouseButton.LeftButton)
    assert words(page.views.comparison.tables["figure"])[0][3].startswith("\u2212")


@pytest.mark.parametrize(
    ("kind", "column", "run_id"), [("entity", 1, "r1"), ("entity", 2, "r2"), ("reason", 2, "r2"), ("figure", 1, "r1")]
)
def test_a_number_of_a_comparison_leads_into_the_run_that_it_counts(
    ran: Window, kind: str, column: int, run_id: str
) -> None:
    page = ran.run_page
    for model in page.views.comparison.models.values():
        QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    page.setup.history.comparison_wanted.emit((entry_of_past(page.past_runs[2]), entry_of_past(page.past_runs[1])))
    click_cell(page.views.comparison.tables[kind], 0, column)
    assert page.body.isVisible()
    assert (page.report or {})["run_id"] == run_id
    if kind == "entity":
        assert page.messages.wanted.entity == "payment"
    if kind == "reason":
        assert reason_title(page.messages.wanted.reason) == words(page.aside.table)[0][0] == "no version fits"


def test_a_filled_attribute_of_a_comparison_leads_to_the_map(ran: Window) -> None:
    page = ran.run_page
    page.setup.history.comparison_wanted.emit((entry_of_past(page.past_runs[2]), entry_of_past(page.past_runs[1])))
    table = page.views.comparison.tables["filled"]
    table.setFocus()
    table.setCurrentIndex(page.views.comparison.models["filled"].index(0, 0))
    QTest.keyClick(table, Qt.Key.Key_Return)
    assert ran.stack.currentWidget() is ran.map


# runs that go on


def own_run(window: Window, ticks: int = 10) -> FollowedRun:
    page = window.run_page
    page._runs_for = page._project.workbench
    page.own = FollowedRun("Test · state 4")
    page._list()
    page.show_own()
    for event in course("r9", 40)[: ticks + 1]:
        window.spark.told.emit(event)
    return page.own


def test_a_run_says_how_far_it_is_and_how_long_it_still_takes(ran: Window) -> None:
    page = ran.run_page
    own_run(ran)
    assert page.head.pill.text() == "running"
    assert "10 kB of 40 kB · 7.5 s left" in page.head.facts.text()
    assert page.head.bar.value() == 250


def test_looking_at_an_earlier_run_does_not_disturb_the_one_that_goes_on(ran: Window) -> None:
    page = ran.run_page
    own_run(ran, 10)
    click_run(ran, "r1")
    ran.spark.told.emit(progress("r9", 12, 40))
    assert page.figures.read.value.text() == "20,000"
    click_run(ran, "this window's run")
    assert page.figures.read.value.text() == "12,000"
    assert page.chart.course.seconds == 3.0


def test_a_failure_is_told_in_words_within_the_page_and_the_run_can_be_started_again(
    ran: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = ran.run_page
    own_run(ran)
    page._ended(JobOutcome(error=RunError("The Spark process ended.", "No memory was left.", "Close something.")))
    assert (page.head.pill.text(), page.failure.title.text()) == ("failed", "The Spark process ended.")
    assert "Close something." in page.failure.text.text()
    assert page.figures.read.value.text() == "10,000"
    again: list[object] = []
    page.last_request = page.setup.test_request
    monkeypatch.setattr(ran.spark, "run", lambda _workbench, request: again.append(request))
    QTest.mouseClick(page.failure.again, Qt.MouseButton.LeftButton)
    assert again == [page.last_request]
    assert not page.failure.isVisible()


@pytest.mark.parametrize(
    ("request_", "stays"),
    [
        (run_request("in"), "None of its messages was kept."),
        (run_request("in", "kafka://b:9092/{entity}"), "What it has sent stays in its topics."),
        (run_request("in", checkpoint="c"), "What it has put in place stays."),
    ],
)
def test_a_cancelled_run_says_what_of_its_messages_stays(ran: Window, request_: RunRequest, stays: str) -> None:
    page = ran.run_page
    own_run(ran)
    page.last_request = request_
    page.stop()
    assert page.head.facts.text() == "is being stopped"
    page._ended(JobOutcome(is_cancelled=True))
    assert (page.head.pill.text(), page.head.facts.text()) == ("cancelled", stays)


def test_a_target_that_was_run_on_is_offered_again_without_its_token(
    ran: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = ran.run_page
    monkeypatch.setattr(ran.spark, "run", lambda *_: None)
    page.setup.target.choose("sc://spark.example.com:15002/;token=secret")
    page.run()
    assert ran.settings.targets == ["sc://spark.example.com:15002"]
    box = page.setup.target.box
    assert "sc://spark.example.com:15002" in [box.itemText(at) for at in range(box.count())]


def test_a_target_that_cannot_be_read_says_so_beside_the_box(ran: Window) -> None:
    page = ran.run_page
    page.setup.target.line.setFocus()
    page.setup.target.line.selectAll()
    QTest.keyClicks(page.setup.target.line, "sprak")
    QTest.keyClick(page.setup.target.line, Qt.Key.Key_Return)
    assert page.setup.target.state.text() != "not started"
    assert page.setup.target.state.text() in ran.head.spark.accessibleName()


# looks


STATES: dict[str, Callable[[Window], object]] = {
    "finished": lambda window: click_run(window, "r2"),
    "failed": lambda window: click_run(window, "r3"),
    "running": own_run,
    "speed": lambda window: window.run_page.show_speed(),
    "details": lambda window: window.run_page.show_details(),
    "compared": lambda window: window.run_page.setup.history.comparison_wanted.emit(
        (entry_of_past(window.run_page.past_runs[2]), entry_of_past(window.run_page.past_runs[1]))
    ),
    "production": lambda window: window.run_page.setup.mode.choose("production"),
}


LOOKS = (("light", (1600, 1000)), ("dark", (1100, 700)), ("light", (1100, 700)))


@pytest.mark.parametrize(
    ("state", "theme", "size"), [(state, *LOOKS[at % len(LOOKS)]) for at, state in enumerate(STATES)]
)
def test_every_state_of_the_page_fits_and_can_be_grabbed(
    ran: Window, tmp_path: Path, state: str, theme: str, size: tuple[int, int]
) -> None:
    ran.dressing.choose(theme)
    ran.resize(*size)
    STATES[state](ran)
    QApplication.processEvents()
    picture = ran.grab()
    assert picture.save(str(tmp_path / f"run-{state}-{theme}.png"))
    page = ran.run_page
    for button in (*page.head.views, page.setup.run_button, page.setup.stop_button):
        if button.isVisible():
            inside = page.rect().contains(button.mapTo(page, button.rect().bottomRight() - QPoint(1, 1)))
            assert inside, f"{button.text()} is cut"
