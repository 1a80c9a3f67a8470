"""The columns of one table of a warehouse model as rows that a person reads and changes, and the edits of each.

A row is a column, measure, degenerate dimension, reference, a part of the key, which nobody changes here, or what else
is declared of the table. Every edit returns a table or a model, to be put into the project by
``core.edits.warehouse.SetModel``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from metl_gui.core.dimensional.histories import EntityHistory, entity_histories
from metl_gui.core.dimensional.models.attribute_uses import new_attributes
from metl_gui.core.dimensional.models.entity_facts import EntityFacts
from metl_gui.core.dimensional.models.proposals import free_of_underscores
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.problems import Problem
from metl_gui.core.trees.paths import split
from metl_gui.core.warehouse_model import Column, Dimension, Fact, History, Model, Reference, Table
from metl_gui.values import Value


class ColumnPart(StrEnum):
    """What a row is, and under which key of the table it stands."""

    KEY = "key"
    COLUMN = "columns"
    MEASURE = "measures"
    DEGENERATE = "degenerate"
    REFERENCE = "references"
    SETTING = "setting"
    EVERY = "every"
    """Of a dimension that takes all attributes."""


class RowMember(StrEnum):
    """What a row says that may be changed."""

    NAME = "name"
    SOURCE = "from"
    TYPE = "type"
    HISTORY = "history"
    TESTS = "tests"


class TableRow(Value):
    """One row.

    Args:
        part: what it is.
        name: of the column, or the role of a reference.
        source: the attribute, the expression, or what a reference leads to.
        type: as it is declared, else that of the attribute in parentheses.
        history: of a column of a dimension.
        tests: as a file has them.
        problems: what checks say of it.
    """

    part: ColumnPart
    name: str
    source: str
    type: str = ""
    history: History | None = None
    tests: str = ""
    problems: tuple[Problem, ...] = ()

    def can_change(self, member: RowMember) -> bool:
        """Whether a member is edited in its row: parts of the key are only read, references only named."""
        if self.part is ColumnPart.REFERENCE:
            return member is RowMember.NAME
        if self.part is ColumnPart.SETTING:
            return member is RowMember.SOURCE
        if self.part in (ColumnPart.KEY, ColumnPart.EVERY):
            return False
        return member is not RowMember.HISTORY or self.history is not None


def table_rows(
    document: Document, model: Model, table: Table, problems: Iterable[Problem] = ()
) -> tuple[TableRow, ...]:
    """Return the rows of a table, in its order.

    Args:
        document: the state that the entity is of.
        model: which the table belongs to.
        table: whose rows are wanted.
        problems: what checks found in the model.
    """
    at: dict[str, list[Problem]] = {}
    for problem in problems:
        at.setdefault(problem.place, []).append(problem)
    place = f"{model.name}: {table.name}."
    rows = [*_settings(table)]
    if isinstance(table, Dimension | Fact):
        rows = [*_rows(table, entity_of(document, table.entity)), *rows]
    return tuple(replace(row, problems=tuple(at.get(f"{place}{row.name}", ()))) for row in rows)


def table_problems(model: Model, table: str, problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return what checks found at a table or at a part of it."""
    place = f"{model.name}: {table}"
    return tuple(one for one in problems if one.place == place or one.place.startswith(f"{place}."))


def entity_of(document: Document, name: str) -> EntityHistory:
    """Return the attributes of an entity as columns; of one that is not there, none."""
    return next(iter(entity_histories(document, (name,))), EntityHistory(name))


def changed_table(document: Document, table: Table, row: TableRow, member: RowMember, text: str) -> Table:
    """Return a table with a member of a row as a person wrote it.

    Raises:
        SchemaError: it cannot be so.
    """
    from metl_gui.formats.model_yaml import with_values  # a window is shown before it needs YAML

    at = f"{row.part}.{row.name}"
    if row.part is ColumnPart.SETTING:
        return with_values(table, [(row.name, text)])
    if row.part is ColumnPart.REFERENCE:
        return with_values(table, [(f"{at}.role", text)])
    match member:
        case RowMember.SOURCE:
            entity = entity_of(document, getattr(table, "entity", ""))
            is_path = not text or entity.at_path(text) is not None
            values = [(f"{at}.from", text if is_path else ""), (f"{at}.expression", "" if is_path else text)]
        case RowMember.TESTS:
            values = [(f"{at}.tests", f"[{text}]" if text.strip() else "")]
        case _:
            values = [(f"{at}.{member}", text)]
    return with_values(table, values)


class FreeAttribute(NamedTuple):
    """An attribute that a table could take as a column.

    Args:
        path: of the attribute.
        type: of its values.
        is_new: it came with the newest version of the entity, of which the model uses nothing yet.
    """

    path: str
    type: str
    is_new: bool = False


def free_attributes(document: Document, model: Model, table: Table) -> tuple[FreeAttribute, ...]:
    """Return the attributes that a table could still take, new ones first; none where it takes all, or has none."""
    from metl_gui.formats.row_expressions import named_attributes  # a window is shown before it needs SQL

    if not isinstance(table, Dimension | Fact) or (isinstance(table, Dimension) and table.columns == "all"):
        return ()
    taken = {row.source for row in _rows(table, EntityHistory(table.entity))}
    new = new_attributes(model, EntityFacts(document), named_attributes, [table.entity]).get(table.entity, ())
    columns = entity_of(document, table.entity).columns
    free = [FreeAttribute(one.path, one.type, one.path in new) for one in columns if one.path not in taken]
    return tuple(sorted(free, key=lambda one: not one.is_new))


def with_column(document: Document, table: Table, path: str) -> Table:
    """Return a table with one more column: a dimension's with history, a fact's number as a measure."""
    if not isinstance(table, Dimension | Fact):
        return table
    history = entity_of(document, table.entity).at_path(path)
    taken = {row.name for row in _rows(table, EntityHistory(table.entity))}
    last = free_of_underscores(split(path)[-1])
    name = history.name if last in taken and history is not None else last
    if isinstance(table, Dimension):
        columns = table.columns if table.columns != "all" else ()
        return msgspec.structs.replace(table, columns=(*columns, Column(name=name, path=path, history=2)))
    if history is not None and history.type.startswith(("decimal", "float")):
        measure = Column(name=name, path=path, additivity="additive")
        return msgspec.structs.replace(table, measures=(*table.measures, measure))
    return msgspec.structs.replace(table, degenerate=(*table.degenerate, Column(name=name, path=path)))


def with_columns(document: Document, table: Table, paths: Iterable[str]) -> Table:
    """Return a table with some more columns, each as ``with_column`` makes it."""
    for path in paths:
        table = with_column(document, table, path)
    return table


def without_row(table: Table, row: TableRow) -> Table:
    """Return a table without one of its columns or references; parts of the key stay."""
    members = getattr(table, row.part.value, None)
    if not isinstance(members, tuple):
        return table
    left = tuple(one for one in members if one.name != row.name)
    return msgspec.structs.replace(table, **{row.part.value: left})


def with_table(model: Model, name: str, table: Table | None) -> Model:
    """Return a model with a table in the place of the one of a name, or without it."""
    tables = (table if one.name == name else one for one in model.tables)
    return msgspec.structs.replace(model, tables=tuple(one for one in tables if one is not None))


_SETTINGS: dict[type, tuple[str, ...]] = {
    Dimension: ("valid_at", "on_delete"),
    Fact: ("where", "event_time", "on_correction", "on_delete"),
}
"""What is shown of tables that have columns; of others everything is."""


def _settings(table: Table) -> Iterator[TableRow]:
    from metl_gui.formats.model_yaml import member_text  # as above

    names = (field.encode_name for field in msgspec.structs.fields(table) if field.name != "name")
    for name in _SETTINGS.get(type(table), tuple(names)):
        yield TableRow(ColumnPart.SETTING, name, member_text(table, name))


def _rows(table: Dimension | Fact, entity: EntityHistory) -> Iterator[TableRow]:
    key = table.business_key if isinstance(table, Dimension) else () if table.grain == "row" else table.grain
    yield from (TableRow(ColumnPart.KEY, split(path)[-1], path, _own_type(entity, path)) for path in key or entity.key)
    if isinstance(table, Dimension):
        if table.columns == "all":
            yield from _every(entity, key or entity.key)
        else:
            yield from _columns(ColumnPart.COLUMN, table.columns, entity, has_history=True)
    else:
        yield from _columns(ColumnPart.MEASURE, table.measures, entity)
        yield from _columns(ColumnPart.DEGENERATE, table.degenerate, entity)
    yield from (TableRow(ColumnPart.REFERENCE, one.name, _leads_to(one)) for one in table.references)


def _columns(
    part: ColumnPart, columns: Iterable[Column], entity: EntityHistory, *, has_history: bool = False
) -> Iterator[TableRow]:
    from metl_gui.formats.model_yaml import tests_text  # as above

    for one in columns:
        type_ = one.type or _own_type(entity, one.path)
        history = one.history if has_history else None
        yield TableRow(part, one.name, one.path or one.expression, type_, history, tests_text(one.tests))


def _every(entity: EntityHistory, key: tuple[str, ...]) -> Iterator[TableRow]:
    found = (one for one in entity.columns if one.path not in key)
    yield from (TableRow(ColumnPart.EVERY, one.name, one.path, f"({one.type})", 1) for one in found)


def _own_type(entity: EntityHistory, path: str) -> str:
    found = entity.at_path(path) if path else None
    return f"({found.type})" if found is not None else ""


def _leads_to(reference: Reference) -> str:
    if isinstance(reference.on, str):
        return f"{reference.on} → {reference.dimension}"
    return f"{', '.join(left for left, _ in reference.on)} → {reference.dimension}"
