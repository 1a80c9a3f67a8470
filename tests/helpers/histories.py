"""Random histories of a document: version sequences, edits, decisions and undos, for property tests."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st
from msgspec.structs import replace

from metl_gui.core.changes.draft import Edit
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.entities import ChangeEntity, CreateAndMap, RenameEntity, declared
from metl_gui.core.edits.ignored import IgnoreAttributes, RecallAttributes
from metl_gui.core.edits.lineages import AttributeKey, JoinLineages, SplitLineage
from metl_gui.core.edits.revert import Revert
from metl_gui.core.edits.review import AcceptLosses, ConfirmBlock, Postpone, RenameLost, RetireBlock
from metl_gui.core.edits.settings import CHOICES, AddAlias, MaskAttribute, SetSettings
from metl_gui.core.edits.versions import AddVersion, AttachLabel, NoteKey, RemoveVersion
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.items import review_items
from metl_gui.core.review.rename_proposals import proposals
from metl_gui.core.trees.declarations import AttributeDeclaration
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.errors import EditError
from tests.helpers.world import World, declare

PATHS = ("a", "b", "c", "d", "e.f", "e.g")
TYPES = ("string", "int32", "int64")
NAMES = {Side.EXTRACTION: ("s1", "s2", "s3"), Side.CDM: ("be1", "be2")}
DECISIONS = ("confirm", "accept", "rename", "retire", "later")
LINEAGES = ("join", "join", "split")
EDITS = ("add", "add", "map", "map", "map", "unmap", "remove", "label", "alias", "call", "ask", "key", "group")
KINDS = (*EDITS, *DECISIONS, *LINEAGES, "change", "create", "mask", "ignore", "ignore", "recall")

Steps = list[tuple[str, int]]
"""A history: of each step its kind and the seed that decides about the rest of it."""

steps = st.lists(
    st.tuples(st.sampled_from([*KINDS, "undo", "policy", "insert"]), st.integers(0, 1 << 30)),
    min_size=1,
    max_size=25,
)


def start() -> World:
    """Make a world with two schemas and two entities, one version each."""
    world = World()
    world.schema("s1", "10", "a", "b", "c")
    world.schema("s2", "10", "a", "d")
    world.entity("be1", "10", "a", "b", "d")
    world.entity("be2", "10", "c", "d")
    return world


def step(world: World, kind: str, seed: int) -> bool:
    """Try one random edit; whether it was accepted."""
    edit = edit_of(world, kind, seed)
    if edit is None:
        return False
    try:
        world.do(edit)
    except EditError:
        return False
    return True


def world_of(history: Steps) -> World:
    """Play a history, and return the world at its end."""
    world = start()
    for kind, seed in history:
        step(world, kind, seed)
    return world


def documents_of(history: Steps) -> list[Document]:
    """Play a history, and return the document before it and after each of its steps."""
    world = start()
    documents = [world.document]
    for kind, seed in history:
        step(world, kind, seed)
        documents.append(world.document)
    return documents


def edit_of(world: World, kind: str, seed: int) -> Edit | None:
    """Make up one random edit of a kind, ``None`` where the world has nothing for it."""
    return _edit(world, kind, Random(seed))


def _edit(world: World, kind: str, random: Random) -> Edit | None:
    makers = {
        "add": _add,
        "insert": _add,
        "map": _map,
        "unmap": _unmap,
        "remove": _remove,
        "undo": _undo,
        "redo": _redo,
        "bulk": _bulk,
        "policy": _policy,
        "label": _label,
        "alias": _alias,
        "call": _call,
        "ask": _ask,
        "key": _key,
        "group": _group,
        "ignore": _ignore,
        "change": _change,
        "create": _create,
        "join": _join,
        "mask": _mask,
        "recall": _recall,
        "split": _split,
    }
    if kind in makers:
        return makers[kind](world, kind, random)
    return _decide(world, kind, random)


def _add(world: World, kind: str, random: Random) -> Edit:
    side = random.choice(list(Side))
    paths = random.sample(PATHS, random.randint(1, len(PATHS)))
    number = random.randint(1, 30) if kind == "insert" else 10 + world.document.state
    typed = [f"{path}:{random.choice(TYPES)}" for path in paths]
    return AddVersion(side, declare(random.choice(NAMES[side]), typed, str(number)))


def _versions(world: World, side: Side) -> list[Version]:
    return list(world.document.tree(side).all_versions())


def _map(world: World, _: str, random: Random) -> Edit | None:
    columns, rows = _versions(world, Side.EXTRACTION), _versions(world, Side.CDM)
    if not columns or not rows:
        return None
    version, entity_version = random.choice(columns), random.choice(rows)
    count = random.randint(1, min(len(version.attributes), len(entity_version.attributes)))
    sources = random.sample(version.attributes, count)
    targets = random.sample(entity_version.attributes, count)
    ones = tuple(Element(q.id, p.id) for q, p in zip(targets, sources, strict=True))
    status = random.choice((Status.CONFIRMED, Status.CONFIRMED, Status.UNCONFIRMED))
    comment = random.choice(("", "", "why"))
    return SetElements((version.id, entity_version.id), ones=ones, status=status, comment=comment)


def _unmap(world: World, _: str, random: Random) -> Edit | None:
    blocks = sorted((b for b in world.document.matrix.blocks() if b.elements), key=lambda block: block.key)
    if not blocks:
        return None
    block: Block = random.choice(blocks)
    return SetElements(block.key, zeros=(random.choice(block.elements),))


def _remove(world: World, _: str, random: Random) -> Edit | None:
    side = random.choice(list(Side))
    versions = _versions(world, side)
    return RemoveVersion(side, random.choice(versions).id) if versions else None


def _undo(world: World, _: str, random: Random) -> Edit:
    transition = random.choice(world.log[-4:])
    return Revert(transition.change, transition.title)


def _redo(world: World, _: str, random: Random) -> Edit | None:  # noqa: ARG001 - there is one newest undo
    undone = next((each for each in reversed(world.log) if each.title.startswith("Undo")), None)
    return Revert(undone.change, undone.title, is_redo=True) if undone is not None else None


def _bulk(world: World, _: str, random: Random) -> Edit | None:
    items = review_items(world.document)
    chosen = random.sample(items, random.randint(1, len(items))) if items else []
    return (
        CompositeEdit(f"Confirm {len(chosen)} blocks", tuple(ConfirmBlock(item.key) for item in chosen))
        if items
        else None
    )


def _policy(world: World, _: str, random: Random) -> Edit | None:
    entities = world.document.cdm.schemas()
    if not entities:
        return None
    return SetSettings(Side.CDM, random.choice(entities).id, (("policy", random.choice(("newest", "parallel"))),))


def _label(world: World, _: str, random: Random) -> Edit | None:
    side = random.choice(list(Side))
    versions = _versions(world, side)
    return AttachLabel(side, random.choice(versions).id, str(random.randint(1, 30))) if versions else None


def _alias(world: World, _: str, random: Random) -> Edit | None:
    side = random.choice(list(Side))
    schemas = world.document.tree(side).schemas()
    names = (*NAMES[side], "topic", "table")
    return AddAlias(side, random.choice(schemas).id, random.choice(names)) if schemas else None


def _call(world: World, _: str, random: Random) -> Edit | None:
    entities = world.document.cdm.schemas()
    names = (*NAMES[Side.CDM], "topic", "table")
    return RenameEntity(random.choice(entities).id, random.choice(names)) if entities else None


def _ask(world: World, _: str, random: Random) -> Edit | None:
    schemas = world.document.extraction.schemas()
    if not schemas:
        return None
    values = ("ask", random.choice(CHOICES["ask"])), ("meanwhile", random.choice(CHOICES["meanwhile"]))
    return SetSettings(Side.EXTRACTION, random.choice(schemas).id, values)


def _key(world: World, _: str, random: Random) -> Edit | None:
    versions = _versions(world, Side.EXTRACTION)
    if not versions:
        return None
    version = random.choice(versions)
    return NoteKey(Side.EXTRACTION, version.id, (random.choice(version.attributes).path,))


def _group(world: World, _: str, random: Random) -> Edit | None:
    """Several edits worked out on the same document, as a table or a bulk decision makes them."""
    kinds = random.choices(("map", "unmap", "confirm", "accept", "rename", "remove", "add"), k=random.randint(2, 3))
    edits = [_edit(world, kind, Random(random.random())) for kind in kinds]
    return CompositeEdit("Several edits", tuple(edit for edit in edits if edit is not None))


def _join(world: World, _: str, random: Random) -> Edit | None:
    """Mostly two attributes that never stand side by side, or what took the place of a lost one."""
    side = random.choice(list(Side))
    leaves = _leaves(world, side, random)
    if not leaves:
        return None
    one, other = random.choice(leaves), random.choice(leaves)
    apart = [(a, b) for a in leaves for b in leaves if a.version != b.version and not _meet(world, side, a, b)]
    if apart and random.random() < 0.8:
        one, other = random.choice(apart)
    return JoinLineages(side, one, other)


def _split(world: World, _: str, random: Random) -> Edit | None:
    side = random.choice(list(Side))
    leaves = _leaves(world, side, random)
    seen: set[int] = set()
    again: list[AttributeKey] = []
    for leaf in leaves:
        lineage = _lineage(world, side, leaf)
        again += [leaf] if lineage in seen else []
        seen.add(lineage)
    return SplitLineage(side, random.choice(again or leaves)) if leaves else None


def _change(world: World, _: str, random: Random) -> Edit | None:
    """A new version of an entity by hand: attributes go, come, get another name, type or documentation."""
    entities = world.document.cdm.schemas()
    if not entities:
        return None
    entity = random.choice(entities)
    newest = world.document.cdm.newest(entity.id)
    assert newest is not None
    kept = [a for a in declared(newest) if random.random() < 0.8]
    for at in range(len(kept)):
        if random.random() < 0.3:
            path, type_ = random.choice((kept[at].path, random.choice(PATHS))), random.choice(TYPES)
            kept[at] = replace(kept[at], path=path, type=type_, doc=random.choice(("", "why")))
    kept += [AttributeDeclaration(random.choice(PATHS), "string")] if random.random() < 0.4 else []
    return ChangeEntity(entity.id, tuple(kept))


def _create(world: World, _: str, random: Random) -> Edit | None:
    entities, leaves = world.document.cdm.schemas(), _leaves(world, Side.EXTRACTION, random)
    if not entities or not leaves:
        return None
    return CreateAndMap(random.choice(entities).id, (random.choice(leaves),), random.choice(("", "fee")))


def _mask(world: World, _: str, random: Random) -> Edit | None:
    side = random.choice(list(Side))
    leaves = _leaves(world, side, random)
    return MaskAttribute(side, *random.choice(leaves)) if leaves else None


def _ignore(world: World, _: str, random: Random) -> Edit | None:
    """Some attributes are never to be mapped; half of the time what is mapped is cleared."""
    side = random.choice(list(Side))
    leaves = _leaves(world, side, random)
    if not leaves:
        return None
    schema = world.document.tree(side).version(leaves[0].version).schema_id
    chosen = random.sample(leaves, min(len(leaves), random.randint(1, 2)))
    lineages = tuple({_lineage(world, side, leaf) for leaf in chosen})
    return IgnoreAttributes(side, schema, lineages, random.choice(("no use", "internal")), random.random() < 0.5)


def _recall(world: World, _: str, random: Random) -> Edit | None:
    marked = [
        (side, schema.id, mark.lineage)
        for side in Side
        for schema in world.document.tree(side).schemas()
        for mark in schema.ignored
    ]
    if not marked:
        return None
    side, schema_id, lineage = random.choice(marked)
    return RecallAttributes(side, schema_id, (lineage,))


def _leaves(world: World, side: Side, random: Random) -> list[AttributeKey]:
    """Every attribute of one random schema or entity, oldest version first."""
    schemas = world.document.tree(side).schemas()
    versions = world.document.tree(side).versions(random.choice(schemas).id) if schemas else ()
    return [AttributeKey(version.id, attribute.id) for version in versions for attribute in version.attributes]


def _lineage(world: World, side: Side, leaf: AttributeKey) -> int:
    attribute = world.document.tree(side).version(leaf.version).attribute(leaf.attribute)
    assert attribute is not None
    return attribute.lineage


def _meet(world: World, side: Side, one: AttributeKey, other: AttributeKey) -> bool:
    """Whether some version has attributes of both lineages, or they are one."""
    lineages = {_lineage(world, side, one), _lineage(world, side, other)}
    tree = world.document.tree(side)
    versions = tree.versions(tree.version(one.version).schema_id)
    return len(lineages) == 1 or any(lineages <= {a.lineage for a in v.attributes} for v in versions)


def _decide(world: World, kind: str, random: Random) -> Edit | None:
    waiting: list[BlockKey] = world.document.matrix.waiting()
    if not waiting:
        return None
    key = random.choice(waiting)
    block = world.document.matrix.block(*key)
    assert block is not None
    if kind == "confirm":
        return ConfirmBlock(key)
    if kind == "retire":
        return RetireBlock(key)
    if kind == "later":
        return Postpone(key)
    if not block.open_losses:
        return None
    if kind == "accept":
        return AcceptLosses(key, (random.choice(block.open_losses).to_path,))
    found = proposals(world.document, block)
    return RenameLost(key, found[0].lost, found[0].candidate) if found else None
