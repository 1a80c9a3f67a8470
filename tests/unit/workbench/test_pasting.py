"""Snippets from the clipboard: two columns for a block, or the columns of the mapping table, with or without header."""

from __future__ import annotations

import pytest

from metl_gui.core.changes.draft import perform
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.errors import SchemaError
from metl_gui.workbench.mapping.clipboard import Paste, plan_paste, snippet
from tests.helpers.world import World


@pytest.fixture
def world() -> World:
    made = World()
    made.entity("e", "1", "x", "y", "z")
    made.schema("s", "1", "a", "b", "c")
    return made


def pasted(world: World, done: Paste) -> set[tuple[str, str]]:
    world.document = perform(world.document, CompositeEdit(done.title, done.edits)).after
    return world.pairs("s@1:e@1")


@pytest.mark.parametrize("text", ["a\tx\nb\ty\n", "a;x\nb;y", "source,target\na,x\nb,y", "a\tx\r\n\r\nb\ty\r\n"])
def test_two_columns_are_source_and_target_of_the_selected_block(world: World, text: str) -> None:
    done = plan_paste(world.document, text, world.key("s@1:e@1"))
    assert pasted(world, done) == {("x", "a"), ("y", "b")}
    assert not done.names_versions
    assert done.title == "Map 2 attributes from the clipboard"


def test_two_columns_without_a_block_are_refused_with_what_to_do(world: World) -> None:
    with pytest.raises(SchemaError, match="no block is selected"):
        plan_paste(world.document, "a\tx", None)


@pytest.mark.parametrize("has_header", [True, False])
def test_whole_rows_are_taken_with_and_without_their_header(world: World, has_header: bool) -> None:
    header = "schema\tschema_version\tattribute\tentity\tentity_version\tcdm_attribute\n" if has_header else ""
    done = plan_paste(world.document, header + "s\t1\ta\te\t1\tx\ns\t1\tc\te\t1\tz\n", None)
    assert done.names_versions
    assert pasted(world, done) == {("x", "a"), ("z", "c")}


def test_one_conflict_leaves_everything_as_it_was_and_names_its_line(world: World) -> None:
    world.map("s@1:e@1", x="c")
    done = plan_paste(world.document, "b\ty\na\tx\n", world.key("s@1:e@1"))
    assert not done.edits
    assert [conflict.line for conflict in done.conflicts] == [2]
    assert "shares an end" in done.conflicts[0].reason


def test_a_name_that_is_not_known_is_a_conflict_with_its_line_counted_without_a_header(world: World) -> None:
    done = plan_paste(world.document, "s\t1\ta\te\t1\tx\ns\t1\tnone\te\t1\ty", None)
    assert not done.edits
    assert [conflict.line for conflict in done.conflicts] == [2]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a\tx\nb\n", "It has 1 column, not source and target."),
        ("a\tx\nb\ty\tz\n", "It has 3 columns, not source and target."),
        ("a\tx\nb\t\n", "It names no target."),
        ("a\tx\n\ty\n", "It names no source."),
    ],
)
def test_a_line_that_is_no_pair_is_a_conflict_and_is_not_left_out(world: World, text: str, reason: str) -> None:
    done = plan_paste(world.document, text, world.key("s@1:e@1"))
    assert not done.edits
    assert [(conflict.line, conflict.reason) for conflict in done.conflicts] == [(2, reason)]


def test_a_line_with_too_few_columns_is_counted_without_a_header(world: World) -> None:
    done = plan_paste(world.document, "s\t1\ta\te\t1\tx\ns\t1\tb\n", None)
    assert not done.edits
    assert [conflict.line for conflict in done.conflicts] == [2]


def test_what_is_copied_as_a_table_can_be_pasted_again(world: World) -> None:
    world.map("s@1:e@1", x="a", y="b")
    block = world.block("s@1:e@1")
    text = snippet(world.document, {block.key: block.elements})
    done = plan_paste(world.document, text, None)
    assert (done.changed, done.unchanged, done.conflicts) == (0, 2, ())


@pytest.mark.parametrize("text", ["only some words", "a\tb\tc", "a" * 200_000, "a\tx\nb\t" + "y" * 200_000])
def test_something_else_is_refused_and_says_what_fits(world: World, text: str) -> None:
    with pytest.raises(SchemaError, match="no mapping table") as refused:
        plan_paste(world.document, text, world.key("s@1:e@1"))
    assert "two columns" in refused.value.hint
