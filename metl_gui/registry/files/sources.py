"""Files, folders and patterns to a reading: what is there, which reader takes it, in which order it is handed over."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from metl_gui.core.project.reader_result import ReaderResult, SkippedSource, merge
from metl_gui.core.project.source_formats import Format
from metl_gui.core.trees.schema_names import of_path
from metl_gui.errors import SchemaError
from metl_gui.registry.documents import unreadable
from metl_gui.registry.files.format_detection import DetectedFormat, detect
from metl_gui.registry.messages import connect_json
from metl_gui.registry.schemas import avro, json_schema
from metl_gui.registry.sql import files as sql_files
from metl_gui.values import Value

_RUNS = re.compile(r"(\d{1,18})")
_PATTERN = re.compile(r"[*?\[]")


class SchemaFile(Value):
    """One file to read.

    Args:
        path: where it is.
        relative: its path below the folder that was named; just its name when it was named itself, with its folder
            before it when the name is nothing but a label.
    """

    path: Path
    relative: str


def read(
    sources: Iterable[str | Path],
    format: Format = Format.AUTO,  # noqa: A002 - the contract's word
    entering: Callable[[Path], None] = lambda _path: None,
    prefix: str = "",
) -> ReaderResult:
    """Read everything that some sources name.

    Each file is imported or refused with a reason; none stops the others. Messages of all files are looked at
    together, so that a schema that lies in several of them comes out once per version.

    Args:
        sources: files, folders and patterns.
        format: how to read the files, ``auto`` to look into each.
        entering: told each file before it is read; what it raises ends the reading.
        prefix: what topics of tables begin with, for files of SQL.
    """
    files, refused = find(sources)
    readings = [ReaderResult(refused=tuple(refused))]
    message_files: list[Path] = []
    avro_files: list[tuple[Path, str]] = []
    statement_files: list[tuple[Path, str]] = []
    for file in files:
        entering(file.path)
        try:
            found = detect(file.path) if format is Format.AUTO else DetectedFormat(format)
        except SchemaError as error:
            found = DetectedFormat(None, str(error))
        match found.format:
            case Format.JSON_SCHEMA:
                readings.append(json_schema.read(file.path, file.relative))
            case Format.CONNECT_SCHEMA:
                readings.append(connect_json.read_schema(file.path, file.relative))
            case Format.AVRO:
                avro_files.append((file.path, file.relative))
            case Format.CONNECT_JSON:
                message_files.append(file.path)
            case found_format if found_format in sql_files.DIALECTS:
                statement_files.append((file.path, file.relative))
            case _:
                readings.append(ReaderResult(refused=(SkippedSource(str(file.path), found.reason),)))
    if avro_files:
        readings.append(avro.read(avro_files))
    if statement_files:
        readings.append(sql_files.read(statement_files, sql_files.DIALECTS.get(format, ""), prefix))
    readings.append(connect_json.read(_entered(message_files, entering)))
    return merge(readings)


def _entered(paths: Iterable[Path], entering: Callable[[Path], None]) -> Iterator[Path]:
    for path in paths:
        entering(path)
        yield path


def find(sources: Iterable[str | Path]) -> tuple[list[SchemaFile], list[SkippedSource]]:
    """List the files that some sources name, each once, and what names none.

    Order: as the sources are named; within a folder or pattern by path, numbers as numbers. Hidden files are skipped.
    """
    files: dict[Path, SchemaFile] = {}
    refused: list[SkippedSource] = []
    for source in sources:
        try:
            found = list(_files(str(source), refused))
        except OSError as error:
            found = []
            refused.append(SkippedSource(str(source), str(unreadable(Path(source), error))))
        except ValueError as error:
            found = []
            refused.append(SkippedSource(str(source), f"It is no pattern: {error}."))
        if not found and not any(refusal.source.startswith(str(source)) for refusal in refused):
            refused.append(SkippedSource(str(source), _why_nothing(str(source))))
        for file in found:
            if _has_text_name(file.path):
                files.setdefault(file.path, SchemaFile(file.path, _naming_path(file)))
            else:
                refused.append(SkippedSource(str(file.path), "Its name is not UTF-8. Rename the file or its folder."))
    return list(files.values()), refused


def _why_nothing(source: str) -> str:
    if Path(source).is_dir() and source:
        return "The folder holds no file. Name one that holds schemas or messages."
    if _PATTERN.search(source):
        return "The pattern matches no file. Quote it, so that the shell does not change it, and check it."
    return "There is no such file. Name a file, a folder or a pattern that matches some."


def _has_text_name(path: Path) -> bool:
    """Whether a path can be stored as text; Linux allows any bytes."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _naming_path(file: SchemaFile) -> str:
    """Put the folder before a file that is called by its label alone: ``rate/1.0.0.yaml`` is a version of rate."""
    if "/" in file.relative:
        return file.relative
    folder = file.path.parent.resolve().name
    below = f"{folder}/{file.relative}"
    return below if folder and of_path(below).name == folder else file.relative


def _files(source: str, refused: list[SkippedSource]) -> Iterator[SchemaFile]:
    path = Path(source)
    if not source:
        return
    if "://" in source:
        refused.append(
            SkippedSource(source, "It is no address that schemas are read from. Name a registry or a database.")
        )
    elif path.is_dir():
        yield from _below(path, refused)
    elif path.exists():
        yield SchemaFile(path, path.name)
    elif _PATTERN.search(source):
        yield from _matching(path)


def _matching(pattern: Path) -> Iterator[SchemaFile]:
    """Yield what a pattern matches; the part before its first placeholder is the folder it lies in."""
    fixed = next(number for number, part in enumerate(pattern.parts) if _PATTERN.search(part))
    folder = Path(*pattern.parts[:fixed])
    found = [match.relative_to(folder).as_posix() for match in folder.glob(str(Path(*pattern.parts[fixed:])))]
    for relative in sorted(found, key=natural_order):
        is_hidden = any(part.startswith(".") for part in Path(relative).parts)
        if not is_hidden and (folder / relative).is_file():
            yield SchemaFile(folder / relative, relative)


def _below(folder: Path, refused: list[SkippedSource]) -> Iterator[SchemaFile]:
    def note(error: OSError) -> None:
        refused.append(
            SkippedSource(str(error.filename or folder), str(unreadable(Path(error.filename or folder), error)))
        )

    found: list[str] = []
    for place, folders, names in os.walk(folder, onerror=note):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found.extend(os.path.relpath(Path(place) / name, folder) for name in names if not name.startswith("."))
    for relative in sorted(found, key=natural_order):
        yield SchemaFile(folder / relative, Path(relative).as_posix())


def natural_order(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return what paths are sorted by so that file 2 comes before file 10."""
    return tuple((0, int(run), run) if run.isdecimal() else (1, 0, run) for run in _RUNS.split(text))
