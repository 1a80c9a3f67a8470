"""The data dictionary of a warehouse model, held against the tables that a target gets."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from metl_gui.core.dimensional.histories import entity_histories
from metl_gui.core.edits.settings import MaskAttribute
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.trees.nodes import Side
from metl_gui.core.warehouse_model import Dates, TimesOfDay
from metl_gui.formats.model_yaml import read_model
from metl_gui.formats.row_expressions import row_expression
from metl_gui.warehouse.plans.dimensions import bridge_plan, dimension_tables, hierarchy_plan
from metl_gui.warehouse.plans.dimensions.calendar_plan import create_dates, create_times
from metl_gui.warehouse.plans.facts import fact_plan, periodic_plan
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.warehouse.dictionary import DictionaryColumn, DictionaryTable, dictionary
from tests.unit.workbench.conftest import declare

MODEL = read_model("""\
warehouse: pay
tables:
  - dimension: payer
    entity: payment
    business_key: [payer_id]
    key_includes_schema: true
    columns:
      - {name: nr, from: payer_id, history: 0}
      - {name: payer, from: payer_id, history: 0}
      - {name: amount, from: amount, history: 3, type: "decimal(12,2)", tests: [not_null]}
      - {name: code, from: legacy_code, history: 6}
      - {name: size, expression: "case when amount = '0' then 'none' else legacy_code end", type: text}
    references:
      - {dimension: refunded, on: {payment_id: refund_id}}
      - {dimension: refunded, role: last, on: {payment_id: refund_id}, as_of: version}
  - {dimension: refunded, entity: refund, business_key: [refund_id], parent: [amount]}
  - {hierarchy: tree, of: refunded}
  - {bridge: tags, of: refunded, list: tags, weight: equal, as_of: version}
  - {bridge: labels, of: plain, list: tags, to: refunded}
  - {fact: plain, entity: refund, grain: [refund_id]}
  - bridge: pairs
    entity: refund
    references:
      - {dimension: refunded, role: one, on: {refund_id: refund_id}}
      - {dimension: refunded, role: other, on: {amount: refund_id}}
  - fact: payment
    entity: payment
    grain: [payment_id]
    references:
      - {dimension: payer, on: {payer_id: payer_id, "'fx'": schema}}
      - {dimension: day, role: booked, on: event_time}
      - {dimension: time, role: at, on: event_time}
    event_times: [{name: paid_at, from: legacy_code, role: paid}, {name: sent_at, from: amount}]
    measures: [{name: amount, from: amount, type: "decimal(12,2)", additivity: additive}]
    degenerate: [{name: payment_id, from: payment_id}, {name: legacy, from: legacy_code}]
    on_delete: flag
  - fact: rows
    entity: refund
    grain: row
    measures: [{name: amount, from: amount}]
    degenerate: [{name: state, from: refund_id}, {name: kind, from: refund_id}, {name: rest, from: refund_id}]
    junk: [kind]
    on_correction: reverse
  - {junk: states, of: rows, columns: [state]}
  - {periodic: payer_month, of: payer, every: month, columns: [nr, code, size]}
  - {periodic: rows_day, of: rows, every: day, columns: [amount, event_time]}
  - {date: day, from: 2020-01-01, to: 2020-01-02}
  - {time: time}
""")


@pytest.fixture
def listed(mapped: Workbench) -> Workbench:
    """Return the project with an attribute that is a list."""
    mapped.do(AddVersion(Side.CDM, declare("refund", "2", "refund_id", "amount", "tags:array", key=("refund_id",))))
    return mapped


@pytest.fixture
def found(listed: Workbench) -> dict[str, DictionaryTable]:
    return {table.name: table for table in dictionary(listed.document, MODEL)}


def columns(table: DictionaryTable) -> dict[str, DictionaryColumn]:
    return {column.name: column for column in table.columns}


def test_the_columns_are_those_of_the_tables_that_a_load_makes(
    listed: Workbench, found: dict[str, DictionaryTable], tmp_path: Path
) -> None:
    made = shapes(MODEL, entity_histories(listed.document), row_expression)
    tables = {one.table: dimension_tables.columns_of(one) for one in made.dimensions}
    tables |= {one.table: fact_plan.columns_of(one) for one in made.facts if one.table in found}
    tables |= {
        junk.table: [(column, "") for column in (junk.key, *(each.name for each in junk.columns))]
        for one in made.facts
        for junk in one.junk
    }
    tables |= {one.table: periodic_plan.periodic_columns(one) for one in made.periodics}
    tables |= {one.table: bridge_plan.bridge_columns(one) for one in made.list_bridges}
    tables |= {one.table: bridge_plan.bridge_columns(one) for one in made.pair_bridges}
    tables |= {one.table: list(hierarchy_plan.COLUMNS) for one in made.hierarchies}
    with duckdb.connect(str(tmp_path / "days.duckdb")) as database:
        for table in MODEL.tables:
            steps = create_dates(table) if isinstance(table, Dates) else ()
            for step in create_times(table) if isinstance(table, TimesOfDay) else steps:
                database.execute(step.statement)
                tables[table.name] = [(name, "") for name, *_ in database.execute(f"DESCRIBE {table.name}").fetchall()]
    for name, those in tables.items():
        assert [column.name for column in found[name].columns] == [column for column, _ in those], name
    assert set(tables) == set(found)


def test_a_column_says_what_it_holds_and_which_schemas_map_it(found: dict[str, DictionaryTable]) -> None:
    payer = columns(found["payer"])
    assert payer["amount"].type == "decimal(12,2)"
    assert payer["amount"].fed_by == ("fx.pay.orders",)
    assert payer["amount"].history.startswith("3: ")
    assert payer["amount"].tests == "not_null"
    assert payer["size"].fed_by == ("fx.pay.orders",)
    assert payer["payer"].is_key
    assert payer["code_current"].source == "the last code that came"
    assert not payer["valid_from"].is_path
    assert columns(found["payer_month"])["code"] == payer["code"]


def test_a_reference_says_what_is_looked_up_as_of_when_and_what_becomes_of_a_miss(
    found: dict[str, DictionaryTable],
) -> None:
    durable, version = found["payer"].references
    assert (durable.role, durable.as_of, durable.on_miss) == ("refunded", "durable", "")
    assert (version.role, version.as_of) == ("last", "version")
    payer, booked, _ = found["payment"].references
    assert (payer.as_of, payer.on_miss) == ("event", "infer")
    assert (booked.table, booked.on) == ("day", "event_time")


def test_what_else_is_declared_of_a_table_stands_beside_its_columns(found: dict[str, DictionaryTable]) -> None:
    assert ("on_delete", "flag") in found["payment"].declared
    assert dict(found["day"].declared)["from"] == "2020-01-01"
    assert found["payment"].grain == "a value of payment_id"


def test_what_is_masked_is_marked_and_in_expressions_too(mapped: Workbench) -> None:
    entity = mapped.document.cdm.named("payment")
    assert entity is not None
    (version,) = mapped.document.cdm.versions(entity.id)
    amount = next(one for one in version.attributes if one.path == "amount")
    mapped.do(MaskAttribute(Side.CDM, version.id, amount.id, is_hidden=True))
    payer = columns(dictionary(mapped.document, MODEL)[0])
    assert [name for name, column in payer.items() if column.is_masked] == ["amount", "size"]


def test_a_model_whose_entity_is_gone_has_a_dictionary_too(mapped: Workbench) -> None:
    model = read_model("warehouse: w\ntables: [{dimension: d, entity: gone}, {fact: f, entity: gone}]\n")
    dimension, fact = dictionary(mapped.document, model)
    assert [column.name for column in dimension.columns][:2] == ["d_key", "d_durable_key"]
    assert [column.name for column in fact.columns] == ["event_time"]
