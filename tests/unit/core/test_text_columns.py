"""Texts searched all at once, against Python's own search, text by text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.trees.text_columns import ABSENT, EXACT, INSIDE, STARTS, WORD_STARTS, Haystack
from metl_gui.core.trees.trees import TextTable

TEXTS = st.lists(st.text(st.sampled_from("aAbBé_. ß日"), max_size=6), max_size=12)
WORDS = st.text(st.sampled_from("aAbBé_.ß日"), min_size=1, max_size=3)


@given(TEXTS, WORDS)
def test_a_text_has_a_word_when_python_finds_it_there_in_lower_case(texts: list[str], word: str) -> None:
    expected = [word.lower() in text.lower() for text in texts]
    assert Haystack.of(texts).having(word).tolist() == expected
    assert Haystack.on(TextTable.of(texts)).having(word).tolist() == expected


@given(TEXTS, WORDS)
def test_a_word_that_is_absent_has_no_rank_and_one_that_is_there_has_one(texts: list[str], word: str) -> None:
    hay = Haystack.of(texts)
    assert [rank != ABSENT for rank in hay.ranks(word)] == hay.having(word).tolist()


def test_the_best_place_of_a_word_in_a_text_decides_its_rank() -> None:
    texts = ["id", "id_type", "customer.id", "paid", "paid.id", "name", ""]
    ranks = Haystack.of(texts).ranks("ID").tolist()
    assert ranks == [EXACT, STARTS, WORD_STARTS, INSIDE, WORD_STARTS, ABSENT, ABSENT]


def test_a_word_is_not_found_across_two_texts() -> None:
    assert Haystack.of(["ab", "cd"]).having("bc").tolist() == [False, False]
