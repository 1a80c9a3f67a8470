"""Avro schemas to versions: schema files, the schemas inside data files, protocols, and saved answers of registries.

All files of one import are read together, so that types may be defined in one of them and used in others, and keys
find the tables they belong to.

Source: dmm.md §2 and §7 (aliases), cdc-formats.md §7 and §8.5.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from metl_gui.errors import SchemaError
from metl_gui.formats.avro_container import MAGIC, header_of
from metl_gui.registry.documents import MAX_BYTES, decode, parse_json, read_bytes, unreadable
from metl_gui.registry.entry_gathering import EntryGathering, Found
from metl_gui.registry.reading import Reading, Refusal
from metl_gui.registry.schema_entries import Entry, entries, is_registry

MAX_REGISTRY_BYTES = 256 * 2**20
"""What a registry holds may be ten thousand schemas in one file."""


def read(files: Iterable[tuple[Path, str]]) -> Reading:
    """Read files together; each gives versions or a reason.

    Args:
        files: paths, each with its path below the folder that is imported, which labels a version that nothing else
            does.
    """
    gathering = EntryGathering()
    for path, relative in files:
        try:
            gathering.add(_found(path, relative))
        except SchemaError as error:
            gathering.refuse(Refusal(str(path), str(error)))
    return gathering.result()


def _found(path: Path, relative: str) -> list[Found]:
    document = _document(path)
    if is_registry(document):
        return [Found(str(path), relative, entry, True) for entry in entries(document)]
    written = [Entry("", None, (), "AVRO", one) for one in _schemas_of(document)]
    return [Found(str(path), relative, entry, False) for entry in written]


def _document(path: Path) -> Any:
    """Parse a schema file, or take the schema out of a data file.

    Raises:
        SchemaError: it is neither.
    """
    try:
        with path.open("rb") as file:
            head = file.read(len(MAGIC))
            if head == MAGIC:
                file.seek(0)
                return parse_json(header_of(file.read(MAX_BYTES)).schema)
    except OSError as error:
        raise unreadable(path, error) from error
    return parse_json(decode(read_bytes(path, MAX_REGISTRY_BYTES)))


def _schemas_of(document: Any) -> list[Any]:
    """Return the schemas of a file: one, those of a list, or the types of a protocol."""
    if isinstance(document, dict) and isinstance(document.get("protocol"), str):
        space = document.get("namespace")
        types = document.get("types")
        found = types if isinstance(types, list) else []
        document = [{"namespace": space, **one} if isinstance(one, dict) and space else one for one in found]
    if isinstance(document, list):
        return [one for one in document if isinstance(one, dict) and one.get("type") in ("record", "error")]
    return [document]
