"""A filter over all attributes at once, against the same question asked attribute by attribute."""

from __future__ import annotations

import numpy as np
import pytest

from metl_gui.core.changes.draft import Edit, perform
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.settings import MaskAttribute
from metl_gui.core.edits.versions import AddVersion, NoteKey, RemoveVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.comments import Comment, Comments, node_subject
from metl_gui.core.search.attribute_facts import AttributeUses, notes_of
from metl_gui.core.search.filters import Filtering
from metl_gui.core.search.query import Query, Term, TermKind, parse
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Attribute, Side, Version
from metl_gui.core.trees.tree_columns import TreeColumns, columns_of
from tests.helpers.world import World
from tests.qt.random_documents import some_document

QUERIES = [
    "id",
    "orders id",
    "-id",
    '"created_at"',
    "type:int",
    "-type:int type:str",
    "is:mapped",
    "is:unmapped amount",
    "is:review",
    "-is:review is:mapped",
    "is:new",
    "is:required",
    "is:commented",
    "changed:new",
    "changed:removed",
    "changed:type",
    "in:fx.payments -is:mapped",
    "-in:payments currency",
]


def counted(side: Side, document: Document) -> AttributeUses:
    uses = AttributeUses(side, document)
    for _ in uses.count():
        pass
    return uses


def found_by(columns: TreeColumns, query: Query, uses: AttributeUses) -> Filtering:
    filtering = Filtering(columns, query, uses)
    for _ in filtering.run():
        pass
    return filtering


def passing(document: Document, side: Side, filtering: Filtering) -> set[int]:
    versions = document.tree(side).all_versions()
    return {id_ for version in versions for id_ in filtering.attributes(version.id)}


def one_by_one(document: Document, side: Side, query: Query) -> set[int]:
    """Ask every attribute as an object."""
    return {
        attribute.id
        for version in document.tree(side).all_versions()
        for attribute in version.attributes
        if all(_holds(document, side, version, attribute, term) != term.is_negated for term in query.terms)
    }


def _holds(document: Document, side: Side, version: Version, attribute: Attribute, term: Term) -> bool:
    tree = document.tree(side)
    schema = tree.schema(version.schema_id)
    match term.kind:
        case TermKind.WORD:
            return any(term.value in text.lower() for text in (attribute.path, schema.name, *schema.aliases))
        case TermKind.TYPE:
            return term.value in attribute.type_text.lower()
        case TermKind.IN:
            return any(term.value in text.lower() for text in (schema.name, *schema.aliases))
        case TermKind.CHANGED:
            return _changed(document, side, version, attribute, term.value)
        case _:
            return _state(document, side, version, attribute, term.value)


def _changed(document: Document, side: Side, version: Version, attribute: Attribute, value: str) -> bool:
    tree = document.tree(side)
    ids = tree.schema(version.schema_id).version_ids
    at = ids.index(version.id)
    before = tree.version(ids[at - 1]).of_lineage(attribute.lineage) if at else None
    if value == "new":
        return at > 0 and before is None
    if value == "removed":
        return at + 1 < len(ids) and tree.version(ids[at + 1]).of_lineage(attribute.lineage) is None
    return before is not None and before.type_text != attribute.type_text


def _state(document: Document, side: Side, version: Version, attribute: Attribute, value: str) -> bool:
    matrix = document.matrix
    blocks = matrix.column_set(version.id) if side is Side.EXTRACTION else matrix.row_set(version.id)
    own = [b for b in blocks if attribute.id in {e.p if side is Side.EXTRACTION else e.q for e in b.elements}]
    lost = {loss.p_lineage if side is Side.EXTRACTION else loss.q_lineage for b in blocks for loss in b.open_losses}
    holds = {
        "mapped": bool(own),
        "unmapped": not own,
        "review": any(b.open_losses for b in own) or attribute.lineage in lost,
        "new": attribute in document.tree(side).new_attributes(version),
        "required": not attribute.optional,
        "commented": any(b.comment for b in own),
    }
    return holds[value]


def edited(document: Document) -> Document:
    """Leave an overlay: a version more, one less, a schema gone, an element set with a comment."""
    schemas = document.extraction.schemas()
    block = next(b for b in document.matrix.blocks() if len(b.elements) > 1)
    newest = document.extraction.newest(schemas[1].id)
    assert newest is not None
    kept = tuple(AttributeDeclaration(a.path, a.type if at else "bytes") for at, a in enumerate(newest.attributes[1:]))
    edits: list[Edit] = [
        AddVersion(Side.EXTRACTION, VersionDeclaration(schemas[1].name, kept, "99")),
        RemoveVersion(Side.EXTRACTION, schemas[2].version_ids[0]),
        *(RemoveVersion(Side.EXTRACTION, id_) for id_ in schemas[3].version_ids),
        SetElements(block.key, zeros=block.elements[:1], comment="asked finance"),
    ]
    for edit in edits:
        document = perform(document, edit).after
    return document


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("seed", [3, 7])
@pytest.mark.parametrize("text", QUERIES)
def test_all_at_once_passes_what_passes_one_by_one(text: str, seed: int, side: Side) -> None:
    document = edited(some_document(seed).merged())
    query = parse(text)
    filtering = found_by(columns_of(document.tree(side)), query, counted(side, document))
    expected = one_by_one(document, side, query)
    assert passing(document, side, filtering) == expected
    result = filtering.result(side, text, 0)
    assert set(result.attributes.tolist()) == expected
    versions = {v.id: v for v in document.tree(side).all_versions()}
    assert set(result.versions.tolist()) == {v for v in versions if {a.id for a in versions[v].attributes} & expected}
    assert set(result.schemas.tolist()) == {versions[v].schema_id for v in result.versions.tolist()}
    assert all(np.all(np.diff(ids) > 0) for ids in (result.attributes, result.versions, result.schemas))


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("text", ["is:mapped", "is:unmapped", "is:review", "is:commented"])
def test_an_edit_of_blocks_leaves_the_counts_that_counting_anew_gives(text: str, side: Side) -> None:
    document = some_document(5).merged()
    uses, columns, query = counted(side, document), columns_of(document.tree(side)), parse(text)
    filtering = found_by(columns, query, uses)
    blocks = [b for b in document.matrix.blocks() if b.elements]
    for block in blocks[:6]:
        after = perform(document, SetElements(block.key, zeros=block.elements[:1], comment="why")).after
        changed = [b.key for b in after.matrix.blocks() if b is not document.matrix.block(*b.key)]
        uses.follow(after, changed)
        assert filtering.look_again({key[0 if side is Side.EXTRACTION else 1] for key in changed})
        document = after
        anew = counted(side, document)
        for name in ("mapped", "waiting", "commented"):
            assert np.array_equal(getattr(uses, name), getattr(anew, name))
        assert passing(document, side, filtering) == one_by_one(document, side, query)


def test_columns_after_an_edit_are_those_of_the_edited_tree() -> None:
    before = some_document(7).merged()
    after = edited(before)
    columns = columns_of(before.extraction).after(after.extraction)
    assert columns.parts[0].columns is columns_of(before.extraction).parts[0].columns
    filtering = found_by(columns, parse("changed:type"), counted(Side.EXTRACTION, after))
    assert passing(after, Side.EXTRACTION, filtering) == one_by_one(after, Side.EXTRACTION, parse("changed:type"))


def test_only_the_attributes_of_a_known_key_are_key() -> None:
    world = World()
    world.schema("orders", "1", "id", "line", "ID")
    world.schema("refunds", "1", "id")
    schema = world.document.extraction.named("orders")
    assert schema is not None
    world.do(NoteKey(Side.EXTRACTION, schema.version_ids[0], ("line", "id")))
    for document in (world.document, world.document.merged()):
        columns = columns_of(document.extraction)
        filtering = found_by(columns, parse("is:key"), counted(Side.EXTRACTION, document))
        found = document.extraction.version(schema.version_ids[0])
        assert [a.path for a in found.attributes if a.id in filtering.attributes(found.id)] == ["id", "line"]
        assert filtering.schema_count() == 1


def test_a_schema_without_attributes_passes_by_its_name() -> None:
    world = World()
    world.schema("orders", "1", "id")
    world.schema("empty", "1")
    columns = columns_of(world.document.extraction)
    uses = counted(Side.EXTRACTION, world.document)
    empty = world.document.extraction.named("empty")
    assert empty is not None
    assert found_by(columns, parse("emp"), uses).schema_ids().tolist() == [empty.id]
    assert found_by(columns, parse("emp is:unmapped"), uses).schema_count() == 0


def test_an_attribute_is_commented_in_every_version_of_its_lineage() -> None:
    world = World()
    world.schema("orders", "1", "id", "day")
    world.schema("orders", "2", "id", "day", "code")
    document = world.document
    version = world.version(Side.EXTRACTION, "orders", "2")
    day = version.at_path("day")
    assert day is not None
    subject = node_subject(document, Side.EXTRACTION, version.schema_id, version.id, day.id)
    comments = Comments(document, [Comment(1, subject, "which day?", "Ada", 5)])
    query = parse("is:commented")
    notes = notes_of(document, Side.EXTRACTION, comments, query)
    filtering = Filtering(columns_of(document.extraction), query, counted(Side.EXTRACTION, document), notes)
    for _ in filtering.run():
        pass
    found = {
        a.path for v in document.extraction.all_versions() for a in v.attributes if a.id in filtering.attributes(v.id)
    }
    assert found == {"day"}
    assert len(passing(document, Side.EXTRACTION, filtering)) == 2


@pytest.mark.parametrize(("side", "expected"), [(Side.EXTRACTION, {"iban"}), (Side.CDM, {"account_no"})])
def test_what_is_masked_passes_with_what_it_feeds(side: Side, expected: set[str]) -> None:
    world = World()
    world.schema("orders", "1", "id", "iban")
    world.entity("payment", "1", "id", "account_no")
    world.map("orders@1:payment@1", id="id", account_no="iban")
    version = world.version(Side.EXTRACTION, "orders", "1")
    world.do(MaskAttribute(Side.EXTRACTION, version.id, version.attributes[1].id))
    document, query = world.document, parse("is:masked")
    notes = notes_of(document, side, Comments(), query)
    filtering = Filtering(columns_of(document.tree(side)), query, counted(side, document), notes)
    for _ in filtering.run():
        pass
    ids = passing(document, side, filtering)
    assert {a.path for v in document.tree(side).all_versions() for a in v.attributes if a.id in ids} == expected


def test_an_element_of_an_attribute_that_an_edit_brought_is_counted() -> None:
    world = World()
    world.schema("orders", "1", "id")
    world.entity("payment", "1", "id")
    document = world.document
    uses = counted(Side.EXTRACTION, document)
    for label in range(2, 40):
        world.schema("orders", str(label), f"b{label}", *(f"a{at}" for at in range(9)))
    transition = world.map("orders@39:payment@1", id="a8")
    uses.follow(world.document, [change.key for change in transition.change.blocks])
    element: Element = transition.change.blocks[0].after.elements[0]  # type: ignore[union-attr]
    assert uses.mapped[element.p] == 1
