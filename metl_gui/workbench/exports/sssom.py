"""``sssom``: the mapping as a Simple Standard for Sharing Ontological Mappings, for catalogues and vocabularies.

One row an element: the attribute of a schema version is the subject, the attribute of an entity version the object.
Names become ids by percent signs, so whatever they hold an id is one word; beside them stand the names as they are.

Source: SSSOM 1.0 (mapping-commons), TSV with its metadata in a YAML head.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO
from urllib.parse import quote

from metl_gui import __version__
from metl_gui.core.counted import number_of
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.trees.nodes import Schema, Version
from metl_gui.core.trees.types import is_readable
from metl_gui.errors import UserError
from metl_gui.workbench.exports.blocks import ExportedBlock, ExportedElement, carried
from metl_gui.workbench.exports.format_spec import Choices, Export, Option
from metl_gui.workbench.exports.table import SAFE_CELLS, CellWriter, wants_safe

BASE = Option("base", "the address that the ids begin with, such as https://data.example.com/", "urn:metl:")
LICENSE = Option(
    "license", "the address of the licence of the mapping set", "https://w3id.org/sssom/license/unspecified"
)
COLUMNS = (
    "subject_id",
    "subject_label",
    "predicate_id",
    "object_id",
    "object_label",
    "mapping_justification",
    "author_label",
    "subject_source",
    "subject_source_version",
    "object_source",
    "object_source_version",
    "mapping_date",
    "comment",
)
"""Columns, in the order that the standard's own tools write them in, as far as it matters."""

EXACT, CLOSE = "skos:exactMatch", "skos:closeMatch"
CURATED, UNSPECIFIED = "semapv:ManualMappingCuration", "semapv:UnspecifiedMatching"

_SCHEMAS, _ENTITIES = "schema", "entity"
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`\x00-\x20]*")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\ufffe\uffff]")


def sssom_text(document: Document, choices: Choices, watch: Watch) -> str:
    """Return what ``sssom`` writes.

    Raises:
        UserError: the base or the licence is no address.
    """
    text = io.StringIO(newline="")
    _fill(text, document, choices, watch)
    return text.getvalue()


def _fill(target: TextIO, document: Document, choices: Choices, watch: Watch) -> tuple[str, ...]:
    """Write the set and say what is not exact, or not safe, in its cells."""
    target.writelines(f"#{line}\n" for line in _head(document, _address(choices, BASE), _address(choices, LICENSE)))
    cells = CellWriter(target, wants_safe(choices), separator="\t")
    cells.rows([COLUMNS])
    for block in carried(document, choices.include_unconfirmed, watch, "Writing the mapping set"):
        if not block.is_held:
            cells.rows(_row(block, line) for line in block.lines)
    return tuple(cells.says())


def _head(document: Document, base: str, license_: str) -> Iterator[str]:
    """Yield the lines of the metadata; each value is a JSON text, which YAML reads alike."""
    digest = state_hash(document)
    yield "curie_map:"
    yield f"  {_SCHEMAS}: {json.dumps(f'{base}schema/')}"
    yield f"  {_ENTITIES}: {json.dumps(f'{base}entity/')}"
    yield '  skos: "http://www.w3.org/2004/02/skos/core#"'
    yield '  semapv: "https://w3id.org/semapv/vocab/"'
    yield f"license: {json.dumps(license_)}"
    yield f"mapping_set_id: {json.dumps(f'{base}mapping/{digest}')}"
    yield f"mapping_set_version: {json.dumps(str(document.state))}"
    yield f"mapping_set_title: {json.dumps(f'Mapping at state {document.state}')}"
    yield f"mapping_tool: {json.dumps('METL Workbench')}"
    yield f"mapping_tool_version: {json.dumps(__version__)}"


def _row(block: ExportedBlock, line: ExportedElement) -> tuple[str, ...]:
    is_same = is_readable(line.source, line.target)
    return (
        f"{_SCHEMAS}:{_word(block.schema, block.version, line.source.path)}",
        _printable(line.source.path),
        EXACT if is_same else CLOSE,
        f"{_ENTITIES}:{_word(block.entity, block.entity_version, line.target.path)}",
        _printable(line.target.path),
        UNSPECIFIED if block.block.is_unconfirmed else CURATED,
        _printable(block.who),
        f"{_SCHEMAS}:{_quoted(block.schema.name)}",
        _printable(block.version.label),
        f"{_ENTITIES}:{_quoted(block.entity.name)}",
        _printable(block.entity_version.label),
        block.day,
        _printable(block.block.comment),
    )


def _word(schema: Schema, version: Version, path: str) -> str:
    """Write what names an attribute as one word that no other attribute has: each part is quoted, slashes part them."""
    return "/".join(_quoted(part) for part in (schema.name, version.label, path))


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def _printable(text: str) -> str:
    """Write a text into a field of one line; what cannot stand there becomes a space or a sign that something was."""
    return _UNPRINTABLE.sub("�", " ".join(text.split())) if not text.isprintable() else text


def _address(choices: Choices, option: Option) -> str:
    said = choices.of(option).strip()
    if _ADDRESS.fullmatch(said) is None:
        raise UserError(
            f"{said!r} is no address.", f"{option.flag} is {option.title}.", "Begin it with https:// or urn:."
        )
    return said


def _write(document: Document, choices: Choices, path: Path, watch: Watch) -> tuple[str, ...]:
    with path.open("w", encoding="utf-8", newline="") as file:
        unsafe = _fill(file, document, choices, watch)
    return (*_says(document, choices, watch), *unsafe)


def _says(document: Document, choices: Choices, watch: Watch) -> Iterator[str]:
    blocks = list(carried(document, choices.include_unconfirmed, watch, "Looking for what cannot be said"))
    held = sum(block.is_held for block in blocks)
    if held:
        yield f"{number_of(held, 'block')} held for review {'is' if held == 1 else 'are'} left out."
    lines = [line for block in blocks if not block.is_held for line in block.lines]
    close = sum(not is_readable(line.source, line.target) for line in lines)
    if close:
        yield f"{number_of(close, 'element')} between different types {'is' if close == 1 else 'are'} given as {CLOSE}."
    loose = sum(block.block.is_unconfirmed for block in blocks)
    if loose:
        yield f"{number_of(loose, 'block')} that nobody has confirmed: given as {UNSPECIFIED}."
    texts = (text for block in blocks for text in (block.block.comment, block.who))
    if any(_printable(text) != text for text in texts):
        yield "Line breaks of comments become spaces, and signs that no line can hold are replaced."


SSSOM = Export(
    "sssom",
    "Mappings in the SSSOM standard, for catalogues and vocabularies",
    ".sssom.tsv",
    _write,
    limits=(
        "What is not mapped, what was lost and waits, keys, types and settings have no place in SSSOM.",
        "That an attribute is the same one in another version is not said: each version has ids of its own.",
    ),
    options=(BASE, LICENSE, SAFE_CELLS),
)
