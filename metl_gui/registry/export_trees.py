"""The trees and settings of an export, checked field by field."""

from __future__ import annotations

from metl_gui.core.edits.settings import ENTITY_SETTINGS, SCHEMA_SETTINGS, check_setting
from metl_gui.core.matrix.document import Document, Ids
from metl_gui.core.matrix.matrix import Dpm
from metl_gui.core.trees.declarations import TYPES, AttributeDeclaration, KeyPaths, fingerprint
from metl_gui.core.trees.nodes import Attribute, Schema, Side, Version
from metl_gui.core.trees.trees import Tree
from metl_gui.errors import EditError
from metl_gui.registry.checked_values import Checked

_NAMES = {Side.EXTRACTION: "schemas", Side.CDM: "entities"}
_SETTINGS = {Side.EXTRACTION: SCHEMA_SETTINGS, Side.CDM: ENTITY_SETTINGS}


def read_trees(trees: Checked, settings: Checked) -> Document:
    """Build both trees, as a document without blocks.

    Raises:
        SchemaError: something in them cannot be.
    """
    readers = {side: _TreeReader(side, _settings(side, settings)) for side in Side}
    for side, reader in readers.items():
        reader.read(trees.member(_NAMES[side]))
    extraction, cdm = readers[Side.EXTRACTION], readers[Side.CDM]
    return Document(0, extraction.tree(), cdm.tree(), Dpm.of(), extraction.ids(), cdm.ids())


def _settings(side: Side, settings: Checked) -> dict[str, tuple[tuple[str, str], ...]]:
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    of_side = settings.optional(_NAMES[side])
    for name, each in of_side.members() if of_side else ():
        pairs = [(setting, value.any_text()) for setting, value in each.members()]
        for setting, value in pairs:
            try:
                check_setting(setting, value, _SETTINGS[side])
            except EditError as error:
                raise each.refused(str(error)) from error
        found[name] = tuple(sorted(pairs))
    return found


class _TreeReader:
    """One tree while it is read."""

    def __init__(self, side: Side, settings: dict[str, tuple[tuple[str, str], ...]]) -> None:
        self._side = side
        self._settings = settings
        self._schemas: list[Schema] = []
        self._versions: list[Version] = []
        self._names: set[str] = set()
        self._attributes = 0
        self._lineages = 0

    def read(self, listed: Checked) -> None:
        """Read every schema or entity."""
        for each in listed.items():
            self._schema(each)
        known = {schema.name for schema in self._schemas}
        unknown = next((name for name in self._settings if name not in known), None)
        if unknown is not None:
            raise listed.refused(f"there are settings of {unknown!r}, which is not among them")

    def tree(self) -> Tree:
        """Return the tree."""
        return Tree.of(self._schemas, self._versions)

    def ids(self) -> Ids:
        """Return the next unused ids."""
        return Ids(len(self._schemas) + 1, len(self._versions) + 1, self._attributes + 1, self._lineages + 1)

    def _schema(self, each: Checked) -> None:
        name = each.member("name").text()
        aliases = tuple(alias.text() for alias in each.member("aliases").items())
        # Only names tell schemas apart; an alias that is also a name elsewhere is looked up after it.
        if name in self._names:
            raise each.refused(f"{name!r} is there twice")
        self._names.add(name)
        id_ = len(self._schemas) + 1
        labels: set[str] = set()
        lineages: dict[str, int] = {}
        first = len(self._versions) + 1
        for version in each.member("versions").items():
            self._version(version, id_, labels, lineages)
        ids = tuple(range(first, len(self._versions) + 1))
        if not ids:
            raise each.refused(f"{name!r} has no version")
        self._schemas.append(Schema(id_, name, ids, aliases, self._settings.get(name, ())))

    def _version(self, each: Checked, schema_id: int, labels: set[str], lineages: dict[str, int]) -> None:
        own = tuple(label.text() for label in each.member("labels").items())
        shown = each.member("version").text()
        if not own or own[0] != shown:
            raise each.refused("the first label is not the version's own")
        for label in own:
            if label in labels:
                raise each.refused(f"the label {label!r} is there twice in one schema")
            labels.add(label)
        attributes = self._read_attributes(each.member("attributes"), lineages)
        declared = [AttributeDeclaration(a.path, a.type, a.logical, a.scale, a.optional) for a in attributes]
        stated = each.member("fingerprint")
        if fingerprint(declared) != stated.any_text():
            raise stated.refused(
                f"the attributes of version {shown!r} are not those that its fingerprint was made of",
                "Somebody changed them by hand: export the state again, or merge with metl merge.",
            )
        key = _key(each)
        self._versions.append(
            Version(len(self._versions) + 1, schema_id, own, attributes, stated.any_text(), key, source="an export")
        )

    def _read_attributes(self, listed: Checked, lineages: dict[str, int]) -> tuple[Attribute, ...]:
        paths: set[str] = set()
        met: set[int] = set()
        found: list[Attribute] = []
        for each in listed.items():
            attribute = self._attribute(each, lineages)
            if attribute.path in paths:
                raise each.refused(f"the path {attribute.path!r} is there twice in one version")
            if attribute.lineage in met:
                raise each.refused(f"{attribute.path!r} is of a lineage that another attribute of the version has")
            paths.add(attribute.path)
            met.add(attribute.lineage)
            found.append(attribute)
        return tuple(found)

    def _attribute(self, each: Checked, lineages: dict[str, int]) -> Attribute:
        type_ = each.member("type")
        if type_.any_text() not in TYPES:
            raise type_.refused(f"there is no type {type_.value!r}")
        name = each.member("lineage").text()
        if name not in lineages:
            self._lineages += 1
            lineages[name] = self._lineages
        self._attributes += 1
        logical, scale = each.optional("logical"), each.optional("scale")
        return Attribute(
            self._attributes,
            each.member("path").text(),
            type_.any_text(),
            lineages[name],
            logical.any_text() if logical else "",
            _scale(scale) if scale else None,
            each.member("optional").flag(),
        )


def _scale(each: Checked) -> int:
    # Decimals may count zeros before the point, so a scale may be negative.
    if type(each.value) is not int or abs(each.value) > 1 << 20:
        raise each.refused(f"a scale is a small whole number, not {each.value!r}")
    return int(each.value)


def _key(each: Checked) -> KeyPaths:
    key = each.member("key")
    return None if key.value is None else tuple(path.text() for path in key.items())
