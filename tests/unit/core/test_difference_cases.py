"""What a difference says in the cases that people look at."""

from __future__ import annotations

from metl_gui.core.differences.block_difference import BlockDifference
from metl_gui.core.differences.document_difference import compare, compare_by_names
from metl_gui.core.edits.lineages import AttributeKey, JoinLineages
from metl_gui.core.edits.settings import AddAlias, SetSettings
from metl_gui.core.edits.versions import AttachLabel
from metl_gui.core.matrix.blocks import Status, Verdict
from metl_gui.core.trees.nodes import Side
from tests.helpers.world import World


def _world() -> World:
    world = World()
    world.schema("s", "1", "a", "b", "c")
    world.entity("be", "1", "x", "y")
    world.map("s@1:be@1", x="a", y="b")
    return world


def _words(world: World, before: World) -> list[str]:
    """What differs in the trees, by ids; two projects must say the same of it by names."""
    told = [each.words() for each in compare(before.document, world.document).trees]
    assert told == [each.words() for each in compare_by_names(before.document, world.document).trees]
    return told


def _blocks(world: World, before: World) -> list[BlockDifference]:
    return list(compare(before.document, world.document).blocks)


def _copy(world: World) -> World:
    copy = World()
    copy.document = world.document
    return copy


def test_an_element_that_goes_elsewhere_is_one_removed_and_one_added() -> None:
    before = _world()
    after = _copy(before)
    key = after.key("s@1:be@1")
    edit = after.setting("s@1:be@1", y="c")
    after.do(type(edit)(key, ones=edit.ones, zeros=(after.element(key, "b", "y"),)))
    (found,) = _blocks(after, before)
    assert (found.added, found.removed, found.kept) == ((("c", "y"),), (("b", "y"),), 1)
    assert found.added_elements == (after.element(key, "c", "y"),)


def test_a_new_version_is_told_against_the_one_before_it() -> None:
    before = _world()
    after = _copy(before)
    after.schema("s", "2", "a", "d:int32")
    (found,) = _blocks(after, before)
    assert (found.before, found.verdict, found.status_after) == (None, Verdict.SMALLER, Status.NEEDS_REVIEW)
    assert (found.previous, found.gained, found.lost) == ("1", (), (("b", "y"),))
    assert found.added == (("a", "x"),)
    assert _words(after, before) == [
        "version 2 added (2 attributes)",
        "d added (int32)",
        "b removed (string)",
        "c removed (string)",
    ]


def test_a_block_that_follows_its_entity_to_a_new_version_is_moved_and_not_new() -> None:
    before = _world()
    after = _copy(before)
    after.entity("be", "2", "x", "w=y")
    (found,) = _blocks(after, before)
    assert (found.moved_from, found.entity_version) == ("1", "2")
    assert (found.added, found.removed, found.kept) == ((), (), 2)
    assert (found.before, found.after) == (before.key("s@1:be@1"), after.key("s@1:be@2"))


def test_an_undone_edit_leaves_no_difference() -> None:
    before = _world()
    after = _copy(before)
    after.undo(after.schema("s", "2", "a"))
    assert compare(before.document, after.document).is_empty


def test_names_labels_settings_and_lineages_are_told_in_words() -> None:
    before = _world()
    before.schema("s", "2", "a2", "b", "c")
    after = _copy(before)
    second = after.version(Side.EXTRACTION, "s", "2")
    first = after.version(Side.EXTRACTION, "s", "1")
    after.do(AddAlias(Side.EXTRACTION, 1, "topic"))
    after.do(AttachLabel(Side.EXTRACTION, second.id, "1.1"))
    after.do(SetSettings(Side.EXTRACTION, 1, (("ask", "always"),)))
    ends = AttributeKey(second.id, second.attributes[0].id), AttributeKey(first.id, first.attributes[0].id)
    after.do(JoinLineages(Side.EXTRACTION, *ends))
    assert _words(after, before) == [
        "answers to topic",
        "ask: not set → always",
        "labels: 2 → 2, 1.1",
        "a2 continues a of version 1",
    ]


def test_a_schema_that_another_project_calls_by_an_alias_is_the_same_one() -> None:
    one, other = World(), World()
    one.schema("old", "1", "a")
    other.schema("new", "1", "a")
    other.do(AddAlias(Side.EXTRACTION, 1, "old"))
    told = compare_by_names(one.document, other.document).trees
    assert [each.words() for each in told] == ["renamed: old → new", "answers to old"]


def test_one_content_under_two_labels_is_one_version() -> None:
    one, other = World(), World()
    one.schema("s", "1", "a")
    other.schema("s", "7", "a")
    told = compare_by_names(one.document, other.document).trees
    assert [each.words() for each in told] == ["labels: 1 → 7"]


def test_two_contents_under_one_label_are_told_attribute_by_attribute() -> None:
    one, other = World(), World()
    one.schema("s", "1", "a", "b")
    other.schema("s", "1", "a:int32", "c")
    told = compare_by_names(one.document, other.document).trees
    assert [each.words() for each in told] == ["c added (string)", "b removed (string)", "a: string → int32"]
