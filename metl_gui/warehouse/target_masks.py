"""What a target holds of masked attributes: fixed when it is made, and held against each load.

Source: docs/reference/warehouse-model.md, "Masked attributes".
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from metl_gui.core.dimensional.histories import ROW_KEY
from metl_gui.core.dimensional.models.masked_models import MASKINGS, Masking
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget
from metl_gui.warehouse.plans.histories.arrivals import set_aside_table
from metl_gui.warehouse.plans.histories.history_tables import history_table
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from metl_gui.warehouse.plans.statements import name

_MASKED, _HASHED, _KEY = "masked", "hashed", "mask_key"
_WORDS: dict[Masking, str] = {
    "omit": "leaves masked values out",
    "hash": "holds hashes of masked values",
    "plain": "holds masked values plain",
}


def stored_masking(known: Mapping[str, str]) -> Masking:
    """Return what a target holds of masked attributes, by what it says of itself; before it said so, all."""
    return next((one for one in MASKINGS if one == known.get(_MASKED)), "plain")


def masking_of(target: WarehouseTarget) -> Masking | None:
    """Return what a target holds of masked attributes, ``None`` where nothing was loaded into it."""
    known = _known(target)
    return stored_masking(known) if known else None


def has_mask_key(target: WarehouseTarget) -> bool:
    """Return whether a target holds hashes that were made already."""
    return _KEY in _known(target)


def has_hashed_keys(target: WarehouseTarget, entity: str) -> bool:
    """Return whether rows of an entity were told apart by hashes of their keys when it was last in the model."""
    return ROW_KEY in _hashed(_known(target)).get(entity, ())


def _hashed(known: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(known.get(_HASHED, "{}"))
    return found


def _known(target: WarehouseTarget) -> dict[str, str]:
    return dict(target.rows("SELECT name, value FROM metl_target")) if target.has_table("metl_target") else {}


def remember_masks(target: WarehouseTarget, shapes: TableShapes) -> None:
    """Fix what a target holds of masked attributes, and under which key hashes are made."""
    _remember(target, _MASKED, shapes.masks.masking)
    if shapes.masks.masking == "hash":
        # Of entities that the model has no more the histories stay.
        hashed = _hashed(_known(target)) | {one.entity: list(one.hashed) for one in shapes.histories.values()}
        _remember(target, _HASHED, json.dumps(hashed))
    if shapes.masks.fingerprint:
        _remember(target, _KEY, shapes.masks.fingerprint)


def _remember(target: WarehouseTarget, what: str, value: str) -> None:
    target.run("DELETE FROM metl_target WHERE name = ?", [what])
    target.run("INSERT INTO metl_target VALUES (?, ?)", [what, value])


def check_masks(target: WarehouseTarget, shapes: TableShapes, known: Mapping[str, str], *, is_rebuilt: bool) -> None:
    """Refuse to load what a target is not to hold; a rebuild takes out what was masked since.

    Raises:
        TargetError: it holds masked values otherwise, values that were masked since, or hashes under another key.
    """
    stored, masks = stored_masking(known), shapes.masks
    if stored != masks.masking:
        text = f"{target.title} {_WORDS[stored]}, since it was made."
        raise TargetError("What a target does with masked values is fixed", text, "Name another target.")
    if masks.fingerprint and known.get(_KEY, masks.fingerprint) != masks.fingerprint:
        text = f"{target.title} holds hashes of masked values that were made with another secret."
        hint = "Give the secret of before: no value would have the hash that it has there."
        raise TargetError("The secret of the warehouse is another", text, hint)
    before = _hashed(known)
    for entity in shapes.histories if stored != "plain" else ():
        hashed = frozenset(shapes.histories[entity].hashed)
        # Hashes stand where hashes are to be, and else the values of before: neither fits the other.
        wrong = masks.of(entity) if stored == "omit" else hashed ^ frozenset(before.get(entity, hashed))
        for table in (history_table(entity), set_aside_table(entity)):
            held = [column for column in target.columns(table) if column in wrong]
            if held and not is_rebuilt:
                raise _masked_since(target, entity, [one for one in held if one in masks.of(entity)], held)
            for column in held:
                target.run(f"ALTER TABLE {name(table)} DROP COLUMN {name(column)}")
    if stored == "hash":
        remember_masks(target, shapes)


def _masked_since(target: WarehouseTarget, entity: str, masked: list[str], held: list[str]) -> TargetError:
    hint = "Run “metl warehouse rebuild”: it takes them out."
    if not masked:
        text = f"{target.title} holds hashes of {', '.join(held)} of {entity}, which is masked no more."
        return TargetError("A mask was taken away", text, hint)
    text = f"{target.title} holds values of {', '.join(masked)} of {entity}, which is masked now."
    return TargetError("An attribute was masked", text, hint)
