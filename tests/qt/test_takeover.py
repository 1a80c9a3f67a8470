"""Two windows on one project: the one that had it says who took it over, and takes it back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.session import Workbench
from tests.qt.conftest import answer

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def pair(make_window: Callable[[], Window], sample: SampleFolder) -> tuple[Window, Window]:
    """Return a window that had the project, and one that took it over."""
    first, second = make_window(), make_window()
    first.show_project(Workbench.open(sample.project, who="Ada"))
    second.show_project(Workbench.open(sample.project, who="Grace", take_over=True))
    return first, second


def edit(window: Window) -> bool:
    block = next(b for b in window.project.value.matrix.blocks() if b.elements)
    return window.project.do(SetElements(block.key, zeros=block.elements[:1]))


def test_the_first_window_says_who_took_the_project_over_and_takes_it_back(pair: tuple[Window, Window]) -> None:
    first, second = pair
    assert not first.takeover.banner.isVisible()
    first.upkeep.look()
    assert first.takeover.banner.isVisible()
    assert first.takeover.banner.words.text().startswith("The project was taken over by Grace on ")
    assert first.status.mode.text() == "read only"
    assert not second.takeover.banner.isVisible()

    QTest.mouseClick(first.takeover.banner.back, LEFT)
    assert not first.takeover.banner.isVisible()
    assert first.status.mode.text() == ""
    assert edit(first)
    second.upkeep.look()
    assert second.takeover.banner.words.text().startswith("The project was taken over by Ada on ")


def test_an_edit_of_a_project_that_was_taken_over_is_refused_with_the_way_to_take_it_back(
    pair: tuple[Window, Window], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = pair
    asked = answer(monkeypatch, "close")
    before = first.project.value
    assert not edit(first)
    assert first.project.value is before
    assert first.takeover.banner.isVisible()
    assert not edit(first)
    assert len(set(asked)) == 1
    assert asked[0].startswith("The project was taken over by Grace on ")
    answer(monkeypatch, "back")
    assert not edit(first)
    assert edit(first)


def test_a_job_that_finds_the_project_taken_over_leads_to_the_same_words_and_the_same_way_back(
    pair: tuple[Window, Window], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first, second = pair
    asked = answer(monkeypatch, "close")
    schema = '{"type": "record", "name": "n", "fields": [{"name": "a", "type": "string"}]}'
    (tmp_path / "fresh.avsc").write_text(schema)
    first.imports.import_schemas(Side.EXTRACTION, [tmp_path / "fresh.avsc"])
    assert asked[0].startswith("The project was taken over by Grace on ")
    assert not edit(first)
    first.upkeep.look()
    assert first.takeover.banner.words.text().startswith("The project was taken over by Grace on ")
    assert {words.partition(" on ")[0] for words in asked} == {"The project was taken over by Grace"}
    assert edit(second)
    first.upkeep.look()
    assert first.project.value.state == second.project.value.state


def test_what_is_done_in_the_window_that_took_it_over_is_shown_in_the_first_one(pair: tuple[Window, Window]) -> None:
    first, second = pair
    first.upkeep.look()
    assert edit(second)
    first.upkeep.look()
    assert first.project.value.state == second.project.value.state


def test_a_project_that_was_opened_read_only_has_nothing_to_take_back(
    make_window: Callable[[], Window], sample: SampleFolder
) -> None:
    window = make_window()
    window.show_project(Workbench.open(sample.project, for_editing=False))
    with Workbench.open(sample.project, who="Grace"):
        window.upkeep.look()
        assert not window.takeover.banner.isVisible()
