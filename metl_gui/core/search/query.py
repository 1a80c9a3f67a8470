"""What a filter box understands: plain and quoted words, prefixes, and a minus for what must not be.

``type:int`` a type, ``is:unmapped`` a state, ``changed:new`` what differs from the version before, ``in:orders`` a
schema or entity; ``-draft`` and ``-is:mapped`` turn a term round.
Source: docs/guide/mapping.md, "Find".
"""

from __future__ import annotations

import re
from enum import StrEnum

from metl_gui.values import Value

STATES = ("unmapped", "mapped", "review", "new", "required", "key", "masked", "commented", "open", "ignored")
CHANGES = ("new", "removed", "type")

_PARTS = re.compile(r'-?(?:[a-z]+:)?"[^"]*"?|\S+')


class TermKind(StrEnum):
    """What a term is about."""

    WORD = "word"
    TYPE = "type"
    IS = "is"
    CHANGED = "changed"
    IN = "in"


_PREFIXES = {kind.value: kind for kind in (TermKind.TYPE, TermKind.IS, TermKind.CHANGED, TermKind.IN)}
_CHOICES = {TermKind.IS: STATES, TermKind.CHANGED: CHANGES}


class Term(Value):
    """One part of a query.

    Args:
        kind: what it is about.
        value: lower case; for ``IS`` one of ``STATES``, for ``CHANGED`` one of ``CHANGES``.
        is_negated: what has it does not pass.
    """

    kind: TermKind
    value: str
    is_negated: bool = False


class Query(Value):
    """A parsed text; every term must hold.

    Args:
        terms: what is asked.
        unknown: parts with a prefix or value that means nothing.
    """

    terms: tuple[Term, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether everything passes."""
        return not self.terms

    @property
    def names_only(self) -> bool:
        """Whether it asks of names alone, so that a node without attributes can pass by its own."""
        return all(term.kind in (TermKind.WORD, TermKind.IN) for term in self.terms)

    def values(self, kind: TermKind) -> tuple[str, ...]:
        """Return what is asked of one kind, what must not be left out."""
        return tuple(term.value for term in self.terms if term.kind is kind and not term.is_negated)


def parse(text: str) -> Query:
    """Read the text of a filter box; nothing is refused, what means nothing is named."""
    terms: list[Term] = []
    unknown: list[str] = []
    for part in _PARTS.findall(text.lower()):
        is_negated = part.startswith("-") and len(part) > 1
        prefix, colon, value = part.removeprefix("-" if is_negated else "").partition(":")
        kind = _PREFIXES.get(prefix) if colon else None
        if kind is None:
            terms += _term(TermKind.WORD, part.removeprefix("-" if is_negated else ""), is_negated)
        elif kind in _CHOICES and value and not _chosen(kind, value):
            unknown.append(part)
        else:
            terms += _term(kind, _chosen(kind, value) if kind in _CHOICES else value, is_negated)
    return Query(tuple(terms), tuple(unknown))


def _term(kind: TermKind, value: str, is_negated: bool) -> list[Term]:
    """Make a term; one whose value is still to be typed asks nothing."""
    bare = value.strip('"').strip()
    return [Term(kind, bare, is_negated)] if bare and bare != "-" else []


def _chosen(kind: TermKind, value: str) -> str:
    """Complete a value that is still being typed."""
    return next((choice for choice in _CHOICES[kind] if value and choice.startswith(value)), "")
