"""Targets that leave masked values out, or hold hashes of them: fixed when made, and made right by a rebuild."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from metl_gui.core.dimensional.loads.mask_key import MaskKey
from metl_gui.core.dimensional.models.masked_models import TargetMasks, masked_history
from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Column
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget
from metl_gui.warehouse.loader import Loader, load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from metl_gui.warehouse.target_masks import masking_of
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.worlds import PERSON, VISIT, at, model_of, parse, part, person_dimension

OWNER = Owner(project="world", mode="test")
COLUMNS = (Column(name="city", path="city", history=2), Column(name="mood", path="mood"))
OMIT = TargetMasks("omit", {"person": frozenset({"mood"})})
KEPT = masked_history(PERSON, OMIT)
KEY, OTHER = MaskKey.of(b"a secret for tests"), MaskKey.of(b"another secret for tests")
HASH = TargetMasks("hash", {"person": frozenset({"mood"})}, KEY.fingerprint)
NO_HASH = TargetMasks("hash", {"person": frozenset()}, KEY.fingerprint)
NOTHING_MASKED = TargetMasks("omit", {"person": frozenset()})


def tables(masks: TargetMasks) -> TableShapes:
    """Return the tables of a model of which ``mood`` is masked, as the target has them."""
    columns = tuple(one for one in COLUMNS if one.name not in masks.of("person") or masks.masking == "hash")
    model, _ = model_of(person_dimension(columns=columns))
    kept = [masked_history(one, masks) for one in (PERSON, VISIT)]
    return msgspec.structs.replace(shapes(model, kept, parse), masks=masks)


def messages(*, mood: str = "glad", first: int = 1) -> list[Message]:
    return [
        Message(
            schema="s",
            row_key=f'{{"id":{number}}}',
            order_key=f"{number:04}",
            op="c",
            values={"id": number, "city": "Kiel", "mood": mood, "nick": None, "since": None},
            committed_at=at(number),
            seen_at=at(number),
        )
        for number in (first, first + 1)
    ]


def values_of(target: WarehouseTarget, table: str) -> set[str]:
    """Return all values of a table as texts."""
    return {str(value) for row in target.rows(f"SELECT * FROM {table}") for value in row}


def test_masked_values_are_neither_in_the_history_nor_in_a_table(tmp_path: Path, new_target: NewTarget) -> None:
    shape = tables(OMIT)
    target = new_target(tmp_path)
    load_parts(target, shape, [part(tmp_path, "person", messages(), KEPT)], "1", OWNER)
    assert masking_of(target) == "omit"
    assert "mood" not in target.columns("metl_history_person")
    assert "mood" not in target.columns("person")
    assert "glad" not in values_of(target, "metl_history_person") | values_of(target, "person")
    assert {"Kiel"} <= values_of(target, "person")
    assert audit(target, shape, OWNER) == ()


def test_a_target_keeps_to_what_it_was_made_for(tmp_path: Path, new_target: NewTarget) -> None:
    target = new_target(tmp_path)
    load_parts(target, tables(OMIT), [part(tmp_path, "person", messages(), KEPT)], "1", OWNER)
    with pytest.raises(TargetError, match=r"leaves masked values out, since it was made"):
        load_parts(target, tables(TargetMasks()), [], "2", OWNER)
    with pytest.raises(TargetError, match=r"leaves masked values out, since it was made"):
        Loader(target, tables(TargetMasks()), OWNER).rebuild()


def test_what_was_masked_since_is_refused_until_a_rebuild_takes_it_out(tmp_path: Path, new_target: NewTarget) -> None:
    target = new_target(tmp_path)
    load_parts(target, tables(NOTHING_MASKED), [part(tmp_path, "person", messages())], "1", OWNER)
    assert "glad" in values_of(target, "person")
    with pytest.raises(TargetError, match=r"holds values of mood of person, which is masked now"):
        load_parts(target, tables(OMIT), [], "2", OWNER)
    Loader(target, tables(OMIT), OWNER).rebuild()
    assert "glad" not in values_of(target, "metl_history_person") | values_of(target, "person")
    assert "mood" not in target.columns("metl_set_aside_person")
    load_parts(target, tables(OMIT), [part(tmp_path, "person", messages(mood="sad"), KEPT)], "3", OWNER)
    assert audit(target, tables(OMIT), OWNER) == ()


def test_a_target_of_before_masks_holds_values_plain(tmp_path: Path, new_target: NewTarget) -> None:
    target = new_target(tmp_path)
    assert masking_of(target) is None
    load_parts(target, tables(TargetMasks()), [part(tmp_path, "person", messages())], "1", OWNER)
    target.run("DELETE FROM metl_target WHERE name = 'masked'")
    assert masking_of(target) == "plain"
    load_parts(target, tables(TargetMasks()), [part(tmp_path, "person", messages())], "2", OWNER)
    assert "glad" in values_of(target, "person")


def test_hashes_under_another_key_never_get_into_a_target(tmp_path: Path, new_target: NewTarget) -> None:
    target, shape = new_target(tmp_path), tables(HASH)
    load_parts(target, shape, [part(tmp_path, "person", messages(mood=KEY.hashed("glad")))], "1", OWNER)
    assert masking_of(target) == "hash"
    other = msgspec.structs.replace(HASH, fingerprint=OTHER.fingerprint)
    with pytest.raises(TargetError, match="made with another secret"):
        load_parts(target, tables(other), [part(tmp_path, "person", messages())], "2", OWNER)
    # What only looks at the target needs no key.
    assert audit(target, tables(msgspec.structs.replace(HASH, fingerprint="")), OWNER) == ()
    assert KEY.hashed("glad") in values_of(target, "person")


def test_a_mask_that_is_set_or_taken_away_needs_a_rebuild_which_empties_the_column(
    tmp_path: Path, new_target: NewTarget
) -> None:
    target, mood = new_target(tmp_path), "SELECT DISTINCT mood FROM person WHERE person_key > 0"
    load_parts(target, tables(NO_HASH), [part(tmp_path, "person", messages())], "1", OWNER)
    with pytest.raises(TargetError, match="holds values of mood of person, which is masked now"):
        load_parts(target, tables(HASH), [], "2", OWNER)
    Loader(target, tables(HASH), OWNER).rebuild()
    assert "glad" not in values_of(target, "metl_history_person") | values_of(target, "person")
    hashed = KEY.hashed("sad")
    load_parts(target, tables(HASH), [part(tmp_path, "person", messages(mood=hashed, first=3))], "3", OWNER)
    assert set(target.rows(mood)) == {(None,), (hashed,)}
    with pytest.raises(TargetError, match="holds hashes of mood of person, which is masked no more"):
        load_parts(target, tables(NO_HASH), [], "4", OWNER)
    Loader(target, tables(NO_HASH), OWNER).rebuild()
    assert target.rows(mood) == [(None,)]
    load_parts(target, tables(NO_HASH), [], "5", OWNER)


def test_messages_are_known_after_a_mask_was_set_and_it_can_be_taken_away(
    tmp_path: Path, new_target: NewTarget
) -> None:
    target = new_target(tmp_path)
    load_parts(target, tables(NOTHING_MASKED), [part(tmp_path, "person", messages())], "1", OWNER)
    Loader(target, tables(OMIT), OWNER).rebuild()
    masked = load_parts(target, tables(OMIT), [part(tmp_path, "person", messages(), KEPT)], "2", OWNER)
    assert (masked.repeated, masked.appended, masked.ambiguous_order) == (2, 0, {})
    Loader(target, tables(NOTHING_MASKED), OWNER).rebuild()
    load_parts(target, tables(NOTHING_MASKED), [part(tmp_path, "person", messages(first=3))], "3", OWNER)
    assert target.rows("SELECT DISTINCT mood FROM person WHERE person_key > 0 AND id > 2") == [("glad",)]
    assert audit(target, tables(NOTHING_MASKED), OWNER) == ()
