"""Ancestors and descendants of the members of a dimension, by their parents.

Plain Python, by which the statements that databases run are judged.

Source: docs/reference/warehouse-model.md, "Hierarchies".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

from metl_gui.core.dimensional.rows.members import Key

MOST_LEVELS = 100
"""How far apart ancestors and descendants may be: a chain of members would make the square of its length in rows."""

Ancestry: TypeAlias = tuple[Key, Key, int]
"""Ancestor, descendant, and how many levels are between; a member is its own at none."""


class Lineage(NamedTuple):
    """What follows from parents.

    Args:
        rows: every ancestry.
        cut: by member, the parents to which the way is cut, so that nobody is his own ancestor.
    """

    rows: frozenset[Ancestry]
    cut: dict[Key, Key]


def lineage(parents: Mapping[Key, Key | None]) -> Lineage:
    """Return ancestors and descendants; in a cycle the edge of the member with the smallest business key is cut.

    Args:
        parents: by current member; one that is no current member counts as none.
    """
    edges = {member: parent for member, parent in parents.items() if parent is not None and parent in parents}
    cut = {member: parent for member, parent in edges.items() if member == min(_round(member, edges), default=None)}
    kept = {member: parent for member, parent in edges.items() if member not in cut}
    rows = (
        (ancestor, member, depth)
        for member in parents
        for depth, ancestor in enumerate((member, *_upwards(member, kept)))
    )
    return Lineage(frozenset(rows), cut)


def _upwards(member: Key, edges: Mapping[Key, Key]) -> Iterator[Key]:
    """Yield the ancestors of a member, as far as they are looked for."""
    for _ in range(MOST_LEVELS):
        if member not in edges:
            return
        member = edges[member]
        yield member


def _round(member: Key, edges: Mapping[Key, Key]) -> tuple[Key, ...]:
    """Return the members of the cycle in which a member is, none where it is in none."""
    passed = tuple(_upwards(member, edges))
    return passed if member in passed else ()
