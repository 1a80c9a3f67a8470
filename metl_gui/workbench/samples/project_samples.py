"""The samples of one open project at hand: read once, matched to versions by the kernel's rules, values by attribute.

Everything that leaves here for people's eyes, or as evidence, is without masked values.
Source: docs/guide/running.md, "See at once what an edit does"; docs/guide/mapping.md, "Own the model" (masks).
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.masks import fed_by_masked, masked_lineages
from metl_gui.core.project.sample_profiles import SchemaProfile
from metl_gui.core.project.value_summaries import ValueCounts
from metl_gui.core.suggest.values import ValueEvidence, shared_words, values_alike
from metl_gui.core.trees.nodes import Attribute, Side
from metl_gui.core.trees.paths import split
from metl_gui.core.trees.trees import Tree
from metl_gui.engine.kernel.plan import DEFAULT_PLACEHOLDER
from metl_gui.engine.kernel.versions import value_at
from metl_gui.errors import RecordError, UserError
from metl_gui.formats.json_text import Members, is_null
from metl_gui.formats.value_profiles import shown_value
from metl_gui.values import Value
from metl_gui.workbench.samples.cache import SampleCache
from metl_gui.workbench.samples.kept_samples import all_samples
from metl_gui.workbench.samples.preview import previewer_of
from metl_gui.workbench.session import Workbench

SHOWN_VALUES = 5
"""So many different values of an attribute are shown."""

_LONGEST_VALUE = 60
_MOST_VALUES = 60
_MOST_COUNTED = 500
_EMPTY = ("", "[]", "{}")
_LOOK_SECONDS = 1.0
_MOST_FEEDERS = 12
_MOST_PAIRS = 40_000
Values = tuple[str, ...]


class Sample(Value, eq=False):
    """One sample message, matched to the trees as they are.

    Args:
        schema: the schema.
        version: its version, ``None`` where it is of none that is known.
        op, shape: as of its row.
        when_ms: when it was kept.
        source, place: where it came from.
        raw: the record exactly.
        row: the members of its row.
    """

    schema: int
    version: int | None
    op: str
    shape: str
    when_ms: int
    source: str
    place: str
    raw: bytes
    row: Members | None


@dataclass(slots=True, eq=False)
class _Loaded:
    """The samples of one schema; the tree that they were matched to lives as long as others need it."""

    tree: weakref.ref[Tree]
    mark: tuple[int, int]
    looked: float
    samples: tuple[Sample, ...]
    values: dict[int, dict[int, Values]] = field(default_factory=dict)
    counts: dict[tuple[int, int], ValueCounts] = field(default_factory=dict)


class ProjectSamples:
    """Samples of one project. Calls may come from any thread.

    Args:
        workbench: the open project.
    """

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._cache = SampleCache(workbench.project_id)
        self._lock = threading.RLock()
        self._loaded: dict[int, _Loaded] = {}
        self._profiles: dict[int, SchemaProfile | None] = {}
        self._evidence: dict[BlockKey, dict[Element, ValueEvidence]] = {}
        self._evidence_of: tuple[weakref.ref[Document], weakref.ref[Document]] | None = None
        self._renames: dict[int, tuple[_Loaded, weakref.ref[Tree], Mapping[int, frozenset[str]]]] = {}
        self._schemas: frozenset[int] | None = None
        self._included: frozenset[int] | None = None
        self._previewer = previewer_of(workbench)

    def refresh(self) -> None:
        """Read everything again when it is asked for next: samples were kept, forgotten, included or excluded."""
        with self._lock:
            self._loaded.clear()
            self._profiles.clear()
            self._evidence.clear()
            self._renames.clear()
            self._schemas = self._included = None

    @property
    def schemas(self) -> frozenset[int]:
        """Ids of the schemas that may have samples."""
        with self._lock:
            if self._schemas is None:
                self._schemas = frozenset({*self._cache.schemas(), *self.included})
            return self._schemas

    @property
    def included(self) -> frozenset[int]:
        """Ids of the schemas whose samples the project file holds."""
        with self._lock:
            if self._included is None:
                try:
                    self._included = self._workbench.kept.samples.included()
                except UserError:
                    self._included = frozenset()
            return self._included

    def is_masked(self, document: Document, newest: Document, schema_id: int, attribute: Attribute) -> bool:
        """Whether the values of an attribute of a schema are for nobody's eyes."""
        return attribute.lineage in self.hidden_lineages(document, newest, schema_id)

    def hidden_lineages(self, document: Document, newest: Document, schema_id: int) -> frozenset[int]:
        """Return the lineages of a schema whose values are for nobody's eyes."""
        return _hidden(newest, schema_id) | _hidden(document, schema_id)

    def hidden_targets(self, document: Document, newest: Document, entity_version: int) -> frozenset[int]:
        """Return the ids of attributes of an entity version whose values are for nobody's eyes."""
        return _hidden_targets(newest, entity_version) | _hidden_targets(document, entity_version)

    def of(self, document: Document, schema_id: int) -> tuple[Sample, ...]:
        """Return the samples of a schema, the newest first within each version, versions in turn."""
        return self._load(document, schema_id).samples if schema_id in self.schemas else ()

    def profile(self, schema_id: int) -> SchemaProfile | None:
        """Return what the project says of a schema's values; patterns of masked ones are for nobody's eyes."""
        with self._lock:
            if schema_id not in self._profiles:
                try:
                    self._profiles[schema_id] = self._workbench.kept.samples.profile(schema_id)
                except UserError:
                    self._profiles[schema_id] = None
            return self._profiles[schema_id]

    def values(self, document: Document, newest: Document, version_id: int) -> dict[int, Values]:
        """Return values of the attributes of a schema version, the newest first, by attribute id.

        Where a version has no sample, those of the same attribute in other versions stand for it.

        Args:
            document: the state that is shown.
            newest: the state whose masks hold.
            version_id: the version.
        """
        version = document.extraction.find_version(version_id)
        if version is None or version.schema_id not in self.schemas:
            return {}
        loaded = self._load(document, version.schema_id)
        if not loaded.samples:
            return {}
        hidden = self.hidden_lineages(document, newest, version.schema_id)
        own = self._by_lineage(document, loaded, version_id)
        found: dict[int, Values] = {}
        for attribute in version.attributes:
            if attribute.lineage in hidden:
                continue
            values = own.get(attribute.lineage) or self._elsewhere(document, loaded, attribute.lineage)
            if values:
                found[attribute.id] = values
        return found

    def target_values(self, document: Document, newest: Document, entity_version: int) -> dict[int, Values]:
        """Return values that the attributes of an entity version are fed with, by attribute id.

        Cost: at most a dozen of the blocks that feed it, the newest versions first.
        """
        hidden = self.hidden_targets(document, newest, entity_version)
        found: dict[int, dict[str, None]] = defaultdict(dict)
        for key in self._feeders(document, entity_version):
            block = document.matrix.block(*key)
            values = self.values(document, newest, key[0])
            for q, p in block.elements if block is not None else ():
                if q not in hidden:
                    found[q].update(dict.fromkeys(values.get(p, ())))
        return {q: tuple(values)[:_MOST_VALUES] for q, values in found.items() if values}

    def counts(self, document: Document, newest: Document, version_id: int, attribute_id: int) -> ValueCounts | None:
        """Return what the values of an attribute of a schema version are; ``None`` for a masked one, or without any.

        Where the version has no sample, those of the same attribute in the newest version that has some stand for it.

        Args:
            document: the state that is shown.
            newest: the state whose masks hold.
            version_id, attribute_id: the attribute.

        Cost: at most some hundred samples, once for each attribute.
        """
        version = document.extraction.find_version(version_id)
        attribute = version.attribute(attribute_id) if version is not None else None
        if version is None or attribute is None or version.schema_id not in self.schemas:
            return None
        if self.is_masked(document, newest, version.schema_id, attribute):
            return None
        loaded = self._load(document, version.schema_id)
        others = {s.version for s in loaded.samples if s.version is not None} - {version_id}
        for id_ in (version_id, *sorted(others, reverse=True)):
            found = self._counted(document, loaded, id_, attribute.lineage)
            if found is not None and found.messages:
                return found
        return None

    def target_counts(
        self, document: Document, newest: Document, entity_version: int, attribute_id: int
    ) -> ValueCounts | None:
        """Return what the values are that an attribute of an entity version is fed with; as ``counts``.

        Cost: at most a dozen of the blocks that feed it, the newest versions first.
        """
        if attribute_id in _hidden_targets(newest, entity_version) | _hidden_targets(document, entity_version):
            return None
        total = ValueCounts()
        schemas: set[int] = set()
        for key in self._feeders(document, entity_version):
            block, schema_id = document.matrix.block(*key), document.extraction.schema_of(key[0])
            source = next((e.p for e in block.elements if e.q == attribute_id), None) if block is not None else None
            found = self.counts(document, newest, key[0], source) if source is not None else None
            if found is not None and schema_id not in schemas:  # its other versions stand for each other
                schemas.add(schema_id)
                total.add(found)
        return total if total.messages else None

    def alike(self, document: Document, newest: Document, key: BlockKey) -> Mapping[Element, ValueEvidence]:
        """Return how much alike the values of free attributes of a block are: evidence for suggestions."""
        with self._lock:
            asked = self._evidence_of
            if asked is None or asked[0]() is not document or asked[1]() is not newest:
                self._evidence_of = weakref.ref(document), weakref.ref(newest)
                self._evidence.clear()
            if key in self._evidence:
                return self._evidence[key]
        if not self.schemas:
            return {}
        block = document.matrix.block(*key)
        taken_q = {e.q for e in block.elements} if block is not None else set()
        taken_p = {e.p for e in block.elements} if block is not None else set()
        ours = {p: v for p, v in self.values(document, newest, key[0]).items() if p not in taken_p}
        theirs = (
            {q: v for q, v in self.target_values(document, newest, key[1]).items() if q not in taken_q} if ours else {}
        )
        found: dict[Element, ValueEvidence] = {}
        if len(ours) * len(theirs) <= _MOST_PAIRS:
            for p, one in ours.items():
                for q, other in theirs.items():
                    score = values_alike(one, other)
                    if score:
                        found[Element(q, p)] = ValueEvidence(score, shared_words(one, other))
        with self._lock:
            asked = self._evidence_of
            if asked is not None and asked[0]() is document and asked[1]() is newest:
                self._evidence[key] = found
        return found

    def for_renames(self, document: Document, newest: Document, schema_id: int) -> Mapping[int, frozenset[str]] | None:
        """Return values of all attributes of a schema by id: evidence for renames; ``None`` without samples.

        The same object comes back until samples, versions or masks change, so that who is given it may compare it.
        """
        if schema_id not in self.schemas or document.extraction.find_schema(schema_id) is None:
            return None
        loaded = self._load(document, schema_id)
        with self._lock:
            known = self._renames.get(schema_id)
            if known is not None and known[0] is loaded and known[1]() is newest.extraction:
                return known[2]
        hidden = self.hidden_lineages(document, newest, schema_id)
        found: dict[int, frozenset[str]] = {}
        for version in document.extraction.versions(schema_id):
            for lineage, values in self._by_lineage(document, loaded, version.id).items():
                attribute = version.of_lineage(lineage)
                if attribute is not None and lineage not in hidden:
                    found[attribute.id] = found.get(attribute.id, frozenset()) | frozenset(values)
        with self._lock:
            self._renames[schema_id] = loaded, weakref.ref(newest.extraction), found
        return found

    def _load(self, document: Document, schema_id: int) -> _Loaded:
        with self._lock:
            known, now = self._loaded.get(schema_id), time.monotonic()
            is_of_now = known is not None and now - known.looked < _LOOK_SECONDS
            mark = known.mark if known is not None and is_of_now else self._cache.mark(schema_id)
            if known is not None and known.tree() is document.extraction and known.mark == mark:
                known.looked = known.looked if is_of_now else now
                return known
            loaded = _Loaded(weakref.ref(document.extraction), mark, now, tuple(self._matched(document, schema_id)))
            self._previewer.take(Document())  # what a large project was before it was merged would stay in memory
            self._loaded[schema_id] = loaded
            return loaded

    def _matched(self, document: Document, schema_id: int) -> Iterable[Sample]:
        """Match the samples of a schema to its versions; those that belong to another schema by now are not its own."""
        try:
            kept = all_samples(self._workbench, schema_id)
        except UserError:
            kept = self._cache.read(schema_id)
        self._previewer.take(document)
        for each in kept:
            raw = each.incoming
            found = self._previewer.recognize(raw)
            if found is None or found.schema.id != schema_id:
                continue
            facts = each.when_ms, each.source, each.place
            yield Sample(schema_id, found.version, found.row.op, each.shape, *facts, raw, found.row.members)

    def _by_lineage(self, document: Document, loaded: _Loaded, version_id: int) -> dict[int, Values]:
        """Return the different values of each attribute in the samples of one version."""
        with self._lock:
            if version_id in loaded.values:
                return loaded.values[version_id]
            version = document.extraction.version(version_id)
            wanted = [(a.lineage, split(a.path)) for a in version.attributes]
            placeholder = document.extraction.schema(version.schema_id).setting("placeholder") or DEFAULT_PLACEHOLDER
            found: dict[int, dict[str, None]] = defaultdict(dict)
            for sample in loaded.samples:
                # What a delete carries beside its key is often filled with zeros (docs/reference/cdc.md, "The
                # envelope").
                if sample.version == version_id and sample.row is not None and sample.op != "d":
                    for lineage, path in wanted:
                        value = _shown_at(sample.row, path)
                        if value and value != placeholder and len(found[lineage]) < _MOST_VALUES:
                            found[lineage].setdefault(value)
            loaded.values[version_id] = {lineage: tuple(values) for lineage, values in found.items() if values}
            return loaded.values[version_id]

    def _counted(self, document: Document, loaded: _Loaded, version_id: int, lineage: int) -> ValueCounts | None:
        """Count the values of one attribute in the samples of one version, ``None`` where it has no such attribute."""
        with self._lock:
            known = loaded.counts.get((version_id, lineage))
            version = document.extraction.version(version_id)
            attribute = version.of_lineage(lineage)
            if known is not None or attribute is None:
                return known
            path = split(attribute.path)
            placeholder = document.extraction.schema(version.schema_id).setting("placeholder") or DEFAULT_PLACEHOLDER
            found = ValueCounts()
            own = (s for s in loaded.samples if s.version == version_id and s.row is not None and s.op != "d")
            for sample in islice(own, _MOST_COUNTED):
                value = _shown_at(sample.row, path) if sample.row is not None else None
                if value != placeholder:  # the message does not carry it, whatever the row has
                    found.take(value, is_empty=value in _EMPTY)
            loaded.counts[version_id, lineage] = found
            return found

    def _elsewhere(self, document: Document, loaded: _Loaded, lineage: int) -> Values:
        versions = dict.fromkeys(sample.version for sample in loaded.samples if sample.version is not None)
        for version_id in sorted(versions, reverse=True):
            values = self._by_lineage(document, loaded, version_id).get(lineage)
            if values:
                return values
        return ()

    def _feeders(self, document: Document, entity_version: int) -> list[BlockKey]:
        """Return the keys of blocks of an entity version whose schemas have samples, one or two of each schema."""
        found: dict[int, list[BlockKey]] = defaultdict(list)
        known = self.schemas
        for key in reversed(document.matrix.row_keys(entity_version)):
            owner = document.extraction.schema_of(key[0])
            if owner in known and len(found[owner]) < 2:
                found[owner].append(key)
                if len(found) >= _MOST_FEEDERS:
                    break
        return [key for keys in found.values() for key in keys][:_MOST_FEEDERS]


def raw_values(samples: Iterable[Sample], path: tuple[str, ...], placeholder: str, longest: int) -> Iterator[bytes]:
    """Yield the values at a path in the rows of samples as they came, none that is null or a placeholder.

    Args:
        samples: the samples.
        path: of the attribute, split.
        placeholder: stands for a value that was not sent; that of Debezium when empty.
        longest: longer values are passed over, in bytes.
    """
    unsent = placeholder or DEFAULT_PLACEHOLDER
    for sample in samples:
        if sample.row is None:
            continue
        try:
            raw = value_at(sample.row, path)
        except RecordError:
            continue
        if raw is None or is_null(raw):
            continue
        value = bytes(raw)
        if len(value) <= longest and value_to_read(value) != unsent:
            yield value


def shortened(value: str) -> str:
    """Return a value on one line, cut where it is long."""
    flat = " ".join(value.split())
    return flat if len(flat) <= _LONGEST_VALUE else flat[: _LONGEST_VALUE - 1] + "…"


def value_to_read(raw: bytes) -> str:
    """Return a JSON value as lists of values show it: texts without quotes, on one line, cut where it is long."""
    return shortened(shown_value(raw))


def _shown_at(row: Members, path: tuple[str, ...]) -> str | None:
    try:
        raw = value_at(row, path)
    except RecordError:
        return None
    return None if raw is None or is_null(raw) else value_to_read(raw)


def _hidden(document: Document, schema_id: int) -> frozenset[int]:
    schema = document.extraction.find_schema(schema_id)
    return masked_lineages(document.extraction, schema) if schema is not None else frozenset()


def _hidden_targets(document: Document, entity_version: int) -> frozenset[int]:
    """Return the ids of masked attributes of an entity version, by a mask of their own or of what feeds them."""
    version = document.cdm.find_version(entity_version)
    if version is None:
        return frozenset()
    lineages = masked_lineages(document.tree(Side.CDM), document.cdm.schema(version.schema_id))
    own = frozenset(a.id for a in version.attributes if a.lineage in lineages)
    return own | fed_by_masked(document, entity_version)
