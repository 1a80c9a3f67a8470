"""One glossary: the words of the documentation mean what Help says, and none is said twice."""

from __future__ import annotations

import re

from metl_gui.core.glossary import ALL_WORDS, meaning
from tests.helpers import documents


def words_of_the_page() -> dict[str, str]:
    text = (documents.PAGES / "glossary.md").read_text("utf-8")
    table = text[text.index("| word | means |") :].split("\n\n")[0].splitlines()[2:]
    rows = [re.fullmatch(r"\| (.+?) \| (.+?) \|(?: .+ \|)?", line) for line in table]
    return {row[1]: row[2] for row in rows if row is not None}


def test_documentation_and_window_have_the_same_words_with_the_same_meaning() -> None:
    assert words_of_the_page() == {entry.word: entry.means for entry in ALL_WORDS}
    assert all(meaning(entry.word) == entry.means for entry in ALL_WORDS)


def test_a_word_stands_once_and_is_not_explained_by_itself() -> None:
    words = [entry.word for entry in ALL_WORDS]
    assert len(set(words)) == len(words)
    assert [entry.word for entry in ALL_WORDS if entry.means.startswith(entry.word)] == []
    assert [entry.word for entry in ALL_WORDS if entry.means.endswith(".")] == []
