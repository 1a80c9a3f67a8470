"""Edits that add and remove versions, each with the automated update it triggers, and of their labels and keys.

``NoteKey`` notes a key that was not known when its version was added.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from metl_gui.core.changes.draft import Draft
from metl_gui.core.changes.update import carry_to_entity_version, carry_to_schema_version
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.masks import MASK, setting_without
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Attribute, Schema, Side, Version
from metl_gui.core.trees.schema_names import label_order
from metl_gui.core.trees.trees import ReadableTree
from metl_gui.errors import EditError
from metl_gui.values import Value

PARALLEL = "parallel"


class AddVersion(Value):
    """Add a version to a schema or entity, which is made when its name is new; then run the update (cases 3 and 4).

    A label that orders against the existing ones (numbers) puts the version in its place, possibly between two
    others; any other one puts it at the end. Without a label the next whole number is taken.
    """

    side: Side
    declaration: VersionDeclaration

    def title(self, document: Document) -> str:
        """Say what is added."""
        schema = document.tree(self.side).named(self.declaration.name)
        name = schema.name if schema else self.declaration.name
        return f"Add {name} version {self.declaration.label or _label_of(document, self.side, schema)}"

    def apply(self, draft: Draft) -> None:
        """Add the nodes and fill the new blocks.

        Raises:
            EditError: the version is there already, its label means another content, or its paths repeat.
        """
        tree = draft.tree(self.side)
        schema = tree.named(self.declaration.name)
        label = self.declaration.label or _label_of(draft, self.side, schema)
        _check(draft, self.side, schema, self.declaration, label)
        if schema is None:
            schema = Schema(draft.new_schema_id(self.side), self.declaration.name, ())
        schema = _with_aliases(draft, self.side, schema, self.declaration)
        place = place_of(tree, schema, label)
        version = _make_version(draft, self.side, schema, place, self.declaration, label)
        ids = (*schema.version_ids[:place], version.id, *schema.version_ids[place:])
        schema = replace(schema, version_ids=ids)
        draft.put_version(self.side, version.id, version)
        draft.put_schema(self.side, schema.id, schema)
        if place:
            _carry(draft, self.side, schema, tree.version(ids[place - 1]), version)


class RemoveVersion(Value):
    """Remove a version and its blocks (cases 1 and 2); a schema or entity without versions goes too.

    Removing the newest entity version under policy 3 first carries its blocks to the next lower one.
    """

    side: Side
    version_id: int

    def title(self, document: Document) -> str:
        """Say what is removed."""
        version = document.tree(self.side).version(self.version_id)
        return f"Remove {document.tree(self.side).schema(version.schema_id).name} version {version.label}"

    def apply(self, draft: Draft) -> None:
        """Remove the blocks and the nodes.

        Raises:
            EditError: the version is gone.
        """
        tree = draft.tree(self.side)
        version = draft.version(self.side, self.version_id)
        schema = tree.schema(version.schema_id)
        at = schema.version_ids.index(version.id)
        if self.side is Side.EXTRACTION:
            draft.drop_blocks(draft.matrix.column_keys(version.id))
        else:
            is_newest = at == len(schema.version_ids) - 1
            if is_newest and at and schema.setting("policy") != PARALLEL:
                carry_to_entity_version(draft, version, tree.version(schema.version_ids[at - 1]), replace_old=True)
            draft.drop_blocks(draft.matrix.row_keys(version.id))
        left = schema.version_ids[:at] + schema.version_ids[at + 1 :]
        if left and schema.setting(MASK):
            schema = schema.with_setting(MASK, setting_without(tree, schema, version))
        lineages = {a.lineage for id_ in left for a in tree.version(id_).attributes} if schema.ignored else set()
        ignored = tuple(each for each in schema.ignored if each.lineage in lineages)
        draft.put_version(self.side, version.id, None)
        draft.put_schema(self.side, schema.id, replace(schema, version_ids=left, ignored=ignored) if left else None)


class AttachLabel(Value):
    """Attach a further label to a version with the same content."""

    side: Side
    version_id: int
    label: str

    def title(self, document: Document) -> str:
        """Say what is attached."""
        version = document.tree(self.side).version(self.version_id)
        name = document.tree(self.side).schema(version.schema_id).name
        return f"Call {name} version {version.label} also {self.label}"

    def apply(self, draft: Draft) -> None:
        """Add the label.

        Raises:
            EditError: another version of the schema has this label, or the version is gone.
        """
        tree = draft.tree(self.side)
        version = draft.version(self.side, self.version_id)
        holder = tree.labelled(version.schema_id, self.label)
        if holder is not None and holder.id != version.id:
            raise _two_meanings(tree.schema(version.schema_id).name, self.label)
        if holder is None:
            draft.put_version(self.side, version.id, replace(version, labels=(*version.labels, self.label)))


def _carry(draft: Draft, side: Side, schema: Schema, previous: Version, version: Version) -> None:
    if side is Side.EXTRACTION:
        carry_to_schema_version(draft, previous, version)
        return
    is_parallel = schema.setting("policy") == PARALLEL
    if is_parallel or schema.version_ids[-1] == version.id:
        carry_to_entity_version(draft, previous, version, replace_old=not is_parallel)


def _check(draft: Draft, side: Side, schema: Schema | None, declaration: VersionDeclaration, label: str) -> None:
    paths = [attribute.path for attribute in declaration.attributes]
    if len(set(paths)) != len(paths):
        twice = next(path for path in paths if paths.count(path) > 1)
        raise EditError(
            f"{declaration.name} names {twice} twice.", hint="Each attribute of a version needs its own path."
        )
    if schema is None:
        return
    wanted = declaration.fingerprint
    for version in draft.tree(side).versions(schema.id):
        if version.fingerprint == wanted:
            raise EditError(
                f"{schema.name} has this content already, as version {version.label}.",
                hint="Nothing needs to be added; another label can be attached to that version.",
            )
        if label in version.labels:
            raise _two_meanings(schema.name, label)


def _two_meanings(name: str, label: str) -> EditError:
    return EditError(
        f"{name} version {label} is there already with another content.",
        hint="Give the new content a version label of its own.",
    )


def next_label(tree: ReadableTree, schema: Schema) -> str:
    """Choose the label of a version that has none: the next whole number."""
    labels = (label for version in tree.versions(schema.id) for label in version.labels)
    numbers = [int(label) for label in labels if label.isdecimal()]
    return str(max(numbers, default=len(schema.version_ids)) + 1)


def place_of(tree: ReadableTree, schema: Schema, label: str) -> int:
    """Find the place of a version by its label: in order where all labels have one, else the last."""
    own = label_order(label)
    orders = [label_order(tree.version(id_).label) for id_ in schema.version_ids]
    if any(is_unordered for is_unordered, *_ in (own, *orders)):
        return len(orders)
    return sum(1 for order in orders if order <= own)


def _label_of(reader: Draft | Document, side: Side, schema: Schema | None) -> str:
    return "1" if schema is None else next_label(reader.tree(side), schema)


def _with_aliases(draft: Draft, side: Side, schema: Schema, declaration: VersionDeclaration) -> Schema:
    tree = draft.tree(side)
    names = [name for name in (declaration.name, *declaration.aliases) if name not in schema.names]
    fresh = tuple(name for name in dict.fromkeys(names) if tree.named(name) in (None, schema))
    return replace(schema, aliases=schema.aliases + fresh) if fresh else schema


def _make_version(
    draft: Draft, side: Side, schema: Schema, place: int, declaration: VersionDeclaration, label: str
) -> Version:
    lineages = _lineages(draft, side, schema, place, declaration.attributes)
    ids = draft.new_attribute_ids(side, len(declaration.attributes))
    attributes = tuple(
        Attribute(id_, a.path, a.type, lineage, a.logical, a.scale, a.optional, a.doc)
        for id_, a, lineage in zip(ids, declaration.attributes, lineages, strict=True)
    )
    return Version(
        draft.new_version_id(side),
        schema.id,
        (label,),
        attributes,
        declaration.fingerprint,
        declaration.key,
        declaration.inferred,
        declaration.source,
    )


def _lineages(
    draft: Draft, side: Side, schema: Schema, place: int, attributes: tuple[AttributeDeclaration, ...]
) -> list[int]:
    """Find each attribute's lineage: what the source states, then the same path, nearest version first."""
    lower, higher = schema.version_ids[:place][::-1], schema.version_ids[place:]
    found = _stated(draft.tree(side), lower, attributes)
    taken = set(found.values())
    open_paths = {a.path for a in attributes} - found.keys()
    for id_ in (*lower, *higher):
        if not open_paths:
            break
        for attribute in draft.tree(side).version(id_).attributes:
            if attribute.path in open_paths and attribute.lineage not in taken:
                found[attribute.path] = attribute.lineage
                taken.add(attribute.lineage)
                open_paths.discard(attribute.path)
    return [found[a.path] if a.path in found else draft.new_lineage(side) for a in attributes]


def _stated(tree: ReadableTree, lower: Iterable[int], attributes: tuple[AttributeDeclaration, ...]) -> dict[str, int]:
    """Find the lineages of attributes of which the source says what they were called, nearest version first.

    Sources repeat such a name in every version that follows. So it says nothing of an attribute that was called that
    before already, nor where the version before has both names and the other one still stands for itself.
    """
    asked = {a.path: a.equivalent_to for a in attributes if a.equivalent_to}
    own = {a.path for a in attributes}
    lower = tuple(lower) if asked else ()
    found: dict[str, int] = {}
    for id_ in lower:
        if len(found) == len(asked):
            break
        there = {a.path: a.lineage for a in tree.version(id_).attributes}
        taken = set(found.values())
        for path in [path for path in asked if path not in found]:
            old = next((name for name in asked[path] if name in there and there[name] not in taken), None)
            stands = old in own and old not in asked
            if path in there and (old is None or stands or _was_called(tree, lower, there[path], asked[path])):
                del asked[path]
            elif old is not None:
                found[path] = there[old]
                taken.add(there[old])
    return found


def _was_called(tree: ReadableTree, versions: Iterable[int], lineage: int, names: tuple[str, ...]) -> bool:
    """Whether an attribute had one of some other names in a version."""
    known = (tree.version(id_).of_lineage(lineage) for id_ in versions)
    paths = [attribute.path for attribute in known if attribute is not None]
    return any(path in names and path != paths[0] for path in paths)


class NoteKey(Value):
    """Note the key of a version, from a source that knows it: a message key, a key struct, a catalogue.

    Args:
        side, version_id: the version.
        key: key paths in key order, ``()`` for none.
    """

    side: Side
    version_id: int
    key: tuple[str, ...]

    def title(self, document: Document) -> str:
        """Say what the key is."""
        version = document.tree(self.side).version(self.version_id)
        name = document.tree(self.side).schema(version.schema_id).name
        return f"Note that {', '.join(self.key) or 'nothing'} is the key of {name} version {version.label}"

    def apply(self, draft: Draft) -> None:
        """Set the key.

        Raises:
            EditError: the version is gone, or a key path is not an attribute of the version.
        """
        version = draft.version(self.side, self.version_id)
        for path in self.key:
            if version.at_path(path) is None:
                raise EditError(
                    f"Version {version.label} has no attribute {path}, so it cannot be part of its key.",
                    hint="Name attributes by their dotted paths, in key order.",
                )
        draft.put_version(self.side, version.id, replace(version, key=self.key))
