"""Opening beside the window, and the last session: what is in front meanwhile, giving up, what comes back."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from metl_gui.core.progress import Watch
from metl_gui.core.project.comments import node_subject
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.project.selection import NodeRef, Selected, place_of_version
from metl_gui.ui.project.settings import ViewSettings, stored_settings
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.session import Workbench
from tests.qt.conftest import activate, end


@pytest.fixture
def threaded(dressed: QApplication, tmp_path: Path) -> Iterator[Window]:
    """Return a window whose jobs are on threads, as they are for people."""
    window = Window(QSettings(str(tmp_path / "view.ini"), QSettings.Format.IniFormat), Jobs(), warms_up=False)
    window.resize(1280, 800)
    window.show()
    assert dressed.styleSheet()
    yield window
    end(window)


class Door:
    """Opens a project only when the test says so."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.goes, self.made = threading.Event(), threading.Event()
        self.workbench: Workbench | None = None

    def make(self, watch: Watch) -> Workbench:
        while not self.goes.wait(0.01):
            watch.step("Reading the trees", 1, 2)
        self.workbench = Workbench.open(self.path)
        self.made.set()
        return self.workbench


def test_while_a_project_is_opened_its_name_and_progress_stand_in_front_and_then_the_map(
    threaded: Window, waiting_sample: SampleFolder, qtbot: QtBot
) -> None:
    door = Door(waiting_sample.project)
    threaded.opening.start(waiting_sample.project, door.make, threaded.commands._opened)
    assert threaded.stack.currentWidget() is threaded.opening_page
    assert threaded.opening_page.title.text() == "Opening fx"
    qtbot.waitUntil(lambda: threaded.opening_page.bar.maximum() == 1000)
    assert threaded.opening_page.words.text() == "Reading the trees"
    door.goes.set()
    with qtbot.waitSignal(threaded.opening.ended):
        pass
    assert threaded.stack.currentWidget() is threaded.map
    content = threaded.map.matrix.content
    assert content is not None
    assert content.document is threaded.project.value


def test_giving_up_goes_back_to_the_start_page_and_gives_the_file_back(
    threaded: Window, waiting_sample: SampleFolder, qtbot: QtBot
) -> None:
    activate(threaded)
    door = Door(waiting_sample.project)
    threaded.opening.start(waiting_sample.project, door.make, threaded.commands._opened)
    with qtbot.waitSignal(threaded.opening.ended):
        QTest.keyClick(threaded, Qt.Key.Key_Escape)
    assert threaded.stack.currentWidget() is threaded.start
    Workbench.open(waiting_sample.project).close()


def test_what_was_given_up_too_late_is_closed_unshown(
    threaded: Window, waiting_sample: SampleFolder, qtbot: QtBot
) -> None:
    door = Door(waiting_sample.project)
    threaded.opening.start(waiting_sample.project, door.make, threaded.commands._opened)
    door.goes.set()
    assert door.made.wait(20)
    job = threaded.opening.job
    assert job is not None
    qtbot.waitUntil(lambda: threaded.opening._unshown == [] or job not in threaded.jobs.running)
    threaded.opening.cancel()
    qtbot.waitUntil(lambda: threaded.jobs.running == [])
    if threaded.project.workbench is None:
        Workbench.open(waiting_sample.project).close()


@pytest.mark.usefixtures("dressed")
def test_a_window_that_closes_while_it_opens_gives_the_file_back(tmp_path: Path, waiting_sample: SampleFolder) -> None:
    window = Window(QSettings(str(tmp_path / "v.ini"), QSettings.Format.IniFormat), Jobs(), warms_up=False)
    window.show()
    door = Door(waiting_sample.project)
    door.goes.set()
    window.opening.start(waiting_sample.project, door.make, window.commands._opened)
    assert door.made.wait(20)
    end(window)
    Workbench.open(waiting_sample.project).close()


def test_the_project_in_front_stays_until_the_next_one_can_be_shown(
    threaded: Window, waiting_sample: SampleFolder, tmp_path: Path, qtbot: QtBot
) -> None:
    threaded.show_project(Workbench.open(waiting_sample.project))
    other = tmp_path / "other.metl"
    Workbench.create(other).close()
    door = Door(other)
    threaded.opening.start(other, door.make, threaded.commands._opened)
    assert threaded.stack.currentWidget() is threaded.map
    assert threaded.project.workbench is not None
    assert threaded.project.workbench.path == waiting_sample.project
    with qtbot.waitSignal(threaded.opening.ended):
        door.goes.set()
    assert threaded.project.workbench.path == other


def choose_something(window: Window) -> Selected:
    block = next(block for block in window.project.value.matrix.blocks() if block.elements)
    element = block.elements[0]
    chosen = Selected(
        place_of_version(window.project.value, Side.EXTRACTION, block.version, element.p),
        place_of_version(window.project.value, Side.CDM, block.entity_version, element.q),
    )
    window.selection.choose(chosen)
    return chosen


def open_rows(window: Window) -> list[str]:
    tree = window.map.targets
    rows = [tree.model.index(row, 0) for row in range(tree.model.rowCount())]
    return [str(row.data()) for row in rows if tree.view.isExpanded(row)]


def test_the_last_look_at_a_project_comes_back(make_window: Callable[[], Window], waiting_sample: SampleFolder) -> None:
    first = make_window()
    first.show_project(Workbench.open(waiting_sample.project))
    for _ in range(4):
        first.map.matrix.zoom(1.6)
    first.map.targets.view.collapseAll()
    first.map.targets.view.expand(first.map.targets.model.index(2, 0))
    chosen = choose_something(first)
    camera, expanded = first.map.matrix.camera, open_rows(first)
    assert "ledger_entry" in expanded
    first.map.sources.filter_now("payments")
    first.show_page(1)
    first.close()
    second = make_window()
    second.projects.open_last()
    assert second.project.workbench is not None
    assert second.stack.currentWidget() is second.review
    second.show_page(0)
    assert second.selection.current.element == chosen.element
    assert second.map.matrix.camera.scale_x == pytest.approx(camera.scale_x)
    assert second.map.matrix.camera.left == pytest.approx(camera.left, abs=0.5)
    assert open_rows(second) == expanded
    assert second.map.sources.box.text() == "payments"


def filters(window: Window) -> dict[str, QLineEdit]:
    """Return the boxes that search what a project holds, by the names that screen readers hear."""
    every = [each for each in window.findChildren(QLineEdit) if each.placeholderText().startswith(("Filter", "Search"))]
    every.append(window.suggest.panel.everything.box)
    every.remove(window.lists.progression.bar.box)  # which is never shown
    return {each.accessibleName(): each for each in every}


def test_a_search_text_stays_with_its_project(make_window: Callable[[], Window], waiting_sample: SampleFolder) -> None:
    window, other = make_window(), waiting_sample.project.with_name("other.metl")
    Workbench.create(other, who="Ada").close()
    window.show_project(Workbench.open(waiting_sample.project))
    window.history.show()
    names = set(filters(window))
    assert len(names) >= 9
    for box in filters(window).values():
        box.setText("payments")
    window.show_project(Workbench.open(other))
    assert [name for name, box in filters(window).items() if box.text()] == []
    window.map.sources.filter_now("elsewhere")
    window.show_project(Workbench.open(waiting_sample.project))
    kept = {name for name, box in filters(window).items() if box.text() == "payments"}
    assert kept == names - {"Search everywhere"}


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -1e308, 0.0, "x", None])
def test_a_place_with_impossible_numbers_is_passed_over(
    make_window: Callable[[], Window], waiting_sample: SampleFolder, number: object
) -> None:
    window = make_window()
    workbench = Workbench.open(waiting_sample.project)
    place = {"x": [None, number], "y": [None, number], "scale": [number, number], "selected": [None, None]}
    window.settings.save_visit(workbench.project_id, {"page": 0, "place": place})
    window.show_project(workbench)
    window.map.matrix.grab()
    camera = window.map.matrix.camera
    assert all(math.isfinite(value) for value in (camera.left, camera.top, camera.scale_x, camera.scale_y))
    assert min(camera.scale_x, camera.scale_y) > 0


def test_a_visit_that_fits_nothing_is_passed_over(
    make_window: Callable[[], Window], waiting_sample: SampleFolder
) -> None:
    window = make_window()
    workbench = Workbench.open(waiting_sample.project)
    nonsense = {
        "page": "map",
        "place": {"x": [999_999, "left"], "scale": []},
        "selected": [[999_999, 1, 1], "no place"],
        "trees": {"extraction": {"filter": 7, "open": [[1, "x"], [], "way", [None, None], [999_999, None]]}, "cdm": []},
    }
    window.settings.save_visit(workbench.project_id, nonsense)
    window.show_project(workbench)
    assert window.stack.currentWidget() is window.map
    assert window.selection.current == Selected()
    assert window.map.matrix.content is not None


def test_comments_of_a_project_that_was_opened_read_only_cannot_be_removed(
    make_window: Callable[[], Window], sample: SampleFolder
) -> None:
    with Workbench.open(sample.project) as workbench:
        schema = workbench.document.extraction.schemas()[0]
        workbench.add_comment(node_subject(workbench.document, Side.EXTRACTION, schema.id), "Gross, in euro")
    window = make_window()
    panel = window.owner_docks.comments
    for for_editing in (False, True):
        window.show_project(Workbench.open(sample.project, for_editing=for_editing))
        window.owners.comment()
        window.selection.choose(Selected(NodeRef(schema.id)))
        assert [card.remove.isEnabled() for card in panel.cards] == [for_editing]


def test_a_closed_project_is_not_opened_by_the_next_window(
    make_window: Callable[[], Window], sample: SampleFolder
) -> None:
    first = make_window()
    first.show_project(Workbench.open(sample.project))
    first.actions_table["close"].trigger()
    first.close()
    second = make_window()
    second.projects.open_last()
    assert second.project.workbench is None
    assert [button.text() for button in second.start.recent] == ["fx"]


def test_a_last_project_that_is_gone_is_said_and_the_start_page_shown(
    make_window: Callable[[], Window], sample: SampleFolder
) -> None:
    first = make_window()
    first.show_project(Workbench.open(sample.project))
    first.close()
    sample.project.unlink()
    second = make_window()
    second.projects.open_last()
    assert second.stack.currentWidget() is second.start
    assert "is not there any more" in second.notice.words.text()


@pytest.mark.usefixtures("dressed")
@pytest.mark.parametrize("content", [b"\x00\xff\xfe[[[[", b"[layout]\nwindow=@ByteArray(broken", b"%%%\n=\n[", b""])
def test_a_damaged_settings_file_never_keeps_the_window_from_opening(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "damaged.ini"
    path.write_bytes(content)
    store = QSettings(str(path), QSettings.Format.IniFormat)
    window = Window(store, warms_up=False)
    window.show()
    assert window.stack.currentWidget() is window.start
    end(window)


def test_settings_of_the_wrong_kind_count_as_not_there(tmp_path: Path) -> None:
    store = QSettings(str(tmp_path / "view.ini"), QSettings.Format.IniFormat)
    for key, value in {
        "theme": "purple",
        "scale": "huge",
        "keys": "[1, 2",
        "recent": 7,
        "recent_actions": {"a": 1},
        "last_open": 3,
        "visits/p": '"text"',
        "layout/window": "no bytes",
    }.items():
        store.setValue(key, value)
    settings = ViewSettings(store)
    assert (settings.theme, settings.scale, settings.keys, settings.recent) == ("", 100, {}, [])
    assert (settings.recent_actions, settings.last_open, settings.visit("p")) == ([], None, {})
    assert settings.layout("window") is None


@pytest.mark.logs(r"are damaged")
def test_the_settings_of_a_user_that_cannot_be_read_are_put_aside(tmp_path: Path) -> None:
    QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, str(tmp_path))
    path = Path(stored_settings().fileName())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"[general\nthis is no settings file\n\x00\x01")
    settings = stored_settings()
    assert settings.status() is QSettings.Status.NoError
    assert path.with_suffix(".damaged").is_file()


def test_only_a_number_of_visits_is_kept(tmp_path: Path) -> None:
    store = QSettings(str(tmp_path / "view.ini"), QSettings.Format.IniFormat)
    settings = ViewSettings(store)
    for number in range(60):
        settings.save_visit(f"p{number}", {"page": 1})
    assert settings.visit("p59") == {"page": 1}
    assert settings.visit("p0") == {}
    assert len([key for key in store.allKeys() if key.startswith("visits/")]) == 40


def test_a_test_run_of_a_project_that_cannot_be_opened_is_not_made_of_the_next_one(
    make_window: Callable[[], Window], sample: SampleFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, runs = make_window(), list[str]()
    monkeypatch.setattr(dialogs, "tell", lambda *_what: None)
    monkeypatch.setattr(window, "run", lambda: runs.append(window.run_page.setup.source.text()))
    window.projects.open_path(tmp_path / "gone.metl", "messages")
    window.show_project(Workbench.open(sample.project))
    assert runs == []
    window.projects.close()
    window.projects.open_path(sample.project, "messages")
    assert runs == ["messages"]
