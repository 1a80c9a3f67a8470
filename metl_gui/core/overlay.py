"""Persistent maps in two forms: frozen to keep, open to edit; and a keyed index of the same kind.

The base of a tree or matrix is columnar and never changes; what was edited since lies in these maps, which share
structure between states, so an edit costs what it touches.
"""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar, Union

from immutables import Map, MapMutation

K = TypeVar("K")
V = TypeVar("V")

Readable: TypeAlias = Union[Map[K, V], MapMutation[K, V]]  # noqa: UP007 - a generic alias cannot be written with |

EMPTY: Map[Any, Any] = Map()


def add(index: MapMutation[int, Map[int, bool]], outer: int, inner: int) -> None:
    """Note ``inner`` under ``outer`` in an open index."""
    members = index.get(outer, EMPTY)
    if inner not in members:
        index[outer] = members.set(inner, True)
