"""What waits after an edit, worked out from what waited before, is what waits."""

from __future__ import annotations

from hypothesis import given, settings

from metl_gui.core.review import review_items
from metl_gui.core.review_index import ReviewIndex
from tests.helpers.histories import start, step, steps


@settings(max_examples=80, deadline=None)
@given(steps)
def test_following_any_history_keeps_the_list_that_reading_it_anew_gives(taken: list[tuple[str, int]]) -> None:
    world = start()
    index = ReviewIndex.of(world.document)
    for kind, seed in taken:
        seen = len(world.log)
        step(world, kind, seed)
        for transition in world.log[seen:]:
            index = index.after(transition.after, transition.change)
        assert index.items == review_items(world.document)
        assert {key for keys in index.groups.values() for key in keys} == {item.key for item in index.items}


def test_what_an_edit_did_not_touch_stays_the_same_object() -> None:
    world = start()
    world.map("s1@10:be1@10", a="a", b="b")
    world.map("s2@10:be1@10", a="a", d="d")
    world.schema("s1", "11", "a")
    index = ReviewIndex.of(world.document)
    transition = world.schema("s2", "11", "a")
    after = index.after(transition.after, transition.change)
    assert len(index.items) == 1
    assert len(after.items) == 2
    assert after.items[0] is index.items[0]
