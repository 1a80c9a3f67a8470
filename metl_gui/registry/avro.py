"""Avro schemas to versions: schema files, the schemas inside data files, protocols, and what a registry holds.

All files of one import are read together, so that types may be defined in one of them and used in others, and keys
find the tables they belong to. Every schema that has an id is kept as writer schema, those of heartbeats, transactions
and keys too: messages are read by them.

Source: dmm.md §2 and §7 (aliases), cdc-formats.md §7 and §8.5.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from metl_gui.core import connect_schema, names
from metl_gui.core.avro_container import MAGIC, header_of
from metl_gui.core.avro_schema import is_key, is_rowless, key_of, row_of
from metl_gui.core.avro_types import AvroType, Definitions, definitions, rabin_fingerprint, read_avro, text_of
from metl_gui.core.declarations import KeyPaths, VersionDeclaration
from metl_gui.core.wire_schemas import AVRO, JSON, WireSchema, of_rabin
from metl_gui.errors import SchemaError
from metl_gui.registry import json_schema
from metl_gui.registry.documents import MAX_BYTES, decode, parse_json, read_bytes, unreadable
from metl_gui.registry.reading import Continuation, Reading, Refusal
from metl_gui.registry.schema_entries import Entry, Reference, entries, is_registry

MAX_REGISTRY_BYTES = 256 * 2**20
"""What a registry holds may be ten thousand schemas in one file."""

_KEY_SUBJECT = "-key"
_CONNECT_KINDS = frozenset({"KCONNECT"})


@dataclass(slots=True)
class _Table:
    """Everything that is said of one schema."""

    versions: list[VersionDeclaration] = field(default_factory=list)
    keys: list[tuple[str, ...]] = field(default_factory=list)
    former: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Found:
    """One schema with what stands beside it: the file, its path below what was named, and the entry it is."""

    path: Path
    relative: str
    entry: Entry
    is_of_registry: bool


def read(files: Iterable[tuple[Path, str]]) -> Reading:
    """Read files together; each gives versions or a reason.

    Args:
        files: paths, each with its path below the folder that is imported, which labels a version that nothing else
            does.
    """
    gathering = _Gathering()
    for path, relative in files:
        gathering.add_file(path, relative)
    return gathering.result()


class _Gathering:
    """Collects schemas over several files."""

    def __init__(self) -> None:
        self._found: list[_Found] = []
        self._refused: list[Refusal] = []
        self._tables: dict[str, _Table] = {}
        self._wire: dict[tuple[str, str], WireSchema] = {}

    def add_file(self, path: Path, relative: str) -> None:
        try:
            document = _document(path)
            if is_registry(document):
                self._found += [_Found(path, relative, entry, True) for entry in entries(document)]
            else:
                written = [Entry("", None, (), "AVRO", one) for one in _schemas_of(document)]
                self._found += [_Found(path, relative, entry, False) for entry in written]
        except SchemaError as error:
            self._refused.append(Refusal(str(path), str(error)))

    def result(self) -> Reading:
        elsewhere = dict(one for found in reversed(self._found) for one in definitions(found.entry.schema))
        by_version = {(f.entry.subject, f.entry.version or ""): f.entry for f in self._found if f.entry.subject}
        for found in self._found:
            try:
                self._add(found, ChainMap(dict(_referred(found.entry.references, by_version)), elsewhere))
            except SchemaError as error:
                part = f" ({found.entry.subject})" if found.entry.subject else ""
                self._refused.append(Refusal(f"{found.path}{part}", str(error)))
        declared = tuple(version for table in self._tables.values() for version in self._versions(table))
        if not declared:
            self._refuse_rowless()
        former = tuple(Continuation(name, tuple(table.former)) for name, table in self._tables.items() if table.former)
        return Reading(declared, tuple(self._refused), former, tuple(self._wire.values()))

    def _refuse_rowless(self) -> None:
        """Say of files that declare no row at all what they hold."""
        known = {refusal.source for refusal in self._refused}
        paths = dict.fromkeys(str(found.path) for found in self._found if not found.is_of_registry)
        reason = "It describes keys or events, not the rows of a table. Import it together with the schema of its rows."
        self._refused += [Refusal(path, reason) for path in paths if path not in known]

    def _add(self, found: _Found, elsewhere: Definitions) -> None:
        entry = found.entry
        if entry.kind == "JSON":
            self._add_json(found)
        elif entry.kind in _CONNECT_KINDS or _is_connect(entry.schema):
            self._add_connect(found)
        elif entry.kind == "AVRO":
            self._add_avro(found, read_avro(entry.schema, elsewhere))
        else:
            raise SchemaError(
                f"It is a schema of the kind {entry.kind}.", "Read are Avro, JSON and Connect.", "Leave it out."
            )

    def _add_avro(self, found: _Found, avro: AvroType) -> None:
        entry = found.entry
        name = names.of_record(names.of_subject(entry.subject)) or names.of_record(avro.name)
        ids = entry.ids or (of_rabin(rabin_fingerprint(avro)),)
        if entry.subject.endswith(_KEY_SUBJECT) or is_key(avro):
            self._keep(ids, AVRO, text_of(avro), name)
            key = None if is_rowless(avro) else key_of(avro)
            if key:
                self._tables.setdefault(name, _Table()).keys.append(key)
            return
        if is_rowless(avro) and (entry.subject or avro.kind == "record"):
            self._keep(ids, AVRO, text_of(avro), name)
            return
        row = row_of(avro)
        record = names.of_record(row.name)
        label = entry.version or row.label or names.of_path(found.relative).label
        aliases = (record,) if record != name else ()
        version = VersionDeclaration(name, row.attributes, label, aliases, source=_source(found))
        self._declare(version, ids, AVRO, text_of(avro))
        self._tables[name].former.update(dict.fromkeys(old for old in row.former_names if old != name))

    def _add_json(self, found: _Found) -> None:
        if found.entry.subject.endswith(_KEY_SUBJECT):
            self._keep(found.entry.ids, JSON, "", names.of_subject(found.entry.subject))
            return
        if _is_connect(found.entry.schema):
            self._add_connect(found)
            return
        name = names.of_record(names.of_subject(found.entry.subject))
        version = json_schema.declare(found.entry.schema, name, _source(found))
        self._declare(replace(version, name=name, label=found.entry.version or version.label), found.entry.ids, JSON)

    def _add_connect(self, found: _Found) -> None:
        schema, subject = found.entry.schema, found.entry.subject
        named = names.of_subject(subject) or connect_schema.record_name(schema)
        if subject.endswith(_KEY_SUBJECT):
            self._keep(found.entry.ids, JSON, "", named)
            return
        attributes = connect_schema.without_added(connect_schema.declare(connect_schema.row_of(schema)))
        label = found.entry.version or connect_schema.row_label(schema)
        version = VersionDeclaration(names.of_record(named), attributes, label, source=_source(found))
        self._declare(version, found.entry.ids, JSON)

    def _declare(self, version: VersionDeclaration, ids: Sequence[str], kind: str, text: str = "") -> None:
        """Keep a version, once for each subject, and what its messages are read by."""
        table = self._tables.setdefault(version.name, _Table())
        facts = version.fingerprint, version.label, version.source
        if not any((known.fingerprint, known.label, known.source) == facts for known in table.versions):
            table.versions.append(version)
        self._keep(ids, kind, text, version.name, version.fingerprint)

    def _keep(self, ids: Sequence[str], kind: str, text: str, schema: str, fingerprint: str = "") -> None:
        for id_ in ids:
            self._wire.setdefault((id_, schema), WireSchema(id_, kind, text, schema, fingerprint))

    def _versions(self, table: _Table) -> Iterator[VersionDeclaration]:
        aliases = ({alias for version in one.versions for alias in version.aliases} for one in self._tables.values())
        claims = Counter(alias for own in aliases for alias in own)
        for version in table.versions:
            own = {attribute.path for attribute in version.attributes}
            key: KeyPaths = next((key for key in reversed(table.keys) if own.issuperset(key)), None)
            free = tuple(alias for alias in version.aliases if claims[alias] == 1 and alias not in self._tables)
            yield replace(version, key=version.key or key, aliases=free)


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


def _referred(references: Iterable[Reference], known: Mapping[tuple[str, str], Entry]) -> Iterator[tuple[str, Any]]:
    """Yield the definitions in the very versions that an entry refers to, and in those that they refer to."""
    waiting, seen = list(references), set[Reference]()
    while waiting:
        reference = waiting.pop()
        entry = known.get((reference.subject, reference.version))
        if entry is not None and reference not in seen:
            seen.add(reference)
            waiting += entry.references
            yield from definitions(entry.schema)


def _is_connect(schema: object) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "struct"


def _source(found: _Found) -> str:
    return f"{found.path} ({found.entry.subject})" if found.entry.subject else str(found.path)
