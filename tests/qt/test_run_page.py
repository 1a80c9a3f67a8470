"""The Run page beyond a test: production said in words, next steps of what was set aside, replays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from metl_gui.core.edits.review import ConfirmBlock
from metl_gui.core.runs.report import RunReport
from metl_gui.core.runs.run_spec import ReplayOrder
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.mapping.plan_compiler import compile_plan
from metl_gui.ui.jobs.jobs import JobOutcome
from metl_gui.ui.run.set_aside import SetAsidePanel
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.importing.version_tasks import collect_tasks, version_tasks
from metl_gui.workbench.runs.mapping_run import RunRequest
from metl_gui.workbench.session import Workbench
from tests.helpers.fx_files import content
from tests.helpers.run_requests import replay_request
from tests.qt.conftest import activate

ORDERS = "fx.payments.orders"


def keep_run(
    workbench: Workbench, sample: SampleFolder, errors: Path, mode: str = "test", topic: bytes = ORDERS.encode()
) -> None:
    """Map payments as a run does, without Spark, and keep its report and what it set aside."""
    run_id = "r1"
    is_production = mode == "production"
    plan = compile_plan(workbench.document, "", include_unconfirmed=not is_production)
    raws = content(sample.messages / "payments.jsonl").replace(ORDERS.encode(), topic).splitlines()
    kernel = Kernel(plan, "production" if is_production else "test")
    outcome = kernel.map(Records.of(raws, "payments.jsonl", range(len(raws))))
    for row in outcome.set_aside:
        folder = errors / f"reason={row.reason}"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "part-000000-0.jsonl").open("ab") as part:
            part.write(row.text + b"\n")
    counts = outcome.counts()
    report = RunReport(
        run_id=run_id, mode=mode, spark="local[2]", state=workbench.document.state, hash="", seconds=1.0,
        records_per_second=1.0, errors=str(errors), source="cdc", **counts,  # type: ignore[arg-type]
    )  # fmt: skip
    workbench.add_run(report.as_json(), [])
    collect_tasks(workbench, errors, run_id, report)


@pytest.fixture
def errors(tmp_path: Path) -> Path:
    return tmp_path / "errors"


def rows(panel: SetAsidePanel) -> list[list[str]]:
    return [[cell.words for cell in row] for row in panel.model.rows]


def click(panel: SetAsidePanel, row: int, column: int) -> None:
    table = panel.table
    table.setColumnHidden(1, False)
    QTest.mouseClick(
        table.viewport(),
        Qt.MouseButton.LeftButton,
        pos=table.visualRect(panel.model.index(row, column)).center() - QPoint(1, 0),
    )


def open_on(window: Window, sample: SampleFolder) -> Window:
    window.show_project(Workbench.open(sample.project))
    window.show_page(2)
    return window


@pytest.fixture
def unknown(make_window: Callable[[], Window], sample: SampleFolder, errors: Path) -> Window:
    """Show the project after a run over messages of a version that nobody has added."""
    with Workbench.open(sample.project) as workbench:
        keep_run(workbench, sample, errors)
    return open_on(make_window(), sample)


def test_production_says_which_state_it_uses_and_a_test_what_it_maps(window: Window) -> None:
    window.show_page(2)
    setup = window.run_page.setup
    assert "on the screen" in setup.mode.words.text()
    QTest.mouseClick(setup.mode.buttons["production"], Qt.MouseButton.LeftButton)
    live = window.history.live.state
    assert live is not None
    assert f"state {live.state} “{live.name}”, published by" in setup.mode.words.text()
    assert setup.mode.unconfirmed.isVisible()
    assert (setup.run_button.text(), setup.run_button.key) == ("Production run…", "")
    QTest.mouseClick(setup.mode.unconfirmed, Qt.MouseButton.LeftButton, pos=QPoint(8, 8))
    assert (setup.request.mode, setup.request.include_unconfirmed) == ("production", True)
    assert setup.test_request.mode == "test"


def test_without_a_published_state_production_says_why_it_cannot_run_and_leads_to_publishing(
    window: Window, tmp_path: Path
) -> None:
    window.show_project(Workbench.create(tmp_path / "new.metl"))
    window.show_page(2)
    setup = window.run_page.setup
    setup.mode.buttons["production"].setFocus()
    QTest.keyClick(setup.mode.buttons["production"], Qt.Key.Key_Space)
    assert "Nothing is published yet" in setup.mode.words.text()
    assert not setup.run_button.isEnabled()
    assert setup.mode.publish.isVisible()
    assert not window.actions_table["run_production"].isEnabled()
    QTest.mouseClick(setup.mode.buttons["test"], Qt.MouseButton.LeftButton)
    assert setup.run_button.isEnabled()


def test_production_without_a_folder_is_refused_in_words(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def reply(title: str, *_: object) -> str:
        said.append(title)
        return "close"

    monkeypatch.setattr(dialogs, "ask", reply)
    window.run_page.setup.mode.choose("production")
    window.run_page.run_chosen()
    assert said == ["Production needs a place for its messages."]
    assert not window.spark.is_running


def test_the_key_of_the_test_runs_a_test_although_production_is_chosen(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[RunRequest] = []
    monkeypatch.setattr(window.spark, "run", lambda _workbench, request: asked.append(request))
    window.run_page.setup.mode.choose("production")
    window.run_page.setup.sink.setText("/somewhere/production")
    QTest.keyClick(window, Qt.Key.Key_F5)
    assert [(request.mode, request.sink.address) for request in asked] == [("test", "")]


def test_what_was_set_aside_says_from_where_and_what_to_do(unknown: Window) -> None:
    panel = unknown.run_page.aside
    QAbstractItemModelTester(panel.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    first = rows(panel)[0]
    assert (first[0], first[1], first[3]) == ("no version fits", ORDERS, "Add version")
    told = panel.model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert told == "No version of its schema fits this message. Reports call it unknown_version."
    assert panel.replay.text() == f"Replay these {first[2]}"
    assert panel.replay.isEnabled()
    assert unknown.actions_table["replay"].isEnabled()


def test_a_click_on_the_link_adds_the_version_and_the_update_runs(unknown: Window, qtbot: QtBot) -> None:
    panel = unknown.run_page.aside
    workbench = unknown.project.workbench
    assert workbench is not None
    (task,) = version_tasks(workbench)
    with qtbot.waitSignal(unknown.project.changed):
        click(panel, 0, 3)
    assert task.id not in {left.id for left in version_tasks(workbench)}
    assert len(unknown.project.review_items()) == 2
    assert ORDERS in unknown.notice.words.text()
    unknown.run_page.aside.step_wanted.emit("unknown_version")
    assert "known by now" in unknown.notice.words.text()


def test_enter_takes_the_next_step_and_a_click_on_the_reason_shows_its_records(unknown: Window, qtbot: QtBot) -> None:
    panel, messages = unknown.run_page.aside, unknown.run_page.messages
    click(panel, 0, 0)
    assert messages.only_aside.isChecked()
    assert messages.pair is not None
    assert messages.pair.after_title == "set aside · no version fits"
    assert messages.pair.after.endswith("reports call it unknown_version")
    assert messages.place.text().startswith(f"1 of {len(messages.records)} · no version fits · ")
    panel.table.setFocus()
    panel.table.setCurrentIndex(panel.model.index(0, 0))
    with qtbot.waitSignal(unknown.project.changed):
        QTest.keyClick(panel.table, Qt.Key.Key_Return)
    assert len(unknown.project.review_items()) == 2


def test_several_unknown_versions_lead_to_the_review_list(unknown: Window, errors: Path) -> None:
    workbench = unknown.project.workbench
    assert workbench is not None
    part = errors / "reason=unknown_version" / "part-000000-0.jsonl"
    lines = part.read_bytes().splitlines(keepends=True)
    part.write_bytes(b"".join([line.replace(b"channel", b"canal") for line in lines[:3]] + lines[3:]))
    collect_tasks(workbench, errors, "r1")
    assert len(unknown.run_commands.tasks()) == 2
    click(unknown.run_page.aside, 0, 3)
    assert unknown.stack.currentWidget() is unknown.review


@pytest.mark.parametrize(("answer", "schemas"), [("continues", 0), ("new", 1), ("cancel", 0)])
def test_a_renamed_table_is_asked_about_and_may_become_another_name_of_the_schema_that_it_continues(
    make_window: Callable[[], Window],
    sample: SampleFolder,
    errors: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    schemas: int,
) -> None:
    with Workbench.open(sample.project) as workbench:
        keep_run(workbench, sample, errors, topic=b"fx.payments.purchases")
    window = open_on(make_window(), sample)
    asked: list[str] = []

    def reply(title: str, text: str, *_: object) -> str:
        asked.append(f"{title} {text}")
        return answer

    monkeypatch.setattr(dialogs, "ask", reply)
    before = len(window.project.value.extraction.schemas())
    (task,) = window.run_commands.tasks()
    window.review_commands.add_version(task)
    assert ORDERS in asked[0]
    document = window.project.value
    assert len(document.extraction.schemas()) == before + schemas
    found = document.extraction.named("fx.payments.purchases")
    assert (found is None) == (answer == "cancel")
    if answer == "continues":
        assert found is not None
        assert found.name == ORDERS
        assert window.notice.action.text() == "Replay them"
        replayed: list[RunRequest] = []
        monkeypatch.setattr(window.spark, "replay", lambda _workbench, request: replayed.append(request))
        QTest.mouseClick(window.notice.action, Qt.MouseButton.LeftButton)
        assert replayed == [replay_request(str(errors), reasons=("unknown_schema",))]


def test_a_held_block_is_one_click_from_its_review_item(
    window: Window, waiting_sample: SampleFolder, errors: Path
) -> None:
    with Workbench.open(waiting_sample.project, take_over=True) as workbench:
        keep_run(workbench, waiting_sample, errors, "production")
    open_on(window, waiting_sample)
    panel = window.run_page.aside
    assert rows(panel)[0][0] == "waits for a decision"
    assert rows(panel)[0][3] == "Review"
    click(panel, 0, 3)
    assert window.stack.currentWidget() is window.review
    item = window.review.list.current
    assert item is not None
    for each in list(window.project.review_items()):
        window.project.do(ConfirmBlock(each.key))
    window.show_page(2)
    click(panel, 0, 3)
    assert "wait no more" in window.notice.words.text()


def test_the_button_replays_the_selected_reason_or_all_in_the_mode_of_the_run(
    window: Window, waiting_sample: SampleFolder, errors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[RunRequest] = []
    with Workbench.open(waiting_sample.project, take_over=True) as workbench:
        keep_run(workbench, waiting_sample, errors, "production")
    no_key = errors / "reason=no_key"
    no_key.mkdir()
    (no_key / "part-000000-0.jsonl").write_bytes(b'{"reason":"no_key","position":"f@1","raw":"{}"}\n')
    open_on(window, waiting_sample)
    monkeypatch.setattr(window.spark, "replay", lambda _workbench, request: asked.append(request))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path / "again"))
    panel = window.run_page.aside
    QTest.mouseClick(panel.replay, Qt.MouseButton.LeftButton)
    assert asked[-1] == replay_request(str(errors), str(tmp_path / "again"), mode="production")
    window.run_page.show_past(window.run_page.past_runs[0])
    click(panel, 0, 0)
    QTest.mouseClick(panel.replay, Qt.MouseButton.LeftButton)
    assert asked[-1].source.replay == ReplayOrder(("block_needs_review",))


def test_only_set_aside_ends_when_these_are_replayed(
    unknown: Window, errors: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel, messages = unknown.run_page.aside, unknown.run_page.messages
    monkeypatch.setattr(unknown.spark, "replay", lambda _workbench, _request: None)
    click(panel, 0, 0)
    assert messages.only_aside.isChecked()
    QTest.mouseClick(panel.replay, Qt.MouseButton.LeftButton)
    assert not messages.only_aside.isChecked()
    messages.show_run(errors.parent, str(errors))
    assert not messages.wanted.is_set_aside


def test_records_that_are_not_kept_any_more_cannot_be_replayed_and_the_panel_says_so(
    unknown: Window, errors: Path, tmp_path: Path
) -> None:
    errors.rename(tmp_path / "elsewhere")
    workbench = unknown.project.workbench
    assert workbench is not None
    unknown.run_page.show_past(unknown.run_page.past_runs[0])
    assert "not kept" in unknown.run_page.aside.note.text()
    assert not unknown.run_page.aside.replay.isVisible()


@pytest.mark.parametrize(("theme", "size"), [("light", (1600, 1000)), ("dark", (1100, 700))])
def test_pictures_of_the_run_page(unknown: Window, tmp_path: Path, theme: str, size: tuple[int, int]) -> None:
    unknown.dressing.choose(theme)
    unknown.resize(*size)
    unknown.run_page.setup.mode.choose("production")
    picture = unknown.run_page.grab()
    assert picture.save(str(tmp_path / f"run-{theme}.png"))
    panel = unknown.run_page.aside
    last = panel.model.index(0, 3)
    assert panel.table.viewport().rect().contains(panel.table.visualRect(last))


@pytest.mark.spark
def test_the_whole_loop_from_an_unknown_version_to_its_replayed_records(
    threaded: Window, sample: SampleFolder, qtbot: QtBot
) -> None:
    window, page = threaded, threaded.run_page
    page.setup.source.setText(str(sample.messages / "payments.jsonl"))
    outcomes: list[JobOutcome[object]] = []
    window.spark.ended.connect(outcomes.append)
    with qtbot.waitSignal(window.spark.ended):
        window.actions_table["run"].trigger()
    assert outcomes[-1].error is None
    assert window.notice.action.text() == "Add this version"
    qtbot.waitUntil(page.aside.replay.isEnabled)
    waiting = int(rows(page.aside)[0][2])
    with qtbot.waitSignal(window.project.changed):
        QTest.mouseClick(window.notice.action, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(window.spark.ended):
        QTest.mouseClick(page.aside.replay, Qt.MouseButton.LeftButton)
    assert outcomes[-1].error is None
    report = page.report
    assert report is not None
    assert (report["read"], report["mapped"], report["is_replay"]) == (waiting, waiting, True)
    listed = page.setup.history.model
    qtbot.waitUntil(lambda: [entry.is_live for entry in listed.rows] == [False, False])
    assert [entry.spoken.partition(",")[0] for entry in listed.rows] == ["Replay", "Test run"]
    page.setup.history.view.setCurrentIndex(page.setup.history.model.index(1))
    qtbot.waitUntil(lambda: page.aside.note.text() == "All of it was replayed.")
    assert not page.aside.replay.isVisible()


def test_notes_of_a_run_are_told(window: Window) -> None:
    window.run_page.noted.emit(("2 blocks that nobody has confirmed were left out.",))
    assert "left out" in window.notice.words.text()


def test_without_a_run_the_keyboard_is_on_the_button_that_begins_one_and_the_list_says_what_it_is_for(
    window: Window,
) -> None:
    activate(window)
    window.show_page(2)
    setup = window.run_page.setup
    assert QApplication.focusWidget() is setup.run_button
    assert setup.history.nothing.isVisible()
    assert not setup.history.view.isVisible()
