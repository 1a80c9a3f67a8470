"""Avro schemas to versions: schema files, schemas in data files, protocols, and saved answers of registries.

All files of one import are read together: types may be defined in one of them and used in others, keys find the tables
they belong to, and names lie in several. So everything is gathered first (``EntryGathering``). Every schema that has an
id is kept as writer schema, those of heartbeats, transactions and keys too: messages are read by them.

What a subject says of its schema is read whichever strategy named it. Debezium's topics are ``prefix.schema.table``;
its records are named alike, with ``.Key``, ``.Value`` and ``.Envelope`` behind, and with every sign that Avro does not
allow adjusted to ``_`` or to ``_u`` and four hexadecimal digits.

Source: docs/architecture/model.md, "Trees, versions, lineages" (aliases); docs/reference/cdc.md, "Avro on the wire";
docs/reference/cdc.md, "Registries".
"""

from __future__ import annotations

import re
from collections import ChainMap, Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from metl_gui.core.project.reader_result import ReaderResult, SchemaSuccession, SkippedSource
from metl_gui.core.project.writer_schemas import AVRO, JSON, WriterSchema, of_rabin
from metl_gui.core.trees import schema_names
from metl_gui.core.trees.declarations import KeyPaths, VersionDeclaration
from metl_gui.errors import SchemaError
from metl_gui.formats import connect_schema
from metl_gui.formats.avro_container import MAGIC, header_of
from metl_gui.formats.avro_schema import is_key, is_rowless, is_rowless_name, key_of, row_of
from metl_gui.formats.avro_types import AvroType, definitions, rabin_fingerprint, read_avro, text_of
from metl_gui.registry.documents import MAX_BYTES, decode, parse_json, read_bytes, unreadable
from metl_gui.registry.schemas import connect_json_schema, json_schema
from metl_gui.registry.schemas.registry_entries import RegistryEntry, SchemaReference, entries, is_registry
from metl_gui.values import Value

_KEY = "-key"
_CONTEXT = re.compile(r":\.[^:]*:")
_ILLEGAL = re.compile(r"[^A-Za-z0-9_.]")
_FIRST_ILLEGAL = re.compile(r"^[^A-Za-z_]")
_ESCAPED = re.compile(r"_u([0-9a-f]{4})")


def schema_name(subject: str, group: str, record: str) -> str:
    """Return the name of the schema that a subject holds.

    Args:
        subject: ``topic-value``, the name of a record, or ``topic-`` and that; empty for none.
        group: of the registry; some writers put the namespace of the record there.
        record: the full name of the record in it; empty for none.
    """
    bare = _CONTEXT.sub("", subject, count=1) if subject.startswith(":.") else subject
    topic = schema_names.of_subject(bare)
    if topic != bare:
        return schema_names.of_record(topic)
    own = schema_names.of_record(record)
    if group and record in (f"{group}.{bare}", f"{adjusted(group)}.{bare}"):
        return own
    if record and bare.endswith(f"-{record}"):
        topic = bare[: -len(record) - 1]
        # Several kinds of records may share a topic: then the topic alone names none of them.
        return topic if adjusted(topic) == adjusted(own) else bare
    return schema_names.of_record(bare) or own


def is_key_subject(subject: str) -> bool:
    """Return whether a subject holds keys."""
    return subject.endswith(_KEY)


def adjusted(name: str) -> str:
    """Return a name as Debezium adjusts it to what Avro allows."""
    return _FIRST_ILLEGAL.sub("_", _ILLEGAL.sub("_", name))


def unescaped(name: str) -> str:
    """Return the name that stands behind one whose signs were written by their numbers."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), name)


def is_adjusted(name: str, original: str) -> bool:
    """Return whether a name may be what Debezium made of another one."""
    return name != original and (adjusted(original) == name or unescaped(name) == original)


_CONNECT_KINDS = frozenset({"KCONNECT"})
_KEY_RECORD = ".Key"
_Place: TypeAlias = tuple[str, str, str]
"""Group, subject and version."""


class AvroDocument(Value):
    """One schema with what stands beside it.

    Args:
        source: the file or registry, for people.
        relative: path below what was named, which labels a version that nothing else does.
        entry: the schema.
        is_of_registry: a registry gave it its name and ids.
    """

    source: str
    relative: str
    entry: RegistryEntry
    is_of_registry: bool


@dataclass(slots=True)
class _SchemaDeclarations:
    """Everything that is said of one schema."""

    versions: list[VersionDeclaration] = field(default_factory=list)
    keys: list[tuple[str, ...]] = field(default_factory=list)
    former: dict[str, None] = field(default_factory=dict)


class EntryGathering:
    """Collects schemas over several files, or of one registry."""

    def __init__(self) -> None:
        self._found: list[AvroDocument] = []
        self._refused: list[SkippedSource] = []
        self._tables: dict[str, _SchemaDeclarations] = {}
        self._wire: dict[tuple[str, str], WriterSchema] = {}

    def add(self, found: Iterable[AvroDocument]) -> None:
        """Add schemas, the oldest version of each subject first."""
        self._found += found

    def refuse(self, refusal: SkippedSource) -> None:
        """Record that something cannot be read."""
        self._refused.append(refusal)

    def result(self, referred: Iterable[RegistryEntry] = ()) -> ReaderResult:
        """Return the versions of all that was added.

        Args:
            referred: versions that others refer to and that are not versions to be had.

        Order: the versions of a schema as they were added.
        """
        elsewhere = dict(one for found in reversed(self._found) for one in definitions(found.entry.schema))
        known = {_place(entry): entry for entry in (*referred, *(one.entry for one in self._found)) if entry.subject}
        for found in self._found:
            try:
                self._add(found, dict(_referred(found.entry.references, known)), elsewhere)
            except SchemaError as error:
                self._refused.append(SkippedSource(_source(found), str(error)))
        aliases = ({alias for version in one.versions for alias in version.aliases} for one in self._tables.values())
        claims = Counter(alias for own in aliases for alias in own)
        declared = tuple(version for table in self._tables.values() for version in self._versions(table, claims))
        if not declared:
            self._refuse_rowless()
        former = tuple(
            SchemaSuccession(name, tuple(table.former)) for name, table in self._tables.items() if table.former
        )
        return ReaderResult(declared, tuple(self._refused), former, tuple(self._wire.values()))

    def _refuse_rowless(self) -> None:
        """Say of files that declare no row at all what they hold."""
        known = {refusal.source for refusal in self._refused}
        paths = dict.fromkeys(found.source for found in self._found if not found.is_of_registry)
        reason = "It describes keys or events, not the rows of a table. Import it together with the schema of its rows."
        self._refused += [SkippedSource(path, reason) for path in paths if path not in known]

    def _add(self, found: AvroDocument, referred: Mapping[str, RegistryEntry], elsewhere: dict[str, Any]) -> None:
        kind, schema = found.entry.kind, found.entry.schema
        if kind in _CONNECT_KINDS or _is_connect(schema):
            self._add_connect(found, schema)
        elif kind == "JSON":
            self._add_json(found, {name: entry.schema for name, entry in referred.items()})
        elif kind == "AVRO":
            own = dict(one for entry in referred.values() for one in definitions(entry.schema))
            self._add_avro(found, read_avro(schema, ChainMap(own, elsewhere)))
        else:
            raise SchemaError(
                f"It is a schema of the kind {kind}.", "Read are Avro, JSON and Connect.", "Leave it out."
            )

    def _add_avro(self, found: AvroDocument, avro: AvroType) -> None:
        entry = found.entry
        name = schema_name(entry.subject, entry.group, avro.name)
        ids = entry.ids or (of_rabin(rabin_fingerprint(avro)),)
        if is_key_subject(entry.subject) or is_key(avro):
            self._keep(ids, AVRO, text_of(avro), name)
            self._add_key(name, None if is_rowless(avro) else key_of(avro))
            return
        if is_rowless(avro) and (entry.subject or avro.kind == "record"):
            self._keep(ids, AVRO, text_of(avro), name)
            return
        row = row_of(avro)
        label = entry.version or row.label or schema_names.of_path(found.relative).label
        aliases = _aliases(schema_names.of_record(row.name), name)
        version = VersionDeclaration(name, row.attributes, label, aliases, source=_source(found))
        self._declare(version, ids, AVRO, text_of(avro))
        self._tables[name].former.update(dict.fromkeys(old for old in row.former_names if old != name))

    def _add_json(self, found: AvroDocument, referred: Mapping[str, Any]) -> None:
        entry, schema = found.entry, found.entry.schema
        if connect_json_schema.is_connect(schema):
            self._add_connect(found, connect_json_schema.as_connect(schema, referred))
            return
        name = schema_name(entry.subject, entry.group, json_schema.title_of(schema))
        if is_key_subject(entry.subject):
            self._keep(entry.ids, JSON, "", name)
            return
        version = json_schema.declare(schema, name, _source(found), referred)
        self._declare(replace(version, name=name, label=entry.version or version.label), entry.ids, JSON)

    def _add_connect(self, found: AvroDocument, schema: Any) -> None:
        entry, record = found.entry, connect_schema.record_name(schema)
        name = schema_name(entry.subject, entry.group, record)
        if is_key_subject(entry.subject) or record.endswith(_KEY_RECORD):
            self._keep(entry.ids, JSON, "", name)
            self._add_key(name, connect_schema.key_paths(schema))
            return
        if is_rowless_name(record):
            self._keep(entry.ids, JSON, "", name)
            return
        attributes = connect_schema.columns_of(schema)
        if not attributes:
            raise SchemaError("It has no fields.", "So there is nothing to map.", "Leave it out.")
        label = entry.version or connect_schema.row_label(schema)
        aliases = _aliases(schema_names.of_record(record), name)
        self._declare(VersionDeclaration(name, attributes, label, aliases, source=_source(found)), entry.ids, JSON)

    def _add_key(self, name: str, key: KeyPaths) -> None:
        if key:
            self._tables.setdefault(name, _SchemaDeclarations()).keys.append(key)

    def _declare(self, version: VersionDeclaration, ids: Sequence[str], kind: str, text: str = "") -> None:
        """Keep a version, once for each subject, and what its messages are read by."""
        table = self._tables.setdefault(version.name, _SchemaDeclarations())
        facts = version.fingerprint, version.label, version.source
        if not any((known.fingerprint, known.label, known.source) == facts for known in table.versions):
            table.versions.append(version)
        self._keep(ids, kind, text, version.name, version.fingerprint)

    def _keep(self, ids: Sequence[str], kind: str, text: str, schema: str, fingerprint: str = "") -> None:
        for id_ in ids:
            self._wire.setdefault((id_, schema), WriterSchema(id_, kind, text, schema, fingerprint))

    def _versions(self, table: _SchemaDeclarations, claims: Mapping[str, int]) -> Iterator[VersionDeclaration]:
        """Yield the versions of a schema with its key, and the aliases that no other schema claims."""
        for version in table.versions:
            own = {attribute.path for attribute in version.attributes}
            key: KeyPaths = next((key for key in reversed(table.keys) if own.issuperset(key)), None)
            free = tuple(alias for alias in version.aliases if claims[alias] == 1 and alias not in self._tables)
            yield replace(version, key=version.key or key, aliases=free)


def _referred(
    references: Iterable[SchemaReference], known: Mapping[_Place, RegistryEntry]
) -> Iterator[tuple[str, RegistryEntry]]:
    """Yield the very versions that an entry refers to, and those that they refer to, by the names used for them."""
    waiting, seen = list(references), set[SchemaReference]()
    while waiting:
        reference = waiting.pop()
        entry = known.get((reference.group, reference.subject, reference.version))
        if entry is not None and reference not in seen:
            seen.add(reference)
            waiting += entry.references
            yield reference.name, entry


def _place(entry: RegistryEntry) -> _Place:
    return entry.group, entry.subject, entry.version or ""


def _aliases(record: str, name: str) -> tuple[str, ...]:
    """Return what the schema is called by its records, which Debezium may have adjusted to what Avro allows."""
    return tuple(alias for alias in dict.fromkeys((record, unescaped(record))) if alias and alias != name)


def _is_connect(schema: object) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "struct"


def _source(found: AvroDocument) -> str:
    return f"{found.source} ({found.entry.subject})" if found.entry.subject else found.source


MAX_REGISTRY_BYTES = 256 * 2**20
"""What a registry holds may be ten thousand schemas in one file."""


def read(files: Iterable[tuple[Path, str]]) -> ReaderResult:
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
            gathering.refuse(SkippedSource(str(path), str(error)))
    return gathering.result()


def _found(path: Path, relative: str) -> list[AvroDocument]:
    document = _document(path)
    if is_registry(document):
        return [AvroDocument(str(path), relative, entry, True) for entry in entries(document)]
    written = [RegistryEntry("", None, (), "AVRO", one) for one in _schemas_of(document)]
    return [AvroDocument(str(path), relative, entry, False) for entry in written]


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
