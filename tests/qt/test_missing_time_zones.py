"""Schemas whose time zone a typed sink misses, as cards at the head of the review list."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.trees.nodes import Schema, Side
from metl_gui.ui.settings_dialogs.schema_dialog import SchemaSettingsDialog
from metl_gui.ui.shell.window import Window
from tests.helpers.run_specs import run_spec

LEFT = Qt.MouseButton.LeftButton
ORDERS = "fx.payments.orders"


def schema(window: Window, name: str = ORDERS) -> Schema:
    found = window.project.value.extraction.named(name)
    assert found is not None
    return found


def state(window: Window, zone: str, name: str = ORDERS) -> None:
    assert window.project.do(SetSettings(Side.EXTRACTION, schema(window, name).id, (("time_zone", zone),)))


def missing(window: Window) -> list[str]:
    return [one.schema for one in window.review.list.zones.shown]


@pytest.fixture
def typed(window: Window) -> Window:
    """A window on the Review page of the sample, after a run wrote typed columns."""
    workbench = window.project.workbench
    assert workbench is not None
    workbench.add_run({"run_id": "r"}, [], msgspec.to_builtins(run_spec(format="parquet").as_kept))
    window.show_page(1)
    return window


def test_the_sample_states_its_zones_so_it_has_no_card(typed: Window) -> None:
    assert missing(typed) == []
    assert not typed.review.list.zones.isVisible()


def test_a_zone_that_is_taken_away_makes_one_card_and_undo_takes_it_off(typed: Window) -> None:
    state(typed, "")
    strip = typed.review.list.zones
    assert missing(typed) == [ORDERS]
    assert strip.isVisible()
    said = " ".join(label.text() for label in strip.findChildren(QLabel))
    assert f"{ORDERS} no time zone · 1 local time wanted as instants" in said
    (card,) = (each for each in strip.findChildren(QLabel) if each.text() == ORDERS)
    parent = card.parentWidget()
    assert parent is not None
    assert "created_at → payment: booked_at" in parent.toolTip()
    typed.project.undo()
    assert missing(typed) == []
    assert not strip.isVisible()


def test_the_card_opens_the_settings_at_the_time_zone_and_setting_it_takes_the_card_off(typed: Window) -> None:
    state(typed, "")
    QTest.mouseClick(typed.review.list.zones.buttons[0], LEFT)
    QApplication.processEvents()
    (dialog,) = (each for each in typed.findChildren(SchemaSettingsDialog) if each.isVisible())
    line = dialog.editors["time_zone"].line
    assert line is not None
    assert dialog.focusWidget() is line
    QTest.keyClicks(line, "Europe/Berlin")
    QTest.keyClick(dialog, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    QApplication.processEvents()
    assert schema(typed).setting("time_zone") == "Europe/Berlin"
    assert missing(typed) == []
    typed.project.undo()
    assert missing(typed) == [ORDERS]


def test_local_times_of_no_one_zone_are_not_asked_about_again_until_that_is_undone(typed: Window) -> None:
    state(typed, "")
    QTest.mouseClick(typed.review.list.zones.buttons[1], LEFT)
    assert schema(typed).setting("time_zone") == "none"
    assert missing(typed) == []
    typed.review.refresh()
    assert missing(typed) == []
    assert ORDERS in typed.notice.words.text()
    typed.project.undo()
    assert missing(typed) == [ORDERS]


def test_no_card_stands_before_a_run_wrote_typed_columns(window: Window) -> None:
    state(window, "")
    window.show_page(1)
    assert missing(window) == []


def test_while_only_reading_is_possible_the_cards_show_and_do_nothing(typed: Window) -> None:
    state(typed, "")
    state(typed, "UTC")
    typed.project.look_at(typed.project.value.state - 1)
    assert missing(typed) == [ORDERS]
    assert not any(button.isEnabled() for button in typed.review.list.zones.buttons)
