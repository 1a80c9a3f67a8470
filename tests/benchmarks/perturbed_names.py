"""Names as another team might have written them: abbreviated, reordered, with synonyms, prefixes, in another case.

Written before the scorer was tuned, and not to be fitted to it: abbreviations are made by rule, with no list; the
synonyms are everyday English ones, most of which no naming standard knows. A light hand gives each name one or two
treatments, which leaves so much of it that matchers by letters alone are right nine times of ten; a heavy hand gives
it every one.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from metl_gui.core.trees.paths import join, split

SEED = 20_261_121

SYNONYMS = {
    "action": "deed",
    "amount": "sum",
    "campaign": "promotion",
    "category": "class",
    "channel": "stream",
    "city": "town",
    "code": "key",
    "company": "firm",
    "count": "total",
    "country": "nation",
    "created": "made",
    "currency": "money",
    "customer": "client",
    "date": "day",
    "deleted": "removed",
    "description": "summary",
    "device": "machine",
    "domain": "zone",
    "duration": "length",
    "email": "mail",
    "end": "finish",
    "error": "fault",
    "event": "incident",
    "group": "set",
    "height": "tallness",
    "id": "identifier",
    "image": "photo",
    "language": "tongue",
    "link": "reference",
    "list": "register",
    "location": "place",
    "message": "note",
    "name": "label",
    "new": "current",
    "number": "count",
    "occurred": "happened",
    "offset": "shift",
    "old": "previous",
    "order": "purchase",
    "owner": "holder",
    "page": "sheet",
    "parent": "ancestor",
    "person": "individual",
    "phone": "telephone",
    "price": "cost",
    "processed": "handled",
    "product": "item",
    "quantity": "number",
    "reason": "cause",
    "recipient": "receiver",
    "region": "area",
    "session": "visit",
    "signature": "seal",
    "size": "extent",
    "source": "origin",
    "start": "begin",
    "state": "province",
    "status": "condition",
    "street": "road",
    "tag": "mark",
    "target": "goal",
    "tax": "duty",
    "text": "content",
    "time": "moment",
    "title": "heading",
    "token": "ticket",
    "type": "kind",
    "updated": "modified",
    "url": "link",
    "user": "member",
    "value": "worth",
    "version": "release",
    "width": "breadth",
}
PREFIXES = ("src", "t", "raw", "fld", "x1", "in")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_VOWELS = re.compile(r"(?<=\w)[aeiou]")

Words = list[str]
Treatment = Callable[[Words, random.Random], Words]


def perturb(table: str, paths: Sequence[str], seed: int = SEED, *, is_heavy: bool = False) -> dict[str, str]:
    """Give every path of a table another spelling.

    With a light hand each name gets one or two treatments and every third table gets one prefix on all its names; with
    a heavy one each name gets every treatment and each table a prefix. All names of a table are written in one case. A
    spelling that another path of the table has already is not used.

    Returns:
        New path by old path, no new path twice.
    """
    rng = random.Random(f"{seed} {table}")
    prefix = rng.choice(PREFIXES) if is_heavy or rng.random() < 1 / 3 else ""
    write = rng.choice(_CASES)
    found: dict[str, str] = {}
    taken: set[str] = set()
    for path in paths:
        new = join(_renamed(name, prefix, write, rng, is_heavy) for name in split(path))
        if new in taken:
            new = path
        taken.add(new)
        found[path] = new
    return found


def _renamed(name: str, prefix: str, write: Callable[[Words], str], rng: random.Random, is_heavy: bool) -> str:
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words:
        return name
    count = len(_TREATMENTS) if is_heavy else rng.choice((1, 1, 2))
    for treatment in rng.sample(_TREATMENTS, k=count):
        words = treatment(words, rng)
    return write([prefix, *words] if prefix else words)


def _abbreviated(words: Words, rng: random.Random) -> Words:
    return [_short(word, rng) if len(word) > 4 and rng.random() < 0.8 else word for word in words]


def _short(word: str, rng: random.Random) -> str:
    return rng.choice((word[:3], word[:4], _VOWELS.sub("", word), _VOWELS.sub("", word)[:3], word[0] + word[-2:]))


def _reordered(words: Words, rng: random.Random) -> Words:
    at = rng.randrange(len(words))
    return words[at:] + words[:at]


def _by_synonyms(words: Words, rng: random.Random) -> Words:
    return [SYNONYMS.get(word, word) if rng.random() < 0.8 else word for word in words]


def _with_a_word_more(words: Words, rng: random.Random) -> Words:
    return rng.choice(([*words, "val"], ["cur", *words], [*words, "fld"], [*words, str(rng.randrange(1, 4))]))


def _as_it_is(words: Words, _rng: random.Random) -> Words:
    return words


_TREATMENTS: tuple[Treatment, ...] = (_abbreviated, _reordered, _by_synonyms, _with_a_word_more, _as_it_is)
_CASES: tuple[Callable[[Words], str], ...] = (
    "_".join,
    "-".join,
    "".join,
    lambda words: "_".join(words).upper(),
    lambda words: "".join(word.title() for word in words),
    lambda words: words[0] + "".join(word.title() for word in words[1:]),
)
