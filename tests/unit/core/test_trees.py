"""Trees: what is asked of the columns and of the overlay together; lists of paths as one text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.trees.nodes import Schema
from metl_gui.core.trees.paths import escape, join_list, split_list
from metl_gui.core.trees.trees import Tree


def with_schema(tree: Tree, id_: int, schema: Schema | None) -> Tree:
    draft = tree.draft()
    draft.put_schema(id_, schema)
    return draft.finish()


def test_a_tree_has_schemas_while_the_columns_or_the_overlay_have_one_that_is_not_removed() -> None:
    first, second = (Schema(id_, f"schema{id_}", ()) for id_ in (1, 2))
    tree = Tree.of([first])
    removed = with_schema(tree, 1, None)
    assert not Tree.of().has_schemas
    assert tree.has_schemas
    assert not removed.has_schemas
    assert with_schema(removed, 2, second).has_schemas
    assert with_schema(Tree.of(), 2, second).has_schemas


@given(st.lists(st.text(alphabet="ab,.\\ ", min_size=1, max_size=6).map(escape), min_size=1))
def test_a_list_of_paths_is_read_as_it_was_written_whatever_stands_in_the_names(listed: list[str]) -> None:
    assert split_list(join_list(listed)) == listed


@pytest.mark.parametrize("text", ["", "a", "a,b.c", "a, b", "a,,b", "a\\.b,c", "a\\\\,b", "a\\"])
def test_a_list_without_commas_in_names_is_parted_at_every_comma(text: str) -> None:
    assert split_list(text) == text.split(",")
    assert join_list(split_list(text)) == text
