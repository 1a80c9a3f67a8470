"""What differs between the model that a target was made by and the model as it is now, member by member.

Members are named as ``metl warehouse set`` writes them: ``columns.segment.history``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import fields

from metl_gui.core.warehouse_model import Column, EventTime, Model, Reference
from metl_gui.values import Value

_MOST_LETTERS = 60
_SHOWN = 3


class DeclarationChange(Value):
    """One thing that was changed.

    Args:
        table: the table it is about; empty for the model as a whole.
        member: what of it; empty where the table came or went.
        before, after: what it was and is, as the file of a model says it; ``None`` for nothing.
    """

    table: str
    member: str
    before: Any
    after: Any

    @property
    def words(self) -> str:
        """It in a line: ``customer columns.segment.history was 1, is 2``."""
        what = " ".join(one for one in (self.table, self.member) if one) or "the model"
        if self.before is None:
            return f"{what} is new"
        if self.after is None:
            return f"{what} is gone"
        return f"{what} was {_said(self.before)}, is {_said(self.after)}"


def model_changes(before: Model, after: Model) -> tuple[DeclarationChange, ...]:
    """Return what was changed, in the order of the tables; nothing where the models are equal.

    Args:
        before: the model that a target was made by.
        after: the model as it is now.
    """
    if before == after:
        return ()
    kept = ("all" if model.entities is None else model.entities for model in (before, after))
    found = [*_of_member("", ("entities",), *kept)]
    found += _of_member("", ("warehouse",), before.name, after.name)
    old, new = ({one.name: one for one in model.tables} for model in (before, after))
    for table in dict.fromkeys((*old, *new)):
        found += _of_member(table, (), old.get(table), new.get(table))
    found += _of_order("", ("tables",), old, new)
    return tuple(found)


def change_words(changes: tuple[DeclarationChange, ...]) -> str:
    """Return the first of what was changed, and how much more there is."""
    more = f"; and {len(changes) - _SHOWN:,} more" if len(changes) > _SHOWN else ""
    return "; ".join(one.words for one in changes[:_SHOWN]) + more


def _of_member(table: str, path: tuple[str, ...], before: Any, after: Any) -> Iterator[DeclarationChange]:
    if before == after:
        return
    if isinstance(before, msgspec.Struct) and type(before) is type(after):
        for part in fields(before):
            yield from _of_member(
                table, (*path, part.encode_name), getattr(before, part.name), getattr(after, part.name)
            )
    elif (old := _named(before)) is not None and (new := _named(after)) is not None:
        for name in dict.fromkeys((*old, *new)):
            yield from _of_member(table, (*path, name), old.get(name), new.get(name))
        yield from _of_order(table, path, old, new)
    else:
        yield DeclarationChange(table, ".".join(path), msgspec.to_builtins(before), msgspec.to_builtins(after))


def _of_order(
    table: str, path: tuple[str, ...], old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[DeclarationChange]:
    before, after = [one for one in old if one in new], [one for one in new if one in old]
    if before != after:
        yield DeclarationChange(table, " ".join(("order of", *path)), before, after)


def _named(values: Any) -> dict[str, Any] | None:
    """Return columns, times or references by what tells them apart; ``None`` for values of other kinds."""
    if not isinstance(values, tuple) or not all(isinstance(one, Column | EventTime | Reference) for one in values):
        return None
    named = {(one.role or one.dimension) if isinstance(one, Reference) else one.name: one for one in values}
    return named if len(named) == len(values) else None


def _said(value: Any) -> str:
    if value in ("", [], ()):
        return "nothing"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"
