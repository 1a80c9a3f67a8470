"""The exports ``json`` and ``dusb`` read back into a document, with no project at hand.

Every field of parsed JSON, of trees, settings and blocks, is checked (``Checked``): what does not fit is refused with
its place, written as in ``blocks[3].elements[0].from``. Ends of elements exist, each is used once in a block, and the
policy is kept; so a document that comes out keeps the rules of the matrix whatever was written in the file. Ids are
given anew, in the order of the file.

Source: docs/guide/exports.md, "The documents `json` and `dusb`"; docs/architecture/model.md, "Rules that always hold";
docs/architecture/model.md, "Algorithms" (A4).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from metl_gui.core.edits.ignored import checked_reason
from metl_gui.core.edits.settings import ENTITY_SETTINGS, SCHEMA_SETTINGS, check_setting
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Loss, Status, Verdict, conflicts
from metl_gui.core.matrix.compact import CompactBlock, GroupKey, decompact
from metl_gui.core.matrix.document import Document, NextIds
from metl_gui.core.matrix.matrix import Dpm
from metl_gui.core.matrix.matrix_export import DUSB_FORMAT, JSON_FORMAT, MatrixExport
from metl_gui.core.trees.declarations import TYPES, AttributeDeclaration, KeyPaths, fingerprint
from metl_gui.core.trees.nodes import Attribute, IgnoredAttribute, Schema, Side, Version
from metl_gui.core.trees.trees import Tree
from metl_gui.core.warehouse_model import Model
from metl_gui.errors import EditError, SchemaError
from metl_gui.registry.documents import decode, parse_json, read_bytes

_KINDS = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a whole number"}


class Checked:
    """A parsed value at its place; every question is refused with that place where the value does not fit.

    Args:
        value: what ``json.loads`` gave.
        parent: what it stands in, ``None`` for the whole document.
        step: its name or number there.
    """

    __slots__ = ("_parent", "_step", "value")

    def __init__(self, value: Any, parent: Checked | None = None, step: str | int = "") -> None:
        self.value = value
        self._parent = parent
        self._step = step

    @property
    def place(self) -> str:
        """Where it stands, worked out only when somebody must be told."""
        if self._parent is None:
            return ""
        above = self._parent.place
        if isinstance(self._step, int):
            return f"{above}[{self._step}]"
        return f"{above}.{self._step}" if above else self._step

    def refused(self, what: str, hint: str = "Export the state again.") -> SchemaError:
        """Make the error that says what is wrong here."""
        return SchemaError("The export cannot be read.", f"{self.place or 'The document'}: {what}.", hint)

    def member(self, name: str) -> Checked:
        """Return a member that must be there."""
        members = self._of(dict)
        if name not in members:
            raise self.refused(f"{name!r} is missing")
        return Checked(members[name], self, name)

    def optional(self, name: str) -> Checked | None:
        """Return a member, ``None`` where there is none."""
        members = self._of(dict)
        if name not in members:
            return None
        return Checked(members[name], self, name)

    def members(self) -> Iterator[tuple[str, Checked]]:
        """Yield the members of an object."""
        for name in self._of(dict):
            yield name, self.member(name)

    def items(self) -> Iterator[Checked]:
        """Yield the items of a list."""
        for at, each in enumerate(self._of(list)):
            yield Checked(each, self, at)

    def text(self) -> str:
        """Return a text that says something."""
        found: str = self._of(str)
        if not found:
            raise self.refused("a text is empty")
        return found

    def any_text(self) -> str:
        """Return a text that may be empty."""
        found: str = self._of(str)
        return found

    def flag(self) -> bool:
        """Return true or false."""
        found: bool = self._of(bool)
        return found

    def whole(self) -> int:
        """Return a whole number from 0 on that ids may have."""
        found: int = self._of(int)
        if not 0 <= found < 2**31:
            raise self.refused(f"{found} is out of range")
        return found

    def _of(self, kind: type) -> Any:
        # A bool is an int in Python, and not in JSON.
        if type(self.value) is not kind:
            found = _KINDS.get(type(self.value), "null" if self.value is None else "a number")
            raise self.refused(f"{_KINDS[kind]} is needed here, not {found}")
        return self.value


_CARRIED = (Status.CONFIRMED, Status.UNCONFIRMED, Status.NEEDS_REVIEW)


@dataclass(slots=True)
class BlockReader:
    """Reads the blocks that stand between the versions of some trees.

    Args:
        trees: a document without blocks.
    """

    trees: Document
    _paths: dict[tuple[Side, int], dict[str, int]] = field(default_factory=dict, init=False)
    _labels: dict[tuple[Side, int], dict[str, int]] = field(default_factory=dict, init=False)

    def dense(self, root: Checked) -> list[Block]:
        """Read the blocks of a ``json`` export."""
        found: dict[BlockKey, Block] = {}
        for each in root.member("blocks").items():
            block = self._block(each)
            if block.key in found:
                raise each.refused("the block is there twice")
            found[block.key] = block
        return self._told(found)

    def compact(self, root: Checked) -> list[Block]:
        """Read the groups of a ``dusb`` export and decompact them (A4)."""
        found: dict[BlockKey, Block] = {}
        groups: set[GroupKey] = set()
        for each in root.member("groups").items():
            group, dense = self._group(each)
            if group in groups:
                raise each.refused("the group is there twice")
            groups.add(group)
            found |= {(v, group.entity_version): Block(v, group.entity_version, e) for v, e in dense.items()}
        for each in (*_listed(root, "held"), *_listed(root, "statuses")):
            key = self._key(each)
            block = found.get(key, Block(*key))
            found[key] = replace(block, status=_status(each), unconfirmed=_is_unconfirmed(each))
        return self._told(found)

    def _told(self, found: dict[BlockKey, Block]) -> list[Block]:
        """Give blocks what an export does not carry: a verdict, and what they wait for."""
        return [self._with_verdict(block, found).settled() for block in found.values()]

    def _with_verdict(self, block: Block, found: dict[BlockKey, Block]) -> Block:
        version = self.trees.extraction.version(block.version)
        waits = (version.id,) if block.status is Status.NEEDS_REVIEW and not block.losses else ()
        previous = self.trees.extraction.previous(version)
        source = None if previous is None else found.get((previous.id, block.entity_version))
        if previous is None or source is None or not source.elements:
            return replace(block, waits=waits)
        lineages = {a.id: a.lineage for v in (previous, version) for a in v.attributes}
        old, new = ({(q, lineages[p]) for q, p in b.elements} for b in (source, block))
        lost = Verdict.SMALLER if new else Verdict.EMPTIED
        return replace(block, waits=waits, came_from=source.key, verdict=Verdict.SAME if old <= new else lost)

    def _block(self, each: Checked) -> Block:
        key = self._key(each)
        held = each.optional("held")
        kept = each.optional("kept")
        listed = each.member("elements") if kept is None else kept
        elements = self._elements(listed, key)
        if held is not None and held.flag() and kept is None and elements:
            raise each.refused("a block that is held has no elements")
        losses = tuple(self._loss(x, key) for x in _listed(each, "conflicts"))
        return Block(*key, elements, _status(each), losses=losses, unconfirmed=_is_unconfirmed(each))

    def _group(self, each: Checked) -> tuple[GroupKey, dict[int, tuple[Element, ...]]]:
        schema = self._schema(Side.EXTRACTION, each.member("schema"))
        entity_version = self._entity_version(each)
        kept: list[CompactBlock] = []
        for block in each.member("kept").items():
            version = self._version(Side.EXTRACTION, schema, block.member("version"))
            if any(version == other.version for other in kept):
                raise block.refused("the version is there twice")
            kept.append(CompactBlock(version, self._elements(block.member("elements"), (version, entity_version))))
        try:
            dense = decompact(self.trees.extraction.versions(schema), kept)
        except KeyError as error:
            raise each.refused("a version lacks an attribute that the block kept before it needs") from error
        return GroupKey(schema, entity_version), dense

    def _key(self, each: Checked) -> BlockKey:
        schema = self._schema(Side.EXTRACTION, each.member("schema"))
        return self._version(Side.EXTRACTION, schema, each.member("version")), self._entity_version(each)

    def _entity_version(self, each: Checked) -> int:
        entity = self._schema(Side.CDM, each.member("entity"))
        label = each.member("entity_version")
        found = self._version(Side.CDM, entity, label)
        known = self.trees.cdm.schema(entity)
        if known.setting("policy") != "parallel" and known.version_ids[-1] != found:
            raise label.refused(f"{known.name!r} keeps blocks at its newest version only, not at {label.value!r}")
        return found

    def _schema(self, side: Side, each: Checked) -> int:
        found = self.trees.tree(side).named(each.text())
        if found is None:
            raise each.refused(f"{each.value!r} is not in the trees of the export")
        return found.id

    def _version(self, side: Side, schema_id: int, each: Checked) -> int:
        if (side, schema_id) not in self._labels:
            versions = self.trees.tree(side).versions(schema_id)
            self._labels[side, schema_id] = {label: version.id for version in versions for label in version.labels}
        found = self._labels[side, schema_id].get(each.text())
        if found is None:
            raise each.refused(f"there is no version {each.value!r}")
        return found

    def _ends(self, side: Side, version_id: int) -> dict[str, int]:
        if (side, version_id) not in self._paths:
            version = self.trees.tree(side).version(version_id)
            self._paths[side, version_id] = {a.path: a.id for a in version.attributes}
        return self._paths[side, version_id]

    def _elements(self, listed: Checked, key: BlockKey) -> tuple[Element, ...]:
        columns, rows = self._ends(Side.EXTRACTION, key[0]), self._ends(Side.CDM, key[1])
        found: list[Element] = []
        for each in listed.items():
            source, target = each.member("from"), each.member("to")
            if source.text() not in columns or target.text() not in rows:
                wrong = source if source.value not in columns else target
                raise wrong.refused(f"the version has no attribute {wrong.value!r}")
            found.append(Element(rows[target.text()], columns[source.text()]))
        if conflicts(tuple(found)):
            raise listed.refused("an attribute is used twice in one block")
        return tuple(sorted(found))

    def _loss(self, each: Checked, key: BlockKey) -> Loss:
        version, entity_version = self.trees.extraction.version(key[0]), self.trees.cdm.version(key[1])
        to_path, from_path = each.member("to").text(), each.member("from").text()
        q, q_lineage = _end(entity_version, to_path)
        p, p_lineage = _end(version, from_path)
        return Loss(q, p, q_lineage, p_lineage, to_path, from_path, each.member("reason").text(), version.id)


def _end(version: Version, path: str) -> tuple[int, int]:
    """Return id and lineage of an attribute; zeros, which no attribute has, where it is in another version only."""
    found = version.at_path(path)
    return (0, 0) if found is None else (found.id, found.lineage)


def _listed(each: Checked, name: str) -> Iterable[Checked]:
    listed = each.optional(name)
    return _nothing() if listed is None else listed.items()


def _nothing() -> Iterator[Checked]:
    yield from ()


def _is_unconfirmed(each: Checked) -> bool:
    """Whether it is said of a block under review that nobody has confirmed it."""
    said = each.optional("unconfirmed")
    if said is None or not said.flag():
        return False
    if _status(each) is not Status.NEEDS_REVIEW:
        raise said.refused(f"it is said of blocks that are {Status.NEEDS_REVIEW.value!r} only")
    return True


def _status(each: Checked) -> Status:
    status = each.member("status")
    found = next((known for known in _CARRIED if known.value == status.any_text()), None)
    if found is None:
        raise status.refused(f"no exported block is {status.value!r}")
    return found


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

    def ids(self) -> NextIds:
        """Return the next unused ids."""
        return NextIds(len(self._schemas) + 1, len(self._versions) + 1, self._attributes + 1, self._lineages + 1)

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
        ignored = self._ignored(each.optional("ignored"), lineages)
        self._schemas.append(Schema(id_, name, ids, aliases, self._settings.get(name, ()), ignored=ignored))

    def _ignored(self, listed: Checked | None, lineages: dict[str, int]) -> tuple[IgnoredAttribute, ...]:
        """Read what is never to be mapped."""
        found: dict[int, IgnoredAttribute] = {}
        for each in listed.items() if listed is not None else ():
            named = each.member("lineage")
            lineage = lineages.get(named.text())
            if lineage is None or lineage in found:
                raise named.refused(f"no attribute is called {named.value!r}, or it is there twice")
            try:
                reason = checked_reason(each.member("reason").text())
            except EditError as error:
                raise each.refused(str(error)) from error
            found[lineage] = IgnoredAttribute(lineage, reason)
        return tuple(sorted(found.values()))

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


MAX_BYTES = 512 * 2**20
_MARK = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?: |$)", re.MULTILINE)
_HASH = re.compile(r"[0-9a-f]{64}")


def read_export(path: Path) -> MatrixExport:
    """Read an export.

    Raises:
        SchemaError: it cannot be read; with its name, and the line or the place where it stops being an export.
    """
    raw = read_bytes(path, MAX_BYTES)
    try:
        return parse_export(raw)
    except SchemaError as error:
        raise SchemaError(f"{path.name}: {error.title}", error.text, error.hint) from error


def parse_export(raw: bytes) -> MatrixExport:
    """Read an export from its bytes.

    Raises:
        SchemaError: it cannot be read.
    """
    text = decode(raw)
    _refuse_marks(text)
    root = Checked(parse_json(text))
    format_ = root.member("format")
    if format_.any_text() not in {JSON_FORMAT, DUSB_FORMAT}:
        raise format_.refused(f"{format_.value!r} is no export of a matrix", "Name a file of metl export -o.")
    version = root.member("version")
    if version.whole() != 1:
        raise version.refused(f"this program reads version 1, not {version.value}", "Take a newer program.")
    hash_ = root.member("hash")
    if _HASH.fullmatch(hash_.any_text()) is None:
        raise hash_.refused("a hash has 64 hexadecimal digits")
    trees = read_trees(root.member("trees"), root.member("settings"))
    reader = BlockReader(trees)
    blocks = reader.dense(root) if format_.value == JSON_FORMAT else reader.compact(root)
    state = root.member("state").whole()
    models = _models(root)
    document = Document(state, trees.extraction, trees.cdm, Dpm.of(blocks), trees.extraction_ids, trees.cdm_ids, models)
    unconfirmed = root.member("settings").member("include_unconfirmed").flag()
    return MatrixExport(document, format_.any_text(), state, hash_.any_text(), unconfirmed)


def _models(root: Checked) -> tuple[Model, ...]:
    """Read the warehouse models, which an export carries where there are some; no two have one name."""
    written = root.optional("warehouse_models")
    found: dict[str, Model] = {}
    for each in written.items() if written is not None else ():
        try:
            model = msgspec.convert(each.value, Model)
        except msgspec.ValidationError as error:
            raise each.refused(f"it is no warehouse model ({error})") from error
        if model.name in found:
            raise each.refused("its name stands there twice")
        found[model.name] = model
    return tuple(model for _, model in sorted(found.items()))


def _refuse_marks(text: str) -> None:
    """Say of a file that Git merged as text, line by line, what is the matter with it."""
    found = _MARK.search(text)
    if found is not None:
        line = text.count("\n", 0, found.start()) + 1
        raise SchemaError(
            "The export holds marks of a merge that is not finished.",
            f"The first one is at line {line}.",
            "Take one side of it (git checkout --ours FILE) and merge with metl merge BASE OURS THEIRS.",
        )
