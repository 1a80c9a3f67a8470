"""Registries and databases: browsed, imported from as a job, and watched, with the way to the decision."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from metl_gui.core.project.reader_result import ReaderResult
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import ServiceUnavailableError
from metl_gui.registry.files import sources
from metl_gui.registry.remote.registry_reader import SourceCursor
from metl_gui.ui.jobs.jobs import JobOutcome, SynchronousJobs
from metl_gui.ui.registries import browser
from metl_gui.ui.registries.browser import RegistryBrowser, RemoteImport
from metl_gui.ui.registries.controller import Watched, watched_of
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs as asking
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.importing import schema_import, source_watch
from metl_gui.workbench.importing.remote_sources import ImportFilter, Offer, OfferedVersion
from metl_gui.workbench.profiles.saved_profiles import Profile, save_profile
from metl_gui.workbench.session import Workbench

_OFFERS = (
    Offer("cdm/payment-api", "OPENAPI", "2026-11-22T05:00:00Z", is_readable=False, group="cdm"),
    Offer("fx.accounts[1]-value", "AVRO", "2026-11-21T05:00:00Z"),
    Offer("fx.cards-value", "AVRO", "2026-11-20T05:00:00Z", "what people pay with"),
)


@pytest.fixture
def listed(dressed: QApplication, qtbot: QtBot) -> RegistryBrowser:
    """Return a dialog that has heard what a registry has; nobody was asked."""
    dialog = RegistryBrowser(SynchronousJobs(dressed))
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.source_line.setText("http://registry:8081")
    dialog._list(JobOutcome(("http://registry:8081", _OFFERS)))
    return dialog


def test_nothing_chosen_means_everything_that_can_be_read(listed: RegistryBrowser) -> None:
    assert listed.take.text() == "Import all 2"
    found: list[RemoteImport] = []
    listed.chosen.connect(found.append)
    listed.take.click()
    assert found == [RemoteImport("http://registry:8081", Side.EXTRACTION, ImportFilter(), is_watched=False)]


def test_a_search_finds_words_in_any_order_and_a_name_is_asked_for_to_the_letter(listed: RegistryBrowser) -> None:
    listed.search.setText("pay cards")
    assert [row.name for row in listed.table.rows.rows] == ["fx.cards-value"]
    listed.search.setText("[1]")
    listed.table.setFocus()
    listed.table.setCurrentIndex(listed.table.rows.index(0, 0))
    QTest.keyClick(listed.table, Qt.Key.Key_Space)
    assert listed.take.text() == "Import 1"
    listed.sides[Side.CDM].click()
    listed.watches.click()
    wanted = listed.wanted
    assert wanted is not None
    assert (wanted.side, wanted.wanted.only, wanted.is_watched) == (Side.CDM, ("fx.accounts[[]1]-value",), True)


def test_what_cannot_be_read_cannot_be_chosen(listed: RegistryBrowser) -> None:
    listed.table.rows.toggle(0)
    assert listed.table.rows.chosen == {}
    listed.all.click()
    assert list(listed.table.rows.chosen) == ["fx.accounts[1]-value", "fx.cards-value"]
    listed.none.click()
    assert listed.take.text() == "Import all 2"


def test_the_versions_of_a_subject_stand_beside_it(listed: RegistryBrowser, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = [OfferedVersion("1", "2026-11-20T05:00:00Z"), OfferedVersion("2", "", "disabled")]
    monkeypatch.setattr(browser, "versions_of", lambda *_: versions)
    listed.table.selectRow(2)
    assert listed.version_title.text() == "fx.cards-value"
    assert [[cell.words for cell in row] for row in listed.versions.rows] == [
        ["1", "2026-11-20 05:00:00", ""],
        ["2", "", "disabled"],
    ]


def test_a_registry_that_does_not_answer_is_told_within_the_dialog(listed: RegistryBrowser) -> None:
    listed._list(
        JobOutcome(
            error=ServiceUnavailableError("http://registry:8081 does not answer.", "Connection refused.", "Look there.")
        )
    )
    assert "does not answer" in listed.version_title.text()
    assert "Look there." in listed.version_facts.text()


# in the window


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> list[ReaderResult]:
    """Let a registry announce what a test puts into the list; while that is empty, it does not answer."""
    has: list[ReaderResult] = []

    def read_new(
        _source: str, _choice: ImportFilter, _mark: SourceCursor | None, _watch: object, _known: frozenset[str]
    ) -> tuple[ReaderResult, SourceCursor]:
        if not has:
            raise ServiceUnavailableError("The registry does not answer.", "Connection refused.", "Look there.")
        return has[-1], SourceCursor()

    monkeypatch.setattr(source_watch, "read_new", read_new)
    has.append(ReaderResult())
    return has


@pytest.fixture
def plain(make_window: Callable[[], Window], sample: SampleFolder) -> Window:
    """Return a window on the sample, before the version that waits."""
    window = make_window()
    window.show_project(Workbench.open(sample.project))
    return window


def test_a_new_version_of_a_watched_registry_stands_on_the_review_list_and_the_notice_leads_there(
    plain: Window, sample: SampleFolder, registry: list[ReaderResult]
) -> None:
    before = len(plain.project.review_items())
    plain.registries.watch.begin(Watched("@names"))
    assert plain.status.watched.text() == "Watches @names"
    assert len(plain.project.review_items()) == before
    registry.append(sources.read([sample.waiting]))
    plain.registries.watch._look_at(plain.registries.watch._tasks["@names"])
    items = plain.project.review_items()
    assert len(items) > before
    notice = plain.notice.notices[-1]
    assert "fx.payments.orders 5" in notice.text
    assert notice.action_text == "Review now"
    plain.notice.action.click()
    current = plain.review.list.current
    assert plain.stack.currentWidget() is plain.review
    assert current is not None
    version = plain.project.value.extraction.version(current.key[0])
    assert (plain.project.value.extraction.schema(version.schema_id).name, version.label) == ("fx.payments.orders", "5")


def test_a_registry_that_goes_away_and_comes_back_is_told_once_each(
    plain: Window, registry: list[ReaderResult]
) -> None:
    plain.registries.watch.begin(Watched("@names"))
    task = plain.registries.watch._tasks["@names"]
    registry.clear()
    for _ in range(3):
        plain.registries.watch._look_at(task)
    assert plain.status.watched.text() == "@names does not answer"
    assert sum("does not answer" in notice.text for notice in plain.notice.notices) == 1
    assert task.left_ms > 10_000  # asked less and less often
    registry.append(ReaderResult())
    plain.registries.watch._look_at(task)
    assert plain.status.watched.text() == "Watches @names"


def test_what_is_watched_is_watched_again_when_the_project_is_opened_again(
    plain: Window, sample: SampleFolder, registry: list[ReaderResult]
) -> None:
    watched = Watched("@names", Side.CDM, ImportFilter(("fx.*",), "fx"))
    plain.registries.watch.begin(watched)
    plain.actions_table["close"].trigger()
    assert plain.registries.watch.sources == []
    plain.show_project(Workbench.open(sample.project))
    assert [task.watched for task in plain.registries.watch._tasks.values()] == [watched]
    plain.registries.watch.end("@names")
    assert plain.status.watched.text() == ""
    assert registry


@pytest.mark.parametrize("known", [{}, {"source": 3}, {"source": "@a", "side": "up", "only": [], "prefix": ""}])
def test_a_damaged_note_of_what_was_watched_counts_as_none(known: dict[str, object]) -> None:
    assert watched_of(known) is None


def test_the_menu_lists_registries_and_databases_with_a_mark_where_they_are_watched(
    plain: Window, registry: list[ReaderResult]
) -> None:
    save_profile(Profile(name="names", target="https://registry.example.com"))
    save_profile(Profile(name="db", target="postgresql://db.example.com/shop"))
    save_profile(Profile(name="lab", target="local[2]"))
    menu = plain.actions_table.menu("Schema > Watch for new versions")
    menu.aboutToShow.emit()
    assert [(action.text(), action.isChecked()) for action in menu.actions()] == [("@names", False), ("@db", False)]
    menu.actions()[0].trigger()
    menu.aboutToShow.emit()
    assert [action.isChecked() for action in menu.actions()] == [True, False]
    assert registry


def test_an_import_from_a_registry_runs_as_a_job_and_says_what_came(
    plain: Window, sample: SampleFolder, registry: list[ReaderResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ImportFilter]] = []

    def read_remote(source: str, choice: ImportFilter, _watch: object) -> ReaderResult:
        asked.append((source, choice))
        return sources.read([sample.waiting])

    monkeypatch.setattr(schema_import, "read_remote", read_remote)
    wanted = RemoteImport("https://registry.example.com", Side.EXTRACTION, ImportFilter(("fx.*",)), is_watched=True)
    plain.registries._import(wanted)
    assert asked == [("https://registry.example.com", ImportFilter(("fx.*",)))]
    assert any("1 version added" in notice.text for notice in plain.notice.notices)
    assert plain.registries.watch.sources == ["https://registry.example.com"]
    assert registry


def test_without_a_project_importing_from_a_registry_makes_one_first(
    make_window: Callable[[], Window], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = make_window()
    path = tmp_path / "new.metl"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    monkeypatch.setattr(asking, "tell", lambda *_: None)
    window.start.registry.click()
    assert window.project.workbench is not None
    dialogs = [each for each in window.findChildren(RegistryBrowser) if each.isVisible()]
    assert len(dialogs) == 1
    dialogs[0].close()
