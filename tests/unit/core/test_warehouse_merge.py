"""Warehouse models of two sides: what differs of them, and their merge table by table."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from metl_gui.core.changes.draft import perform
from metl_gui.core.differences.document_difference import compare, compare_by_names
from metl_gui.core.matrix.canonical import matrix_content
from metl_gui.core.matrix.document import Document
from metl_gui.core.merge.merged_document import MergeTheirs
from metl_gui.core.merge.sides import ConflictKind
from metl_gui.core.warehouse_model import Column, Dates, Dimension, Hierarchy, Model, Periodic, Table
from metl_gui.errors import SchemaError
from metl_gui.registry.matrix_export import parse_export
from metl_gui.workbench.exports.matrix import json_text
from metl_gui.workbench.history.difference_text import difference_json, difference_lines, difference_summary
from tests.helpers.world import World

CUSTOMER = Dimension(name="customer", entity="customer", columns=(Column(name="name", path="name"),))
DATES = Dates(name="date", first="2026-01-01", last="2026-12-31")
OURS = Dimension(name="customer", entity="customer", on_delete="flag")
THEIRS = Dimension(name="customer", entity="customer", on_delete="remove")
DAYS = Periodic(name="days", of="customer", every="day")
TREE = Hierarchy(name="tree", of="customer")


def state(*models: Model) -> Document:
    document = World().document
    return replace(document, models=tuple(sorted(models, key=lambda model: model.name)))


def fx(*tables: Table, entities: tuple[str, ...] | None = None) -> Document:
    return state(Model(name="fx", tables=tables, entities=entities))


def merged(base: Document, ours: Document, theirs: Document) -> tuple[tuple[Model, ...], list[tuple[str, str]]]:
    """Merge, and return the models with places and reasons of what both changed differently."""
    edit = MergeTheirs(base, theirs, "theirs")
    result = perform(ours, edit).after
    assert all(conflict.kind is ConflictKind.MODEL and conflict.key is None for conflict in edit.conflicts)
    return result.models, [(conflict.place, conflict.reason) for conflict in edit.conflicts]


def test_tables_that_either_side_added_or_changed_are_all_in_the_result() -> None:
    found, open_ = merged(fx(CUSTOMER, DATES), fx(OURS, DATES, DAYS), fx(CUSTOMER, TREE, DATES))
    assert found == fx(OURS, TREE, DATES, DAYS).models
    assert open_ == []


def test_a_model_that_one_side_alone_has_is_taken() -> None:
    assert merged(state(), state(), fx(DATES))[0] == fx(DATES).models
    assert merged(state(), fx(DATES), state())[0] == fx(DATES).models
    assert merged(fx(DATES), fx(DATES), state())[0] == ()
    assert merged(fx(DATES), state(), fx(DATES))[0] == ()


def test_the_same_table_changed_differently_on_both_sides_is_a_conflict() -> None:
    found, open_ = merged(fx(CUSTOMER, DATES), fx(OURS, DATES), fx(THEIRS))
    assert found == fx(OURS).models
    assert open_ == [("warehouse fx, customer", "both sides declare the table differently; ours was kept.")]


def test_what_one_side_removed_and_the_other_changed_is_a_conflict() -> None:
    removed = "theirs removed the table, ours changed it; ours was kept."
    assert merged(fx(CUSTOMER, DATES), fx(OURS, DATES), fx(DATES))[1] == [("warehouse fx, customer", removed)]
    whole = "theirs removed it, ours changed it; ours was kept."
    assert merged(fx(CUSTOMER), fx(OURS), state())[1] == [("warehouse fx", whole)]
    found, open_ = merged(fx(CUSTOMER), state(), fx(THEIRS))
    assert found == ()
    assert open_ == [("warehouse fx", "ours removed it, theirs changed it; ours was kept.")]


def test_models_of_one_name_that_both_sides_added_are_joined() -> None:
    found, open_ = merged(state(), fx(OURS, entities=("a",)), fx(THEIRS, DATES, entities=("b",)))
    assert found == fx(OURS, DATES, entities=("a",)).models
    assert [place for place, _ in open_] == ["warehouse fx, customer", "warehouse fx"]


def test_merging_what_is_merged_changes_nothing() -> None:
    base, theirs = fx(CUSTOMER, DATES), fx(THEIRS, TREE)
    once = perform(fx(CUSTOMER, DATES, DAYS), MergeTheirs(base, theirs, "theirs")).after
    assert perform(once, MergeTheirs(theirs, theirs, "theirs")).change.is_empty


def test_a_difference_names_tables_and_what_of_them_is_another() -> None:
    before, after = fx(CUSTOMER, DATES), fx(DATES, OURS, TREE, entities=("a",))
    found = compare(before, after)
    assert list(difference_lines(found)) == [
        "Warehouse models",
        "  fx",
        "    ~ entities",
        "    ~ on_delete of customer",
        "    ~ columns of customer",
        "    + hierarchy tree",
        "    ~ order of tables",
    ]
    assert difference_summary(found) == "5 changes of warehouse models."
    assert difference_json(found)["models"][1] == {
        "model": "fx",
        "table": "customer",
        "member": "on_delete",
        "before": "default",
        "after": "flag",
    }
    assert compare_by_names(before, after).models == found.models


def test_a_difference_names_models_that_came_and_went() -> None:
    lines = list(difference_lines(compare(fx(DATES), state(Model(name="audit")))))
    assert lines == ["Warehouse models", "  audit", "    + warehouse model", "  fx", "    - warehouse model"]


def test_states_without_other_models_differ_in_nothing_and_say_nothing_of_models() -> None:
    assert compare(fx(DATES), fx(DATES)).is_empty
    assert "models" not in difference_json(compare(state(), state()))


def test_an_export_carries_the_models_of_its_state_where_there_are_some() -> None:
    document = fx(CUSTOMER, DATES)
    export = parse_export(json_text(document, True).encode())
    assert export.document.models == document.models
    assert export.is_whole
    assert "warehouse_models" not in matrix_content(state())


@pytest.mark.parametrize("change", [('"kind": "date"', '"kind": "cube"'), ('"name": "date"', '"nam": "date"')])
def test_an_export_with_a_model_that_is_none_is_refused(change: tuple[str, str]) -> None:
    text = json_text(fx(DATES), True)
    assert change[0] in text
    with pytest.raises(SchemaError) as refused:
        parse_export(text.replace(*change).encode())
    assert "it is no warehouse model" in refused.value.text
