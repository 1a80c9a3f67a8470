"""The blocks that programs of others may map with: those, and only those, whose messages production sends.

A record is mapped whole or not at all, so no block of a version is among them while one of its blocks is held for a
review. Every format says of what it leaves out what it is and why.

``version_predicates`` says by which columns a query tells the rows of one version from those of the others, as
production tells them by paths. A version fits a row when the row has its required columns and no others than its own;
of several that fit and give the same messages it is the newest; where they differ it is none. Of two versions that can
both fit, a condition on the columns in which they differ is enough.

``sql_type`` and ``common_type`` choose types of databases for the plain types of attributes: a value keeps what it says
in its message.

Source: docs/architecture/model.md, "Algorithms" (A6, whole or not at all); docs/reference/message.md;
docs/reference/formats.md, "Which version a record has".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.canonical import is_in_production
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.project.masks import fed_by_masked, hidden_targets, masked_lineages, schemas_with_masks
from metl_gui.core.trees.nodes import Attribute, Schema, Version
from metl_gui.core.trees.paths import split, split_list
from metl_gui.core.trees.types import is_readable
from metl_gui.values import Value
from metl_gui.workbench.exports.blocks import ExportedBlock, carried

_NAMED = 3


class LeftOut(Value):
    """A block that a format leaves out.

    Args:
        block: schema, version, entity and entity version.
        why: the reason, without the block's name, so that equal reasons can be counted.
    """

    block: tuple[str, str, str, str]
    why: str

    @property
    def name(self) -> str:
        """How people write the block."""
        return "{}@{} → {}@{}".format(*self.block)


class MappedVersion(Value):
    """One version that something is mapped of, with the blocks of its column set.

    Args:
        schema, version: the version.
        blocks: what production maps with or holds of its column set.
        key: key paths in key order, ``()`` for none, ``None`` for unknown.
        has_held: a block waits for a review, so that production sets aside every record of the version.
    """

    schema: Schema
    version: Version
    blocks: tuple[ExportedBlock, ...]
    key: tuple[str, ...] | None
    has_held: bool

    @property
    def left_out(self) -> Iterator[LeftOut]:
        """Say of each block why it cannot be mapped with, where the version is set aside."""
        for block in self.blocks if self.has_held else ():
            told = "it waits for a review" if block.is_held else "another block of its version waits for a review"
            yield LeftOut(block.names, f"{told}, so production sets the records of the version aside")


def mapped_versions(document: Document, include_unconfirmed: bool, watch: Watch, doing: str) -> Iterator[MappedVersion]:
    """Yield the versions that production maps or holds, in canonical order; what is said stands in ``carried``."""
    known = carried(document, include_unconfirmed, watch, doing)
    blocks = (one for one in known if is_in_production(document, one.block, include_unconfirmed))
    for _, group in groupby(blocks, key=lambda one: one.version.id):
        column_set = tuple(group)
        first = column_set[0]
        yield MappedVersion(
            schema=first.schema,
            version=first.version,
            blocks=column_set,
            key=key_of(first.schema, first.version),
            has_held=any(one.is_held for one in column_set),
        )


def mapped_schemas(
    document: Document, include_unconfirmed: bool, watch: Watch, doing: str
) -> Iterator[tuple[Schema, tuple[MappedVersion, ...]]]:
    """Yield the same by schema, versions oldest first."""
    versions = mapped_versions(document, include_unconfirmed, watch, doing)
    for _, group in groupby(versions, key=lambda one: one.schema.id):
        mapped = tuple(group)
        yield mapped[0].schema, mapped


def key_of(schema: Schema, version: Version) -> tuple[str, ...] | None:
    """Return the key paths that production goes by: those of the setting, else the version's own."""
    given = tuple(path.strip() for path in split_list(schema.setting("key")) if path.strip())
    return given or version.key


class ColumnMasks:
    """Tells which columns hold values that people must not see in the window.

    Args:
        document: the state.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._sources: dict[int, frozenset[int]] = {}
        self._targets: dict[int, frozenset[str]] = {}

    def of(self, block: ExportedBlock) -> frozenset[str]:
        """Return the CDM paths of a block that are masked: by themselves, or by a column that feeds them."""
        document, schema, entity_version = self._document, block.schema, block.entity_version
        if schema.id not in self._sources:
            self._sources[schema.id] = masked_lineages(document.extraction, schema)
        if entity_version.id not in self._targets:
            fed = fed_by_masked(document, entity_version.id)
            known = hidden_targets(document, block.entity.name, entity_version.label)
            paths = frozenset(one.path for one in entity_version.attributes if one.id in fed)
            self._targets[entity_version.id] = known | paths
        sources, targets = self._sources[schema.id], self._targets[entity_version.id]
        return frozenset(
            line.target.path for line in block.lines if line.source.lineage in sources or line.target.path in targets
        )


def count_masked(document: Document, include_unconfirmed: bool, watch: Watch) -> int:
    """Count the mapped attributes of all blocks that people must not see; free where nothing is masked."""
    if not (schemas_with_masks(document.extraction) or schemas_with_masks(document.cdm)):
        return 0
    masks = ColumnMasks(document)
    return sum(len(masks.of(block)) for block in carried(document, include_unconfirmed, watch, "Looking at masks"))


def mask_sentences(count: int) -> tuple[str, ...]:
    """Describe what masks mean for values that an export has others read, where there are any."""
    if not count:
        return ()
    attributes = (
        f"{number_of(count, 'mapped attribute')} {'is' if count == 1 else 'are'} masked for people in the window."
    )
    return (f"{attributes} Production outputs hold the values, and so does what this export reads: mind who sees it.",)


def left_out_sentences(found: Iterable[LeftOut]) -> tuple[str, ...]:
    """Describe what is left out, one sentence for each reason, the first blocks by name."""
    by_reason: dict[str, list[str]] = {}
    counts: Counter[str] = Counter()
    for one in found:
        counts[one.why] += 1
        names = by_reason.setdefault(one.why, [])
        if len(names) < _NAMED:
            names.append(one.name)
    return tuple(_sentence(why, names, counts[why]) for why, names in by_reason.items())


def _sentence(why: str, names: list[str], count: int) -> str:
    more = f" and {count - len(names):,} more" if count > len(names) else ""
    return f"Left out {', '.join(names)}{more}: {why}."


def attributes_by_path(version: Version) -> dict[str, Attribute]:
    """Return the attributes of a version by their paths."""
    return {attribute.path: attribute for attribute in version.attributes}


class VersionExclusion(Value):
    """A version that fits too unless one of these columns is missing, or one of those is there; always without any."""

    missing: tuple[str, ...]
    there: tuple[str, ...]


class RowPredicate(Value):
    """What a row of one version must look like.

    Args:
        required: columns that are there.
        own: columns that may be there.
        others: versions that must not fit.
        labels: what the version field may say instead, where the schema has one.
    """

    required: tuple[str, ...]
    own: tuple[str, ...]
    others: tuple[VersionExclusion, ...] = ()
    labels: tuple[str, ...] = ()


class KeyOnlyDelete(Value):
    """A delete that fits no version by its columns, which the newest one with its key takes.

    Args:
        key: columns that are there.
        shapes: required and own columns of every version, none of which fits.
        others: keys of other versions, none of which is there as a whole.
    """

    key: tuple[str, ...]
    shapes: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    others: tuple[tuple[str, ...], ...]


class VersionPredicate(Value):
    """By what the rows of one version are told: full images apart from deletes, which give the key alone.

    Args:
        images, deletes: ``None`` where they cannot be told from those of another version.
        keyed: deletes that it takes by their key alone.
        why: the reason in words, where neither can be.
    """

    images: RowPredicate | None
    deletes: RowPredicate | None
    keyed: KeyOnlyDelete | None = None
    why: str = ""


@dataclass(slots=True)
class _VersionShape:
    """A version as a query sees it: by the outermost names of its rows."""

    version: Version
    mapped: MappedVersion | None
    own: dict[str, None] = field(default_factory=dict)
    required: dict[str, None] = field(default_factory=dict)


def version_predicates(versions: Sequence[Version], mapped: Mapping[int, MappedVersion]) -> dict[int, VersionPredicate]:
    """Say for each version by what its rows are told.

    Args:
        versions: all versions of one schema, oldest first.
        mapped: what is carried of them, by id.
    """
    shapes = [_shape(version, mapped.get(version.id)) for version in versions]
    return {shape.version.id: _telling(at, shapes) for at, shape in enumerate(shapes)}


def _telling(at: int, shapes: list[_VersionShape]) -> VersionPredicate:
    images, deletes = (_told(at, shapes, by_key=by_key) for by_key in (False, True))
    keyed = _keyed(at, shapes)
    is_none = isinstance(deletes, str) and keyed is None
    return VersionPredicate(
        images=None if isinstance(images, str) else images,
        deletes=None if isinstance(deletes, str) else deletes,
        keyed=keyed,
        why=images if is_none and isinstance(images, str) else "",
    )


def _keyed(at: int, shapes: list[_VersionShape]) -> KeyOnlyDelete | None:
    """Return which deletes a version takes by their key; none where another one takes them, or nobody could tell."""
    own, mapped = _key(shapes[at]), shapes[at].mapped
    if mapped is None or not own or mapped.schema.setting("version_field"):
        return None
    others = list[tuple[str, ...]]()
    for place, other in enumerate(shapes):
        key = _key(other)
        if place == at or not key:
            continue
        is_same = _output(shapes[at], other, by_key=True) == _output(other, shapes[at], by_key=True)
        if place > at or not is_same:
            if set(key) <= set(own):
                return None
            others.append(key)
    fits = ((tuple(shape.required), tuple(shape.own)) for shape in shapes)
    return KeyOnlyDelete(own, tuple(dict.fromkeys(fits)), tuple(dict.fromkeys(others)))


def _key(shape: _VersionShape) -> tuple[str, ...]:
    """Return the outermost names of a version's key."""
    key = shape.mapped.key if shape.mapped else shape.version.key
    return tuple(dict.fromkeys(split(path)[0] for path in key or ()))


def _shape(version: Version, mapped: MappedVersion | None) -> _VersionShape:
    shape = _VersionShape(version, mapped)
    for attribute in version.attributes:
        name = split(attribute.path)[0]
        shape.own[name] = None
        if not attribute.optional:
            shape.required[name] = None
    return shape


def _told(at: int, shapes: list[_VersionShape], *, by_key: bool) -> RowPredicate | str:
    shape, others = shapes[at], list[VersionExclusion]()
    labels = shape.version.labels if shape.mapped and shape.mapped.schema.setting("version_field") else ()
    for place, other in enumerate(shapes):
        if other is shape or not _can_both_fit(shape, other):
            continue
        is_same = _output(shape, other, by_key=by_key) == _output(other, shape, by_key=by_key)
        if place < at and is_same:
            continue
        missing = tuple(name for name in other.required if name not in shape.required)
        there = tuple(name for name in shape.own if name not in other.own)
        if not (missing or there or labels):
            label = other.version.label
            if is_same:
                return f"its rows are read as those of version {label}, which they fit too"
            return f"its rows cannot be told from those of version {label}"
        others.append(VersionExclusion(missing, there))
    return RowPredicate(tuple(shape.required), tuple(shape.own), tuple(others), labels)


def _can_both_fit(one: _VersionShape, other: _VersionShape) -> bool:
    return one.required.keys() <= other.own.keys() and other.required.keys() <= one.own.keys()


def _output(shape: _VersionShape, other: _VersionShape, *, by_key: bool) -> object:
    """Return what decides the messages of rows that both could have, by the columns that both have, or by the key."""
    mapped = shape.mapped
    if mapped is None:
        return None
    if by_key and mapped.schema.setting("replica_identity") != "full":
        decisive = {split(path)[0] for path in mapped.key or ()}
    else:
        decisive = set(other.own)
    blocks = frozenset(
        (*block.names[2:], block.is_held, frozenset(pair for name, pair in _pairs(block) if name in decisive))
        for block in mapped.blocks
    )
    return blocks, mapped.key, mapped.has_held


def _pairs(block: ExportedBlock) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the outermost name of each source beside the two paths."""
    for line in block.lines:
        yield split(line.source.path)[0], (line.source.path, line.target.path)


TEXT, JSON = "text", "json"
_PLAIN = {
    "int8": "smallint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "integer": "decimal(38, 0)",
    "number": "double",
    "float": "double",
    "double": "double",
    "boolean": "boolean",
    "string": TEXT,
    "bytes": TEXT,
}
"""By plain type; bytes are text in base64, or digits where the connector writes decimals so; all else is JSON."""


def sql_type(attribute: Attribute) -> str:
    """Return the type of a column that holds the values of an attribute."""
    return _PLAIN.get(attribute.type, JSON)


def common_type(sources: Sequence[Attribute], target: Attribute) -> str:
    """Return the type of a column that several attributes fill.

    It is theirs when they agree; else the target's where all can be read as it, and text where not.
    """
    types = {sql_type(source) for source in sources}
    if len(types) == 1:
        return types.pop()
    is_safe = target.type in _PLAIN and all(is_readable(source, target) for source in sources)
    return sql_type(target) if is_safe else TEXT
