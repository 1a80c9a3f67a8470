"""Edits of the canonical data model by hand: entities, their names and versions, and an attribute made by mapping it.

What is part of a version's identity (paths, types, what is required) changes only by a new version, whether anything is
mapped or not; documentation and order are no part of it and change in place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from metl_gui.core.changes.draft import Draft
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.lineages import AttributeKey
from metl_gui.core.edits.review import accept_chains
from metl_gui.core.edits.versions import AddVersion, next_label, place_of
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.matrix import DpmView
from metl_gui.core.trees import paths
from metl_gui.core.trees.declarations import TYPES, AttributeDeclaration, KeyPaths, VersionDeclaration, fingerprint
from metl_gui.core.trees.nodes import Attribute, Schema, Side, Version
from metl_gui.core.trees.schema_names import label_order
from metl_gui.core.trees.trees import ReadableTree
from metl_gui.core.warehouse_model import FROM_ENTITY, Bridge, Model
from metl_gui.errors import EditError, near_names
from metl_gui.values import Value

_DOTTED = re.compile(r"(\d{1,3})((?:[.-]\d+)+)")
"""A label of several numbers; one that begins with a year is a date and counts on in another way."""
BY_HAND = "by hand"
"""Where a version came from that somebody wrote in the window or with ``metl entity``."""


class AddEntity(Value):
    """Add an entity with its first version.

    Args:
        name: of the entity.
        attributes: in order.
        label: of the version, the first number when there is none.
        key: paths of the attributes that tell its rows apart, in key order; ``None`` where nobody says.
    """

    name: str
    attributes: tuple[AttributeDeclaration, ...]
    label: str | None = None
    key: KeyPaths = None

    def title(self, document: Document) -> str:  # noqa: ARG002 - nothing of the document is named
        """Name the entity."""
        return f"Add the entity {self.name}"

    def apply(self, draft: Draft) -> None:
        """Add it.

        Raises:
            EditError: an entity answers to the name, or the attributes are not those of a version.
        """
        check_name(self.name)
        holder = draft.tree(Side.CDM).named(self.name)
        if holder is not None:
            raise EditError(
                f"There is an entity {holder.name} already.", hint="Make a new version of it, or choose another name."
            )
        check_attributes(self.name, self.attributes)
        check_key(self.name, self.attributes, self.key or ())
        declaration = VersionDeclaration(self.name, self.attributes, self.label, key=self.key, source=BY_HAND)
        AddVersion(Side.CDM, declaration).apply(draft)


class RenameEntity(Value):
    """Give an entity another name; it answers to the one it had, too, and nothing of its versions changes."""

    entity_id: int
    name: str

    def title(self, document: Document) -> str:
        """Name both."""
        return f"Rename {document.cdm.schema(self.entity_id).name} to {self.name}"

    def apply(self, draft: Draft) -> None:
        """Change the name.

        Raises:
            EditError: the name is none, another entity answers to it, the tables of a warehouse go by the one it has,
                or the entity is gone.
        """
        check_name(self.name)
        entity = draft.schema(Side.CDM, self.entity_id)
        holder = draft.tree(Side.CDM).named(self.name)
        if holder is not None and holder.id != entity.id:
            raise EditError(f"{holder.name} answers to {self.name} already.", hint="Choose another name.")
        if self.name == entity.name:
            return
        keeping = keeping_model(draft.document.models, draft.matrix, entity)
        if keeping is not None:
            raise EditError(
                f"The warehouse model {keeping} keeps the messages of {entity.name} under this name.",
                "They would be parted from those that come under the new one.",
                f"Take {entity.name} out of the model first.",
            )
        aliases = (*(each for each in entity.aliases if each != self.name), entity.name)
        draft.put_schema(Side.CDM, entity.id, replace(entity, name=self.name, aliases=aliases))


def keeping_model(models: Iterable[Model], matrix: DpmView, entity: Schema) -> str | None:
    """Return the name of a warehouse model that keeps the messages of an entity, or makes a table of them."""
    is_mapped = any(block.elements for id_ in entity.version_ids for block in matrix.row_set(id_))
    return next((model.name for model in models if _keeps(model, entity.name, is_mapped)), None)


def _keeps(model: Model, entity: str, is_mapped: bool) -> bool:
    """Return whether a warehouse model keeps the messages of an entity, or makes a table of them."""
    tables = (each.entity for each in model.tables if isinstance(each, (*FROM_ENTITY, Bridge)))
    return entity in tables or (is_mapped if model.entities is None else entity in model.entities)


class ChangeEntity(Value):
    """Make the newest content of an entity equal to a list of attributes, by a new version and the automated update.

    Where only documentation, order or the key differ, the newest version is changed in place. Whoever takes attributes
    away answers in the same edit for what was mapped to them: nobody is asked about these losses again.

    Args:
        entity_id: the entity.
        attributes: in order; ``equivalent_to`` names the attribute of the newest version that each one is.
        label: of the new version, the next number when there is none.
        key: new paths of the attributes that tell its rows apart, in key order; ``None`` keeps those of before.
    """

    entity_id: int
    attributes: tuple[AttributeDeclaration, ...]
    label: str | None = None
    key: KeyPaths = None

    def title(self, document: Document) -> str:
        """Say what differs."""
        entity, newest = document.cdm.schema(self.entity_id), _newest(document.cdm, self.entity_id)
        is_keyed = self._key(newest) != _followed_key(newest.key, self.attributes)
        key = f"the key {', '.join(self.key)}" if self.key else "no key"
        if fingerprint(self.attributes) == newest.fingerprint:
            what = f"{entity.name} version {newest.label}"
            return f"Give {what} {key}" if is_keyed else f"Describe {what}"
        words = "; ".join([*changed_words(newest, self.attributes), *([key] if is_keyed else [])])
        return f"New version {self._label(document.cdm, entity)} of {entity.name}: {words}"

    def apply(self, draft: Draft) -> None:
        """Add the version, or change what may be changed in place.

        Raises:
            EditError: the entity is gone, an older version has this content, the label does not order behind the
                newest one, or the attributes are not those of a version.
        """
        entity = draft.schema(Side.CDM, self.entity_id)
        newest = _newest(draft.tree(Side.CDM), self.entity_id)
        check_attributes(entity.name, self.attributes)
        check_key(entity.name, self.attributes, self.key or ())
        wanted = fingerprint(self.attributes)
        if wanted == newest.fingerprint:
            draft.put_version(Side.CDM, newest.id, replace(_described(newest, self.attributes), key=self._key(newest)))
            return
        for version in draft.tree(Side.CDM).versions(entity.id):
            if version.fingerprint == wanted:
                raise EditError(
                    f"{entity.name} had exactly these attributes in version {version.label}.",
                    hint=f"Remove the versions after {version.label} to go back to it, or change something more.",
                )
        label = self._label(draft.tree(Side.CDM), entity)
        declaration = VersionDeclaration(entity.name, self.attributes, label, key=self._key(newest), source=BY_HAND)
        AddVersion(Side.CDM, declaration).apply(draft)
        _accept_own_losses(draft, newest, _newest(draft.tree(Side.CDM), self.entity_id))

    def _key(self, newest: Version) -> KeyPaths:
        return _followed_key(newest.key, self.attributes) if self.key is None else self.key

    def _label(self, tree: ReadableTree, entity: Schema) -> str:
        label = self.label or _label_above(tree, entity)
        if place_of(tree, entity, label) != len(entity.version_ids):
            raise EditError(
                f"Version {label} of {entity.name} would not be the newest one.",
                hint=f"Choose a label behind {_newest(tree, entity.id).label}, or none.",
            )
        return label


def _accept_own_losses(draft: Draft, before: Version, after: Version) -> None:
    """Accept what blocks lose because attributes were taken away on purpose."""
    gone = {a.lineage for a in before.attributes}.difference(a.lineage for a in after.attributes)
    for block in draft.matrix.row_set(after.id) if gone else ():
        accept_chains(draft, block, {loss.chain for loss in block.open_losses if loss.q_lineage in gone}, set())


class CreateAndMap(Value):
    """Give an entity attributes like those of a schema version, as its next version, and map them.

    Args:
        entity_id: the entity.
        sources: attributes of one schema version.
        path: of the new attribute, when it is a single one; else each keeps the path of its source.
    """

    entity_id: int
    sources: tuple[AttributeKey, ...]
    path: str = ""

    def title(self, document: Document) -> str:
        """Name the attribute, or count them."""
        entity = document.cdm.schema(self.entity_id)
        made = self._declared(document.extraction)
        if len(made) != 1:
            return f"Create {len(made)} attributes of {entity.name} and map them"
        return f"Create {made[0].path} of {entity.name} and map it"

    def apply(self, draft: Draft) -> None:
        """Add the version and set the elements.

        Raises:
            EditError: the entity has such an attribute, or a source is gone.
        """
        entity = draft.schema(Side.CDM, self.entity_id)
        newest = _newest(draft.tree(Side.CDM), self.entity_id)
        found = [
            (leaf, draft.version(Side.EXTRACTION, leaf.version).attribute(leaf.attribute)) for leaf in self.sources
        ]
        if not found or any(a is None for _, a in found) or len({leaf.version for leaf in self.sources}) != 1:
            raise EditError("The attributes are not those of one version.", hint="Look at the newest state first.")
        made = self._declared(draft.tree(Side.EXTRACTION))
        for attribute in made:
            if newest.at_path(attribute.path) is not None:
                raise EditError(
                    f"{entity.name} has an attribute {attribute.path} already.",
                    hint="Map to that one, or give the new one another name.",
                )
        ChangeEntity(entity.id, (*declared(newest), *made)).apply(draft)
        after = _newest(draft.tree(Side.CDM), entity.id)
        pairs = ((after.at_path(a.path), leaf) for a, leaf in zip(made, self.sources, strict=True))
        ones = tuple(Element(target.id, leaf.attribute) for target, leaf in pairs if target is not None)
        SetElements((self.sources[0].version, after.id), ones).apply(draft)

    def _declared(self, tree: ReadableTree) -> tuple[AttributeDeclaration, ...]:
        versions = ((leaf, tree.find_version(leaf.version)) for leaf in self.sources)
        found = [version.attribute(leaf.attribute) for leaf, version in versions if version is not None]
        made = (AttributeDeclaration(a.path, a.type, a.logical, a.scale, doc=a.doc) for a in found if a is not None)
        return tuple(replace(a, path=self.path) if self.path and len(self.sources) == 1 else a for a in made)


def declared(version: Version) -> tuple[AttributeDeclaration, ...]:
    """Write the attributes of a version as a list to change, each one known to be what it is."""
    return tuple(
        AttributeDeclaration(a.path, a.type, a.logical, a.scale, a.optional, a.doc, (a.path,))
        for a in version.attributes
    )


def changed_words(before: Version, after: Sequence[AttributeDeclaration]) -> list[str]:
    """Say what differs between a version and a list of attributes, one phrase for each."""
    was = {a.path: a for a in before.attributes}
    followed = {a.equivalent_to[0]: a for a in after if a.equivalent_to and a.equivalent_to[0] in was}
    fresh = [a for a in after if not (a.equivalent_to and a.equivalent_to[0] in was)]
    again = {a.path: a for a in fresh if a.path in was and a.path not in followed}
    known = {**followed, **again}
    words = [f"add {a.path}" for a in fresh if a.path not in again]
    words += [f"remove {path}" for path in was if path not in known]
    for path, attribute in known.items():
        words += _differences(was[path], attribute)
    return words


def check_name(name: str) -> None:
    """Refuse what cannot be the name of an entity.

    Raises:
        EditError: it is empty, or holds a sign that block names are written with.
    """
    if not name.strip() or name != name.strip() or not name.isprintable():
        raise EditError("An entity needs a name of visible letters.", hint="Call it payment, for example.")
    if any(sign in name for sign in "@:"):
        raise EditError(f"{name} cannot be the name of an entity.", hint="Leave out @ and :, which part block names.")


def check_attributes(name: str, attributes: Sequence[AttributeDeclaration]) -> None:
    """Refuse what cannot be the attributes of a version.

    Raises:
        EditError: there is none, a path or type is none, or two stand in each other's way.
    """
    if not attributes:
        raise EditError(f"{name} would have no attributes.", hint="Give it at least one.")
    seen: set[tuple[str, ...]] = set()
    for attribute in attributes:
        parts = _parts(name, attribute.path)
        if parts in seen:
            raise EditError(f"{name} names {attribute.path} twice.", hint="Each attribute needs its own path.")
        seen.add(parts)
        if attribute.type not in TYPES:
            hint = near_names(attribute.type, TYPES) or f"Types are {', '.join(TYPES)}."
            raise EditError(f"{attribute.path} cannot be of type {attribute.type!r}.", hint=hint)
    for parts in seen:
        above = next((parts[:at] for at in range(1, len(parts)) if parts[:at] in seen), None)
        if above is not None:
            raise EditError(
                f"{paths.join(above)} is a value of {name} and cannot hold {paths.join(parts)}.",
                hint="Rename one of the two: a dot in a path leads into an object.",
            )


def check_key(name: str, attributes: Iterable[AttributeDeclaration], key: Sequence[str]) -> None:
    """Refuse what cannot be the key of an entity.

    Raises:
        EditError: an attribute is not there, or stands in it twice.
    """
    known = {each.path for each in attributes}
    for at, path in enumerate(key):
        if path not in known:
            hint = near_names(path, known) or "Name attributes by their dotted paths."
            raise EditError(f"{name} has no attribute {path!r} that could be in its key.", hint=hint)
        if path in key[:at]:
            raise EditError(f"The key of {name} names {path} twice.", hint="Name each attribute once.")


def _parts(name: str, path: str) -> tuple[str, ...]:
    if not path.strip():
        raise EditError(f"An attribute of {name} has no path.", hint="Write one, such as payer.id.")
    try:
        parts = paths.split(path)
    except ValueError as error:
        raise EditError(f"{path!r} is no path.", f"{error}.", "Write a literal dot as \\.") from error
    if any(not part.strip() or part != part.strip() or not part.isprintable() for part in parts):
        raise EditError(
            f"{path!r} is no path of an attribute of {name}.", hint="Write names with dots between, such as payer.id."
        )
    return parts


def _newest(tree: ReadableTree, entity_id: int) -> Version:
    newest = tree.newest(entity_id) if tree.find_schema(entity_id) is not None else None
    if newest is None:
        raise EditError("The entity is not in the trees any more.", hint="Look at the newest state first.")
    return newest


def _label_above(tree: ReadableTree, entity: Schema) -> str:
    """Choose the label of the next version: written like the newest one, else the next number above all."""
    newest = _newest(tree, entity.id).label
    found = _DOTTED.fullmatch(newest)
    label = str(int(found[1]) + 1) + re.sub(r"\d+", "0", found[2]) if found else next_label(tree, entity)
    if place_of(tree, entity, label) == len(entity.version_ids):
        return label
    numbers = (label_order(tree.version(id_).label)[1] for id_ in entity.version_ids)
    return str(max((each[0] for each in numbers if each), default=0) + 1)


def _described(version: Version, attributes: Sequence[AttributeDeclaration]) -> Version:
    known = {a.path: a for a in version.attributes}
    return replace(version, attributes=tuple(replace(known[a.path], doc=a.doc) for a in attributes))


def _followed_key(key: KeyPaths, attributes: Sequence[AttributeDeclaration]) -> KeyPaths:
    """Keep a key under the new paths of its attributes; one that lost an attribute is not known any more."""
    if not key:
        return key
    now = {a.equivalent_to[0] if a.equivalent_to else a.path: a.path for a in attributes}
    return tuple(now[path] for path in key) if all(path in now for path in key) else None


def _differences(before: Attribute, after: AttributeDeclaration) -> list[str]:
    words = [f"rename {before.path} to {after.path}"] if before.path != after.path else []
    if (before.type, before.logical, before.scale) != (after.type, after.logical, after.scale):
        words.append(f"change the type of {after.path}")
    if before.optional != after.optional:
        words.append(f"make {after.path} {'optional' if after.optional else 'required'}")
    return words
