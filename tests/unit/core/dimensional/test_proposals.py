"""Proposals of warehouse models: what keys, names, references, types and times say of entities."""

from __future__ import annotations

from msgspec.structs import replace

from metl_gui.core.dimensional.models.checks import check_model
from metl_gui.core.dimensional.models.proposals import proposed_model
from metl_gui.core.dimensional.models.proposed_tables import proposed_tables
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.core.warehouse_model import Dates, Dimension, Fact, Model, Reference
from metl_gui.formats.row_expressions import named_attributes
from tests.helpers.world import World, declare

_LOGICAL = {"moment": "date-time", "day": "date"}


def document(**entities: str) -> Document:
    """Make entities of texts such as ``*id:integer amount:number at:moment``, all mapped; ``*`` marks the key."""
    made = World()
    for name, text in entities.items():
        words = text.split()
        paths = [word.lstrip("*") for word in words]
        declared = declare(name, [path.replace(":moment", "").replace(":day", "") for path in paths], "1")
        logical = {path.partition(":")[0]: _LOGICAL.get(path.partition(":")[2], "") for path in paths}
        attributes = tuple(replace(each, logical=logical[each.path]) for each in declared.attributes)
        key = tuple(word.lstrip("*").partition(":")[0] for word in words if word.startswith("*"))
        made.do(AddVersion(Side.CDM, replace(declared, attributes=attributes, key=key)))
        columns = [each.path for each in attributes]
        made.schema(f"s.{name}", "1", *columns)
        made.map(f"s.{name}@1:{name}@1", **{column: column for column in columns})
    return made.document


def proposed(**entities: str) -> Model:
    """Propose a model, which must have no problems."""
    found = document(**entities)
    model = proposed_model(found, "w")
    assert check_model(found, model, named_attributes) == ()
    return model


CUSTOMER = "*customer_id:integer name.family since:day vip:boolean"
ACCOUNT = "*account_id:integer iban owner_id:integer opened_on:day balance.amount:number"
PAYMENT = "*payment_id:integer account_id:integer amount:number status booked_at:moment"


def test_what_others_refer_to_is_a_dimension_and_what_happens_is_a_fact() -> None:
    model = proposed(customer=CUSTOMER, account=ACCOUNT, payment=PAYMENT)
    assert [(type(table).__name__, table.name) for table in model.tables] == [
        ("Dimension", "customer"),
        ("Dimension", "account"),
        ("Fact", "payment"),
        ("Dates", "date"),
    ]


def test_an_attribute_refers_to_the_entity_whose_key_it_names() -> None:
    model = proposed(customer=CUSTOMER, account=ACCOUNT, payment=PAYMENT)
    account, payment = model.table("account"), model.table("payment")
    assert isinstance(account, Dimension)
    assert account.references == (Reference(dimension="customer", on=(("owner_id", "customer_id"),), role="owner"),)
    assert isinstance(payment, Fact)
    assert payment.references == (
        Reference(dimension="account", on=(("account_id", "account_id"),)),
        Reference(dimension="date", on="event_time", time_zone="UTC"),
    )


def test_numbers_that_are_no_keys_are_measures_and_the_rest_stands_in_the_fact() -> None:
    payment = proposed(customer=CUSTOMER, account=ACCOUNT, payment=PAYMENT).table("payment")
    assert isinstance(payment, Fact)
    assert payment.event_time == "booked_at"
    assert [(column.name, column.type, column.additivity) for column in payment.measures] == [
        ("amount", "decimal(28,8)", "additive")
    ]
    assert [column.name for column in payment.degenerate] == ["status"]


def test_columns_of_a_dimension_keep_their_history_and_have_short_names() -> None:
    model = proposed(person="*person_id:integer name.family home.city work.city tags:array")
    (table,) = model.tables
    assert isinstance(table, Dimension)
    assert isinstance(table.columns, tuple)
    assert [(column.name, column.path, column.history) for column in table.columns] == [
        ("family", "name.family", 2),
        ("city", "home.city", 2),
        ("work_city", "work.city", 2),
    ]


def test_a_rate_is_not_added_up() -> None:
    rate = proposed(rate="*base *quote value:number at:moment").table("rate")
    assert isinstance(rate, Fact)
    assert [column.additivity for column in rate.measures] == ["non-additive"]


def test_an_event_that_others_refer_to_stays_a_fact_and_they_keep_its_number() -> None:
    model = proposed(payment=PAYMENT, refund="*refund_id payment_id:integer amount:number opened_at:moment")
    refund = model.table("refund")
    assert isinstance(refund, Fact)
    assert [column.name for column in refund.degenerate] == ["payment_id"]


def test_what_has_no_key_is_a_fact_of_each_message_or_nothing() -> None:
    model = proposed(click="url count:integer at:moment", note="text")
    assert [table.name for table in model.tables] == ["click", "date"]
    click = model.table("click")
    assert isinstance(click, Fact)
    assert click.grain == "row"


def test_references_that_would_close_a_circle_are_left_out() -> None:
    model = proposed(team="*team_id:integer head_person_id:integer", person="*person_id:integer team_id:integer")
    leads = {table.name: [one.dimension for one in table.references] for table in model.dimensions}
    assert leads == {"team": ["person"], "person": []}


def test_what_is_not_mapped_is_not_in_it() -> None:
    made = World()
    made.entity("customer", "1", "customer_id:integer", "name")
    assert proposed_model(made.document, "w").tables == ()


def test_days_have_another_name_where_an_entity_is_called_date() -> None:
    model = proposed(date="*date_id:integer name", sale="*sale_id:integer amount:number at:moment")
    assert [table.name for table in model.tables if isinstance(table, Dates)] == ["calendar_date"]


def test_names_begin_with_no_underscore_as_those_of_the_loader_do() -> None:
    model = proposed(
        _guest="*guest_id:integer _from name", stay="*stay_id:integer guest_id:integer _amount:number at:moment"
    )
    guest, stay = model.table("guest"), model.table("stay")
    assert isinstance(guest, Dimension)
    assert isinstance(stay, Fact)
    assert guest.columns != "all"
    assert (guest.entity, [column.name for column in guest.columns]) == ("_guest", ["from", "name"])
    assert [column.name for column in stay.measures] == ["amount"]
    assert stay.references[0].dimension == "guest"


def test_a_proposed_table_refers_to_the_dimension_that_the_model_has_of_an_entity() -> None:
    found = document(_guest="*guest_id:integer name", stay="*stay_id:integer guest_id:integer amount:number at:moment")
    model = Model(name="w", tables=(Dimension(name="visitor", entity="_guest"),))
    stay = next(table for table in proposed_tables(found, model) if isinstance(table, Fact))
    assert stay.references[0].dimension == "visitor"
