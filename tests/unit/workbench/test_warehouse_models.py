"""Warehouse models on a project: brought in, written out, changed, proposed, checked, published, undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.warehouse_model import Dimension, Model
from metl_gui.errors import EditError, SchemaError
from metl_gui.registry.matrix_export import read_export
from metl_gui.workbench.comparison.merge import merge_files
from metl_gui.workbench.exports.matrix import json_text
from metl_gui.workbench.publishing.checks import check_project
from metl_gui.workbench.publishing.publication import difference_to_live, publish
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.warehouse.models import (
    check_models,
    export_model,
    import_model,
    model_content,
    model_of,
    propose_model,
    remove_model,
    set_model,
    set_values,
)

PAY = """\
warehouse: pay
tables:
  - dimension: payment
    entity: payment
    business_key: [payment_id]
    columns: [{name: amount, from: amount, history: 2}]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "pay.yaml"
    path.write_text(PAY, encoding="utf-8")
    return path


def test_an_import_makes_a_state_and_once_more_none(mapped: Workbench, file: Path) -> None:
    before = mapped.document.state
    done = import_model(mapped, file)
    assert (done.state, done.model, done.is_changed, done.tables) == (before + 1, "pay", True, ("payment",))
    assert done.problems == ()
    again = import_model(mapped, file)
    assert (again.state, again.is_changed) == (before + 1, False)
    mapped.undo()
    assert mapped.document.models == ()


def test_what_is_exported_can_be_imported_again(mapped: Workbench, file: Path, tmp_path: Path) -> None:
    import_model(mapped, file)
    assert export_model(mapped, tmp_path / "out.yaml").model == "pay"
    assert (tmp_path / "out.yaml").read_text("utf-8") == PAY
    assert not import_model(mapped, tmp_path / "out.yaml").is_changed


def test_a_file_with_mistakes_is_refused_by_its_name_and_changes_nothing(mapped: Workbench, file: Path) -> None:
    file.write_text(PAY.replace("history: 2", "history: 9"), encoding="utf-8")
    before = mapped.document
    with pytest.raises(SchemaError, match=r"^pay\.yaml: The warehouse model cannot be read") as refused:
        import_model(mapped, file)
    assert "Line 6" in refused.value.text
    assert mapped.document is before


def test_a_dry_run_says_the_same_and_writes_nothing(mapped: Workbench, file: Path) -> None:
    before = mapped.document
    done = import_model(mapped, file, dry_run=True)
    assert (done.title, done.is_changed) == ("Add the warehouse model pay with 1 table", True)
    assert mapped.document is before


def test_values_of_a_table_are_set_as_one_state(mapped: Workbench, file: Path) -> None:
    import_model(mapped, file)
    done = set_values(mapped, "payment", [("on_delete", "flag"), ("columns.amount.history", "1")])
    assert done.title == "Change payment of the warehouse model pay"
    table = model_of(mapped.document).table("payment")
    assert isinstance(table, Dimension)
    assert table.on_delete == "flag"
    with pytest.raises(EditError) as refused:
        set_values(mapped, "paymnt", [("on_delete", "flag")])
    assert refused.value.hint == "Did you mean payment?"


def test_where_there_are_several_models_one_is_named(mapped: Workbench) -> None:
    with pytest.raises(EditError, match="There is no warehouse model in the project"):
        model_of(mapped.document)
    set_model(mapped, Model(name="one"))
    assert model_of(mapped.document).name == "one"
    set_model(mapped, Model(name="two"))
    with pytest.raises(EditError, match="several warehouse models") as refused:
        model_of(mapped.document)
    assert refused.value.hint == "Choose one: --model one or two."
    with pytest.raises(EditError, match="no warehouse model three"):
        model_content(mapped, "three")
    remove_model(mapped, "one")
    assert model_content(mapped).as_json() == {"state": mapped.document.state, "warehouse": "two"}


def test_a_proposal_is_named_as_the_project_and_not_put_over_another(mapped: Workbench) -> None:
    set_model(mapped, Model(name="pay"))
    with pytest.raises(EditError, match="There is a warehouse model pay already"):
        propose_model(mapped)


def test_nothing_is_proposed_where_no_entity_has_a_key_or_a_time(mapped: Workbench) -> None:
    with pytest.raises(EditError, match="nothing to propose"):
        propose_model(mapped)


def test_checks_of_a_project_know_its_models(mapped: Workbench, file: Path) -> None:
    file.write_text(PAY.replace("from: amount", "from: amuont"), encoding="utf-8")
    assert [problem.code for problem in import_model(mapped, file).problems] == ["warehouse.unknown-attribute"]
    found = check_models(mapped.document)
    assert found.has_errors
    assert found.summary == "1 error"
    assert "warehouse.unknown-attribute" in {problem.code for problem in check_project(mapped).problems}
    assert check_models(mapped.document, "pay").problems == found.problems


def test_a_model_is_published_with_its_state(mapped: Workbench, file: Path) -> None:
    publish(mapped)
    import_model(mapped, file)
    difference = difference_to_live(mapped)
    assert difference is not None
    assert [(told.model, told.words()) for told in difference.models] == [("pay", "warehouse model")]
    publish(mapped)
    again = difference_to_live(mapped)
    assert again is not None
    assert again.is_empty


def test_an_undo_that_a_later_model_stands_in_the_way_of_names_its_state(mapped: Workbench, file: Path) -> None:
    first = import_model(mapped, file).state
    later = set_values(mapped, "payment", [("on_delete", "flag")]).state
    with pytest.raises(EditError, match="cannot be taken back any more") as refused:
        mapped.undo_state(first)
    assert "the warehouse model pay" in refused.value.text
    assert f"That was state {later} (Change payment of the warehouse model pay)." in refused.value.text


def test_exports_are_merged_with_their_models(mapped: Workbench, file: Path, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.json" for name in ("base", "theirs", "ours")]
    import_model(mapped, file)
    paths[0].write_text(json_text(mapped.document, True), encoding="utf-8")
    set_values(mapped, "payment", [("on_delete", "flag")])
    paths[1].write_text(json_text(mapped.document, True), encoding="utf-8")
    mapped.undo()
    set_model(mapped, Model(name="other"))
    paths[2].write_text(json_text(mapped.document, True), encoding="utf-8")
    found = merge_files(paths[0], paths[2], paths[1])
    assert found.conflicts == ()
    merged = read_export(paths[2])
    assert merged.is_whole
    assert [model.name for model in merged.document.models] == ["other", "pay"]
    table = merged.document.models[1].table("payment")
    assert isinstance(table, Dimension)
    assert table.on_delete == "flag"


def test_a_copy_of_what_is_left_of_an_overwritten_file_has_the_models(mapped: Workbench, file: Path) -> None:
    import_model(mapped, file)
    target, other = file.with_name("saved.metl"), file.with_name("other.metl")
    Workbench.create(other).close()
    mapped.path.write_bytes(other.read_bytes())
    assert not mapped.save_copy(target)
    with Workbench.open(target, for_editing=False) as copy:
        assert copy.document.models == mapped.document.models


def test_the_checks_name_the_column_of_an_expression_that_no_message_could_be_computed_by(
    mapped: Workbench, file: Path
) -> None:
    columns = """[{name: amount, from: amount}, {name: more, expression: "amount + 1", type: integer},
      {name: shown, expression: "upper(amount)", type: text}]"""
    listed = PAY.replace("[{name: amount, from: amount, history: 2}]", columns)
    fact = """  - fact: paid
    entity: payment
    grain: [payment_id]
    where: "amount > 5 or legacy_code in ('a', 1)"
    references: [{dimension: payment, role: payer, on: {"payer_id - 1": payment_id}}]
"""
    file.write_text(f"{listed}{fact}", encoding="utf-8")
    found = import_model(mapped, file).problems
    assert [(one.severity, one.code, one.place) for one in found] == [
        ("error", "warehouse.expression", f"pay: {place}") for place in ("payment.more", "paid", "paid.payer")
    ]
    assert found[0].message.startswith("amount + 1 cannot be computed. Binder Error: No function matches")
    assert check_models(mapped.document).problems == found
