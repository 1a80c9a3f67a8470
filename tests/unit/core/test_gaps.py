"""Gaps of a document, and how checks say what holds for several versions once."""

from __future__ import annotations

from metl_gui.core.edits.entities import AddEntity
from metl_gui.core.edits.review import RetireBlock
from metl_gui.core.search import gaps as gap_room
from metl_gui.core.search.checks import check
from metl_gui.core.search.gaps import Gap, gaps
from metl_gui.core.search.problems import Severity
from metl_gui.core.trees.declarations import AttributeDeclaration
from tests.helpers.world import World


def mapped(*labels: str) -> World:
    """A schema of some versions; ``a`` is mapped in all of them."""
    world = World()
    world.entity("be", "1", "x")
    world.schema("s", labels[0], "a", "b")
    world.map(f"s@{labels[0]}:be@1", x="a")
    for at, label in enumerate(labels[1:]):
        world.schema("s", label, "a", "b", *(f"n{at}{each}" for each in range(at + 1)))
    return world


def found(world: World, code: str, **more: object) -> list[Gap]:
    return [gap for gap in gaps(world.document, **more) if gap.problem.code == code]  # type: ignore[arg-type]


def test_an_attribute_that_was_unmapped_for_three_versions_is_a_gap() -> None:
    assert found(mapped("1", "2"), gap_room.UNMAPPED) == []
    (gap,) = found(mapped("1", "2", "3"), gap_room.UNMAPPED)
    assert (gap.path, gap.count) == ("b", 3)
    assert gap.problem.message == "b has been unmapped for 3 versions."


def test_an_attribute_counts_only_from_the_version_since_which_nothing_of_it_is_mapped() -> None:
    world = mapped("1", "2", "3", "4")
    world.entity("other", "1", "y")
    world.map("s@2:other@1", y="b")
    assert found(world, gap_room.UNMAPPED) == []
    (gap,) = found(world, gap_room.UNMAPPED, least_versions=2)
    assert (gap.path, gap.count) == ("b", 2)


def test_unmapped_attributes_of_one_schema_are_one_problem() -> None:
    world = mapped("1", "2", "3")
    for label in ("4", "5", "6"):
        world.schema("s", label, "a", "b", "c", f"n{label}")
    (problem,) = [p for p in check(world.document) if p.code == gap_room.UNMAPPED]
    assert (problem.place, problem.severity) == ("s@6", Severity.NOTE)
    assert problem.message == "2 attributes have been unmapped for 3 versions or more: b (6), c (3)."


def test_a_schema_of_which_nothing_is_mapped_is_one_gap_and_none_for_its_attributes() -> None:
    world = mapped("1")
    for label in ("1", "2", "3"):
        world.schema("free", label, "a", *(f"x{n}" for n in range(int(label))))
    assert [gap.problem.place for gap in gaps(world.document)] == ["free@3"]


def test_many_schemas_of_which_nothing_is_mapped_are_one_note_and_as_many_gaps() -> None:
    world = mapped("1")
    for number in range(7):
        world.schema(f"free{number}", "1", "a")
    (note,) = check(world.document)
    assert note.message == ("7 schemas are not mapped at all: free0@1, free1@1, free2@1, free3@1, free4@1 and 2 more.")
    assert len(found(world, gap_room.NEVER_MAPPED)) == 7


def test_a_schema_that_a_person_retired_is_no_gap_until_it_sends_data() -> None:
    world = mapped("1")
    world.do(RetireBlock(world.key("s@1:be@1")))
    assert found(world, gap_room.NEVER_MAPPED) == []
    assert found(world, gap_room.RETIRED) == []
    (gap,) = found(world, gap_room.RETIRED, seen={("s", "1"), ("gone", "9"), ("s", "77")})
    assert gap.block == world.key("s@1:be@1")
    assert gap.problem.place == "s@1:be@1"


def test_a_required_attribute_without_a_source_is_a_warning() -> None:
    world = mapped("1")
    world.do(
        AddEntity("fee", (AttributeDeclaration("a", "string", optional=False), AttributeDeclaration("b", "string")))
    )
    assert [gap.problem.code for gap in gaps(world.document)] == [gap_room.NEVER_FED]
    world.map("s@1:fee@1", b="a")
    (gap,) = gaps(world.document)
    assert (gap.problem.severity, gap.problem.message) == (Severity.WARNING, "a is required and has no source.")


def test_a_note_that_holds_for_several_versions_stands_once_under_the_newest() -> None:
    world = World()
    world.entity("be", "1", "x:int32")
    world.schema("s", "1", "a")
    world.map("s@1:be@1", x="a")
    for label in ("2", "3", "4"):
        world.schema("s", label, "a", f"n{label}")
    (note,) = [p for p in check(world.document) if p.code == "mapping.type-differs"]
    assert note.place == "s@4:be@1"
    assert note.versions == ("1", "2", "3", "4")
    assert note.message.endswith("This holds for versions 1 to 4.")


def test_a_note_is_not_said_of_versions_between_for_which_it_does_not_hold() -> None:
    world = World()
    world.entity("be", "1", "x:int32")
    for label, type_ in zip("123456", ("string", "int32", "string", "string", "string", "int32"), strict=True):
        world.schema("s", label, f"a:{type_}", f"n{label}")
        world.map(f"s@{label}:be@1", x="a")
    (note,) = [p for p in check(world.document) if p.code == "mapping.type-differs"]
    assert note.message.endswith("This holds for 4 versions from 1 to 5.")


def test_errors_and_warnings_are_never_joined() -> None:
    world = mapped("1", "2", "3")
    world.schema("s", "4", "b")
    world.schema("s", "5", "b", "c")
    waiting = [p.place for p in check(world.document) if p.code == "mapping.needs-review"]
    assert waiting == ["s@4:be@1", "s@5:be@1"]
