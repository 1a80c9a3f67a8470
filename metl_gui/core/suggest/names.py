"""How much alike names are: the one scorer of the program, for all names of two versions at once.

Names are compared word by word, in any order; what stands at the beginning or the end of nearly every name of one side
is left out, and words of many names weigh less than rare ones. Words count as alike when they are the same in their
usual form, when one abbreviates the other, or when most of their letters agree. Names that were written without
separators are parted by the other side's words, and compared letter by letter too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.suggest.words import abbreviates, letters, parted, segments, usual
from metl_gui.values import Value

Scores = NDArray[np.float32]

_USUAL_FORM = 0.97
_LEAST_LETTERS = 0.72
_SHARE_OF_AFFIX = 0.8
_FEWEST_FOR_AFFIX = 4
_PARENT_WEIGHT = 0.55
_AFFIX_WEIGHT = 0.12

_MOST_KEPT_NAMES = 1_000
"""Names of longer sides are read each time; shorter ones come again with each block of their version."""

_MOST_AT_ONCE = 1 << 20
_FEWEST_TO_PART = 5


class NameToken(Value):
    """A word of a name.

    Args:
        usual: its usual form, by which it is compared.
        written: as it stands in the name.
        weight: how much it counts in its name.
    """

    usual: str
    written: str
    weight: float = 1.0


Names = list[tuple[NameToken, ...]]
Segments = tuple[tuple[str, ...], ...]
Parts = frozenset[tuple[str, tuple[str, ...]]]
"""Words of a side that were written as one, each with what it is made of."""


class _Spelled(Value, eq=False, dict=True):
    """Names of one side, cut into words as they are written.

    Args:
        segments: without the letters that nearly every name begins with.
        vocabulary: what may part words of the other side.
        long: the words that may be parted.
    """

    segments: list[Segments]
    vocabulary: frozenset[str]
    long: frozenset[str]

    @cached_property
    def _text(self) -> str:
        return " ".join(sorted(self.long))

    def parted(self, vocabulary: frozenset[str]) -> Parts:
        """Part the words of this side by those of the other; words that stay whole are left out."""
        inner = [word for word in vocabulary if self._text.count(word) > (word in self.long)]
        may_be = [text for text in self.long if any(word in text and word != text for word in inner)] if inner else []
        found = ((text, parted(text, vocabulary)) for text in may_be)
        return frozenset((text, parts) for text, parts in found if len(parts) > 1)


class _Read(Value, eq=False, dict=True):
    """Names of one side, read into weighed words, in columns as they are compared.

    Shape: ``words`` and ``lengths`` say which words of the vocabulary stand in each name, name after name; ``weights``
    is float32 of the same words, ``wholes`` float32 of names.
    """

    names: Names

    @cached_property
    def vocabulary(self) -> list[str]:
        return sorted({word.usual for name in self.names for word in name})

    @cached_property
    def words(self) -> NDArray[np.intp]:
        at = {word: row for row, word in enumerate(self.vocabulary)}
        return np.array([at[word.usual] for name in self.names for word in name], np.intp)

    @cached_property
    def lengths(self) -> NDArray[np.intp]:
        return np.array([len(name) for name in self.names], np.intp)

    @cached_property
    def weights(self) -> Scores:
        return np.array([word.weight for name in self.names for word in name], np.float32)

    @cached_property
    def wholes(self) -> Scores:
        return np.array([sum(word.weight for word in name) for name in self.names], np.float32)


def alike(sources: Sequence[str], targets: Sequence[str]) -> Scores:
    """Compare all names of one side with all of the other.

    Shape: float32 of (sources, targets), 0 to 1; 1 only for names that are equal but for case and punctuation.
    """
    return alike_each(sources, (targets,))[0]


def alike_each(sources: Sequence[str], others: Sequence[Sequence[str]]) -> list[Scores]:
    """Compare all names of one side with all of several others: what ``alike`` returns for each of them.

    Each of the other sides is read by itself; only the arithmetic is done for all of them at once.

    Shape: for each of the others float32 of (sources, its names).
    """
    targets = [path for side in others for path in side]
    ends = np.cumsum([len(side) for side in others])[:-1]
    if not sources or not targets:
        return [np.zeros((len(sources), len(side)), np.float32) for side in others]
    from rapidfuzz import fuzz, process  # compiled; only who compares names waits for it

    by_words = _by_words_each(sources, others)
    wholes = [letters(path) for path in sources], [letters(path) for path in targets]
    by_letters = process.cdist(*wholes, scorer=fuzz.ratio, dtype=np.float32) / 100
    scores = np.maximum(by_words * np.float32(_USUAL_FORM), np.where(by_letters >= _LEAST_LETTERS, by_letters * 0.9, 0))
    ours, theirs = np.array(wholes[0]), np.array(wholes[1])
    is_same = (ours[:, None] == theirs[None, :]) & (ours != "")[:, None]
    return np.split(np.where(is_same, np.float32(1), scores).astype(np.float32), ends, axis=1)


def alike_texts(ours: Sequence[str], theirs: Sequence[str]) -> Scores:
    """Compare all pieces of documentation of one side with all of the other, by their words in any order.

    Shape: float32 of (ours, theirs), 0 to 1.
    """
    from rapidfuzz import fuzz, process

    plain = [[" ".join(word for part in segments(text) for word in part) for text in side] for side in (ours, theirs)]
    return np.asarray(process.cdist(*plain, scorer=fuzz.token_sort_ratio, dtype=np.float32) / 100, np.float32)


def differences(one: tuple[NameToken, ...], other: tuple[NameToken, ...]) -> tuple[tuple[str, str], ...]:
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
    ours, theirs = _read_sides(sources, targets)
    return ours.names, theirs.names


def _read_sides(sources: Sequence[str], targets: Sequence[str]) -> tuple[_Read, _Read]:
    keys = tuple(sources), tuple(targets)
    ours, theirs = (_spelled(key) if len(key) <= _MOST_KEPT_NAMES else _spelled.__wrapped__(key) for key in keys)
    return _read(keys[0], ours, theirs.vocabulary), _read(keys[1], theirs, ours.vocabulary)


@lru_cache(maxsize=256)
def _spelled(paths: tuple[str, ...]) -> _Spelled:
    written = [segments(path) for path in paths]
    names = _without_letters(written)
    long = frozenset(word for name in names for part in name for word in part if len(word) >= _FEWEST_TO_PART)
    return _Spelled(names, _vocabulary(written), long)


def _read(paths: tuple[str, ...], spelled: _Spelled, vocabulary: frozenset[str]) -> _Read:
    parts = spelled.parted(vocabulary)
    return _kept_reading(paths, parts) if len(paths) <= _MOST_KEPT_NAMES else _Read(_weighed(spelled.segments, parts))


@lru_cache(maxsize=256)
def _kept_reading(paths: tuple[str, ...], parts: Parts) -> _Read:
    return _Read(_weighed(_spelled(paths).segments, parts))


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


def _weighed(side: list[Segments], parts: Parts) -> Names:
    made_of = dict(parts)
    names = [_in_words(name, made_of) for name in side]
    first, last = _affixes(names)
    counts = Counter(word for name in names for word in {word.usual for word in name})
    whole = np.log1p(len(names))
    weighed: Names = []
    for name in names:
        words = []
        for at, word in enumerate(name):
            weight = word.weight * float(np.log1p(len(names) / counts[word.usual]) / whole)
            is_affix = (at == 0 and word.usual == first) or (at == len(name) - 1 and word.usual == last)
            words.append(NameToken(word.usual, word.written, weight * (_AFFIX_WEIGHT if is_affix else 1.0)))
        weighed.append(tuple(words))
    return weighed


def _in_words(name: Segments, made_of: Mapping[str, tuple[str, ...]]) -> tuple[NameToken, ...]:
    words: list[NameToken] = []
    for depth, part in enumerate(name):
        weight = 1.0 if depth == len(name) - 1 else _PARENT_WEIGHT
        for text in part:
            for written in made_of.get(text, (text,)):
                words += [NameToken(form, written, weight) for form in usual(written)]
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


def _by_words_each(sources: Sequence[str], others: Sequence[Sequence[str]]) -> Scores:
    """Compare by words; sides that read the sources alike are taken together.

    Shape: float32 of (sources, names of all others in their order).
    """
    pairs = [_read_sides(sources, side) for side in others if side]
    groups: dict[int, list[int]] = {}
    for at, (ours, _) in enumerate(pairs):
        groups.setdefault(id(ours), []).append(at)
    found: dict[int, Scores] = {}
    for group in groups.values():
        sides = [pairs[at][1] for at in group]
        whole = sides[0] if len(sides) == 1 else _Read([name for side in sides for name in side.names])
        ends = np.cumsum([len(side.names) for side in sides])[:-1]
        found |= zip(group, np.split(_by_words(pairs[group[0]][0], whole), ends, axis=1), strict=True)
    return np.concatenate([found[at] for at in range(len(pairs))], axis=1)


def _by_words(left: _Read, right: _Read) -> Scores:
    """Share of the weight of both names that has its like in the other."""
    if not left.vocabulary or not right.vocabulary:
        return np.zeros((len(left.names), len(right.names)), np.float32)
    words = _word_scores(left.vocabulary, right.vocabulary)
    one = _weight_found(left, _best_of(right, words.T).T)
    other = _weight_found(right, _best_of(left, words).T).T
    whole = np.maximum(left.wholes[:, None] + right.wholes[None, :], 1e-6)
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


def _best_of(side: _Read, words: Scores) -> Scores:
    """For each word of the other side, how much alike the best word of each name is.

    Shape: ``words`` float32 of (vocabulary, other words); returns (names, other words).
    """
    best = np.zeros((len(side.names), words.shape[1]), np.float32)
    for names, found, offsets in _by_name(side, words):
        best[names] = np.maximum.reduceat(words[side.words[found]], offsets, axis=0)
    return best


def _weight_found(side: _Read, best: Scores) -> Scores:
    """For each name, how much weight of its words has its like in each name of the other side.

    Shape: ``best`` float32 of (vocabulary, other names); returns (names, other names).
    """
    weight = np.zeros((len(side.names), best.shape[1]), np.float32)
    for names, found, offsets in _by_name(side, best):
        weight[names] = np.add.reduceat(best[side.words[found]] * side.weights[found, None], offsets, axis=0)
    return weight


def _by_name(side: _Read, scores: Scores) -> Iterator[tuple[NDArray[np.intp], slice, NDArray[np.intp]]]:
    """Yield the names that have words in groups that fit in memory: the names, their words, where each name begins.

    Shape: ``scores`` float32 of (vocabulary, others).
    """
    filled = np.flatnonzero(side.lengths)
    ends = np.cumsum(side.lengths)
    step = max(1, _MOST_AT_ONCE // max(1, scores.shape[1] * int(side.lengths.max(initial=1))))
    for low in range(0, len(filled), step):
        names = filled[low : low + step]
        starts = ends[names] - side.lengths[names]
        yield names, slice(int(starts[0]), int(ends[names[-1]])), starts - starts[0]
