"""The connection profiles in their dialog: written, tried, used and removed by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from metl_gui.core.progress import Progress, Watch
from metl_gui.ui.jobs.jobs import JobOutcome
from metl_gui.ui.settings_dialogs import profiles_dialog
from metl_gui.ui.settings_dialogs.profiles_dialog import ProfilesDialog
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.workbench.profiles.connection_test import CheckStep, ConnectionTestResult
from metl_gui.workbench.profiles.kinds import ProfileKind
from metl_gui.workbench.profiles.saved_profiles import Profile, find_kafka, find_target, profiles, save_profile
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

    def tried(name: str, _watch: Watch) -> ConnectionTestResult:
        asked.append(name)
        return ConnectionTestResult(name, "spark://host:7077", steps, hint="Set spark.pyspark.python.")

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

    monkeypatch.setattr(dialogs, "ask", answer)
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
    monkeypatch.setattr(dialogs, "ask", lambda *_: "remove")
    dialog = opened(window)
    dialog.remove.click()
    assert profiles() == ()
    assert dialog.list.count() == 0
    box = window.run_page.setup.target.box
    assert "@lab" not in [box.itemText(at) for at in range(box.count())]


def choose(box: ThemedComboBox, words: str) -> None:
    box.setFocus()
    for _ in range(box.count()):
        if box.currentText() == words:
            return
        QTest.keyClick(box, Qt.Key.Key_Down)
    raise AssertionError(f"{words!r} cannot be chosen")


def test_the_way_into_kafka_is_asked_for_in_words_and_the_password_goes_to_the_keyring(
    window: Window, keyring: MemoryKeyring
) -> None:
    dialog = opened(window)
    write(dialog, "shop", "kafka://broker.example.com:9093")
    assert dialog.form.kind is ProfileKind.KAFKA  # told by how the target begins
    fields = dialog.form.fields
    security = fields["security.protocol"].choice
    assert security is not None
    assert not fields["sasl.username"].isVisible()
    choose(security, "TLS and a login")
    login = fields["sasl.mechanism"].choice
    assert login is not None
    choose(login, "SCRAM-SHA-512")
    QTest.keyClicks(fields["sasl.username"].line, "metl")
    secret = fields["sasl.password"].secret
    assert secret is not None
    assert secret.value.echoMode() is QLineEdit.EchoMode.Password
    QTest.keyClicks(secret.value, "open sesame")
    QTest.keyClicks(fields["ssl.ca.location"].line, "/etc/ca.pem")
    QTest.keyClick(dialog, Qt.Key.Key_S, CTRL)
    kept = find_kafka("@shop")
    assert kept.bootstrap == "broker.example.com:9093"
    assert dict(kept.settings) == {
        "security.protocol": "sasl_ssl",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "metl",
        "ssl.ca.location": "/etc/ca.pem",
    }
    assert dict(kept.secrets) == {"sasl.password": "open sesame"}
    assert list(keyring.kept.values()) == ["open sesame"]
    assert secret.value.text() == ""


@pytest.mark.usefixtures("keyring")
def test_settings_without_a_field_and_values_that_nobody_foresaw_survive_being_shown_and_kept(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "x")
    known = Profile(
        name="shop",
        target="kafka://broker.example.com:9093",
        settings=(("security.protocol", "sasl_ssl"), ("sasl.mechanism", "NEXT"), ("socket.timeout.ms", "3000")),
        secrets=(("sasl.password", "env:KEY"), ("ssl.keystore.password", "env:KEY")),
    )
    save_profile(known)
    dialog = opened(window)
    assert dialog.form.profile == known
    assert not dialog.form.folder.isVisible()


@pytest.mark.usefixtures("keyring")
def test_a_registry_and_a_database_are_kept_with_their_own_settings(window: Window) -> None:
    dialog = opened(window)
    write(dialog, "names", "https://registry.example.com/apis/registry/v3")
    QTest.keyClicks(dialog.form.fields["username"].line, "ada")
    QTest.keyClick(dialog, Qt.Key.Key_S, CTRL)
    QTest.keyClick(dialog, Qt.Key.Key_N, CTRL)
    write(dialog, "db", "postgresql://metl@db.example.com:5432/shop")
    QTest.keyClicks(dialog.form.fields["prefix"].line, "fx")
    QTest.keyClick(dialog, Qt.Key.Key_S, CTRL)
    assert [(each.name, each.kind, dict(each.settings)) for each in profiles()] == [
        ("db", ProfileKind.POSTGRESQL, {"prefix": "fx"}),
        ("names", ProfileKind.REGISTRY, {"username": "ada"}),
    ]
    assert "Schema registry" in dialog.list.item(1).text()


@pytest.mark.usefixtures("keyring")
def test_a_trial_shows_the_step_it_is_at_below_those_that_will_do(window: Window) -> None:
    dialog = opened(window)
    dialog._is_testing = True
    for done, step in enumerate(("name", "port", "login")):
        dialog._told(Progress(f"Testing @shop: {step}", done))
        QApplication.processEvents()
        words = words_in(dialog.trial)
        assert words.count("✓") == done
        assert step.capitalize() in words
    dialog._tested(JobOutcome(ConnectionTestResult("shop", "kafka://h:1", (CheckStep("Login", "metl is let in."),))))
    QApplication.processEvents()
    words = words_in(dialog.trial)
    assert words.count("✓") == 1
    assert "metl is let in." in words
