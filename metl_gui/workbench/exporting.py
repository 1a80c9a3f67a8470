"""The matrix into files for pipelines and spreadsheets, written whole or not at all.

Source: contract.md §3, §4.
"""

from __future__ import annotations

import csv
import io
import json
import logging
import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from metl_gui.core.canonical import dusb_content, exported_blocks, is_carried, is_held, matrix_content
from metl_gui.core.document import Document
from metl_gui.errors import ProjectError, UserError, near_names
from metl_gui.registry.mapping_csv import COLUMNS, OPTIONAL_COLUMNS
from metl_gui.store.connection import is_database
from metl_gui.store.making import SUFFIX as PROJECT_SUFFIX
from metl_gui.workbench.addresses import element_names, known_block_name
from metl_gui.workbench.documents import Written
from metl_gui.workbench.progress import UNWATCHED, Watch
from metl_gui.workbench.publishing import production_document
from metl_gui.workbench.session import Workbench

_log = logging.getLogger(__name__)
_INDENT = " "


class ExportFormat(StrEnum):
    """What the matrix can be written as."""

    JSON = "json"
    DUSB = "dusb"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class ExportResult(Written):
    """What was written.

    Args:
        state: the state it shows.
        path: the file.
        format: see ``ExportFormat``.
        blocks: blocks carried, held ones included.
        held: blocks that are carried without elements, because they need review.
        size_bytes: size of the file.
        left_out: blocks that are not carried because nobody has confirmed them.
    """

    state: int
    path: Path
    format: ExportFormat
    blocks: int
    held: int
    size_bytes: int
    left_out: int = 0


def parse_export_format(text: str) -> ExportFormat:
    """Return the format that a person named.

    Raises:
        UserError: there is no such format.
    """
    try:
        return ExportFormat(text)
    except ValueError as error:
        known = ", ".join(ExportFormat)
        raise UserError(
            f"There is no export format {text!r}.", near_names(text, ExportFormat), f"Formats are {known}."
        ) from error


def export_published(
    workbench: Workbench,
    format_: ExportFormat,
    path: Path,
    state: int | None = None,
    include_unconfirmed: bool = False,
    watch: Watch = UNWATCHED,
) -> ExportResult:
    """Write the published state that production uses, or another published one, and remember that it was exported.

    Args:
        workbench: the project; it may be open read only.
        format_: what to write.
        path: the file; its folder must exist.
        state: number of a published state.
        include_unconfirmed: carry unconfirmed blocks too.
        watch: progress and cancel.

    Raises:
        UserError: nothing is published, or this state is not.
        ProjectError: the file cannot be written; then what was there is there still.
    """
    done = export(production_document(workbench, state), format_, path, include_unconfirmed, watch)
    try:
        workbench.beside.add_export(done.state, workbench.stamp().when_ms)
    except ProjectError as error:  # a project that nobody may write to; a published state is kept all the same
        _log.info("the export of state %s is not noted: %s", done.state, error)
    return done


def export(
    document: Document,
    format_: ExportFormat,
    path: Path,
    include_unconfirmed: bool = False,
    watch: Watch = UNWATCHED,
) -> ExportResult:
    """Write the confirmed blocks of a state to a file, replacing what was there in one step.

    A block that needs review is carried with ``"held": true`` and without elements, or with the elements left where
    its schema says ``map what is left``.

    Args:
        document: the state to write; for pipelines a published one (``export_published``).
        format_: what to write.
        path: the file; its folder must exist.
        include_unconfirmed: carry unconfirmed blocks too.
        watch: progress and cancel.

    Raises:
        ProjectError: the file cannot be written; then what was there is there still.
    """
    check_output(path)
    watch.step(f"Collecting state {document.state}")
    text = export_text(document, format_, include_unconfirmed)
    watch.step(f"Writing {path.name}")
    raw = text.encode("utf-8", "surrogatepass")
    write_whole(path, raw)
    blocks = held = left_out = 0
    for block in document.matrix.blocks():
        if is_carried(block, include_unconfirmed):
            blocks += 1
            held += is_held(document, block)
        else:
            left_out += is_carried(block, include_unconfirmed=True)
    return ExportResult(document.state, path, format_, blocks, held, len(raw), left_out)


def export_text(document: Document, format_: ExportFormat, include_unconfirmed: bool = False) -> str:
    """Return what ``export`` writes."""
    if format_ is ExportFormat.JSON:
        return laid_out(matrix_content(document, include_unconfirmed))
    if format_ is ExportFormat.DUSB:
        return laid_out(dusb_content(document, include_unconfirmed))
    return _table(document, include_unconfirmed)


def laid_out(content: dict[str, Any]) -> str:
    """Write what an export holds as its file has it: one element a line."""
    return "".join(_laid_out(content, "")) + "\n"


def write_whole(path: Path, raw: bytes) -> None:
    """Write a file by way of a temporary one beside it, so that nobody ever sees a part of it.

    Raises:
        ProjectError: it cannot be written, or is a project, which nothing of ours ever writes over.
    """
    check_output(path)
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        partial.chmod(mode)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise _unwritable(path, error) from error


def check_output(path: Path) -> None:
    """Refuse what nothing may be written over: projects, folders, devices, and names that no file can have.

    Raises:
        ProjectError: it is one of them.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    except (OSError, ValueError) as error:  # a name that is too long; one with a zero character
        raise _unwritable(path, error) from error
    if stat.S_ISDIR(mode):
        raise ProjectError(f"{path} is a folder.", hint="Name a file to write.")
    if not stat.S_ISREG(mode):
        # It would be replaced by a file: a pipe, or a device of the whole computer.
        raise ProjectError(f"{path} is no regular file.", hint="Name a file to write.")
    if path.suffix == PROJECT_SUFFIX or _holds_project(path):
        raise ProjectError(
            f"{path} is the name of a project file.", "What is written would take its place.", "Name another file."
        )


def _holds_project(path: Path) -> bool:
    """Tell whether a file is a database, whatever its name; an unreadable one is found out when it is written."""
    try:
        return is_database(path)
    except OSError:
        return False


def _unwritable(path: Path, error: OSError | ValueError) -> ProjectError:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return ProjectError(f"{path} cannot be written.", f"{reason}.", "Name a file in a folder that you can write to.")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _laid_out(value: Any, indent: str) -> Iterator[str]:
    """Write JSON with one line for everything that holds only plain values: Git then shows elements line by line."""
    if not isinstance(value, dict | list) or _is_flat(value):
        yield json.dumps(value, ensure_ascii=False)
        return
    inner = indent + _INDENT
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    yield opening
    members = value.items() if isinstance(value, dict) else ((None, each) for each in value)
    for at, (name, each) in enumerate(members):
        yield f"{',' if at else ''}\n{inner}"
        if name is not None:
            yield f"{json.dumps(name, ensure_ascii=False)}: "
        yield from _laid_out(each, inner)
    yield f"\n{indent}{closing}"


def _is_flat(value: dict[str, Any] | list[Any]) -> bool:
    members = value.values() if isinstance(value, dict) else value
    return not any(isinstance(each, dict | list) and each for each in members)


def _table(document: Document, include_unconfirmed: bool) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*COLUMNS, *OPTIONAL_COLUMNS))
    for block in exported_blocks(document, include_unconfirmed):
        if is_held(document, block):
            continue
        name = known_block_name(document, block.key)
        for element in element_names(document, block):
            writer.writerow(
                (
                    name.schema,
                    name.version,
                    element.from_path,
                    name.entity,
                    name.entity_version,
                    element.to_path,
                    block.status.value,
                    block.comment,
                )
            )
    return text.getvalue()
