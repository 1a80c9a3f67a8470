"""The three-way merge of warehouse models: table by table, ours kept where both changed one differently."""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.core.changes.draft import Draft
from metl_gui.core.matrix.document import Document
from metl_gui.core.merge.sides import ConflictKind, MergeConflict, ThreeWay, settled
from metl_gui.core.warehouse_model import Model, Table


def merge_models(draft: Draft, documents: ThreeWay[Document]) -> Iterator[MergeConflict]:
    """Merge the models of theirs into a draft of ours, and yield what both changed differently."""
    if documents.theirs.models == documents.base.models:
        return
    for name in sorted({model.name for document in documents for model in document.models}):
        models = ThreeWay(*(document.model(name) for document in documents))
        whole, is_open = settled(models)
        if not is_open:
            draft.put_model(name, whole)
        elif models.ours is None or models.theirs is None:
            gone, changed = ("ours", "theirs") if models.ours is None else ("theirs", "ours")
            yield _conflict(name, "", f"{gone} removed it, {changed} changed it; ours was kept.")
        else:
            merged, conflicts = _merged(ThreeWay(models.base, models.ours, models.theirs))
            draft.put_model(name, merged)
            yield from conflicts


def _merged(models: ThreeWay[Model | None]) -> tuple[Model, list[MergeConflict]]:
    """Merge a model that both sides have and changed differently."""
    known = ThreeWay(*(model or Model(name="") for model in models))
    name = known.ours.name
    by_name = ThreeWay(*({table.name: table for table in model.tables} for model in known))
    conflicts: list[MergeConflict] = []
    found: dict[str, Table] = {}
    for table in _order(ThreeWay(*(list(tables) for tables in by_name))):
        sides = ThreeWay(*(tables.get(table) for tables in by_name))
        kept, is_open = settled(sides)
        if is_open:
            conflicts.append(_conflict(name, table, _reason(sides)))
        if kept is not None:
            found[table] = kept
    entities, is_open = settled(ThreeWay(*(model.entities for model in known)))
    if is_open:
        conflicts.append(_conflict(name, "", "both sides list other entities; those of ours were kept."))
    return Model(name=name, tables=tuple(found.values()), entities=entities), conflicts


def _order(names: ThreeWay[list[str]]) -> list[str]:
    """Return the names of all tables: in the order of theirs where ours has that of the base, else in that of ours."""
    common = [[name for name in side if name in names.base] for side in (names.base, names.ours)]
    is_theirs = [name for name in common[0] if name in names.ours] == common[1]
    first, second = (names.theirs, names.ours) if is_theirs else (names.ours, names.theirs)
    return list(dict.fromkeys((*first, *second)))


def _reason(sides: ThreeWay[Table | None]) -> str:
    if sides.ours is None or sides.theirs is None:
        gone, changed = ("ours", "theirs") if sides.ours is None else ("theirs", "ours")
        return f"{gone} removed the table, {changed} changed it; ours was kept."
    return "both sides declare the table differently; ours was kept."


def _conflict(model: str, table: str, reason: str) -> MergeConflict:
    place = f"warehouse {model}" + (f", {table}" if table else "")
    return MergeConflict(ConflictKind.MODEL, place, reason)
