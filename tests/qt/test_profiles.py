"""The connection profiles in their dialog: written, tried, used and removed by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from metl_gui.ui import asking
from metl_gui.ui.configuring import profiles_dialog
from metl_gui.ui.configuring.profiles_dialog import ProfilesDialog
from metl_gui.ui.window import Window
from metl_gui.workbench.profile_check import CheckStep, ProfileCheck
from metl_gui.workbench.profiles import Profile, find_target, profiles, save_profile
from metl_gui.workbench.progress import Watch
from tests.helpers.keyrings import MemoryKeyring, keyring_in_memory

from .screen import words_in

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryKeyring]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("settings")))
    with keyring_in_memory() as found:
        yield found


def opened(window: Window) -> ProfilesDialog:
    window.actions_table["run.profiles"].trigger()
    QApplication.processEvents()
    return next(dialog for dialog in window.findChildren(ProfilesDialog) if dialog.isVisible())


def write(dialog: ProfilesDialog, name: str, target: str) -> None:
    QTest.keyClicks(dialog.form.name, name)
    QTest.keyClicks(dialog.form.target, target)


def test_a_profile_written_by_keyboard_is_kept_with_its_secret_in_the_keyring_and_offered_to_runs(
    window: Window, keyring: MemoryKeyring
) -> None:
    dialog = opened(window)
    write(dialog, "cloud", "sc://spark.example.com/;use_ssl=true")
    QTest.keyClicks(dialog.form.settings, "spark.sql.ansi.enabled=true")
    dialog.form.secrets.more.setFocus()
    QTest.keyClick(dialog.form.secrets.more, Qt.Key.Key_Space)
    row = dialog.form.secrets.rows[0]
    QTest.keyClicks(row.name, "token")
    QTest.keyClicks(row.value, "open sesame")
    QTest.keyClick(dialog, Qt.Key.Key_S, CTRL)
    target = find_target("@cloud")
    assert target.secrets == (("token", "open sesame"),)
    assert target.settings == (("spark.sql.ansi.enabled", "true"),)
    assert list(keyring.kept.values()) == ["open sesame"]
    assert dialog.form.secrets.rows[0].value.text() == ""
    box = window.run_page.setup.target.box
    assert "@cloud" in [box.itemText(at) for at in range(box.count())]
    dialog.use.click()
    assert not dialog.isVisible()
    assert window.run_page.setup.target.text == "@cloud"


def test_what_will_not_do_is_said_in_the_dialog_and_nothing_is_kept(window: Window, keyring: MemoryKeyring) -> None:
    dialog = opened(window)
    write(dialog, "lab", "spark://host")
    dialog.save.click()
    assert "target is not known" in words_in(dialog.trial)
    dialog.form.target.setText("spark://host:7077")
    dialog.form.settings.setPlainText("spark.ssl.keyPassword=abc")
    dialog.save.click()
    assert "spark.ssl.keyPassword holds a secret" in words_in(dialog.trial)
    assert profiles() == ()
    assert keyring.kept == {}
    dialog.form.is_edited = False


def test_a_test_shows_what_it_met_and_what_to_do(
    window: Window, keyring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = (
        CheckStep("Address", "Somebody answers there."),
        CheckStep("Session", "A worker runs another Python.", False),
    )
    asked: list[str] = []

    def tried(name: str, _watch: Watch) -> ProfileCheck:
        asked.append(name)
        return ProfileCheck(name, "spark://host:7077", steps, hint="Set spark.pyspark.python.")

    monkeypatch.setattr(profiles_dialog, "test_profile", tried)
    dialog = opened(window)
    write(dialog, "lab", "spark://host:7077")
    QTest.keyClick(dialog, Qt.Key.Key_T, CTRL)
    assert asked == ["lab"]
    assert [profile.name for profile in profiles()] == ["lab"]
    QApplication.processEvents()
    words = words_in(dialog.trial)
    for said in ("@lab takes no runs as it is.", "✗", "A worker runs another Python.", "Set spark.pyspark.python."):
        assert said in words
    assert not dialog.stop.isVisible()
    assert keyring.kept == {}


@pytest.mark.usefixtures("keyring")
def test_changes_are_not_left_behind_unasked(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        save_profile(Profile(name=name, target="local[2]"))
    asked: list[str] = []
    answers = iter(["stay", "leave"])

    def answer(title: str, *_rest: object) -> str:
        asked.append(title)
        return next(answers)

    monkeypatch.setattr(asking, "ask", answer)
    dialog = opened(window)
    dialog.form.target.setFocus()
    QTest.keyClick(dialog.form.target, Qt.Key.Key_X)
    QTest.keyClick(dialog.list, Qt.Key.Key_Down)
    assert (dialog.form.name.text(), dialog.list.currentRow()) == ("a", 0)
    QTest.keyClick(dialog.list, Qt.Key.Key_Down)
    assert (dialog.form.name.text(), dialog.list.currentRow()) == ("b", 1)
    assert len(asked) == 2
    dialog.reject()
    assert not dialog.isVisible()


@pytest.mark.usefixtures("keyring")
def test_a_removed_profile_is_offered_no_more(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    save_profile(Profile(name="lab", target="local[2]"))
    monkeypatch.setattr(asking, "ask", lambda *_: "remove")
    dialog = opened(window)
    dialog.remove.click()
    assert profiles() == ()
    assert dialog.list.count() == 0
    box = window.run_page.setup.target.box
    assert "@lab" not in [box.itemText(at) for at in range(box.count())]
