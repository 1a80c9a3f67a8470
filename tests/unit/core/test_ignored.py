"""Attributes that are never to be mapped: marking, taking back, versions, lineages, undo, merge, difference."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from metl_gui.core.changes.draft import EditContext, perform
from metl_gui.core.differences.document_difference import compare, compare_by_names
from metl_gui.core.differences.tree_difference import TreeKind
from metl_gui.core.edits.ignored import LONGEST_REASON, IgnoreAttributes, RecallAttributes
from metl_gui.core.edits.lineages import AttributeKey, JoinLineages, SplitLineage
from metl_gui.core.edits.review import RenameLost
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.merge.merged_document import MergeTheirs
from metl_gui.core.review.items import review_items
from metl_gui.core.review.rename_proposals import proposals
from metl_gui.core.search.checks import check
from metl_gui.core.suggest.block import suggest_block
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from tests.helpers.world import World

E, C = Side.EXTRACTION, Side.CDM


def small() -> World:
    """One schema of two versions, of which ``id`` is mapped."""
    world = World()
    world.entity("pay", "1", "id", "note")
    world.schema("s", "1", "id", "note", "junk")
    world.map("s@1:pay@1", id="id")
    world.schema("s", "2", "id", "note", "junk", "at")
    return world


def marking(world: World, side: Side, name: str, *paths: str, unmaps: bool = False) -> IgnoreAttributes:
    """Make the edit that marks attributes of the newest version."""
    schema = world.document.tree(side).named(name)
    assert schema is not None
    newest = world.document.tree(side).versions(schema.id)[-1]
    leaves = [newest.at_path(path) for path in paths]
    return IgnoreAttributes(side, schema.id, tuple(a.lineage for a in leaves if a is not None), "no use", unmaps)


def marked(document: Document, side: Side, name: str) -> dict[str, str]:
    """Reasons by the newest path of what is marked."""
    schema = document.tree(side).named(name)
    assert schema is not None
    found = ((document.tree(side).newest_of_lineage(schema.id, each.lineage), each) for each in schema.ignored)
    return {attribute.path if attribute is not None else "?": each.reason for attribute, each in found}


def test_a_mark_says_who_when_and_why_and_holds_in_every_version() -> None:
    world = small()
    transition = world.do(marking(world, E, "s", "junk"))
    assert transition.title == "Never map junk of s"
    schema = world.document.extraction.named("s")
    assert schema is not None
    (mark,) = schema.ignored
    assert (mark.reason, mark.who, mark.when_ms) == ("no use", "tester", 1_000 + transition.before.state)
    assert {v.of_lineage(mark.lineage) is not None for v in world.document.extraction.versions(schema.id)} == {True}
    world.schema("s", "3", "id", "junk", "more")
    assert marked(world.document, E, "s") == {"junk": "no use"}


def test_what_is_mapped_in_any_version_cannot_be_marked_without_saying_so() -> None:
    world = small()
    world.do(world.clearing("s@2:pay@1", "id", "id"))
    with pytest.raises(EditError) as refused:
        world.do(marking(world, E, "s", "junk", "id"))
    assert refused.value.title == "id of s is mapped."
    assert refused.value.hint == "To clear its mapping too, say --unmap. Or leave it as it is."
    world.map("s@2:pay@1", note="note")
    with pytest.raises(EditError, match="id, note of s are mapped") as refused:
        world.do(marking(world, E, "s", "id", "note", "junk"))
    assert refused.value.hint == "To clear their mapping too, say --unmap. Or leave them as they are."
    assert marked(world.document, E, "s") == {}
    world.do(marking(world, E, "s", "junk", "id", unmaps=True))
    assert world.log[-1].title == "Never map junk, id of s, clearing 1 element"
    assert world.pairs("s@1:pay@1") == set()
    assert marked(world.document, E, "s") == {"junk": "no use", "id": "no use"}
    world.undo(world.log[-1])
    assert world.pairs("s@1:pay@1") == {("id", "id")}
    assert marked(world.document, E, "s") == {}


def test_mapping_a_marked_attribute_takes_its_mark_in_the_same_step_and_undo_brings_it_back() -> None:
    world = small()
    world.do(marking(world, E, "s", "note", "junk"))
    world.do(marking(world, C, "pay", "note"))
    done = world.map("s@2:pay@1", note="note")
    assert marked(world.document, E, "s") == {"junk": "no use"}
    assert marked(world.document, C, "pay") == {}
    world.undo(done)
    assert marked(world.document, E, "s") == {"note": "no use", "junk": "no use"}
    assert marked(world.document, C, "pay") == {"note": "no use"}


def test_a_mark_that_was_taken_back_cannot_come_back_over_a_mapping() -> None:
    world = small()
    marks = marking(world, E, "s", "note")
    world.do(marks)
    back = world.do(RecallAttributes(E, marks.schema_id, marks.lineages))
    world.map("s@1:pay@1", note="note")
    with pytest.raises(EditError) as refused:
        world.undo(back)
    assert "the mapping of note" in str(refused.value)


def test_only_what_is_marked_can_be_taken_back_and_a_reason_says_something() -> None:
    world = small()
    marks = marking(world, E, "s", "note")
    with pytest.raises(EditError, match="note of s is not marked as never to be mapped"):
        world.do(RecallAttributes(E, marks.schema_id, marks.lineages))
    with pytest.raises(EditError, match="A reason is missing"):
        world.do(replace(marks, reason=" \n "))
    with pytest.raises(EditError, match="1,001 letters, more than 1,000"):
        world.do(replace(marks, reason="x" * (LONGEST_REASON + 1)))
    with pytest.raises(EditError, match="not in the trees any more"):
        world.do(replace(marks, lineages=(999,)))


def test_marking_again_with_the_same_reason_changes_nothing() -> None:
    world = small()
    marks = marking(world, E, "s", "note")
    world.do(marks)
    assert perform(world.document, marks, EditContext("other", 5)).change.is_empty
    again = perform(world.document, replace(marks, reason="because"), EditContext("other", 5)).after
    assert marked(again, E, "s") == {"note": "because"}


def test_lost_elements_of_a_marked_attribute_are_accepted_with_it() -> None:
    world = small()
    world.map("s@2:pay@1", note="note")
    world.schema("s", "3", "id", "junk")
    assert [item.block.key for item in review_items(world.document)] == [world.key("s@3:pay@1")]
    world.do(marking(world, C, "pay", "note", unmaps=True))
    assert list(review_items(world.document)) == []
    assert [loss.answer for loss in world.block("s@3:pay@1").losses] == ["accepted"]
    assert world.pairs("s@2:pay@1") == {("id", "id")}


def test_a_mark_goes_with_the_last_version_of_its_attribute() -> None:
    world = small()
    world.schema("s", "3", "id", "late")
    world.do(marking(world, E, "s", "late"))
    world.remove_schema("s", "2")
    assert marked(world.document, E, "s") == {"late": "no use"}
    removed = world.remove_schema("s", "3")
    assert marked(world.document, E, "s") == {}
    world.undo(removed)
    assert marked(world.document, E, "s") == {"late": "no use"}


def test_both_parts_of_a_split_attribute_stay_marked_and_a_join_with_a_mapped_one_unmarks() -> None:
    world = small()
    world.do(marking(world, E, "s", "junk"))
    one, two = world.version(E, "s", "1"), world.version(E, "s", "2")
    split = world.do(SplitLineage(E, AttributeKey(two.id, two.attributes[2].id)))
    schema = world.document.extraction.named("s")
    assert schema is not None
    assert len(schema.ignored) == 2
    world.undo(split)
    world.schema("s", "3", "id2", "note", "junk")
    three = world.version(E, "s", "3")
    world.do(marking(world, E, "s", "id2"))
    world.do(
        JoinLineages(E, AttributeKey(three.id, three.attributes[0].id), AttributeKey(one.id, one.attributes[0].id))
    )
    assert world.pairs("s@3:pay@1") == {("id", "id2")}
    assert marked(world.document, E, "s") == {"junk": "no use"}


def test_joined_attributes_keep_the_mark_of_either() -> None:
    world = small()
    world.schema("s", "3", "id", "remark", "junk")
    world.do(marking(world, E, "s", "remark"))
    two, three = world.version(E, "s", "2"), world.version(E, "s", "3")
    world.do(
        JoinLineages(E, AttributeKey(three.id, three.attributes[1].id), AttributeKey(two.id, two.attributes[1].id))
    )
    schema = world.document.extraction.named("s")
    assert schema is not None
    assert schema.ignored_lineages == {two.attributes[1].lineage}


def test_marked_attributes_are_neither_suggested_nor_proposed_as_renames() -> None:
    world = small()
    key = world.key("s@2:pay@1")
    note = world.element(key, "note", "note")
    assert note in {each.element for each in suggest_block(world.document, key)}
    for side, name in ((E, "s"), (C, "pay")):
        done = world.do(marking(world, side, name, "note"))
        assert note not in {each.element for each in suggest_block(world.document, key)}
        world.undo(done)
    world.map("s@2:pay@1", note="note")
    world.schema("s", "3", "id", "note_text", "junk")
    assert [p.candidate for p in proposals(world.document, world.block("s@3:pay@1"))] == ["note_text"]
    world.do(marking(world, E, "s", "note_text"))
    assert proposals(world.document, world.block("s@3:pay@1")) == ()
    world.do(RenameLost(world.key("s@3:pay@1"), "note", "note_text"))
    assert marked(world.document, E, "s") == {}


def test_the_hash_and_the_difference_know_what_is_never_to_be_mapped_and_why() -> None:
    world = small()
    before = world.document
    world.do(marking(world, E, "s", "junk"))
    marks = marking(world, E, "s", "junk")
    assert state_hash(before) != state_hash(world.document)
    for found in (compare(before, world.document), compare_by_names(before, world.document)):
        (told,) = found.trees
        assert told.words() == "junk is never to be mapped: no use"
        assert told.is_gain
    (told,) = compare(world.document, before).trees
    assert (told.words(), told.is_loss) == ("junk is to be mapped again", True)
    other = perform(before, marks, EditContext("somebody else", 9)).after
    assert state_hash(other) == state_hash(world.document)
    assert compare_by_names(other, world.document).is_empty


def test_merges_take_marks_of_either_side_and_keep_what_one_of_them_maps() -> None:
    world = small()
    base = world.document
    ours = perform(base, marking(world, E, "s", "junk"), EditContext("ada", 5)).after
    theirs = perform(base, replace(marking(world, E, "s", "note"), reason="internal"), EditContext("bob", 6)).after
    merge = MergeTheirs(base, theirs, "theirs")
    merged = perform(ours, merge, EditContext("ada", 7)).after
    assert marked(merged, E, "s") == {"junk": "no use", "note": "internal"}
    assert {(m.who, m.when_ms) for m in merged.extraction.schemas()[0].ignored} == {("ada", 5), ("bob", 6)}
    assert merge.conflicts == []
    mapped = perform(base, world.setting("s@2:pay@1", note="note"), EditContext("bob", 6)).after
    for one, other in ((theirs, mapped), (mapped, theirs)):
        merge = MergeTheirs(base, other, "theirs")
        merged = perform(one, merge, EditContext("ada", 7)).after
        assert marked(merged, E, "s") == {}
        (conflict,) = merge.conflicts
        assert conflict.place == "s, note"
        assert "it stays mapped" in conflict.reason
        assert [item.block.key for item in review_items(merged)] == [conflict.key]


def test_a_mark_that_theirs_took_back_goes_and_two_reasons_are_told() -> None:
    world = small()
    marks = marking(world, E, "s", "junk")
    world.do(marks)
    base = world.document
    theirs = perform(base, RecallAttributes(E, marks.schema_id, marks.lineages), EditContext("bob", 6)).after
    assert marked(perform(base, MergeTheirs(base, theirs, "t"), EditContext("ada", 7)).after, E, "s") == {}
    ours = perform(base, replace(marks, reason="one"), EditContext("ada", 5)).after
    merge = MergeTheirs(base, perform(base, replace(marks, reason="two"), EditContext("bob", 6)).after, "t")
    assert marked(perform(ours, merge, EditContext("ada", 7)).after, E, "s") == {"junk": "one"}
    assert "ours says “one”, theirs “two”" in merge.conflicts[0].reason


def test_checks_find_no_gap_in_what_is_never_to_be_mapped() -> None:
    world = small()
    world.schema("s", "3", "id", "note", "junk", "by")
    assert [p.code for p in check(world.document)] == ["extraction.unmapped-for-versions"]
    world.do(marking(world, E, "s", "note", "junk"))
    assert check(world.document) == ()


def test_a_hundred_thousand_attributes_are_marked_compared_and_recalled_in_one_edit_each() -> None:
    world = World()
    world.schema("wide", "1", *(f"a{number}" for number in range(100_000)))
    version = world.version(E, "wide", "1")
    lineages = tuple(attribute.lineage for attribute in version.attributes)
    before = world.document
    world.do(IgnoreAttributes(E, version.schema_id, lineages, "no use"))
    assert world.document.extraction.schema(version.schema_id).ignored_lineages == set(lineages)
    assert len(compare(before, world.document).trees) == 100_000
    world.do(RecallAttributes(E, version.schema_id, lineages))
    assert not world.document.extraction.schema(version.schema_id).ignored


def test_a_mark_of_an_attribute_that_was_renamed_since_is_no_difference() -> None:
    world = small()
    world.do(marking(world, E, "s", "junk"))
    before = world.document
    world.schema("s", "3", "id", "note", "trash=junk", "at")
    for found in (compare(before, world.document), compare_by_names(before, world.document)):
        assert not {each.kind for each in found.trees} & {TreeKind.IGNORED, TreeKind.RECALLED}
    world.do(RecallAttributes(E, 1, tuple(world.document.extraction.schema(1).ignored_lineages)))
    told = compare(before, world.document).trees
    assert [each.words() for each in told if each.kind is TreeKind.RECALLED] == ["trash is to be mapped again"]
