"""What differs between the warehouse models of two documents, by model and table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from metl_gui.core.matrix.document import Document
from metl_gui.core.warehouse_model import Model, Table, plain
from metl_gui.values import Value


class ModelDifference(Value):
    """One thing that differs between two models.

    Args:
        model: its name.
        table: the table it is about; empty for the model as a whole.
        member: what of the table is another one; empty where the table came or went.
        before, after: what it was and is, as the file of a model says it; ``None`` for nothing.
    """

    model: str
    table: str = ""
    member: str = ""
    before: Any = None
    after: Any = None

    @property
    def is_gain(self) -> bool:
        """Whether something came."""
        return self.before is None

    @property
    def is_loss(self) -> bool:
        """Whether something went."""
        return self.after is None

    def words(self) -> str:
        """Describe it in a line below its model."""
        if self.member:
            return f"{self.member} of {self.table}" if self.table else self.member
        if not self.table:
            return "warehouse model"
        kind = (self.after or self.before)["kind"]
        return f"{kind} {self.table}"


def model_differences(before: Document, after: Document) -> tuple[ModelDifference, ...]:
    """Compare the models of two documents, by name."""
    if before.models == after.models:
        return ()
    names = sorted({model.name for document in (before, after) for model in document.models})
    return tuple(told for name in names for told in _compared(name, before.model(name), after.model(name)))


def _compared(name: str, before: Model | None, after: Model | None) -> Iterator[ModelDifference]:
    if before is None or after is None:
        yield ModelDifference(name, before=before and plain(before), after=after and plain(after))
        return
    if before.entities != after.entities:
        yield ModelDifference(name, "", "entities", _listed(before.entities), _listed(after.entities))
    old, new = ({table.name: table for table in model.tables} for model in (before, after))
    for table in dict.fromkeys((*new, *old)):
        yield from _of_table(name, old.get(table), new.get(table))
    common = [[table for table in tables if table in old and table in new] for tables in (old, new)]
    if common[0] != common[1]:
        yield ModelDifference(name, "", "order of tables", common[0], common[1])


def _of_table(model: str, before: Table | None, after: Table | None) -> Iterator[ModelDifference]:
    if before == after:
        return
    known = after or before
    name = known.name if known is not None else ""
    if before is None or after is None or type(before) is not type(after):
        yield ModelDifference(model, name, "", before and plain(before), after and plain(after))
        return
    old, new = plain(before), plain(after)
    for member in dict.fromkeys((*new, *old)):
        if old.get(member) != new.get(member):
            yield ModelDifference(model, name, member, _said(old.get(member)), _said(new.get(member)))


def _said(value: Any) -> Any:
    return "default" if value is None else value


def _listed(entities: tuple[str, ...] | None) -> Any:
    return "all" if entities is None else list(entities)
