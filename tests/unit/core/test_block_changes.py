"""Which blocks two states of one project differ in, and which nobody has confirmed, read off the columns."""

from __future__ import annotations

from hypothesis import given
from msgspec.structs import replace

from metl_gui.core.changes.draft import Draft, EditContext
from metl_gui.core.changes.second_person import unconfirmed_keys
from metl_gui.core.differences.changed_parts import changed_blocks
from metl_gui.core.matrix.blocks import Status
from tests.helpers.histories import Steps, documents_of, steps


@given(steps)
def test_exactly_the_blocks_that_differ_are_named_in_both_directions(history: Steps) -> None:
    documents = documents_of(history)
    one, other = documents[len(documents) // 3], documents[-1]
    keys = {block.key for document in (one, other) for block in document.matrix.blocks()}
    differing = tuple(sorted(key for key in keys if one.matrix.block(*key) != other.matrix.block(*key)))
    assert changed_blocks(one.matrix, other.matrix) == differing
    assert changed_blocks(other.matrix, one.matrix) == differing


@given(steps)
def test_nothing_is_said_of_states_that_share_no_columns(history: Steps) -> None:
    document = documents_of(history)[-1]
    assert changed_blocks(document.matrix, document.merged().matrix) is None


@given(steps)
def test_unconfirmed_blocks_are_found_in_the_columns_and_above_them(history: Steps) -> None:
    document = documents_of(history)[-1].merged()
    draft = Draft(document, EditContext())
    for number, block in enumerate(document.matrix.blocks()):
        if number % 2:
            draft.put_block(replace(block, status=(Status.UNCONFIRMED, Status.CONFIRMED)[number % 4 // 2]))
    edited = draft.finish("").after
    for each in (edited, edited.merged()):
        expected = sorted(b.key for b in each.matrix.blocks() if b.status is Status.UNCONFIRMED)
        assert unconfirmed_keys(each.matrix) == expected
