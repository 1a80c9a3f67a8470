"""Attributes that came since tables were declared, and those that no block maps any more."""

from __future__ import annotations

from msgspec.structs import replace

from metl_gui.core.dimensional.models.asked_attributes import asked_attributes, lost_attributes
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.edits.warehouse import SettleAttributes
from metl_gui.core.trees.nodes import Side
from metl_gui.formats.model_yaml import read_model
from metl_gui.formats.row_expressions import named_attributes
from tests.helpers.world import World, declare
from tests.unit.core.dimensional.test_checks import GOOD, world

CUSTOMER = ("customer_id:integer", "name", "parent_id:integer")


def grown(*more: str) -> World:
    """Return the world with a second version of the customer that has more attributes, all of them mapped."""
    made = world()
    declared = declare("customer", (*CUSTOMER, *more), "2")
    made.do(AddVersion(Side.CDM, replace(declared, key=("customer_id",))))
    columns = [text.partition(":")[0] for text in (*CUSTOMER, *more)]
    made.schema("s.customer", "2", *columns)
    made.map("s.customer@2:customer@2", **{column: column for column in columns})
    return made


def new(made: World, text: str = GOOD) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    found = asked_attributes(made.document, read_model(text), named_attributes)
    return [(one.entity, one.tables, one.paths) for one in found]


def lost(made: World, text: str = GOOD) -> list[tuple[str, str, list[str]]]:
    found = lost_attributes(made.document, read_model(text), named_attributes)
    return [(one.entity, one.path, [f"{use.table}.{use.name}" for use in one.uses]) for one in found]


def test_what_was_there_when_tables_were_declared_and_is_in_none_is_not_new() -> None:
    assert new(world()) == []


def test_what_a_later_version_brings_is_new_once_something_is_mapped_to_it() -> None:
    made = grown("segment", "tier")
    assert new(made) == [("customer", ("customer",), ("segment", "tier"))]
    made.do(made.clearing("s.customer@2:customer@2", "tier", "tier"))
    assert new(made) == [("customer", ("customer",), ("segment",))]
    (one,) = asked_attributes(made.document, read_model(GOOD), named_attributes)
    assert one.words == "customer has 1 new attribute that no table of the warehouse w takes"


def test_what_no_table_shall_take_is_not_offered_again_until_that_is_undone() -> None:
    made = grown("segment", "tier")
    done = made.do(SettleAttributes("customer", ("segment", "tier")))
    assert done.title == "Leave segment, tier of customer out of the warehouse"
    assert new(made) == []
    made.undo(done)
    assert new(made) == [("customer", ("customer",), ("segment", "tier"))]
    made.do(SettleAttributes("customer", ("tier",)))
    made.do(SettleAttributes("customer", ("segment",)))
    assert new(made) == []


def test_what_is_settled_stays_so_under_a_new_name() -> None:
    made = grown("segment")
    made.do(SettleAttributes("customer", ("segment",)))
    made.entity("customer", "3", *CUSTOMER, "band=segment")
    made.map("s.customer@2:customer@3", band="segment")
    assert new(made) == []


def test_an_attribute_that_nothing_feeds_is_told_with_all_that_uses_it_until_its_columns_are_kept() -> None:
    made = world()
    assert lost(made) == []
    made.do(made.clearing("s.customer@1:customer@1", "name", "name"))
    assert lost(made) == [("customer", "name", ["customer.name", "customer.loud"])]
    done = made.do(SettleAttributes("customer", ("name",), is_lost=True))
    assert done.title == "Keep the columns of name of customer in the warehouse"
    assert lost(made) == []


def test_an_attribute_that_an_older_version_still_gets_is_not_lost() -> None:
    made = world()
    entity = made.document.cdm.named("customer")
    assert entity is not None
    made.do(SetSettings(Side.CDM, entity.id, (("policy", "parallel"),)))
    made.entity("customer", "2", "customer_id:integer", "parent_id:integer")
    assert made.document.matrix.block(*made.key("s.customer@1:customer@1")) is not None
    assert lost(made) == []
