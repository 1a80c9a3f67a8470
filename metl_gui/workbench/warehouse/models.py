"""Warehouse models of a project: import and export as YAML, single values, checks, and a first proposal.

Source: docs/reference/warehouse-model.md; docs/reference/commands.md, "metl warehouse".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from metl_gui.core.changes.draft import Edit
from metl_gui.core.dimensional.models.checks import check_model
from metl_gui.core.dimensional.models.proposals import proposed_model
from metl_gui.core.edits.warehouse import RemoveModel, SetModel
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.core.warehouse_model import Model, Table, plain
from metl_gui.errors import EditError, SchemaError, near_names
from metl_gui.formats.model_yaml import read_model, with_values, write_model
from metl_gui.formats.row_expressions import named_attributes
from metl_gui.formats.yaml_nodes import MAX_BYTES
from metl_gui.registry.documents import decode, read_bytes
from metl_gui.workbench.atomic_files import write_whole
from metl_gui.workbench.json_results import JsonResult
from metl_gui.workbench.session import EditOrigin, Workbench
from metl_gui.workbench.warehouse.expression_checks import expression_problems
from metl_gui.workbench.warehouse.table_rows import (
    ColumnPart,
    free_attributes,
    table_rows,
    with_columns,
    with_table,
    without_row,
)

_MOST_NAMED = 5
_DROPPED = (ColumnPart.COLUMN, ColumnPart.MEASURE, ColumnPart.DEGENERATE, ColumnPart.REFERENCE)


class ModelEdit(JsonResult):
    """What became of a model.

    Args:
        state: the state that has it; the current one where nothing was changed.
        model: its name.
        title: what was done, or would be.
        is_changed: whether there was anything to do.
        tables: names of its tables.
        problems: what the checks find in it.
    """

    state: int
    model: str
    title: str
    is_changed: bool
    tables: tuple[str, ...]
    problems: tuple[Problem, ...]


class ModelCheck(JsonResult):
    """What the checks of models find: errors first, then by place."""

    problems: tuple[Problem, ...]

    @property
    def has_errors(self) -> bool:
        """Whether there is an error among them."""
        return any(problem.severity is Severity.ERROR for problem in self.problems)

    @property
    def summary(self) -> str:
        """How many problems there are of each severity, in words."""
        found = Counter(problem.severity.value for problem in self.problems)
        counts = (f"{found[each]} {each}{'' if found[each] == 1 else 's'}" for each in Severity if found[each])
        return ", ".join(counts) or "no problems"


class ModelContent(JsonResult):
    """A model as it stands in a project.

    Args:
        state: the state.
        model: the model.
    """

    state: int
    model: Model

    def as_json(self) -> dict[str, Any]:
        """Return the document: members of the model as a file names them, and the kind of a table beside its name."""
        return {"state": self.state, **plain(self.model)}

    @property
    def text(self) -> str:
        """The model as a file."""
        return write_model(self.model)


class ModelExport(JsonResult):
    """A model that was written to a file."""

    state: int
    model: str
    path: Path


def model_of(document: Document, name: str = "") -> Model:
    """Return a model by its name, the only one by default.

    Raises:
        EditError: there is none of that name, or none or several where it is left out.
    """
    names = [model.name for model in document.models]
    if not names:
        hint = "Make one with metl warehouse propose, or import a file."
        raise EditError(f"There is no warehouse model{f' {name}' if name else ''} in the project.", hint=hint)
    if not name and len(names) > 1:
        raise EditError("The project has several warehouse models.", hint=f"Choose one: --model {' or '.join(names)}.")
    found = document.model(name or names[0])
    if found is None:
        near = near_names(name, names) or f"There is {', '.join(names)}."
        raise EditError(f"There is no warehouse model {name} in the project.", hint=near)
    return found


def model_content(workbench: Workbench, name: str = "") -> ModelContent:
    """Return a model.

    Raises:
        EditError: see ``model_of``.
    """
    return ModelContent(workbench.document.state, model_of(workbench.document, name))


def import_model(workbench: Workbench, path: Path, *, dry_run: bool = False) -> ModelEdit:
    """Read a model from a file, in place of the one of its name.

    Raises:
        SchemaError: the file cannot be read; every mistake is told with its line.
        EditError: its name is none.
    """
    return set_model(workbench, model_in(path), dry_run=dry_run)


def model_in(path: Path) -> Model:
    """Read a model from a file.

    Raises:
        SchemaError: it cannot be read; every mistake is told with its line.
    """
    try:
        return read_model(decode(read_bytes(path, MAX_BYTES)))
    except SchemaError as error:
        raise SchemaError(f"{path.name}: {error.title}", error.text, error.hint) from error


def export_model(workbench: Workbench, path: Path, name: str = "") -> ModelExport:
    """Write a model to a file.

    Raises:
        EditError: see ``model_of``.
        ProjectError: it cannot be written.
    """
    found = model_content(workbench, name)
    write_whole(path, found.text.encode())
    return ModelExport(found.state, found.model.name, path)


def set_model(
    workbench: Workbench, model: Model, door: EditOrigin = EditOrigin.COMMAND, *, dry_run: bool = False
) -> ModelEdit:
    """Put a model into the project.

    Raises:
        EditError: its name is none.
        ProjectError: it cannot be written.
    """
    return _done(workbench, SetModel(model), model, door, dry_run)


def set_values(
    workbench: Workbench, table: str, values: Sequence[tuple[str, str]], name: str = "", *, dry_run: bool = False
) -> ModelEdit:
    """Give members of a table other values; empty ones become the default.

    Args:
        workbench: the project.
        table: name of the table.
        values: by member, see ``formats.model_yaml.with_values``.
        name: of the model, the only one by default.
        dry_run: whether nothing is written.

    Raises:
        EditError: there is no such table or model.
        SchemaError: a member or a value cannot be.
    """
    model = model_of(workbench.document, name)
    changed = with_values(_table_of(model, table), values)
    return set_model(workbench, with_table(model, table, changed), dry_run=dry_run)


def remove_model(workbench: Workbench, name: str = "") -> ModelEdit:
    """Remove a model; what was loaded by it stays in its targets.

    Raises:
        EditError: see ``model_of``.
    """
    model = model_of(workbench.document, name)
    return _done(workbench, RemoveModel(model.name), Model(name=model.name), EditOrigin.COMMAND, dry_run=False)


def propose_model(workbench: Workbench, name: str = "", *, dry_run: bool = False) -> ModelEdit:
    """Put a first model into the project, read off keys, names, references and types.

    Args:
        workbench: the project.
        name: of the model, by default that of the project's file.
        dry_run: whether nothing is written.

    Raises:
        EditError: there is a model of that name, or nothing is mapped that could be in one.
    """
    name = name or workbench.path.stem
    if workbench.document.model(name) is not None:
        hint = "Export it and change the file, or propose another one: --model NAME."
        raise EditError(f"There is a warehouse model {name} already.", hint=hint)
    return set_model(workbench, proposal(workbench.document, name), dry_run=dry_run)


def proposal(document: Document, name: str) -> Model:
    """Return a first model.

    Raises:
        EditError: nothing is mapped that could be in one.
    """
    found = proposed_model(document, name)
    if not found.tables:
        hint = "Say what the key of a mapped entity is first: metl entity PROJECT change ENTITY --key ATTRIBUTE."
        raise EditError("There is nothing to propose a warehouse model of.", hint=hint)
    return found


def add_columns(
    workbench: Workbench, table: str, paths: Sequence[str], name: str = "", *, dry_run: bool = False
) -> ModelEdit:
    """Take attributes of its entity into a table: as columns, numbers of facts as measures.

    Args:
        workbench: the project.
        table: name of the table.
        paths: of the attributes.
        name: of the model; the only one by default.
        dry_run: whether nothing is written.

    Raises:
        EditError: there is no such model or table, or the table cannot take one of the attributes.
    """
    document = workbench.document
    model = model_of(document, name)
    found = _table_of(model, table)
    free = [one.path for one in free_attributes(document, model, found)]
    for path in paths:
        if path not in free:
            hint = near_names(path, free) or (f"It could take {', '.join(free[:_MOST_NAMED])}." if free else "")
            raise EditError(f"{table} cannot take {path} as a column.", "It has it, or its entity has it not.", hint)
    changed = with_columns(document, found, dict.fromkeys(paths))
    return set_model(workbench, with_table(model, table, changed), dry_run=dry_run)


def drop_columns(
    workbench: Workbench, table: str, columns: Sequence[str], name: str = "", *, dry_run: bool = False
) -> ModelEdit:
    """Take columns, measures or references out of a table; the next rebuild takes them out of targets.

    Args:
        workbench: the project.
        table: name of the table.
        columns: their names.
        name: of the model; the only one by default.
        dry_run: whether nothing is written.

    Raises:
        EditError: there is no such model or table, or the table declares no column of one of the names.
    """
    document = workbench.document
    model = model_of(document, name)
    changed = found = _table_of(model, table)
    rows = {one.name: one for one in table_rows(document, model, found) if one.part in _DROPPED}
    for column in columns:
        if column not in rows:
            hint = near_names(column, rows) or "Parts of a business key, and what columns: all takes in, stay."
            raise EditError(f"{table} declares no column {column}.", hint=hint)
        changed = without_row(changed, rows[column])
    return set_model(workbench, with_table(model, table, changed), dry_run=dry_run)


def _table_of(model: Model, table: str) -> Table:
    found = model.table(table)
    if found is None:
        names = [one.name for one in model.tables]
        hint = near_names(table, names) or f"Its tables are {', '.join(names)}."
        raise EditError(f"There is no table {table} in the warehouse model {model.name}.", hint=hint)
    return found


def check_models(document: Document, name: str = "", *, production: bool = False) -> ModelCheck:
    """Check one model, or all of a state.

    Args:
        document: the state.
        name: of the model; all where it is empty.
        production: what no published block maps is an error.

    Raises:
        EditError: there is no such model.
    """
    models = (model_of(document, name),) if name else document.models
    found = [problem for model in models for problem in _problems(document, model, production=production)]
    return ModelCheck(tuple(sorted(found, key=lambda problem: list(Severity).index(problem.severity))))


def _problems(document: Document, model: Model, *, production: bool = False) -> tuple[Problem, ...]:
    found = check_model(document, model, named_attributes, production=production)
    if any(problem.severity is Severity.ERROR for problem in found):
        return found
    return (*expression_problems(document, model), *found)


def _done(workbench: Workbench, edit: Edit, model: Model, door: EditOrigin, dry_run: bool) -> ModelEdit:
    before = workbench.document
    title = edit.title(before)
    is_changed = before.model(model.name) != model
    if not dry_run:
        is_changed = workbench.do(edit, door).after.state != before.state
    tables = tuple(table.name for table in model.tables)
    problems = _problems(workbench.document, model) if model.tables else ()
    return ModelEdit(workbench.document.state, model.name, title, is_changed, tables, problems)
