"""Tables proposed for a model that has some: what is left out, and what comes along."""

from __future__ import annotations

import pytest

from metl_gui.core.dimensional.models import proposed_tables as module
from metl_gui.core.dimensional.models.proposed_tables import accepted_with, proposed_tables, with_proposed
from metl_gui.core.matrix.document import Document
from metl_gui.core.warehouse_model import Dates, Dimension, Fact, Model, Reference

DATE = Dates(name="date", first="2020-01-01", last="2021-01-01")
CUSTOMER = Dimension(name="customer", entity="customer")
ACCOUNT = Dimension(name="account", entity="account", references=(Reference(dimension="customer"),))
BOOKED = Reference(dimension="date", on="event_time")
PAYMENT = Fact(name="payment", entity="payment", references=(Reference(dimension="account"), BOOKED))
WHOLE = Model(name="m", tables=(CUSTOMER, ACCOUNT, PAYMENT, DATE))


@pytest.fixture(autouse=True)
def proposal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "proposed_model", lambda *_: WHOLE)


def test_what_a_model_has_is_proposed_no_more_whatever_it_is_called_there() -> None:
    own = Model(name="m", tables=(Dimension(name="client", entity="customer"), Dates(name="day", first="", last="")))
    assert [one.name for one in proposed_tables(Document(), own)] == ["account", "payment"]


def test_a_proposed_table_refers_to_what_the_model_has_by_its_name_there() -> None:
    own = Model(name="m", tables=(Dimension(name="client", entity="customer"), Dates(name="day", first="", last="")))
    account, payment = proposed_tables(Document(), own)
    assert isinstance(account, Dimension)
    assert isinstance(payment, Fact)
    assert [one.dimension for one in account.references] == ["client"]
    assert [one.dimension for one in payment.references] == ["account", "day"]


def test_a_table_takes_along_all_that_it_leads_to_and_nothing_else() -> None:
    proposed = proposed_tables(Document(), Model(name="m"))
    assert {one.name for one in accepted_with(proposed, "account")} == {"account", "customer"}
    assert [one.name for one in with_proposed(Model(name="m"), proposed, "account").tables] == ["customer", "account"]
    assert with_proposed(Model(name="m"), proposed, "payment").tables == WHOLE.tables


def test_references_in_a_circle_have_an_end() -> None:
    one = Dimension(name="one", entity="one", references=(Reference(dimension="two"),))
    two = Dimension(name="two", entity="two", references=(Reference(dimension="one"),))
    assert {table.name for table in accepted_with((one, two), "one")} == {"one", "two"}
