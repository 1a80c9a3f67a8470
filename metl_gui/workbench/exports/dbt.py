"""``dbt``: a project with a staging model for each schema and entity, its sources, docs and tests.

Source: docs/architecture/model.md, "Algorithms" (A6); docs/reference/message.md.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metl_gui import __version__
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.trees.nodes import Schema
from metl_gui.workbench.exports.blocks import ExportedBlock
from metl_gui.workbench.exports.format_spec import TABLES, Choices, Export, Option, slug, table_parts, unique_names
from metl_gui.workbench.exports.mappable_blocks import ColumnMasks, LeftOut, MappedVersion, common_type, mapped_schemas
from metl_gui.workbench.exports.sql import (
    COLUMN,
    DIALECT,
    LIMITS,
    LONGEST_NAMES,
    ROWS,
    SOURCE,
    QueryNotes,
    reader_of,
    refused_names,
    tellings,
)

if TYPE_CHECKING:
    from metl_gui.workbench.exports.sql_select import QueryColumn, SourceReader

PROFILE = Option("profile", "the connection of ~/.dbt/profiles.yml that the project uses", "metl")

_ANY_SCHEMA = "{{ var('metl_schema', target.schema) }}"
"""Where tables lie whose names say no database schema."""

_OPENS = re.compile(r"\{(?=[{%#])|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""What templates would take for their own, and ends of lines that they or files would write otherwise."""
_README = """\
# Staging models of the canonical data model

State {state} of the matrix ({hash}), exported by METL Workbench {version}.

One model for each schema and entity, a view by default; the names and meanings of its columns are those of the
canonical model. `models/staging/*/_sources.yml` says which tables are read: change it where yours lie elsewhere.
Tables that are named there without a schema of the database are looked for in that of the connection, or in the one
that `--vars '{{metl_schema: NAME}}'` names.

    dbt parse
    dbt run
    dbt test

Put a connection named `{profile}` into `~/.dbt/profiles.yml`, or name yours in `dbt_project.yml`. It is written for
{dialect}. Tests look whether mapped keys are there{unique}.
"""


@dataclass(slots=True)
class DbtModel:
    """One model.

    Args:
        schema: the schema whose table it reads.
        blocks: one block of each version that it is for, oldest first.
        columns: what it returns.
        sql: its query, with ``table`` where the source is named.
        table: the name that stands for the source.
        masked: CDM paths that people must not see in the window.
        name: of the model, once all are known.
    """

    schema: Schema
    blocks: tuple[ExportedBlock, ...]
    columns: tuple[QueryColumn, ...]
    sql: str
    table: str
    masked: frozenset[str]
    name: str = ""

    @property
    def newest(self) -> ExportedBlock:
        """The block of the newest version."""
        return self.blocks[-1]


@dataclass(slots=True)
class DbtSource:
    """The tables of one database schema; names are those that models use, with the tables' own."""

    name: str
    database: str
    tables: dict[str, Schema] = field(default_factory=dict)


def models(document: Document, choices: Choices, watch: Watch, notes: QueryNotes) -> Iterator[DbtModel]:
    """Yield the models that can be made, in canonical order."""
    reader, masks = reader_of(choices), ColumnMasks(document)
    for schema, carried in mapped_schemas(document, choices.include_unconfirmed, watch, "Writing models"):
        mapped = carried if reader.has_changes else tuple(_newest(document, schema, carried, notes))
        told = tellings(document, schema, carried, reader)
        by_entity: dict[int, list[tuple[MappedVersion, ExportedBlock]]] = {}
        for one in mapped:
            notes.left_out += one.left_out
            for block in () if one.has_held else one.blocks:
                telling = told[one.version.id]
                why = (telling.why if telling else "") or refused_names(document, one, block, reader)
                if why:
                    notes.left_out.append(LeftOut(block.names, why))
                else:
                    by_entity.setdefault(block.entity_version.id, []).append((one, block))
        for pairs in by_entity.values():
            model = _model(reader, pairs, told, masks, LONGEST_NAMES[choices.of(DIALECT)])
            if isinstance(model, str):
                notes.left_out += [LeftOut(block.names, model) for _, block in pairs]
            else:
                notes.masked += len(model.masked)
                yield model


def _newest(
    document: Document, schema: Schema, carried: Sequence[MappedVersion], notes: QueryNotes
) -> Iterator[MappedVersion]:
    """Yield what a table of rows has: the newest version alone."""
    newest = document.extraction.versions(schema.id)[-1]
    for one in carried:
        if one.version.id == newest.id:
            yield one
        else:
            why = "a table of rows has the columns of the newest version alone"
            notes.left_out += [LeftOut(block.names, why) for block in one.blocks]


def _model(
    reader: SourceReader,
    pairs: Sequence[tuple[MappedVersion, ExportedBlock]],
    told: Any,
    masks: ColumnMasks,
    longest: int,
) -> DbtModel | str:
    from metl_gui.workbench.exports.sql_select import block_select, table_of, union

    newest = pairs[-1][1]
    marker = f"metl_source_{sha256(json.dumps(newest.names).encode()).hexdigest()[:16]}"
    queries, all_columns = [], _joined(pairs, longest)
    for (one, _), columns in zip(pairs, all_columns, strict=True):
        query = block_select(reader, table_of("", marker), one, columns, told[one.version.id])
        if isinstance(query, str):
            return query
        queries.append(query)
    sql = union(queries).sql(dialect=reader.dialect, pretty=True, copy=False)
    blocks = tuple(block for _, block in pairs)
    masked = frozenset(path for block in blocks for path in masks.of(block))
    quoted = table_of("", marker).sql(dialect=reader.dialect)
    return DbtModel(newest.schema, blocks, all_columns[-1], sql, quoted, masked)


def _joined(pairs: Sequence[tuple[MappedVersion, ExportedBlock]], longest: int) -> list[tuple[QueryColumn, ...]]:
    """Return the columns of each version, the same ones for all: what a version does not map stays null there."""
    from metl_gui.workbench.exports.sql_select import QueryColumn, columns_of, named

    own = [{column.path: column for column in columns_of(one, block, longest)} for one, block in pairs]
    order = {attribute.path: at for at, attribute in enumerate(pairs[-1][1].entity_version.attributes)}
    paths = list(dict.fromkeys(path for columns in reversed(own) for path in columns))
    paths.sort(key=lambda path: order.get(path, len(order)))
    found: list[list[QueryColumn]] = [[] for _ in own]
    for path in paths:
        known = [columns[path] for columns in own if path in columns]
        sources = [column.source for column in known if column.source is not None]
        target = known[-1].target
        type_ = common_type(sources, target or sources[-1]) if sources else known[-1].type
        for at, columns in enumerate(own):
            column = columns.get(path)
            source, is_key = (column.source, column.is_key) if column else (None, known[-1].is_key)
            found[at].append(QueryColumn("", path, type_, source, target, is_key))
    return [named(columns, longest) for columns in found]


def _write(document: Document, choices: Choices, path: Path, watch: Watch) -> tuple[str, ...]:
    notes, dialect = QueryNotes(), choices.of(DIALECT)
    found = list(models(document, choices, watch, notes))
    _name(found, LONGEST_NAMES[dialect])
    sources = _sources(found, choices.of(TABLES))
    facts = {"state": document.state, "hash": state_hash(document)}
    for source in sources:
        folder = path / "models" / "staging" / source.name
        folder.mkdir(parents=True)
        tables = {schema.id: name for name, schema in source.tables.items()}
        own = [model for model in found if model.schema.id in tables]
        _write_yaml(folder / "_sources.yml", {"version": 2, "sources": [_told_source(source, choices)]})
        told = [_told_model(model, choices.of(SOURCE) == ROWS, facts) for model in own]
        _write_yaml(folder / "_models.yml", {"version": 2, "models": told})
        for model in own:
            reference = f"{{{{ source('{source.name}', '{tables[model.schema.id]}') }}}}"
            sql = reference.join(_plain(part) for part in model.sql.split(model.table))
            (folder / f"{model.name}.sql").write_text(f"{sql}\n", encoding="utf-8")
    project = {
        "name": f"metl_{slug(choices.beside.project)}" if choices.beside.project else "metl",
        "version": "1.0.0",
        "config-version": 2,
        "profile": choices.of(PROFILE),
        "model-paths": ["models"],
    }
    _write_yaml(path / "dbt_project.yml", project)
    unique = " and, where a key is one column, whether each is there once" if choices.of(SOURCE) == ROWS else ""
    readme = _README.format(**facts, version=__version__, profile=choices.of(PROFILE), dialect=dialect, unique=unique)
    (path / "README.md").write_text(readme, encoding="utf-8")
    return notes.sentences()


def _name(found: Sequence[DbtModel], longest: int) -> None:
    """Give models their names; the entity version is in it where a schema feeds several of an entity."""
    fed = Counter((model.schema.id, model.newest.entity.id) for model in found)
    wanted = []
    for model in found:
        is_one = fed[model.schema.id, model.newest.entity.id] == 1
        version = "" if is_one else f"__{slug(model.newest.entity_version.label)}"
        name = f"stg_{slug(model.schema.name)}__{slug(model.newest.entity.name)}{version}"
        wanted.append((name, json.dumps([model.schema.name, *model.newest.names[2:]])))
    for model, name in zip(found, unique_names(wanted, longest), strict=True):
        model.name = name


def _sources(found: Sequence[DbtModel], naming: str) -> list[DbtSource]:
    """Group the tables that are read by the database schema that they lie in."""
    parts = {model.schema.id: table_parts(model.schema.name, naming) for model in found}
    schemas = {model.schema.id: model.schema for model in found}
    by_database: dict[str, list[Schema]] = {}
    for id_, (database, _) in parts.items():
        by_database.setdefault(database, []).append(schemas[id_])
    names = unique_names([(slug(database or "raw"), database) for database in by_database], 100)
    sources = []
    for name, (database, inside) in zip(names, by_database.items(), strict=True):
        tables = unique_names([(slug(parts[schema.id][1]), schema.name) for schema in inside], 100)
        sources.append(DbtSource(name, database, dict(zip(tables, inside, strict=True))))
    return sources


def _told_source(source: DbtSource, choices: Choices) -> dict[str, Any]:
    tables = [
        {
            "name": name,
            "identifier": _named(table_parts(schema.name, choices.of(TABLES))[1]),
            "description": _named(f"Rows of {schema.name}."),
        }
        for name, schema in source.tables.items()
    ]
    return {
        "name": source.name,
        "schema": _named(source.database) if source.database else _ANY_SCHEMA,
        "quoting": {"schema": True, "identifier": True},
        "tables": tables,
    }


def _told_model(model: DbtModel, has_rows: bool, facts: dict[str, Any]) -> dict[str, Any]:
    newest = model.newest
    mapped = {line.target.id: line.source for line in newest.lines}
    keys = [column for column in model.columns if column.is_key and column.source is not None]
    columns = []
    for column in model.columns:
        told: dict[str, Any] = {"name": _named(column.name), "quote": True}
        words = [column.target.doc if column.target else "A part of the key that is not mapped."]
        source = mapped.get(column.target.id) if column.target else column.source
        words.append(f"From {model.schema.name}.{source.path}." if source else "")
        words.append("Masked for people in METL Workbench." if column.path in model.masked else "")
        told["description"] = _named(" ".join(word for word in words if word))
        tests = ["not_null"] if column in keys else []
        if has_rows:
            tests += ["unique"] if keys == [column] else []
            is_there = source is not None and not source.optional
            tests += ["not_null"] if not tests and column.target and not column.target.optional and is_there else []
        if tests:
            told["data_tests"] = tests
        columns.append(told)
    names = {"schema": newest.names[0], "entity": newest.names[2], "entity_version": newest.names[3]}
    meta = {name: _named(value) for name, value in names.items()} | facts
    meta["versions"] = [_named(block.version.label) for block in model.blocks]
    entity = f"{newest.entity.name} of version {newest.entity_version.label}"
    return {
        "name": model.name,
        "description": _named(f"{model.schema.name} as {entity} of the canonical model."),
        "config": {"meta": {"metl": meta}},
        "columns": columns,
    }


def _plain(text: str) -> str:
    """Write a text so that dbt's templates give it back as it is."""
    return _OPENS.sub(_escaped, text)


def _named(text: str) -> str:
    """Write a value of a YAML file in the same way; templates would drop a line feed at its end."""
    return _plain(text).replace("\n", "{{ '\\n' }}")


def _escaped(found: re.Match[str]) -> str:
    sign = found.group()
    written = sign if sign == "{" else f"\\u{ord(sign):04x}"
    return f"{{{{ '{written}' }}}}"


def _write_yaml(path: Path, content: object) -> None:
    import yaml  # the window loads this list of formats long before anybody exports

    path.write_text(
        yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120), encoding="utf-8", newline="\n"
    )


DBT = Export(
    "dbt",
    "A dbt project: staging models with sources, docs and tests",
    "",
    _write,
    is_folder=True,
    limits=LIMITS,
    options=(DIALECT, SOURCE, TABLES, COLUMN, PROFILE),
    leavings=("target", "logs", "dbt_packages", ".user.yml", "package-lock.yml"),
)
