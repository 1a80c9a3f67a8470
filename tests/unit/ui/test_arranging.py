"""Sorted, filtered and relevant planes against ones worked out attribute by attribute."""

from __future__ import annotations

import random

import numpy as np
import pytest

from metl_gui.core.changes.draft import perform
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.filters import FilterResult
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.schema_names import group_of
from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.content import (
    Arrangement,
    PlaneContent,
    SortOrder,
    axis_of,
    content_after,
    content_of,
    rebased,
)
from metl_gui.ui.matrix.layout.sort_and_filter import arranged, needs_arranging
from metl_gui.ui.project.selection import NodeRef
from tests.qt.random_documents import some_document
from tests.unit.ui.naive_plane import Asked, Column, Notch, Plane, versions_of
from tests.unit.ui.random_edits import some_edit
from tests.unit.ui.test_plane import rooms_of

SEEDS = range(5)
LEVELS = ((Level.VERSION, Level.VERSION), (Level.SCHEMA, Level.SCHEMA), (Level.GROUP, Level.SCHEMA))


def passing(document: Document, side: Side, ids: set[int]) -> FilterResult:
    tree = document.tree(side)
    versions = [v for v in tree.all_versions() if any(a.id in ids for a in v.attributes)]
    columns = [{v.schema_id for v in versions}, {v.id for v in versions}, ids]
    schemas, version_ids, attributes = (np.array(sorted(column), np.int32) for column in columns)
    return FilterResult(side, "", schemas, version_ids, attributes, len(tree.schemas()))


def some_ids(document: Document, side: Side, rng: random.Random) -> set[int]:
    """Choose whole schemas, whole versions and single attributes."""
    found: set[int] = set()
    for schema in document.tree(side).schemas():
        share = rng.choice((0.0, 0.0, 0.5, 1.0))
        for version in document.tree(side).versions(schema.id):
            some = rng.choice((0.0, share, 1.0)) if share else 0.0
            found.update(a.id for a in version.attributes if rng.random() < some)
    return found


def relevant(document: Document, columns: set[int], rows: set[int]) -> tuple[frozenset[int], frozenset[int]]:
    """Return what has an element, or belongs to a block that waits, of what passes."""
    p, q = set[int](), set[int]()
    for block in document.matrix.blocks():
        version, target = document.extraction.version(block.version), document.cdm.version(block.entity_version)
        for element in block.elements:
            if element.p in columns and element.q in rows:
                p.add(element.p)
                q.add(element.q)
        if block.status is Status.NEEDS_REVIEW:
            p.update(a.id for a in version.attributes)
            q.update(a.id for a in target.attributes)
    return frozenset(p & columns), frozenset(q & rows)


def all_ids(document: Document, side: Side) -> set[int]:
    tree = document.tree(side)
    return {a.id for s in tree.schemas() for v in versions_of(document, side, s) for a in v.attributes}


def agrees(content: PlaneContent, plane: Plane) -> None:
    for axis, columns, notches in (
        (content.columns, plane.columns, plane.notches[0]),
        (content.rows, plane.rows, plane.notches[1]),
    ):
        axis_agrees(axis, columns, notches)
    whole = [range(len(axis.runs)) for axis in (content.columns, content.rows)]
    assert list(content.elements_within(*whole)) == plane.elements()
    for pair in LEVELS:
        xs, ys = range(len(content.columns.spans(pair[0]))), range(len(content.rows.spans(pair[1])))
        assert list(content.counts(*pair).within(xs, ys)) == plane.tiles(*pair)
        assert rooms_of(content, *pair) == plane.rooms(*pair)


def axis_agrees(axis: Axis, columns: list[Column], notches: list[Notch]) -> None:
    assert [axis.attribute_id(at) for at in range(len(axis.runs))] == [c.attribute.id for c in columns]
    assert axis.runs.begins(range(len(axis.runs))) == pytest.approx(np.array([c.begin for c in columns]))
    for at, column in enumerate(columns):
        assert axis.position_of(column.version.id, column.attribute.id) == at
        assert axis.version_at(at) == column.items[Level.VERSION]
        assert axis.name(Level.ATTRIBUTE, at) == column.attribute.path
        assert axis.name(Level.SCHEMA, axis.schema_at(axis.version_at(at))) == column.schema.name
    found = axis.hidden_within(-1.0, axis.length + 1.0)
    assert [(n.attributes, n.versions, n.schemas) for n in found] == [
        (n.attributes, n.versions, n.schemas) for n in notches
    ]
    assert [n.begin for n in found] == pytest.approx([n.begin for n in notches])


def documents(seed: int) -> list[Document]:
    rng = random.Random(seed)
    document = some_document(seed)
    after = document.merged()
    for _ in range(5):
        after = perform(after, some_edit(after, rng)).after
    return [document, after]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_filtered_plane_shows_what_passes_and_marks_what_does_not(seed: int) -> None:
    rng = random.Random(seed)
    for document in documents(seed):
        p, q = some_ids(document, Side.EXTRACTION, rng), some_ids(document, Side.CDM, rng)
        wide, tall = passing(document, Side.EXTRACTION, p), passing(document, Side.CDM, q)
        asked = Asked(shown=frozenset(p)), Asked(shown=frozenset(q))
        agrees(arranged(document, Arrangement(columns=wide, rows=tall)), Plane.of(document, *asked))
        agrees(arranged(document, Arrangement(columns=wide)), Plane.of(document, asked[0]))


def some_nodes(document: Document, side: Side, rng: random.Random) -> frozenset[tuple[Side, NodeRef]]:
    """Choose schemas and versions of a tree, and one that is gone."""
    tree = document.tree(side)
    schemas, versions = tree.schemas(), list(tree.all_versions())
    found = {NodeRef(s.id) for s in rng.sample(list(schemas), min(2, len(schemas)))}
    found |= {NodeRef(v.schema_id, v.id) for v in rng.sample(versions, min(3, len(versions)))}
    return frozenset((side, node) for node in found | {NodeRef(10**6), NodeRef(schemas[0].id, 10**6)})


def ids_of(document: Document, side: Side, nodes: frozenset[tuple[Side, NodeRef]]) -> set[int]:
    return {
        attribute.id
        for schema in document.tree(side).schemas()
        for version in versions_of(document, side, schema)
        if {(side, NodeRef(schema.id)), (side, NodeRef(schema.id, version.id))} & nodes
        for attribute in version.attributes
    }


@pytest.mark.parametrize("order", SortOrder)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_folded_is_hidden_and_what_is_pinned_passes_every_filter(seed: int, order: SortOrder) -> None:
    rng = random.Random(seed)
    for document in documents(seed):
        folded, pinned = (
            some_nodes(document, Side.EXTRACTION, rng) | some_nodes(document, Side.CDM, rng) for _ in range(2)
        )
        p = some_ids(document, Side.EXTRACTION, rng)
        wide = passing(document, Side.EXTRACTION, p)
        content = arranged(document, Arrangement(order, columns=wide, folded=folded, pinned=pinned))
        passed = {Side.EXTRACTION: p, Side.CDM: all_ids(document, Side.CDM)}
        shown = {
            side: ids | ids_of(document, side, pinned) - ids_of(document, side, folded)
            for side, ids in ((each, passed[each] - ids_of(document, each, folded)) for each in Side)
        }
        for side, ids in shown.items():
            axis = axis_of(content, side)
            assert {axis.attribute_id(at) for at in range(len(axis.runs))} == ids
        if order is SortOrder.TREE:
            agrees(content, Plane.of(document, *(Asked(shown=frozenset(shown[side])) for side in Side)))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_relevance_view_hides_only_what_has_no_element_and_does_not_wait(seed: int) -> None:
    rng = random.Random(seed)
    for document in documents(seed):
        p, q = all_ids(document, Side.EXTRACTION), all_ids(document, Side.CDM)
        asked = [Asked(shown=shown) for shown in relevant(document, p, q)]
        agrees(arranged(document, Arrangement(is_relevant_only=True)), Plane.of(document, *asked))
        some = some_ids(document, Side.EXTRACTION, rng)
        filtered = Arrangement(columns=passing(document, Side.EXTRACTION, some), is_relevant_only=True)
        asked = [Asked(shown=shown) for shown in relevant(document, some, q)]
        agrees(arranged(document, filtered), Plane.of(document, *asked))


@pytest.mark.parametrize("seed", SEEDS)
def test_by_name_sorts_schemas_within_their_groups_and_attributes_within_their_versions(seed: int) -> None:
    for document in documents(seed):
        asked = [
            Asked(sorted(document.tree(side).schemas(), key=lambda s: (group_of(s.name), s.name)), lambda a: a.path)
            for side in Side
        ]
        agrees(arranged(document, Arrangement(SortOrder.NAME)), Plane.of(document, *asked))
        p = some_ids(document, Side.EXTRACTION, random.Random(seed))
        content = arranged(document, Arrangement(SortOrder.NAME, passing(document, Side.EXTRACTION, p)))
        agrees(content, Plane.of(document, Asked(asked[0].schemas, asked[0].key, frozenset(p)), asked[1]))


@pytest.mark.parametrize("seed", SEEDS)
def test_by_first_mapping_shows_the_same_elements_and_keeps_groups_together(seed: int) -> None:
    for document in documents(seed):
        plain, content = content_of(document), arranged(document, Arrangement(SortOrder.FIRST_MAPPING))
        assert ends(content) == ends(plain)
        for side in Side:
            names = [group_of(schema.name) for schema in axis_of(content, side).schemas]
            runs = [name for at, name in enumerate(names) if not at or names[at - 1] != name]
            assert len(runs) == len(set(runs))


def ends(content: PlaneContent) -> set[tuple[int, int, int]]:
    whole = [range(len(axis.runs)) for axis in (content.columns, content.rows)]
    return {
        (content.columns.attribute_id(column), content.rows.attribute_id(row), mark)
        for column, row, mark in content.elements_within(*whole)
    }


def test_by_first_mapping_places_what_is_mapped_to_each_other_on_the_diagonal() -> None:
    document, rng = Document(), random.Random(4)
    paths = [f"field_{at}" for at in range(6)]
    declared = tuple(AttributeDeclaration(path, "string") for path in paths)
    count = 12
    for name in [f"table_{at:02}" for at in range(count)]:
        document = perform(document, AddVersion(Side.EXTRACTION, VersionDeclaration(name, declared))).after
        document = perform(document, AddVersion(Side.CDM, VersionDeclaration(name, declared))).after
    targets = rng.sample(document.cdm.schemas(), count)
    for schema, entity in zip(document.extraction.schemas(), targets, strict=True):
        version, target = document.extraction.newest(schema.id), document.cdm.newest(entity.id)
        assert version is not None
        assert target is not None
        sources = rng.sample(version.attributes, len(version.attributes))
        pairs = tuple(Element(q.id, p.id) for q, p in zip(target.attributes, sources, strict=True))
        document = perform(document, SetElements((version.id, target.id), pairs)).after
    content = arranged(document, Arrangement(SortOrder.FIRST_MAPPING))
    whole = range(count * len(paths))
    assert [(column, row) for column, row, _ in content.elements_within(whole, whole)] == [(at, at) for at in whole]


@pytest.mark.parametrize("seed", SEEDS)
def test_edits_on_a_filtered_plane_count_as_if_it_were_laid_out_again(seed: int) -> None:
    rng = random.Random(seed)
    document = some_document(seed)
    p = some_ids(document, Side.EXTRACTION, rng)
    arrangement = Arrangement(columns=passing(document, Side.EXTRACTION, p))
    content = arranged(document, arrangement)
    for _ in range(20):
        transition = perform(document, some_edit(document, rng))
        document = transition.after
        content = content_after(content, document, [change.key for change in transition.change.blocks])
    agrees(content, Plane.of(document, Asked(shown=frozenset(p))))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_plane_over_merged_columns_shows_what_it_showed(seed: int) -> None:
    document = documents(seed)[1]
    p = some_ids(document, Side.EXTRACTION, random.Random(seed))
    for arrangement in (Arrangement(), Arrangement(SortOrder.NAME, passing(document, Side.EXTRACTION, p))):
        content = arranged(document, arrangement)
        again = rebased(content, document.merged())
        assert len(content.edited) > 0 or not arrangement.is_plain
        assert len(again.edited) == 0
        assert ends(again) == ends(content)
        whole = range(len(content.columns.spans(Level.GROUP))), range(len(content.rows.spans(Level.GROUP)))
        counts = [list(each.counts(Level.GROUP, Level.GROUP).within(*whole)) for each in (content, again)]
        assert counts[0] == counts[1]


def test_an_element_on_a_hidden_attribute_asks_for_another_arrangement() -> None:
    document = some_document(2)
    content = arranged(document, Arrangement(is_relevant_only=True))
    hidden = next(
        (v, a)
        for v in document.extraction.all_versions()
        for a in v.attributes
        if content.columns.position_of(v.id, a.id) is None
    )
    taken = {key[1] for key in document.matrix.column_keys(hidden[0].id)}
    target = next(
        v for e in document.cdm.schemas() if (v := document.cdm.newest(e.id)) is not None and v.id not in taken
    )
    key = hidden[0].id, target.id
    after = perform(document, SetElements(key, (Element(target.attributes[0].id, hidden[1].id),))).after
    assert needs_arranging(content, after, [key])
    assert not needs_arranging(content_of(document), after, [key])
    assert not needs_arranging(arranged(after, content.arrangement), after, [key])


@pytest.mark.parametrize("document", [Document(), some_document(1)], ids=["empty", "filled"])
def test_a_plane_of_which_nothing_is_shown_answers_every_question(document: Document) -> None:
    nothing = passing(document, Side.EXTRACTION, set())
    content = arranged(document, Arrangement(columns=nothing, is_relevant_only=True))
    count = len(document.extraction.schemas())
    assert [run.schemas for run in content.columns.hidden_within(-1, 9)] == ([count] if count else [])
    assert content.columns.length == (0.5 if count else 0.0)
    assert len(content.columns.runs) == 0
    assert list(content.elements_within(range(9), range(9))) == []
    assert content.columns.spans(Level.ATTRIBUTE).within(0.0, 9.0) == range(0)
    assert content.columns.spans(Level.SCHEMA).at(0.2) is None
    for level in Level:
        assert list(content.counts(level, level).within(range(9), range(9))) == []
    assert content.density((0.0, 0.0, 1.0, 1.0), (0.5, 0.5)).elements.sum() == 0
    assert content.waits_in(Side.EXTRACTION, range(9)) == frozenset()
    assert content.columns.position_of(1, 1) is None
