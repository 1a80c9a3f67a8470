"""The blocks of an export, checked against its trees: ends that exist, each used once in a block, the policy kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Loss, Status, Verdict, conflicts
from metl_gui.core.matrix.compact import Group, Kept, decompact
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.registry.checked_values import Checked

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
        groups: set[Group] = set()
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

    def _group(self, each: Checked) -> tuple[Group, dict[int, tuple[Element, ...]]]:
        schema = self._schema(Side.EXTRACTION, each.member("schema"))
        entity_version = self._entity_version(each)
        kept: list[Kept] = []
        for block in each.member("kept").items():
            version = self._version(Side.EXTRACTION, schema, block.member("version"))
            if any(version == other.version for other in kept):
                raise block.refused("the version is there twice")
            kept.append(Kept(version, self._elements(block.member("elements"), (version, entity_version))))
        try:
            dense = decompact(self.trees.extraction.versions(schema), kept)
        except KeyError as error:
            raise each.refused("a version lacks an attribute that the block kept before it needs") from error
        return Group(schema, entity_version), dense

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
