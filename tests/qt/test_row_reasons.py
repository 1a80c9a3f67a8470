"""Why a version is as it is, asked in the timeline: its messages and cells, and the jump to a cell."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from metl_gui.errors import RunError
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets.choice import Chooser
from metl_gui.workbench.loads.key_histories import dimension_key_history
from metl_gui.workbench.loads.row_reasons import SourceCell, reason_lines, why_row
from metl_gui.workbench.settings import set_settings
from tests.qt.conftest import activate
from tests.qt.loaded_targets import PERSON, loaded_customer


@pytest.fixture
def target(window: Window, tmp_path: Path) -> str:
    """Return a target that holds one customer, mapped by version 2 of a schema of the sample."""
    return loaded_customer(window, tmp_path)


def test_enter_on_a_version_lists_its_messages_with_their_cells_and_leads_to_one(window: Window, target: str) -> None:
    activate(window)
    window.actions_table["warehouse_page"].trigger()
    page = window.warehouse.page
    page.load.target.setText(target)
    page.show_table("customer")
    page.timeline_dock.show()
    page.timeline_dock.raise_()
    window.warehouse.timelines.show_history(dimension_key_history(window.project.value, target, "customer", ("7",)))
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Return):
        QTest.keyClick(page.timeline.view, key)
    chooser = next(each for each in window.findChildren(Chooser) if each.isVisible())
    country = next(one for one in chooser._choices if one.section.startswith("country = CZ"))
    assert "people, partition 0, offset 4" in country.words.title
    assert isinstance(country.value, SourceCell)
    assert (country.value.source, country.value.target) == ("country", "address.country")
    assert not chooser.grab().toImage().isNull()
    chooser.chosen.emit(country.value)
    chooser.close()
    chosen = window.context.selection.current
    assert chosen.source is not None
    assert chosen.target is not None
    assert window.page == 0


def test_a_decision_is_named_by_who_made_it_and_masked_values_stay_hidden(window: Window, target: str) -> None:
    workbench = window.project.workbench
    assert workbench is not None
    told = why_row(workbench, target, "customer", '{"customer_id": 7}')
    (cell,) = dict(told.cells)["country"]
    assert cell.decision is not None
    assert f"set by {cell.decision.who}" in cell.words
    assert "country = CZ: the value of this version" in list(reason_lines(told))
    assert told.as_json()["columns"][1]["cells"][0]["decision"]["state"] == cell.decision.state
    set_settings(workbench, PERSON, ["mask=country"])
    hidden = why_row(workbench, target, "customer", '{"customer_id": 7}')
    assert "CZ" not in " ".join(reason_lines(hidden))


@pytest.mark.parametrize(
    ("table", "key", "at_", "words"),
    [
        ("customer", "7", "", "has the parts customer_id"),
        ("customer", "{", "", "no JSON"),
        ("customer", '{"customer_id": 7}', "soon", "no time"),
        ("customer", '{"customer_id": 8}', "", "no customer 8"),
        ("date", '{"date_key": 8}', "", "no dimension and no fact"),
    ],
)
def test_what_names_no_row_is_refused_in_words(
    window: Window, target: str, table: str, key: str, at_: str, words: str
) -> None:
    workbench = window.project.workbench
    assert workbench is not None
    with pytest.raises(RunError, match=words):
        why_row(workbench, target, table, key, at_)
