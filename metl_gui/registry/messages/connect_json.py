"""Change messages as Kafka Connect writes them in JSON, to the versions of the tables they come from.

Files are unpacked and read piece by piece. With schemas on, each different row schema is a version. Without, versions
are inferred from the rows; what messages with schemas of the same read already declare is not inferred again. Of schema
change events counts what they say was renamed; other records of no row (heartbeats, transactions, tombstones ...) are
passed over.

Source: docs/reference/formats.md, "Schemas" (names of schemas); docs/architecture/model.md, "Trees, versions,
lineages"; docs/reference/cdc.md.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from metl_gui.core.project.reader_result import ReaderResult, SkippedSource
from metl_gui.core.runs.limits import LIMIT_BYTES
from metl_gui.core.trees import schema_names
from metl_gui.core.trees.declarations import AttributeDeclaration, KeyPaths, VersionDeclaration
from metl_gui.errors import RecordError, SchemaError
from metl_gui.formats import connect_schema, record_delimiters
from metl_gui.formats.compression import HEAD_BYTES, Codec, codec_of, unpacked
from metl_gui.formats.record_kind import RecordKind
from metl_gui.registry.documents import decode, parse_json, read_bytes, unreadable
from metl_gui.registry.messages.change_records import RecordReader, RowRecord
from metl_gui.registry.messages.schema_changes import StatedChanges
from metl_gui.registry.messages.schema_inference import MAX_SHAPES, RowInference, have_same_paths

CHUNK_BYTES = 2**20


def chunks(path: Path) -> Iterator[bytes]:
    """Yield the unpacked bytes of a file.

    A packed file is first unpacked once to its end, so that a cut one gives nothing at all.

    Raises:
        SchemaError: the file cannot be read, or its packing is broken.
    """
    try:
        if not path.is_file():
            raise SchemaError(f"{path} is no regular file.", "", "Name a file, a folder or a pattern.")
        with path.open("rb") as file:
            codec = codec_of(file.read(HEAD_BYTES))
        if codec is not Codec.PLAIN:
            for _ in _pieces(path, codec):
                pass
        yield from _pieces(path, codec)
    except OSError as error:
        raise unreadable(path, error) from error


def _pieces(path: Path, codec: Codec) -> Iterator[bytes]:
    with path.open("rb") as packed:
        try:
            with unpacked(packed, codec) as stream:
                while chunk := stream.read(CHUNK_BYTES):
                    yield chunk
        except (EOFError, OSError, ValueError, zlib.error) as error:
            if codec is Codec.PLAIN:
                raise
            raise SchemaError(
                f"{path.name} is cut off or damaged.", f"It cannot be unpacked: {error}.", "Copy or pack it again."
            ) from error


@dataclass(slots=True)
class _Declared:
    """One version that messages declare."""

    attributes: tuple[AttributeDeclaration, ...]
    label: str | None
    source: str
    key: KeyPaths = None


@dataclass(slots=True)
class _SeenSchema:
    """Everything seen of one schema."""

    aliases: dict[str, None] = field(default_factory=dict)
    declared: dict[tuple[tuple[AttributeDeclaration, ...], str | None], _Declared] = field(default_factory=dict)
    inference: RowInference = field(default_factory=RowInference)
    inferred_source: str = ""
    inferred_key: KeyPaths = None


@dataclass(slots=True)
class _Refusals:
    """What many records of one file have in common."""

    first_offset: int
    reason: str
    records: int = 0


def read(paths: Iterable[Path]) -> ReaderResult:
    """Read message files together.

    Each file gives rows or a reason; records that cannot be read are counted per file and reason.
    """
    gathering = _Gathering()
    for path in paths:
        gathering.add_file(path)
    return gathering.result()


def read_schema(path: Path, relative: str = "") -> ReaderResult:
    """Read a file that holds one Connect schema, as a registry stores it; of an envelope the row counts."""
    try:
        schema = parse_json(decode(read_bytes(path)))
        if not isinstance(schema, dict):
            raise SchemaError("It is not a Connect schema.", "Its outermost value is not an object.", "")
        by_path = schema_names.of_path(relative or path.name)
        attributes = connect_schema.columns_of(schema)
        if not attributes:
            raise SchemaError("It has no fields.", "So there is nothing to map.", "Leave it out.")
        name = schema_names.of_record(connect_schema.record_name(schema)) or schema_names.of_subject(by_path.name)
        label = connect_schema.row_label(schema) or by_path.label
        return ReaderResult((VersionDeclaration(name, attributes, label, source=str(path)),))
    except SchemaError as error:
        return ReaderResult(refused=(SkippedSource(str(path), str(error)),))


class _Gathering:
    """Collects tables over several files."""

    def __init__(self) -> None:
        self._reader = RecordReader()
        self._tables: dict[str, _SeenSchema] = {}
        self._refused: list[SkippedSource] = []

    def add_file(self, path: Path) -> None:
        refusals: dict[str, _Refusals] = {}
        kinds: Counter[RecordKind] = Counter()
        records = rows = 0
        try:
            for framed in record_delimiters.split(chunks(path)):
                records += 1
                found = self._read_one(framed, refusals)
                if isinstance(found, RowRecord):
                    rows += 1
                    self._add(found, str(path))
                elif found is not None:
                    kinds[found] += 1
        except SchemaError as error:
            self._refused.append(SkippedSource(str(path), str(error)))
            return
        self._refused.extend(_told(path, records, refusal) for refusal in refusals.values())
        if not rows and not refusals:
            passed = ", ".join(f"{count} {kind.value.replace('_', ' ')}" for kind, count in kinds.most_common())
            self._refused.append(SkippedSource(str(path), f"It holds no change of a row ({passed or 'no records'})."))

    def _read_one(
        self, framed: record_delimiters.DelimitedRecord, refusals: dict[str, _Refusals]
    ) -> RowRecord | RecordKind | None:
        try:
            if not framed.is_whole:
                raise RecordError("too_large", f"they are larger than {LIMIT_BYTES // 2**20} MiB")
            return self._reader.read(framed.raw)
        except RecordError as error:
            is_malformed = error.reason == "malformed"
            reason = f"they are malformed (the first: {error.detail})" if is_malformed else error.detail
            shared = error.reason if is_malformed else error.detail
            refusals.setdefault(shared, _Refusals(framed.offset, reason)).records += 1
            return None

    def _add(self, record: RowRecord, source: str) -> None:
        table = self._tables.setdefault(record.names[0], _SeenSchema())
        table.aliases.update(dict.fromkeys(record.names[1:]))
        declared = record.declared
        if declared is not None:
            version = table.declared.setdefault(
                (declared.attributes, declared.label), _Declared(declared.attributes, declared.label, source)
            )
            version.key = version.key or record.key if record.key is not None else version.key
        elif record.row:
            table.inference.add(record.row, source)
            table.inferred_source = table.inferred_source or source
            table.inferred_key = table.inferred_key or record.key if record.key is not None else table.inferred_key

    def result(self) -> ReaderResult:
        found: list[VersionDeclaration] = []
        stated = StatedChanges(self._reader.changes)
        self._drop_contested_aliases()
        for name, table in self._tables.items():
            versions = _declared_versions(name, table)
            if table.inference.is_overflown:
                reason = f"The rows of {name} have more than {MAX_SHAPES:,} different shapes. Give it a JSON Schema."
                self._refused.append(SkippedSource(table.inferred_source, reason))
            else:
                versions += _inferred_versions(name, table)
            found += stated.with_renames(versions)
        return ReaderResult(tuple(found), tuple(self._refused), stated.continuations(self._tables))

    def _drop_contested_aliases(self) -> None:
        """Forget further names that are also those of other tables: they would lead to the wrong one."""
        claims = Counter(alias for table in self._tables.values() for alias in table.aliases)
        for table in self._tables.values():
            for alias in list(table.aliases):
                if claims[alias] > 1 or alias in self._tables:
                    del table.aliases[alias]


def _declared_versions(name: str, table: _SeenSchema) -> list[VersionDeclaration]:
    """Return the versions that messages declare; those with one fingerprint and label are one."""
    versions: dict[tuple[str, str | None], VersionDeclaration] = {}
    for one in table.declared.values():
        if not one.attributes:
            continue
        version = VersionDeclaration(
            name, one.attributes, one.label, tuple(table.aliases), _own_key(one.key, one.attributes), source=one.source
        )
        identity = version.fingerprint, version.label
        known = versions.setdefault(identity, version)
        if not known.key and version.key is not None:
            versions[identity] = replace(known, key=version.key)
    return list(versions.values())


def _inferred_versions(name: str, table: _SeenSchema) -> list[VersionDeclaration]:
    declared = [{attribute.path for attribute in one.attributes} for one in table.declared.values()]
    return [
        VersionDeclaration(
            name,
            version.attributes,
            None,
            tuple(table.aliases),
            _own_key(table.inferred_key, version.attributes),
            inferred=True,
            source=version.source,
        )
        for version in table.inference.versions()
        if not any(have_same_paths(paths, version.attributes) for paths in declared)
    ]


def _own_key(key: KeyPaths, attributes: tuple[AttributeDeclaration, ...]) -> KeyPaths:
    """Return a key where all its paths are attributes; a key of other columns cannot be told from the row."""
    return key if key is not None and {one.path for one in attributes}.issuperset(key) else None


def _told(path: Path, records: int, refusal: _Refusals) -> SkippedSource:
    count = f"{refusal.records:,} of {records:,} records cannot be used"
    return SkippedSource(str(path), f"{count}: {refusal.reason}. The first begins at byte {refusal.first_offset:,}.")
