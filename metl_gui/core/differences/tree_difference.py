"""What differs between two trees, in the words of their owners: names, versions, attributes, types, keys, settings.

Positions, ids and fingerprints do not count; the order of versions does, and which attributes are the same (lineages).
A new version is told against the one before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TypeAlias

from metl_gui.core.matrix.node_matches import Matching
from metl_gui.core.trees.declarations import KeyPaths
from metl_gui.core.trees.nodes import Attribute, Schema, Side, Version
from metl_gui.core.trees.trees import Tree
from metl_gui.values import Value

AttributePair: TypeAlias = tuple[Attribute, Attribute]


class TreeKind(StrEnum):
    """What was done to a node. ``ADDED`` and ``REMOVED`` are of the smallest thing that is named."""

    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    ALIAS_ADDED = "alias added"
    ALIAS_REMOVED = "alias removed"
    SETTING = "setting changed"
    ORDER = "versions in another order"
    LABELS = "labels changed"
    KEY = "key changed"
    TYPE = "type changed"
    OPTIONAL = "optional changed"
    DOC = "documentation changed"
    JOINED = "lineage joined"
    SPLIT = "lineage split"
    IGNORED = "never to be mapped"
    RECALLED = "to be mapped again"


class TreeDifference(Value):
    """One thing that differs between two trees.

    Args:
        side: the tree.
        name: schema or entity, as the document after calls it; as the one before did where it is gone.
        version: label of the version it is about, ``""`` for the schema or entity as a whole.
        kind: see ``TreeKind``.
        path: of the attribute, or name of the setting; ``""`` when it is about neither.
        before, after: what it was and is, in words; ``""`` for nothing.
    """

    side: Side
    name: str
    version: str
    kind: TreeKind
    path: str = ""
    before: str = ""
    after: str = ""

    @property
    def is_gain(self) -> bool:
        """Whether something came."""
        return self.kind in {TreeKind.ADDED, TreeKind.ALIAS_ADDED, TreeKind.JOINED, TreeKind.IGNORED}

    @property
    def is_loss(self) -> bool:
        """Whether something went."""
        return self.kind in {TreeKind.REMOVED, TreeKind.ALIAS_REMOVED, TreeKind.SPLIT, TreeKind.RECALLED}

    def words(self) -> str:
        """Describe what differs, without the names of schema and version."""
        if self.kind in {TreeKind.ADDED, TreeKind.REMOVED}:
            noun = "schema" if self.side is Side.EXTRACTION else "entity"
            what = self.path or (f"version {self.version}" if self.version else noun)
            facts = self.after or self.before
            return f"{what} {self.kind.value}" + (f" ({facts})" if facts else "")
        return f"{_BEGINNINGS[self.kind].format(self.path)}{_said(self)}"


_BEGINNINGS = {
    TreeKind.RENAMED: "renamed: ",
    TreeKind.ALIAS_ADDED: "answers to ",
    TreeKind.ALIAS_REMOVED: "does not answer any more to ",
    TreeKind.SETTING: "{}: ",
    TreeKind.ORDER: "order of versions: ",
    TreeKind.LABELS: "labels: ",
    TreeKind.KEY: "key: ",
    TreeKind.TYPE: "{}: ",
    TreeKind.OPTIONAL: "{}: ",
    TreeKind.DOC: "{} is described in other words",
    TreeKind.JOINED: "",
    TreeKind.SPLIT: "",
    TreeKind.IGNORED: "{} is never to be mapped",
    TreeKind.RECALLED: "{} is to be mapped again",
}


def _said(difference: TreeDifference) -> str:
    before, after = difference.before, difference.after
    match difference.kind:
        case TreeKind.DOC | TreeKind.RECALLED:
            return ""
        case TreeKind.IGNORED:
            return f": {after}"
        case TreeKind.ALIAS_ADDED | TreeKind.ALIAS_REMOVED:
            return after or before
        case TreeKind.JOINED:
            return f"{after} continues {before}"
        case TreeKind.SPLIT:
            return f"{after} does not continue {before} any more"
        case _:
            return f"{before or 'not set'} → {after or 'not set'}"


def schema_differences(
    side: Side, trees: tuple[Tree, Tree], pair: tuple[int | None, int | None], matching: Matching
) -> Iterator[TreeDifference]:
    """Return what differs of one schema or entity.

    Args:
        side: the tree.
        trees: before and after.
        pair: ids of the schema or entity in each.
        matching: which node is which.
    """
    old, new = (None if id_ is None else tree.schema(id_) for tree, id_ in zip(trees, pair, strict=True))
    if new is None:
        if old is not None:
            yield TreeDifference(side, old.name, "", TreeKind.REMOVED, before=_counted(old.version_ids, "version"))
        return
    versions = trees[1].versions(new.id)
    if old is None:
        yield TreeDifference(side, new.name, "", TreeKind.ADDED, after=_counted(versions, "version"))
        for setting, value in new.settings:
            yield TreeDifference(side, new.name, "", TreeKind.SETTING, setting, "", value)
    else:
        yield from _facts(side, old, new)
    yield from _ignored(side, trees, (old, new), matching)
    versions_difference = _VersionDifferences(side, new.name, trees[0] if old is not None else None, matching)
    yield from versions_difference.differences(old.version_ids if old else (), versions)


def _facts(side: Side, old: Schema, new: Schema) -> Iterator[TreeDifference]:
    if old.name != new.name:
        yield TreeDifference(side, new.name, "", TreeKind.RENAMED, before=old.name, after=new.name)
    for alias in sorted(set(new.aliases) - set(old.aliases)):
        yield TreeDifference(side, new.name, "", TreeKind.ALIAS_ADDED, after=alias)
    for alias in sorted(set(old.aliases) - set(new.aliases)):
        yield TreeDifference(side, new.name, "", TreeKind.ALIAS_REMOVED, before=alias)
    before, after = dict(old.settings), dict(new.settings)
    for name in sorted(before.keys() | after.keys()):
        was, is_ = before.get(name, ""), after.get(name, "")
        if was != is_:
            yield TreeDifference(side, new.name, "", TreeKind.SETTING, name, was, is_)


def _ignored(
    side: Side, trees: tuple[Tree, Tree], pair: tuple[Schema | None, Schema], matching: Matching
) -> Iterator[TreeDifference]:
    """Return which attributes are never to be mapped now, or are to be mapped again, each by its newest path."""
    was, is_ = (_reasons(tree, schema) for tree, schema in zip(trees, pair, strict=True))
    if was:
        now = _newest_paths(side, trees, pair[1], matching, frozenset(was))
        was = {now.get(path, path): reason for path, reason in was.items()}
    for path in sorted(was.keys() | is_.keys()):
        before, after = was.get(path, ""), is_.get(path, "")
        if before != after:
            kind = TreeKind.IGNORED if after else TreeKind.RECALLED
            yield TreeDifference(side, pair[1].name, "", kind, path, before, after)


def _newest_paths(
    side: Side, trees: tuple[Tree, Tree], schema: Schema, matching: Matching, paths: frozenset[str]
) -> dict[str, str]:
    """Return what attributes are called in the newest version after, by what they are called in the newest before."""
    before = ((matching.version(side, id_), id_) for id_ in reversed(schema.version_ids))
    lineages: dict[str, int] = {}
    for known, id_ in before:
        there = {a.path for a in trees[0].version(known).attributes} if known is not None else set()
        found = {a.path: a.lineage for a in trees[1].version(id_).attributes if a.path in paths & there}
        lineages = found | lineages
        if len(lineages) == len(paths):
            break
    newest = trees[1].newest_of_lineages(schema.id, lineages.values())
    return {path: newest[lineage].path for path, lineage in lineages.items()}


def _reasons(tree: Tree, schema: Schema | None) -> dict[str, str]:
    """Return why attributes are never to be mapped, by path; lineages that ended under one path count as one."""
    found: dict[str, str] = {}
    if schema is None:
        return found
    newest = tree.newest_of_lineages(schema.id, schema.ignored_lineages)
    for mark in schema.ignored:
        attribute = newest.get(mark.lineage)
        if attribute is not None:
            found[attribute.path] = "; ".join(sorted({mark.reason, *filter(None, [found.get(attribute.path)])}))
    return found


class _VersionDifferences(Value):
    """Tells what differs of the versions of one schema or entity."""

    side: Side
    name: str
    before: Tree | None
    matching: Matching

    def differences(self, old_ids: tuple[int, ...], versions: tuple[Version, ...]) -> Iterator[TreeDifference]:
        pairs: list[tuple[Version, Version]] = []
        previous: Version | None = None
        for version in versions:
            id_ = self.matching.version(self.side, version.id) if self.before is not None else None
            if id_ is None or self.before is None:
                yield self._one(
                    version.label,
                    TreeKind.ADDED,
                    after=_counted(version.attributes, "attribute"),
                )
                yield from self._against(previous, version)
            else:
                old = self.before.version(id_)
                pairs.append((old, version))
                yield from self._within(old, version)
            previous = version
        met = {old.id for old, _ in pairs}
        for id_ in old_ids:
            if id_ not in met and self.before is not None:
                yield self._one(
                    self.before.version(id_).label,
                    TreeKind.REMOVED,
                    before=_counted(self.before.version(id_).attributes, "attribute"),
                )
        kept = tuple(id_ for id_ in old_ids if id_ in met)
        if tuple(old.id for old, _ in pairs) != kept and self.before is not None:
            was = ", ".join(self.before.version(id_).label for id_ in kept)
            yield self._one("", TreeKind.ORDER, before=was, after=", ".join(v.label for _, v in pairs))
        yield from self._lineages(sorted(pairs, key=lambda pair: old_ids.index(pair[0].id)))

    def _one(self, version: str, kind: TreeKind, path: str = "", before: str = "", after: str = "") -> TreeDifference:
        return TreeDifference(self.side, self.name, version, kind, path, before, after)

    def _against(self, previous: Version | None, version: Version) -> Iterator[TreeDifference]:
        """Tell a new version against the one before it, attributes by lineage."""
        if previous is not None:
            known = {a.lineage: a for a in previous.attributes}
            pairs = [(known[a.lineage], a) for a in version.attributes if a.lineage in known]
            yield from self._attributes(previous, version, pairs)

    def _within(self, old: Version, new: Version) -> Iterator[TreeDifference]:
        """Return what became of a version."""
        if old is new:
            return
        if old.labels != new.labels:
            yield self._one(new.label, TreeKind.LABELS, "", ", ".join(old.labels), ", ".join(new.labels))
        if old.key != new.key:
            yield self._one(new.label, TreeKind.KEY, "", _key_words(old.key), _key_words(new.key))
        was = self.matching.attributes(old, new)
        known = {a.id: a for a in old.attributes}
        pairs = [(known[was[a.id]], a) for a in new.attributes if a.id in was]
        yield from self._attributes(old, new, pairs, with_docs=self.matching.is_by_ids)

    def _attributes(
        self, old: Version, new: Version, pairs: list[AttributePair], with_docs: bool = False
    ) -> Iterator[TreeDifference]:
        old_met, new_met = {a.id for a, _ in pairs}, {a.id for _, a in pairs}
        for a in new.attributes:
            if a.id not in new_met:
                yield self._one(new.label, TreeKind.ADDED, a.path, after=a.type_text)
        for a in old.attributes:
            if a.id not in old_met:
                yield self._one(new.label, TreeKind.REMOVED, a.path, before=a.type_text)
        for one, other in pairs:
            if one.path != other.path:
                yield self._one(new.label, TreeKind.RENAMED, other.path, one.path, other.path)
            if (one.type, one.logical, one.scale) != (other.type, other.logical, other.scale):
                yield self._one(new.label, TreeKind.TYPE, other.path, *_type_words(one, other))
            if one.optional != other.optional:
                words = [("required", "optional")[a.optional] for a in (one, other)]
                yield self._one(new.label, TreeKind.OPTIONAL, other.path, *words)
            if with_docs and one.doc != other.doc:
                yield self._one(new.label, TreeKind.DOC, other.path, one.doc, other.doc)

    def _lineages(self, versions: Iterable[tuple[Version, Version]]) -> Iterator[TreeDifference]:
        """Return which attributes that both trees have became the same, or are not the same any more.

        A lineage is named by the first of those attributes, so that a version that went or came parts nothing.
        """
        names: list[tuple[str, str]] = []
        first_old: dict[int, int] = {}
        first_new: dict[int, int] = {}
        told: set[tuple[int, int]] = set()
        for old, new in versions:
            was = self.matching.attributes(old, new)
            known = {a.id: a for a in old.attributes}
            for attribute in new.attributes:
                if attribute.id not in was:
                    continue
                here = len(names)
                names.append((new.label, attribute.path))
                one = first_old.setdefault(known[was[attribute.id]].lineage, here)
                other = first_new.setdefault(attribute.lineage, here)
                if one != other and (one, other) not in told:
                    told.add((one, other))
                    kind = TreeKind.JOINED if other < one else TreeKind.SPLIT
                    (since, early), (label, late) = names[min(one, other)], names[max(one, other)]
                    yield self._one(label, kind, late, f"{early} of version {since}", late)


def _counted(things: tuple[object, ...], noun: str) -> str:
    return f"{len(things)} {noun}{'' if len(things) == 1 else 's'}"


def _key_words(key: KeyPaths) -> str:
    return "unknown" if key is None else ", ".join(key) or "none"


def _type_words(one: Attribute, other: Attribute) -> tuple[str, str]:
    if one.type_text != other.type_text:
        return one.type_text, other.type_text
    return f"{one.type} {one.logical}".rstrip(), f"{other.type} {other.logical}".rstrip()
