"""Three-way merge of what lies beside the states, against a model that is one dictionary a side."""

from __future__ import annotations

from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from metl_gui.core.changes.draft import perform
from metl_gui.core.edits.versions import AddVersion, RemoveVersion
from metl_gui.core.matrix.document import Document
from metl_gui.core.merge.merged_project_data import MergedProjectData, ProjectDataSide, merge_project_data, named_for
from metl_gui.core.merge.sides import ThreeWay
from metl_gui.core.project.assignments import Assignment
from metl_gui.core.project.comments import Comment, CommentSubject, Spot
from metl_gui.core.project.project_data import (
    MOST_INCLUDED,
    MOST_INCLUDED_BYTES,
    Entries,
    Gathered,
    IncludedSamples,
    ItemKind,
    Naming,
    ProjectItem,
    ProjectSetting,
    StateName,
    Thing,
    entries,
    project_data_differences,
)
from metl_gui.core.project.refusals import RefusedRename, RefusedSuggestion
from metl_gui.core.project.sample_profiles import SchemaProfile
from metl_gui.core.project.version_tasks import VersionTask, Waiting
from metl_gui.core.project.writer_schemas import WriterSchema
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side

Model: TypeAlias = dict[object, bytes]


def document() -> Document:
    """Two schemas and an entity, each of one version."""
    found = Document()
    for side, name in ((Side.EXTRACTION, "orders"), (Side.EXTRACTION, "people"), (Side.CDM, "payment")):
        attributes = tuple(AttributeDeclaration(path, "string") for path in ("id", "amount"))
        found = perform(found, AddVersion(side, VersionDeclaration(name, attributes, "1"))).after
    return found


DOCUMENT = document()
WORDS = st.sampled_from(["one", "two"])
SPOTS = st.sampled_from([Spot(1), Spot(2), Spot(1, 1, 1, 1), Spot(2, 2, 4, 4)])
SUBJECTS = st.one_of(
    SPOTS.map(CommentSubject),
    st.just(CommentSubject(target=Spot(1))),
    st.just(CommentSubject(Spot(1, 1), Spot(1, 1))),
    st.just(CommentSubject(Spot(1, 1, 2, 2), Spot(1, 1, 2, 2))),
)
DECISIONS = st.one_of(
    st.builds(ProjectSetting, WORDS, WORDS),
    st.builds(StateName, st.integers(1, 2), WORDS, WORDS),
    st.builds(Assignment, st.sampled_from([(1, 1, 1), (2, 1, 2)]), WORDS),
    st.builds(WriterSchema, WORDS, st.just("avro"), WORDS, st.just("orders")),
    st.builds(Comment, st.integers(1, 99), SUBJECTS, WORDS, WORDS, st.integers(1, 2)),
    st.sampled_from([RefusedSuggestion(1, 1, 1, 1, "id", "id"), RefusedSuggestion(2, 4, 1, 2, "amount", "amount")]),
    st.sampled_from([RefusedRename(Side.EXTRACTION, 1, "id", "amount"), RefusedRename(Side.CDM, 1, "id", "amount")]),
)


def kept(thing: Thing) -> ProjectItem:
    """A thing with who and when where it says so itself."""
    return ProjectItem(thing, thing.who, thing.when_ms) if isinstance(thing, Comment) else ProjectItem(thing, "tess", 7)


def side(things: list[Thing]) -> Entries:
    """What a file of these keeps, which has one of each key."""
    of_each = {key: entry for thing in things for key, entry in entries([kept(thing)], Naming.of(DOCUMENT)).items()}
    return entries([entry.own for entry in of_each.values()], Naming.of(DOCUMENT))


SIDES = st.lists(DECISIONS, max_size=8).map(side)


def said(found: Entries) -> Model:
    return {key: entry.says for key, entry in found.items()}


def model(base: Model, ours: Model, theirs: Model) -> tuple[Model, set[object]]:
    """What a merge is: each key for itself; ours, and a conflict, where both changed it differently."""
    result, conflicts = {}, set()
    for key in base | ours | theirs:
        old, mine, other = base.get(key), ours.get(key), theirs.get(key)
        now = other if mine == old else mine
        if now is not None:
            result[key] = now
        if old != mine != other != old:
            conflicts.add(key)
    return result, conflicts


def merged(base: Entries, ours: Entries, theirs: Entries) -> MergedProjectData:
    return merge_project_data(ThreeWay(base, ours, theirs), lambda _: True)


@given(SIDES, SIDES, SIDES)
def test_the_result_is_what_one_dictionary_a_side_merges_to(base: Entries, ours: Entries, theirs: Entries) -> None:
    found = merged(base, ours, theirs)
    result, conflicts = model(said(base), said(ours), said(theirs))
    assert said(found.entries) == result
    assert len(found.conflicts) == len(conflicts)
    assert found.left == ()


@given(SIDES, SIDES, SIDES)
def test_the_change_leads_from_ours_to_the_result(base: Entries, ours: Entries, theirs: Entries) -> None:
    found = merged(base, ours, theirs)
    here = Naming.of(DOCUMENT)
    gone, put = entries(found.change.removed, here), entries(found.change.put, here)
    left = {key: entry for key, entry in ours.items() if key not in gone}
    assert said(left) | said(put) == said(found.entries)
    assert not gone.keys() & put.keys()


@given(SIDES, SIDES)
def test_what_only_one_side_changed_is_that_side(base: Entries, changed: Entries) -> None:
    assert said(merged(base, base, changed).entries) == said(changed)
    for same in (merged(base, changed, base), merged(base, changed, changed)):
        assert said(same.entries) == said(changed)
        assert not same.change
        assert same.conflicts == ()


@given(SIDES, SIDES, SIDES)
def test_both_ways_round_conflict_in_the_same_and_agree_in_all_else(
    base: Entries, one: Entries, other: Entries
) -> None:
    there, back = merged(base, one, other), merged(base, other, one)
    assert {(c.kind, c.place) for c in there.conflicts} == {(c.kind, c.place) for c in back.conflicts}
    _, at_odds = model(said(base), said(one), said(other))
    for key in there.entries.keys() | back.entries.keys():
        assert key in at_odds or there.entries[key].says == back.entries[key].says


@given(SIDES, SIDES)
def test_nothing_differs_exactly_where_both_keep_the_same(one: Entries, other: Entries) -> None:
    assert (project_data_differences(one, other) == ()) == (said(one) == said(other))


@given(SIDES, SIDES)
def test_a_conflict_tells_both_values(one: Entries, other: Entries) -> None:
    for conflict in merged({}, one, other).conflicts:
        assert "Ours says" in conflict.reason
        assert "theirs" in conflict.reason
        assert any(word in conflict.reason for word in ("one", "two", "avro"))


def of(*things: Thing, document: Document = DOCUMENT, project_id: str = "p") -> ProjectDataSide:
    return ProjectDataSide(document, tuple(kept(each) for each in things), project_id)


def placed(
    base: ProjectDataSide, ours: ProjectDataSide, theirs: ProjectDataSide, result: Document
) -> MergedProjectData:
    return merge_project_data(named_for(result, ThreeWay(base, ours, theirs)), lambda _: True)


def test_ids_of_another_file_become_those_of_the_result() -> None:
    other = Document()
    for side, name in ((Side.CDM, "refund"), (Side.CDM, "payment"), (Side.EXTRACTION, "orders")):
        attributes = tuple(AttributeDeclaration(path, "string") for path in ("amount", "id"))
        other = perform(other, AddVersion(side, VersionDeclaration(name, attributes, "1"))).after
    payment = other.cdm.named("payment")
    assert payment is not None
    version = other.cdm.version(payment.version_ids[0])
    target = Spot(payment.id, version.id, version.attributes[0].id, version.attributes[0].lineage)
    comment = Comment(1, CommentSubject(Spot(1, 1, 2, 2), target), "in cents?", "bob", 5)
    found = placed(of(), of(), of(comment, document=other, project_id="q"), DOCUMENT)
    (put,) = found.change.put
    assert isinstance(put.thing, Comment)
    assert put.thing.subject == CommentSubject(Spot(1, 1, 1, 1), Spot(1, 1, 2, 2))


def test_what_is_about_a_schema_that_the_result_has_not_is_told_by_name() -> None:
    without = perform(DOCUMENT, RemoveVersion(Side.EXTRACTION, 2)).after
    comment = Comment(1, CommentSubject(Spot(2)), "who asks for this?", "bob", 5)
    found = placed(of(), of(document=without), of(comment), without)
    assert not found.change
    (left,) = found.left
    assert (left.kind, left.place) == ("comment", "people (bob, 1970-01-01T00:00Z): who asks for this?")


def test_a_comment_on_what_theirs_removed_stays_with_ours_for_undo() -> None:
    without = perform(DOCUMENT, RemoveVersion(Side.EXTRACTION, 2)).after
    comment = Comment(1, CommentSubject(Spot(2)), "who asks for this?", "bob", 5)
    found = placed(of(comment), of(comment), of(comment, document=without), without)
    assert not found.change


def test_a_state_that_ours_has_not_keeps_its_name_in_theirs_and_that_is_told() -> None:
    named = entries([kept(StateName(9, "June", "5 bob Map"))], Naming.of(DOCUMENT))
    found = merge_project_data(ThreeWay({}, {}, named), lambda _: False)
    assert (found.change.put, [left.place for left in found.left]) == ((), ["state 9: June"])


def samples(*lines: bytes) -> Entries:
    return entries([kept(IncludedSamples(1, b"".join(line + b"\n" for line in lines)))], Naming.of(DOCUMENT))


def test_samples_of_both_sides_come_together_without_those_that_either_took_out() -> None:
    found = merged(samples(b"1", b"2", b"3"), samples(b"2", b"3", b"4"), samples(b"1", b"3", b"5"))
    (put,) = found.change.put
    assert put.thing == IncludedSamples(1, b"3\n4\n5\n")
    assert found.conflicts == ()


def test_samples_that_would_not_fit_or_that_one_side_excluded_are_for_people_to_choose() -> None:
    large = [bytes([letter]) * (MOST_INCLUDED_BYTES // 2) for letter in b"ab"]
    for base, ours, theirs in (
        ({}, samples(large[0]), samples(large[1])),
        ({}, samples(*(b"a%d" % n for n in range(MOST_INCLUDED))), samples(b"b")),
        (samples(b"1"), {}, samples(b"2")),
        (samples(b"1"), samples(b"2"), {}),
    ):
        found = merged(base, ours, theirs)
        assert [conflict.kind for conflict in found.conflicts] == [ItemKind.SAMPLES]
        assert not found.change


def test_what_the_result_masks_is_hidden_in_samples_of_either_side() -> None:
    def hidden(thing: Gathered) -> Gathered:
        return replace(thing, text=b"***\n") if isinstance(thing, IncludedSamples) else thing

    found = merge_project_data(ThreeWay({}, samples(b"secret"), samples(b"secret")), lambda _: True, hidden)
    assert [each.thing for each in found.change.put] == [IncludedSamples(1, b"***\n")]


def test_of_two_profiles_the_newer_one_stays() -> None:
    old, new = (entries([ProjectItem(SchemaProfile(1, 10, at), "", at)], Naming.of(DOCUMENT)) for at in (1, 2))
    assert said(merged({}, old, new).entries) == said(merged({}, new, old).entries) == said(new)


def test_a_version_that_runs_of_both_sides_have_seen_waits_once_with_all_its_records() -> None:
    declaration = VersionDeclaration("orders", (AttributeDeclaration("id", "string"),), "2")

    def task(id_: int, *runs: str, dismissed_by: str | None = None) -> Entries:
        waits = tuple(Waiting(f"/{run}", run, "test", "src", 3) for run in runs)
        thing = VersionTask(id_, "orders", "2", declaration, (), waits, 7, dismissed_by)
        return entries([kept(thing)], Naming.of(DOCUMENT))

    (put,) = merged(task(1, "a"), task(4, "a", "b"), task(8, "a", "c", dismissed_by="bob")).change.put
    assert isinstance(put.thing, VersionTask)
    assert (put.thing.id, put.thing.dismissed_by) == (4, "bob")
    assert [wait.run_id for wait in put.thing.waits] == ["a", "b", "c"]
    (new,) = merged({}, {}, task(8, "c")).change.put
    assert isinstance(new.thing, VersionTask)
    assert new.thing.id == 0
