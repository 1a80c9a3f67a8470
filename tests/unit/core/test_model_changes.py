"""What was changed of a warehouse model since a target was made by it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from metl_gui.core.dimensional.models.model_changes import change_words, model_changes
from metl_gui.core.warehouse_model import Column, Dates, Dimension, Fact, Model, NotNull, Reference

SEGMENT, CITY = Column(name="segment", path="segment"), Column(name="city", path="city")
CUSTOMER = Dimension(name="customer", entity="customer", business_key=("id",), columns=(SEGMENT, CITY))
PAYMENT = Fact(name="payment", entity="payment", references=(Reference(dimension="customer", role="payer"),))
MODEL = Model(name="fx", tables=(CUSTOMER, PAYMENT))


def customer(**changed: Any) -> Model:
    return replace(MODEL, tables=(replace(CUSTOMER, **changed), PAYMENT))


def payer(**changed: Any) -> Model:
    return replace(MODEL, tables=(CUSTOMER, replace(PAYMENT, references=(replace(PAYMENT.references[0], **changed),))))


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (MODEL, []),
        (customer(columns=(replace(SEGMENT, history=2), CITY)), ["customer columns.segment.history was 1, is 2"]),
        (
            customer(columns=(replace(SEGMENT, type="text(9)"), CITY)),
            ["customer columns.segment.type was nothing, is text(9)"],
        ),
        (
            customer(columns=(replace(SEGMENT, path="kind"), CITY)),
            ["customer columns.segment.from was segment, is kind"],
        ),
        (customer(columns=(SEGMENT,)), ["customer columns.city is gone"]),
        (customer(columns=(SEGMENT, CITY, replace(CITY, name="c"))), ["customer columns.c is new"]),
        (
            customer(columns=(CITY, SEGMENT)),
            ['customer order of columns was ["segment","city"], is ["city","segment"]'],
        ),
        (customer(columns="all"), None),
        (
            customer(columns=(replace(SEGMENT, tests=(NotNull(),)), CITY)),
            ['customer columns.segment.tests was nothing, is [{"is":"not_null"}]'],
        ),
        (customer(business_key=("no",)), ['customer business_key was ["id"], is ["no"]']),
        (payer(as_of="current"), ["payment references.payer.as_of was nothing, is current"]),
        (payer(role="owner"), ["payment references.payer is gone", "payment references.owner is new"]),
        (replace(MODEL, tables=(PAYMENT,)), ["customer is gone"]),
        (
            replace(MODEL, tables=(*MODEL.tables, Dates(name="date", first="2020-01-01", last="2020-12-31"))),
            ["date is new"],
        ),
        (replace(MODEL, tables=(PAYMENT, CUSTOMER)), None),
        (replace(MODEL, entities=("customer",)), ['entities was all, is ["customer"]']),
    ],
)
def test_each_change_is_named_as_the_command_that_sets_it_writes_it(after: Model, words: list[str] | None) -> None:
    found = model_changes(MODEL, after)
    assert bool(found) is (after != MODEL)
    if words is not None:
        assert [one.words for one in found] == words


def test_of_many_changes_the_first_are_told_and_the_others_counted() -> None:
    many = tuple(replace(CITY, name=f"c{number}") for number in range(5))
    words = change_words(model_changes(MODEL, customer(columns=(SEGMENT, CITY, *many))))
    assert words == "customer columns.c0 is new; customer columns.c1 is new; customer columns.c2 is new; and 2 more"
