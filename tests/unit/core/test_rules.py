"""The rules that always hold, over random trees, edits and version sequences.

Source: docs/architecture/model.md, "Rules that always hold".
"""

from __future__ import annotations

from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from metl_gui.core.changes.draft import perform
from metl_gui.core.changes.touched_groups import touched_versions
from metl_gui.core.edits.revert import Revert
from metl_gui.core.edits.review import ConfirmBlock
from metl_gui.core.matrix.blocks import Status, conflicts
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.compact import (
    CompactBlock,
    ElementColumns,
    GroupKey,
    compact_again,
    compact_all,
    compact_group,
    decompact,
    decompact_all,
)
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.items import review_items
from metl_gui.core.search.checks import check
from metl_gui.core.search.problems import Severity
from metl_gui.core.trees.nodes import Side
from tests.helpers.histories import NAMES, Steps, step, steps, world_of


def groups_of(document: Document) -> dict[GroupKey, tuple[CompactBlock, ...]]:
    """Compact every group of a document."""
    found: dict[GroupKey, tuple[CompactBlock, ...]] = {}
    for block in document.matrix.blocks():
        group = GroupKey(document.extraction.version(block.version).schema_id, block.entity_version)
        if group not in found:
            kept = compact_group(document.extraction.versions(group.schema_id), document.matrix, group)
            found[group] = kept
    return {group: kept for group, kept in found.items() if kept}


def content_of(document: Document) -> dict[object, object]:
    """Every part of a document, by what it is."""
    parts: dict[object, object] = {("block", block.key): block for block in document.matrix.blocks()}
    for side in Side:
        parts.update({(side, "schema", schema.id): schema for schema in document.tree(side).schemas()})
        parts.update({(side, "version", version.id): version for version in document.tree(side).all_versions()})
    return parts


@given(steps)
def test_no_block_uses_an_attribute_twice_on_either_side(history: Steps) -> None:
    for block in world_of(history).document.matrix.blocks():
        assert conflicts(block.elements) == []


@given(steps)
def test_nothing_maps_what_is_never_to_be_mapped_and_each_mark_has_its_attribute(history: Steps) -> None:
    document = world_of(history).document
    for side in Side:
        mapped = {
            (e.p if side is Side.EXTRACTION else e.q) for block in document.matrix.blocks() for e in block.elements
        }
        for schema in document.tree(side).schemas():
            attributes = [a for version in document.tree(side).versions(schema.id) for a in version.attributes]
            assert schema.ignored_lineages <= {a.lineage for a in attributes}
            assert not {a.id for a in attributes if a.lineage in schema.ignored_lineages} & mapped


@given(steps)
@example([("map", 1), ("add", 0), ("retire", 0), ("map", 17067443)])
def test_only_under_review_is_a_block_kept_unconfirmed_beside_its_status(history: Steps) -> None:
    for block in world_of(history).document.matrix.blocks():
        assert not block.unconfirmed or block.status is Status.NEEDS_REVIEW


@given(steps)
def test_every_element_ends_in_attributes_of_the_same_state(history: Steps) -> None:
    document = world_of(history).document
    for block in document.matrix.blocks():
        columns = {a.id for a in document.extraction.version(block.version).attributes}
        rows = {a.id for a in document.cdm.version(block.entity_version).attributes}
        assert {e.p for e in block.elements} <= columns
        assert {e.q for e in block.elements} <= rows


@given(steps)
def test_under_policy_3_every_element_belongs_to_the_newest_entity_version(history: Steps) -> None:
    document = world_of(history).document
    for block in document.matrix.blocks():
        entity = document.cdm.schema(document.cdm.version(block.entity_version).schema_id)
        if entity.setting("policy") != "parallel" and block.elements:
            assert entity.version_ids[-1] == block.entity_version


@given(steps)
def test_decompacting_the_compact_set_gives_the_dense_set_back(history: Steps) -> None:
    document = world_of(history).document
    dense = {block.key: block.elements for block in document.matrix.blocks() if block.elements}
    found = {}
    for (schema_id, w), kept in groups_of(document).items():
        blocks = decompact(document.extraction.versions(schema_id), kept)
        found.update({(v, w): elements for v, elements in blocks.items()})
    assert found == dense


@given(steps)
def test_whole_matrices_are_compacted_and_decompacted_as_group_by_group(history: Steps) -> None:
    document = world_of(history).document.merged()
    tree, base = document.extraction.base, document.matrix.base
    compact = compact_all(tree, base)
    assert _kept(compact) == {
        (kept.version, group.entity_version): kept.elements
        for group, members in groups_of(document).items()
        for kept in members
    }
    dense = {block.key: block.elements for block in document.matrix.blocks() if block.elements}
    assert _kept(decompact_all(tree, compact)) == dense


def _kept(elements: ElementColumns) -> dict[tuple[int, int], tuple[tuple[int, int], ...]]:
    spans = zip(elements.start[:-1].tolist(), elements.start[1:].tolist(), strict=True)
    keys = zip(elements.version.tolist(), elements.entity_version.tolist(), strict=True)
    pairs = list(zip(elements.q.tolist(), elements.p.tolist(), strict=True))
    return {key: tuple(pairs[low:high]) for key, (low, high) in zip(keys, spans, strict=True)}


@given(steps)
def test_every_edit_makes_exactly_the_next_state_and_numbers_are_never_used_twice(history: Steps) -> None:
    world = world_of(history)
    states = [transition.after.state for transition in world.log]
    assert states == list(range(1, len(states) + 1))


@given(steps)
def test_undoing_the_last_edit_restores_all_it_touched(history: Steps) -> None:
    world = world_of(history)
    last = world.log[-1]
    undone = perform(world.document, Revert(last.change, last.title)).after
    assert undone.state == last.after.state + 1
    assert content_of(undone) == content_of(last.before)
    redone = perform(undone, Revert(last.change.inverse(), last.title, is_redo=True)).after
    assert content_of(redone) == content_of(last.after)


@given(steps)
def test_attribute_and_version_ids_are_never_used_again(history: Steps) -> None:
    world = world_of(history)
    for side in Side:
        made: Counter[int] = Counter()
        for transition in world.log:
            fresh = (c for c in transition.change.versions if c.side is side and c.before is None and c.after)
            if not transition.title.startswith("Undo"):
                made.update(c.id for c in fresh)
        assert not made or max(made.values()) == 1


@given(steps)
def test_a_version_has_at_most_one_attribute_of_a_lineage(history: Steps) -> None:
    document = world_of(history).document
    for side in Side:
        for version in document.tree(side).all_versions():
            lineages = [a.lineage for a in version.attributes]
            assert len(set(lineages)) == len(lineages)


@given(steps)
def test_only_touched_groups_change_their_compact_form(history: Steps) -> None:
    world = world_of(history)
    for transition in world.log:
        before, after = groups_of(transition.before), groups_of(transition.after)
        differing = {group for group in before.keys() | after.keys() if before.get(group) != after.get(group)}
        assert differing <= touched_versions(transition).keys()


@given(steps)
def test_what_is_compacted_again_where_it_was_touched_is_the_whole_compact_form(history: Steps) -> None:
    stored: dict[GroupKey, dict[int, object]] = {}
    for transition in world_of(history).log:
        document = transition.after
        again = compact_again(document.extraction, document.matrix, touched_versions(transition))
        for group, found in again.items():
            kept = stored.setdefault(group, {})
            for version, elements in found.items():
                kept.pop(version, None)
                if elements is not None:
                    kept[version] = elements
        wanted = {group: dict(kept) for group, kept in groups_of(document).items()}
        assert {group: kept for group, kept in stored.items() if kept} == wanted


@given(steps)
def test_a_block_needs_review_exactly_when_something_in_it_waits(history: Steps) -> None:
    document = world_of(history).document
    for block in document.matrix.blocks():
        if block.status is not Status.RETIRED:
            assert (block.status is Status.NEEDS_REVIEW) == bool(block.open_losses or block.waits)


@given(steps)
def test_every_waiting_block_is_reached_by_exactly_the_items_of_its_chains(history: Steps) -> None:
    document = world_of(history).document
    reached = {key for item in review_items(document) for key in (item.key, *item.chain)}
    assert reached == set(document.matrix.waiting())


@given(steps)
def test_an_element_vanishes_only_with_a_loss_a_removal_or_a_persons_edit(history: Steps) -> None:
    world = world_of(history)
    for transition in world.log:
        if not transition.title.startswith("Add "):
            continue
        for change in transition.change.blocks:
            block = change.after
            if block is None or block.came_from is None:
                continue
            source = transition.before.matrix.block(*block.came_from)
            assert source is not None
            fresh = len(block.open_losses) - len(source.open_losses)
            assert len(block.elements) + fresh == len(source.elements)


@given(steps)
def test_merging_the_overlay_into_the_base_changes_nothing(history: Steps) -> None:
    document = world_of(history).document
    merged = document.merged()
    assert state_hash(merged) == state_hash(document)
    assert review_items(merged) == review_items(document)
    assert (merged.matrix.ones, merged.matrix.block_count) == (document.matrix.ones, document.matrix.block_count)
    assert merged.matrix.waiting() == document.matrix.waiting()
    confirmed = sum(block.status is Status.CONFIRMED for block in document.matrix.blocks())
    assert (merged.matrix.confirmed, document.matrix.confirmed) == (confirmed, confirmed)
    for version in document.extraction.all_versions():
        assert merged.matrix.column_set(version.id) == document.matrix.column_set(version.id)
    for version in document.cdm.all_versions():
        assert merged.matrix.row_set(version.id) == document.matrix.row_set(version.id)


@given(steps)
def test_no_history_leaves_an_error_for_the_checks_to_find(history: Steps) -> None:
    assert [p for p in check(world_of(history).document) if p.severity is Severity.ERROR] == []


@given(steps, st.integers(0, 1 << 30))
def test_edits_on_a_merged_document_give_the_same_state_as_on_the_overlay(history: Steps, seed: int) -> None:
    world, other = world_of(history), world_of(history)
    other.document = other.document.merged()
    for kind in ("map", "add", "unmap", "remove", "confirm"):
        step(world, kind, seed)
        step(other, kind, seed)
    assert state_hash(world.document) == state_hash(other.document)


@given(steps)
def test_every_name_and_alias_finds_the_one_schema_that_has_it(history: Steps) -> None:
    document = world_of(history).document
    for found in (document, document.merged()):
        for side in Side:
            tree = found.tree(side)
            names = [(name, schema) for schema in tree.schemas() for name in schema.names]
            assert len(names) == len({name for name, _ in names})
            for name, schema in names:
                assert tree.named(name) == schema
            for name in {*NAMES[side], "topic", "table"} - {name for name, _ in names}:
                assert tree.named(name) is None


@given(steps)
def test_a_label_means_one_content_of_its_schema(history: Steps) -> None:
    document = world_of(history).document
    for side in Side:
        for schema in document.tree(side).schemas():
            versions = document.tree(side).versions(schema.id)
            labels = [label for version in versions for label in version.labels]
            assert len(labels) == len(set(labels))
            assert len({version.fingerprint for version in versions}) == len(versions)


@given(steps)
def test_later_versions_inherit_every_open_loss_until_it_is_answered(history: Steps) -> None:
    for transition in world_of(history).log:
        if not transition.title.startswith("Add "):
            continue
        for change in transition.change.blocks:
            block = change.after
            if change.before is None and block is not None and block.came_from is not None:
                source = transition.before.matrix.block(*block.came_from)
                assert source is not None
                inherited = {(loss.lineages, loss.since) for loss in source.open_losses}
                assert inherited <= {(loss.lineages, loss.since) for loss in block.open_losses}
                assert set(source.waits) <= set(block.waits)


@given(steps)
def test_confirming_every_item_leaves_nothing_to_review(history: Steps) -> None:
    document = world_of(history).document
    items = review_items(document)
    for item in items:
        document = perform(document, ConfirmBlock(item.key)).after
    assert review_items(document) == ()
    assert document.matrix.waiting() == []


@given(steps)
def test_an_element_is_lost_at_most_once_in_a_block(history: Steps) -> None:
    for block in world_of(history).document.matrix.blocks():
        ends = [(loss.lineages, loss.since) for loss in block.open_losses]
        assert len(ends) == len(set(ends))
