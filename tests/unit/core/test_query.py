"""What a filter box understands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.search.query import Query, Term, TermKind, parse


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("iban", [Term(TermKind.WORD, "iban")]),
        ("type:INT64", [Term(TermKind.TYPE, "int64")]),
        ("is:unm", [Term(TermKind.IS, "unmapped")]),
        ("-is:key", [Term(TermKind.IS, "key", is_negated=True)]),
        ("changed:ty", [Term(TermKind.CHANGED, "type")]),
        ("in:orders", [Term(TermKind.IN, "orders")]),
        ('"first name" -draft', [Term(TermKind.WORD, "first name"), Term(TermKind.WORD, "draft", is_negated=True)]),
        ('in:"new orders"', [Term(TermKind.IN, "new orders")]),
        ("http://id", [Term(TermKind.WORD, "http://id")]),
    ],
)
def test_a_text_is_read_as_its_terms(text: str, terms: list[Term]) -> None:
    assert parse(text) == Query(tuple(terms))


@pytest.mark.parametrize("text", ["", "  ", "-", "is:", "type:", "in:", '"', '-"', "changed:"])
def test_a_term_that_is_still_being_typed_hides_nothing(text: str) -> None:
    assert parse(text).is_empty


@pytest.mark.parametrize("text", ["is:green", "changed:colour", "-is:odd"])
def test_a_value_that_means_nothing_is_named(text: str) -> None:
    assert parse(f"iban {text}") == Query((Term(TermKind.WORD, "iban"),), (text,))


@given(st.text(max_size=30))
def test_no_text_is_refused(text: str) -> None:
    assert all(term.value for term in parse(text).terms)
