"""The rows of a table of a warehouse model: what they say, and what becomes of the model when one is changed."""

from __future__ import annotations

import msgspec
import pytest

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.trees.nodes import Side
from metl_gui.core.warehouse_model import Column, Dates, Dimension, Fact, Model, NotNull, Reference, Table
from metl_gui.errors import SchemaError
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.warehouse.models import check_models, set_model
from metl_gui.workbench.warehouse.table_rows import (
    ColumnPart,
    RowMember,
    TableRow,
    changed_table,
    free_attributes,
    table_problems,
    table_rows,
    with_column,
    with_table,
    without_row,
)
from tests.unit.workbench.conftest import declare

PAYMENT = Dimension(
    name="payment",
    entity="payment",
    business_key=("payment_id",),
    columns=(Column(name="amount", path="amount", history=2, tests=(NotNull(),)),),
    references=(Reference(dimension="date", on="amount", role="booked"),),
)
DATE = Dates(name="date", first="2020-01-01", last="2021-01-01")
MODEL = Model(name="pay", tables=(PAYMENT, DATE))


def rows(workbench: Workbench, table: Table = PAYMENT) -> dict[str, TableRow]:
    return {row.name: row for row in table_rows(workbench.document, MODEL, table)}


def test_a_row_says_where_its_values_come_from_and_what_becomes_of_earlier_ones(mapped: Workbench) -> None:
    found = rows(mapped)
    assert [row.part for row in found.values()][:3] == [ColumnPart.KEY, ColumnPart.COLUMN, ColumnPart.REFERENCE]
    amount = found["amount"]
    assert (amount.source, amount.history, amount.tests) == ("amount", 2, "not_null")
    assert amount.type.startswith("(")
    assert found["booked"].source == "amount → date"


def test_a_table_without_columns_has_its_settings_as_rows(mapped: Workbench) -> None:
    found = rows(mapped, DATE)
    assert (found["from"].source, found["fiscal_year_starts"].source) == ("2020-01-01", "1")
    later = changed_table(mapped.document, DATE, found["from"], RowMember.SOURCE, "2019-01-01")
    assert later == msgspec.structs.replace(DATE, first="2019-01-01")


def test_a_problem_stands_in_its_row_and_at_its_table(mapped: Workbench) -> None:
    broken = msgspec.structs.replace(PAYMENT, columns=(Column(name="amount", path="gone"),))
    set_model(mapped, with_table(MODEL, "payment", broken))
    problems = check_models(mapped.document, "pay").problems
    found = {row.name: row for row in table_rows(mapped.document, MODEL, broken, problems)}
    assert "gone" in found["amount"].problems[0].message
    assert found["payment_id"].problems == ()
    assert set(found["amount"].problems) <= set(table_problems(MODEL, "payment", problems))
    assert table_problems(MODEL, "pay", problems) == ()


@pytest.mark.parametrize(
    ("member", "text", "expected"),
    [
        (RowMember.NAME, "sum", {"name": "sum"}),
        (RowMember.SOURCE, "payment_id", {"path": "payment_id"}),
        (RowMember.SOURCE, "abs(amount)", {"path": "", "expression": "abs(amount)"}),
        (RowMember.TYPE, "decimal(12,2)", {"type": "decimal(12,2)"}),
        (RowMember.HISTORY, "6", {"history": 6}),
        (RowMember.TESTS, "", {"tests": ()}),
    ],
)
def test_what_is_written_into_a_row_is_a_member_of_its_column(
    mapped: Workbench, member: RowMember, text: str, expected: dict[str, object]
) -> None:
    changed = changed_table(mapped.document, PAYMENT, rows(mapped)["amount"], member, text)
    before = PAYMENT.columns[0]
    assert isinstance(before, Column)
    assert changed == msgspec.structs.replace(PAYMENT, columns=(msgspec.structs.replace(before, **expected),))


def test_a_reference_is_renamed_by_its_role(mapped: Workbench) -> None:
    changed = changed_table(mapped.document, PAYMENT, rows(mapped)["booked"], RowMember.NAME, "made")
    assert isinstance(changed, Dimension)
    assert changed.references[0].role == "made"


def test_a_history_that_there_is_not_is_refused(mapped: Workbench) -> None:
    with pytest.raises(SchemaError, match="cannot be changed"):
        changed_table(mapped.document, PAYMENT, rows(mapped)["amount"], RowMember.HISTORY, "9")


def test_an_attribute_becomes_a_column_once_and_can_go_again(mapped: Workbench) -> None:
    bare = without_row(PAYMENT, rows(mapped)["amount"])
    assert isinstance(bare, Dimension)
    assert bare.columns == ()
    assert "amount" in [one.path for one in free_attributes(mapped.document, MODEL, bare)]
    again = with_column(mapped.document, bare, "amount")
    assert "amount" not in [one.path for one in free_attributes(mapped.document, MODEL, again)]
    assert without_row(PAYMENT, rows(mapped)["payment_id"]) == PAYMENT


def test_a_column_of_a_fact_that_is_no_number_is_a_degenerate_dimension(mapped: Workbench) -> None:
    fact = with_column(mapped.document, Fact(name="f", entity="payment"), "payment_id")
    assert isinstance(fact, Fact)
    assert [one.name for one in (*fact.measures, *fact.degenerate)] == ["payment_id"]


def test_an_attribute_that_begins_with_an_underscore_becomes_a_column_without_it(mapped: Workbench) -> None:
    paths = ["payment_id", "_from", "amount"]
    mapped.do(AddVersion(Side.CDM, declare("payment", "9", *paths, key=("payment_id",))))
    changed = with_column(mapped.document, PAYMENT, "_from")
    assert isinstance(changed, Dimension)
    assert changed.columns != "all"
    assert [(one.name, one.path) for one in changed.columns] == [("amount", "amount"), ("from", "_from")]
