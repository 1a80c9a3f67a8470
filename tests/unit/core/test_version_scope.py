"""Edits carried to other versions: the same two lineages where both ends are free, and nothing else.

Source: docs/architecture/model.md, "Edits of several versions".
"""

from __future__ import annotations

from contextlib import suppress
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from metl_gui.core.changes.draft import Transition
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.review import RetireBlock
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.edits.unmapped_versions import plan_like_others
from metl_gui.core.edits.version_scope import LeftReason, VersionScope, carried, lineage_places
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Status, conflicts
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.type_verdicts import TypeVerdict, type_verdict
from metl_gui.errors import EditError
from tests.helpers.histories import DECISIONS, edit_of, start, step
from tests.helpers.world import World

Lineages = tuple[int, int]


def world_of(*versions: tuple[str, ...]) -> World:
    """Make a world of a schema ``s`` with versions 1, 2, … of these attributes, and an entity ``be`` of a, b and c.

    Each version has an attribute more of its own: no two have the same content.
    """
    world = World()
    for number, paths in enumerate(versions, 1):
        world.schema("s", str(number), *paths, f"of{number}")
    world.entity("be", "1", "a", "b", "c")
    return world


def carry(world: World, edit: SetElements, scope: VersionScope = VersionScope.ALL) -> Transition:
    """Do an edit of one version with what it means in the others."""
    return world.do(CompositeEdit("Map", (edit, *carried(world.document, (edit,), scope).edits)))


def test_an_element_is_set_in_every_version_that_has_both_lineages() -> None:
    world = world_of(("a",), ("a", "b"), ("b",), ("x=b", "a"))
    carry(world, world.setting("s@2:be@1", a="b"))
    assert [world.pairs(f"s@{n}:be@1") for n in (1, 2, 3, 4)] == [set(), {("a", "b")}, {("a", "b")}, {("a", "x")}]
    assert {world.block(f"s@{n}:be@1").status for n in (2, 3, 4)} == {Status.CONFIRMED}


def test_this_and_later_leaves_earlier_versions_alone() -> None:
    world = world_of(("a",), ("a",), ("a",))
    carry(world, world.setting("s@2:be@1", a="a"), VersionScope.LATER)
    assert [world.pairs(f"s@{n}:be@1") for n in (1, 2, 3)] == [set(), {("a", "a")}, {("a", "a")}]


def test_this_version_takes_no_other() -> None:
    world = world_of(("a",), ("a",))
    assert carried(world.document, (world.setting("s@1:be@1", a="a"),), VersionScope.THIS).edits == ()


def test_what_is_taken_retired_or_of_another_type_is_left_and_told() -> None:
    world = world_of(("a", "b"), ("a", "b"), ("a:boolean", "b"), ("a", "b"))
    world.map("s@2:be@1", a="b")
    world.map("s@4:be@1", c="b")
    world.do(RetireBlock(world.key("s@4:be@1")))
    edit = world.setting("s@1:be@1", a="a")
    plan = carried(world.document, (edit,), VersionScope.ALL)
    assert plan.edits == ()
    reasons = {LeftReason.TAKEN: "s@2:be@1", LeftReason.TYPE: "s@3:be@1", LeftReason.RETIRED: "s@4:be@1"}
    assert {each.reason: each.key for each in plan.left} == {r: world.key(block) for r, block in reasons.items()}
    along = carried(world.document, (edit,), VersionScope.ALL, types_too=True)
    assert [each.key for each in along.edits] == [world.key("s@3:be@1")]


def test_a_type_that_the_own_version_has_too_is_no_reason_to_leave_an_element() -> None:
    world = world_of(("a:boolean",), ("a:boolean",), ("a:int64",), ("a",))
    plan = carried(world.document, (world.setting("s@1:be@1", a="a"),), VersionScope.ALL)
    assert {each.key for each in plan.edits} == {world.key(f"s@{label}:be@1") for label in "234"}
    assert plan.left == ()


def test_clearing_clears_the_same_lineages_and_no_others() -> None:
    world = world_of(("a", "b"), ("a", "b"), ("a", "b"))
    world.map("s@1:be@1", a="a")
    world.map("s@2:be@1", a="a", b="b")
    world.map("s@3:be@1", a="b")
    carry(world, world.clearing("s@1:be@1", "a", "a"))
    assert [world.pairs(f"s@{n}:be@1") for n in (1, 2, 3)] == [set(), {("b", "b")}, {("a", "b")}]


def test_what_replaces_holds_for_its_own_version() -> None:
    world = world_of(("a", "b"), ("a", "b"))
    world.map("s@1:be@1", a="b")
    key = world.key("s@1:be@1")
    edit = SetElements(key, (world.element(key, "a", "a"),), (world.element(key, "b", "a"),))
    assert carried(world.document, (edit,), VersionScope.ALL).edits == ()


def test_only_blocks_that_were_null_become_confirmed() -> None:
    world = world_of(("a", "b"), ("a", "b"), ("a", "b"))
    world.do(replace(world.setting("s@2:be@1", b="b"), status=Status.UNCONFIRMED))
    carry(world, world.setting("s@1:be@1", a="a"))
    statuses = [world.block(f"s@{n}:be@1").status for n in (1, 2, 3)]
    assert statuses == [Status.CONFIRMED, Status.UNCONFIRMED, Status.CONFIRMED]
    assert world.pairs("s@2:be@1") == {("a", "a"), ("b", "b")}


def test_a_block_that_waits_settles_the_loss_that_is_mapped_and_waits_for_the_others() -> None:
    world = world_of(("a", "b"))
    world.map("s@1:be@1", a="a", b="b")
    world.schema("s", "2", "x", "y")
    world.schema("s", "3", "x", "z")
    assert len(world.block("s@3:be@1").open_losses) == 2
    carry(world, world.setting("s@3:be@1", a="x"))
    for label in ("2", "3"):
        found = world.block(f"s@{label}:be@1")
        assert found.status is Status.NEEDS_REVIEW
        assert [loss.to_path for loss in found.open_losses] == ["b"]


def test_other_entity_versions_take_part_by_choice_where_they_stand_side_by_side() -> None:
    world = world_of(("a",), ("a",))
    entity = world.document.cdm.named("be")
    assert entity is not None
    world.do(SetSettings(Side.CDM, entity.id, (("policy", "parallel"),)))
    world.entity("be", "2", "a", "d")
    edit = world.setting("s@1:be@2", a="a")
    alone = carried(world.document, (edit,), VersionScope.ALL)
    assert {each.key for each in alone.edits} == {world.key("s@2:be@2")}
    wide = carried(world.document, (edit,), VersionScope.ALL, entity_versions_too=True)
    assert {each.key for each in wide.edits} == {world.key(f"s@{b}") for b in ("1:be@1", "2:be@1", "2:be@2")}


def test_where_the_lineages_of_a_schema_stand() -> None:
    world = world_of(("a", "b"), ("b",), ("x=b", "a"))
    schema, tree = world.document.extraction.named("s"), world.document.extraction
    assert schema is not None
    a, b, own = (attribute.lineage for attribute in world.version(Side.EXTRACTION, "s", "1").attributes)
    for one in (tree, tree.merged()):
        found = lineage_places(one, schema.id)
        assert (found[a], found[b], found[own]) == ([0, 2], [0, 1, 2], [0])


def pairs_of(document: Document, key: BlockKey) -> set[Lineages]:
    """Return the elements of a block by the lineages of their sources and targets."""
    block = document.matrix.block(*key) or Block(*key)
    columns = {a.id: a.lineage for a in document.extraction.version(key[0]).attributes}
    rows = {a.id: a.lineage for a in document.cdm.version(key[1]).attributes}
    return {(columns[e.p], rows[e.q]) for e in block.elements}


def drawn_edit(world: World, random: Random) -> SetElements | None:
    """Make up an edit that sets a free element of a block, or clears one."""
    clearing = edit_of(world, "unmap", random.randint(0, 1 << 30)) if random.random() < 0.4 else None
    if isinstance(clearing, SetElements):
        return clearing
    versions = [v for v in world.document.extraction.all_versions() if v.attributes]
    entities = [e for e in world.document.cdm.schemas() if e.version_ids]
    if not versions or not entities:
        return None
    version = random.choice(versions)
    entity_version = world.document.cdm.version(random.choice(entities).version_ids[-1])
    block = world.document.matrix.block(version.id, entity_version.id)
    taken = block.elements if block is not None else ()
    ps = [a.id for a in version.attributes if a.id not in {e.p for e in taken}]
    qs = [a.id for a in entity_version.attributes if a.id not in {e.q for e in taken}]
    if not ps or not qs:
        return None
    status = random.choice((Status.CONFIRMED, Status.UNCONFIRMED))
    return SetElements((version.id, entity_version.id), (Element(random.choice(qs), random.choice(ps)),), status=status)


_EDITS_TRIED = 5
_STEPS = (*("add", "map", "carry", "retire") * 3, "unmap", "remove", "join", *DECISIONS)


def lived(random: Random) -> World:
    """Make a world of a long history, in which schemas have many versions and blocks every status."""
    world = start()
    for _ in range(random.randint(20, 60)):
        kind, seed = random.choice(_STEPS), random.getrandbits(30)
        if kind != "carry":
            step(world, kind, seed)
        elif edit := drawn_edit(world, random):
            with suppress(EditError):
                carry(world, edit, random.choice(list(VersionScope)))
    return world


@settings(max_examples=300)
@given(st.integers(0, 1 << 30))
def test_a_scope_keeps_blocks_1_to_1_touches_its_lineages_alone_and_is_undone_whole(seed: int) -> None:
    random = Random(seed)
    world = lived(random)
    for _ in range(_EDITS_TRIED):
        edit = drawn_edit(world, random)
        if edit is not None:
            assert_scoped(world, edit, random.choice(list(VersionScope)))


def assert_scoped(world: World, edit: SetElements, scope: VersionScope) -> None:
    """Do an edit with what it means in other versions, hold every block against the rules, and undo it."""
    before = world.document
    plan = carried(before, (edit,), scope)
    (pair,) = pairs_of_edit(before, edit)
    alone = World()
    alone.document = before
    try:
        alone.do(edit)
    except EditError:
        return
    done = world.do(CompositeEdit("Map", (edit, *plan.edits)))
    ids = before.extraction.schema(before.extraction.schema_of(edit.key[0])).version_ids
    at = ids.index(edit.key[0])
    in_scope = {VersionScope.THIS: (), VersionScope.LATER: ids[at + 1 :], VersionScope.ALL: (*ids[:at], *ids[at + 1 :])}
    for change in done.change.blocks:
        after = world.document.matrix.block(*change.key) or Block(*change.key)
        assert not conflicts(after.elements)
        assert pairs_of(before, change.key) ^ pairs_of(world.document, change.key) <= {pair}
        shown = alone.document.matrix.block(*change.key)
        if after == shown or change.key == edit.key:
            continue  # the edit itself did this, settling the later versions of a chain
        assert change.key[1] == edit.key[1]
        assert change.key[0] in in_scope[scope]
    told = {left.key for left in plan.left}
    for version in in_scope[scope]:
        assert_carried(before, alone.document, world.document, edit, (version, edit.key[1]), told)
    world.undo(done)
    assert state_hash(world.document) == state_hash(before)


def assert_carried(
    before: Document, alone: Document, after: Document, edit: SetElements, key: BlockKey, told: set[BlockKey]
) -> None:
    """Hold what became of the block of another version against the rules, read off the states themselves.

    Args:
        before: the state before.
        alone: the state with the edit of the shown version alone, which settles the later versions of a chain.
        after: the state with what was carried.
        edit: of the shown version.
        key: the block of another version in scope.
        told: the blocks in which it was left.
    """
    ((p, q),) = pairs_of_edit(before, edit)
    sources = before.extraction.members(key[0], {p})
    held, pairs = pairs_of(before, key), pairs_of(after, key)
    old, shown, new = (document.matrix.block(*key) or Block(*key) for document in (before, alone, after))
    settled = {loss.q_lineage for loss in new.losses if not loss.is_open} - {
        loss.q_lineage for loss in shown.losses if not loss.is_open
    }
    assert settled <= {q}
    if edit.zeros:
        assert pairs == held - {(p, q)}
    elif p in sources:
        like = before.extraction.members(edit.key[0], {p})[p]
        target = before.cdm.members(key[1], {q})[q]
        is_worse = type_verdict(sources[p], target) is TypeVerdict.MAY_REFUSE is not type_verdict(like, target)
        is_free = p not in {each for each, _ in held} and q not in {each for _, each in held}
        can_be = is_free and old.status is not Status.RETIRED and not is_worse
        assert ((p, q) in pairs) is ((p, q) in pairs_of(alone, key) or can_be)
        assert (key in told) is not (can_be or (p, q) in held)
        if can_be and old.is_null and not old.losses and not old.waits and edit.status is Status.CONFIRMED:
            assert new.status is Status.CONFIRMED
        if can_be and not old.is_null and old.is_unconfirmed:
            assert new.is_unconfirmed
        if new.open_losses or new.waits:
            assert new.status is Status.NEEDS_REVIEW
    else:
        assert pairs == held


def pairs_of_edit(document: Document, edit: SetElements) -> set[Lineages]:
    """Return what an edit sets or clears by lineages."""
    columns = {a.id: a.lineage for a in document.extraction.version(edit.key[0]).attributes}
    rows = {a.id: a.lineage for a in document.cdm.version(edit.key[1]).attributes}
    return {(columns[e.p], rows[e.q]) for e in (*edit.ones, *edit.zeros)}


def test_versions_nobody_has_decided_on_are_mapped_like_the_newest_mapped_one_and_no_other() -> None:
    world = world_of(("a", "b"), ("a", "b"), ("a", "b"), ("a", "b"), ("a",))
    world.schema("t", "1", "a")
    world.map("s@2:be@1", a="b")
    world.map("s@4:be@1", a="a", b="b")
    world.map("s@5:be@1", c="a")
    world.do(RetireBlock(world.key("s@5:be@1")))
    all_versions = [v for schema in world.document.extraction.schemas() for v in schema.version_ids]
    found = plan_like_others(world.document, all_versions)
    assert {edit.key for edit in found.plan.edits} == {world.key("s@1:be@1"), world.key("s@3:be@1")}
    assert found.versions == 2
    world.do(CompositeEdit("Map", found.plan.edits))
    assert [world.pairs(f"s@{n}:be@1") for n in (1, 3)] == [{("a", "a"), ("b", "b")}] * 2
    assert world.pairs("s@2:be@1") == {("a", "b")}
    assert world.block("s@5:be@1").status is Status.RETIRED
    assert plan_like_others(world.document, all_versions).versions == 0


def test_only_the_versions_that_are_asked_for_are_mapped_like_others() -> None:
    world = world_of(("a",), ("a",), ("a",))
    world.map("s@2:be@1", a="a")
    found = plan_like_others(world.document, [world.key("s@3:be@1")[0]])
    assert {edit.key for edit in found.plan.edits} == {world.key("s@3:be@1")}
