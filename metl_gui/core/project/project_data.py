"""What a project keeps beside its states, said in names, so that two files can be compared and merged.

Ids of two files say nothing about each other. So what a thing is about, and which one it is, are told by names, labels,
paths, words, people and moments: two files keep the same thing exactly when these are equal (``NamedItem.key``).
Source: docs/reference/project-file.md, "States" (what is no part of one); docs/guide/teams.md, "Compare and merge".
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.node_matches import Matching, SameIds, SameNames, by_names
from metl_gui.core.project.assignments import Assignment
from metl_gui.core.project.comments import Comment, CommentSubject, Spot
from metl_gui.core.project.refusals import RefusedRename, RefusedSuggestion
from metl_gui.core.project.sample_profiles import SchemaProfile
from metl_gui.core.project.version_tasks import VersionTask
from metl_gui.core.project.writer_schemas import WriterSchema
from metl_gui.core.trees.nodes import Attribute, Side, Version
from metl_gui.values import Value


class ItemKind(StrEnum):
    """The kinds of things beside the states, in the order in which they are told."""

    SETTING = "project setting"
    STATE_NAME = "state name"
    COMMENT = "comment"
    ASSIGNMENT = "assignment"
    REFUSED_SUGGESTION = "refused suggestion"
    REFUSED_RENAME = "refused rename"
    VERSION_TASK = "version task"
    SAMPLES = "included samples"
    PROFILE = "profile"
    WIRE_SCHEMA = "wire schema"


class ProjectSetting(Value):
    """A setting of the project that is not at its default."""

    name: str
    value: str


class StateName(Value):
    """What a person called a state.

    Args:
        state: its number, which may be another state in another file.
        name: what it is called.
        made: who did what when to make the state: this is the same in every copy of the project that has it.
    """

    state: int
    name: str
    made: str


class IncludedSamples(Value):
    """The samples of a schema that the project holds: JSON lines with masked values hidden."""

    schema_id: int
    text: bytes

    @property
    def lines(self) -> list[bytes]:
        """One sample each."""
        return [line for line in self.text.split(b"\n") if line]

    @property
    def is_too_much(self) -> bool:
        """Whether a reader would leave some of them out."""
        return len(self.lines) > MOST_INCLUDED or len(self.text) > MOST_INCLUDED_BYTES


MOST_INCLUDED, MOST_INCLUDED_BYTES = 400, 2 << 20
"""So many samples of one schema are kept, of so many bytes together, and no more is read."""

Gathered: TypeAlias = VersionTask | IncludedSamples | SchemaProfile
"""What was gathered from messages."""

Thing: TypeAlias = (
    ProjectSetting | StateName | Comment | Assignment | RefusedSuggestion | RefusedRename | Gathered | WriterSchema
)


class ProjectItem(NamedTuple):
    """A thing as one file keeps it, in ids of that file; ``when_ms`` in milliseconds since 1970, 0 where none is."""

    thing: Thing
    who: str = ""
    when_ms: int = 0


class ProjectDataChange(Value):
    """What is put beside the states, in place of what had its key before, and what goes from there."""

    put: tuple[ProjectItem, ...] = ()
    removed: tuple[ProjectItem, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.put or self.removed)


Key: TypeAlias = tuple[ItemKind, tuple[str, ...]]
Said: TypeAlias = tuple[bytes, str]
"""What a thing says, to compare and for people."""


class NamedItem(Value):
    """A thing in names.

    Args:
        key: which one it is.
        says: what differs where two files keep something else under one key; empty where being there is all.
        place: what it is about, for people.
        words: what it says, for people.
        kept: the thing in ids of the document that it was named for, ``None`` where that does not have its nodes.
        own: the thing in ids of its own file.
    """

    key: Key
    says: bytes
    place: str
    words: str
    kept: ProjectItem | None
    own: ProjectItem

    @property
    def kind(self) -> ItemKind:
        """What kind of thing it is."""
        return self.key[0]


Entries: TypeAlias = Mapping[Key, NamedItem]


class ProjectDataDifference(Value):
    """One thing beside the states that differs.

    Args:
        kind: what it is.
        place: what it is about.
        before, after: what it says; ``None`` where it is not there.
        who, when_ms: who wrote it, and when; nobody and 0 where that is not kept.
    """

    kind: ItemKind
    place: str
    before: str | None
    after: str | None
    who: str = ""
    when_ms: int = 0

    @property
    def is_gain(self) -> bool:
        """Whether it came."""
        return self.before is None

    @property
    def is_loss(self) -> bool:
        """Whether it went."""
        return self.after is None

    def words(self) -> str:
        """Say on one line what it says, and what it said."""
        before, after = (None if each is None else " ".join(each.split()) for each in (self.before, self.after))
        if before is None or after is None:
            return before or after or ""
        return f"{after} (was {before})"


def project_data_differences(before: Entries, after: Entries) -> tuple[ProjectDataDifference, ...]:
    """Compare what two files keep beside their states, named for one document."""
    found = []
    for key in sorted(before.keys() | after.keys(), key=_order):
        one, other = before.get(key), after.get(key)
        if one is not None and other is not None and one.says == other.says:
            continue
        shown = other or one
        if shown is not None:
            was, is_ = one.words if one else None, other.words if other else None
            found.append(ProjectDataDifference(key[0], shown.place, was, is_, shown.own.who, shown.own.when_ms))
    return tuple(found)


def in_order(entries: Entries) -> list[NamedItem]:
    """Return entries by kind, then by what they are about."""
    return [entries[key] for key in sorted(entries, key=_order)]


_KINDS = tuple(ItemKind)


def _order(key: Key) -> tuple[int, tuple[str, ...]]:
    return _KINDS.index(key[0]), key[1]


class Node(NamedTuple):
    """A schema, entity or version: its name, and its id in the document that names are for, where it has it."""

    name: str
    id: int | None


class Naming:
    """Names the nodes of one file as another document has them.

    Args:
        own: the document of the file.
        target: the document that is named for.
        routes: ways to it, each some matchings one after the other; the first that arrives is taken.
        base: names an earlier file; what the target does not have is called as there.
        to_base: leads to the nodes of that file.
        is_copy: own began as a copy of that file, so that ids of nodes that it has no more are those of that file.
    """

    def __init__(
        self,
        own: Document,
        target: Document,
        routes: Iterable[tuple[Matching, ...]],
        base: Naming | None = None,
        to_base: Matching | None = None,
        is_copy: bool = False,
    ) -> None:
        self._own, self._target = own, target
        self._routes = tuple(routes)
        self._base, self._to_base = base, to_base
        self._gone = base if is_copy else None

    @classmethod
    def of(cls, own: Document) -> Naming:
        """Name the nodes of a document as they are."""
        return cls(own, own, ((SameIds(own),),))

    @classmethod
    def between(cls, own: Document, target: Document) -> Naming:
        """Name the nodes of a document as another project has them."""
        return cls(own, target, ((LazyNames(target, own),),))

    def schema(self, side: Side, id_: int) -> Node | None:
        """Name a schema or entity; ``None`` where nothing knows its name."""
        own = self._own.tree(side).find_schema(id_)
        if own is None:
            return self._gone.schema(side, id_) if self._gone is not None else None
        for route in self._routes:
            found = _arrived(id_, side, [matching.schema for matching in route])
            if found is not None:
                return Node(self._target.tree(side).schema(found).name, found)
        known = self._to_base.schema(side, id_) if self._to_base is not None else None
        named = self._base.schema(side, known) if self._base is not None and known is not None else None
        return Node(named.name if named is not None else own.name, None)

    def version(self, side: Side, id_: int) -> Node | None:
        """Name a version by its label; ``None`` where nothing knows it."""
        own = self._own.tree(side).find_version(id_)
        if own is None:
            return self._gone.version(side, id_) if self._gone is not None else None
        for route in self._routes:
            found = _arrived(id_, side, [matching.version for matching in route])
            if found is not None:
                return Node(self._target.tree(side).version(found).label, found)
        known = self._to_base.version(side, id_) if self._to_base is not None else None
        named = self._base.version(side, known) if self._base is not None and known is not None else None
        return Node(named.name if named is not None else own.label, None)

    def spot(self, side: Side, spot: Spot) -> tuple[tuple[str, str, str], Spot | None] | None:
        """Name a spot by schema, version and path, and say where it is in the target; ``None`` where nobody knows."""
        schema = self.schema(side, spot.schema)
        if schema is None:
            return None
        if not spot.version:
            return (schema.name, "", ""), Spot(schema.id) if schema.id is not None else None
        version = self._own.tree(side).find_version(spot.version)
        attribute = version.attribute(spot.attribute) if version is not None and spot.attribute else None
        if version is None and self._gone is not None:
            found = self._gone.spot(side, spot)
            if found is not None:
                return found
        if spot.attribute and attribute is None:
            version, attribute = self._of_lineage(side, spot.schema, spot.lineage)
        label = self.version(side, version.id) if version is not None else None
        if label is None or (spot.attribute and attribute is None):
            return None
        path = attribute.path if attribute is not None else ""
        if schema.id is None or label.id is None:
            return (schema.name, label.name, path), None
        there = self._target.tree(side).version(label.id).at_path(path) if path else None
        if path and there is None:
            return (schema.name, label.name, path), None
        placed = Spot(schema.id, label.id, *((there.id, there.lineage) if there is not None else ()))
        return (schema.name, label.name, path), placed

    def lineage(self, side: Side, schema_id: int, lineage: int, path: str) -> int:
        """Return the lineage in the target of an attribute of this file, of one of that path else; 0 for none."""
        version, attribute = self._of_lineage(side, schema_id, lineage)
        if version is not None and attribute is not None:
            found = self.spot(side, Spot(schema_id, version.id, attribute.id, lineage))
            if found is not None and found[1] is not None:
                return found[1].lineage
        schema = self.schema(side, schema_id)
        versions = self._target.tree(side).versions(schema.id) if schema is not None and schema.id is not None else ()
        named = (version.at_path(path) for version in reversed(versions))
        return next((each.lineage for each in named if each is not None), 0)

    def _of_lineage(self, side: Side, schema_id: int, lineage: int) -> tuple[Version | None, Attribute | None]:
        """Find the newest version of a schema that has a lineage, and the attribute."""
        tree = self._own.tree(side)
        versions = tree.versions(schema_id) if tree.find_schema(schema_id) is not None else ()
        for version in reversed(versions):
            attribute = version.of_lineage(lineage)
            if attribute is not None:
                return version, attribute
        return None, None


class LazyNames:
    """Two projects by their names, matched when somebody asks: most projects keep little beside their states."""

    is_by_ids = False

    def __init__(self, before: Document, after: Document) -> None:
        self._before, self._after = before, after

    @cached_property
    def _names(self) -> SameNames:
        return by_names(self._before, self._after)

    def schema(self, side: Side, id_: int) -> int | None:
        """Return the schema or entity that answers to the same name."""
        return self._names.schema(side, id_)

    def version(self, side: Side, id_: int) -> int | None:
        """Return the version of the same content or label."""
        return self._names.version(side, id_)

    def attributes(self, before: Version, after: Version) -> dict[int, int]:
        """Return the attributes of the same paths."""
        return self._names.attributes(before, after)


def entries(things: Iterable[ProjectItem], naming: Naming) -> dict[Key, NamedItem]:
    """Say things in names; what is about nodes that nobody can name any more is left out.

    Of what a file keeps twice, each has its number in its key.
    """
    found: dict[Key, NamedItem] = {}
    for kept in things:
        entry = _entry(kept, naming)
        if entry is None:
            continue
        (kind, names), number = entry.key, 1
        while entry.key in found:
            number += 1
            entry = replace(entry, key=(kind, (*names, str(number))))
        found[entry.key] = entry
    return found


def _arrived(id_: int, side: Side, steps: Iterable[Callable[[Side, int], int | None]]) -> int | None:
    """Follow a node along a route; ``None`` where it does not arrive."""
    found: int | None = id_
    for step in steps:
        found = None if found is None else step(side, found)
    return found


def with_thing(entry: NamedItem, thing: Gathered) -> NamedItem:
    """Return an entry with another thing of its key, in ids of the document that it was named for."""
    says, words = _said(thing)
    return replace(entry, says=says, words=words, kept=entry.own._replace(thing=thing))


def _entry(kept: ProjectItem, naming: Naming) -> NamedItem | None:
    """Say a thing in names; ``None`` where nothing knows the names of what it is about."""
    thing = kept.thing
    if isinstance(thing, Comment):
        return _comment(kept, thing, naming)
    if isinstance(thing, Assignment):
        return _assignment(kept, thing, naming)
    if isinstance(thing, RefusedSuggestion):
        return _refusal(kept, thing, naming)
    if isinstance(thing, RefusedRename):
        return _rename(kept, thing, naming)
    if isinstance(thing, IncludedSamples | SchemaProfile):
        return _of_schema(kept, thing, naming)
    says, words = _said(thing)
    key, place = _own_key(thing)
    return NamedItem(key, says, place, words, kept, kept)


def _own_key(thing: ProjectSetting | StateName | WriterSchema | VersionTask) -> tuple[Key, str]:
    """Return the key and the place of what is about no node of the trees."""
    match thing:
        case ProjectSetting(name):
            return (ItemKind.SETTING, (name,)), name
        case StateName(state, _, made):
            return (ItemKind.STATE_NAME, (f"{state:012}", made)), f"state {state:,}"
        case WriterSchema(id_, schema=schema):
            return (ItemKind.WIRE_SCHEMA, (schema, id_)), f"{schema}, id {id_}"
        case VersionTask(_, schema, seen):
            return (ItemKind.VERSION_TASK, (schema, seen)), f"{schema} {seen}"


def _said(thing: ProjectSetting | StateName | WriterSchema | Gathered) -> Said:
    """Return what a thing says, to compare and for people."""
    match thing:
        case ProjectSetting(_, text) | StateName(_, text):
            return text.encode("utf-8", "surrogatepass"), text
        case WriterSchema():
            says = msgspec.json.encode((thing.kind, thing.fingerprint, thing.text))
            return says, f"{thing.kind} {_mark(says)}"
        case VersionTask():
            says = msgspec.json.encode((thing.declaration, thing.samples, thing.waits, thing.dismissed_by))
            waits = f"{number_of(thing.records, 'record')} wait{'s' if thing.records == 1 else ''}"
            words = f"dismissed by {thing.dismissed_by}" if thing.dismissed_by is not None else waits
            return says, f"{words} {_mark(says)}"
        case IncludedSamples():
            return thing.text, f"{number_of(len(thing.lines), 'sample')} {_mark(thing.text)}"
        case SchemaProfile():
            says = msgspec.json.encode((thing.rows, thing.when_ms, thing.attributes))
            return says, f"of {number_of(thing.rows, 'row')} {_mark(says)}"


def _comment(kept: ProjectItem, comment: Comment, naming: Naming) -> NamedItem | None:
    names: list[tuple[str, str, str]] = []
    spots: list[Spot | None] = []
    is_placed = True
    for side, end in ((Side.EXTRACTION, comment.subject.source), (Side.CDM, comment.subject.target)):
        found = (("", "", ""), None) if end is None else naming.spot(side, end)
        if found is None:
            return None
        names.append(found[0])
        spots.append(found[1])
        is_placed = is_placed and (end is None or found[1] is not None)
    is_block = comment.subject.kind == "block"
    if is_block:  # it holds whatever version the entity gets
        names[1] = (names[1][0], "", "")
    when = moment(comment.when_ms)
    key = ItemKind.COMMENT, (*names[0], *names[1], comment.who, f"{comment.when_ms:015}", comment.text)
    place = " → ".join(_spot_words(each, is_block) for each in names if each[0])
    placed = Comment(comment.id, CommentSubject(*spots), comment.text, comment.who, comment.when_ms)
    there = ProjectItem(placed, comment.who, comment.when_ms) if is_placed else None
    return NamedItem(key, b"", f"{place} ({comment.who}, {when})", comment.text, there, kept)


def _spot_words(names: tuple[str, str, str], is_block: bool) -> str:
    schema, label, path = names
    return f"{schema}, {path}" if path else f"{schema}@{label}" if is_block and label else schema


def _assignment(kept: ProjectItem, assignment: Assignment, naming: Naming) -> NamedItem | None:
    schema = naming.schema(Side.EXTRACTION, assignment.key[0])
    entity = naming.schema(Side.CDM, assignment.key[1])
    version = naming.version(Side.EXTRACTION, assignment.key[2])
    if schema is None or entity is None or version is None:
        return None
    key = ItemKind.ASSIGNMENT, (schema.name, entity.name, version.name)
    there = None
    if schema.id is not None and entity.id is not None and version.id is not None:
        ids = schema.id, entity.id, version.id
        there = kept._replace(thing=Assignment(ids, assignment.assignee, kept.who, kept.when_ms))
    place = f"{schema.name}@{version.name} → {entity.name}"
    return NamedItem(key, assignment.assignee.encode(), place, assignment.assignee, there, kept)


def _refusal(kept: ProjectItem, refusal: RefusedSuggestion, naming: Naming) -> NamedItem | None:
    schema = naming.schema(Side.EXTRACTION, refusal.schema_id)
    entity = naming.schema(Side.CDM, refusal.entity_id)
    if schema is None or entity is None:
        return None
    p = naming.lineage(Side.EXTRACTION, refusal.schema_id, refusal.p_lineage, refusal.from_path)
    q = naming.lineage(Side.CDM, refusal.entity_id, refusal.q_lineage, refusal.to_path)
    there = None
    if schema.id is not None and entity.id is not None and p and q:
        there = kept._replace(thing=RefusedSuggestion(schema.id, p, entity.id, q, refusal.from_path, refusal.to_path))
    key = ItemKind.REFUSED_SUGGESTION, (schema.name, refusal.from_path, entity.name, refusal.to_path)
    place = f"{schema.name}, {refusal.from_path} → {entity.name}, {refusal.to_path}"
    return NamedItem(key, b"", place, _by(kept), there, kept)


def _rename(kept: ProjectItem, refused: RefusedRename, naming: Naming) -> NamedItem | None:
    schema = naming.schema(refused.side, refused.schema_id)
    if schema is None:
        return None
    ends = ((refused.lost, refused.lost_lineage), (refused.candidate, refused.candidate_lineage))
    lineages = [naming.lineage(refused.side, refused.schema_id, lineage, path) for path, lineage in ends]
    there = None
    if schema.id is not None:
        there = kept._replace(thing=RefusedRename(refused.side, schema.id, refused.lost, refused.candidate, *lineages))
    key = ItemKind.REFUSED_RENAME, (refused.side.value, schema.name, refused.lost, refused.candidate)
    return NamedItem(key, b"", f"{schema.name}, {refused.lost} to {refused.candidate}", _by(kept), there, kept)


def _of_schema(kept: ProjectItem, thing: IncludedSamples | SchemaProfile, naming: Naming) -> NamedItem | None:
    schema = naming.schema(Side.EXTRACTION, thing.schema_id)
    if schema is None:
        return None
    there = None if schema.id is None else kept._replace(thing=replace(thing, schema_id=schema.id))
    says, words = _said(thing)
    kind = ItemKind.SAMPLES if isinstance(thing, IncludedSamples) else ItemKind.PROFILE
    return NamedItem((kind, (schema.name,)), says, schema.name, words, there, kept)


def _by(kept: ProjectItem) -> str:
    return f"by {kept.who}, {moment(kept.when_ms)}"


def _mark(content: bytes) -> str:
    """Tell a content that is too long to say from others."""
    return f"#{hashlib.blake2b(content, digest_size=4).hexdigest()}"


def moment(when_ms: int) -> str:
    """Write a moment (milliseconds since 1970) to the minute, in UTC."""
    try:
        return datetime.fromtimestamp(when_ms / 1000, UTC).isoformat(timespec="minutes").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):  # a file that another hand wrote
        return str(when_ms)
