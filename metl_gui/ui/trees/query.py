"""What the search box of a tree understands: plain words, ``type:`` and ``is:`` with a state."""

from __future__ import annotations

from dataclasses import dataclass

STATES = ("unmapped", "mapped", "review", "new")


@dataclass(frozen=True)
class Query:
    """A parsed text; everything in it must hold.

    Args:
        words: lower case; each must stand in the path or in a name above it.
        types: each must stand in the type.
        states: ``unmapped``, ``mapped``, ``review``, ``new``.
        unknown: parts with a prefix that means nothing.
    """

    words: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether everything passes."""
        return not (self.words or self.types or self.states)

    @property
    def asks_of_attributes(self) -> bool:
        """Whether only attributes can pass by themselves."""
        return bool(self.types or self.states)


def parse(text: str) -> Query:
    """Read the text of a search box; nothing is refused, unknown prefixes are named."""
    words, types, states, unknown = [], [], [], []
    for part in text.lower().split():
        prefix, colon, value = part.partition(":")
        if colon and prefix == "type":
            types += [value] if value else []
        elif colon and prefix == "is" and (not value or any(s.startswith(value) for s in STATES)):
            states += [s for s in STATES if value and s.startswith(value)][:1]
        elif colon and prefix in ("is", "changed"):
            unknown.append(part)
        else:
            words.append(part)
    return Query(tuple(words), tuple(types), tuple(states), tuple(unknown))


def passes(query: Query, path: str, above: str, type_text: str, states: frozenset[str]) -> bool:
    """Whether an attribute passes.

    Args:
        query: what is asked.
        path: the attribute's path.
        above: names of the schema and version it belongs to.
        type_text: its type as shown.
        states: which of ``STATES`` hold.
    """
    place = f"{above} {path}".lower()
    return (
        all(word in place for word in query.words)
        and all(kind in type_text.lower() for kind in query.types)
        and all(state in states for state in query.states)
    )
