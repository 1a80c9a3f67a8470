"""Grants of a table, as people write them."""

from __future__ import annotations

import pytest

from metl_gui.core.dimensional.models.grants import granted_roles, role_of
from metl_gui.core.warehouse_model import Dimension, Fact, Model
from tests.unit.core.dimensional.test_checks import GOOD, codes


@pytest.mark.parametrize(
    ("grant", "role"),
    [
        ("analysts", "analysts"),
        ("select to analysts", "analysts"),
        ("SELECT TO The Analysts", "The Analysts"),
        ("public", "public"),
        ("select", "select"),
        ("insert to analysts", None),
        ("select, update to analysts", None),
        ("select on payment to analysts", None),
        ("", None),
        ("two\nlines", None),
        ("r" * 64, None),
    ],
)
def test_a_grant_is_a_role_that_may_read(grant: str, role: str | None) -> None:
    assert role_of(grant) == role


def test_roles_of_a_model_are_named_once_and_everybody_is_none() -> None:
    tables = (
        Dimension(name="d", entity="e", grants=("a", "select to b")),
        Fact(name="f", entity="e", grants=("b", "PUBLIC")),
    )
    assert granted_roles(Model(name="m", tables=tables)) == ("a", "b")


def test_a_grant_of_something_else_is_a_fault() -> None:
    text = GOOD.replace("    indexes: [[name, valid_from]]\n", "    grants: [analysts, %s]\n")
    assert codes(text % "select to others") == {}
    assert codes(text % "delete to others") == {"grant": "w: customer"}
