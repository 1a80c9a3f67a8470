"""No element is lost in silence: a ledger explains what became of each one, through any sequence of edits.

Source: docs/architecture/model.md, "Algorithms" (A5); docs/guide/change.md, "Reviewing".
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metl_gui.core.changes import update
from metl_gui.core.edits.review import ConfirmBlock
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Block
from metl_gui.core.review.items import review_items
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from tests.helpers.histories import DECISIONS, LINEAGES, Steps, edit_of, start
from tests.helpers.ledger import Fate, Ledger
from tests.helpers.world import World, declare

KINDS = ("add", "add", "insert", "insert", "map", "map", "unmap", "remove", "policy", "ask", "undo", "redo", "change")

histories = st.lists(
    st.tuples(st.sampled_from([*KINDS, *DECISIONS, *LINEAGES, "create", "bulk"]), st.integers(0, 1 << 30)),
    min_size=1,
    max_size=30,
)


def booked(history: Steps) -> tuple[World, Ledger]:
    """Play a history, with every accepted edit in the ledger."""
    world = start()
    ledger = Ledger(world.document)
    for kind, seed in history:
        edit = edit_of(world, kind, seed)
        if edit is None:
            continue
        try:
            transition = world.do(edit)
        except EditError:
            continue
        if not transition.change.is_empty:
            ledger.follow(edit, transition)
    return world, ledger


@given(histories)
@settings(max_examples=300)
def test_no_sequence_of_edits_loses_an_element_in_silence(history: Steps) -> None:
    booked(history)


def small() -> World:
    """Two elements, both confirmed."""
    world = World()
    world.schema("s", "1", "a", "b")
    world.entity("be", "1", "a", "b")
    world.map("s@1:be@1", a="a", b="b")
    return world


def test_the_ledger_tells_what_became_of_each_element() -> None:
    world = small()
    ledger = Ledger(world.document)
    add = AddVersion(Side.EXTRACTION, declare("s", ["a", "c"], "2"))
    ledger.follow(add, world.do(add))
    confirm = ConfirmBlock(review_items(world.document)[0].key)
    ledger.follow(confirm, world.do(confirm))
    newer = AddVersion(Side.CDM, declare("be", ["a", "b", "d"], "2"))
    ledger.follow(newer, world.do(newer))
    assert ledger.counts == {Fate.COPIED: 2 + 6, Fate.LOST: 1, Fate.ANSWERED: 1, Fate.MOVED: 3}


def test_the_ledger_does_not_balance_when_the_update_forgets_a_lost_element(monkeypatch: pytest.MonkeyPatch) -> None:
    world = small()
    copied = update._copied

    def forgetful(*arguments: object) -> Block:
        found: Block = copied(*arguments)  # type: ignore[arg-type]
        return Block(*found.key, found.elements)

    monkeypatch.setattr(update, "_copied", forgetful)
    add = AddVersion(Side.EXTRACTION, declare("s", ["a"], "2"))
    with pytest.raises(AssertionError, match=r"\('b', 'b'\) was lost in silence"):
        Ledger(world.document).follow(add, world.do(add))


def test_the_ledger_does_not_balance_when_an_edit_takes_an_element_that_it_was_not_asked_for() -> None:
    world = small()
    confirm = ConfirmBlock(world.key("s@1:be@1"))
    ledger = Ledger(world.document)
    with pytest.raises(AssertionError, match="vanished"):
        ledger.follow(confirm, world.do(world.clearing("s@1:be@1", "b", "b")))
