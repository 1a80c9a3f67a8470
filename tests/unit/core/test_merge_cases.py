"""What a merge does in the cases that teams meet, one by one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from metl_gui.core.changes.draft import perform
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.entities import RenameEntity
from metl_gui.core.edits.lineages import AttributeKey, JoinLineages, SplitLineage
from metl_gui.core.edits.review import AcceptLosses, ConfirmBlock, Postpone, RetireBlock, mapped_in_place
from metl_gui.core.edits.settings import AddAlias, SetSettings
from metl_gui.core.edits.warehouse import SettleAttributes
from metl_gui.core.matrix.blocks import Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.merge.merged_document import MergeTheirs
from metl_gui.core.merge.sides import ConflictKind, MergeConflict
from metl_gui.core.project.warehouse_settled import settled_with
from metl_gui.core.review.items import review_items
from metl_gui.core.trees.nodes import Side
from metl_gui.core.warehouse_model import Model
from metl_gui.errors import EditError
from tests.helpers.world import World

Play = Callable[[World], object]


def base_world() -> World:
    """Two schemas and two entities; s has two versions mapped to be."""
    world = World()
    world.schema("s", "1", "a", "b", "c")
    world.schema("other", "1", "a", "b")
    world.entity("be", "1", "x", "y", "z")
    world.entity("more", "1", "x", "y")
    world.map("s@1:be@1", x="a")
    world.schema("s", "2", "a", "b", "c", "d")
    return world


def merged(ours: Play, theirs: Play, base: Play = lambda _: None) -> tuple[World, list[MergeConflict]]:
    """Let two people go on from the same world, and merge what the second did into the first's."""
    begun = base_world()
    base(begun)
    ends: list[Document] = []
    for play in (ours, theirs):
        fork = World()
        fork.document = begun.document
        play(fork)
        ends.append(fork.document)
    edit = MergeTheirs(begun.document, ends[1], "theirs")
    result = World()
    result.document = perform(ends[0], edit).after
    return result, edit.conflicts


def nothing(_: World) -> None:
    """Do nothing."""


def test_elements_of_one_block_from_both_sides_stand_side_by_side() -> None:
    result, found = merged(lambda w: w.map("s@1:be@1", y="b"), lambda w: w.map("s@1:be@1", z="c"))
    assert result.pairs("s@1:be@1") == {("x", "a"), ("y", "b"), ("z", "c")}
    assert result.block("s@1:be@1").status is Status.CONFIRMED
    assert found == []


def test_one_target_from_two_sources_keeps_ours_and_waits_with_both_sides_in_words() -> None:
    result, found = merged(lambda w: w.map("s@1:be@1", y="b"), lambda w: w.map("s@1:be@1", y="c"))
    assert result.pairs("s@1:be@1") == {("x", "a"), ("y", "b")}
    (item,) = review_items(result.document)
    assert [(x.from_path, x.to_path, x.reason) for x in item.losses] == [
        ("c", "y", "theirs maps c to y, ours maps b to y; ours was kept")
    ]
    assert [(each.kind, each.key) for each in found] == [(ConflictKind.ELEMENT, item.key)]
    result.do(AcceptLosses(item.key, ("c",)))
    assert result.block("s@1:be@1").status is Status.CONFIRMED


def test_one_source_to_two_targets_is_a_conflict_too() -> None:
    result, _ = merged(lambda w: w.map("s@1:be@1", y="b"), lambda w: w.map("s@1:be@1", z="b"))
    assert result.pairs("s@1:be@1") == {("x", "a"), ("y", "b")}
    assert result.block("s@1:be@1").status is Status.NEEDS_REVIEW


def test_a_conflict_in_many_versions_is_one_decision() -> None:
    def both(source: str) -> Play:
        def play(world: World) -> None:
            world.map("s@1:be@1", y=source)
            world.map("s@2:be@1", y=source)

        return play

    result, found = merged(both("b"), both("c"))
    assert len(found) == 2
    (item,) = review_items(result.document)
    assert item.chain == (result.key("s@2:be@1"),)
    result.do(ConfirmBlock(item.key))
    assert review_items(result.document) == ()


def test_what_one_side_maps_meets_the_version_that_the_other_imported() -> None:
    for ours, theirs in (
        (lambda w: w.map("s@2:be@1", y="b"), lambda w: w.schema("s", "3", "a", "b")),
        (lambda w: w.schema("s", "3", "a", "b"), lambda w: w.map("s@2:be@1", y="b")),
    ):
        result, found = merged(ours, theirs)
        assert result.pairs("s@3:be@1") == {("x", "a"), ("y", "b")}
        assert found == []


def test_what_one_side_maps_and_the_others_new_version_lacks_waits_as_a_loss() -> None:
    result, _ = merged(lambda w: w.map("s@2:be@1", y="d"), lambda w: w.schema("s", "3", "a", "b"))
    assert result.pairs("s@3:be@1") == {("x", "a")}
    (item,) = review_items(result.document)
    assert [(x.from_path, x.to_path, x.reason) for x in item.losses] == [("d", "y", "d is not in version 3")]


def test_what_one_side_maps_follows_the_entity_version_that_the_other_made() -> None:
    result, found = merged(lambda w: w.map("s@1:be@1", y="b"), lambda w: w.entity("be", "2", "x", "y=y", "w"))
    assert result.pairs("s@1:be@2") == {("x", "a"), ("y", "b")}
    assert result.document.matrix.row_keys(result.key("s@1:be@1")[1]) == []
    assert found == []


def test_the_same_version_imported_by_both_is_one_version() -> None:
    def same(world: World) -> None:
        world.schema("s", "3", "a", "b", "e")

    result, found = merged(same, same)
    schema = result.document.extraction.named("s")
    assert schema is not None
    assert [v.label for v in result.document.extraction.versions(schema.id)] == ["1", "2", "3"]
    assert found == []


def test_two_contents_under_one_label_keep_ours_and_wait() -> None:
    result, found = merged(lambda w: w.schema("s", "3", "a", "b"), lambda w: w.schema("s", "3", "a", "b:int32", "f"))
    assert [a.path for a in result.version(Side.EXTRACTION, "s", "3").attributes] == ["a", "b"]
    assert [each.kind for each in found] == [ConflictKind.VERSION]
    assert found[0].reason == (
        "Both added a version 3: b is string in ours and int32 in theirs, f is only in theirs; ours is kept."
    )
    block = result.block("s@3:be@1")
    assert block.status is Status.NEEDS_REVIEW
    assert found[0].reason in block.comment


def test_versions_that_both_sides_added_stand_in_the_order_of_their_labels() -> None:
    for ours, theirs in (("4", "3"), ("3", "4")):
        result, _ = merged(lambda w, x=ours: w.schema("s", x, "a", x), lambda w, x=theirs: w.schema("s", x, "a", x))  # type: ignore[misc]
        schema = result.document.extraction.named("s")
        assert schema is not None
        assert [v.label for v in result.document.extraction.versions(schema.id)] == ["1", "2", "3", "4"]


def test_one_attribute_that_both_sides_introduce_is_one_lineage() -> None:
    result, _ = merged(lambda w: w.schema("s", "3", "a", "new"), lambda w: w.schema("s", "4", "a", "b", "new"))
    third, fourth = (result.version(Side.EXTRACTION, "s", label).at_path("new") for label in ("3", "4"))
    assert third is not None
    assert fourth is not None
    assert third.lineage == fourth.lineage


def test_a_version_that_theirs_removed_goes_unless_ours_mapped_more_of_it() -> None:
    result, found = merged(nothing, lambda w: w.remove_schema("s", "1"))
    assert result.document.extraction.labelled(1, "1") is None
    assert found == []
    result, found = merged(lambda w: w.map("s@1:be@1", y="b"), lambda w: w.remove_schema("s", "1"))
    assert result.pairs("s@1:be@1") == {("x", "a"), ("y", "b")}
    assert [each.reason for each in found] == ["Theirs removed version 1, ours maps b → y; it stays as ours has it."]
    assert result.block("s@1:be@1").status is Status.NEEDS_REVIEW


def test_what_theirs_maps_of_a_version_that_ours_removed_is_told() -> None:
    result, found = merged(lambda w: w.remove_schema("s", "1"), lambda w: w.map("s@1:be@1", y="b"))
    assert result.document.extraction.labelled(1, "1") is None
    assert [each.reason for each in found] == ["Ours removed version 1, theirs maps b → y; it stays removed."]
    assert found[0].key == result.key("s@2:be@1")


def test_settings_of_both_sides_are_kept_and_different_values_wait() -> None:
    def setting(*values: tuple[str, str]) -> Play:
        return lambda w: w.do(SetSettings(Side.EXTRACTION, 1, values))

    result, found = merged(setting(("ask", "always")), setting(("meanwhile", "map what is left")))
    assert dict(result.document.extraction.schema(1).settings) == {"ask": "always", "meanwhile": "map what is left"}
    assert found == []
    result, found = merged(setting(("ask", "always")), setting(("ask", "new attributes too")))
    assert dict(result.document.extraction.schema(1).settings) == {"ask": "always"}
    assert [each.reason for each in found] == ["Ours sets ask to always, theirs to new attributes too; ours is kept."]
    assert review_items(result.document) != ()


def test_masks_of_both_sides_hide_what_either_hides() -> None:
    def mask(path: str) -> Play:
        return lambda w: w.do(SetSettings(Side.EXTRACTION, 1, (("mask", path),)))

    result, found = merged(mask("a"), mask("b"))
    assert result.document.extraction.schema(1).setting("mask") == "a,b"
    assert found == []
    result, _ = merged(mask("a\\,b"), mask("b"))
    assert result.document.extraction.schema(1).setting("mask") == "a\\,b,b"


def test_what_either_side_settled_of_the_warehouse_is_not_asked_again() -> None:
    result, found = merged(
        lambda w: w.do(SettleAttributes("be", ("x",))), lambda w: w.do(SettleAttributes("be", ("y",), is_lost=True))
    )
    assert result.document.cdm.schema(1).setting("warehouse_settled") == "x,y"
    assert found == []
    result, _ = merged(
        lambda w: w.do(SettleAttributes("be", ("x,z",))), lambda w: w.do(SettleAttributes("be", ("y",), is_lost=True))
    )
    entity = result.document.cdm.schema(1)
    assert entity.setting("warehouse_settled") == settled_with(entity, ()) == "x\\,z,y"


def test_a_rename_by_alias_on_one_side_meets_the_mapping_of_the_other() -> None:
    for ours, theirs in (
        (lambda w: w.do(AddAlias(Side.EXTRACTION, 1, "s.new")), lambda w: w.map("s@1:be@1", y="b")),
        (lambda w: w.map("s@1:be@1", y="b"), lambda w: w.do(AddAlias(Side.EXTRACTION, 1, "s.new"))),
    ):
        result, found = merged(ours, theirs)
        assert result.pairs("s.new@1:be@1") == {("x", "a"), ("y", "b")}
        assert found == []


def test_one_name_for_two_schemas_is_told() -> None:
    result, found = merged(
        lambda w: w.do(AddAlias(Side.EXTRACTION, 1, "new")), lambda w: w.do(AddAlias(Side.EXTRACTION, 2, "new"))
    )
    holder = result.document.extraction.named("new")
    assert holder is not None
    assert holder.name == "s"
    assert [each.kind for each in found] == [ConflictKind.NAME]


def renaming(world: World, entity: str, name: str) -> object:
    """Give an entity another name."""
    found = world.document.cdm.named(entity)
    assert found is not None
    return world.do(RenameEntity(found.id, name))


@pytest.mark.parametrize(
    ("other", "names"),
    [
        (lambda w: w.entity("thing", "1", "q"), {"be": (), "more": (), "thing": ()}),
        (lambda w: renaming(w, "more", "thing"), None),
    ],
)
@pytest.mark.parametrize("is_ours", [True, False])
def test_no_two_entities_have_one_name_where_one_side_renamed_to_what_the_other_has(
    other: Play, names: dict[str, tuple[str, ...]] | None, is_ours: bool
) -> None:
    sides = (lambda w: renaming(w, "be", "thing"), other)
    result, found = merged(*(sides if is_ours else sides[::-1]))
    wanted = names or ({"thing": ("be",), "more": ()} if is_ours else {"be": (), "thing": ("more",)})
    assert {each.name: each.aliases for each in result.document.cdm.schemas()} == wanted
    assert [each.kind for each in found] == [ConflictKind.NAME]
    assert "thing" in found[0].reason
    assert (found[0].key is not None) == (names is not None or not is_ours), "a block waits where one is mapped"


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_further_name_goes_where_the_other_side_calls_another_entity_so(is_ours: bool) -> None:
    sides = (lambda w: renaming(w, "be", "thing"), lambda w: w.do(AddAlias(Side.CDM, 2, "thing")))
    result, found = merged(*(sides if is_ours else sides[::-1]))
    assert {each.name: each.aliases for each in result.document.cdm.schemas()} == {"thing": ("be",), "more": ()}
    assert [each.kind for each in found] == [ConflictKind.NAME]


@pytest.mark.parametrize("is_ours", [True, False])
def test_an_entity_whose_messages_a_warehouse_of_the_other_side_keeps_goes_by_its_former_name(is_ours: bool) -> None:
    def keep(world: World) -> None:
        world.document = replace(world.document, models=(Model(name="wh", entities=("be",)),))

    sides = (lambda w: renaming(w, "be", "thing"), keep)
    result, found = merged(*(sides if is_ours else sides[::-1]))
    assert [each.name for each in result.document.cdm.schemas()] == ["be", "more"]
    assert [each.kind for each in found] == [ConflictKind.NAME]
    assert "the messages of be" in found[0].reason
    result, found = merged(lambda w: renaming(w, "more", "thing"), keep)
    assert [each.name for each in result.document.cdm.schemas()] == ["be", "thing"]
    assert found == []


@pytest.mark.parametrize("base_keeps", [("more",), ("be",)])
def test_a_model_that_the_side_which_renamed_changed_itself_leaves_the_name(base_keeps: tuple[str, ...]) -> None:
    def keep(world: World, entities: tuple[str, ...]) -> None:
        world.document = replace(world.document, models=(Model(name="wh", entities=entities),))

    def both(world: World) -> None:
        keep(world, ())
        renaming(world, "be", "thing")
        keep(world, ("thing",))

    for ours, theirs in ((both, lambda _: None), (lambda _: None, both)):
        result, found = merged(ours, theirs, lambda w: keep(w, base_keeps))
        assert [each.name for each in result.document.cdm.schemas()] == ["thing", "more"]
        assert found == []


def joining(world: World, new: str, old: str) -> object:
    """Say that an attribute of version 3 of s is one of version 2."""
    newer, older = world.version(Side.EXTRACTION, "s", "3"), world.version(Side.EXTRACTION, "s", "2")
    one, other = newer.at_path(new), older.at_path(old)
    assert one is not None
    assert other is not None
    return world.do(JoinLineages(Side.EXTRACTION, AttributeKey(newer.id, one.id), AttributeKey(older.id, other.id)))


def with_third(world: World) -> None:
    """A third version in which a and b have other names."""
    world.map("s@2:be@1", y="b")
    world.schema("s", "3", "a2", "b2", "c")


def test_a_rename_that_one_side_accepted_restores_its_elements_beside_the_others_mapping() -> None:
    for ours, theirs in (
        (lambda w: joining(w, "a2", "a"), lambda w: w.map("s@3:be@1", z="c")),
        (lambda w: w.map("s@3:be@1", z="c"), lambda w: joining(w, "a2", "a")),
    ):
        result, found = merged(ours, theirs, with_third)
        assert result.pairs("s@3:be@1") == {("x", "a2"), ("z", "c")}
        third = result.version(Side.EXTRACTION, "s", "3").at_path("a2")
        first = result.version(Side.EXTRACTION, "s", "1").at_path("a")
        assert third is not None
        assert first is not None
        assert third.lineage == first.lineage
        assert [x.from_path for x in result.block("s@3:be@1").open_losses] == ["b"]
        assert found == []


def deciding_one(world: World) -> None:
    """Accept one of two losses."""
    world.do(AcceptLosses(world.key("s@3:be@1"), ("a",)))


def postponing(world: World) -> None:
    """Decide later, with a comment."""
    world.do(Postpone(world.key("s@3:be@1"), "ask Ben"))


@pytest.mark.parametrize("play", [deciding_one, postponing])
def test_a_decision_after_which_the_block_still_waits_is_taken(play: Play) -> None:
    mine, _ = merged(play, nothing, with_third)
    result, found = merged(nothing, play, with_third)
    wanted, block = mine.block("s@3:be@1"), result.block("s@3:be@1")
    assert [loss.answer for loss in block.losses] == [loss.answer for loss in wanted.losses]
    assert (block.postponed, block.comment) == (wanted.postponed, wanted.comment)
    assert found == []


def test_two_renames_of_one_attribute_keep_ours_and_wait() -> None:
    result, found = merged(lambda w: joining(w, "a2", "a"), lambda w: joining(w, "b2", "a"), with_third)
    assert ("x", "a2") in result.pairs("s@3:be@1")
    assert found != []
    assert result.block("s@3:be@1").status is Status.NEEDS_REVIEW


def test_a_block_that_one_side_retired_takes_what_the_other_mapped() -> None:
    result, _ = merged(lambda w: w.map("s@1:be@1", y="b"), lambda w: w.do(RetireBlock(w.key("s@1:be@1"))))
    assert result.pairs("s@1:be@1") == {("y", "b")}
    assert result.block("s@1:be@1").status is Status.CONFIRMED


@pytest.mark.parametrize("name", ['we"ird/⟨ü⟩', "a:b", "x y"])
def test_odd_names_meet_by_what_they_are(name: str) -> None:
    def base(world: World) -> None:
        world.schema(name, "1", "a", "b")

    result, found = merged(
        lambda w: w.map(f"{name}@1:be@1", x="a") if ":" not in name else None,
        lambda w: w.schema(name, "2", "a", "b", "c"),
        base,
    )
    schema = result.document.extraction.named(name)
    assert schema is not None
    assert len(schema.version_ids) == 2
    assert found == []


def test_taking_theirs_clears_ours_in_every_version_of_the_conflict() -> None:
    def both(source: str) -> Play:
        def play(world: World) -> None:
            world.map("s@1:be@1", y=source)
            world.map("s@2:be@1", y=source)

        return play

    result, _ = merged(both("b"), both("c"))
    key = result.key("s@1:be@1")
    edit = mapped_in_place(result.document, key, (result.element(key, "c", "y"),))
    assert edit.title(result.document) == "Take c to y in s 1 → be 1"
    result.do(edit)
    for block in ("s@1:be@1", "s@2:be@1"):
        assert result.pairs(block) == {("x", "a"), ("y", "c")}
        assert result.block(block).status is Status.CONFIRMED
    assert review_items(result.document) == ()


def test_a_third_source_can_be_chosen_in_a_conflict() -> None:
    result, _ = merged(lambda w: w.map("s@2:be@1", y="b"), lambda w: w.map("s@2:be@1", y="c"))
    key = result.key("s@2:be@1")
    result.do(mapped_in_place(result.document, key, (result.element(key, "d", "y"),)))
    assert result.pairs("s@2:be@1") == {("x", "a"), ("y", "d")}
    assert review_items(result.document) == ()


def test_an_element_in_the_way_of_no_lost_one_is_not_replaced() -> None:
    world = base_world()
    key = world.key("s@1:be@1")
    with pytest.raises(EditError, match="used once"):
        world.do(mapped_in_place(world.document, key, (world.element(key, "b", "x"),)))


def _unconfirmed(world: World, block: str, **pairs: str) -> None:
    world.do(replace(world.setting(block, **pairs), status=Status.UNCONFIRMED))


def test_what_nobody_confirmed_stays_so_where_the_other_side_lost_something_of_the_same_block() -> None:
    def split(world: World) -> None:
        version = world.version(Side.EXTRACTION, "s", "2")
        attribute = version.at_path("a")
        assert attribute is not None
        world.do(SplitLineage(Side.EXTRACTION, AttributeKey(version.id, attribute.id)))

    result, _ = merged(lambda w: _unconfirmed(w, "s@2:be@1", y="b"), split)
    block = result.block("s@2:be@1")
    assert (block.status, block.unconfirmed) == (Status.NEEDS_REVIEW, True)


def test_what_one_side_adds_unconfirmed_stays_so_where_the_other_confirmed_the_block() -> None:
    def setting(world: World, target: str, source: str) -> None:
        key = world.key("s@1:be@1")
        ones = (world.element(key, source, target),)
        world.do(SetElements(key, ones=ones, status=Status.UNCONFIRMED))

    def confirming(world: World) -> None:
        world.do(ConfirmBlock(world.key("s@1:be@1")))

    for ours, theirs in (
        (lambda w: setting(w, "y", "b"), confirming),
        (confirming, lambda w: setting(w, "y", "b")),
    ):
        result, _ = merged(ours, theirs, lambda w: setting(w, "z", "c"))
        assert ("y", "b") in result.pairs("s@1:be@1")
        assert result.block("s@1:be@1").status is Status.UNCONFIRMED


def test_a_block_that_waits_for_a_conflict_of_settings_is_as_unconfirmed_as_before() -> None:
    def setting(world: World, value: str) -> None:
        world.do(SetSettings(Side.EXTRACTION, world.version(Side.EXTRACTION, "s", "1").schema_id, (("key", value),)))

    result, found = merged(
        lambda w: setting(w, "a"),
        lambda w: setting(w, "b"),
        base=lambda w: _unconfirmed(w, "s@2:be@1", y="b"),
    )
    assert [conflict.kind for conflict in found] == [ConflictKind.SETTING]
    waiting = [block for block in result.document.matrix.blocks() if block.status is Status.NEEDS_REVIEW]
    assert [(block.key == result.key("s@2:be@1"), block.unconfirmed) for block in waiting] == [(True, True)]
