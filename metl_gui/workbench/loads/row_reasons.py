"""Why a row of a target is as it is: the messages that brought it, the cells that mapped them, and who set these."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import msgspec

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.dimensional.loads.row_reasons import ColumnReason, MessageOrigin, ReferringRow, RowReason
from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Schema
from metl_gui.core.trees.trees import ReadableTree
from metl_gui.errors import RunError
from metl_gui.formats.hidden_values import HIDDEN
from metl_gui.values import Value
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.key_history import grains_of
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape, FactShape, MemberShape, TableShapes
from metl_gui.warehouse.row_reasons import row_reason
from metl_gui.warehouse.status import mode_of
from metl_gui.workbench.addresses import block_name, element_name
from metl_gui.workbench.history.blame import BlameEvent, blame
from metl_gui.workbench.loads.hidden_columns import hidden_columns
from metl_gui.workbench.loads.target_documents import document_of, find_any_target
from metl_gui.workbench.loads.warehouse_loads import target_tables
from metl_gui.workbench.session import Workbench

_EXAMPLE = 'Give the parts of the key by name: {"customer_id": 7}.'
_SURROGATE = re.compile("[\ud800-\udfff]")


class SourceCell(Value):
    """The cell of the matrix that mapped an attribute.

    Args:
        attribute: column of the history.
        message: the message that it mapped.
        block: the block, empty where it is not mapped so today.
        source, target: paths of the attributes.
        decision: the edit that set it; ``None`` where the history does not reach back to it.
        key, element: the cell, for jumps to it.
    """

    attribute: str
    message: MessageOrigin
    block: str = ""
    source: str = ""
    target: str = ""
    decision: BlameEvent | None = None
    key: BlockKey | None = None
    element: Element | None = None

    @property
    def words(self) -> str:
        """Return it in words."""
        if not self.block:
            return "mapped by a cell that is not in the matrix today"
        one = self.decision
        told = f"set by {one.who}, {one.when}, in state {one.state} ({one.title})" if one else "set before the history"
        return f"{self.source} -> {self.target} in {self.block}, {told}"

    def as_json(self) -> dict[str, Any]:
        """Return the document."""
        return {
            "attribute": self.attribute,
            "message": msgspec.to_builtins(self.message),
            "block": self.block,
            "from": self.source,
            "to": self.target,
            "decision": self.decision.as_json() if self.decision is not None else None,
        }


class ExplainedRow(Value):
    """Why a row is as it is.

    Args:
        reason: by its messages.
        cells: by column, what mapped them.
        referring: of each row because of which it is inferred, what mapped what the row refers by.
    """

    reason: RowReason
    cells: tuple[tuple[str, tuple[SourceCell, ...]], ...]
    referring: tuple[tuple[SourceCell, ...], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl warehouse why``."""
        one = self.reason
        columns = [
            {
                "column": column.column,
                "value": column.value,
                "how": column.how,
                "is_expression": column.is_expression,
                "cells": [cell.as_json() for cell in cells],
            }
            for column, (_, cells) in zip(one.columns, self.cells, strict=True)
        ]
        referring = [
            {
                "table": row.table,
                "key": list(row.key),
                "role": row.role,
                "rows": row.rows,
                "cells": [cell.as_json() for cell in cells],
            }
            for row, cells in zip(one.inferred_by, self.referring, strict=True)
        ]
        return {
            "table": one.table,
            "key": list(one.key),
            "version": one.version,
            "since": one.since.isoformat() if one.since is not None else None,
            "until": one.until.isoformat() if one.until is not None else None,
            "is_inferred": one.is_inferred,
            "opened_by": msgspec.to_builtins(one.opened_by) if one.opened_by is not None else None,
            "follows": list(one.follows),
            "columns": columns,
            "inferred_by": referring,
        }


def why_row(
    workbench: Workbench, target: str, table: str, key: str | tuple[str, ...], at: str = "", model: str = ""
) -> ExplainedRow:
    """Tell why a row of a dimension or fact is as it is.

    Args:
        workbench: the opened project.
        target: see ``find_target``.
        table: a dimension or a fact.
        key: of the row, as texts in the order of the table or as a JSON object.
        at: a time in which the version holds, in ISO 8601; empty for the last.
        model: name of the warehouse model; the only one by default.

    Raises:
        EditError: there is no such model, or it has errors.
        RunError: there is no such row, nothing was loaded, or the key is masked or cannot be read.
        TargetError: the target cannot be opened.
    """
    with _opened(workbench, target, table, model) as one:
        parts = _parts(one.shape, key) if isinstance(key, str) else key
        if len(parts) != len(one.shape.key):
            names = ", ".join(part.name for part in one.shape.key)
            raise RunError(f"{', '.join(parts)} is no key of {table}.", hint=f"Give {names}.")
        reason = row_reason(one.target, one.shapes, table, parts, _moment(at) if at else None)
    reason = _shown(reason, one.hidden, one.shapes, one.shape)
    finder = _CellFinder(workbench, one.document, one.shapes.histories[one.shape.entity])
    cells = tuple((each.column, tuple(finder.cells(each))) for each in reason.columns)
    members = {each.table: each for each in (*one.shapes.dimensions, *one.shapes.facts)}
    rows, referring = [], []
    for row in reason.inferred_by:
        shape = members[row.table]
        shown = _shown_row(row, hidden_columns(one.document, one.shapes, shape), one.shapes, shape)
        finder = _CellFinder(workbench, one.document, one.shapes.histories[shape.entity])
        rows.append(shown)
        referring.append(tuple(cell for each in shown.columns for cell in finder.cells(each)))
    return ExplainedRow(msgspec.structs.replace(reason, inferred_by=tuple(rows)), cells, tuple(referring))


def fact_keys(workbench: Workbench, target: str, table: str, model: str = "") -> tuple[tuple[str, ...], ...]:
    """Return the grains of some facts, of which one may ask why they are as they are.

    Raises:
        EditError: there is no such model, or it has errors.
        RunError: it is no fact, nothing was loaded, or the key is masked.
        TargetError: the target cannot be opened.
    """
    with _opened(workbench, target, table, model) as one:
        if not isinstance(one.shape, FactShape):
            raise RunError(f"{table} is no fact of {one.shapes.model.name}.")
        return grains_of(one.target, one.shape)


class _OpenedTable(Value):
    """A dimension or fact of an opened target, by the state that the target goes by, and its masked attributes."""

    target: WarehouseTarget
    document: Document
    shapes: TableShapes
    shape: DimensionShape | FactShape
    hidden: frozenset[str]


@contextmanager
def _opened(workbench: Workbench, target: str, table: str, model: str) -> Iterator[_OpenedTable]:
    """Open a target at a table whose key people may see.

    Raises:
        RunError: it is no dimension and no fact, nothing was loaded into it, or its key is masked.
    """
    with find_any_target(workbench, target, model).read() as opened:
        mode = mode_of(opened)
    if mode is None:
        raise RunError(f"Nothing was loaded into {target} yet.", hint="Load it first.")
    document = document_of(workbench, mode)
    found, shapes = target_tables(document, target, model)
    members: tuple[DimensionShape | FactShape, ...] = (*shapes.dimensions, *shapes.facts)
    shape = next((one for one in members if one.table == table), None)
    if shape is None:
        tables = ", ".join(one.table for one in members)
        raise RunError(f"{table} is no dimension and no fact of {shapes.model.name}.", hint=f"There are {tables}.")
    hidden = hidden_columns(document, shapes, shape)
    if any(part.source in hidden for part in shape.key):
        raise RunError(f"The key of {table} is masked.", hint="Its values are shown to nobody here.")
    with found.read() as opened:
        if not opened.has_table(table):
            raise RunError("Nothing was loaded into the target yet.", hint="Load it first.")
        yield _OpenedTable(opened, document, shapes, shape, hidden)


def _parts(shape: MemberShape, key: str) -> tuple[str, ...]:
    names = [part.name for part in shape.key]
    try:
        given = json.loads(key, parse_float=str, parse_int=str)
    except ValueError as error:
        raise RunError("The key cannot be read: it is no JSON.", hint=_EXAMPLE) from error
    except RecursionError as error:
        raise RunError("The key cannot be read: it is nested too deeply.", hint=_EXAMPLE) from error
    if not isinstance(given, dict) or sorted(given) != sorted(names):
        raise RunError(f"The key of {shape.table} has the parts {', '.join(names)}.", hint=_EXAMPLE)
    parts = tuple(str(given[one]) for one in names)
    if any(_SURROGATE.search(part) for part in parts):
        text = "A part of it has half of a pair of surrogates, which is no character."
        raise RunError("The key cannot be read.", text, _EXAMPLE)
    return parts


def _moment(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise RunError(f"{text} is no time.", hint="Write it in ISO 8601: 2026-02-14T12:00:00Z.") from error
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _shown(reason: RowReason, hidden: frozenset[str], shapes: TableShapes, shape: MemberShape) -> RowReason:
    """Hide masked values, and keys of source rows that have such in them."""
    hides_rows = _hides_rows(hidden, shapes, shape)
    columns = tuple(_shown_column(one, hidden, hides_rows=hides_rows) for one in reason.columns)
    opened_by = _shown_origin(reason.opened_by, hides_rows=hides_rows) if reason.opened_by is not None else None
    return msgspec.structs.replace(reason, columns=columns, opened_by=opened_by)


def _shown_row(row: ReferringRow, hidden: frozenset[str], shapes: TableShapes, shape: MemberShape) -> ReferringRow:
    """Hide masked values of a row that refers to another one, those of its key too."""
    hides_rows = _hides_rows(hidden, shapes, shape)
    columns = tuple(_shown_column(one, hidden, hides_rows=hides_rows) for one in row.columns)
    key = (HIDDEN if part.source in hidden else value for part, value in zip(shape.key, row.key, strict=True))
    return msgspec.structs.replace(row, columns=columns, key=tuple(key))


def _hides_rows(hidden: frozenset[str], shapes: TableShapes, shape: MemberShape) -> bool:
    """Return whether keys of the source rows of a table have masked values in them."""
    history = shapes.histories[shape.entity]
    of_key = (history.at_path(path) for path in history.key)
    return any(one is not None and one.name in hidden for one in of_key)


def _shown_origin(one: MessageOrigin, *, hides_rows: bool) -> MessageOrigin:
    return msgspec.structs.replace(one, row_key=HIDDEN) if hides_rows else one


def _shown_column(one: ColumnReason, hidden: frozenset[str], *, hides_rows: bool) -> ColumnReason:
    brought = {each: _shown_origin(message, hides_rows=hides_rows) for each, message in one.brought_by.items()}
    value = HIDDEN if hidden.intersection(one.uses) else one.value
    return msgspec.structs.replace(one, value=value, brought_by=brought)


class _CellFinder:
    """Finds the cells that mapped attributes of messages, each decision once."""

    def __init__(self, workbench: Workbench, document: Document, history: EntityHistory) -> None:
        self._workbench, self._document, self._history = workbench, document, history
        self._decisions: dict[tuple[BlockKey, Element], BlameEvent | None] = {}

    def cells(self, column: ColumnReason) -> Iterator[SourceCell]:
        for attribute, message in column.brought_by.items():
            yield self._cell(attribute, message)

    def _cell(self, attribute: str, message: MessageOrigin) -> SourceCell:
        document = self._document
        missing = SourceCell(attribute, message)
        source = _version(document.extraction, message.schema, message.schema_version)
        target = _version(document.cdm, self._history.entity, message.entity_version)
        column = next((one for one in self._history.columns if one.name == attribute), None)
        if source is None or target is None or column is None:
            return missing
        key = (source, target)
        block = document.matrix.block(*key)
        path = column.paths.get(message.entity_version, column.path)
        wanted = document.cdm.version(target).at_path(path)
        element = next((one for one in block.elements if wanted and one.q == wanted.id), None) if block else None
        if block is None or element is None:
            return missing
        if (key, element) not in self._decisions:
            self._decisions[key, element] = self._decision(key, element)
        told = element_name(document, block, element)
        decision = self._decisions[key, element]
        name = str(block_name(document, key) or "")
        return SourceCell(attribute, message, name, told.from_path, told.to_path, decision, key, element)

    def _decision(self, key: BlockKey, element: Element) -> BlameEvent | None:
        block = self._workbench.document.matrix.block(*key)
        is_mapped_today = block is not None and element in block.elements
        return blame(self._workbench, key, element)[0].origin if is_mapped_today else None


def _version(trees: ReadableTree, schema: str, label: str) -> int | None:
    found: Schema | None = trees.named(schema)
    versions = trees.versions(found.id) if found is not None else ()
    return next((one.id for one in versions if one.label == label), None)


def reason_lines(row: ExplainedRow) -> Iterable[str]:
    """Yield why a row is as it is, for people to read."""
    one = row.reason
    title = f"{one.table} {', '.join(one.key)}"
    if one.is_inferred:
        yield f"{title} {one.inferred_words}"
        for referring, cells in zip(one.inferred_by, row.referring, strict=True):
            yield referring.words
            yield from _cell_lines(cells)
        return
    if one.version:
        since = one.since.isoformat() if one.since is not None else "all the time before"
        until = one.until.isoformat() if one.until is not None else "open"
        yield f"{title}, version {one.version}: from {since} to {until}"
    else:
        yield title
    if one.opened_by is not None:
        yield f"  opened by {one.opened_by.words}"
    if one.follows:
        yield f"  opened by a new version of what it refers to: {', '.join(one.follows)}"
    for column, (_, cells) in zip(one.columns, row.cells, strict=True):
        made = ", by an expression" if column.is_expression and column.brought_by else ""
        yield f"{column.column} = {column.value}: {column.how}{made}"
        yield from _cell_lines(cells)


def _cell_lines(cells: Iterable[SourceCell]) -> Iterator[str]:
    for cell in cells:
        yield f"  {cell.attribute} came with {cell.message.words}"
        yield f"    {cell.words}"
