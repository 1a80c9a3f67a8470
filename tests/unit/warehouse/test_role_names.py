"""Roles of references have names that a database reads only in quotes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Column, Dimension, Model, Reference
from metl_gui.warehouse.loader import Loader
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import ModelError
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.worlds import PERSON, VISIT, at, parse, part, person_dimension


@pytest.mark.parametrize("role", ["Chef", "my boss", "a-b"])
def test_a_dimension_refers_to_another_by_any_role(role: str, tmp_path: Path, new_target: NewTarget) -> None:
    reference = Reference(dimension="person", role=role, on=(("who", "id"),), as_of="version")
    visits = Dimension(name="stay", entity="visit", columns=(Column(name="fee", path="fee"),), references=(reference,))
    made = shapes(Model(name="world", tables=(person_dimension(), visits)), [PERSON, VISIT], parse)
    persons = [Message("a", '{"id":1}', "0001", "c", {"id": 1, "city": "Kiel"}, seen_at=at(1))]
    stays = [Message("a", '{"no":1}', "0002", "c", {"no": 1, "who": 1}, seen_at=at(2))]
    target = new_target(tmp_path)
    parts = [part(tmp_path, "person", persons), part(tmp_path, "visit", stays)]
    Loader(target, made, Owner(project="world", mode="test")).load(parts, "a load")
    columns = f'"{role}_durable_key"'
    assert target.rows(f"SELECT {columns} FROM stay WHERE stay_key > 0") == [(1,)]


def test_entities_whose_names_differ_in_capitals_alone_have_no_tables() -> None:
    other = msgspec.structs.replace(PERSON, entity="Person")
    with pytest.raises(ModelError, match="person and Person would share one history"):
        shapes(Model(name="world", tables=(person_dimension(),)), [PERSON, other], parse)
