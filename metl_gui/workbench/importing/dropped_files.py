"""What files are that somebody drops on the window: projects, schemas, tables, answers, messages; nothing is applied.

Every file is only looked at, so whatever it holds ends in a kind or in a refusal with its reason.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import msgspec
from msgspec.structs import replace

from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.project.reader_result import ReaderResult, SkippedSource
from metl_gui.core.project.source_formats import Format
from metl_gui.core.trees.declarations import VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.trees import ReadableTree
from metl_gui.errors import ProjectError, SchemaError, UserError
from metl_gui.registry.files import sources as folders
from metl_gui.registry.files.format_detection import detect, is_data_file
from metl_gui.registry.messages.schema_inference import have_same_paths
from metl_gui.registry.tables import mapping_table
from metl_gui.registry.tables.workbook import is_workbook, read_sheet, sheet_names
from metl_gui.store.sqlite.connection import SUFFIX, is_database, require_project
from metl_gui.values import Value
from metl_gui.workbench.importing.foreign_table import foreign_head
from metl_gui.workbench.importing.source_names import continued
from metl_gui.workbench.review.answer_sheet import ANSWER, KEY, SHEET

MOST_FILES = 20_000
"""A folder with more is hardly meant: it would be read for minutes."""

MOST_MESSAGE_BYTES = 64_000_000
"""Of more messages the schemas are read when somebody wants them, not at once."""

_TABLE_SUFFIXES = (".csv", ".tsv")


class FoundTable(Value):
    """A mapping table.

    Args:
        path: the file.
        rows: elements that it lists.
        problems: lines that cannot be used.
    """

    path: Path
    rows: int
    problems: int


class UnreadTable(Value):
    """A table of another shape, which may be a mapping once somebody says which of its columns is what.

    Args:
        path: the file.
        titles: of its columns.
    """

    path: Path
    titles: tuple[str, ...]


class FoundSheet(Value):
    """An answer sheet.

    Args:
        path: the file.
        rows: lost elements that it asks about.
        answered: rows with an answer.
    """

    path: Path
    rows: int
    answered: int


class RecognizedFiles(Value):
    """What some files are.

    Args:
        projects: project files.
        schemas: versions that were read from schema files.
        schema_files: how many files these are.
        tables: mapping tables.
        messages: files of messages.
        message_bytes: their size.
        message_source: what to name so that a run reads them, a file or a folder.
        refused: everything else, and why.
        sheets: answer sheets.
        message_schemas: versions that the messages are of; ``None`` where these are too many to be read at once.
        unread_tables: tables of another shape.
    """

    projects: tuple[Path, ...] = ()
    schemas: ReaderResult = msgspec.field(default_factory=ReaderResult)
    schema_files: int = 0
    tables: tuple[FoundTable, ...] = ()
    messages: tuple[Path, ...] = ()
    message_bytes: int = 0
    message_source: str = ""
    refused: tuple[SkippedSource, ...] = ()
    sheets: tuple[FoundSheet, ...] = ()
    message_schemas: ReaderResult | None = None
    unread_tables: tuple[UnreadTable, ...] = ()


class Novelty(Value):
    """How much of some schemas a tree does not know yet.

    Args:
        schemas: how many they are, by name.
        new_schemas: names that the tree does not have.
        versions: how many versions.
        new_versions: versions whose content neither the tree nor one before among them has: so many would be added.
        new: the names of these schemas, each with the labels of its versions, empty for a version without one.
    """

    schemas: int
    new_schemas: int
    versions: int
    new_versions: int
    new: tuple[tuple[str, tuple[str, ...]], ...] = ()


def recognize(sources: Sequence[Path], watch: Watch = UNWATCHED) -> RecognizedFiles:
    """Inspect files and everything in folders.

    Raises:
        SchemaError: there are too many files to look at.
    """
    _check_number(sources, watch)
    found, refused = folders.find([source for source in sources if not _is_project(source)])
    projects: list[Path] = []
    for source in sources:
        if _is_project(source):
            _sort_project(source, projects, refused)
    schemas: list[Path] = []
    tables: list[FoundTable | UnreadTable] = []
    messages: list[Path] = []
    sheets: list[FoundSheet] = []
    for at, file in enumerate(found):
        watch.step(f"Looking at {file.path.name}", at, len(found))
        path = file.path
        if _is_project(path):
            _sort_project(path, projects, refused)
        elif is_workbook(path):
            _sort_workbook(path, sheets, tables, refused)
        elif path.suffix.lower() in _TABLE_SUFFIXES:
            _sort_table(path, tables, refused)
        else:
            _sort_other(path, schemas, messages, refused)
    reading = _read(schemas, watch)
    message_bytes = sum(path.stat().st_size for path in messages if path.exists())
    return RecognizedFiles(
        tuple(projects),
        replace(reading, refused=()),
        len(schemas),
        tuple(table for table in tables if isinstance(table, FoundTable)),
        tuple(messages),
        message_bytes,
        _source_of(sources, messages),
        (*refused, *reading.refused),
        tuple(sheets),
        _read(messages, watch) if message_bytes <= MOST_MESSAGE_BYTES else None,
        tuple(table for table in tables if isinstance(table, UnreadTable)),
    )


def _read(files: Sequence[Path], watch: Watch) -> ReaderResult:
    return folders.read(files, entering=lambda path: watch.step(f"Reading {path.name}")) if files else ReaderResult()


class _Contents(Value):
    """What versions of one schema are known: by their fingerprints, and by their paths for inferred ones."""

    prints: set[str]
    paths: list[frozenset[str]]

    @classmethod
    def of(cls, tree: ReadableTree, name: str) -> Self:
        schema = tree.named(name)
        versions = list(tree.versions(schema.id)) if schema is not None else []
        paths = [frozenset(attribute.path for attribute in version.attributes) for version in versions]
        return cls({version.fingerprint for version in versions}, paths)

    def add(self, declared: VersionDeclaration) -> bool:
        """Add what a version declares; return whether it was not known (``schema_import.known_version``)."""
        is_known = declared.fingerprint in self.prints or (
            declared.inferred and any(have_same_paths(own, declared.attributes) for own in self.paths)
        )
        if not is_known:
            self.prints.add(declared.fingerprint)
            self.paths.append(frozenset(attribute.path for attribute in declared.attributes))
        return not is_known


def novelty(reading: ReaderResult, document: Document, side: Side) -> Novelty:
    """Compare schemas with a tree.

    Counted as an import counts: of schemas that go on under another name, and of inferred versions, whose types say
    little, too. Cost: linear in the versions of the schemas that have the same names.
    """
    tree = document.tree(side)
    names = {declaration.name for declaration in reading.declarations}
    known = sum(tree.named(name) is not None for name in names)
    contents: dict[str, _Contents] = {}
    new: dict[str, list[str]] = {}
    for each in continued(tree, reading).declarations:
        if each.name not in contents:
            contents[each.name] = _Contents.of(tree, each.name)
        if contents[each.name].add(each):
            new.setdefault(each.name, []).append(each.label or "")
    named = tuple((name, tuple(labels)) for name, labels in sorted(new.items()))
    added = sum(len(labels) for _, labels in named)
    return Novelty(len(names), len(names) - known, len(reading.declarations), added, named)


def likely_side(reading: ReaderResult, document: Document) -> Side:
    """Return which tree schemas belong to: the one that knows more of their names, else extraction."""
    known = {side: novelty(reading, document, side) for side in Side}
    more_in_cdm = known[Side.CDM].new_schemas < known[Side.EXTRACTION].new_schemas
    return Side.CDM if more_in_cdm else Side.EXTRACTION


def _check_number(sources: Sequence[Path], watch: Watch) -> None:
    count = 0
    for source in sources:
        for _, _, names in os.walk(source):
            watch.step(f"Looking into {source.name}")
            count += len(names)
            if count > MOST_FILES:
                raise SchemaError(
                    f"{source.name or source} holds more than {MOST_FILES:,} files.",
                    "Nothing was read.",
                    "Drop the folder that holds the schemas or messages alone.",
                )


def _is_project(path: Path) -> bool:
    if path.suffix.lower() == SUFFIX:
        return True
    try:
        return path.is_file() and is_database(path)
    except OSError:
        return False


def _sort_project(path: Path, projects: list[Path], refused: list[SkippedSource]) -> None:
    try:
        require_project(path)
    except (ProjectError, OSError) as error:
        refused.append(SkippedSource(str(path), _reason(error)))
    else:
        projects.append(path)


def _sort_table(path: Path, tables: list[FoundTable | UnreadTable], refused: list[SkippedSource]) -> None:
    try:
        tables.append(_table_of(path))
    except SchemaError as error:
        refused.append(SkippedSource(str(path), _reason(error)))


def _table_of(path: Path) -> FoundTable | UnreadTable:
    head = foreign_head(path)
    if head is not None:
        return UnreadTable(path, head.titles)
    table = mapping_table.read_table(path)
    return FoundTable(path, len(table.rows), len(table.problems))


def _sort_workbook(
    path: Path, sheets: list[FoundSheet], tables: list[FoundTable | UnreadTable], refused: list[SkippedSource]
) -> None:
    """Take a workbook for answers when it has their sheet, or when it is no table either; else for a mapping."""
    try:
        names = sheet_names(path)
        if SHEET not in names:
            try:
                tables.append(_table_of(path))
            except SchemaError:
                if mapping_table.SHEET in names:
                    raise
            else:
                return
        sheet = read_sheet(path, SHEET, (ANSWER, KEY))
    except SchemaError as error:
        refused.append(SkippedSource(str(path), _reason(error)))
    else:
        sheets.append(FoundSheet(path, len(sheet.rows), sum(bool(row.cells[ANSWER]) for row in sheet.rows)))


def _sort_other(path: Path, schemas: list[Path], messages: list[Path], refused: list[SkippedSource]) -> None:
    try:
        found = detect(path)
    except SchemaError as error:
        refused.append(SkippedSource(str(path), _reason(error)))
        return
    match found.format:
        case Format.JSON_SCHEMA | Format.CONNECT_SCHEMA:
            schemas.append(path)
        case Format.AVRO:
            schemas.append(path)
            if is_data_file(path):
                messages.append(path)
        case Format.CONNECT_JSON:
            messages.append(path)
        case _:
            refused.append(SkippedSource(str(path), found.reason))


def _source_of(sources: Sequence[Path], messages: Sequence[Path]) -> str:
    """Name what a run can read: the one file, else the folder that they lie in."""
    if not messages:
        return ""
    if len(messages) == 1:
        return str(messages[0])
    named = [source for source in sources if source.is_dir()]
    if len(named) == 1 and all(path.is_relative_to(named[0]) for path in messages):
        return str(named[0])
    return os.path.commonpath([path.parent for path in messages])


def _reason(error: Exception) -> str:
    if isinstance(error, UserError):
        return str(error)
    return f"It cannot be read: {error}."
