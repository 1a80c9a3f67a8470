"""What changes of schemas and entities do to tables: uses of attributes, and effects told by two documents."""

from __future__ import annotations

from msgspec.structs import replace

from metl_gui.core.dimensional.models.attribute_uses import TablePart, attribute_uses
from metl_gui.core.dimensional.models.entity_facts import EntityFacts
from metl_gui.core.dimensional.models.schema_effects import EffectKind, WarehouseEffect, effect_words, warehouse_effects
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.edits.warehouse import SetModel
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.formats.model_yaml import read_model
from metl_gui.formats.row_expressions import attributes_of, row_expression
from tests.helpers.world import World, declare
from tests.unit.core.dimensional.test_checks import GOOD, world

MORE = """
  - {bridge: tagged, of: account, list: tags, weight: equal}
  - dimension: parent
    entity: customer
    valid_at: name
    parent: [parent_id]
    columns: [{name: broken, expression: "no expression ("}, {name: gone, from: gone}]
  - fact: milestones
    entity: payment
    grain: row
    event_times: [{name: seen, from: at}]
"""
MODEL = read_model(GOOD + MORE)


def paths(text: str) -> tuple[str, ...]:
    return attributes_of(row_expression(text))


def modelled() -> World:
    made = world()
    made.do(SetModel(MODEL))
    return made


def uses(table: str) -> set[tuple[str, str, str]]:
    found = attribute_uses(MODEL, EntityFacts(world().document), paths)
    return {(use.part.value, use.name, use.path) for use in found if use.table == table}


def effects(before: Document, after: Document) -> dict[tuple[str, str], WarehouseEffect]:
    return {(one.use.table, one.use.name): one for one in warehouse_effects(before, after, paths)}


def test_a_use_says_as_what_a_table_uses_an_attribute() -> None:
    assert uses("customer") == {
        ("key", "customer_id", "customer_id"),
        ("column", "name", "name"),
        ("column", "loud", "name"),
    }
    assert uses("payment") == {
        ("key", "payment_id", "payment_id"),
        ("measure", "amount", "amount"),
        ("column", "status", "status"),
        ("time", "event_time", "at"),
        ("filter", "where", "amount"),
        ("reference", "account", "account_id"),
        ("reference", "payer", "payer"),
    }
    assert uses("milestones") == {("time", "seen", "at")}


def test_all_columns_lists_parents_and_periods_are_uses_and_what_cannot_be_read_is_none() -> None:
    assert ("column", "tags", "tags") in uses("account")
    assert ("column", "account_id", "account_id") not in uses("account")
    assert uses("account_day") == {("column", "iban", "iban")}
    assert uses("tagged") == {("list", "list", "tags")}
    assert uses("parent") == {
        ("key", "customer_id", "customer_id"),
        ("time", "valid_at", "name"),
        ("parent", "parent", "parent_id"),
    }


def test_a_version_that_drops_what_one_schema_feeds_takes_the_last_source_of_all_that_uses_it() -> None:
    made = modelled()
    before = made.document
    made.schema("s.payment", "2", "account_id", "payer", "status", "at")
    found = effects(before, made.document)
    assert {place: one.kind for place, one in found.items()} == {
        ("payment", "payment_id"): EffectKind.LAST_SOURCE,
        ("payment", "amount"): EffectKind.LAST_SOURCE,
        ("payment", "where"): EffectKind.LAST_SOURCE,
    }
    assert found["payment", "payment_id"].breaks_table
    assert not found["payment", "amount"].breaks_table
    assert found["payment", "amount"].schemas == ("s.payment",)
    assert effect_words(found["payment", "payment_id"]) == (
        "payment_id would have no source any more (s.payment feeds it today): no rows are made."
    )


def test_what_another_schema_feeds_too_is_lost_for_the_messages_of_one() -> None:
    made = modelled()
    made.schema("t.customer", "1", "customer_id", "name")
    made.map("t.customer@1:customer@1", customer_id="customer_id", name="name")
    before = made.document
    made.schema("t.customer", "2", "customer_id")
    found = effects(before, made.document)
    assert set(found) == {("customer", "name"), ("customer", "loud"), ("parent", "valid_at")}
    assert {one.kind for one in found.values()} == {EffectKind.SOURCE}
    assert found["customer", "name"].schemas == ("t.customer",)


def test_a_type_that_is_not_read_the_same_way_is_told_and_a_wider_one_is_not() -> None:
    made = modelled()
    made.schema("s.customer", "2", "customer_id:int32", "name", "parent_id")
    narrow = made.document
    made.schema("s.customer", "3", "customer_id:int64", "name", "parent_id")
    assert effects(narrow, made.document) == {}
    wide = made.document
    made.schema("s.customer", "4", "customer_id:int64", "name:boolean", "parent_id")
    found = effects(wide, made.document)
    assert set(found) == {("customer", "name"), ("customer", "loud"), ("parent", "valid_at")}
    name = found["customer", "name"]
    assert (name.kind, name.before, name.after) == (EffectKind.SOURCE_TYPE, "string", "boolean")


def test_an_entity_that_drops_or_retypes_an_attribute_changes_its_tables() -> None:
    made = modelled()
    before = made.document
    declared = declare("customer", ["customer_id:string", "name"], "2")
    made.do(AddVersion(Side.CDM, replace(declared, key=("customer_id",))))
    found = effects(before, made.document)
    assert found["parent", "parent"].kind is EffectKind.LAST_SOURCE
    retyped = found["customer", "customer_id"]
    assert (retyped.kind, retyped.before, retyped.after) == (EffectKind.TYPE, "integer", "text")
    assert "a rebuild is needed" in effect_words(retyped)


def test_nothing_is_told_of_a_change_that_no_table_sees() -> None:
    made = modelled()
    before = made.document
    made.schema("s.payment", "2", "payment_id", "account_id", "payer", "amount", "status", "at", "new")
    made.schema("other", "1", "whatever")
    assert effects(before, made.document) == {}
    assert warehouse_effects(before, before, paths) == ()


def test_every_part_has_a_consequence_in_words() -> None:
    made = modelled()
    found = attribute_uses(MODEL, EntityFacts(made.document), paths)
    uses_of_all = [replace(found[0], part=part) for part in TablePart]
    told = {effect_words(WarehouseEffect("w", use, EffectKind.SOURCE, ("s",))) for use in uses_of_all}
    assert len(told) >= len(TablePart) - 1
