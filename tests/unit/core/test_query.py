"""What a filter box understands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.search.query import Kind, Query, Term, parse


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("iban", [Term(Kind.WORD, "iban")]),
        ("type:INT64", [Term(Kind.TYPE, "int64")]),
        ("is:unm", [Term(Kind.IS, "unmapped")]),
        ("-is:key", [Term(Kind.IS, "key", is_negated=True)]),
        ("changed:ty", [Term(Kind.CHANGED, "type")]),
        ("in:orders", [Term(Kind.IN, "orders")]),
        ('"first name" -draft', [Term(Kind.WORD, "first name"), Term(Kind.WORD, "draft", is_negated=True)]),
        ('in:"new orders"', [Term(Kind.IN, "new orders")]),
        ("http://id", [Term(Kind.WORD, "http://id")]),
    ],
)
def test_a_text_is_read_as_its_terms(text: str, terms: list[Term]) -> None:
    assert parse(text) == Query(tuple(terms))


@pytest.mark.parametrize("text", ["", "  ", "-", "is:", "type:", "in:", '"', '-"', "changed:"])
def test_a_term_that_is_still_being_typed_hides_nothing(text: str) -> None:
    assert parse(text).is_empty


@pytest.mark.parametrize("text", ["is:green", "changed:colour", "-is:odd"])
def test_a_value_that_means_nothing_is_named(text: str) -> None:
    assert parse(f"iban {text}") == Query((Term(Kind.WORD, "iban"),), (text,))


@given(st.text(max_size=30))
def test_no_text_is_refused(text: str) -> None:
    assert all(term.value for term in parse(text).terms)
