"""The history of a key as people may see it: masked values hidden, and plain words where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.dimensional.loads.key_history import KeyHistory, KeyMessage, KeyVersion
from metl_gui.core.warehouse_model import Column, Dimension, Model
from metl_gui.errors import RunError
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.workbench.loads import key_histories
from metl_gui.workbench.loads.key_histories import dimension_key_history, dimension_keys
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.settings import set_settings
from metl_gui.workbench.warehouse.models import set_model

COLUMNS = (
    Column(name="sum", path="amount"),
    Column(name="large", expression="upper(amount)"),
    Column(name="payer", path="payer_id"),
)
PAYMENT = Dimension(name="payment", entity="payment", business_key=("payment_id",), columns=COLUMNS)
FOUND = KeyHistory(
    table="payment",
    key=("7",),
    messages=(
        KeyMessage(
            schema="s", row="7", op="u", holds_from=None, is_void=False, values=(("amount", "12"), ("payer_id", "C1"))
        ),
    ),
    versions=(
        KeyVersion(
            number=1,
            since=None,
            until=None,
            is_current=True,
            is_deleted=False,
            is_inferred=False,
            values=(("sum", "12"), ("large", "12"), ("payer", "C1")),
        ),
    ),
)


@pytest.fixture
def target(mapped: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a target with a table of the dimension, of which ``FOUND`` is read."""
    set_model(mapped, Model(name="pay", tables=(PAYMENT,)))
    path = tmp_path / "pay.duckdb"
    with DuckDb(path) as opened:
        opened.run("CREATE TABLE payment (payment_key BIGINT, payment_id VARCHAR)")
        opened.run("INSERT INTO payment VALUES (1, '7'), (0, NULL)")
        opened.run("CREATE TABLE metl_target (name VARCHAR, value VARCHAR)")
        opened.run("INSERT INTO metl_target VALUES ('masked', 'plain')")
    monkeypatch.setattr(key_histories, "key_history", lambda *_: FOUND)
    return f"duckdb:{path}"


def test_masked_values_and_what_is_made_of_them_stay_hidden(mapped: Workbench, target: str) -> None:
    assert dimension_key_history(mapped.document, target, "payment", ("7",)) == FOUND
    set_settings(mapped, "fx.pay.orders", ["mask=amount"])
    shown = dimension_key_history(mapped.document, target, "payment", ("7",))
    assert shown.messages[0].values == (("amount", "•••"), ("payer_id", "C1"))
    assert shown.versions[0].values == (("sum", "•••"), ("large", "•••"), ("payer", "C1"))


def test_a_masked_key_is_shown_to_nobody(mapped: Workbench, target: str) -> None:
    assert dimension_keys(mapped.document, target, "payment") == (("7",),)
    set_settings(mapped, "fx.pay.orders", ["mask=id"])
    with pytest.raises(RunError, match="masked"):
        dimension_keys(mapped.document, target, "payment")


def test_a_key_with_other_parts_and_a_table_that_is_no_dimension_are_refused(mapped: Workbench, target: str) -> None:
    with pytest.raises(RunError, match="7, 8 is no key"):
        dimension_key_history(mapped.document, target, "payment", ("7", "8"))
    with pytest.raises(RunError, match="no dimension"):
        dimension_keys(mapped.document, target, "refund")


def test_where_nothing_was_loaded_no_file_is_made(mapped: Workbench, target: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone.duckdb"
    with pytest.raises(RunError, match="Nothing was loaded"):
        dimension_keys(mapped.document, f"duckdb:{gone}", "payment")
    assert not gone.exists()
    assert target
