"""How well a few letters name a text: the letters in order, the better the closer they stand to beginnings of words."""

from __future__ import annotations

_BEGINS_WORD = 8.0
_FOLLOWS = 5.0
_FIRST = 4.0
_GAP = 0.3
_LENGTH = 0.05


def score(letters: str, text: str) -> float | None:
    """Rate a text for what was typed, ``None`` when the letters do not occur in this order.

    Each word that was typed is looked for by itself, so their order does not matter.

    Source: the usual subsequence match of editors' palettes; of the places where a word can begin the best counts.
    """
    lowered = text.lower()
    total = 0.0
    for word in letters.lower().split():
        starts = [at for at, letter in enumerate(lowered) if letter == word[0]]
        rated = [rate for at in starts if (rate := _score_from(word, lowered, at)) is not None]
        if not rated:
            return None
        total += max(rated)
    return total - _LENGTH * len(text)


def _score_from(word: str, text: str, start: int) -> float | None:
    rate, before = _FIRST if start == 0 else 0.0, start - 1
    for offset, letter in enumerate(word):
        at = text.find(letter, before + 1)
        if at < 0:
            return None
        if at == 0 or not text[at - 1].isalnum():
            rate += _BEGINS_WORD
        elif offset and at == before + 1:
            rate += _FOLLOWS
        if offset:
            rate -= _GAP * (at - before - 1)
        before = at
    return rate
