"""How much alike the values of two attributes are: the same values, or texts of the same form.

What many attributes share says nothing: yes and no, small numbers, single words.
Source: docs/guide/mapping.md, "Be helped"; docs/architecture/model.md, "Trees, versions, lineages".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from metl_gui.core.project.sample_profiles import pattern_of

LEAST_ALIKE = 0.5
"""Values that are less alike say nothing."""

_FEWEST = 3
_MOST_SHARED, _LONGEST_SHARED = 2, 24
_FORMS_SHARE = 0.8
_FEWEST_LETTERS = 3
_FEWEST_DIGITS = 4
_NUMBER = re.compile(r"[-+]?9+\+?(?:\.9+\+?)?")
_DAY = re.compile(r"9999-99-99|99[./]99[./]9999")
_RUN = re.compile(r"(9|A|a)\1*\+?")
_PLAIN = re.compile(r"[Aa9 +]*")


def values_alike(ours: tuple[str, ...], theirs: tuple[str, ...]) -> float:
    """Return how much alike the values of two attributes are, 0 where it is too little to speak of.

    Args:
        ours, theirs: values as text, each once.

    Cost: what values look like is worked out once for each list of them.
    """
    one, other = _look(ours), _look(theirs)
    if min(len(one.values), len(other.values)) < _FEWEST:
        return 0.0
    same = len(one.values & other.values) / min(len(one.values), len(other.values))
    alike_forms = sum(min(share, other.forms.get(form, 0.0)) for form, share in one.forms.items())
    found = max(same, _FORMS_SHARE * alike_forms)
    return round(found, 3) if found >= LEAST_ALIKE else 0.0


def forms_meet(ours: Iterable[str], theirs: Iterable[str]) -> bool:
    """Whether any value of the one has the form of a value of the other; where none has, both are different things."""
    return not {_short(value) for value in ours}.isdisjoint(_short(value) for value in theirs)


class ValueEvidence(NamedTuple):
    """How much alike the values of two attributes are, 0 to 1, and some that both have, as words; empty for none."""

    score: float
    words: str = ""


def shared_words(ours: tuple[str, ...], theirs: tuple[str, ...]) -> str:
    """Name some telling values that two attributes both have, the newest first; empty where they share none."""
    shared = _look(ours).values & _look(theirs).values
    named = [value for value in ours if value in shared and len(value) <= _LONGEST_SHARED][:_MOST_SHARED]
    return ", ".join(named)


class _Look(NamedTuple):
    """What the values of one attribute look like: those that tell something, and the share of each telling form."""

    values: frozenset[str]
    forms: Mapping[str, float]


@lru_cache(maxsize=8192)
def _look(values: tuple[str, ...]) -> _Look:
    telling = frozenset(value for value in values if _tells(value))
    forms = Counter(_short(value) for value in telling)
    return _Look(telling, {form: count / len(telling) for form, count in forms.items() if _is_distinctive(form)})


def _tells(value: str) -> bool:
    if value in ("true", "false"):
        return False
    digits = value.lstrip("-+")
    if digits.replace(".", "", 1).isdigit():
        return len(digits) >= _FEWEST_DIGITS
    return len(value) >= _FEWEST_LETTERS


def _short(value: str) -> str:
    """Write a form without the lengths of words, which differ; those of numbers and codes tell."""
    form = pattern_of(value)
    if any(letter == "a" for letter in form):
        return _RUN.sub(lambda run: run[1], form)
    return form


def _is_distinctive(form: str) -> bool:
    """Whether a form has marks between its letters, or mixes capitals with digits, and is no number and no day."""
    if _NUMBER.fullmatch(form) or _DAY.match(form):
        return False
    if "9" in form and "A" in form:
        return True
    return _PLAIN.fullmatch(form) is None and any(letter in form for letter in "Aa9")
