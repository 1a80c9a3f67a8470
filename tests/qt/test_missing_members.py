"""Members that no message has brought, listed on the Warehouse page; each leads to its timeline."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from metl_gui.core.dimensional.loads.key_history import KeyHistory
from metl_gui.core.dimensional.loads.missing_members import MissingMember
from metl_gui.errors import RunError
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets.choice import Chooser
from metl_gui.workbench.loads import key_histories, warehouse_loads
from tests.qt.conftest import activate

MEMBER = MissingMember(dimension="customer", key=("1127",), fact="payment", role="payer", kind="inferred", facts=3)


@pytest.fixture
def shown(window: Window) -> Window:
    """Return a window with the page in front, on the model of the sample."""
    activate(window)
    window.actions_table["warehouse_page"].trigger()
    return window


def _status(monkeypatch: pytest.MonkeyPatch, *missing: MissingMember) -> None:
    monkeypatch.setattr(warehouse_loads, "warehouse_status", lambda *_: SimpleNamespace(missing=missing))


def test_a_missing_member_is_listed_with_its_facts_and_leads_to_its_timeline(
    shown: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    _status(monkeypatch, MEMBER)
    asked: list[tuple[str, tuple[str, ...]]] = []

    def history(_document: object, _target: str, table: str, key: tuple[str, ...], _model: str) -> KeyHistory:
        asked.append((table, key))
        return KeyHistory(table=table, key=key)

    monkeypatch.setattr(key_histories, "dimension_key_history", history)
    shown.warehouse.page.show_table("account")
    shown.actions_table["missing_members"].trigger()
    (chooser,) = shown.findChildren(Chooser)
    assert MEMBER.words == "inferred, 3 facts of payment by payer"
    chooser.chosen.emit(MEMBER)
    chooser.close()
    assert shown.warehouse.page.shown == "customer"
    assert asked == [("customer", ("1127",))]


def test_where_nothing_is_missing_that_is_said(shown: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    _status(monkeypatch)
    shown.warehouse.timelines.show_missing()
    assert shown.notice.words.text() == "Every member that facts refer to is there."


def test_a_target_that_cannot_be_read_is_told(shown: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RunError("Nothing was loaded into it yet.")

    monkeypatch.setattr(warehouse_loads, "warehouse_status", refuse)
    shown.warehouse.timelines.show_missing()
    assert "Nothing was loaded" in shown.notice.words.text()
