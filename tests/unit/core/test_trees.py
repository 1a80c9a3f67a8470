"""Trees: what is asked of the columns and of the overlay together."""

from __future__ import annotations

from metl_gui.core.trees.nodes import Schema
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
