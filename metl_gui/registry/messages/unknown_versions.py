"""Versions that nobody has imported, read off the messages that were set aside for it.

The first messages of each kind are looked into: the schema in them, or else their rows; of the others only the kind is
counted, so that millions of them cost little. Kinds are told apart by schema and by what the run said of them.
Source: docs/architecture/model.md, "States, publishing, being out of step"; docs/reference/cdc.md, "Types".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from msgspec.structs import replace

from metl_gui.core.project.version_tasks import VersionTask, Waiting, groups_of, joined, profile_of, seen_of
from metl_gui.core.trees.declarations import AttributeDeclaration, KeyPaths, VersionDeclaration
from metl_gui.core.trees.paths import split
from metl_gui.errors import RecordError
from metl_gui.formats.record_kind import RecordKind
from metl_gui.registry.messages.change_records import RecordReader, RowRecord
from metl_gui.registry.messages.schema_inference import PLACEHOLDER, RowInference

LOOKED_INTO = 200
"""Records of one kind that are looked into."""

MOST_KINDS = 2_000
_ROWS, _MOST_ROWS = 50, 5_000
"""Rows that are kept for their values: of one kind, and of all."""

_KindKey: TypeAlias = tuple[str, str]
_Attributes: TypeAlias = tuple[AttributeDeclaration, ...]


@dataclass(slots=True)
class _Kind:
    """Records of one schema of which a run said the same."""

    records: int = 0
    looked_into: int = 0
    declared: dict[tuple[_Attributes, str | None], int] = field(default_factory=dict)
    inference: RowInference = field(default_factory=RowInference)
    rows: list[Mapping[str, Any]] = field(default_factory=list)
    names: tuple[str, ...] = ()
    key: KeyPaths = None


@dataclass(slots=True)
class _DetectedVersion:
    """One version of a schema, with the kinds it was read off."""

    attributes: _Attributes
    label: str | None
    is_inferred: bool
    records: int
    kinds: list[_Kind]


class UnknownVersions:
    """Gathers messages and tells the versions among them."""

    def __init__(self) -> None:
        self._reader = RecordReader()
        self._kinds: dict[_KindKey, _Kind] = {}
        self._rows = 0

    def add(self, raw: bytes, schema: str | None, said: str) -> None:
        """Take one message into account.

        Args:
            raw: the record exactly.
            schema: the schema it was told to be of, ``None`` when no name fitted.
            said: what the run said of it; equal words are one kind.
        """
        key = schema or "", said
        kind = self._kinds.get(key)
        if kind is None:
            if len(self._kinds) >= MOST_KINDS:
                key = schema or "", ""
            kind = self._kinds.setdefault(key, _Kind())
        kind.records += 1
        if kind.looked_into < LOOKED_INTO:
            kind.looked_into += 1
            self._look_into(kind, raw)

    def tasks(self, wait: Waiting, source: str) -> list[VersionTask]:
        """Return a task for each version.

        Args:
            wait: where the messages wait; their number is filled in.
            source: where they came from, for people.
        """
        by_schema: dict[tuple[str, bool], list[_Kind]] = {}
        for (schema, _), kind in self._kinds.items():
            name = schema or next(iter(kind.names), "")
            if name:  # what nothing names cannot be imported
                by_schema.setdefault((name, bool(schema)), []).append(kind)
        return [
            _task(name, version, wait, is_known=is_known, source=source)
            for (name, is_known), kinds in by_schema.items()
            for version in _versions(kinds)
        ]

    def _look_into(self, kind: _Kind, raw: bytes) -> None:
        try:
            record = self._reader.read(raw)
        except RecordError:
            return
        if isinstance(record, RecordKind):
            return
        kind.names = kind.names or record.names
        kind.key = kind.key or record.key if record.key is not None else kind.key
        _take(kind, record)
        if record.row and len(kind.rows) < _ROWS and self._rows < _MOST_ROWS:
            kind.rows.append(record.row)
            self._rows += 1


def _take(kind: _Kind, record: RowRecord) -> None:
    if record.declared is not None:
        identity = record.declared.attributes, record.declared.label
        kind.declared[identity] = kind.declared.get(identity, 0) + 1
    elif record.row:
        kind.inference.add(record.row)


def _versions(kinds: Sequence[_Kind]) -> list[_DetectedVersion]:
    """Tell the versions of one schema; records that show none are counted to the one that most show."""
    found = [version for kind in kinds for version in _of_kind(kind)]
    versions = _one_each([one for one in found if not one.is_inferred])
    inferred = [one for one in found if one.is_inferred]
    for group in groups_of([one.attributes for one in inferred]):
        members = [inferred[at] for at in sorted(group)]
        records = sum(one.records for one in members)
        joint = joined([one.attributes for one in members])
        versions.append(_DetectedVersion(joint, None, True, records, [kind for one in members for kind in one.kinds]))
    if versions:
        left = sum(kind.records for kind in kinds) - sum(one.records for one in versions)
        max(versions, key=lambda one: one.records).records += left
    return versions


def _of_kind(kind: _Kind) -> list[_DetectedVersion]:
    declared = [
        _DetectedVersion(attributes, label, False, 0, [kind]) for attributes, label in kind.declared if attributes
    ]
    rows = [_DetectedVersion(one.attributes, None, True, 0, [kind]) for one in kind.inference.versions()]
    versions = [*declared, *rows]
    if versions:
        # Nearly always one. Otherwise the exact share of each is in records that were not looked into.
        share = kind.records // len(versions)
        for version in versions:
            version.records = share
        versions[0].records += kind.records - share * len(versions)
    return versions


def _one_each(declared: Sequence[_DetectedVersion]) -> list[_DetectedVersion]:
    versions: dict[tuple[frozenset[AttributeDeclaration], str | None], _DetectedVersion] = {}
    for one in declared:
        known = versions.setdefault((frozenset(one.attributes), one.label), one)
        if known is not one:
            known.records += one.records
            known.kinds += one.kinds
    return list(versions.values())


def _task(name: str, version: _DetectedVersion, wait: Waiting, *, is_known: bool, source: str) -> VersionTask:
    paths = {attribute.path for attribute in version.attributes}
    key = next((kind.key for kind in version.kinds if kind.key is not None and paths.issuperset(kind.key)), None)
    names = [other for kind in version.kinds for other in kind.names]
    declaration = VersionDeclaration(
        name=name,
        attributes=version.attributes,
        label=version.label,
        aliases=() if is_known else tuple(dict.fromkeys(other for other in names if other != name)),
        key=key,
        inferred=version.is_inferred,
        source=source,
    )
    rows = [row for kind in version.kinds for row in kind.rows]
    samples = tuple(profile_of(one.path, [_value(row, split(one.path)) for row in rows]) for one in version.attributes)
    return VersionTask(0, name, seen_of(declaration), declaration, samples, (replace(wait, records=version.records),))


def _value(row: Mapping[str, Any], path: Sequence[str]) -> object:
    found: Any = row
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return None if found == PLACEHOLDER else found
