"""Checks of warehouse models: each code with a model that has the fault, and none on a model that has not."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest
from msgspec.structs import replace

from metl_gui.core.changes.draft import EditContext, perform
from metl_gui.core.dimensional.models import checks, fact_checks, name_checks, part_checks
from metl_gui.core.dimensional.models.checks import check_model
from metl_gui.core.edits.review import ConfirmBlock
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.core.trees.nodes import Side
from metl_gui.formats.model_yaml import read_model
from metl_gui.formats.row_expressions import named_attributes
from tests.helpers.world import World, declare

GOOD = """
warehouse: w
tables:
  - dimension: customer
    entity: customer
    columns:
      - {name: name, from: name, history: 2}
      - {name: loud, expression: "upper(name)", type: text(40)}
    unknown: {name: "?"}
    indexes: [[name, valid_from]]
  - dimension: account
    entity: account
    columns: all
    references: [{dimension: customer, role: owner, on: {owner_id: customer_id}}]
  - fact: payment
    entity: payment
    event_time: at
    where: "amount > 0"
    references:
      - {dimension: account, on: {account_id: account_id}, as_of: event}
      - {dimension: customer, role: payer, on: {"cast(substr(payer, 3) as bigint)": customer_id}}
      - {dimension: date, on: event_time, time_zone: UTC}
    measures: [{name: amount, from: amount, type: "decimal(12,2)"}]
    degenerate: [{name: status, from: status}]
  - {periodic: account_day, of: account, every: day, columns: [iban]}
  - {junk: flags, of: payment, columns: [status]}
  - {date: date, from: 2026-01-01, to: 2026-12-31}
  - {time: time}
"""


def world() -> World:
    """Three entities with keys, all mapped, and one without a key that nothing is mapped to."""
    made = World()
    instant = "at:string/date-time"
    for name, key, paths in (
        ("customer", "customer_id", ("customer_id:integer", "name", "parent_id:integer")),
        ("account", "account_id", ("account_id:integer", "iban", "owner_id:integer", "tags:array")),
        (
            "payment",
            "payment_id",
            ("payment_id:integer", "account_id:integer", "payer", "amount:number", "status", instant),
        ),
        ("note", "", ("text",)),
    ):
        declared = declare(name, [path.partition("/")[0] for path in paths], "1")
        attributes = tuple(
            replace(each, logical="date-time") if each.path == "at" else each for each in declared.attributes
        )
        made.do(AddVersion(Side.CDM, replace(declared, attributes=attributes, key=(key,) if key else ())))
        if name != "note":
            columns = [path.partition(":")[0] for path in paths]
            made.schema(f"s.{name}", "1", *columns)
            made.map(f"s.{name}@1:{name}@1", **{column: column for column in columns})
    return made


DOCUMENT = world().document


def checked(text: str, document: Document = DOCUMENT, **more: Any) -> tuple[Problem, ...]:
    return check_model(document, read_model(text), named_attributes, **more)


def codes(text: str, document: Document = DOCUMENT, **more: Any) -> dict[str, str]:
    """Return the codes that a model has, each with its place."""
    return {problem.code.removeprefix("warehouse."): problem.place for problem in checked(text, document, **more)}


def test_a_model_without_faults_has_no_problems() -> None:
    assert checked(GOOD) == ()


PAIR = "{dimension: pair, entity: account, business_key: [account_id, owner_id], columns: []}"
MINE = "{dimension: mine, entity: account, key_includes_schema: true, columns: []}"
BACK = "{fact: back, entity: payment, on_correction: reverse}"
HELD = (
    "{bridge: held, entity: account, references: [{dimension: account, on: {account_id: account_id}}, "
    "{dimension: customer, role: holder, on: {owner_id: customer_id}}]}"
)
FAULTS = [
    ("from: name, history", "from: nam, history", "unknown-attribute", "w: customer.name"),
    ("upper(name)", "uper(name)", "expression", "w: customer.loud"),
    ("upper(name)", "upper(nam)", "unknown-attribute", "w: customer.loud"),
    ("text(40)", "varchar", "type", "w: customer.loud"),
    ("decimal(12,2)", "decimal(39,2)", "type", "w: payment.amount"),
    ("decimal(12,2)", "decimal(2,3)", "type", "w: payment.amount"),
    ('from: amount, type: "decimal(12,2)"', "from: status", "measure", "w: payment.amount"),
    ('expression: "upper(name)"', 'expression: "upper(name)", from: name', "column", "w: customer.loud"),
    (', expression: "upper(name)"', "", "column", "w: customer.loud"),
    ("name: loud", "name: name", "name-twice", "w: customer.name"),
    ("name: loud", "name: Is_Current", "name-twice", "w: customer.Is_Current"),
    ("name: loud", "name: metl_loud", "name-reserved", "w: customer.metl_loud"),
    ("name: loud", f"name: {'x' * 64}", "name-too-long", f"w: customer.{'x' * 64}"),
    ("name: loud", 'name: ""', "name", "w: customer."),
    ("time: time", "time: Date", "name-twice", "w: Date"),
    ("time: time", f"time: {'t' * 52}", "name-too-long", f"w: {'t' * 52}"),
    ("time: time", "time: metl_time", "name-reserved", "w: metl_time"),
    ('unknown: {name: "?"}', 'unknown: {nam: "?"}', "unknown-column", "w: customer"),
    ('unknown: {name: "?"}', "unknown: {customer_id: zero}", "value", "w: customer.customer_id"),
    ("[[name, valid_from]]", "[[name, valid_form]]", "unknown-column", "w: customer"),
    ("columns: [iban]", "columns: [ibn]", "unknown-column", "w: account_day"),
    ("columns: [status]", "columns: [state]", "unknown-column", "w: flags"),
    ("of: account, every", "of: acount, every", "unknown-table", "w: account_day"),
    ("of: account, every", "of: date, every", "no-owner", "w: account_day"),
    ("of: payment, columns", "of: customer, columns", "no-owner", "w: flags"),
    ("dimension: customer, role: owner", "dimension: custmer, role: owner", "unknown-table", "w: account.owner"),
    ("dimension: customer, role: owner", "dimension: payment, role: owner", "no-dimension", "w: account.owner"),
    ("{owner_id: customer_id}", "{owner_id: account_id}", "key-differs", "w: account.owner"),
    ("{owner_id: customer_id}", "{owner_id: customer_id, iban: name}", "key-differs", "w: account.owner"),
    ("{owner_id: customer_id}", "{iban: customer_id}", "key-type", "w: account.owner"),
    ("{owner_id: customer_id}", "{ownr_id: customer_id}", "unknown-attribute", "w: account.owner"),
    ("on: {owner_id: customer_id}", "on: owner_id", "on", "w: account.owner"),
    ("on: event_time, time_zone: UTC", "on: {at: date_key}", "on", "w: payment.date"),
    ("on: event_time, time_zone: UTC", "on: amount, time_zone: UTC", "no-time", "w: payment.date"),
    ("on: event_time, time_zone: UTC", "on: event_time", "time-zone", "w: payment.date"),
    ("time_zone: UTC}", "time_zone: Europe/Berln}", "time-zone", "w: payment.date"),
    ("as_of: event", "as_of: durable", "as-of", "w: payment.account"),
    ("role: payer", "role: account", "role-twice", "w: payment.account"),
    ("event_time: at", "event_time: status", "no-time", "w: payment"),
    ('where: "amount > 0"', 'where: "sum(amount) > 0"', "expression", "w: payment"),
    ("entity: payment", "entity: paymnt", "unknown-entity", "w: payment"),
    ("entity: customer", "entity: customer\n    business_key: [id]", "unknown-attribute", "w: customer"),
    ("entity: customer", "entity: customer\n    prefer: [s.none]", "unknown-schema", "w: customer"),
    ("entity: customer", "entity: customer\n    parent: [parent_id, name]", "key-differs", "w: customer"),
    ("entity: customer", "entity: customer\n    valid_at: name", "no-time", "w: customer"),
    ("2026-01-01", "2027-01-01", "date-range", "w: date"),
    ("2026-01-01", "2026-13-01", "date-range", "w: date"),
    ("to: 2026-12-31", "to: 2026-12-31, fiscal_year_starts: 13", "date-range", "w: date"),
    ("to: 2026-12-31", "to: 2026-12-31, locale: dee", "locale", "w: date"),
    ("{time: time}", "{hierarchy: tree, of: customer}", "no-parent", "w: tree"),
    ("{time: time}", "{bridge: b, of: account}", "bridge", "w: b"),
    ("{time: time}", "{bridge: b, of: account, list: tag, to: customer}", "unknown-attribute", "w: b"),
    ("{time: time}", "{bridge: b, of: account, list: tags, to: payment}", "no-dimension", "w: b"),
    ("{time: time}", "{bridge: b, entity: account, references: []}", "bridge", "w: b"),
    ("{time: time}", f"{{bridge: b, of: account, list: tags, to: pair}}\n  - {PAIR}", "bridge", "w: b"),
    ("{time: time}", f"{{bridge: b, of: account, list: tags, to: mine}}\n  - {MINE}", "bridge", "w: b"),
    ("{time: time}", "{bridge: b, of: payment, list: status, as_of: version}", "bridge", "w: b"),
    ("{time: time}", f"{{bridge: b, of: back, list: status}}\n  - {BACK}", "bridge", "w: b"),
    ("{time: time}", "{bridge: b, of: account, list: iban}", "bridge", "w: b"),
    ("{time: time}", "{bridge: b, of: account, list: tags, to: customer}", None, ""),
    ("{time: time}", HELD, None, ""),
    ("{time: time}", HELD.replace("entity: account", "entity: account, as_of: version"), "bridge", "w: held"),
    ("{time: time}", HELD.replace("role: holder", "role: holder, as_of: version"), "as-of", "w: held.holder"),
    ("{time: time}", HELD.replace("role: holder", "role: holder, cascade: true"), "as-of", "w: held.holder"),
    (
        "{time: time}",
        HELD.replace("customer, role: holder, on: {owner_id: customer_id}", "date, role: holder, on: iban"),
        "no-dimension",
        "w: held.holder",
    ),
    ("role: payer", "role: payer, cascade: true", "as-of", "w: payment.payer"),
    ("columns: [iban]", "columns: [iban, owner_key]", "unknown-column", "w: account_day"),
    ("columns: [iban]", "columns: [iban, is_current]", "unknown-column", "w: account_day"),
    (
        "of: account, every: day, columns: [iban]",
        "of: payment, every: day, columns: [payer_key]",
        "unknown-column",
        "w: account_day",
    ),
    (
        "of: account, every: day, columns: [iban]",
        "of: payment, every: day, columns: [event_time, amount, status]",
        None,
        "",
    ),
    ("{time: time}", "{dimension: notes, entity: note}", "no-key", "w: notes"),
    ("{time: time}", "{fact: notes, entity: note}", "no-key", "w: notes"),
    ("{time: time}", "{dimension: other, entity: payment, valid_at: at}", None, ""),
    ("warehouse: w", "warehouse: w\nentities: [customer, account, note]", "entity-not-kept", "w: payment"),
    ("warehouse: w", "warehouse: w\nentities: [customer, account, payment, nothing]", "unknown-entity", "w"),
]


@pytest.mark.parametrize(("good", "bad", "code", "place"), FAULTS)
def test_a_fault_has_its_code_and_its_place(good: str, bad: str, code: str | None, place: str) -> None:
    assert good in GOOD
    found = codes(GOOD.replace(good, bad, 1))
    assert found.get(code) == place if code else not found


ELSEWHERE = {
    *("cycle", "grant", "junk", "no-days", "masked", "not-mapped", "valid-at-differs", "no-business-key"),
    *("new-attribute", "no-longer-mapped"),
}


def test_every_code_of_the_checks_is_among_the_faults() -> None:
    modules = (checks, fact_checks, name_checks, part_checks)
    used = set(re.findall(r'"warehouse\.([a-z-]+)"', "".join(map(inspect.getsource, modules))))
    assert len(used) > 30
    assert {code for _, _, code, _ in FAULTS if code} | ELSEWHERE == used


def test_a_name_that_is_nearly_right_is_proposed() -> None:
    (problem,) = checked(GOOD.replace("from: name, history", "from: nam, history"))
    assert problem.message == "The entity customer has no attribute nam."
    assert problem.hint == "Did you mean name?"
    assert problem.severity is Severity.ERROR


def test_dimensions_that_refer_to_one_another_in_a_circle_are_named() -> None:
    text = GOOD.replace(
        "entity: customer\n",
        "entity: customer\n    references: [{dimension: account, on: {parent_id: account_id}}]\n",
        1,
    )
    (problem,) = checked(text)
    assert problem.code == "warehouse.cycle"
    assert problem.message == "The dimensions account, customer refer to one another in a circle."


def test_a_dimension_may_refer_to_itself() -> None:
    text = GOOD.replace(
        "entity: customer\n",
        "entity: customer\n    references: [{dimension: customer, role: head, on: {parent_id: customer_id}}]\n",
        1,
    )
    assert checked(text) == ()


def test_a_hierarchy_of_a_dimension_with_a_parent_has_no_fault() -> None:
    text = GOOD.replace("entity: customer\n", "entity: customer\n    parent: [parent_id]\n", 1)
    assert checked(text.replace("{time: time}", "{hierarchy: tree, of: customer}")) == ()


def test_tables_of_one_entity_agree_on_when_states_hold() -> None:
    text = GOOD.replace(
        "{time: time}",
        "{dimension: one, entity: payment, valid_at: at, columns: []}\n"
        "  - {dimension: two, entity: payment, columns: []}",
    )
    assert codes(text) == {"valid-at-differs": "w: two"}


def test_what_no_block_maps_is_a_warning_and_for_production_an_error() -> None:
    made = world()
    made.do(made.clearing("s.customer@1:customer@1", "name", "name"))
    found = checked(GOOD, made.document)
    assert {(problem.code, problem.severity) for problem in found} == {("warehouse.not-mapped", Severity.WARNING)}
    assert {problem.place for problem in found} == {"w: customer.name", "w: customer.loud"}
    found = checked(GOOD, made.document, production=True)
    assert found[0].severity is Severity.ERROR


def with_second_version(made: World, entity: str, *paths: str) -> str:
    """Add a version to an entity, fed by the first version of a schema of its own."""
    declared = declare(entity, [f"{entity}_id:integer", *paths], "2")
    made.do(AddVersion(Side.CDM, replace(declared, key=(f"{entity}_id",))))
    columns = [f"{entity}_id", *(path.partition(":")[0] for path in paths)]
    made.schema(f"t.{entity}", "1", *columns)
    return f"t.{entity}@1:{entity}@2"


def test_what_the_newest_version_of_an_entity_adds_is_offered_until_a_table_takes_it() -> None:
    made = world()
    block = with_second_version(made, "customer", "name", "nick", "age:integer", "fax")
    assert checked(GOOD, made.document) == ()  # nothing maps to them
    made.map(block, customer_id="customer_id", nick="nick", age="age")
    (note,) = checked(GOOD, made.document)
    assert (note.code, note.place, note.severity) == ("warehouse.new-attribute", "w: customer", Severity.NOTE)
    assert note.message == "New in the newest version of customer, and in no table: nick, age."
    some = GOOD.replace("from: name, history: 2}", "from: nick, history: 2}")
    assert checked(some, made.document) == ()  # who took one has seen the other
    used = GOOD.replace('"upper(name)"', '"upper(nick || cast(age as text))"')
    assert checked(used, made.document) == ()
    every = "warehouse: w\ntables: [{dimension: customer, entity: customer, columns: all}]"
    assert "new-attribute" not in codes(every, made.document)


def test_all_of_an_entity_with_one_version_is_nothing_new() -> None:
    few = "warehouse: w\ntables: [{dimension: customer, entity: customer, columns: []}]"
    assert checked(few) == ()


def test_a_column_of_what_the_newest_version_of_no_schema_maps_is_told_of() -> None:
    made = world()
    made.schema("s.customer", "2", "customer_id", "parent_id")
    found = checked(GOOD, made.document)
    assert {(one.code, one.place, one.severity) for one in found} == {
        ("warehouse.no-longer-mapped", "w: customer.name", Severity.NOTE),
        ("warehouse.no-longer-mapped", "w: customer.loud", Severity.NOTE),
    }
    made.map(with_second_version(made, "customer", "name"), customer_id="customer_id", name="name")
    assert checked(GOOD, made.document) == ()  # another schema feeds it, in another version


def test_what_nobody_confirmed_is_not_published() -> None:
    made = world()
    key = made.key("s.payment@1:payment@1")
    setting = made.setting("s.payment@1:payment@1", amount="amount")
    made.do(made.clearing("s.payment@1:payment@1", "amount", "amount"))
    after = perform(made.document, setting, EditContext("ada", 1, needs_second=True)).after
    assert checked(GOOD, after) == ()
    assert set(codes(GOOD, after, production=True)) == {"not-mapped"}
    confirmed = perform(after, ConfirmBlock(key), EditContext("bob", 2)).after
    assert checked(GOOD, confirmed, production=True) == ()


def test_a_masked_attribute_is_told_of_wherever_it_would_stand() -> None:
    made = world()
    entity = made.document.cdm.named("customer")
    assert entity is not None
    made.do(SetSettings(Side.CDM, entity.id, (("mask", "name"),)))
    found = checked(GOOD, made.document)
    assert {(problem.code, problem.place) for problem in found} == {
        ("warehouse.masked", "w: customer.name"),
        ("warehouse.masked", "w: customer.loud"),
    }
    assert {problem.severity for problem in found} == {Severity.WARNING}


def test_schemas_that_feed_an_entity_without_its_key_are_named() -> None:
    made = world()
    made.schema("s.more", "1", "amount")
    made.map("s.more@1:payment@1", amount="amount")
    (problem,) = checked(GOOD, made.document)
    assert problem.code == "warehouse.no-business-key"
    assert problem.message == "s.more feed payment and do not map all of its key."


def test_a_fact_of_each_message_needs_no_key() -> None:
    made = world()
    made.schema("s.note", "1", "text")
    made.map("s.note@1:note@1", text="text")
    text = GOOD.replace("{time: time}", "{fact: notes, entity: note, grain: row, degenerate: [{name: t, from: text}]}")
    assert checked(text, made.document) == ()


def test_a_test_of_a_column_names_a_table_and_column_that_are_there() -> None:
    test = "from: status, tests: [{relationship: {table: account, column: %s}}]"
    assert checked(GOOD.replace("from: status}", test % "iban" + "}")) == ()
    assert codes(GOOD.replace("from: status}", test % "ibn" + "}")) == {"unknown-column": "w: payment.status"}


def test_errors_come_first_and_then_places_in_order() -> None:
    text = GOOD.replace("on: event_time, time_zone: UTC", "on: event_time").replace("upper(name)", "uper(name)")
    assert [problem.severity for problem in checked(text)] == [Severity.ERROR, Severity.WARNING]
