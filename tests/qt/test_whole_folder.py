"""A folder of real schemas that nobody here wrote, from the first import to the published state, by a person.

The model is the test's own: six entities, as a warehouse of such events has them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, QSettings, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from metl_gui.core.matrix.blocks import Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.publishing.publication import live_state
from metl_gui.workbench.session import Workbench
from tests.helpers.shared import shared
from tests.qt.conftest import activate, end
from tests.qt.mouse_user import Mouse
from tests.qt.screen import name_of, visible
from tests.qt.user import User

MODEL = Path(__file__).parents[1] / "cases" / "wikimedia_model"
_NO_KEYS = Qt.KeyboardModifier.NoModifier
MOST_CLICKS = 12


class CountedMouse(Mouse):
    """Counts its clicks and drops; one dialog of the system takes one more to answer."""

    gestures = 0

    def click(self, widget: QWidget, at: QPoint | None = None, held: Qt.KeyboardModifier = _NO_KEYS) -> None:
        """Click, and count it."""
        self.gestures += 1
        super().click(widget, at, held)

    def drop(self, path: Path) -> None:
        """Drop a file or folder on the window, as a file manager does."""
        self.gestures += 1
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path))])
        at, copy, left = self.window.rect().center(), Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
        QApplication.sendEvent(self.window, QDragEnterEvent(at, copy, data, left, _NO_KEYS))
        QApplication.sendEvent(self.window, QDropEvent(QPointF(at), copy, data, left, _NO_KEYS))


@pytest.fixture
def user(
    dressed: QApplication,
    tmp_path: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[CountedMouse]:
    """Return somebody before the start page; the dialog of the system for a file answers with a new project."""
    assert dressed.styleSheet()
    made = Window(QSettings(str(tmp_path / "view.ini"), QSettings.Format.IniFormat), Jobs(), warms_up=False)
    made.resize(1600, 1000)
    made.show()
    activate(made)
    someone = CountedMouse(made, qtbot)

    def answer(*_asked: object) -> tuple[str, str]:
        someone.gestures += 1
        return str(tmp_path / "events.metl"), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", answer)
    made.projects.open_last()
    yield someone
    end(made)


def add(user: CountedMouse, folder: Path, button: str, added: int) -> None:
    """Drop a folder, and add what is in it."""
    user.drop(folder)
    user.until(lambda: user.can(button))
    user.press(button)
    user.until(lambda: f"{added} versions added" in user.notice)


def go_to(user: CountedMouse, place: str) -> None:
    """Type where to go."""
    user.key("Ctrl+G")
    user.type(place)
    user.key("Return")
    user.until(lambda: place.rpartition(".")[2] in user.status)


def offers() -> list[str]:
    """Return what can be accepted in many blocks at once."""
    found = (name_of(each) for each in visible(QAbstractButton))
    return [name for name in found if name.startswith("Accept ") and " blocks" in name]


def accept_all(user: CountedMouse) -> None:
    """Accept all sure suggestions of the project, after a look."""
    user.until(lambda: "suggested" in user.docked("Suggestions") and offers())
    user.press(offers()[0])
    user.until(lambda: user.can("Accept and confirm"))
    user.press("Accept and confirm")
    user.until(lambda: not user.can("Accept and confirm"))
    activate(user.window)  # as a window manager does when a dialog goes


def unmapped(document: Document) -> list[str]:
    """Return the versions without any element."""
    tree = document.extraction
    return [
        f"{schema.name} {tree.version(v).label}"
        for schema in tree.schemas()
        for v in schema.version_ids
        if not any(block.elements for block in document.matrix.column_set(v))
    ]


def publish(user: User) -> None:
    """Publish the state on the screen."""
    user.key("Ctrl+Shift+U")
    user.until(lambda: user.can("Publish it"))
    user.press("Publish it")
    user.until(lambda: "is live now" in user.notice)


def reopened(user: User) -> tuple[Document, int | None]:
    """Read the project from its file: its newest state, and the number of the one that is live."""
    workbench = user.window.project.workbench
    assert workbench is not None
    with Workbench.open(workbench.path, for_editing=False) as again:
        live = live_state(again)
        return again.document, live.state if live is not None else None


def test_a_folder_of_205_real_versions_is_mapped_and_published_in_twelve_clicks(
    user: CountedMouse, tmp_path: Path
) -> None:
    folder = shared("real-schemas", "wikimedia-secondary") / "jsonschema"
    model = Path(shutil.copytree(MODEL, tmp_path / "model"))
    assert len(list(folder.rglob("*.yaml"))) == 205
    user.press("New project")
    user.until(lambda: "State" in user.status)
    add(user, folder, "Add to the extraction tree", 160)  # 45 repeat the version before them
    add(user, model, "Add to the canonical model", 6)

    # One schema by hand, mostly by its suggestions: it teaches the others.
    go_to(user, "analytics/legacy/virtualpageview.meta.dt -> event.received_at")
    user.key("Ctrl+E")
    user.until(lambda: user.can("Accept all 5"))
    user.press("Accept all 5")
    go_to(user, "analytics/legacy/virtualpageview.meta.dt -> event.received_at")
    user.key("Space")
    user.until(lambda: "12 elements" in user.status)

    user.key("Ctrl+Alt+A")
    accept_all(user)
    accept_all(user)
    publish(user)
    document, live = reopened(user)
    assert live == document.state
    assert unmapped(document) == []
    assert document.matrix.ones > 1_000
    own = document.extraction.named("analytics/legacy/virtualpageview")
    assert own is not None
    open_ = [b.key for b in document.matrix.blocks() if b.status is not Status.CONFIRMED]
    assert {document.extraction.schema_of(v) for v, _ in open_} <= {own.id}
    assert len(document.tree(Side.CDM).schemas()) == 6
    assert user.gestures <= MOST_CLICKS
