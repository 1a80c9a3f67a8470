"""Tasks of a data owner, each in as few clicks and keys as the window takes; the documentation has the counts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.runs.history import PastRun, runs
from metl_gui.workbench.session import Workbench
from tests.helpers import documents
from tests.qt.conftest import activate, end
from tests.qt.test_run_page import keep_run
from tests.qt.test_ten_tasks import kept, newest, pairs
from tests.qt.test_whole_folder import CountedMouse, go_to, publish, reopened

HEADING = "### Ten tasks"


class Recorder(CountedMouse):
    """Counts keys too; a text that is typed counts as one."""

    keys = 0

    def key(self, keys: str) -> None:
        """Press a key, and count it."""
        self.keys += 1
        super().key(keys)

    def type(self, text: str) -> None:
        """Type a text, and count it."""
        self.keys += 1
        super().type(text)


Sit = Callable[[Path], Recorder]


@pytest.fixture
def sit(dressed: QApplication, tmp_path: Path, qtbot: QtBot) -> Iterator[Sit]:
    """Return what seats a person before a project, counting from there."""
    assert dressed.styleSheet()
    window = Window(QSettings(str(tmp_path / "view.ini"), QSettings.Format.IniFormat), Jobs(), warms_up=False)

    def seat(project: Path) -> Recorder:
        window.resize(1600, 1000)
        window.show()
        activate(window)
        user = Recorder(window, qtbot)
        window.projects.open_path(project)
        user.until(lambda: "State" in user.status and not window.jobs.running)
        return user

    yield seat
    end(window)


@dataclass(frozen=True)
class Recorded:
    """One row of the documentation."""

    clicks: int
    keys: int


def rows() -> dict[str, Recorded]:
    """Return the rows of the page by task."""
    text = (documents.PAGES / "how-fast.md").read_text("utf-8").partition(HEADING)[2].partition("\n#")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return {task: Recorded(int(clicks or 0), int(keys or 0)) for task, _, clicks, keys, _ in lines[2:]}


def map_one_field(sit: Sit, sample: SampleFolder) -> Recorder:
    """Go to a cell by its address, and set it."""
    user = sit(sample.project)
    go_to(user, "fx.customers.person@7.address_lines -> customer.address.lines")
    user.key("Space")
    assert pairs(kept(user), "fx.customers.person", "customer")["address.lines"] == "address_lines"
    return user


def map_a_version_like_the_one_before(sit: Sit, sample: SampleFolder) -> Recorder:
    """Choose the block by one of its cells, and take the entry."""
    with Workbench.open(sample.project) as workbench:
        source = newest(workbench.document, Side.EXTRACTION, "fx.payments.orders")
        target = newest(workbench.document, Side.CDM, "payment")
        block = workbench.document.matrix.block(source.id, target.id)
        assert block is not None
        workbench.do(SetElements(block.key, zeros=block.elements))
    user = sit(sample.project)
    go_to(user, "fx.payments.orders.id -> payment.payment_id")
    user.do("Mapping", "Other versions", "Map like the version before")
    assert "mapped as in version 3" in user.notice
    assert pairs(kept(user), "fx.payments.orders", "payment")["payer_id"] == "customer_id"
    return user


def decide_a_review_item(sit: Sit, sample: SampleFolder) -> Recorder:
    """Say of the first lost element that it was renamed."""
    user = sit(sample.project)
    user.press("Review")
    user.press("It was renamed")
    user.until(lambda: pairs(kept(user), "fx.payments.orders", "payment").get("payer_id") == "customer_ref")
    return user


def find_the_cause_of_a_record_set_aside(sit: Sit, sample: SampleFolder) -> Recorder:
    """Choose a reason of the last run: its first record stands beside it, with what to do."""
    with Workbench.open(sample.project) as workbench:
        keep_run(workbench, sample, sample.project.parent / "errors")
    user = sit(sample.project)
    user.press("Run")
    user.until(lambda: user.rows("Set aside by reason"))
    user.choose("Set aside by reason", (user.rows("Set aside by reason")[0],))
    user.until(lambda: "Add version" in texts(user))
    return user


def texts(user: Recorder) -> str:
    """Return what stands in the table of what was set aside."""
    model = user.window.run_page.aside.table.model()
    cells = [(row, column) for row in range(model.rowCount()) for column in range(model.columnCount())]
    return " | ".join(str(model.index(*cell).data()) for cell in cells)


def publish_a_state(sit: Sit, sample: SampleFolder) -> Recorder:
    """Publish the state on the screen."""
    user = sit(sample.project)
    publish(user)
    document, live = reopened(user)
    assert live == document.state
    return user


def undo_an_import(sit: Sit, sample: SampleFolder) -> Recorder:
    """Take back an import of many versions as a whole."""
    user = sit(sample.project)
    for number in range(5):
        path = sample.project.parent / "new" / f"fx.new.{number}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'{{"title": "fx.new{number}", "type": "object", "properties": {{"id": {{}}}}}}')
    user.drop(sample.project.parent / "new")
    user.until(lambda: user.can("Add to the extraction tree"))
    user.press("Add to the extraction tree")
    user.until(lambda: "5 versions added" in user.notice)
    assert kept(user).extraction.named("fx.new4") is not None
    user.gestures = user.keys = 0
    user.key("Ctrl+Z")
    user.until(lambda: kept(user).extraction.named("fx.new0") is None)
    assert kept(user).extraction.named("fx.new4") is None
    return user


def find_why_a_value_came(sit: Sit, sample: SampleFolder) -> Recorder:
    """Open the link of a cell that somebody sent, and ask who mapped it."""
    user = sit(sample.project)
    go_to(user, "fx.payments.orders.amount -> payment.amount")
    user.key("Ctrl+Shift+C")
    link = QGuiApplication.clipboard().text()
    assert link.startswith("metl://")
    go_to(user, "fx.customers.person@7.vip -> customer.vip")
    user.gestures = user.keys = 0
    user.key("Ctrl+G")
    user.type(link)
    user.key("Return")
    user.until(lambda: "fx.payments.orders 4 amount → payment 2.0.0 amount" in user.status)
    user.key("Ctrl+Shift+Y")
    user.until(lambda: user.sees("amount → amount") and user.rows("Why it is mapped"))
    assert "from mapping.csv" in user.rows("Why it is mapped")[0], user.rows("Why it is mapped")
    return user


def make_an_entity(sit: Sit, sample: SampleFolder) -> Recorder:
    """Make an entity with one attribute."""
    user = sit(sample.project)
    user.key("Ctrl+Shift+N")
    user.until(lambda: user.can("Add attribute"))
    user.type("branch")
    user.press("Add attribute")
    user.type("branch_id")
    user.key("Return")
    user.until(lambda: user.can("Add the entity"))
    user.press("Add the entity")
    user.until(lambda: kept(user).cdm.named("branch") is not None)
    return user


def open_the_warehouse(sit: Sit, sample: SampleFolder) -> Recorder:
    """Go to the page of the warehouse, which shows its first table."""
    user = sit(sample.project)
    user.press("Warehouse")
    user.until(lambda: user.sees("Columns of the table"))
    return user


def run_a_sample(sit: Sit, sample: SampleFolder) -> Recorder:
    """Map the captured messages beside the project, which are chosen when it opens, with what is on the screen."""
    user = sit(sample.project)
    user.key("F5")
    user.until(
        lambda: [run.outcome for run in past_runs(sample)] not in ([], ["running"]) and user.rows("Set aside by reason")
    )
    (run,) = past_runs(sample)
    assert run.outcome == "finished"
    assert run.report.mapped > 0
    return user


def past_runs(sample: SampleFolder) -> list[PastRun]:
    """Read what ran of the project from its file."""
    with Workbench.open(sample.project, for_editing=False) as workbench:
        return list(runs(workbench))


TASKS: dict[str, Callable[[Sit, SampleFolder], Recorder]] = {
    "map one field": map_one_field,
    "map a version like the one before": map_a_version_like_the_one_before,
    "decide on a lost attribute": decide_a_review_item,
    "find why a record was set aside": find_the_cause_of_a_record_set_aside,
    "publish": publish_a_state,
    "undo an import": undo_an_import,
    "find why a value came, from a link": find_why_a_value_came,
    "make an entity of one attribute": make_an_entity,
    "open the warehouse": open_the_warehouse,
    "run a sample": run_a_sample,
}

WAITING = ("decide on a lost attribute", "publish")
"""What needs something to decide or to publish: these begin with the version added that waits."""

ON_SPARK = ("run a sample",)


@pytest.mark.parametrize(
    "task", [pytest.param(task, marks=pytest.mark.spark if task in ON_SPARK else ()) for task in TASKS]
)
def test_a_task_takes_the_clicks_and_keys_that_the_page_says(
    sit: Sit, sample: SampleFolder, built_waiting: Path, task: str
) -> None:
    if task in WAITING:
        shutil.copyfile(SampleFolder(built_waiting).project, sample.project)
    user = TASKS[task](sit, sample)
    assert rows()[task] == Recorded(user.gestures, user.keys)


def test_the_page_has_these_tasks_and_no_others() -> None:
    assert list(rows()) == list(TASKS)
