"""What is to do: statuses, progress, and the filters that find them."""

from __future__ import annotations

from metl_gui.core.edits.ignored import IgnoreAttributes
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.project.comments import Comments
from metl_gui.core.search.attribute_facts import AttributeUses, notes_of
from metl_gui.core.search.filters import Filtering
from metl_gui.core.search.query import parse
from metl_gui.core.search.todo import AttributeStatus, MappingProgress, ToDo, marks_taken, progress_of
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.tree_columns import columns_of
from tests.helpers.world import World

E, C = Side.EXTRACTION, Side.CDM


def declared(name: str, **required: bool) -> VersionDeclaration:
    """A version whose attributes are required or not."""
    attributes = (AttributeDeclaration(path, "string", optional=not is_) for path, is_ in required.items())
    return VersionDeclaration(name, tuple(attributes), "1")


def world() -> World:
    """``pay`` of four attributes, three of them required: one is mapped, one never to be, one open."""
    made = World()
    made.do(AddVersion(C, declared("pay", id=True, code=True, internal=True, note=False)))
    made.schema("s", "1", "id", "code", "junk")
    made.schema("t", "1", "x")
    made.map("s@1:pay@1", id="id")
    ignore(made, C, "pay", "internal")
    ignore(made, E, "s", "junk")
    return made


def ignore(made: World, side: Side, name: str, path: str) -> None:
    """Mark an attribute of version 1."""
    version = made.version(side, name, "1")
    attribute = version.at_path(path)
    assert attribute is not None
    made.do(IgnoreAttributes(side, version.schema_id, (attribute.lineage,), "no use"))


def passing(made: World, side: Side, text: str) -> set[str]:
    """Paths of the attributes that pass a filter."""
    document, query = made.document, parse(text)
    uses = AttributeUses(side, document)
    for _ in uses.count():
        pass
    filtering = Filtering(columns_of(document.tree(side)), query, uses, notes_of(document, side, Comments(), query))
    for _ in filtering.run():
        pass
    return {
        a.path
        for version in document.tree(side).all_versions()
        for a in version.attributes
        if a.id in filtering.attributes(version.id)
    }


def test_what_is_never_to_be_mapped_counts_neither_as_open_nor_as_required() -> None:
    made = world()
    assert progress_of(made.document, C) == MappingProgress(4, 1, 2, 1, required=2, required_mapped=1)
    assert progress_of(made.document, C).words() == "1 of 2 required mapped, 2 open, 1 never to be mapped"
    assert progress_of(made.document, E).words() == "1 of 3 mapped, 2 open, 1 never to be mapped"
    merged = made.document.merged()
    assert progress_of(merged, C) == progress_of(made.document, C)
    assert progress_of(merged, E) == progress_of(made.document, E)


def test_each_attribute_of_the_newest_version_stands_in_one_way() -> None:
    made = world()
    made.schema("s", "2", "id", "junk", "fresh")
    listed = ToDo.of(made.document, E)
    (s,) = (schema for schema in listed.schemas() if schema.name == "s")
    fresh = made.version(E, "s", "2").attributes[2]
    found = {item.attribute.path: item.status for item in listed.items(s)}
    assert found == {
        "id": AttributeStatus.MAPPED,
        "junk": AttributeStatus.IGNORED,
        "fresh": AttributeStatus.OPEN,
    }
    (item,) = listed.items(s, (AttributeStatus.SUGGESTED,), {fresh.id})
    assert (item.attribute, item.mark) == (fresh, None)
    (item,) = listed.items(s, (AttributeStatus.IGNORED,))
    assert item.mark is not None
    assert (item.mark.reason, item.mark.who) == ("no use", "tester")
    assert list(listed.items(s, (AttributeStatus.OPEN,), {fresh.id})) == []


def test_filters_find_what_is_open_and_what_is_ignored_in_edited_and_in_merged_trees() -> None:
    made = world()
    for _ in range(2):
        assert passing(made, C, "is:ignored") == {"internal"}
        assert passing(made, C, "is:open") == {"code", "note"}
        assert passing(made, C, "is:open is:required") == {"code"}
        assert passing(made, C, "is:unmapped") == {"code", "note", "internal"}
        assert passing(made, E, "-is:open") == {"id", "junk"}
        made.document = made.document.merged()
    made.map("s@1:pay@1", internal="junk")
    assert passing(made, C, "is:ignored") == passing(made, E, "is:ignored") == set()


def test_an_edit_tells_the_marks_that_it_takes_and_undoing_one_that_marked_tells_none() -> None:
    world = World()
    world.entity("pay", "1", "id")
    world.schema("s", "1", "id", "junk")
    version = world.version(Side.EXTRACTION, "s", "1")
    lineages = tuple(attribute.lineage for attribute in version.attributes)
    before = world.document
    marking = world.do(IgnoreAttributes(Side.EXTRACTION, version.schema_id, lineages, "no use"))
    marked = world.document
    world.map("s@1:pay@1", id="id")
    assert [(path, mark.reason) for path, mark in marks_taken(marked, world.document)] == [("id", "no use")]
    assert marks_taken(before, marked) == ()
    assert marks_taken(marking.after, marking.before) == ()
