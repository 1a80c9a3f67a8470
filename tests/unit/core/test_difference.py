"""What differs between two states and between two projects."""

from __future__ import annotations

from hypothesis import given

from metl_gui.core.differences.document_difference import compare, compare_by_names
from metl_gui.core.matrix.canonical import state_hash
from tests.helpers.histories import Steps, documents_of, steps


@given(steps)
def test_two_states_compare_alike_on_shared_columns_and_on_their_own(history: Steps) -> None:
    documents = documents_of(history)
    before, after = documents[len(documents) // 3], documents[-1]
    expected = compare(before, after)
    assert compare(before.merged(), after.merged()) == expected
    assert compare(before, after.merged()) == expected


@given(steps)
def test_nothing_differs_between_projects_exactly_when_their_hashes_are_equal(history: Steps) -> None:
    documents = documents_of(history)
    before, after = documents[len(documents) // 3], documents[-1]
    assert compare_by_names(before, after).is_empty == (state_hash(before) == state_hash(after))
    assert compare_by_names(after, after.merged()).is_empty


@given(steps)
def test_states_with_other_hashes_differ(history: Steps) -> None:
    documents = documents_of(history)
    before, after = documents[len(documents) // 2], documents[-1]
    assert not compare(before, after).is_empty or state_hash(before) == state_hash(after)
