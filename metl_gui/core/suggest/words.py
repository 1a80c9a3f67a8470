"""The words of a name, each in its usual form: abbreviations written out, a few synonyms as one word, no plurals."""

from __future__ import annotations

import re
from functools import lru_cache

from metl_gui.core.trees import paths

_LETTERS = "A-ZÀ-ÖØ-Þ", "a-zß-öø-ÿ"
_WORD = re.compile(
    rf"[{_LETTERS[0]}]+(?![{_LETTERS[1]}])|[{_LETTERS[0]}]?[{_LETTERS[1]}]+|\d+|[^\W\d_{_LETTERS[0]}{_LETTERS[1]}]+"
)
_VOWELS = re.compile(r"(?<=.)[aeiou]")

_SHORT = {
    "account": "acc acct",
    "address": "addr adr",
    "amount": "amt",
    "application": "app appl",
    "attribute": "attr",
    "average": "avg",
    "balance": "bal",
    "birth date": "birthdate birthday dob",
    "category": "cat categ",
    "code": "cd",
    "comment": "cmt remark",
    "company": "co comp",
    "count": "cnt",
    "country": "cntry ctry",
    "created": "crt crtd inserted",
    "currency": "ccy curr",
    "customer": "client cust cstmr",
    "date": "dat dt",
    "department": "dep dept",
    "description": "descr desc dsc",
    "destination": "dest dst",
    "document": "doc",
    "email": "eml mail",
    "employee": "empl emp",
    "end": "finish",
    "error": "err",
    "first name": "firstname fname forename givenname",
    "flag": "flg",
    "gender": "sex",
    "group": "grp",
    "height": "hght hgt",
    "id": "ident identifier pk",
    "image": "img photo picture",
    "indicator": "ind",
    "information": "info",
    "invoice": "inv",
    "language": "lang",
    "last name": "lastname lname surname familyname",
    "latitude": "lat",
    "length": "len",
    "level": "lvl",
    "location": "loc",
    "longitude": "lng lon",
    "maximum": "max",
    "message": "msg",
    "minimum": "min",
    "name": "nm",
    "number": "nbr no nr num numb",
    "object": "obj",
    "order": "ord",
    "organization": "org organisation",
    "password": "pass pwd",
    "payment": "pmt pymt",
    "percent": "pct perc",
    "phone": "ph tel telephone",
    "position": "pos",
    "postal code": "plz postcode zip zipcode",
    "previous": "prev",
    "price": "prc",
    "product": "prd prod",
    "quantity": "qty qnt",
    "reference": "ref",
    "request": "req",
    "response": "resp",
    "sequence": "seq",
    "source": "src",
    "start": "begin",
    "status": "sts stat",
    "street": "str",
    "supplier": "vendor",
    "system": "sys",
    "target": "tgt",
    "temperature": "temp tmp",
    "timestamp": "datetime dttm ts tstamp",
    "total": "tot ttl",
    "transaction": "trans trx tx txn",
    "type": "kind typ",
    "updated": "modified upd",
    "url": "href link uri",
    "user": "usr",
    "value": "val",
    "version": "ver vers",
    "weight": "wgt wt",
    "width": "wdth",
    "year": "yr",
}
"""Usual forms, and what else they are written as."""

USUAL: dict[str, tuple[str, ...]] = {
    short: tuple(usual.split()) for usual, others in _SHORT.items() for short in others.split()
}


@lru_cache(maxsize=65_536)
def segments(path: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of each part of a dotted path as they are written, in lower case."""
    try:
        names = paths.split(path)
    except ValueError:
        names = (path,)
    return tuple(tuple(word.casefold() for word in _WORD.findall(name)) for name in names)


@lru_cache(maxsize=65_536)
def letters(path: str) -> str:
    """Return a path in lower case without punctuation: two such texts are equal for equal names."""
    return "".join(letter for letter in path.casefold() if letter.isalnum())


@lru_cache(maxsize=65_536)
def usual(word: str) -> tuple[str, ...]:
    """Return the usual form of a word; an abbreviation may stand for two words."""
    found = USUAL.get(word)
    if found is not None:
        return found
    single = singular(word)
    return USUAL.get(single, (single,))


def singular(word: str) -> str:
    """Return a word without a plural ending."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] not in "sui" else word


@lru_cache(maxsize=262_144)
def abbreviates(short: str, word: str) -> float:
    """Return how well a text may stand for a longer word: 0 to 1.

    A beginning or the word without its vowels is a good abbreviation; letters in their order from the first on are one
    of which less is believed the fewer they are.
    """
    if not 2 <= len(short) < len(word) or short[0] != word[0] or not short.isalpha():
        return 0.0
    if word.startswith(short):
        return 0.9 if len(short) >= 3 else 0.6
    bare = _VOWELS.sub("", word)
    if short == bare:
        return 0.92
    if bare.startswith(short):
        return 0.82 if len(short) >= 3 else 0.55
    rest = iter(word)
    if not all(letter in rest for letter in short):
        return 0.0
    if len(short) == 2:
        return 0.35
    last = 0.1 if short[-1] == word[-1] else 0.0
    return min(0.45 + 0.4 * len(short) / len(word) + last, 0.85)


def parted(text: str, vocabulary: frozenset[str]) -> tuple[str, ...]:
    """Part a text that may be several words written as one, by words that are known to occur.

    Returns:
        The fewest known words that leave the fewest letters over, what is left over between them; the text alone where
        known words make less than two thirds of it.
    """
    if len(text) < 5 or text in vocabulary or not text.isalpha():
        return (text,)
    best: list[tuple[int, int, tuple[int, bool]]] = [(0, 0, (0, False))]
    for end in range(1, len(text) + 1):
        ways = [(best[end - 1][0] + 1, best[end - 1][1], (end - 1, False))]
        ways += [
            (best[at][0], best[at][1] + 1, (at, True))
            for at in range(max(0, end - 24), end - 1)
            if text[at:end] in vocabulary
        ]
        best.append(min(ways))
    if best[-1][0] * 3 > len(text):
        return (text,)
    return _walked(text, best)


def _walked(text: str, best: list[tuple[int, int, tuple[int, bool]]]) -> tuple[str, ...]:
    """Follow the best way back to the words it is made of; single letters left over stay together."""
    found: list[tuple[str, bool]] = []
    end = len(text)
    while end:
        at, is_word = best[end][2]
        part = text[at:end]
        if found and not is_word and not found[-1][1]:
            found[-1] = (part + found[-1][0], False)
        else:
            found.append((part, is_word))
        end = at
    return tuple(part for part, _ in reversed(found))
