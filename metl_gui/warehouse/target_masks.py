"""What a target holds of masked attributes: fixed when it is made, and held against each load.

Source: docs/reference/warehouse-model.md, "Masked attributes".
"""

from __future__ import annotations

from collections.abc import Mapping

from metl_gui.core.dimensional.models.masked_models import MASKINGS, Masking
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget
from metl_gui.warehouse.plans.histories.arrivals import set_aside_table
from metl_gui.warehouse.plans.histories.history_tables import history_table
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from metl_gui.warehouse.plans.statements import name

_MASKED = "masked"
_WORDS = {"omit": "leaves masked values out", "plain": "holds masked values plain"}


def stored_masking(known: Mapping[str, str]) -> Masking:
    """Return what a target holds of masked attributes, by what it says of itself; before it said so, all."""
    return next((one for one in MASKINGS if one == known.get(_MASKED)), "plain")


def masking_of(target: WarehouseTarget) -> Masking | None:
    """Return what a target holds of masked attributes, ``None`` where nothing was loaded into it."""
    if not target.has_table("metl_target"):
        return None
    known = dict(target.rows("SELECT name, value FROM metl_target"))
    return stored_masking(known) if known else None


def remember_masks(target: WarehouseTarget, shapes: TableShapes) -> None:
    """Fix what a target holds of masked attributes."""
    target.run("DELETE FROM metl_target WHERE name = ?", [_MASKED])
    target.run("INSERT INTO metl_target VALUES (?, ?)", [_MASKED, shapes.masks.masking])


def check_masks(target: WarehouseTarget, shapes: TableShapes, known: Mapping[str, str], *, is_rebuilt: bool) -> None:
    """Refuse to load what a target is not to hold; a rebuild takes out what was masked since.

    Raises:
        TargetError: it holds masked values otherwise, or values that were masked since.
    """
    stored = stored_masking(known)
    if stored != shapes.masks.masking:
        text = f"{target.title} {_WORDS[stored]}, since it was made."
        raise TargetError("What a target does with masked values is fixed", text, "Name another target.")
    for entity in shapes.histories if stored == "omit" else ():
        for table in (history_table(entity), set_aside_table(entity)):
            held = [column for column in target.columns(table) if column in shapes.masks.of(entity)]
            if held and not is_rebuilt:
                text = f"{target.title} holds values of {', '.join(held)} of {entity}, which is masked now."
                raise TargetError("An attribute was masked", text, "Run “metl warehouse rebuild”: it takes them out.")
            for column in held:
                target.run(f"ALTER TABLE {name(table)} DROP COLUMN {name(column)}")
