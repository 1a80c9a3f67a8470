"""How likely new attributes of a version are the new names of lost ones: names, moves, places, documentation, values.

All pairs are weighed at once. What two attributes have in common with everything around them says nothing: the parent
they share, a last name that stands under every parent.
Source: docs/architecture/model.md, "Trees, versions, lineages".
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from metl_gui.core.suggest.names import Scores, alike, alike_texts
from metl_gui.core.suggest.values import forms_meet
from metl_gui.core.suggest.words import letters
from metl_gui.core.trees import paths
from metl_gui.core.trees.nodes import Attribute
from metl_gui.core.trees.types import is_widening
from metl_gui.values import Value

Values = Mapping[int, frozenset[str]]
"""Some values of attributes, as text, by attribute id."""

LEAST_DOC, SAME_DOC = 0.75, 0.95
_OTHER_DOC = 0.5
_DOC_SHARE, _PLACE_SHARE, _VALUES_SHARE, _SAID_SHARE = 0.6, 0.34, 0.6, 0.85
_DOCS_DIFFER, _VALUES_DIFFER, _TYPE_WIDENED = 0.8, 0.6, 0.85
_REWRITTEN_SHARE, _FEWEST_REWRITTEN, _LEAST_REWRITTEN = 0.42, 4, 0.8
"""How much a place says where a row of so many attributes was written anew, of which most keep their types."""

_FEWEST_VALUES = 3
_FEW_IN_COMMON = 0.05
_FEWEST_LETTERS_OF_DOC = 12
_ELSEWHERE = 0.85
_MOVED_ALONE, _MOVED_TOGETHER = 0.62, 0.95
_OTHER_PARENT = 0.6
_WORDS = re.compile(r"\w[\w.]*\w|\w")
_CUES = ("deprecat", "renam", "replac", "former", "previous", "instead", "obsolete", "legacy", "superse", "was called")

Prefixes = tuple[tuple[str, ...], tuple[str, ...]]
"""What stood before a name, and what stands before it now."""


class Around(Value, eq=False, dict=True):
    """A list of attributes that some were picked from, in order; what is read off it is read once.

    Args:
        attributes: all of the version.
        kept: lineages that both versions have; they do not move.
    """

    attributes: tuple[Attribute, ...]
    kept: frozenset[int]

    @cached_property
    def parents(self) -> Counter[str]:
        """Under how many parents each last name stands."""
        return Counter(letters(parted(a.path)[-1]) for a in self.attributes)

    @cached_property
    def gaps(self) -> Gaps:
        """What stands between those that stayed."""
        return _gaps(self)


@dataclass(slots=True)
class Gaps:
    """Attributes between two that stayed.

    Args:
        at: by attribute id: the lineages before and behind the gap, and the place in it.
        types: by those two lineages, the types in the gap.
    """

    at: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    types: dict[tuple[int, int], list[tuple[str, str]]] = field(default_factory=dict)


class Renames(Value):
    """Everything known of the pairs of lost attributes and new ones.

    Shape: all arrays are of (lost, new). ``scores`` is 0 to 1, and 0 where the types forbid it; ``docs`` is -1 where
    one of the two has none, ``values`` where not enough are known.
    """

    scores: Scores
    names: Scores
    places: Scores
    docs: Scores
    values: Scores
    said: NDArray[np.bool_]
    widened: NDArray[np.bool_]
    moves: Mapping[tuple[int, int], tuple[Prefixes, int]] = msgspec.field(default_factory=dict)


def weigh_renames(
    lost: Sequence[Attribute],
    new: Sequence[Attribute],
    before: Around,
    after: Around,
    values: Values | None = None,
) -> Renames:
    """Weigh all pairs.

    Args:
        lost: attributes that are gone.
        new: attributes that may be what they are called now.
        before, after: the versions they stand in.
        values: of attributes of both versions, where samples are at hand.
    """
    same, widened = _types(lost, new)
    moves = _moves(lost, new, same | widened)
    names = _names(lost, new, moves, (before, after))
    places, rewritten = _places(lost, new, before, after)
    docs, alike_values = _docs(lost, new), _alike_values(lost, new, values)
    said = _said(lost, new)
    scores = names.copy()
    scores += (1 - scores) * _DOC_SHARE * np.clip((docs - LEAST_DOC) / (SAME_DOC - LEAST_DOC), 0, 1)
    scores += (1 - scores) * _VALUES_SHARE * np.maximum(alike_values, 0)
    scores += (1 - scores) * np.where(rewritten, _REWRITTEN_SHARE, _PLACE_SHARE) * places
    scores += (1 - scores) * _SAID_SHARE * said
    scores *= np.where((docs >= 0) & (docs < _OTHER_DOC), _DOCS_DIFFER, 1)
    scores *= np.where((alike_values >= 0) & (alike_values < _FEW_IN_COMMON), _VALUES_DIFFER, 1)
    scores *= np.where(same, 1, np.where(widened, _TYPE_WIDENED, 0))
    return Renames(scores.astype(np.float32), names, places, docs, alike_values, said, widened & ~same, moves)


def _types(lost: Sequence[Attribute], new: Sequence[Attribute]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which pairs have the same type, and which one that can be read as the other."""
    kinds = [{(a.type, a.logical, a.scale): a for a in side} for side in (lost, new)]
    at = [{kind: row for row, kind in enumerate(side)} for side in kinds]
    rows, columns = (
        [place[a.type, a.logical, a.scale] for a in side] for place, side in zip(at, (lost, new), strict=True)
    )
    ours, theirs = (list(side.values()) for side in kinds)
    same = np.array([[(a.type, a.logical) == (b.type, b.logical) for b in theirs] for a in ours], np.bool_)
    widened = np.array([[is_widening(a, b) or _are_texts(a, b) for b in theirs] for a in ours], np.bool_)
    return same[np.ix_(rows, columns)], widened[np.ix_(rows, columns)]


def _are_texts(one: Attribute, other: Attribute) -> bool:
    """Whether both are texts, of which at most one says what kind of text."""
    return one.type == other.type == "string" and not (one.logical and other.logical)


@lru_cache(maxsize=65_536)
def parted(path: str) -> tuple[str, ...]:
    """Split a path into names; one that cannot be split is one name."""
    try:
        return paths.split(path)
    except ValueError:
        return (path,)


def prefixes(lost: str, new: str) -> Prefixes:
    """Return what stands before the names that two paths end in alike, at least the last of each."""
    one, other = parted(lost), parted(new)
    at = 1
    while at < min(len(one), len(other)) and letters(one[-at - 1]) == letters(other[-at - 1]):
        at += 1
    return one[:-at], other[:-at]


def _moves(
    lost: Sequence[Attribute], new: Sequence[Attribute], fits: NDArray[np.bool_]
) -> dict[tuple[int, int], tuple[Prefixes, int]]:
    """Find the pairs with the same last name under other parents, each with how many others moved the same way."""
    by_name: dict[str, list[int]] = defaultdict(list)
    for column, attribute in enumerate(new):
        by_name[letters(parted(attribute.path)[-1])].append(column)
    found: dict[tuple[int, int], Prefixes] = {}
    for row, attribute in enumerate(lost):
        name = letters(parted(attribute.path)[-1])
        for column in by_name.get(name, ()) if name else ():
            between = prefixes(attribute.path, new[column].path)
            if between[0] != between[1] and fits[row, column]:
                found[row, column] = between
    together = Counter(found.values())
    return {pair: (between, together[between]) for pair, between in found.items()}


def _names(
    lost: Sequence[Attribute],
    new: Sequence[Attribute],
    moves: Mapping[tuple[int, int], tuple[Prefixes, int]],
    sides: tuple[Around, Around],
) -> Scores:
    """Compare names: below the same parent the last ones, else also the whole paths, and what moved together."""
    ends = [[paths.escape(parted(a.path)[-1]) for a in side] for side in (lost, new)]
    parents = [[parted(a.path)[:-1] for a in side] for side in (lost, new)]
    below_one = _equal(*parents)
    last = alike(*ends)
    whole = alike([a.path for a in lost], [a.path for a in new])
    apart = np.minimum(last * np.float32(_ELSEWHERE), whole)
    flat = _equal(*([letters(a.path) for a in side] for side in (lost, new)))
    scores = np.where(below_one, last, np.where(flat, whole, apart)).astype(np.float32)
    alike_parents = _alike_parents({between for between, _ in moves.values()})
    for (row, column), (between, together) in moves.items():
        name = letters(parted(lost[row].path)[-1])
        rare = 1 / max(1, *(side.parents[name] for side in sides))
        alone = _MOVED_ALONE * (0.4 + 0.6 * rare) + (0.2 if not all(between) and rare == 1 else 0.0)
        alone += (1 - alone) * 0.5 * alike_parents[between]
        scores[row, column] = alone + (_MOVED_TOGETHER - alone) * (together - 1) / together
    return scores


def _alike_parents(moves: Iterable[Prefixes]) -> dict[Prefixes, float]:
    """Return how much alike the two parents of each move are; little alike is not at all."""
    known = list(moves)
    ours, theirs = (list({between[end]: None for between in known}) for end in (0, 1))
    scores = alike([paths.join(names) for names in ours], [paths.join(names) for names in theirs])
    rows, columns = ({names: at for at, names in enumerate(side)} for side in (ours, theirs))
    found = {between: float(scores[rows[between[0]], columns[between[1]]]) for between in known}
    return {between: score if score >= _OTHER_PARENT and all(between) else 0.0 for between, score in found.items()}


def _equal(ours: Iterable[Hashable], theirs: Iterable[Hashable]) -> NDArray[np.bool_]:
    """Compare everything of one side with everything of the other."""
    numbers: dict[Hashable, int] = {}
    rows, columns = (np.array([numbers.setdefault(x, len(numbers)) for x in side]) for side in (ours, theirs))
    return np.asarray(rows[:, None] == columns[None, :], np.bool_)


def _places(
    lost: Sequence[Attribute], new: Sequence[Attribute], before: Around, after: Around
) -> tuple[Scores, NDArray[np.bool_]]:
    """Return how nearly two attributes stand in the same gap between those that stayed.

    Shape: both of (lost, new): float32, 1 for the same gap and the same place in it; and whether as many attributes of
    nearly the same types in the same order stood in that gap before as do now, so that it looks written anew.
    """
    ours, theirs = before.gaps, after.gaps
    one, other = ([gaps.at[a.id] for a in side] for gaps, side in ((ours, lost), (theirs, new)))
    left, right, place = ((np.array([at[end] for at in one]), np.array([at[end] for at in other])) for end in range(3))
    same_left, same_right = left[0][:, None] == left[1][None, :], right[0][:, None] == right[1][None, :]
    near = 1 / (1 + np.abs(place[0][:, None] - place[1][None, :]))
    beside = np.where(same_left | same_right, near * 0.5, 0)
    both = same_left & same_right
    anew = [key for key, types in ours.types.items() if _is_rewritten(types, theirs.types.get(key, []))]
    rewritten = both & np.array([(at[0], at[1]) in anew for at in one], np.bool_)[:, None]
    return np.asarray(np.where(both, near, beside), np.float32), rewritten


def _gaps(around: Around) -> Gaps:
    found = Gaps()
    left = 0
    open_: list[Attribute] = []
    for attribute in (*around.attributes, None):
        if attribute is not None and attribute.lineage not in around.kept:
            open_.append(attribute)
            continue
        right = attribute.lineage if attribute is not None else -1
        for place, one in enumerate(open_):
            found.at[one.id] = left, right, place
        found.types[left, right] = [(one.type, one.logical) for one in open_]
        if attribute is not None:
            found.at[attribute.id] = attribute.lineage, attribute.lineage, 0
        left, open_ = right, []
    return found


def _is_rewritten(before: list[tuple[str, str]], after: list[tuple[str, str]]) -> bool:
    if len(before) != len(after) or len(before) < _FEWEST_REWRITTEN:
        return False
    return sum(a == b for a, b in zip(before, after, strict=True)) >= _LEAST_REWRITTEN * len(before)


def _docs(lost: Sequence[Attribute], new: Sequence[Attribute]) -> Scores:
    """Compare documentation; what several attributes have alike tells them apart from the others only."""
    found = np.full((len(lost), len(new)), -1, np.float32)
    rows, columns = ([at for at, a in enumerate(side) if len(a.doc) >= _FEWEST_LETTERS_OF_DOC] for side in (lost, new))
    if rows and columns:
        ours, theirs = [lost[row].doc for row in rows], [new[column].doc for column in columns]
        scores = np.maximum(alike_texts(ours, theirs), _one_holds_the_other(ours, theirs))
        counts = Counter(new[column].doc for column in columns)
        several = np.array([1.0 if counts[new[column].doc] == 1 else 0.9 for column in columns], np.float32)
        found[np.ix_(rows, columns)] = scores * several[None, :]
    return found


def _one_holds_the_other(ours: Sequence[str], theirs: Sequence[str]) -> Scores:
    """Find pairs of texts of which one is the other with more said: 0.95, else 0."""
    sides = [[" ".join(text.casefold().split()).rstrip(".") for text in side] for side in (ours, theirs)]
    least = 2 * _FEWEST_LETTERS_OF_DOC
    found = [[min(len(a), len(b)) >= least and (a in b or b in a) for b in sides[1]] for a in sides[0]]
    return np.asarray(np.array(found, np.bool_) * np.float32(SAME_DOC), np.float32)


def _alike_values(lost: Sequence[Attribute], new: Sequence[Attribute], values: Values | None) -> Scores:
    """Share of the fewer values that the other has too; -1 where they are too few to tell.

    Samples of names and numbers seldom meet, so that none in common speaks against a pair only where the forms differ.
    """
    found = np.full((len(lost), len(new)), -1, np.float32)
    if not values:
        return found
    known = [
        [(at, values[a.id]) for at, a in enumerate(side) if len(values.get(a.id, ())) >= _FEWEST_VALUES]
        for side in (lost, new)
    ]
    for row, ours in known[0]:
        for column, theirs in known[1]:
            share = len(ours & theirs) / min(len(ours), len(theirs))
            found[row, column] = share if share >= _FEW_IN_COMMON or not forms_meet(ours, theirs) else -1
    return found


def _said(lost: Sequence[Attribute], new: Sequence[Attribute]) -> NDArray[np.bool_]:
    """Find documentation that calls one attribute the new name, or the old name, of the other."""
    found = np.zeros((len(lost), len(new)), np.bool_)
    _note(lost, new, lambda at, other: found.__setitem__((at, other), True))
    _note(new, lost, lambda at, other: found.__setitem__((other, at), True))
    return found


def _note(tellers: Sequence[Attribute], named: Sequence[Attribute], note: Callable[[int, int], None]) -> None:
    telling = [(at, attribute) for at, attribute in enumerate(tellers) if attribute.doc and _has_cue(attribute.doc)]
    by_path = {a.path: at for at, a in enumerate(named)} if telling else {}
    for at, attribute in telling:
        for word in {*_WORDS.findall(attribute.doc)}:
            other = by_path.get(word)
            if other is not None and ("." in word or len(word) >= 3):
                note(at, other)


@lru_cache(maxsize=65_536)
def _has_cue(doc: str) -> bool:
    text = doc.casefold()
    return any(cue in text for cue in _CUES)
