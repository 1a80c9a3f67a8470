"""Warehouse models as YAML: the example of the documentation, mistakes with their lines, and texts from anywhere."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from metl_gui.core.warehouse_model import (
    Accepted,
    Bridge,
    Column,
    Dates,
    Dimension,
    Fact,
    Hierarchy,
    Junk,
    Model,
    NotNull,
    Periodic,
    Reference,
    Related,
    Table,
    TimesOfDay,
    Unique,
    model_json,
    plain,
    read_model_json,
)
from metl_gui.errors import SchemaError
from metl_gui.formats.model_yaml import read_model, with_values, write_model
from tests.helpers.persisted import filled

EXAMPLE = """\
warehouse: fx                                # a model for the sample
tables:
  - entity: customer
    dimension: customer
    business_key: [customer_id]
    columns:
      - {name: family_name, from: name.family, type: text, history: 2}
      - {name: segment, expression: "case when vip then 'vip' else 'other' end", type: text, history: 1}
    on_delete: close
  - dimension: account
    entity: account
    references: [{dimension: customer, role: owner, on: {owner_id: customer_id}}]
    columns: all
  - fact: payment
    entity: payment
    event_time: booked_at
    references:
      - {dimension: customer, role: payer, on: {"cast(substr(payer_id, 3) as bigint)": customer_id}, as_of: event}
      - {dimension: date, role: booked, on: event_time, time_zone: Europe/Berlin}
    measures: [{name: amount, from: amount, type: "decimal(12,2)", additivity: additive}]
    degenerate: [{name: status, from: status, type: text, tests: [not_null, {accepted: [open, no]}]}]
    junk: [status]
  - {periodic: account_day, of: account, every: day, time_zone: UTC, columns: [product]}
  - {date: date, from: 2015-01-01, to: 2035-12-31, fiscal_year_starts: 4}
"""


def test_the_kind_of_a_table_is_the_key_whose_value_is_its_name() -> None:
    model = read_model(EXAMPLE)
    assert [type(table).__name__ for table in model.tables] == ["Dimension", "Dimension", "Fact", "Periodic", "Dates"]
    customer, account, payment, _, date = model.tables
    assert isinstance(customer, Dimension)
    assert (customer.name, customer.business_key, customer.on_delete) == ("customer", ("customer_id",), "close")
    assert isinstance(account, Dimension)
    assert account.columns == "all"
    assert account.references == (Reference(dimension="customer", role="owner", on=(("owner_id", "customer_id"),)),)
    assert isinstance(payment, Fact)
    assert payment.references[0].on == (("cast(substr(payer_id, 3) as bigint)", "customer_id"),)
    assert payment.references[1].on == "event_time"
    assert payment.degenerate[0].tests == (NotNull(), Accepted(values=("open", "no")))
    assert payment.junk == ("status",)
    assert date == Dates(name="date", first="2015-01-01", last="2035-12-31", fiscal_year_starts=4)


def test_what_is_written_is_read_back_equal() -> None:
    model = read_model(EXAMPLE)
    assert read_model(write_model(model)) == model


def test_what_is_written_is_laid_out_as_a_person_would() -> None:
    model = Model(
        name="fx",
        entities=("a", "b"),
        tables=(
            Dimension(
                name="a",
                entity="a",
                columns=(Column(name="x", path="y.z", history=2), Column(name="no", expression="a || ': b'")),
                unknown=(("x", "-"),),
            ),
            TimesOfDay(name="time"),
            Fact(name="f", entity="b", measures=(Column(name="m", path="m", tests=(Unique(), Related(**_RELATED))),)),
        ),
    )
    assert write_model(model) == (
        "warehouse: fx\n"
        "entities: [a, b]\n"
        "tables:\n"
        "  - dimension: a\n"
        "    entity: a\n"
        "    columns:\n"
        "      - {name: x, from: y.z, history: 2}\n"
        '      - {name: "no", expression: "a || \': b\'"}\n'
        '    unknown: {x: "-"}\n'
        "\n"
        "  - {time: time}\n"
        "\n"
        "  - fact: f\n"
        "    entity: b\n"
        "    measures: [{name: m, from: m, tests: [unique, {relationship: {table: a, column: x}}]}]\n"
    )


_RELATED: dict[str, Any] = {"table": "a", "column": "x"}


@pytest.mark.parametrize("kind", [Dimension, Fact, Periodic, Bridge, Hierarchy, Junk, Dates, TimesOfDay])
def test_a_table_with_every_member_set_is_read_back_equal(kind: type[Any]) -> None:
    model = Model(name="all", tables=(filled(kind),), entities=())
    assert read_model(write_model(model)) == model
    assert read_model_json(model_json(model)) == model


_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@settings(max_examples=150, deadline=None)
@given(st.builds(Model, name=_TEXTS, tables=st.tuples(st.builds(Dimension, name=_TEXTS, entity=_TEXTS))), _TEXTS)
def test_any_texts_are_read_back_equal(model: Model, text: str) -> None:
    table = msgspec.structs.replace(
        model.tables[0],
        unknown=((text, text),),
        references=(Reference(dimension=text, on=((text, text),)), Reference(dimension=text, on=text)),
    )
    changed = msgspec.structs.replace(model, tables=(table,))
    assert read_model(write_model(changed)) == changed


@settings(max_examples=50, deadline=None)
@given(st.builds(Model, name=st.from_regex(r"[a-z]{1,9}", fullmatch=True)))
def test_other_readers_of_yaml_read_what_is_written(model: Model) -> None:
    assert yaml.safe_load(write_model(model))["warehouse"] in (model.name, model.name.encode())


def test_equal_models_have_equal_texts_wherever_they_come_from() -> None:
    model = read_model(EXAMPLE)
    again = read_model_json(model_json(model))
    assert again == model
    assert model_json(again) == model_json(model)
    assert "additivity" not in str(plain(Column(name="a", additivity="")))


def mistakes(text: str) -> list[str]:
    with pytest.raises(SchemaError) as refused:
        read_model(text)
    return refused.value.text.splitlines()


def test_every_mistake_is_told_with_its_line() -> None:
    found = mistakes(
        "warehouse: a\n"
        "tables:\n"
        "  - dimesion: x\n"
        "    entity: y\n"
        "  - fact: a\n"
        "    entity: b\n"
        "    grane: x\n"
        "    on_delete: delete\n"
        "    references: [{dimension: x, on: [a]}, {role: maybe}]\n"
        "    measures: [{name: a, history: 5, tests: [nul, accepted]}]\n"
        "    grain: col\n"
        "    junk: status\n"
        "  - 5\n"
        "  - {fact: a, dimension: b, entity: c}\n"
        "  - {dimension: d, entity: [c], covers_past: maybe, business_key: id}\n"
        "tabels: []\n"
    )
    told = "\n".join(found)
    assert "Line 3: the kind of a table is missing" in told
    assert "Did you mean dimension?" in told
    assert "Line 7: fact a has no key grane. Did you mean gra" in told
    assert "Line 8: on_delete of fact a cannot be delete; choose one of flag, remove, reverse." in told
    assert "Line 9: on of item 1 in references of fact a must be keys and values, not a list." in told
    assert "Line 9: item 2 in references of fact a lacks the key dimension." in told
    assert "cannot be 5; choose one of 0, 1, 2, 3, 6." in told
    assert "Line 10: there is no test nul" in told
    assert "Line 10: the test accepted lacks the key values." in told
    assert "Line 11: grain of fact a cannot be col; choose one of row." in told
    assert "Line 12: junk of fact a must be a list such as [a, b], not status." in told
    assert "Line 13: a table must be keys and values, not 5." in told
    assert "Line 14: a table is of one kind, not fact and dimension." in told
    assert "Line 15: entity of dimension d must be a text, not a list." in told
    assert "Line 15: covers_past of dimension d must be true or false, not maybe." in told
    assert "Line 15: business_key of dimension d must be a list such as [a, b], not id." in told
    assert "Line 16: the model has no key tabels. Did you mean tables?" in told


def test_a_model_needs_its_name() -> None:
    assert mistakes("tables: []") == ["Line 1: the model lacks the key warehouse."]
    assert mistakes("warehouse:") == ["Line 1: warehouse of the model must be a text, not nothing."]


def test_no_more_than_the_first_mistakes_are_told() -> None:
    found = mistakes("warehouse: a\n" + "".join(f"k{number}: 1\n" for number in range(50)))
    assert len(found) == 21
    assert found[-1] == "And 30 more."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("warehouse: &a x\ntables: *a\n", "Line 1: anchors and aliases are not read here."),
        ("warehouse: a\nwarehouse: b\n", "Line 2: warehouse stands in line 1 already."),
        ("tables: " + "[" * 17 + "]" * 17, "Line 1: it is nested more than 16 levels deep."),
        ("warehouse: !!python/object:os.system {}\n", "Line 1: tags are not read here."),
        ("warehouse: !!binary aGk=\n", "Line 1: tags are not read here."),
        ("a: [", "Line 2, column 1: "),
        ("{[a]: b}", "Line 1: a key is no text."),
        ('warehouse: "\\ud800"', "Line 1, column "),
        ("warehouse: \ud800", "utf-8"),
        ("a: \x00", "unacceptable character"),
        ("x: [" + "1, " * 100_000 + "]", "there are more than 100,000 values."),
        ("#" * (1 << 20) + "\n", "More than 1,048,576 bytes."),
    ],
)
def test_a_hostile_text_is_refused_with_its_line(text: str, told: str) -> None:
    with pytest.raises(SchemaError, match=r"^The file") as refused:
        read_model(text)
    assert told in refused.value.text


@pytest.mark.parametrize(("text", "count"), [("", 0), ("--- {}\n--- {}\n", 2)])
def test_a_file_is_one_document(text: str, count: int) -> None:
    with pytest.raises(SchemaError, match=f"holds {count} documents"):
        read_model(text)


def changed(table: str, *values: tuple[str, str]) -> Table:
    found = read_model(EXAMPLE).table(table)
    assert found is not None
    return with_values(found, values)


def test_single_values_of_a_table_are_set_as_a_file_would_say_them() -> None:
    customer = changed(
        "customer",
        ("on_delete", "flag"),
        ("prefer", "[a, b]"),
        ("columns.family_name.history", "0"),
        ("columns.segment.expression", "case when vip then 'a: b' end"),
        ("unknown", "{family_name: nobody}"),
        ("business_key", ""),
    )
    assert isinstance(customer, Dimension)
    assert (customer.on_delete, customer.prefer, customer.business_key) == ("flag", ("a", "b"), ())
    assert customer.unknown == (("family_name", "nobody"),)
    assert isinstance(customer.columns, tuple)
    assert [column.history for column in customer.columns] == [0, 1]
    assert customer.columns[1].expression == "case when vip then 'a: b' end"


def test_an_item_of_a_list_is_named_by_its_name_or_role() -> None:
    payment = changed("payment", ("references.booked.time_zone", "UTC"), ("measures.amount.type", "decimal(9,2)"))
    assert isinstance(payment, Fact)
    assert payment.references[1].time_zone == "UTC"
    assert payment.measures[0].type == "decimal(9,2)"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("on_delte", "flag", "dimension customer has no key on_delte. Did you mean on_delete?"),
        ("on_delete", "drop", "on_delete of dimension customer cannot be drop; choose one of close, flag, remove."),
        ("entity", "", "dimension customer lacks the key entity."),
        ("columns.none.history", "1", "dimension customer has nothing called none in columns."),
        ("columns.segment.histry", "1", "segment of dimension customer has no key histry. Did you mean history?"),
        ("on_delete.x", "1", "dimension customer has nothing called x in on_delete."),
        ("covers_past", "[", "did not find expected node content"),
        ("leading", "\ud800", "the value of leading is no text of UTF-8."),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_what_could(name: str, value: str, told: str) -> None:
    with pytest.raises(SchemaError) as refused:
        changed("customer", (name, value))
    assert told in refused.value.text


def test_all_mistakes_of_values_are_told_at_once() -> None:
    with pytest.raises(SchemaError) as refused:
        changed("customer", ("a", "1"), ("b", "2"))
    assert len(refused.value.text.splitlines()) == 2
