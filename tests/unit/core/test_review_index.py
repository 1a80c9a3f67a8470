"""What waits after an edit, worked out from what waited before, is what waits."""

from __future__ import annotations

from hypothesis import given, settings

from metl_gui.core.review.items import review_items
from metl_gui.ui.project.document import ReviewIndex
from tests.helpers.histories import Steps, start, step, steps


@settings(max_examples=80, deadline=None)
@given(steps)
def test_following_any_history_keeps_the_list_that_reading_it_anew_gives(taken: Steps) -> None:
    world = start()
    index = ReviewIndex.of(world.document)
    for kind, seed in taken:
        seen = len(world.log)
        step(world, kind, seed)
        for transition in world.log[seen:]:
            index = index.after(transition.after, transition.change)
        assert index.items == review_items(world.document)
        assert {key for keys in index.groups.values() for key in keys} == {item.key for item in index.items}


@settings(max_examples=60, deadline=None)
@given(steps)
def test_looking_at_any_other_state_gives_the_list_that_reading_it_anew_gives(taken: Steps) -> None:
    world = start()
    documents = [world.document]
    for at, (kind, seed) in enumerate(taken):
        step(world, kind, seed)
        if at == len(taken) // 2:
            world.document = world.document.merged()
        documents.append(world.document)
    index = ReviewIndex.of(documents[0])
    for document in (*documents, *reversed(documents)):
        index = index.followed(document)
        assert index.items == review_items(document)


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
