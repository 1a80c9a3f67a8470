"""The window on a real broker: topics looked into, made when a person agrees, and a lane that is shown and ordered."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from metl_gui.core.runs.records import SetAsideRecord
from metl_gui.stack.kafka import KafkaBroker
from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.kafka.sink_dialog import NewTopicsDialog, TopicSinkChoice
from metl_gui.ui.kafka.source_dialog import SourceDialog, TopicSourceChoice
from metl_gui.ui.lanes.orders import FREEZE, SET_BACK, SetBackDialog
from metl_gui.ui.run.head import LANE
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.workbench.runs.mapping_run import PRODUCTION
from metl_gui.workbench.runs.production import live_runs, stop_run
from tests.helpers.killing import below, end_everything, wait_for
from tests.helpers.lanes import LaneWorld, change
from tests.helpers.table_project import table_project
from tests.live.test_error_topics import send
from tests.live.window_on_a_lane import WindowOrder

pytestmark = [pytest.mark.live, pytest.mark.spark]

_PATIENCE_MS = 240_000
_RECORDS = 40


@pytest.fixture
def world(kafka: KafkaBroker, own_name: str) -> LaneWorld:
    """Topics with some changes of a table in them."""
    made = LaneWorld(kafka.servers, own_name)
    made.send(change(number) for number in range(_RECORDS))
    return made


@pytest.fixture
def window(qapp: QApplication, world: LaneWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Window]:
    """A window on a published project of the table, with real threads; no process of its runs outlives the test."""
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    themes.apply(qapp, themes.load("light"))
    workbench = table_project(tmp_path / "orders.metl", world.source, {"id": "int64", "amount": "int64"}, "order")
    made = Window(QSettings(str(tmp_path / "view.ini"), QSettings.Format.IniFormat), Jobs(), warms_up=False)
    made.resize(1600, 1000)
    made.show()
    made.show_project(workbench)
    project = workbench.project_id
    yield made
    for run in live_runs(project):
        stop_run(run, 15)
        end_everything(run)
    made.close()
    made.deleteLater()
    qapp.processEvents()
    qapp.setStyleSheet("")


def choose_source(window: Window, servers: str, world: LaneWorld, qtbot: QtBot) -> None:
    """Look into the topic among those on the servers, and take it as the source of the run."""
    choosing = SourceDialog(window.jobs, lambda: window.project.value, TopicSourceChoice(servers, ""), parent=window)
    qtbot.waitUntil(lambda: bool(choosing.table.rows.rows), timeout=_PATIENCE_MS)
    names = [row.name for row in choosing.table.rows.rows]
    assert world.source in names
    choosing.table.selectRow(names.index(world.source))
    qtbot.waitUntil(lambda: bool(choosing.look.model.rows), timeout=_PATIENCE_MS)
    assert f"{_RECORDS:,} offsets" in choosing.look.facts.text()
    assert '"op": "c"' in choosing.look.whole.toPlainText()
    choosing.table.rows.toggle(names.index(world.source))
    choosing.chosen.connect(window.run_page.setup.places.take_source)
    choosing.take.click()


def test_a_lane_set_up_in_the_window_makes_its_topics_maps_is_frozen_and_set_back(
    window: Window, kafka: KafkaBroker, world: LaneWorld, own_name: str, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def answer(title: str, text: str, answers: list[tuple[str, str]], *_rest: object) -> str:
        asked.append(f"{title} {text}")
        return answers[0][0]

    monkeypatch.setattr(dialogs, "ask", answer)
    page, servers = window.run_page, kafka.address("").rstrip("/")
    choose_source(window, servers, world, qtbot)

    # topics are made when a person agrees, and not before
    page.setup.places.take_sink(TopicSinkChoice(f"{servers}/{own_name}.out.{{entity}}", f"{servers}/{own_name}.aside"))
    page.setup.mode.choose(PRODUCTION)
    page.setup.target.choose("local[2]")
    page.run_chosen()
    qtbot.waitUntil(
        lambda: any(each.isVisible() for each in window.findChildren(NewTopicsDialog)), timeout=_PATIENCE_MS
    )
    making = next(each for each in window.findChildren(NewTopicsDialog) if each.isVisible())
    assert [plan.name for plan in making.plans] == [f"{own_name}.out.order", f"{own_name}.aside"]
    assert asked == []
    making.make.click()

    # the lane is shown as it goes
    qtbot.waitUntil(lambda: page.views.lane.lane.progress is not None, timeout=_PATIENCE_MS)
    assert "exactly once" in asked[0]
    assert page.views.currentIndex() == LANE
    lane = page.views.lane.lane
    qtbot.waitUntil(
        lambda: lane.progress is not None and lane.progress.tally.read == _RECORDS and lane.lag == 0,
        timeout=_PATIENCE_MS,
    )
    progress = lane.progress
    assert progress is not None
    assert sum(each.read for each in progress.partitions) == progress.tally.read == progress.tally.mapped
    qtbot.waitUntil(lambda: any(member.is_alive for member in lane.members), timeout=_PATIENCE_MS)

    # frozen, with what that means said before
    page.views.lane.buttons[FREEZE].click()
    qtbot.waitUntil(lambda: page.views.lane.pill.text() == "frozen", timeout=_PATIENCE_MS)
    assert "Nothing is repeated." in asked[-1]

    # set back to the beginning: every record once more, as it was said
    page.views.lane.buttons[SET_BACK].click()
    qtbot.waitUntil(lambda: any(each.isVisible() for each in window.findChildren(SetBackDialog)), timeout=_PATIENCE_MS)
    back = next(each for each in window.findChildren(SetBackDialog) if each.isVisible())
    back.where.setCurrentIndex(back.where.findData("earliest"))
    back.look.click()
    qtbot.waitUntil(lambda: back.plan is not None, timeout=_PATIENCE_MS)
    assert back.plan is not None
    assert back.plan.records >= _RECORDS
    back.do.click()
    qtbot.waitUntil(
        lambda: lane.progress is not None and lane.progress.tally.read == 2 * _RECORDS, timeout=_PATIENCE_MS
    )
    assert len(world.sent(f"{own_name}.out.order")) == 2 * _RECORDS


def test_what_lies_in_an_error_topic_is_shown_the_newest_first_and_leads_to_its_cell(
    window: Window, kafka: KafkaBroker, world: LaneWorld, own_name: str, qtbot: QtBot
) -> None:
    errors, page = f"{own_name}-errors", window.run_page
    for offset, reason in enumerate(("type_mismatch", "malformed", "type_mismatch")):
        told = {"metl.reason": reason, "metl.detail": 'order@1 amount takes a number, and not "x"', "metl.state": "1"}
        told |= {"metl.schema": world.source, "metl.version": "1", "metl.position": f"{world.source}/0/{offset}"}
        send(kafka, errors, (b"1", b'{"op":"c","after":{"id":1,"amount":"x"}}', told))
    window.show_page(2)
    page.report = {"errors": kafka.address(errors), "run_id": "r1", "mode": "production"}
    page.messages.show_run(None, kafka.address(errors))

    page.messages.only_aside.click()
    qtbot.waitUntil(lambda: len(page.messages.records) == 3, timeout=_PATIENCE_MS)
    page.aside.step_wanted.emit("type_mismatch")
    qtbot.waitUntil(lambda: window.selection.current.element is not None, timeout=_PATIENCE_MS)
    assert window.page == 0
    qtbot.waitUntil(lambda: len(page.messages.records) == 2, timeout=_PATIENCE_MS)
    assert [one.position for one in page.messages.records if isinstance(one, SetAsideRecord)] == [
        f"{world.source}/0/{offset}" for offset in (2, 0)
    ]

    page.messages.show_run(None, kafka.address(f"{own_name}-none"))
    qtbot.waitUntil(lambda: "There is no topic" in page.messages.place.text(), timeout=_PATIENCE_MS)
    assert not page.messages.records


def test_a_window_killed_with_a_lane_on_its_screen_takes_nothing_along_and_the_next_window_shows_the_lane(
    window: Window, kafka: KafkaBroker, world: LaneWorld, qtbot: QtBot, tmp_path: Path
) -> None:
    open_project = window.project.workbench
    assert open_project is not None
    project, project_id = open_project.path, open_project.project_id
    window.projects.close()
    order = WindowOrder(
        project=str(project),
        settings=str(tmp_path / "other.ini"),
        source=kafka.address(world.source),
        sink=kafka.address(world.sink),
        errors=kafka.address(world.errors),
        records=_RECORDS,
    )
    command = [sys.executable, "-m", "tests.live.window_on_a_lane", msgspec.json.encode(order).decode()]
    root = Path(__file__).parents[2]
    killed = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root)
    assert killed.stdout is not None
    try:
        run_id = killed.stdout.readline().decode().strip()
        (run,) = live_runs(project_id)
        lane_process = run.process.holder.process_id
        own = set(below(killed.pid)) - {lane_process, *below(lane_process)}
    finally:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        killed.stdout.close()
    assert run.run_id == run_id
    world.send(change(number) for number in range(_RECORDS, 2 * _RECORDS))
    wait_for(lambda: len(world.sent(world.sink)) == 2 * _RECORDS)
    wait_for(lambda: not any(Path(f"/proc/{each}").exists() for each in own))

    window.projects.open_path(project, shows_live=True)
    page = window.run_page

    def is_shown() -> bool:
        progress = page.views.lane.lane.progress
        return page.isVisible() and progress is not None and progress.tally.read == 2 * _RECORDS

    qtbot.waitUntil(is_shown, timeout=_PATIENCE_MS)
    assert page.views.currentIndex() == LANE
    assert len({sent.position for sent in world.sent(world.sink)}) == 2 * _RECORDS
