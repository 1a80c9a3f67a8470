"""Three-way merge of documents."""

from __future__ import annotations

from hypothesis import example, given

from metl_gui.core.changes.draft import EditContext, perform
from metl_gui.core.differences.document_difference import compare_by_names
from metl_gui.core.matrix.blocks import conflicts as clashes
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.merge.merged_document import MergeTheirs
from metl_gui.core.merge.sides import MergeConflict
from metl_gui.core.search.checks import check
from metl_gui.core.search.problems import Severity
from tests.helpers.histories import Steps, step, steps, world_of
from tests.helpers.world import World


def merged(base: Document, ours: Document, theirs: Document) -> tuple[Document, list[MergeConflict]]:
    """Merge, and return the result with its conflicts."""
    edit = MergeTheirs(base, theirs, "theirs")
    result = perform(ours, edit, EditContext("merger", 5)).after
    return result, edit.conflicts


def forked(shared: Steps, ours: Steps, theirs: Steps) -> tuple[Document, Document, Document]:
    """Play a history, then two others on from its end."""
    world = world_of(shared)
    base = world.document
    ends = []
    for history in (ours, theirs):
        fork = World()
        fork.document = base
        fork.log = list(world.log)
        for kind, seed in history:
            step(fork, kind, seed)
        ends.append(fork.document)
    return base, ends[0], ends[1]


@given(steps, steps)
@example([("add", 23), ("add", 84)], [("group", 60610), ("change", 0)])
@example([("add", 0)], [("remove", 110), ("alias", 2989)])
@example([("add", 32), ("label", 10227)], [("add", 1), ("remove", 3181), ("label", 10227)])
@example([("add", 3726), ("map", 0), ("remove", 0), ("add", 0)], [("group", 0)])
@example([("create", 783), ("add", 0), ("group", 1)], [("add", 1), ("map", 0), ("undo", 1)])
def test_what_only_theirs_changed_is_taken_whole(shared: Steps, theirs: Steps) -> None:
    base, _, other = forked(shared, [], theirs)
    result, found = merged(base, base, other)
    assert found == []
    assert list(compare_by_names(other, result).blocks) == []
    assert list(compare_by_names(other, result).trees) == []
    assert state_hash(result) == state_hash(other)


@given(steps, steps)
def test_what_only_ours_changed_stays_as_it_is(shared: Steps, ours: Steps) -> None:
    base, mine, _ = forked(shared, ours, [])
    result, found = merged(base, mine, base)
    assert found == []
    assert compare_by_names(mine, result).is_empty


@given(steps, steps)
@example([("create", 3), ("add", 2)], [("add", 0), ("policy", 4)])
@example([("map", 1)], [("add", 0), ("retire", 0), ("map", 17067443)])
def test_the_same_change_on_both_sides_is_one(shared: Steps, both: Steps) -> None:
    base, mine, _ = forked(shared, both, [])
    result, found = merged(base, mine, mine)
    assert found == []
    assert compare_by_names(mine, result).is_empty


@given(steps, steps, steps)
def test_a_merge_keeps_the_rules_of_the_matrix(shared: Steps, ours: Steps, theirs: Steps) -> None:
    result, _ = merged(*forked(shared, ours, theirs))
    assert not [problem for problem in check(result) if problem.severity is Severity.ERROR]
    for block in result.matrix.blocks():
        assert clashes(block.elements) == []
        entity = result.cdm.schema(result.cdm.version(block.entity_version).schema_id)
        assert entity.setting("policy") == "parallel" or entity.version_ids[-1] == block.entity_version
    for side in (result.extraction, result.cdm):
        assert len({schema.name for schema in side.schemas()}) == len(side.schemas())
        for version in side.all_versions():
            assert len({a.lineage for a in version.attributes}) == len(version.attributes)


@given(steps, steps, steps)
@example([("add", 0)], [("add", 59)], [("remove", 1)])
@example([("add", 0)], [("alias", 1)], [("insert", 4096)])
@example([("insert", 180)], [("add", 1)], [("join", 49)])
@example([("insert", 1)], [("label", 203)], [("group", 1499194), ("label", 203)])
def test_a_merge_the_other_way_round_has_the_same_conflicts_or_none(shared: Steps, ours: Steps, theirs: Steps) -> None:
    base, mine, other = forked(shared, ours, theirs)
    (one, found), (back, found_back) = merged(base, mine, other), merged(base, other, mine)
    assert bool(found) == bool(found_back)
    if not found:
        assert _content(one) == _content(back)


@given(steps, steps, steps)
@example([("add", 62579)], [("change", 11607)], [("add", 0), ("map", 0)])
@example([("add", 380)], [("group", 1)], [("add", 1), ("map", 1)])
@example([("add", 0), ("map", 1), ("change", 0)], [("remove", 0)], [("split", 0)])
@example([("map", 0), ("add", 689317)], [("unmap", 0)], [("unmap", 1)])
@example([("add", 0)], [("call", 0)], [("create", 0)])
@example([("call", 1000001)], [("map", 1), ("add", 0)], [("remove", 7), ("add", 0)])
def test_every_element_that_a_side_added_is_in_the_result_or_told_of_or_was_removed_by_the_other(
    shared: Steps, ours: Steps, theirs: Steps
) -> None:
    base, mine, other = forked(shared, ours, theirs)
    result, found = merged(base, mine, other)
    there = {(schema, entity, *pair) for schema, _, entity, *pair in _mapped(result)}
    told = " ".join(f"{each.place} {each.reason} {each.from_path} {each.to_path}" for each in found)
    for side, opposite in ((mine, other), (other, mine)):
        gone = {
            (b.schema, _called(result, opposite, b.entity), *pair)
            for b in compare_by_names(base, opposite).blocks
            for pair in b.removed
        }
        for block in compare_by_names(base, side).blocks:
            entity = _called(result, side, block.entity)
            for pair in block.added:
                names = {(block.schema, entity, pair[0], to) for to in _same(result, entity, pair[1])}
                is_told = pair[0] in told and pair[1] in told
                assert names & there or names & gone or is_told or _is_asked(result, (entity, pair[0]))
    for block in compare_by_names(base, result).blocks:
        entity = _called(result, base, block.entity)
        for pair in block.removed:
            kept = [(block.schema, block.version, block.entity, *pair) in _mapped(side) for side in (mine, other)]
            names = {(block.schema, entity, pair[0], to) for to in _same(result, entity, pair[1])}
            assert not all(kept) or names & there or _is_asked(result, (entity, pair[0]))


def _mapped(document: Document) -> set[tuple[str, str, str, str, str]]:
    """Every element by schema, its version, entity, whatever its version, and paths."""
    found: set[tuple[str, str, str, str, str]] = set()
    for told in compare_by_names(Document(), document).blocks:
        found.update((told.schema, told.version, told.entity, *pair) for pair in told.added)
    return found


def _called(document: Document, other: Document, entity: str) -> str:
    """Return what an entity of another document is called in one in which it may have been renamed."""
    known = other.cdm.named(entity)
    found = (document.cdm.named(name) for name in (entity, *(known.names if known is not None else ())))
    return next((schema.name for schema in found if schema is not None), entity)


def _same(document: Document, entity: str, path: str) -> set[str]:
    """Every path that an attribute of an entity has in some version."""
    found = document.cdm.named(entity)
    attributes = [a for v in document.cdm.versions(found.id) for a in v.attributes] if found else []
    lineages = {a.lineage for a in attributes if a.path == path}
    return {path, *(a.path for a in attributes if a.lineage in lineages)}


def _is_asked(document: Document, name: tuple[str, str]) -> bool:
    """Whether a block of an entity tells of a lost element from a source."""
    return any(
        (document.cdm.schema(document.cdm.schema_of(block.entity_version)).name, loss.from_path) == name
        for block in document.matrix.blocks()
        for loss in block.losses
    )


def _content(document: Document) -> list[object]:
    """What is the same whichever side is ours; of a version's labels, the first one is that of ours."""
    return [
        (told.schema, told.entity, told.added, told.status_after)
        for told in compare_by_names(Document(), document).blocks
    ]
