"""Models of targets that hold masked attributes not at all, or as hashes."""

from __future__ import annotations

import msgspec
import pytest

from metl_gui.core.dimensional.histories import entity_histories
from metl_gui.core.dimensional.models.attribute_uses import attribute_uses
from metl_gui.core.dimensional.models.entity_facts import EntityFacts
from metl_gui.core.dimensional.models.masked_models import (
    Masking,
    TargetMasks,
    masked_history,
    masked_model,
    target_masks,
)
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.core.warehouse_model import (
    Accepted,
    Column,
    Dimension,
    Fact,
    Junk,
    Model,
    NotNull,
    Periodic,
    Reference,
    Related,
    Test,
)
from metl_gui.errors import EditError
from metl_gui.formats.model_yaml import read_model
from metl_gui.formats.row_expressions import attributes_of, row_expression
from tests.unit.core.dimensional.test_checks import GOOD, world

MODEL = read_model(GOOD)


def paths(text: str) -> tuple[str, ...]:
    return attributes_of(row_expression(text))


def masking(*attributes: str, side: Side = Side.CDM) -> Document:
    """Return the world with attributes of entities, or columns of schemas, masked."""
    made = world()
    for text in attributes:
        name, _, path = text.rpartition("/")
        schema = made.document.tree(side).named(name)
        assert schema is not None
        made.do(SetSettings(side, schema.id, (("mask", path),)))
    return made.document


def masks(document: Document, kind: Masking) -> TargetMasks:
    return target_masks(document, entity_histories(document), kind)


def modelled(document: Document, kind: Masking, model: Model = MODEL) -> Model:
    return masked_model(document, model, masks(document, kind), paths)


def test_a_target_that_leaves_values_out_has_neither_the_columns_nor_what_is_made_of_them() -> None:
    document = masking("customer/name")
    customer = modelled(document, "omit").table("customer")
    assert isinstance(customer, Dimension)
    assert (customer.columns, customer.unknown, customer.indexes) == ((), (), ())
    found = masks(document, "omit")
    history = next(one for one in entity_histories(document) if one.entity == "customer")
    assert [column.name for column in masked_history(history, found).columns] == ["customer_id", "parent_id"]


def test_other_tables_lose_the_columns_that_they_take_from_one() -> None:
    document = masking("payment/status", "account/iban")
    model = modelled(document, "omit")
    junk, daily = model.table("flags"), model.table("account_day")
    assert isinstance(junk, Junk)
    assert isinstance(daily, Periodic)
    assert (junk.columns, daily.columns) == ((), ())


@pytest.mark.parametrize(
    ("attribute", "named"),
    [
        ("payment/amount", "filter where of payment uses amount"),
        ("payment/at", "time event_time of payment uses at"),
        ("payment/payer", "reference payer of payment uses payer"),
    ],
)
def test_what_decides_about_rows_cannot_be_left_out_and_is_named(attribute: str, named: str) -> None:
    with pytest.raises(EditError, match=named):
        modelled(masking(attribute), "omit")


def test_masked_keys_of_rows_are_refused() -> None:
    for document in (masking("account/account_id"), masking("s.account/account_id", side=Side.EXTRACTION)):
        with pytest.raises(EditError, match=r"keys of s\.account are masked"):
            masks(document, "omit")


def test_a_masked_key_whose_name_has_a_comma_is_refused() -> None:
    made = world()
    made.schema("s.note", "1", "text", "about, by")
    made.map("s.note@1:note@1", text="text")
    schema = made.document.extraction.named("s.note")
    assert schema is not None
    made.do(SetSettings(Side.EXTRACTION, schema.id, (("mask", "about\\, by"), ("key", "about\\, by"))))
    with pytest.raises(EditError, match=r"keys of s\.note are masked"):
        masks(made.document, "omit")


def test_what_may_be_the_key_of_a_record_is_refused_where_nobody_says_what_it_is() -> None:
    made = world()
    made.schema("s.note", "1", "text", "about")
    made.map("s.note@1:note@1", text="text")
    for side, name, path in ((Side.EXTRACTION, "s.note", "about"), (Side.CDM, "note", "text")):
        schema = made.document.tree(side).named(name)
        assert schema is not None
        assert masks(made.document, "omit").of("note") == frozenset()
        made.do(SetSettings(side, schema.id, (("mask", path),)))
        with pytest.raises(EditError, match=r"s\.note.* no key") as refused:
            masks(made.document, "omit")
        assert "--schema s.note key=" in refused.value.hint
        assert masks(made.document, "hash").masking == "hash"
        made.do(SetSettings(side, schema.id, (("mask", ""),)))
    schema = made.document.extraction.named("s.note")
    assert schema is not None
    made.do(SetSettings(Side.EXTRACTION, schema.id, (("mask", "about"), ("key", "text"))))
    assert masks(made.document, "omit").of("note") == frozenset()
    made.do(SetSettings(Side.EXTRACTION, schema.id, (("key", "about"),)))
    with pytest.raises(EditError, match=r"keys of s\.note are masked"):
        masks(made.document, "omit")


def test_a_column_of_a_schema_that_is_masked_masks_what_it_feeds() -> None:
    document = masking("s.customer/name", side=Side.EXTRACTION)
    assert masks(document, "omit").of("customer") == {"name"}


def test_plain_targets_and_states_without_masks_have_the_model_as_it_is() -> None:
    document = masking("customer/name")
    assert modelled(document, "plain") is MODEL
    assert modelled(world().document, "omit") is MODEL
    assert masks(document, "plain").columns == {}
    facts = EntityFacts(document)
    assert {use.path for use in attribute_uses(MODEL, facts, paths) if use.table == "customer"} == {
        "customer_id",
        "name",
    }


def test_no_test_looks_for_values_in_a_column_that_is_left_out() -> None:
    document = masking("customer/name")
    name = Column(name="name", path="name")
    status = Column(name="status", path="status", tests=(NotNull(), Related(table="customer", column="name")))
    tables = (
        Dimension(name="customer", entity="customer", columns=(name,)),
        Fact(name="payment", entity="payment", degenerate=(status,)),
    )
    model = Model(name="m", tables=tables)
    expected: dict[Masking, tuple[Test, ...]] = {"omit": (NotNull(),), "plain": status.tests}
    for kind, tests in expected.items():
        payment = modelled(document, kind, model).table("payment")
        assert isinstance(payment, Fact)
        assert payment.degenerate[0].tests == tests


def test_a_target_of_hashes_has_texts_and_tells_rows_apart_by_hashes() -> None:
    document = masking("customer/name", "payment/status")
    named = Column(name="name", path="name", type="text(20)", history=2)
    tables = (Dimension(name="customer", entity="customer", columns=(named,)), *MODEL.tables[2:])
    model = modelled(document, "hash", Model(name="m", tables=tables))
    customer, payment = model.table("customer"), model.table("payment")
    assert isinstance(customer, Dimension)
    assert isinstance(payment, Fact)
    assert customer.columns == (msgspec.structs.replace(named, type="text"),)
    assert [(column.name, column.type) for column in payment.degenerate] == [("status", "text")]
    kept = {one.entity: masked_history(one, masks(document, "hash")) for one in entity_histories(document)}
    assert {one.hashed for one in kept.values()} == {("row_key",), ("row_key", "name"), ("row_key", "status")}
    number = masking("customer/parent_id")
    history = next(one for one in entity_histories(number) if one.entity == "customer")
    assert [one.type for one in masked_history(history, masks(number, "hash")).columns] == ["integer", "text", "text"]


@pytest.mark.parametrize(
    ("attribute", "named"),
    [
        ("customer/name", "column loud of customer uses name"),
        ("payment/amount", "measure amount of payment uses amount"),
        ("payment/at", "time event_time of payment uses at"),
        ("payment/payer", "reference payer of payment uses payer"),
    ],
)
def test_what_is_made_of_a_masked_attribute_cannot_be_made_of_its_hash(attribute: str, named: str) -> None:
    with pytest.raises(EditError, match=named):
        modelled(masking(attribute), "hash")


def test_a_reference_is_by_hashes_on_both_sides_or_by_values_on_both() -> None:
    with pytest.raises(EditError, match="One side of a reference alone is masked"):
        modelled(masking("account/account_id"), "hash")
    both = masking("account/account_id", "payment/account_id")
    assert modelled(both, "hash").table("payment") == MODEL.table("payment")


def test_hashes_of_values_of_two_types_are_not_held_against_each_other() -> None:
    document = masking("account/account_id", "payment/status")
    other = Reference(dimension="account", on=(("status", "account_id"),))
    account = Dimension(name="account", entity="account")
    model = Model(name="m", tables=(account, Fact(name="payment", entity="payment", references=(other,))))
    with pytest.raises(EditError, match="of two types"):
        modelled(document, "hash", model)


def test_no_test_holds_hashes_against_values() -> None:
    document = masking("customer/name,customer_id")
    for test, is_refused in (
        (Accepted(values=("x",)), True),
        (Related(table="payment", column="status"), True),
        (Related(table="customer", column="customer_id"), False),
        (NotNull(), False),
    ):
        column = Column(name="name", path="name", tests=(test,))
        payment = Fact(name="payment", entity="payment", degenerate=(Column(name="status", path="status"),))
        model = Model(name="m", tables=(Dimension(name="customer", entity="customer", columns=(column,)), payment))
        if is_refused:
            with pytest.raises(EditError, match="A test of name of customer would look for values where hashes stand"):
                modelled(document, "hash", model)
        else:
            assert modelled(document, "hash", model).table("customer").columns[0].tests == (test,)  # type: ignore[union-attr]
