"""Checks of names: that no two tables or columns are one, that none is the loader's, that what is listed is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from metl_gui import warehouse
from metl_gui.core.dimensional.models.part_checks import is_of_loader
from metl_gui.core.dimensional.models.special_values import is_day, is_value
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.trees.nodes import Side
from tests.helpers.world import declare
from tests.unit.core.dimensional.test_checks import GOOD, HELD, checked, codes, world

TIMES = GOOD.replace("    event_time: at\n", "    event_time: at\n    event_times: [{name: sent_at, from: at}]\n")


def test_every_column_that_loads_put_beside_declared_ones_is_known_as_the_loaders() -> None:
    sources = [path.read_text("utf-8") for path in Path(warehouse.__file__).parent.rglob("*.py")]
    used = {found for text in sources for found in re.findall(r"\"(_[a-z][a-z0-9_]*)\"", text)}
    assert {"_from", "_deleted", "_k0"} <= used
    assert sorted(one for one in used if not is_of_loader(one, "column")) == []


@pytest.mark.parametrize(
    ("good", "bad", "code", "place"),
    [
        ("name: loud", "name: _from", "name-reserved", "w: customer._from"),
        ("name: amount, from", "name: _deleted, from", "name-reserved", "w: payment._deleted"),
        ("time: time", "time: _time", "name-reserved", "w: _time"),
        ("role: payer", "role: _time", "name-reserved", "w: payment._time"),
        ("name: loud", "name: _K0", "name-reserved", "w: customer._K0"),
        ("name: loud", "name: _rev", None, ""),
        ("role: payer", "role: _payer", None, ""),
        ("junk: flags", "junk: _flags", "name-reserved", "w: _flags"),
        ("name: sent_at", "name: _posted_at", "name-reserved", "w: payment._posted_at"),
        ("{time: time}", "{time: customer_current}", "name-twice", "w: customer_current"),
        ("{time: time}", "{time: Customer_Now}", "name-twice", "w: Customer_Now"),
        (
            "from: name, history: 2}",
            "from: name, history: 6}\n      - {name: NAME_current, from: name}",
            "name-twice",
            "",
        ),
        (
            "from: name, history: 2}",
            "from: name, history: 3}\n      - {name: name_previous, from: name}",
            "name-twice",
            "",
        ),
        ("role: owner, on", "role: account, on", "name-twice", "w: account.account_durable_key"),
        ("role: payer", "role: Account_durable", "name-twice", "w: payment.Account_durable_key"),
        ("columns: [iban]", "columns: [iban, iban]", "name-twice", "w: account_day"),
        ("columns: [iban]", "columns: [Iban]", "unknown-column", "w: account_day"),
        ("columns: [status]", "columns: [Status]", "unknown-column", "w: flags"),
        (
            "from: status}",
            "from: status, tests: [{relationship: {table: account, column: Iban}}]}",
            "unknown-column",
            "",
        ),
        ('unknown: {name: "?"}', 'unknown: {Name: "?"}', "unknown-column", "w: customer"),
        ('unknown: {name: "?"}', "unknown: {customer_id: zero}", "value", "w: customer.customer_id"),
        ('unknown: {name: "?"}', "not_applicable: {valid_to: never}", "value", "w: customer.valid_to"),
        ('unknown: {name: "?"}', f"unknown: {{loud: {'x' * 41}}}", None, ""),
        ('unknown: {name: "?"}', 'unknown: {customer_id: ""}', None, ""),
        ("[[name, valid_from]]", "[[Name, Valid_From]]", None, ""),
        ("entity: customer", "entity: customer\n    key_includes_schema: true", "key-differs", "w: payment.payer"),
        ("2026-01-01", "2015-W01-1", "date-range", "w: date"),
        ("2026-01-01", "'20150101'", "date-range", "w: date"),
        ("{time: time}", HELD.replace("role: holder", "role: Account"), "name-twice", "w: held"),
        ("{time: time}", "{bridge: b, of: account, list: tags, to: account}", None, ""),
        ("{time: time}", "{bridge: tags, of: customer, list: customer, to: customer}", "name-twice", "w: tags"),
    ],
)
def test_a_name_has_its_fault_at_its_place(good: str, bad: str, code: str | None, place: str) -> None:
    assert good in TIMES
    found = codes(TIMES.replace(good, bad, 1))
    assert (code in found and (not place or found[code] == place)) if code else not found


def test_a_column_called_schema_beside_that_of_the_key_is_refused() -> None:
    text = (
        "warehouse: w\ntables: [{dimension: c, entity: customer, key_includes_schema: true, "
        "columns: [{name: schema, from: name}]}]"
    )
    (problem,) = checked(text)
    assert problem.message == "c has a column schema by itself."


def test_what_is_written_with_other_capitals_is_proposed_as_it_is() -> None:
    (problem,) = checked(GOOD.replace("columns: [iban]", "columns: [IBAN]"))
    assert problem.hint == "Did you mean iban?"


def test_periodic_facts_take_milestones_of_their_fact_and_no_part_of_its_key() -> None:
    days = "{periodic: payment_day, of: payment, every: day, columns: [%s]}"
    assert checked(TIMES.replace("{time: time}", days % "sent_at, event_time")) == ()
    assert codes(TIMES.replace("{time: time}", days % "sent_at_key")) == {"unknown-column": "w: payment_day"}
    assert codes(TIMES.replace("{time: time}", days % "payment_id")) == {"unknown-column": "w: payment_day"}


def test_a_periodic_fact_has_no_column_that_it_has_by_itself() -> None:
    text = GOOD.replace("name: loud", "name: period_end").replace(
        "{time: time}", "{periodic: p, of: customer, every: day, columns: [period_end]}"
    )
    (problem,) = checked(text)
    assert problem.message == "p would have two columns called period_end."


def test_a_periodic_fact_takes_a_part_of_a_key_by_the_name_that_columns_give_it() -> None:
    text = GOOD.replace("    columns:\n", "    columns:\n      - {name: nr, from: customer_id}\n", 1)
    days = "{periodic: p, of: customer, every: day, columns: [%s]}"
    assert checked(text.replace("{time: time}", days % "nr")) == ()
    assert codes(text.replace("{time: time}", days % "customer_id")) == {"unknown-column": "w: p"}


def test_entities_whose_names_differ_in_capitals_alone_are_not_kept_together() -> None:
    made = world()
    made.do(AddVersion(Side.CDM, replace(declare("Customer", ["customer_id:integer"], "1"), key=("customer_id",))))
    assert checked(GOOD, made.document) == ()  # nothing is mapped to it
    made.map("s.customer@1:Customer@1", customer_id="customer_id")
    (problem,) = checked(GOOD, made.document)
    assert (problem.code, problem.place) == ("warehouse.name-twice", "w")
    assert "customer, Customer would share one history" in problem.message
    assert checked(f"{GOOD}entities: [customer, account, payment]\n", made.document) == ()
    assert codes(f"{GOOD}entities: [customer, account, payment, Customer]\n", made.document) == {"name-twice": "w"}


@pytest.mark.parametrize(
    ("value", "type_", "is_one"),
    [
        *(("-7", "integer", True), ("1.5", "integer", False), ("9" * 39, "integer", False), ("nan", "integer", False)),
        *(("12.50", "decimal(4,2)", True), ("123", "decimal(4,2)", False), ("0.005", "decimal(4,2)", False)),
        *(("1e3", "float", True), ("much", "float", False), ("yes", "boolean", True), ("maybe", "boolean", False)),
        *(
            ("1_000", "integer", False),
            ("1e9999999999999999999", "integer", False),
            ("1e1000000", "decimal(10,2)", False),
            ("\u0661", "integer", False),
            ("1_0.5", "decimal(4,2)", False),
            ("1e2", "integer", True),
        ),
        *(("1_000", "float", False), ("1e400", "float", False), ("1e-400", "float", False), ("-0.0", "float", True)),
        *(("-Infinity", "float", True), ("NaN", "float", True), ("\u0661", "float", False), (" .5 ", "float", True)),
        *(("2026-12-31", "date", True), ("2026-12-32", "date", False), ("infinity", "date", True)),
        *(("23:59:59.5", "time", True), ("25:00", "time", False)),
        *(("2026-12-31 10:00", "timestamp", True), ("2026-12-31T10:00:00Z", "instant", True)),
        *(("2026-12-31 10:00+0530", "instant", True), ("2026-12-31 10:00 +05", "instant", False)),
        *(("2026-12-31Z", "instant", False), ("2026-12-31+05", "instant", False)),
        *(("9999-12-31", "instant", True), ("2026-12-31 at ten", "instant", False)),
        *(("ab", "text(2)", True), ("abc", "text(2)", True), ("abc", "text", True), ("{", "json", True)),
        ("anything", "", True),
    ],
)
def test_a_declared_value_is_one_of_its_type_as_targets_read_it(value: str, type_: str, is_one: bool) -> None:
    assert is_value(value, type_) is is_one


def test_a_day_has_a_year_a_month_and_a_day_with_hyphens_between() -> None:
    days = ("2026-12-31", "2026-12-32", "2026-W01-1", "20261231", "2026-1-1", "")
    assert [is_day(one) for one in days] == [True, False, False, False, False, False]
