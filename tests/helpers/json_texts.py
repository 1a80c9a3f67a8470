"""JSON text for property tests: values in every spelling, and an independent judge of what is accepted."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

_DIGITS = st.text("0123456789", min_size=1, max_size=37)
_INTEGERS = st.one_of(
    st.just("0"), st.builds(lambda head, rest: f"{head}{rest}", st.sampled_from("123456789"), _DIGITS)
)
_FRACTIONS = st.one_of(st.just(""), _DIGITS.map(lambda digits: f".{digits}"))
_EXPONENTS = st.one_of(
    st.just(""),
    st.builds(lambda e, sign, n: f"{e}{sign}{n}", st.sampled_from("eE"), st.sampled_from(["", "+", "-"]), _DIGITS),
)
numbers = st.builds(
    lambda sign, whole, fraction, exponent: f"{sign}{whole}{fraction}{exponent}",
    st.sampled_from(["", "-"]),
    _INTEGERS,
    _FRACTIONS,
    _EXPONENTS,
)
"""Every spelling of a number, however many digits it has."""

_LETTERS = st.one_of(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), exclude_characters='"\\'),
    st.sampled_from(["\\n", "\\t", "\\/", '\\"', "\\\\", "\\u00e9", "\\u0041", "\\ud83d\\ude00", "\\b"]),
)
strings = st.lists(_LETTERS, max_size=12).map(lambda letters: f'"{"".join(letters)}"')
"""Strings with every kind of escape."""

scalars = st.one_of(
    numbers,
    strings,
    st.sampled_from(["true", "false", "null", "1.50", "-0.0", "18446744073709551616", "1e999", "-0"]),
)


def _arrays(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(
        lambda values, gap: f"[{f',{gap}'.join(values)}]", st.lists(inner, max_size=4), st.sampled_from(["", " "])
    )


def _objects(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    members = st.lists(st.tuples(strings, inner), max_size=4)
    return st.builds(
        lambda pairs, gap: "{" + ",".join(f"{name}:{gap}{value}" for name, value in pairs) + "}",
        members,
        st.sampled_from(["", " ", "\n"]),
    )


values = st.recursive(scalars, lambda inner: st.one_of(_arrays(inner), _objects(inner)), max_leaves=12)
"""Any JSON value, its objects with names that may be there twice."""


class Repeated(ValueError):
    """A name is there twice in the outermost object."""


def judged(text: bytes) -> Any:
    """Parse text by the standard library; raises ``ValueError`` for what must not be accepted as an object."""
    parsed = json.loads(text.decode(), object_pairs_hook=_Pairs, parse_constant=_refuse, parse_int=str, parse_float=str)
    if not isinstance(parsed, _Pairs):
        raise ValueError("not an object")
    if _depth(parsed) > 64:
        raise ValueError("too deep")
    _refuse_lone_surrogates(parsed)
    names = [name for name, _ in parsed.pairs]
    if len(set(names)) != len(names):
        raise Repeated
    return parsed


class _Pairs:
    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs


def _refuse(name: str) -> None:
    raise ValueError(name)


def _depth(value: Any) -> int:
    inner = [member for _, member in value.pairs] if isinstance(value, _Pairs) else value
    return 1 + max(map(_depth, inner), default=0) if isinstance(inner, list) else 0


def _refuse_lone_surrogates(value: Any) -> None:
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, list):
        for inner in value:
            _refuse_lone_surrogates(inner)
    elif isinstance(value, _Pairs):
        for name, inner in value.pairs:
            name.encode()
            _refuse_lone_surrogates(inner)


def mutations(texts: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Change a few bytes of a text: put some in, take some out, write over some."""
    change = st.tuples(
        st.integers(0, 10_000), st.integers(0, 3), st.one_of(st.sampled_from(_BITS), st.binary(max_size=3))
    )
    return st.builds(_mutated, texts, st.lists(change, min_size=1, max_size=3))


_BITS = [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b" ", b"\n", b"0", b"\xff", b"\\ud800", b'"id":1,', b"null"]


def _mutated(text: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    for where, taken, put in changes:
        at = where % (len(text) + 1)
        text = text[:at] + put + text[at + taken :]
    return text
