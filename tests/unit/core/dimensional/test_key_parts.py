"""Parts of business keys: what they are called in a target, and which of them references mean."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from metl_gui.core.dimensional.histories import entity_histories
from metl_gui.core.dimensional.models.masked_models import masked_model, target_masks
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from metl_gui.formats.model_yaml import read_model
from metl_gui.formats.row_expressions import named_attributes
from tests.helpers.world import World, declare
from tests.unit.core.dimensional.test_checks import checked, codes

MODEL = """
warehouse: w
tables:
  - dimension: holding
    entity: holding
    columns:
      - {name: bank, from: bank.id}
      - {name: client, from: client.id}
      - {name: kind, from: kind}
  - fact: move
    entity: move
    references: [{dimension: holding, on: {b: bank.id, c: client.id}}]
"""


def world(bank: str = "integer") -> Document:
    """Return a document with an entity of which two parts of the key have one last name."""
    made = World()
    for name, key, paths in (
        ("holding", ("bank.id", "client.id"), (f"bank.id:{bank}", "client.id:integer", "kind")),
        ("move", ("no",), ("no:integer", f"b:{bank}", "c:integer")),
    ):
        made.do(AddVersion(Side.CDM, replace(declare(name, paths, "1"), key=key)))
        columns = [path.partition(":")[0] for path in paths]
        made.schema(f"s.{name}", "1", *columns)
        made.map(f"s.{name}@1:{name}@1", **{column: column for column in columns})
    return made.document


def test_parts_with_one_last_name_are_meant_by_their_paths_and_by_their_columns() -> None:
    assert checked(MODEL, world()) == ()
    assert checked(MODEL.replace("b: bank.id, c: client.id", "c: client, b: bank"), world()) == ()


def test_the_type_of_a_part_is_that_of_its_own_path() -> None:
    assert checked(MODEL, world("string")) == ()
    swapped = MODEL.replace("b: bank.id, c: client.id", "c: bank.id, b: client.id")
    assert codes(swapped, world("string")) == {"key-type": "w: move.holding"}


@pytest.mark.parametrize(
    ("on", "message"),
    [
        ("b: id, c: client.id", "id may be bank.id or client.id of the key of holding."),
        ("b: bank.id, c: bank", "The reference names bank.id of the key of holding twice."),
    ],
)
def test_a_side_that_may_be_several_parts_or_one_twice_is_named(on: str, message: str) -> None:
    (problem,) = checked(MODEL.replace("b: bank.id, c: client.id", on), world())
    assert (problem.code, problem.message) == ("warehouse.key-differs", message)


def test_parts_with_one_last_name_and_no_names_of_their_own_are_two_columns_of_one_name() -> None:
    lines = [line for line in MODEL.splitlines() if "name: bank" not in line and "name: client" not in line]
    assert codes("\n".join(lines), world()) == {"name-twice": "w: holding.id"}


def test_hashes_of_a_part_are_held_against_those_of_its_own_path() -> None:
    document = world("string")
    for name, path in (("holding", "bank.id"), ("move", "b")):
        entity = document.cdm.named(name)
        assert entity is not None
        made = World()
        made.document = document
        made.do(SetSettings(Side.CDM, entity.id, (("mask", path),)))
        document = made.document
    masks = target_masks(document, entity_histories(document), "hash")
    masked_model(
        document, read_model(MODEL.replace("      - {name: bank, from: bank.id}\n", "")), masks, named_attributes
    )
    swapped = MODEL.replace("b: bank.id, c: client.id", "c: bank.id, b: client.id")
    with pytest.raises(EditError, match="One side"):
        masked_model(document, read_model(swapped), masks, named_attributes)


def test_a_schema_in_a_key_is_that_of_the_row_where_its_own_key_has_it_and_else_is_looked_up() -> None:
    keyed = MODEL.replace("    entity: holding\n", "    entity: holding\n    key_includes_schema: true\n")
    (problem,) = checked(keyed, world())
    assert problem.message == "The key of holding takes in the schema, and that of move does not say which."
    for text in (
        keyed.replace("    entity: move\n", "    entity: move\n    key_includes_schema: true\n"),
        keyed.replace("    entity: move\n", "    entity: move\n    grain: row\n"),
        keyed.replace("c: client.id}", "c: client.id, \"'s.holding'\": schema}"),
    ):
        assert checked(text, world()) == ()
    assert codes(keyed.replace("c: client.id}", "c: client.id, no: schema}"), world()) == {
        "key-type": "w: move.holding"
    }
    twice = keyed.replace("c: client.id}", "c: client.id, \"'x'\": schema, \"'y'\": schema}")
    assert codes(twice, world()) == {"key-differs": "w: move.holding"}
