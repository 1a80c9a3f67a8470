"""A state goes live only with warehouse models that have no errors."""

from __future__ import annotations

import pytest

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.trees.nodes import Side
from metl_gui.core.warehouse_model import Column, Dimension, Model
from metl_gui.errors import UserError
from metl_gui.workbench.publishing.publication import judge, live_state, publish
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.warehouse.models import set_model
from tests.unit.workbench.conftest import declare


def payer(path: str) -> Model:
    column = Column(name="amount", path=path)
    return Model(
        name="pay",
        tables=(Dimension(name="payer", entity="payment", business_key=("payer_id",), columns=(column,)),),
    )


def test_an_error_in_a_model_keeps_its_state_from_being_published_and_is_named(mapped: Workbench) -> None:
    set_model(mapped, payer("amuont"))
    with pytest.raises(UserError, match=r"pay: payer\.amount: The entity payment has no attribute amuont"):
        publish(mapped)
    assert live_state(mapped) is None
    found = judge(mapped, mapped.document.state)
    assert found.errors == 1
    assert found.problems[0].code == "warehouse.unknown-attribute", "errors come first"
    set_model(mapped, payer("amount"))
    assert publish(mapped).state == mapped.document.state


def test_a_warning_in_a_model_is_told_and_keeps_nothing_from_being_published(mapped: Workbench) -> None:
    mapped.do(AddVersion(Side.CDM, declare("payment", "2", "payment_id", "payer_id", "amount", "legacy_code", "new")))
    set_model(mapped, payer("new"))
    assert "warehouse.not-mapped" in {one.code for one in judge(mapped, mapped.document.state).problems}
    assert "warehouse.not-mapped" in {one.code for one in publish(mapped).problems}


def test_a_state_before_the_model_can_still_go_live(mapped: Workbench) -> None:
    before = mapped.document.state
    set_model(mapped, payer("amuont"))
    assert publish(mapped, state=before).state == before
