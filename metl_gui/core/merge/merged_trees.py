"""Merge schemas, entities and their versions: names, aliases, labels, keys, settings, what came and what went."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from metl_gui.core.changes.draft import Draft
from metl_gui.core.edits.entities import keeping_model
from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.node_matches import facts_of, match_schemas, match_versions
from metl_gui.core.merge.merged_lineages import merge_lineages
from metl_gui.core.merge.sides import ConflictKind, MergedNodes, ThreeWay, merged_order, settled, settled_set
from metl_gui.core.project.masks import MASK
from metl_gui.core.project.warehouse_settled import SETTLED
from metl_gui.core.trees.nodes import Attribute, Schema, Side, Version
from metl_gui.core.trees.paths import join_list, split_list
from metl_gui.core.trees.schema_names import label_order
from metl_gui.values import Value


class NameMerger:
    """Puts schemas and entities into a draft of ours, without their versions."""

    def __init__(self, draft: Draft, nodes: MergedNodes, documents: ThreeWay[Document]) -> None:
        self._draft = draft
        self._nodes = nodes
        self._documents = documents
        self._side = nodes.side
        self._names: list[tuple[int, list[str]]] = []
        self._fresh: list[int] = []
        """What theirs added or renamed."""

    def put_new(self, result: int, theirs: Schema) -> None:
        """Put a schema or entity that only theirs has."""
        self._nodes.touched.add(result)
        self._fresh.append(result)
        self._names.append((result, list(theirs.aliases)))
        self._draft.put_schema(
            self._side, result, replace(theirs, id=result, version_ids=(), aliases=(), succeeds=(), ignored=())
        )

    def put_facts(self, trio: ThreeWay[Schema], has_base: bool) -> None:
        """Merge what is told of a schema or entity that both have."""
        base, ours, theirs = trio
        name, is_other = settled(ThreeWay(base.name, ours.name, theirs.name)) if has_base else (ours.name, False)
        if is_other:
            reason = f"Ours calls it {ours.name}, theirs {theirs.name}; it answers to both."
            self._nodes.add_conflict(ours.id, None, ConflictKind.NAME, ours.name, reason)
        wanted = settled_set(ThreeWay(base.aliases, ours.aliases, theirs.aliases))
        wanted += [each for each in (ours.name, theirs.name) if not has_base or each != base.name]
        aliases = tuple(each for each in wanted if each in ours.aliases and each != name)
        self._names.append((ours.id, [each for each in wanted if each not in ours.aliases and each != name]))
        merged = replace(ours, name=name, aliases=aliases, settings=tuple(sorted(self._settings(trio).items())))
        if merged != ours:
            self._nodes.touched.add(ours.id)
            self._draft.put_schema(self._side, ours.id, merged)
        if name != ours.name:
            self._fresh.append(ours.id)

    def assign_names(self) -> None:
        """Let schemas answer to the names that either side gave them, once all that goes has gone."""
        self._part_renamed()
        for result, names in self._names:
            schema = self._draft.tree(self._side).find_schema(result)
            if schema is not None and names:
                self._give_names(schema, names)
        if self._fresh:
            self._part_names()

    def _part_renamed(self) -> None:
        """Let what a side renamed go by its former name where the other side needs the new one, or the former one."""
        tree, renamed = self._draft.tree(self._side), sorted(self._renamed())
        ids = {id_ for side in self._nodes.ids for id_ in side.schemas.values()} if renamed else set()
        names = Counter(schema.name for id_ in ids if (schema := tree.find_schema(id_)) is not None)
        # What theirs renamed goes back first: where both chose one name for two entities, that of ours stays.
        for is_ours, id_, former in renamed:
            schema = tree.schema(id_)
            who, other = ("Ours", "theirs") if is_ours else ("Theirs", "ours")
            keeping = self._keeping(id_, former, is_ours=is_ours)
            if keeping is not None:
                why = f"the warehouse model {keeping} of {other} keeps the messages of {former}"
            elif names[schema.name] > 1:
                why = f"{other} has another {schema.name}"
            else:
                continue
            names[schema.name] -= 1
            aliases = tuple(each for each in schema.aliases if each != former)
            self._draft.put_schema(self._side, id_, replace(schema, name=former, aliases=aliases))
            self._nodes.touched.add(id_)
            reason = f"{who} calls {former} {schema.name}, and {why}; it goes by {former}."
            self._nodes.add_conflict(id_, None, ConflictKind.NAME, former, reason)

    def _renamed(self) -> Iterator[tuple[bool, int, str]]:
        """Yield what was renamed: whether ours did so, its id in the result, and what the base calls it."""
        base, ours, _ = self._nodes.ids
        for known, id_ in base.schemas.items():
            found, former = self._draft.tree(self._side).find_schema(id_), base.tree.schema(known).name
            own = ours.schema(id_)
            if found is not None and found.name != former:
                yield own is not None and ours.tree.schema(own).name == found.name, id_, former

    def _keeping(self, id_: int, former: str, *, is_ours: bool) -> str | None:
        """Name the warehouse model that the side which renamed nothing let keep messages under the former name."""
        if self._side is not Side.CDM or self._kept(0, id_, former) is not None:
            return None
        return self._kept(2 if is_ours else 1, id_, former)

    def _kept(self, at: int, id_: int, name: str) -> str | None:
        ids, document = self._nodes.ids[at], self._documents[at]
        known = ids.schema(id_)
        entity = ids.tree.schema(known) if known is not None else None
        if entity is None or entity.name != name:
            return None
        return keeping_model(document.models, document.matrix, entity)

    def _give_names(self, schema: Schema, names: list[str]) -> None:
        tree = self._draft.tree(self._side)
        free = [each for each in names if tree.named(each) is None]
        for each in names:
            holder = tree.named(each)
            if holder is not None and holder.id != schema.id:
                reason = f"Theirs lets {schema.name} answer to {each}, which is {holder.name} in ours; it stays so."
                self._nodes.add_conflict(schema.id, None, ConflictKind.NAME, schema.name, reason)
        if free:
            self._nodes.touched.add(schema.id)
            self._draft.put_schema(self._side, schema.id, replace(schema, aliases=(*schema.aliases, *free)))

    def _part_names(self) -> None:
        """Take further names away from schemas where theirs calls another one so."""
        tree = self._draft.tree(self._side)
        fresh = {schema.name: schema.id for id_ in self._fresh if (schema := tree.find_schema(id_)) is not None}
        for id_ in self._nodes.ids.ours.schemas.values():
            schema = tree.find_schema(id_)
            taken = [each for each in schema.aliases if fresh.get(each, id_) != id_] if schema else []
            if schema is None or not taken:
                continue
            aliases = tuple(each for each in schema.aliases if each not in taken)
            self._draft.put_schema(self._side, id_, replace(schema, aliases=aliases))
            told = f"answer to {', '.join(taken)}, which theirs calls another one; it is that one now."
            reason = f"Ours lets {schema.name} {told}"
            self._nodes.add_conflict(id_, None, ConflictKind.NAME, schema.name, reason)

    def _settings(self, trio: ThreeWay[Schema]) -> dict[str, str]:
        base, ours, theirs = (dict(schema.settings) for schema in trio)
        found: dict[str, str] = {}
        for name in base.keys() | ours.keys() | theirs.keys():
            values = ThreeWay(base.get(name, ""), ours.get(name, ""), theirs.get(name, ""))
            if name in (MASK, SETTLED):
                paths = settled_set(ThreeWay(*map(split_list, values)))
                found[name] = join_list(sorted(filter(None, paths)))
                continue
            found[name], is_other = settled(values)
            if is_other:
                words = [value or "the default" for value in values]
                reason = f"Ours sets {name} to {words[1]}, theirs to {words[2]}; ours is kept."
                self._nodes.add_conflict(trio.ours.id, None, ConflictKind.SETTING, f"{trio.ours.name}, {name}", reason)
        return {name: value for name, value in found.items() if value}


@dataclass(slots=True)
class AddedMappings:
    """What a side maps more than the base, in words.

    Args:
        versions: with each version of the base.
        schemas: with further versions, by schema or entity of the base.
    """

    versions: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    schemas: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))


class AddedMappingsBySide(Value):
    """What either side maps more, for each tree: who removes a version takes that away."""

    ours: dict[Side, AddedMappings]
    theirs: dict[Side, AddedMappings]


def _schema_trios(documents: ThreeWay[Document], side: Side) -> Iterator[ThreeWay[Schema | None]]:
    base, ours, theirs = (document.tree(side) for document in documents)
    of_ours = match_schemas(base.schemas(), ours.schemas())
    of_theirs = match_schemas(base.schemas(), theirs.schemas())
    new_ours = [schema for schema in ours.schemas() if schema.id not in of_ours]
    new_theirs = [schema for schema in theirs.schemas() if schema.id not in of_theirs]
    both = match_schemas(new_ours, new_theirs)
    ours_of_base = {old: new for new, old in of_ours.items()}
    theirs_of_base = {old: new for new, old in of_theirs.items()}
    for schema in base.schemas():
        one, other = ours_of_base.get(schema.id), theirs_of_base.get(schema.id)
        yield ThreeWay(schema, ours.schema(one) if one else None, theirs.schema(other) if other else None)
    for schema in new_theirs:
        one = both.get(schema.id)
        yield ThreeWay(None, ours.schema(one) if one else None, schema)
    met = set(both.values())
    yield from (ThreeWay(None, schema, None) for schema in new_ours if schema.id not in met)


class TreeMerger:
    """Merges one tree into a draft of ours, schema by schema.

    What theirs left as it was in the base needs nothing, until a block of it is merged: then ``prepare`` says which of
    its versions are which.

    Args:
        draft: of ours.
        side: the tree.
        documents: the three sides.
        touched: what may not be removed without a word.
    """

    def __init__(self, draft: Draft, side: Side, documents: ThreeWay[Document], touched: AddedMappingsBySide) -> None:
        self.nodes = MergedNodes.of(side, documents)
        self._draft = draft
        self._nodes = self.nodes
        self._documents = documents
        self._touched = touched
        self._side = side
        self._names = NameMerger(draft, self.nodes, documents)
        self._untouched: dict[int, ThreeWay[Schema | None]] = {}

    def merge(self, changed: set[int]) -> None:
        """Merge names, versions and lineages.

        Args:
            changed: schemas or entities of the base that theirs changed, or maps more with.
        """
        for trio in _schema_trios(self._documents, self._side):
            base, ours, theirs = trio
            if base is not None and ours is not None and theirs is not None and base.id not in changed:
                self._map(ours.id, trio)
                self._untouched[ours.id] = trio
            else:
                self._schema(trio)
        self._names.assign_names()
        for id_ in {found for ids in self._nodes.ids for found in ids.schemas.values()}:
            if id_ not in self._untouched and self._draft.tree(self._side).find_schema(id_) is not None:
                merge_lineages(self._draft, self.nodes, id_)

    def prepare(self, result: int) -> None:
        """Say which versions and attributes of a schema are which, where that was not needed before."""
        trio = self._untouched.pop(result, None)
        if trio is not None:
            self._map_versions(result, trio)
            merge_lineages(self._draft, self.nodes, result)

    def _map(self, result: int, trio: ThreeWay[Schema | None]) -> None:
        for ids, schema in zip(self._nodes.ids, trio, strict=True):
            if schema is not None:
                ids.map_schema(schema.id, result)

    def _schema(self, trio: ThreeWay[Schema | None]) -> None:
        base, ours, theirs = trio
        if ours is None and theirs is None:
            return
        if ours is None and base is not None and theirs is not None:
            self._removed_by_ours(base, theirs)
            return
        result = ours.id if ours is not None else self._draft.new_schema_id(self._side)
        self._map(result, trio)
        if ours is None and theirs is not None:
            self._names.put_new(result, theirs)
        elif ours is not None and theirs is not None:
            known = base or replace(ours, aliases=(), settings=())
            self._names.put_facts(ThreeWay(known, ours, theirs), has_base=base is not None)
        self._versions(result, trio)
        if ours is not None and base is not None and theirs is None:
            self._removed_by_theirs(result, ours)

    def _removed_by_theirs(self, result: int, ours: Schema) -> None:
        """Say what of a schema that theirs removed stays because ours added it."""
        base = self._nodes.ids.base
        new = [id_ for id_ in ours.version_ids if not base.has(id_)]
        if new:
            labels = ", ".join(self._nodes.ids.ours.tree.version(id_).label for id_ in new)
            reason = f"Theirs removed {ours.name}, ours added version {labels}; that stays."
            self._nodes.add_conflict(result, new[-1], ConflictKind.REMOVED, ours.name, reason)

    def _removed_by_ours(self, base: Schema, theirs: Schema) -> None:
        """Say what theirs did to a schema that ours removed."""
        tree = self._nodes.ids.theirs.tree
        known = match_versions(facts_of(self._nodes.ids.base.tree, base.id), facts_of(tree, theirs.id), False)
        new = [tree.version(id_).label for id_ in theirs.version_ids if id_ not in known]
        mapped = self._touched.theirs[self._side]
        changed = [words for id_ in base.version_ids for words in mapped.versions.get(id_, ())]
        changed += mapped.schemas.get(base.id, [])
        if new or changed:
            did = [f"added version {', '.join(new)}"] if new else []
            did += [_mapped_words(changed)] if changed else []
            reason = f"Ours removed {base.name}, theirs {' and '.join(did)}; it stays removed."
            self._nodes.add_conflict(None, None, ConflictKind.REMOVED, base.name, reason)

    def _versions(self, result: int, trio: ThreeWay[Schema | None]) -> None:
        orders = self._map_versions(result, trio)
        gone = self._gone(result, trio)
        self._remove(result, gone)
        self._merge_labels(result)
        if trio.theirs is not None:
            self._add_versions(result, trio.theirs, orders)
        kept = ThreeWay(*([id_ for id_ in order if id_ not in gone] for order in orders))
        tree = self._draft.tree(self._side)
        order = merged_order(kept, lambda id_: label_order(tree.version(id_).label))
        schema = tree.schema(result)
        if not order:
            self._draft.put_schema(self._side, result, None)
        elif order != schema.version_ids:
            self._nodes.touched.add(result)
            self._draft.put_schema(self._side, result, replace(schema, version_ids=order))

    def _map_versions(self, result: int, trio: ThreeWay[Schema | None]) -> ThreeWay[list[int]]:
        """Return which versions are one, and merge what is told of those that both have."""
        base, ours, theirs = self._nodes.ids
        facts = ThreeWay(*(facts_of(p.tree, s.id) if s else [] for p, s in zip(self._nodes.ids, trio, strict=True)))
        of_ours = match_versions(facts.base, facts.ours, by_label=False)
        of_theirs = match_versions(facts.base, facts.theirs, by_label=False)
        for id_, *_ in facts.ours:
            ours.map_version(id_, id_)
            if id_ in of_ours:
                base.map_version(of_ours[id_], id_)
        new_ours = [each for each in facts.ours if each[0] not in of_ours]
        new_theirs = [each for each in facts.theirs if each[0] not in of_theirs]
        both = match_versions(new_ours, new_theirs)
        for id_, *_ in facts.theirs:
            one = base.versions.get(of_theirs[id_]) if id_ in of_theirs else both.get(id_)
            if one is not None:
                theirs.map_version(id_, one)
                self._merge_version(
                    result, ThreeWay(base.version(one), ours.tree.version(one), theirs.tree.version(id_))
                )
        listed = zip(facts, self._nodes.ids, strict=True)
        return ThreeWay(*([ids.versions[id_] for id_, *_ in of if id_ in ids.versions] for of, ids in listed))

    def _gone(self, result: int, trio: ThreeWay[Schema | None]) -> set[int]:
        """List what theirs removed and ours did not change; what ours changed stays, with a word."""
        base, ours, theirs = self._nodes.ids
        gone: set[int] = set()
        mapped = self._touched.ours[self._side].versions
        for id_ in trio.base.version_ids if trio.base and trio.ours else ():
            here = base.versions.get(id_)
            if here is None or theirs.has(here):
                continue
            if id_ not in mapped:
                gone.add(here)
                continue
            label = ours.tree.version(here).label
            place = f"{trio.ours.name if trio.ours else ''}@{label}"
            self._nodes.add_conflict(
                result,
                here,
                ConflictKind.REMOVED,
                place,
                f"Theirs removed version {label}, ours {_mapped_words(mapped[id_])}; it stays as ours has it.",
            )
        return gone

    def _add_versions(self, result: int, schema: Schema, orders: ThreeWay[list[int]]) -> None:
        """Add the versions that only theirs has, and tell of those that ours removed and theirs changed."""
        theirs = self._nodes.ids.theirs
        old = self._known_in_base(result, schema)
        orders.theirs.clear()
        for id_ in schema.version_ids:
            version = theirs.tree.version(id_)
            if id_ in theirs.versions:
                orders.theirs.append(theirs.versions[id_])
            elif id_ in old:
                words = self._touched.theirs[self._side].versions.get(old[id_])
                if words:
                    place = f"{schema.name}@{version.label}"
                    reason = f"Ours removed version {version.label}, theirs {_mapped_words(words)}; it stays removed."
                    self._nodes.add_conflict(result, None, ConflictKind.REMOVED, place, reason)
            else:
                orders.theirs.append(self._add_version(result, version))

    def _known_in_base(self, result: int, schema: Schema) -> dict[int, int]:
        base, _, theirs = self._nodes.ids
        id_ = base.schema(result)
        return match_versions(facts_of(base.tree, id_), facts_of(theirs.tree, schema.id), False) if id_ else {}

    def _add_version(self, result: int, version: Version) -> int:
        id_ = self._draft.new_version_id(self._side)
        ids = self._draft.new_attribute_ids(self._side, len(version.attributes))
        attributes = tuple(replace(a, id=new) for a, new in zip(version.attributes, ids, strict=True))
        labels = self._free_labels(result, id_, version.labels, version.label)
        self._draft.put_version(
            self._side, id_, replace(version, id=id_, schema_id=result, labels=labels, attributes=attributes)
        )
        self._nodes.ids.theirs.map_version(version.id, id_)
        self._nodes.touched.add(result)
        schema = self._draft.tree(self._side).schema(result)
        self._draft.put_schema(self._side, result, replace(schema, version_ids=(*schema.version_ids, id_)))
        return id_

    def _free_labels(self, result: int, version_id: int, wanted: Iterable[str], label: str) -> tuple[str, ...]:
        """Return labels that no other version of the schema has, with a word for those that are taken."""
        tree = self._draft.tree(self._side)
        schema = tree.schema(result)
        others = {x: v.label for v in tree.versions(result) if v.id != version_id for x in v.labels}
        free = tuple(each for each in dict.fromkeys(wanted) if each not in others)
        for each in wanted:
            if each in others:
                reason = f"Theirs calls version {label} also {each}, which is another version in ours; it stays so."
                self._nodes.add_conflict(result, version_id, ConflictKind.LABEL, f"{schema.name}@{each}", reason)
        number = 1
        while not free:
            name = f"{label} (theirs{'' if number == 1 else f' {number}'})"
            free = (name,) if name not in others else ()
            number += 1
        return free

    def _merge_version(self, result: int, trio: ThreeWay[Version | None]) -> None:
        base, ours, theirs = trio
        if ours is None or theirs is None:
            return
        place = f"{self._draft.tree(self._side).schema(result).name}@{ours.label}"
        if ours.fingerprint != theirs.fingerprint:
            reason = f"Both added a version {ours.label}: {_content_words(ours, theirs)}; ours is kept."
            self._nodes.add_conflict(result, ours.id, ConflictKind.VERSION, place, reason)
        key, is_other = settled(ThreeWay(base.key if base else None, ours.key, theirs.key))
        if is_other and ours.key is None:
            key, is_other = theirs.key, False
        if is_other and theirs.key is not None:
            words = [", ".join(each or ()) or "none" for each in (ours.key, theirs.key)]
            reason = f"Ours says that its key is {words[0]}, theirs {words[1]}; ours is kept."
            self._nodes.add_conflict(result, ours.id, ConflictKind.KEY, place, reason)
        attributes = self._attributes(result, place, trio)
        merged = replace(ours, key=key, attributes=attributes)
        if merged != ours:
            self._nodes.touched.add(result)
            self._draft.put_version(self._side, ours.id, merged)

    def _merge_labels(self, result: int) -> None:
        """Merge labels once all that goes has gone: first what goes from each version, then what comes to it."""
        tree = self._draft.tree(self._side)
        wanted: dict[int, list[str]] = {}
        for version in tree.versions(result):
            base, ours, theirs = (ids.version(version.id) for ids in self._nodes.ids)
            if ours is None or theirs is None or theirs.labels in (ours.labels, base.labels if base else ()):
                continue
            old = base.labels if base else ()
            found = theirs.labels if ours.labels == old else settled_set(ThreeWay(old, ours.labels, theirs.labels))
            wanted[version.id] = list(found) or list(ours.labels)
            self._put_labels(version, [label for label in wanted[version.id] if label in ours.labels])
        for id_, labels in wanted.items():
            version = tree.version(id_)
            new = [label for label in labels if label not in version.labels]
            free = self._free_labels(result, id_, new, version.label) if new else ()
            self._put_labels(version, [label for label in labels if label in (*version.labels, *free)])

    def _put_labels(self, version: Version, labels: list[str]) -> None:
        if labels and tuple(labels) != version.labels:
            self._nodes.touched.add(version.schema_id)
            self._draft.put_version(self._side, version.id, replace(version, labels=tuple(labels)))

    def _attributes(self, result: int, place: str, trio: ThreeWay[Version | None]) -> tuple[Attribute, ...]:
        """Merge what is no part of a version's identity: descriptions and order."""
        base, ours, theirs = ({a.path: a for a in v.attributes} if v else {} for v in trio)
        found: list[Attribute] = []
        for path, attribute in ours.items():
            docs = [side[path].doc if path in side else "" for side in (base, theirs)]
            doc, is_other = settled(ThreeWay(docs[0], attribute.doc, docs[1]))
            if is_other and docs[1]:
                self._nodes.add_conflict(
                    result,
                    None,
                    ConflictKind.DOC,
                    f"{place}, {path}",
                    f"Ours describes it as “{attribute.doc}”, theirs as “{docs[1]}”; ours is kept.",
                )
            found.append(replace(attribute, doc=doc))
        orders = ThreeWay(*([path for path in side if path in ours] for side in (base, ours, theirs)))
        if set(orders.theirs) == set(ours) and orders.ours == orders.base != orders.theirs:
            found.sort(key=lambda attribute: orders.theirs.index(attribute.path))
        return tuple(found)

    def _remove(self, result: int, gone: set[int]) -> None:
        """Remove versions with their blocks."""
        if not gone:
            return
        matrix = self._draft.matrix
        for id_ in gone:
            keys = matrix.column_keys(id_) if self._side is Side.EXTRACTION else matrix.row_keys(id_)
            self._draft.drop_blocks(keys)
            self._draft.put_version(self._side, id_, None)
        schema = self._draft.tree(self._side).schema(result)
        left = tuple(id_ for id_ in schema.version_ids if id_ not in gone)
        self._draft.put_schema(self._side, result, replace(schema, version_ids=left))
        self._nodes.touched.add(result)


def _mapped_words(elements: list[str]) -> str:
    """Describe what a side maps more, not all of it where it is much."""
    distinct = list(dict.fromkeys(elements))
    more = f" and {len(distinct) - 5} more" if len(distinct) > 5 else ""
    return f"maps {', '.join(distinct[:5])}{more}"


def _content_words(ours: Version, theirs: Version) -> str:
    """Describe how the contents of two versions of one label differ."""
    mine, other = ({a.path: a for a in v.attributes} for v in (ours, theirs))
    parts = [f"{path} is only in ours" for path in mine if path not in other]
    parts += [f"{path} is only in theirs" for path in other if path not in mine]
    for path in mine.keys() & other.keys():
        if mine[path].type_text != other[path].type_text:
            parts.append(f"{path} is {mine[path].type_text} in ours and {other[path].type_text} in theirs")
    more = f" and {len(parts) - 3} more" if len(parts) > 3 else ""
    return f"{', '.join(sorted(parts)[:3])}{more}" if parts else "they differ in what is required"
