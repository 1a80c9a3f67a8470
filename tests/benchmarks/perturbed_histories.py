"""Next versions of real schemas with known truth: renamed, moved, dropped and added attributes.

Written before the scorer was tuned. Every way of renaming is tried alone, where all or many attributes go, and mixed,
where a version loses a few, of which some were renamed, some are gone for good, and some others are new. What is added
are real attributes of other schemas, put where the lost ones stood as often as anywhere else; in the hardest kind they
have the type of a dropped one and a name that shares a word or the parent with it, and still mean another thing.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from metl_gui.core.trees.declarations import AttributeDeclaration
from metl_gui.core.trees.paths import join, split
from tests.benchmarks.perturbed_names import SYNONYMS

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_VOWELS = re.compile(r"(?<=\w)[aeiou]")
_PARENTS = ("details", "payload", "data", "info", "auth", "context", "billing")

Attributes = tuple[AttributeDeclaration, ...]
Names = dict[str, str]
"""New path by old path."""


@dataclass(frozen=True, slots=True)
class Step:
    """A version and the one after it.

    Args:
        before, after: the attributes.
        renamed: new path of every path that is gone, empty for those that were dropped.
    """

    before: Attributes
    after: Attributes
    renamed: Names


def step(kind: str, attributes: Attributes, others: Attributes, seed: str) -> Step | None:
    """Make the next version of a schema in one way, ``None`` where that way changes nothing."""
    rng = random.Random(f"{kind} {seed}")
    names = KINDS[kind]([a.path for a in attributes], rng)
    paths = {a.path for a in attributes}
    taken: set[str] = set()
    kept: list[AttributeDeclaration] = []
    truth: Names = {}
    for attribute in attributes:
        new = names.get(attribute.path, attribute.path)
        if new and new != attribute.path and (new in paths or new in taken):
            new = attribute.path
        if new != attribute.path:
            truth[attribute.path] = new
        if new:
            taken.add(new)
            is_silent = new != attribute.path and rng.random() < 0.3  # what is renamed is often described anew
            kept.append(replace(attribute, path=new, doc="" if is_silent else attribute.doc))
    if not truth:
        return None
    if kind == "siblings":
        kept += _siblings(attributes, truth, others, rng)
    free = [a for a in others if a.path not in paths | taken]
    wanted = rng.randrange(1, 4) if kind in ("dropped", "mixed") else rng.randrange(2)
    places = [at for at, a in enumerate(attributes) if truth.get(a.path) == ""]
    for attribute in rng.sample(free, min(wanted, len(free))):
        at = rng.choice(places) if places and rng.random() < 0.5 else rng.randrange(len(kept) + 1)
        kept.insert(min(at, len(kept)), attribute)
    if rng.random() < 0.2:
        kept.sort(key=lambda a: a.path)
    return Step(attributes, tuple(kept), truth)


def _in_another_case(paths: Sequence[str], rng: random.Random) -> Names:
    write = rng.choice(_CASES)
    return {path: _last(path, write(_words(split(path)[-1]))) for path in paths}


def _with_prefix(paths: Sequence[str], rng: random.Random) -> Names:
    prefix = rng.choice(("src_", "cust_", "evt_", "x"))
    chosen = rng.sample(list(paths), max(1, len(paths) // rng.choice((1, 2, 4))))
    return {path: _last(path, prefix + split(path)[-1]) for path in chosen}


def _without_first_word(paths: Sequence[str], rng: random.Random) -> Names:
    long = [path for path in paths if len(_words(split(path)[-1])) > 1]
    chosen = rng.sample(long, max(1, len(long) // 3)) if long else []
    return {path: _last(path, "_".join(_words(split(path)[-1])[1:])) for path in chosen}


def _by_synonyms(paths: Sequence[str], rng: random.Random) -> Names:
    found = {}
    for path in paths:
        words = _words(split(path)[-1])
        known = [at for at, word in enumerate(words) if word in SYNONYMS]
        if known and rng.random() < 0.5:
            at = rng.choice(known)
            found[path] = _last(path, "_".join([*words[:at], SYNONYMS[words[at]], *words[at + 1 :]]))
    return found


def _abbreviated(paths: Sequence[str], rng: random.Random) -> Names:
    chosen = rng.sample(list(paths), max(1, len(paths) // 3))
    return {path: _last(path, "_".join(_short(word, rng) for word in _words(split(path)[-1]))) for path in chosen}


def _struct_renamed(paths: Sequence[str], rng: random.Random) -> Names:
    parents = sorted({split(path)[:-1] for path in paths if len(split(path)) > 1})
    if not parents:
        return {}
    old = rng.choice(parents)
    new = (*old[:-1], rng.choice(_PARENTS))
    return {path: join((*new, *split(path)[len(old) :])) for path in paths if split(path)[: len(old)] == old}


def _moved(paths: Sequence[str], rng: random.Random) -> Names:
    parent = rng.choice(_PARENTS)
    chosen = rng.sample(list(paths), max(1, len(paths) // 4))
    return {path: join((*split(path)[:-2], parent, split(path)[-1])) for path in chosen}


def _dropped(paths: Sequence[str], rng: random.Random) -> Names:
    return dict.fromkeys(rng.sample(list(paths), rng.randrange(1, min(4, len(paths)))), "")


def _mixed(paths: Sequence[str], rng: random.Random) -> Names:
    found = dict.fromkeys(rng.sample(list(paths), min(rng.randrange(3), len(paths) - 1)), "")
    for _ in range(rng.randrange(1, 5)):
        path = rng.choice(list(paths))
        if path not in found:
            found.update({old: new for old, new in rng.choice(_SINGLE)([path], rng).items() if old == path})
    return found


def _siblings(attributes: Attributes, truth: Names, others: Attributes, rng: random.Random) -> Attributes:
    """Make attributes that are not the dropped ones but look a little like them."""
    known = {a.path for a in attributes}
    made: dict[str, AttributeDeclaration] = {}
    for attribute in attributes:
        if attribute.path in truth:
            other = rng.choice(others)
            words, strange = _words(split(attribute.path)[-1]), _words(split(other.path)[-1])
            at = rng.randrange(len(words))
            name = "_".join([*words[:at], *strange[-2:], *words[at + 1 :]]) if len(words) > 1 else "_".join(strange)
            path = _last(attribute.path, name)
            if path not in known:
                made[path] = replace(attribute, path=path, doc=other.doc)
    return tuple(made.values())


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)] or [name]


def _last(path: str, name: str) -> str:
    return join((*split(path)[:-1], name))


def _short(word: str, rng: random.Random) -> str:
    return rng.choice((word[:3], word[:4], _VOWELS.sub("", word))) if len(word) > 4 else word


_CASES: tuple[Callable[[list[str]], str], ...] = (
    "_".join,
    "".join,
    "-".join,
    lambda words: "_".join(words).upper(),
    lambda words: words[0] + "".join(word.title() for word in words[1:]),
)
_SINGLE = (_in_another_case, _with_prefix, _without_first_word, _by_synonyms, _abbreviated, _moved)
KINDS: dict[str, Callable[[Sequence[str], random.Random], Names]] = {
    "another case": _in_another_case,
    "a prefix": _with_prefix,
    "first word gone": _without_first_word,
    "synonyms": _by_synonyms,
    "abbreviated": _abbreviated,
    "struct renamed": _struct_renamed,
    "moved": _moved,
    "mixed": _mixed,
    "dropped": _dropped,
    "siblings": _dropped,
}
