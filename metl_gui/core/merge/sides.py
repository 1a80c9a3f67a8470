"""The three sides of a merge, what became of one value, and what could not be settled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, NamedTuple, TypeVar

from metl_gui.core.beside import Kind
from metl_gui.core.blocks import BlockKey

T = TypeVar("T")


class Trio(NamedTuple, Generic[T]):
    """One thing of each side."""

    base: T
    ours: T
    theirs: T


class ConflictKind(StrEnum):
    """What both sides changed differently."""

    ELEMENT = "element"
    REMOVED = "removed"
    VERSION = "version"
    LABEL = "label"
    KEY = "key"
    SETTING = "setting"
    NAME = "name"
    LINEAGE = "lineage"
    DOC = "documentation"


@dataclass(frozen=True, slots=True)
class Conflict:
    """One thing that a person must look at; ours was kept.

    Args:
        kind: see ``ConflictKind``, and ``Kind`` for what lies beside the states.
        place: where, in names.
        reason: what either side says, in a sentence.
        key: the block of the result that waits for it, ``None`` where there is none to hold it.
        from_path, to_path: ends of the element that was not taken, ``""`` when it is about none.
    """

    kind: ConflictKind | Kind
    place: str
    reason: str
    key: BlockKey | None = None
    from_path: str = ""
    to_path: str = ""


def settled(values: Trio[T]) -> tuple[T, bool]:
    """Take the value that one side changed; ours, and true, where both changed it differently."""
    if values.theirs in (values.base, values.ours):
        return values.ours, False
    if values.ours == values.base:
        return values.theirs, False
    return values.ours, True


def settled_set(values: Trio[Iterable[T]]) -> list[T]:
    """Take what either side added, without what either removed; ours in its order first."""
    base, ours, theirs = (list(dict.fromkeys(each)) for each in values)
    kept = [each for each in ours if each in theirs or each not in base]
    return kept + [each for each in theirs if each not in base and each not in kept]
