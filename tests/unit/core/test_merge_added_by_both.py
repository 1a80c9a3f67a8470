"""What a merge does with versions that both sides added, and with what either decided about them."""

from __future__ import annotations

import pytest

from metl_gui.core.changes.draft import Edit, EditContext, Transition, perform
from metl_gui.core.edits.entities import ChangeEntity, CreateAndMap, declared
from metl_gui.core.edits.lineages import AttributeKey, SplitLineage
from metl_gui.core.edits.review import AcceptLosses, ConfirmBlock, RenameLost, RetireBlock
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.matrix.blocks import Status
from metl_gui.core.merge.merged_document import MergeTheirs
from metl_gui.core.merge.sides import ConflictKind
from metl_gui.core.review.items import review_items
from metl_gui.core.trees.nodes import Side, Version
from tests.helpers.world import World
from tests.unit.core.test_merge_cases import Play, base_world, merged


def adding_third(world: World) -> None:
    """Add a third version in which a has another name."""
    world.schema("s", "3", "a2", "b", "c")


def adding_entity_version(world: World) -> None:
    """Add a second version of be in which x has another name."""
    world.entity("be", "2", "x2", "y", "z")


ADDED_BY_BOTH = [
    pytest.param(adding_third, "s@3:be@1", "a", "a2", ("x", "a2"), id="schema"),
    pytest.param(adding_entity_version, "s@1:be@2", "x", "x2", ("x2", "a"), id="entity"),
]


@pytest.mark.parametrize("is_ours", [True, False])
@pytest.mark.parametrize(("adding", "block", "lost", "new", "wanted"), ADDED_BY_BOTH)
def test_a_rename_in_a_version_that_both_sides_added_keeps_its_elements(
    adding: Play, block: str, lost: str, new: str, wanted: tuple[str, str], is_ours: bool
) -> None:
    def renaming(world: World) -> None:
        adding(world)
        world.do(RenameLost(world.key(block), lost, new))

    result, found = merged(renaming, adding) if is_ours else merged(adding, renaming)
    assert result.pairs(block) == {wanted}
    assert result.block(block).status is Status.CONFIRMED
    assert found == []


@pytest.mark.parametrize("is_ours", [True, False])
@pytest.mark.parametrize(("adding", "block", "lost", "new", "wanted"), ADDED_BY_BOTH)
def test_a_rename_that_the_other_side_confirmed_as_a_loss_stays_mapped_and_waits(
    adding: Play, block: str, lost: str, new: str, wanted: tuple[str, str], is_ours: bool
) -> None:
    def renaming(world: World) -> None:
        world.do(RenameLost(world.key(block), lost, new))

    def accepting(world: World) -> None:
        world.do(AcceptLosses(world.key(block), (lost,)))

    result, found = merged(renaming, accepting, adding) if is_ours else merged(accepting, renaming, adding)
    assert result.pairs(block) == {wanted}
    assert result.block(block).status is Status.NEEDS_REVIEW
    assert "confirmed that it is lost" in result.block(block).comment
    assert {each.kind for each in found} == {ConflictKind.ELEMENT}


@pytest.mark.parametrize("entity", [False, True])
def test_what_both_sides_inherited_and_one_unmapped_in_a_version_that_both_added_is_gone(entity: bool) -> None:
    def adding(world: World) -> None:
        world.entity("be", "2", "x", "y") if entity else world.schema("s", "3", "a", "b")

    def clearing(world: World) -> None:
        adding(world)
        block = "s@1:be@2" if entity else "s@3:be@1"
        world.do(world.clearing(block, "a", "x"))

    for ours, theirs in ((adding, clearing), (clearing, adding)):
        result, found = merged(ours, theirs)
        assert result.document.matrix.block(*result.key("s@1:be@2" if entity else "s@3:be@1")) is None
        assert found == []


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_split_in_a_version_that_both_sides_added_stays_and_a_later_version_follows_it(is_ours: bool) -> None:
    def adding(world: World) -> None:
        world.schema("s", "3", "a", "b", "e")

    def splitting(world: World) -> None:
        adding(world)
        third = world.version(Side.EXTRACTION, "s", "3")
        world.do(SplitLineage(Side.EXTRACTION, AttributeKey(third.id, third.attributes[0].id)))

    def adding_more(world: World) -> None:
        adding(world)
        world.schema("s", "4", "a", "b")

    result, found = merged(splitting, adding_more) if is_ours else merged(adding_more, splitting)
    first, *_, third, fourth = (version.attributes[0].lineage for version in versions_of(result, "s"))
    assert third == fourth != first
    assert result.pairs("s@3:be@1") == set()
    assert found == []


def test_a_later_version_of_one_side_follows_the_rename_of_the_other() -> None:
    def adding_fourth(world: World) -> None:
        adding_third(world)
        world.schema("s", "4", "a2", "b")

    def renaming(world: World) -> None:
        adding_third(world)
        world.do(RenameLost(world.key("s@3:be@1"), "a", "a2"))

    for ours, theirs in ((adding_fourth, renaming), (renaming, adding_fourth)):
        result, found = merged(ours, theirs)
        assert len({version.attributes[0].lineage for version in versions_of(result, "s")}) == 1
        assert result.pairs("s@4:be@1") == {("x", "a2")}
        assert found == []


def test_what_one_side_maps_in_a_version_that_both_added_meets_a_later_one_of_the_other() -> None:
    def adding_fourth(world: World) -> None:
        adding_third(world)
        world.schema("s", "4", "a2", "b")

    def mapping(world: World) -> None:
        adding_third(world)
        world.map("s@3:be@1", y="b")

    for ours, theirs in ((adding_fourth, mapping), (mapping, adding_fourth)):
        result, found = merged(ours, theirs)
        assert result.pairs("s@4:be@1") == {("y", "b")}
        assert found == []


@pytest.mark.parametrize("is_ours", [True, False])
@pytest.mark.parametrize(("adding", "block"), [(adding_third, "s@3:be@1"), (adding_entity_version, "s@1:be@2")])
def test_a_block_that_one_side_retired_in_a_version_that_both_added_keeps_the_list(
    adding: Play, block: str, is_ours: bool
) -> None:
    def mapping(world: World) -> None:
        world.map("s@1:be@1", y="b")
        world.map("s@2:be@1", y="b")

    def retiring(world: World) -> None:
        adding(world)
        world.do(RetireBlock(world.key(block)))

    result, found = merged(retiring, adding, mapping) if is_ours else merged(adding, retiring, mapping)
    retired = result.block(block)
    assert (retired.status, retired.elements) == (Status.RETIRED, ())
    assert result.named(retired.key, retired.retired) == {("y", "b")}
    assert found == []


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_type_change_that_one_side_confirmed_in_a_version_that_both_added_is_not_asked_again(is_ours: bool) -> None:
    def adding(world: World) -> None:
        world.schema("s", "3", "a:int32", "b")
        assert world.block("s@3:be@1").waits

    def confirming(world: World) -> None:
        adding(world)
        world.do(ConfirmBlock(world.key("s@3:be@1")))

    result, found = merged(confirming, adding) if is_ours else merged(adding, confirming)
    assert result.block("s@3:be@1").status is Status.CONFIRMED
    assert review_items(result.document) == ()
    assert found == []


def test_what_one_side_maps_again_where_its_source_came_back_stays() -> None:
    def adding(world: World) -> None:
        world.schema("s", "3", "b", "e")
        world.schema("s", "4", "a", "e")

    def mapping(world: World) -> None:
        adding(world)
        world.map("s@4:be@1", x="a")

    for ours, theirs in ((adding, mapping), (mapping, adding)):
        result, found = merged(ours, theirs)
        assert result.pairs("s@4:be@1") == {("x", "a")}
        assert found == []


def dropping(world: World) -> None:
    """Add a version of be without x and z."""
    entity = world.document.cdm.named("be")
    assert entity is not None
    newest = world.document.cdm.newest(entity.id)
    assert newest is not None
    world.do(ChangeEntity(entity.id, tuple(each for each in declared(newest) if each.path not in ("x", "z"))))


def test_a_target_that_both_dropped_and_one_side_brought_back_later_keeps_its_element() -> None:
    def back(world: World) -> None:
        dropping(world)
        entity, version = world.document.cdm.named("be"), world.version(Side.EXTRACTION, "s", "1")
        source = version.at_path("a")
        assert entity is not None
        assert source is not None
        world.do(CreateAndMap(entity.id, (AttributeKey(version.id, source.id),), "x"))

    for ours, theirs in ((dropping, back), (back, dropping)):
        result, found = merged(ours, theirs)
        assert result.pairs("s@1:be@3") == {("x", "a")}
        assert found == []


@pytest.mark.parametrize("is_ours", [True, False])
def test_what_one_side_unmapped_in_a_parallel_version_that_both_added_is_gone(is_ours: bool) -> None:
    def parallel(world: World) -> None:
        entity = world.document.cdm.named("be")
        assert entity is not None
        world.do(SetSettings(Side.CDM, entity.id, (("policy", "parallel"),)))
        world.map("s@1:be@1", z="c")

    def adding(world: World) -> None:
        world.entity("be", "2", "x", "y", "z", "n")
        world.entity("be", "3", "y", "z")

    def clearing(world: World) -> None:
        adding(world)
        world.do(world.clearing("s@1:be@2", "a", "x"))

    result, found = merged(clearing, adding, parallel) if is_ours else merged(adding, clearing, parallel)
    assert result.pairs("s@1:be@2") == {("z", "c")}
    assert result.pairs("s@1:be@1") == {("x", "a"), ("z", "c")}
    assert found == []


def test_a_lost_element_in_place_of_which_both_map_the_same_is_no_question() -> None:
    def mapping(world: World) -> None:
        world.map("s@3:be@1", x="b")

    def accepting(world: World) -> None:
        world.do(AcceptLosses(world.key("s@3:be@1"), ("a",)))
        mapping(world)

    for ours, theirs in ((mapping, accepting), (accepting, mapping)):
        result, found = merged(ours, theirs, adding_third)
        assert result.pairs("s@3:be@1") == {("x", "b")}
        assert result.block("s@3:be@1").status is Status.CONFIRMED
        assert found == []


def accepting_third(world: World) -> None:
    """Confirm that x is lost in the third version."""
    adding_third(world)
    world.do(AcceptLosses(world.key("s@3:be@1"), ("a",)))


def renaming_third(world: World) -> None:
    """Say that a is called a2 in the third version."""
    adding_third(world)
    world.do(RenameLost(world.key("s@3:be@1"), "a", "a2"))


@pytest.mark.parametrize("is_decided", [True, False])
@pytest.mark.parametrize("is_back", [True, False])
@pytest.mark.parametrize("is_mapped_by_ours", [True, False])
def test_what_one_side_maps_and_the_other_confirmed_as_lost_is_asked_once(
    is_decided: bool, is_back: bool, is_mapped_by_ours: bool
) -> None:
    begun = base_world().document
    mine, other = World(), World()
    mine.document = other.document = begun
    renaming_third(mine if is_mapped_by_ours else other)
    accepting_third(other if is_mapped_by_ours else mine)
    first = World()
    first.document = perform(mine.document, MergeTheirs(begun, other.document, "theirs")).after
    block = first.block("s@3:be@1")
    assert block.status is Status.NEEDS_REVIEW
    if is_decided:
        first.do(ConfirmBlock(block.key))
    sides = (other.document, first.document) if is_back else (first.document, other.document)
    again = World()
    again.document = perform(sides[0], MergeTheirs(begun, sides[1], "theirs")).after
    assert again.block("s@3:be@1").comment == block.comment
    assert again.block("s@3:be@1").status is (Status.CONFIRMED if is_decided else Status.NEEDS_REVIEW)


def test_a_conflict_of_settings_is_told_once_however_often_it_is_merged() -> None:
    def setting(value: str) -> Play:
        def play(world: World) -> None:
            world.do(
                SetSettings(Side.EXTRACTION, world.version(Side.EXTRACTION, "s", "1").schema_id, (("key", value),))
            )

        return play

    mine, other = World(), World()
    begun = base_world().document
    mine.document = other.document = begun
    setting("a")(mine)
    setting("b")(other)
    result = mine.document
    for _ in range(2):
        result = perform(result, MergeTheirs(begun, other.document, "theirs")).after
    (comment,) = [block.comment for block in result.matrix.blocks() if block.comment]
    assert len(comment.splitlines()) == 1


class Reviewed(World):
    """A world in which a second person confirms."""

    who = "Ben"

    def do(self, edit: Edit) -> Transition:
        """Apply an edit as the person who works there."""
        transition = perform(self.document, edit, EditContext(self.who, 1_000 + self.document.state, True))
        if not transition.change.is_empty:
            self.document = transition.after
        return transition


@pytest.mark.parametrize("is_ours", [True, False])
@pytest.mark.parametrize("elsewhere", [False, True])
def test_what_a_second_person_confirmed_in_a_version_that_both_added_is_confirmed(
    is_ours: bool, elsewhere: bool
) -> None:
    begun, mine, other = Reviewed(), Reviewed(), Reviewed()
    begun.document = base_world().document
    begun.map("s@2:be@1", y="b", z="c")
    for world in (mine, other):
        world.document = begun.document
        world.schema("s", "3", "a", "b", "c", "e")
    if elsewhere:
        mine.do(mine.clearing("s@3:be@1", "c", "z"))
    other.who = "Ann"
    other.do(ConfirmBlock(other.key("s@3:be@1")))
    sides = (other, mine) if is_ours else (mine, other)
    result = World()
    result.document = perform(sides[0].document, MergeTheirs(begun.document, sides[1].document, "theirs")).after
    block = result.block("s@3:be@1")
    assert (block.status, block.who) == ((Status.UNCONFIRMED, "Ben") if elsewhere else (Status.CONFIRMED, "Ann"))


def versions_of(world: World, schema: str) -> tuple[Version, ...]:
    """List the versions of a schema, oldest first."""
    found = world.document.extraction.named(schema)
    assert found is not None
    return world.document.extraction.versions(found.id)
