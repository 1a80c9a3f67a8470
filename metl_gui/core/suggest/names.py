"""How much alike names are: the one scorer of the program, for all names of two versions at once.

Names are compared word by word, in any order; what stands at the beginning or the end of nearly every name of one side
is left out, and words of many names weigh less than rare ones. Words count as alike when they are the same in their
usual form, when one abbreviates the other, or when most of their letters agree. Names that were written without
separators are parted by the other side's words, and compared letter by letter too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.suggest.words import abbreviates, letters, parted, segments, usual

Scores = NDArray[np.float32]

_USUAL_FORM = 0.97
_LEAST_LETTERS = 0.72
_SHARE_OF_AFFIX = 0.8
_FEWEST_FOR_AFFIX = 4
_PARENT_WEIGHT = 0.55
_AFFIX_WEIGHT = 0.12


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a name.

    Args:
        usual: its usual form, by which it is compared.
        written: as it stands in the name.
        weight: how much it counts in its name.
    """

    usual: str
    written: str
    weight: float = 1.0


Names = list[tuple[Word, ...]]
Segments = tuple[tuple[str, ...], ...]


def alike(sources: Sequence[str], targets: Sequence[str]) -> Scores:
    """Compare all names of one side with all of the other.

    Shape: float32 of (sources, targets), 0 to 1; 1 only for names that are equal but for case and punctuation.
    """
    if not sources or not targets:
        return np.zeros((len(sources), len(targets)), np.float32)
    from rapidfuzz import fuzz, process  # compiled; only who compares names waits for it

    left, right = read_names(sources, targets)
    by_words = _by_words(left, right)
    wholes = [letters(path) for path in sources], [letters(path) for path in targets]
    by_letters = process.cdist(*wholes, scorer=fuzz.ratio, dtype=np.float32) / 100
    scores = np.maximum(by_words * np.float32(_USUAL_FORM), np.where(by_letters >= _LEAST_LETTERS, by_letters * 0.9, 0))
    ours, theirs = np.array(wholes[0]), np.array(wholes[1])
    is_same = (ours[:, None] == theirs[None, :]) & (ours != "")[:, None]
    return np.where(is_same, np.float32(1), scores).astype(np.float32)


def alike_texts(ours: Sequence[str], theirs: Sequence[str]) -> Scores:
    """Compare all pieces of documentation of one side with all of the other, by their words in any order.

    Shape: float32 of (ours, theirs), 0 to 1.
    """
    from rapidfuzz import fuzz, process

    plain = [[" ".join(word for part in segments(text) for word in part) for text in side] for side in (ours, theirs)]
    return np.asarray(process.cdist(*plain, scorer=fuzz.token_sort_ratio, dtype=np.float32) / 100, np.float32)


def differences(one: tuple[Word, ...], other: tuple[Word, ...]) -> tuple[tuple[str, str], ...]:
    """Pair words of two names that are written differently but alike, as they are written."""
    pairs: list[tuple[str, str]] = []
    for word in one:
        best = max(other, key=lambda each: word_alike(word.usual, each.usual), default=None)
        if best is None or best.written == word.written or (word.written, best.written) in pairs:
            continue
        if any(each.written == word.written for each in other) or word_alike(word.usual, best.usual) < _LEAST_LETTERS:
            continue
        pairs.append((word.written, best.written))
    return tuple(pairs)


def read_names(sources: Sequence[str], targets: Sequence[str]) -> tuple[Names, Names]:
    """Read the names of both sides into weighed words; each side's words part what the other wrote as one."""
    ours, theirs = ([segments(path) for path in side] for side in (sources, targets))
    vocabularies = [_vocabulary(side) for side in (ours, theirs)]
    return _weighed(ours, vocabularies[1]), _weighed(theirs, vocabularies[0])


@lru_cache(maxsize=65_536)
def word_alike(one: str, other: str) -> float:
    """Compare two words in their usual form: 0 to 1."""
    if one == other:
        return 1.0
    from rapidfuzz import fuzz

    short, long = sorted((one, other), key=len)
    ratio = fuzz.ratio(one, other) / 100
    return max(abbreviates(short, long), ratio * ratio if ratio >= _LEAST_LETTERS and len(short) > 2 else 0.0)


def _vocabulary(side: list[Segments]) -> frozenset[str]:
    return frozenset(word for name in side for part in name for word in part if len(word) > 1)


def _weighed(side: list[Segments], vocabulary: frozenset[str]) -> Names:
    part = cache(partial(parted, vocabulary=vocabulary))  # words come again and again within a side
    names = [_parted(name, part) for name in _without_letters(side)]
    first, last = _affixes(names)
    counts = Counter(word for name in names for word in {word.usual for word in name})
    whole = np.log1p(len(names))
    weighed: Names = []
    for name in names:
        words = []
        for at, word in enumerate(name):
            weight = word.weight * float(np.log1p(len(names) / counts[word.usual]) / whole)
            is_affix = (at == 0 and word.usual == first) or (at == len(name) - 1 and word.usual == last)
            words.append(Word(word.usual, word.written, weight * (_AFFIX_WEIGHT if is_affix else 1.0)))
        weighed.append(tuple(words))
    return weighed


def _parted(name: Segments, part_word: Callable[[str], tuple[str, ...]]) -> tuple[Word, ...]:
    words: list[Word] = []
    for depth, part in enumerate(name):
        weight = 1.0 if depth == len(name) - 1 else _PARENT_WEIGHT
        for text in part:
            for written in part_word(text):
                words += [Word(form, written, weight) for form in usual(written)]
    return tuple(words)


def _without_letters(side: list[Segments]) -> list[Segments]:
    """Leave out the letters that nearly every name begins with where names are written without separators."""
    single = [name[-1][0] for name in side if name[-1] and len(name[-1]) == 1]
    if len(single) < max(_FEWEST_FOR_AFFIX, _SHARE_OF_AFFIX * len(side)):
        return side
    first, count = Counter(word[:2] for word in single).most_common(1)[0]
    if len(first) < 2 or count < _SHARE_OF_AFFIX * len(side):
        return side
    low, high = min(word for word in single if word.startswith(first)), max(w for w in single if w.startswith(first))
    begin = low[: next((at for at, pair in enumerate(zip(low, high, strict=False)) if pair[0] != pair[1]), len(low))]
    return [tuple(tuple(_without(word, begin) for word in part) for part in name) for name in side]


def _without(word: str, begin: str) -> str:
    return word[len(begin) :] if word.startswith(begin) and len(word) > len(begin) else word


def _affixes(names: Names) -> tuple[str, str]:
    """Find the words that nearly every name of a side begins and ends with, empty where there is none."""
    long = [name for name in names if len(name) > 1]
    if len(long) < _FEWEST_FOR_AFFIX:
        return "", ""
    found = []
    for end in (0, -1):
        word, count = Counter(name[end].usual for name in long).most_common(1)[0]
        found.append(word if count >= _SHARE_OF_AFFIX * len(names) else "")
    return found[0], found[1]


def _by_words(left: Names, right: Names) -> Scores:
    """Share of the weight of both names that has its like in the other."""
    ours, theirs = (sorted({word.usual for name in side for word in name}) for side in (left, right))
    if not ours or not theirs:
        return np.zeros((len(left), len(right)), np.float32)
    words = _word_scores(ours, theirs)
    one = _covered(left, ours, _best_of(right, theirs, words.T))
    other = _covered(right, theirs, _best_of(left, ours, words)).T
    weights = _weights(left)[:, None], _weights(right)[None, :]
    whole = np.maximum(weights[0] + weights[1], 1e-6)
    return np.asarray((one + other) / whole, np.float32)


def _word_scores(ours: list[str], theirs: list[str]) -> Scores:
    """Shape: float32 of (ours, theirs)."""
    from rapidfuzz import fuzz, process

    ratio = process.cdist(ours, theirs, scorer=fuzz.ratio, dtype=np.float32) / 100
    lengths = [np.array([len(word) for word in side]) for side in (ours, theirs)]
    is_long = np.minimum(lengths[0][:, None], lengths[1][None, :]) > 2
    scores = np.where((ratio >= _LEAST_LETTERS) & is_long, ratio * ratio, 0).astype(np.float32)
    by_first: dict[str, list[int]] = {}
    for at, word in enumerate(theirs):
        by_first.setdefault(word[0], []).append(at)
    for row, word in enumerate(ours):
        for column in by_first.get(word[0], ()):
            short, long = sorted((word, theirs[column]), key=len)
            scores[row, column] = 1.0 if short == long else max(scores[row, column], abbreviates(short, long))
    return scores


def _best_of(side: Names, vocabulary: list[str], words: Scores) -> Scores:
    """For each word of the other side, how much alike the best word of each name is.

    Shape: ``words`` float32 of (vocabulary, other words); returns (names, other words).
    """
    at = {word: row for row, word in enumerate(vocabulary)}
    best = np.zeros((len(side), words.shape[1]), np.float32)
    for row, name in enumerate(side):
        if name:
            best[row] = words[[at[word.usual] for word in name]].max(axis=0)
    return best


def _covered(side: Names, vocabulary: list[str], best: Scores) -> Scores:
    """Weight of each name's words times how alike the best word of each name of the other side is."""
    at = {word: row for row, word in enumerate(vocabulary)}
    weights = np.zeros((len(side), len(vocabulary)), np.float32)
    for row, name in enumerate(side):
        for word in name:
            weights[row, at[word.usual]] += word.weight
    return weights @ best.T


def _weights(side: Names) -> Scores:
    return np.array([sum(word.weight for word in name) for name in side], np.float32)
